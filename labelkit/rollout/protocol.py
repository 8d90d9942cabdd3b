"""What a protocol is: the order of requests by which one task becomes one trace.

A protocol plays one episode and returns its trace whatever happens; a failed request is a state
of the row. Protocols live in modules of their own; this one holds what all of them share.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from labelkit.domain.completion import Completion
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace, TraceError, Usage
from labelkit.models.capabilities import Capabilities
from labelkit.models.request import ChatRequest
from labelkit.rollout.environment import offered_tools

ToolMode = Literal["native", "emulated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How replies are drawn. ``max_tokens`` bounds every single reply."""

    max_tokens: int = 1024
    temperature: float = 0.0
    seed: int | None = 42


@dataclass(frozen=True, slots=True)
class Staged:
    """A task as an arm plays it: with its prompt, with clean tools, with a hint after an error.

    ``repeats`` None plays every repeat of the run, else only these.
    """

    task: Task
    clean: bool = False
    late_hint: str = ""
    repeats: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Which row of the run an episode fills: task, model, condition, repeat.

    ``clean`` plays the world without its faults. ``late_hint`` is told once, after the first
    error that a tool reports.
    """

    task: Task
    model: str
    condition: str = ""
    repeat: int = 0
    clean: bool = False
    late_hint: str = ""


class Asks(Protocol):
    """Whoever can be asked: the endpoint's client, or one that reads replies from a file."""

    @property
    def capabilities(self) -> Capabilities:
        """What the endpoint takes and what it does not."""
        ...

    async def complete(self, request: ChatRequest, digest: str | None = None) -> Completion:
        """Return the reply; a failed request is a failed completion."""
        ...


class RolloutProtocol(Protocol):
    """One way of turning a task into a trace."""

    @property
    def name(self) -> str:
        """Name of the protocol, stored with every trace."""
        ...

    @property
    def tool_mode(self) -> ToolMode:
        """How the model's calls come about."""
        ...

    async def play(self, client: Asks, row: Row) -> Trace:
        """Play one episode to its end."""
        ...


def wire_tools(task: Task) -> list[dict[str, Any]]:
    """Return the task's tools in the OpenAI function shape."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in offered_tools(task)
    ]


def wire_message(message: Message) -> dict[str, Any]:
    """Return a message as it is sent back to the model.

    Argument text that is no JSON object is replaced by ``{}``: servers refuse the whole history
    over one malformed call. The trace keeps the text as the model wrote it.
    """
    sent: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        sent["tool_calls"] = [_wire_call(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        sent["tool_call_id"] = message.tool_call_id
    if message.reasoning is not None and message.role == "assistant":
        sent["reasoning_content"] = message.reasoning
    return sent


def reply_message(completion: Completion, seen: set[str] | None = None) -> Message:
    """Return a reply as a message of the trace; calls get an id of their own where they lack one.

    Ids that were used before in the episode (``seen``, which grows) are replaced too: a result
    must find its call.
    """
    seen = set() if seen is None else seen
    calls = []
    for call in completion.tool_calls:
        name = call.id if call.id and call.id not in seen else _free_id(seen)
        seen.add(name)
        calls.append(call.model_copy(update={"id": name}))
    return Message(
        role="assistant",
        content=completion.text,
        tool_calls=tuple(calls),
        reasoning=completion.reasoning,
    )


def _free_id(seen: set[str]) -> str:
    number = len(seen) + 1
    while f"call_{number}" in seen:
        number += 1
    return f"call_{number}"


def final_state(completion: Completion) -> RowState:
    """Return the row state that the last reply of an episode leads to."""
    if completion.failure is not None:
        return RowState.INFRA_ERROR
    if completion.finish_reason == "length":
        return RowState.TRUNCATED
    if not (completion.text or "").strip():
        return RowState.NO_TEXT
    return RowState.OK


def build_trace(
    row: Row,
    messages: Sequence[Message],
    completions: Sequence[Completion],
    *,
    tool_mode: ToolMode,
    extra: dict[str, Any],
    error: TraceError | None = None,
) -> Trace:
    """Return the trace of a finished episode; its state is that of the last completion.

    ``error`` says what spoilt an episode whose requests all went well.
    """
    last = completions[-1]
    state = final_state(last) if error is None else RowState.INFRA_ERROR
    if last.failure is not None:
        error = TraceError(
            kind=last.failure.kind.value,
            message=last.failure.message,
            status=last.failure.status,
            attempts=last.attempts,
        )
    return Trace(
        model=row.model,
        messages=tuple(messages),
        state=state,
        task_set=row.task.set,
        task_id=row.task.id,
        condition=row.condition,
        repeat=row.repeat,
        finish_reason=last.finish_reason,
        error=error,
        usage=sum_usage(completions),
        tool_mode=tool_mode,
        tags={**row.task.tags, "protocol": str(extra.get("protocol", ""))},
        extra=extra,
    )


def sum_usage(completions: Sequence[Completion]) -> Usage | None:
    """Add up token counts; a count that one reply does not state is unknown for the row."""
    known = [completion.usage for completion in completions if completion.usage is not None]
    if not known or len(known) < len(completions):
        return None
    total: dict[str, int | None] = {}
    for name in Usage.model_fields:
        counts = [getattr(usage, name) for usage in known]
        total[name] = None if None in counts else sum(counts)
    return Usage(**total)


def _wire_call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": safe_arguments(call.arguments)},
    }


def safe_arguments(text: str) -> str:
    """Return argument text that every server takes: itself when it is a JSON object, else {}."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return "{}"
    return text if isinstance(parsed, dict) else "{}"
