"""One raw chat message of any OpenAI-like dialect becomes one ``Message``, without loss.

Servers and people write arguments as text, as an object or as nothing, content as null, a string
or parts, calls in the old and the new way. Everything is normalised here, once, and what was
changed is noted. What does not fit a field goes to ``Message.extra`` untouched. Argument text is
never repaired: a malformed call is a fact about the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Tool
from labelkit.formats.reader import BrokenRecordError, Notes

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_KNOWN = frozenset({"role", "content", "tool_calls", "function_call", "tool_call_id", "name"})
_PLAIN = _KNOWN - {"function_call"}
_PLAIN_CALL = {"id", "type", "function"}
_PLAIN_FUNCTION = {"name", "arguments"}
_REASONING = ("reasoning_content", "reasoning", "thinking")
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
_FOREIGN_PARTS = frozenset({"tool_use", "tool_result", "tool-call", "tool-result"})
_CALL_KEYS = frozenset({"id", "type", "function", "custom"})
_FLAT_CALL_KEYS = frozenset({"id", "type", "name", "arguments"})


def read_messages(raw: Any, notes: Notes) -> tuple[Message, ...]:
    """Return the messages of a conversation, order kept.

    Raises:
        BrokenRecordError: ``raw`` is no list, or an entry is no message.
    """
    if not isinstance(raw, list):
        raise BrokenRecordError("`messages` is not a list")
    messages: list[Message] = []
    legacy_id: str | None = None
    for index, entry in enumerate(raw):
        message = read_message(entry, notes)
        if not message.extra:
            pass
        elif message.extra.get("legacy") == "function_call":
            legacy_id = f"function_call_{index}"
            call = message.tool_calls[0].model_copy(update={"id": legacy_id})
            message = message.model_copy(update={"tool_calls": (call,)})
        elif message.extra.get("legacy") == "function":
            message = message.model_copy(update={"tool_call_id": legacy_id})
            legacy_id = None
        messages.append(message)
    return tuple(messages)


def read_message(raw: Any, notes: Notes) -> Message:
    """Return one message; see ``read_messages``."""
    if not isinstance(raw, dict):
        raise BrokenRecordError("a message is not an object")
    role = raw.get("role")
    if not isinstance(role, str) or not role:
        raise BrokenRecordError("a message has no role")
    if role in ROLES and raw.keys() <= _PLAIN:
        plain = _plain_message(raw)
        if plain is not None:
            return plain
    extra = {key: value for key, value in raw.items() if key not in _KNOWN}
    reasoning = _reasoning(extra)
    content, parts = _content(raw.get("content"), notes)
    calls = _calls(raw, extra, notes)
    if role == "function":
        role, extra["legacy"] = "tool", "function"
        notes.repaired("a message of role function became a tool message")
    elif role not in ROLES:
        notes.lost("a role is not one of OpenAI's; it was kept as it is, without a meaning")
    if content is None and isinstance(extra.get("refusal"), str) and extra["refusal"]:
        content = extra["refusal"]
        notes.repaired("the refusal text became the content, because the user sees it")
    return Message(
        role=role,
        content=content,
        parts=parts,
        tool_calls=calls,
        tool_call_id=_text(raw, "tool_call_id", notes),
        name=_text(raw, "name", notes),
        reasoning=reasoning,
        extra=extra,
    )


def _plain_message(raw: dict[str, Any]) -> Message | None:
    """Return a message that needs no mending, the short way; None where a closer look is due."""
    content = raw.get("content")
    if content is not None and not isinstance(content, str):
        return None
    fields: dict[str, Any] = {"role": raw["role"], "content": content}
    for key in ("name", "tool_call_id"):
        if key in raw:
            if not isinstance(raw[key], str):
                return None
            fields[key] = raw[key]
    if "tool_calls" in raw:
        entries = raw["tool_calls"]
        calls = [_plain_call(e) for e in entries] if isinstance(entries, list) else [None]
        if None in calls:
            return None
        fields["tool_calls"] = tuple(calls)
    return Message(**fields)


def _plain_call(entry: Any) -> ToolCall | None:
    if not isinstance(entry, dict) or entry.keys() != _PLAIN_CALL or entry["type"] != "function":
        return None
    function = entry["function"]
    if not isinstance(function, dict) or function.keys() != _PLAIN_FUNCTION:
        return None
    call_id, name, arguments = entry["id"], function["name"], function["arguments"]
    if not (isinstance(call_id, str) and isinstance(name, str) and isinstance(arguments, str)):
        return None
    if arguments.strip() == "null":
        return None
    return ToolCall(name=name, arguments=arguments, id=call_id)


def _text(raw: dict[str, Any], key: str, notes: Notes) -> str | None:
    value = raw.get(key)
    if value is None or isinstance(value, str):
        return value
    notes.repaired(f"`{key}` was no text, now its JSON text")
    return canonical_json(value)


def _reasoning(extra: dict[str, Any]) -> str | None:
    """Take the first reasoning text out of ``extra``; a second, different one stays there."""
    found: str | None = None
    for key in _REASONING:
        value = extra.get(key)
        if isinstance(value, str) and (found is None or value == found):
            found = value
            del extra[key]
    return found


def _content(raw: Any, notes: Notes) -> tuple[str | None, tuple[dict[str, Any], ...]]:
    if raw is None or isinstance(raw, str):
        return raw, ()
    if not isinstance(raw, list):
        notes.repaired("content was neither text nor parts, now its JSON text")
        return canonical_json(raw), ()
    parts: list[dict[str, Any]] = []
    texts: list[str] = []
    for entry in raw:
        part = entry if isinstance(entry, dict) else {"type": "text", "text": entry}
        if not isinstance(entry, dict | str):
            notes.repaired("a content part was neither text nor an object, now its JSON text")
            part = {"type": "text", "text": canonical_json(entry)}
        parts.append(part)
        if part.get("type", "text") in _TEXT_PARTS and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif part.get("type") in _FOREIGN_PARTS:
            notes.lost("calls or results inside content parts stay parts; they are no tool calls")
    return "\n".join(texts) if texts else None, tuple(parts)


def _calls(raw: dict[str, Any], extra: dict[str, Any], notes: Notes) -> tuple[ToolCall, ...]:
    entries = raw.get("tool_calls")
    legacy = raw.get("function_call")
    if isinstance(entries, dict):
        notes.repaired("`tool_calls` was one object, now a list of one")
        entries = [entries]
    if entries is not None and not isinstance(entries, list):
        raise BrokenRecordError("`tool_calls` is not a list")
    if entries:
        if legacy is not None:
            extra["function_call"] = legacy
        return tuple(_call(entry, index, extra, notes) for index, entry in enumerate(entries))
    if not legacy:
        return ()
    notes.repaired("a legacy function_call became a tool call")
    extra["legacy"] = "function_call"
    return (_call({"type": "function", "function": legacy}, 0, extra, notes),)


def _call(entry: Any, index: int, extra: dict[str, Any], notes: Notes) -> ToolCall:
    if not isinstance(entry, dict):
        raise BrokenRecordError("a tool call is not an object")
    inner = entry.get("function", entry.get("custom"))
    flat = not isinstance(inner, dict)
    function: dict[str, Any] = inner if isinstance(inner, dict) else entry
    known = _FLAT_CALL_KEYS if flat else _CALL_KEYS
    rest = {key: value for key, value in entry.items() if key not in known}
    if entry.get("type", "function") != "function":
        rest["type"] = entry["type"]
    if not flat:
        rest |= {k: v for k, v in function.items() if k not in {"name", "arguments", "input"}}
    name = function.get("name")
    if not isinstance(name, str):
        notes.repaired("a tool call had no name, now an empty one")
        if name is not None:
            rest["raw_name"] = name
        name = ""
    raw_arguments = function.get("arguments", function.get("input"))
    arguments = argument_text(raw_arguments, notes)
    if raw_arguments is None or (arguments != raw_arguments and isinstance(raw_arguments, str)):
        rest["raw_arguments"] = raw_arguments
    if rest:
        extra.setdefault("tool_calls", {})[str(index)] = rest
    return ToolCall(name=name, arguments=arguments, id=_text(entry, "id", notes))


def call_name(call: dict[str, Any], notes: Notes) -> str:
    """Return the name of a call as another API writes it; a missing one is noted."""
    name = call.get("name")
    if isinstance(name, str):
        return name
    notes.repaired("a tool call had no name, now an empty one")
    return ""


def argument_text(raw: Any, notes: Notes) -> str:
    """Return the argument text: a string stays, an object becomes JSON, nothing becomes ``{}``."""
    if isinstance(raw, str):
        if raw.strip() != "null":
            return raw
        notes.repaired("arguments were the text null, now an empty object")
        return "{}"
    if raw is None:
        notes.repaired("arguments were missing or null, now an empty object")
        return "{}"
    notes.repaired(
        "arguments were an object, now their JSON text"
        if isinstance(raw, dict)
        else "arguments were neither text nor an object, now their JSON text"
    )
    return canonical_json(raw)


def read_tools(raw: Any) -> tuple[Tool, ...] | None:
    """Return declared tools, or None when they hold more than a ``Tool`` can keep."""
    if not isinstance(raw, list):
        return None
    tools = [_tool(entry) for entry in raw]
    return None if any(tool is None for tool in tools) else tuple(t for t in tools if t)


def _tool(entry: Any) -> Tool | None:
    if not isinstance(entry, dict):
        return None
    function = entry.get("function", entry)
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return None
    outer = set() if function is entry else set(entry) - {"type", "function"}
    if outer or set(function) - {"type", "name", "description", "parameters"}:
        return None
    description = function.get("description") or ""
    parameters = function.get("parameters")
    if not isinstance(description, str) or not isinstance(parameters, dict | None):
        return None
    if parameters is None:
        return Tool(name=function["name"], description=description)
    return Tool(name=function["name"], description=description, parameters=parameters)


def prompt_of(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages before the model's first word: what the task showed it."""
    for index, message in enumerate(messages):
        if message.role in {"assistant", "tool"}:
            return tuple(messages[:index])
    return tuple(messages)
