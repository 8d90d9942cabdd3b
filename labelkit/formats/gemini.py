"""Gemini's ``contents`` in the shape every other format has.

Gemini calls the assistant ``model``, writes calls and results as parts without ids, and spells
its fields in camel case or with underscores. Parts that are no text, call, result or thought stay
in ``Message.parts``.
"""

from __future__ import annotations

from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import Message, ToolCall
from labelkit.formats.chat import call_name
from labelkit.formats.reader import BrokenRecordError, Notes
from labelkit.formats.rows import text_or_none

_ROLES = {"model": "assistant", "user": "user", "system": "system", "function": "tool"}
_PLAIN = frozenset({
    "text", "thought", "functionCall", "function_call", "functionResponse", "function_response",
})  # fmt: skip


def read_contents(raw: Any, notes: Notes) -> tuple[Message, ...]:
    """Return the messages of ``contents``: a list, one content object, or one text.

    Raises:
        BrokenRecordError: it is none of these.
    """
    entries = raw if isinstance(raw, list) else [raw]
    messages: list[Message] = []
    for entry in entries:
        if isinstance(entry, str):
            messages.append(Message(role="user", content=entry))
        elif isinstance(entry, dict):
            messages += content_messages(entry, notes)
        else:
            raise BrokenRecordError("a content is neither text nor an object")
    return tuple(messages)


def content_messages(raw: dict[str, Any], notes: Notes, role: str = "user") -> list[Message]:
    """Return one content: each function response is a tool message, the rest one message."""
    stated = raw.get("role", role)
    role = _ROLES.get(stated, stated) if isinstance(stated, str) else role
    parts = raw.get("parts")
    if isinstance(parts, dict | str):
        parts = [parts]
    if not isinstance(parts, list):
        raise BrokenRecordError("a content has no `parts`")
    parts = [part if isinstance(part, dict) else {"text": str(part)} for part in parts]
    results = [found for part in parts if isinstance(found := _named(part, "Response"), dict)]
    rest = [part for part in parts if not isinstance(_named(part, "Response"), dict)]
    messages = [_result(result) for result in results]
    if not rest:
        return messages
    calls = [found for part in rest if isinstance(found := _named(part, "Call"), dict)]
    said = [p["text"] for p in rest if isinstance(p.get("text"), str) and not p.get("thought")]
    thoughts = [p["text"] for p in rest if isinstance(p.get("text"), str) and p.get("thought")]
    odd = any(set(part) - _PLAIN or not part for part in rest)
    messages.append(
        Message(
            role=role,
            content="".join(said) if said else None,
            parts=tuple(rest) if odd else (),
            tool_calls=tuple(_call(call, notes) for call in calls),
            reasoning="".join(thoughts) if thoughts else None,
            extra={k: v for k, v in raw.items() if k not in {"role", "parts"}},
        )
    )
    return messages


def _named(part: dict[str, Any], kind: str) -> Any:
    return part.get(f"function{kind}", part.get(f"function_{kind.lower()}"))


def _call(call: dict[str, Any], notes: Notes) -> ToolCall:
    return ToolCall(
        name=call_name(call, notes),
        arguments=canonical_json(call.get("args") or {}),
        id=text_or_none(call.get("id")),
    )


def _result(result: dict[str, Any]) -> Message:
    response = result.get("response")
    return Message(
        role="tool",
        content=response if isinstance(response, str) else canonical_json(response),
        name=text_or_none(result.get("name")),
        tool_call_id=text_or_none(result.get("id")),
    )


def system_contents(raw: Any, notes: Notes) -> tuple[Message, ...]:
    """Return the system instruction: a text, a content, or parts."""
    if not raw:
        return ()
    if isinstance(raw, str):
        return (Message(role="system", content=raw),)
    content = raw if isinstance(raw, dict) and "parts" in raw else {"parts": raw}
    return tuple(content_messages(content | {"role": "system"}, notes))
