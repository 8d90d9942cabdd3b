"""One renderer for each part of a trace that a framing may show.

A renderer returns the trace's own text untouched, under the name of its part. What a name means is
told once, in the system message (``MEANINGS``), so that no row pays for it. What we know for
sure of one row (a call was executed, the answer is empty) stands in its heading, outside the data,
where no trace can forge it. The author's traps and notes are never read here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import Message
from labelkit.domain.rubric import ViewPart
from labelkit.domain.task import KeyValue, Reference, Task, Tool
from labelkit.domain.trace import RowState, Trace
from labelkit.grounding.calls import Call, pair_calls
from labelkit.grounding.visible import strip_reasoning, visible_answer


@dataclass(frozen=True, slots=True)
class Shown:
    """One piece of a view: a named text with what is known about it, or only a statement of ours.

    ``heading`` is a few words beside the name ("" for none); without a name it is the statement.
    """

    kind: ViewPart
    name: str | None
    heading: str
    text: str = ""


MEANINGS: dict[ViewPart, str] = {
    "question": "question: the user's message",
    "system": "system: the system prompt the model had",
    "tools": "tools: the tools the model had",
    "capability": "capability: what the called tool declares",
    "expected_call": "expected_call: the tool call that the task needs",
    "payload": "payload: what the expected tool returns, shown whether or not it was called",
    "answer_key": "answer_key: what a correct answer states",
    "scenario": "scenario: what an expert would do in this situation, and mistakes seen in it",
    "calls": "call:N: a tool call by the model and what became of it; result:N: what it returned",
    "conversation": "message:N: the messages in order",
    "answer": "answer: the model's answer, which is to be judged",
}
"""What the names of the parts mean, as a judge is told once for all rows."""

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_STATUS = {
    "executed": "executed",
    "attempted": "attempted only, never executed",
    "rejected": "rejected by the runner, not executed; the runner replied",
}
_STATE = {
    RowState.NO_TEXT: "answer: no visible answer (row state: no_text)",
    RowState.TRUNCATED: "answer: no visible answer, the model was cut off at its token limit",
}


def _by_role(kind: ViewPart, roles: Sequence[str], messages: Sequence[Message]) -> list[Shown]:
    texts = [m.content for m in messages if m.role in roles and m.content]
    if not texts:
        return [Shown(kind, None, f"{kind}: not known")]
    if len(texts) == 1:
        return [Shown(kind, kind, "", texts[0])]
    return [
        Shown(kind, f"{kind}:{i}", f"{i + 1} of {len(texts)}", text) for i, text in enumerate(texts)
    ]


def _question(trace: Trace, task: Task | None) -> list[Shown]:
    shown = _by_role("question", ("user",), trace.messages)
    if shown[0].name is None and task is not None:
        return _by_role("question", ("user",), task.messages)
    return shown


def _system(trace: Trace, task: Task | None) -> list[Shown]:
    roles = ("system", "developer")
    shown = _by_role("system", roles, trace.messages)
    if shown[0].name is None and task is not None:
        return _by_role("system", roles, task.messages)
    return shown


def _tools(trace: Trace, task: Task | None) -> list[Shown]:  # noqa: ARG001  (one signature)
    if task is None or not task.tools:
        return [Shown("tools", None, "tools: not known")]
    lines = [f"{t.name}: {t.description}" if t.description else t.name for t in task.tools]
    return [Shown("tools", "tools", "", "\n".join(lines))]


def _capability(trace: Trace, task: Task | None) -> list[Shown]:
    wanted = {call.name for call in task.reference.expected_calls} if task else set()
    wanted.update(call.name for call in _calls_of(trace, task))
    declared = [tool for tool in task.tools if tool.name in wanted] if task else []
    if not declared:
        return [Shown("capability", None, "capability: not known")]
    text = "\n\n".join(_declaration(tool) for tool in declared)
    return [Shown("capability", "capability", "", text)]


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
        return [Shown("expected_call", None, "expected_call: not known")]
    calls = task.reference.expected_calls
    if not calls:
        return [Shown("expected_call", None, "expected_call: none, no call is needed")]
    text = "\n".join(f"{call.name} {_json(call.arguments)}" for call in calls)
    return [Shown("expected_call", "expected_call", "", text)]


def _payload(trace: Trace, task: Task | None) -> list[Shown]:
    payload = task.reference.payload if task is not None else None
    if payload is None:
        return [Shown("payload", None, "payload: not known")]
    text = payload if isinstance(payload, str) else _as_returned(payload, trace.messages)
    return [Shown("payload", "payload", "", text)]


def _as_returned(payload: Any, messages: Sequence[Message]) -> str:
    """Write a JSON payload the way a call returned it, else in our own way.

    The payload is a value and has no text of its own. Where a result is exactly this value, its
    spelling is taken, so that the same thing need not stand in the view twice.
    """
    ours = _json(payload)
    for message in messages:
        text = message.content
        if message.role != "tool" or not text or len(text) > 2 * len(ours):
            continue
        if text == ours or _spells(text, payload):
            return text
    return ours


def _spells(text: str, payload: Any) -> bool:
    """Whether ``text`` is plain JSON for just this value: no hidden key, no other number type."""
    try:
        value = json.loads(text)
        # What is written back letter for letter holds no key twice and no digit that was lost.
        return (
            value == payload
            and (_ascii_json if text.isascii() else _json)(value) == text
            and canonical_json(value) == canonical_json(payload)
        )
    except (ValueError, RecursionError):
        return False


def said_once(shown: Sequence[Shown], limits: Mapping[ViewPart, int]) -> list[Shown]:
    """Name a result as the payload's copy where both are the same text, letter for letter.

    A payload that will be cut stands for nothing but itself.
    """
    payload = next((item for item in shown if item.name == "payload"), None)
    if payload is None or len(payload.text) > limits.get("payload", len(payload.text)):
        return list(shown)
    return [
        Shown(item.kind, None, f"{_stated_name(item)}: the same text as payload")
        if item.name is not None and item.name.startswith("result:") and item.text == payload.text
        else item
        for item in shown
    ]


def _stated_name(item: Shown) -> str:
    return f"{item.name} ({item.heading})" if item.heading else str(item.name)


def _answer_key(trace: Trace, task: Task | None) -> list[Shown]:  # noqa: ARG001
    lines = _key_lines(task.reference) if task is not None else []
    if not lines:
        return [Shown("answer_key", None, "answer_key: not known")]
    return [Shown("answer_key", "answer_key", "", "\n".join(lines))]


def _key_lines(reference: Reference) -> list[str]:
    """The typed key, the string key where it says something else, and a correct answer."""
    lines = []
    key = reference.answer_key
    if key is not None and key.values:
        lines.append(f"{_MODE[key.mode]}: {'; '.join(map(_stated, key.values))}")
    if reference.must_contain and not _repeats(reference):
        texts = ", ".join(map(_json, reference.must_contain))
        lines.append(f"{_MODE[reference.match_mode]} these texts: {texts}")
    if reference.gold_answer is not None:
        lines.append(f"for example: {reference.gold_answer}")
    return lines


def _repeats(reference: Reference) -> bool:
    """Whether the string key only repeats the values of the typed one."""
    key = reference.answer_key
    if key is None or key.mode != reference.match_mode:
        return False
    values = {v.value if isinstance(v.value, str) else _json(v.value) for v in key.values}
    return values == set(reference.must_contain)


_MODE = {"all": "all of", "any": "at least one of"}


def _stated(value: KeyValue) -> str:
    """``1001 USD, of BR-20 (number, tolerance: 0.5)``: what is not given is left out."""
    unit = f" {value.unit}" if value.unit is not None else ""
    of = f", of {value.entity}" if value.entity is not None else ""
    more: list[str] = [] if value.type in ("number", "text") else [value.type]
    if value.ask_tz is not None:
        more.append(f"time zone: {value.ask_tz}")
    if value.tolerance is not None:
        more.append(f"tolerance: {value.tolerance}")
    rest = f" ({', '.join(more)})" if more else ""
    return f"{_json(value.value)}{unit}{of}{rest}"


def _scenario(trace: Trace, task: Task | None) -> list[Shown]:  # noqa: ARG001
    scenario = task.reference.scenario if task is not None else None
    if scenario is None:
        return [Shown("scenario", None, "scenario: not known")]
    mistakes = [f"- {mistake}" for mistake in scenario.mistakes]
    listed = ["", "Mistakes seen here:", *mistakes] if mistakes else []
    return [Shown("scenario", "scenario", "", "\n".join([scenario.ideal, *listed]))]


def _calls(trace: Trace, task: Task | None) -> list[Shown]:
    calls = _calls_of(trace, task)
    if not calls:
        return [Shown("calls", None, "calls: the model made none")]
    shown: list[Shown] = []
    for i, call in enumerate(calls):
        where = ", written in the text of a message" if call.in_text else ""
        heading = f"{_STATUS[call.status]}{where}"
        shown.append(Shown("calls", f"call:{i}", heading, f"{call.name} {call.arguments}"))
        if call.result is not None:
            heading = "an error" if call.is_error else ""
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
        shown.append(Shown("conversation", f"message:{i}", role, text))
    return shown or [Shown("conversation", None, "conversation: it holds no message")]


def _answer(trace: Trace, task: Task | None) -> list[Shown]:  # noqa: ARG001
    text = visible_answer(trace.messages)
    if not text:
        return [Shown("answer", None, _STATE.get(trace.state, "answer: no visible answer"))]
    cut = "cut off at the token limit" if trace.state is RowState.TRUNCATED else ""
    return [Shown("answer", "answer", cut, text)]


_json = json.JSONEncoder(ensure_ascii=False).encode
_ascii_json = json.JSONEncoder().encode


RENDERERS: dict[ViewPart, Callable[[Trace, Task | None], Sequence[Shown]]] = {
    "question": _question,
    "system": _system,
    "tools": _tools,
    "capability": _capability,
    "expected_call": _expected_call,
    "payload": _payload,
    "answer_key": _answer_key,
    "scenario": _scenario,
    "calls": _calls,
    "conversation": _conversation,
    "answer": _answer,
}
