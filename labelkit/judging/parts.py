"""One renderer for each part of a trace that a framing may show.

A renderer returns the trace's own text untouched, under a heading in our words. What we know for
sure (a call was executed, the answer is empty) stands in the heading, outside the data, where
no trace can forge it. The author's traps and notes are never read here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from labelkit.domain.message import Message
from labelkit.domain.rubric import ViewPart
from labelkit.domain.task import KeyValue, Task, Tool
from labelkit.domain.trace import RowState, Trace
from labelkit.grounding.calls import Call, pair_calls
from labelkit.grounding.visible import strip_reasoning, visible_answer


@dataclass(frozen=True, slots=True)
class Shown:
    """One piece of a view. Without a name it is only a heading: a statement of ours."""

    kind: ViewPart
    name: str | None
    heading: str
    text: str = ""


_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_STATUS = {
    "executed": "executed; its result follows",
    "attempted": "attempted only, never executed",
    "rejected": "rejected by the runner, not executed; the runner's reply follows",
}
_STATE = {
    RowState.NO_TEXT: "The model gave no visible answer (row state: no_text).",
    RowState.TRUNCATED: "The model was cut off at its token limit before any visible answer.",
}


def _by_role(
    kind: ViewPart, roles: Sequence[str], heading: str, messages: Sequence[Message]
) -> list[Shown]:
    texts = [m.content for m in messages if m.role in roles and m.content]
    if not texts:
        return [Shown(kind, None, f"{heading}: none is known.")]
    if len(texts) == 1:
        return [Shown(kind, kind, heading, texts[0])]
    return [
        Shown(kind, f"{kind}:{i}", f"{heading} {i + 1} of {len(texts)}", text)
        for i, text in enumerate(texts)
    ]


def _question(trace: Trace, task: Task | None) -> list[Shown]:
    shown = _by_role("question", ("user",), "The user's message", trace.messages)
    if shown[0].name is None and task is not None:
        return _by_role("question", ("user",), "The user's message", task.messages)
    return shown


def _system(trace: Trace, task: Task | None) -> list[Shown]:
    roles = ("system", "developer")
    shown = _by_role("system", roles, "The model's system prompt", trace.messages)
    if shown[0].name is None and task is not None:
        return _by_role("system", roles, "The model's system prompt", task.messages)
    return shown


def _tools(trace: Trace, task: Task | None) -> list[Shown]:  # noqa: ARG001  (one signature)
    if task is None or not task.tools:
        return [Shown("tools", None, "Tools the model had: none is known.")]
    lines = [f"{t.name}: {t.description}" if t.description else t.name for t in task.tools]
    return [Shown("tools", "tools", "Tools the model had", "\n".join(lines))]


def _capability(trace: Trace, task: Task | None) -> list[Shown]:
    wanted = {call.name for call in task.reference.expected_calls} if task else set()
    wanted.update(call.name for call in _calls_of(trace, task))
    declared = [tool for tool in task.tools if tool.name in wanted] if task else []
    if not declared:
        return [Shown("capability", None, "Declaration of the called tool: none is known.")]
    text = "\n\n".join(_declaration(tool) for tool in declared)
    return [Shown("capability", "capability", "What the called tool declares", text)]


def _declaration(tool: Tool) -> str:
    lines = [f"name: {tool.name}"]
    if tool.description:
        lines.append(f"description: {tool.description}")
    lines.append(f"parameters: {_json(tool.parameters)}")
    if tool.returns:
        lines.append(f"returns: {', '.join(tool.returns)}")
    return "\n".join(lines)


def _expected_call(trace: Trace, task: Task | None) -> list[Shown]:  # noqa: ARG001
    if task is None:
        return [Shown("expected_call", None, "Expected tool call: not known.")]
    calls = task.reference.expected_calls
    if not calls:
        return [Shown("expected_call", None, "Expected tool call: none, no call is needed.")]
    text = "\n".join(f"{call.name} {_json(call.arguments)}" for call in calls)
    return [Shown("expected_call", "expected_call", "Expected tool call", text)]


def _payload(trace: Trace, task: Task | None) -> list[Shown]:  # noqa: ARG001
    payload = task.reference.payload if task is not None else None
    if payload is None:
        return [Shown("payload", None, "What the expected tool returns: not known.")]
    text = payload if isinstance(payload, str) else _json(payload)
    heading = "What the expected tool returns (shown whether or not it was called)"
    return [Shown("payload", "payload", heading, text)]


def _answer_key(trace: Trace, task: Task | None) -> list[Shown]:  # noqa: ARG001
    lines = _key_lines(task) if task is not None else []
    if not lines:
        return [Shown("answer_key", None, "What a correct answer states: not known.")]
    return [Shown("answer_key", "answer_key", "What a correct answer states", "\n".join(lines))]


def _key_lines(task: Task) -> list[str]:
    reference = task.reference
    lines = []
    key = reference.answer_key
    if key is not None and key.values:
        lines.append(f"{_MODE[key.mode]} these values:")
        lines.extend(_json(_stated(value)) for value in key.values)
    if reference.must_contain:
        lines.append(f"{_MODE[reference.match_mode]} these texts:")
        lines.extend(_json(text) for text in reference.must_contain)
    if reference.gold_answer is not None:
        lines.append(f"a correct answer: {reference.gold_answer}")
    return lines


_MODE = {"all": "all of", "any": "at least one of"}


def _stated(value: KeyValue) -> dict[str, Any]:
    fields = {
        "type": value.type,
        "value": value.value,
        "unit": value.unit,
        "of": value.entity,
        "timezone": value.ask_tz,
        "tolerance": value.tolerance,
    }
    return {name: given for name, given in fields.items() if given is not None}


def _calls(trace: Trace, task: Task | None) -> list[Shown]:
    calls = _calls_of(trace, task)
    if not calls:
        return [Shown("calls", None, "Tool calls: the model made none.")]
    shown: list[Shown] = []
    for i, call in enumerate(calls):
        where = " (written in the text of a message)" if call.in_text else ""
        heading = f"Tool call {i + 1} of {len(calls)}{where}: {_STATUS[call.status]}"
        shown.append(Shown("calls", f"call:{i}", heading, f"{call.name} {call.arguments}"))
        if call.result is not None:
            heading = f"Result of tool call {i + 1}{' (an error)' if call.is_error else ''}"
            shown.append(Shown("calls", f"result:{i}", heading, call.result))
    return shown


def _calls_of(trace: Trace, task: Task | None) -> tuple[Call, ...]:
    return pair_calls(trace.messages, tuple(t.name for t in task.tools) if task else None)


def _conversation(trace: Trace, task: Task | None) -> list[Shown]:  # noqa: ARG001
    shown = []
    for i, message in enumerate(trace.messages):
        role = message.role if message.role in _ROLES else "other"
        text = message.content or ""
        if role == "assistant":
            text = strip_reasoning(text)
        if message.tool_calls:
            calls = "\n".join(f"{call.name} {call.arguments}" for call in message.tool_calls)
            text = f"{text}\n{calls}" if text else calls
            role = f"{role}, with {len(message.tool_calls)} tool call(s) stated last"
        shown.append(Shown("conversation", f"message:{i}", f"Message {i} ({role})", text))
    return shown or [Shown("conversation", None, "Conversation: it holds no message.")]


def _answer(trace: Trace, task: Task | None) -> list[Shown]:  # noqa: ARG001
    text = visible_answer(trace.messages)
    if not text:
        return [Shown("answer", None, _STATE.get(trace.state, "The model gave no visible answer."))]
    cut = " (cut off at the token limit)" if trace.state is RowState.TRUNCATED else ""
    return [Shown("answer", "answer", f"The model's answer to judge{cut}", text)]


_json = json.JSONEncoder(ensure_ascii=False).encode


RENDERERS: dict[ViewPart, Callable[[Trace, Task | None], Sequence[Shown]]] = {
    "question": _question,
    "system": _system,
    "tools": _tools,
    "capability": _capability,
    "expected_call": _expected_call,
    "payload": _payload,
    "answer_key": _answer_key,
    "calls": _calls,
    "conversation": _conversation,
    "answer": _answer,
}
