"""Messages the way telemetry writes them: GenAI parts, OpenAI Responses items, LangChain dumps.

OpenTelemetry's GenAI convention has ``{role, parts: [{type, content}]}``; the Responses API has a
flat list of items; LangChain hides the calls in ``additional_kwargs``. Each becomes plain
messages, in order. What they have no field for stays in ``Message.extra`` or ``Message.parts``.
"""

from __future__ import annotations

import json
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import Message, ToolCall
from labelkit.formats.chat import argument_text, call_name, read_message
from labelkit.formats.reader import BrokenRecordError, Notes
from labelkit.formats.rows import text_or_none

_TYPES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_EVENT_KEYS = frozenset({"event.name", "gen_ai.system", "gen_ai.message.index", "index"})


def read_parts_message(raw: dict[str, Any], notes: Notes) -> list[Message]:
    """Return a GenAI message of parts: each response is a tool message, the rest one message."""
    role = raw.get("role")
    parts = raw.get("parts")
    if not isinstance(role, str) or not isinstance(parts, list):
        raise BrokenRecordError("a message has no role or no parts")
    said: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    results: list[Message] = []
    kept: list[dict[str, Any]] = []
    for part in parts:
        entry = part if isinstance(part, dict) else {"type": "text", "content": str(part)}
        kind, content = entry.get("type"), entry.get("content")
        if kind == "text" and isinstance(content, str):
            said.append(content)
        elif kind in {"reasoning", "thinking"} and isinstance(content, str):
            thoughts.append(content)
        elif kind == "tool_call":
            calls.append(_call(entry, notes))
        elif kind == "tool_call_response":
            results.append(_response(entry))
        else:
            kept.append(entry)
    if results and not (said or thoughts or calls or kept):
        return results
    message = Message(
        role=role,
        content="\n".join(said) if said else None,
        parts=tuple(kept),
        tool_calls=tuple(calls),
        reasoning="\n".join(thoughts) if thoughts else None,
        extra={k: v for k, v in raw.items() if k not in {"role", "parts"}},
    )
    return [*results, message]


def _call(entry: dict[str, Any], notes: Notes) -> ToolCall:
    stated = entry.get("arguments")
    arguments = canonical_json(stated) if isinstance(stated, dict) else argument_text(stated, notes)
    return ToolCall(
        name=call_name(entry, notes), arguments=arguments, id=text_or_none(entry.get("id"))
    )


def _response(entry: dict[str, Any]) -> Message:
    value = entry.get("result", entry.get("response"))
    return Message(
        role="tool",
        content=value if value is None or isinstance(value, str) else canonical_json(value),
        name=text_or_none(entry.get("name")),
        tool_call_id=text_or_none(entry.get("id")),
    )


def read_response_item(raw: dict[str, Any], notes: Notes) -> list[Message]:
    """Return one item of the Responses API; an item without a role or a call stays an extra."""
    kind = raw.get("type", "message")
    if kind in {"function_call", "custom_tool_call"}:
        call = ToolCall(
            name=call_name(raw, notes),
            arguments=argument_text(raw.get("arguments", raw.get("input")), notes),
            id=text_or_none(raw.get("call_id")),
        )
        rest = {k: v for k, v in raw.items() if k in {"id", "status", "namespace"}}
        return [Message(role="assistant", tool_calls=(call,), extra=rest)]
    if kind in {"function_call_output", "custom_tool_call_output"}:
        output = raw.get("output")
        return [
            Message(
                role="tool",
                content=output if isinstance(output, str) else canonical_json(output),
                tool_call_id=text_or_none(raw.get("call_id")),
            )
        ]
    if kind == "reasoning":
        texts = [
            part["text"]
            for part in [*_list(raw.get("summary")), *_list(raw.get("content"))]
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
        return [Message(role="assistant", reasoning="\n".join(texts) or None, extra={"item": raw})]
    if isinstance(raw.get("role"), str):
        return [read_message({k: v for k, v in raw.items() if k != "type"}, notes)]
    notes.odd("an item that is no message and no call stays in the message's extra fields")
    return [Message(role="assistant", extra={"item": raw})]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def read_logged_message(raw: dict[str, Any], notes: Notes) -> list[Message]:
    """Return one message as an instrumented framework logs it, whichever of the shapes it has.

    A declared tool that LangChain lists among the messages is none, and gives nothing.
    """
    if raw.get("role") == "tool" and _declares(raw.get("content")):
        notes.lost("a declared tool stood among the messages; it was left out")
        return []
    if isinstance(raw.get("parts"), list):
        return read_parts_message(raw, notes)
    if isinstance(raw.get("message"), dict):
        return read_logged_message({"role": "assistant"} | raw["message"], notes)
    entry = {key: value for key, value in raw.items() if key not in _EVENT_KEYS}
    kwargs = entry.get("additional_kwargs")
    if isinstance(kwargs, dict):
        rest = {k: v for k, v in kwargs.items() if v is not None and k != "tool_calls"}
        entry.pop("additional_kwargs")
        entry |= {"tool_calls": kwargs["tool_calls"]} if kwargs.get("tool_calls") else {}
        entry |= {"additional_kwargs": rest} if rest else {}
    if "role" not in entry and isinstance(entry.get("type"), str) and entry["type"] in _TYPES:
        entry["role"] = _TYPES[entry.pop("type")]
    if "role" not in entry and "type" in entry:
        return read_response_item(entry, notes)
    if entry.get("role") == "model":
        entry["role"] = "assistant"
    calls = _written_calls(entry.get("content"))
    if calls and not entry.get("tool_calls"):
        notes.repaired("calls written as JSON in the content became tool calls")
        entry |= {"role": "assistant", "content": None, "tool_calls": calls}
    return [read_message(entry, notes)]


def _declares(content: Any) -> bool:
    function = content.get("function") if isinstance(content, dict) else None
    return isinstance(function, dict) and "parameters" in function and "arguments" not in function


def _written_calls(content: Any) -> list[Any] | None:
    """Return the calls that some frameworks write into the content as one JSON list."""
    if not isinstance(content, str) or not content.startswith("[{") or '"function"' not in content:
        return None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(value, list) and all(
        isinstance(entry, dict)
        and entry.get("type") == "function"
        and isinstance(entry.get("function"), dict)
        and "arguments" in entry["function"]
        for entry in value
    )
    return value if whole else None
