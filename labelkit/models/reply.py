"""Reads the body of a 200 into what a completion keeps. Tolerant of shapes, strict about meaning.

Servers disagree on where reasoning, tool calls and usage live and whether arguments are text.
All of that is accepted here. What is not accepted is a missing answer: it stays None and is
flagged, whatever else the reply holds (field report J28).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import ToolCall
from labelkit.domain.trace import Usage
from labelkit.models.faults import clip


class NotACompletion(ValueError):  # noqa: N818 - it names what the body is not
    """A 200 whose body is no chat completion; ``usage`` is kept where it had one."""

    def __init__(self, message: str, usage: Usage | None = None, *, counts: bool = False) -> None:
        super().__init__(message)
        self.usage = usage
        self.counts = counts


class ErrorInside(ValueError):  # noqa: N818 - it names what the body holds
    """A 200 whose body is an error object (routers do this once the reply has begun)."""

    def __init__(self, status: int) -> None:
        super().__init__(f"an error with status {status} inside a 200")
        self.status = status


@dataclass(frozen=True, slots=True)
class Reply:
    """The parts of one chat completion.

    ``flags``: ``content_null`` (no answer text), ``answer_in_reasoning`` (no answer text, but
    reasoning), ``refusal`` (the model refused in the field made for it; its words are the text
    of ``refusal``), ``several_choices``.
    """

    text: str | None
    reasoning: str | None
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str | None
    usage: Usage | None
    served_model: str | None
    fingerprint: str | None
    refusal: str | None
    flags: tuple[str, ...]


def read_reply(body: bytes) -> Reply:
    """Read the body of a 200.

    Raises:
        NotACompletion: when it is not JSON, or has no message.
        ErrorInside: when it is an error object.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        begins = body[:80].decode("utf-8", errors="replace")
        raise NotACompletion(f"the reply is not JSON; it begins {begins!r}") from None
    if not isinstance(value, dict):
        raise NotACompletion("the reply is JSON, but not an object")
    choices = value.get("choices")
    if not choices and value.get("error"):
        raise ErrorInside(_status_inside(value["error"]))
    usage = read_usage(value.get("usage"))
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise NotACompletion("the reply has no choices", usage, counts="choices" in value)
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise NotACompletion("the reply's choice has no message", usage, counts=True)
    reply = _read_choice(value, choices, message, usage)
    if reply.finish_reason == "tool_calls" and not reply.tool_calls and not reply.text:
        raise NotACompletion("the reply ends for tool calls and has none", usage, counts=True)
    return reply


def _read_choice(
    value: dict[str, Any],
    choices: list[Any],
    message: dict[str, Any],
    usage: Usage | None,
) -> Reply:
    text = _content_text(message.get("content"))
    reasoning = _reasoning_text(message)
    calls = _tool_calls(message)
    refusal = _text(message.get("refusal"))
    flags = []
    if refusal:
        flags.append("refusal")
    if text is None and not calls and not refusal:
        flags.append("answer_in_reasoning" if reasoning else "content_null")
    if len(choices) > 1:
        flags.append("several_choices")
    return Reply(
        text=text,
        reasoning=reasoning,
        tool_calls=calls,
        finish_reason=_text(choices[0].get("finish_reason")),
        usage=usage,
        served_model=_text(value.get("model")),
        fingerprint=_text(value.get("system_fingerprint")),
        refusal=refusal,
        flags=tuple(flags),
    )


def with_flags(sent: dict[str, Any], reply: Reply) -> dict[str, Any]:
    """Add what was odd about the reply; a plain reply leaves ``sent`` as it is."""
    if reply.flags:
        sent["flags"] = list(reply.flags)
    if reply.refusal:
        sent["refusal"] = clip(reply.refusal)
    return sent


def answer_text(reply: Reply, rung: str | None, schema_name: str) -> str | None:
    """The answer: on the forced-tool rung, the arguments of the call that was asked for."""
    if rung == "tool":
        for call in reply.tool_calls:
            if call.name == schema_name:
                return call.arguments
    return reply.text


def read_usage(value: Any) -> Usage | None:
    """Return the reported tokens; a missing or senseless count is None, never 0."""
    if not isinstance(value, dict):
        return None
    written = value.get("completion_tokens_details")
    read = value.get("prompt_tokens_details")
    usage = Usage(
        prompt_tokens=_count(value.get("prompt_tokens")),
        completion_tokens=_count(value.get("completion_tokens")),
        reasoning_tokens=_count(written.get("reasoning_tokens"))
        if isinstance(written, dict)
        else None,
        cached_tokens=_count(read.get("cached_tokens")) if isinstance(read, dict) else None,
    )
    if usage.prompt_tokens is None and usage.completion_tokens is None:
        return None
    return usage


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _content_text(content: Any) -> str | None:
    """Content as text; a list of parts is joined over its text parts."""
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict)]
        texts = [part for part in parts if isinstance(part, str)]
        return "".join(texts) if texts else None
    return _text(content)


def _reasoning_text(message: dict[str, Any]) -> str | None:
    for name in ("reasoning_content", "reasoning"):
        value = message.get(name)
        if isinstance(value, str) and value:
            return value
    details = message.get("reasoning_details")
    if isinstance(details, list):
        parts = [d.get("text") or d.get("summary") for d in details if isinstance(d, dict)]
        texts = [part for part in parts if isinstance(part, str)]
        return "".join(texts) or None
    return None


def _tool_calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        legacy = message.get("function_call")
        calls = [{"function": legacy}] if isinstance(legacy, dict) else []
    return tuple(_tool_call(call) for call in calls if isinstance(call, dict))


def _tool_call(call: dict[str, Any]) -> ToolCall:
    """A call with its arguments as text: kept if text, canonical JSON if not, ``{}`` if null."""
    function = call.get("function")
    function = function if isinstance(function, dict) else call
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "{}" if arguments is None else _as_json(arguments)
    return ToolCall(
        name=_text(function.get("name")) or "", arguments=arguments, id=_text(call.get("id"))
    )


def _as_json(arguments: Any) -> str:
    try:
        return canonical_json(arguments)
    except ValueError:  # NaN, which Python reads and JSON does not have
        return json.dumps(arguments)


def _status_inside(error: Any) -> int:
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def read_model_names(body: bytes) -> list[str] | None:
    """Return the ids in a ``/models`` reply, or None when it is no such list."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    data = value.get("data") if isinstance(value, dict) else None
    if not isinstance(data, list):
        return None
    return [str(model["id"]) for model in data if isinstance(model, dict) and "id" in model]
