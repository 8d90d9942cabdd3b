"""Content blocks of Anthropic's Messages API, in the shape every other format has.

One message of that API may hold text, thinking, calls and results at once, and results come back
under the role user. Here an assistant's blocks become one message with calls, and each result
becomes a tool message of its own, in order. Blocks that are none of these (images, documents,
server tools) stay in ``Message.parts``.
"""

from __future__ import annotations

from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Tool
from labelkit.formats.reader import BrokenRecordError, Notes
from labelkit.formats.rows import text_or_none

_THINKING = frozenset({"thinking", "redacted_thinking"})
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_RESULTS = frozenset({"tool_result", "mcp_tool_result"})
_PLAIN_CALL = frozenset({"type", "id", "name", "input"})


def read_block_messages(raw: Any, notes: Notes) -> tuple[Message, ...]:
    """Return the messages of a conversation in content blocks.

    Raises:
        BrokenRecordError: ``raw`` is no list, or an entry is no message.
    """
    if not isinstance(raw, list):
        raise BrokenRecordError("`messages` is not a list")
    return tuple(message for entry in raw for message in block_message(entry, notes))


def block_message(raw: Any, notes: Notes) -> list[Message]:
    """Return what one message of blocks says: results first, as the API demands, then the rest."""
    if not isinstance(raw, dict):
        raise BrokenRecordError("a message is not an object")
    role, content = raw.get("role"), raw.get("content")
    if not isinstance(role, str) or not role:
        raise BrokenRecordError("a message has no role")
    extra = {key: value for key, value in raw.items() if key not in {"role", "content"}}
    if content is None or isinstance(content, str):
        return [Message(role=role, content=content, extra=extra)]
    if not isinstance(content, list):
        raise BrokenRecordError("`content` is neither text nor blocks")
    blocks = [block if isinstance(block, dict) else _as_text(block) for block in content]
    results = [_result(block, notes) for block in blocks if block.get("type") in _RESULTS]
    rest = [block for block in blocks if block.get("type") not in _RESULTS]
    if results and not rest:
        return results
    return [*results, _said(role, rest, extra, notes)]


def _as_text(block: Any) -> dict[str, Any]:
    return {"type": "text", "text": block if isinstance(block, str) else canonical_json(block)}


def _said(role: str, blocks: list[dict[str, Any]], extra: dict[str, Any], notes: Notes) -> Message:
    texts = [b["text"] for b in blocks if b.get("type", "text") == "text" and _is_text(b, "text")]
    thoughts = [b["thinking"] for b in blocks if _is_text(b, "thinking")]
    calls = [block for block in blocks if block.get("type") in _CALLS]
    kept = any(not _is_kept(block) for block in blocks)
    return Message(
        role=role,
        content="\n".join(texts) if texts else None,
        parts=tuple(blocks) if kept else (),
        tool_calls=tuple(_call(block, notes) for block in calls),
        reasoning="\n".join(thoughts) if thoughts else None,
        extra=extra,
    )


def _is_text(block: dict[str, Any], key: str) -> bool:
    return isinstance(block.get(key), str)


def _is_kept(block: dict[str, Any]) -> bool:
    """Whether the fields of the message say all that the block does."""
    kind = block.get("type", "text")
    if kind == "text":
        return _is_text(block, "text") and block.keys() <= {"type", "text"}
    if kind in _THINKING:
        return _is_text(block, "thinking") and block.keys() <= {"type", "thinking"}
    return kind == "tool_use" and block.keys() <= _PLAIN_CALL


def _call(block: dict[str, Any], notes: Notes) -> ToolCall:
    stated = block.get("input")
    if isinstance(stated, str):
        notes.repaired("the input of a call was text; it was kept as the argument text")
    arguments = (
        stated if isinstance(stated, str) else canonical_json({} if stated is None else stated)
    )
    name = block.get("name")
    if not isinstance(name, str):
        notes.repaired("a tool call had no name, now an empty one")
        name = ""
    call_id = block.get("id")
    return ToolCall(
        name=name, arguments=arguments, id=call_id if isinstance(call_id, str) else None
    )


def _result(block: dict[str, Any], notes: Notes) -> Message:
    content = block.get("content")
    parts: tuple[dict[str, Any], ...] = ()
    if isinstance(content, list):
        texts = [p["text"] for p in content if isinstance(p, dict) and _is_text(p, "text")]
        if len(texts) < len(content):
            parts = tuple(p for p in content if isinstance(p, dict))
        content = "\n".join(texts) if texts else None
    elif content is not None and not isinstance(content, str):
        content = canonical_json(content)
        notes.repaired("a tool result was no text, now its JSON text")
    extra = {
        key: value
        for key, value in block.items()
        if key not in {"type", "tool_use_id", "content"} and (key, value) != ("is_error", False)
    }
    return Message(
        role="tool",
        content=content,
        parts=parts,
        tool_call_id=text_or_none(block.get("tool_use_id")),
        extra=extra,
    )


def system_message(raw: Any, notes: Notes) -> tuple[Message, ...]:
    """Return the system prompt, which that API has beside the messages, as text or blocks."""
    if raw is None or raw in ("", []):
        return ()
    return tuple(block_message({"role": "system", "content": raw}, notes))


def read_block_tools(raw: Any) -> tuple[Tool, ...] | None:
    """Return declared tools (``input_schema``), or None when they say more than a ``Tool`` can."""
    if not isinstance(raw, list):
        return None
    tools = []
    for entry in raw:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            return None
        schema, said = entry.get("input_schema"), entry.get("description") or ""
        if set(entry) - {"name", "description", "input_schema"}:
            return None
        if not isinstance(schema, dict) or not isinstance(said, str):
            return None
        tools.append(Tool(name=entry["name"], description=said, parameters=schema))
    return tuple(tools)
