"""Conversations for Anthropic's Messages API: JSON Lines, an array or one object.

Per record: ``messages`` of content blocks, ``system`` beside them, and optionally the response
(``content``, ``stop_reason``, ``usage``, also inside ``response``), whose blocks are the model's
reply. Fields around the conversation are those of OpenAI chat rows. A record may also be a bare
response; then there is only the reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.formats import rows
from labelkit.formats.blocks import (
    block_message,
    read_block_messages,
    read_block_tools,
    system_message,
)
from labelkit.formats.dialects import read_any_usage
from labelkit.formats.jsonstream import json_records
from labelkit.formats.openai_chat import Talk, chat_row
from labelkit.formats.reader import (
    BrokenRecordError,
    Head,
    Item,
    Notes,
    ReadOptions,
    TaskBook,
)
from labelkit.formats.records import an_object, read_each

_MARKS = re.compile(r'"(?:input_schema|tool_use|tool_use_id|tool_result|stop_reason)"')
_OURS = ("system", "content", "role", "type", "stop_reason")
_PAIR = ("request", "response")
_OPENAI_ROLES = ("tool", "function")


class AnthropicMessages:
    """Reads conversations in content blocks."""

    name = "anthropic"
    description = "Anthropic messages (`messages` with content blocks, `system`, `tool_use`)"

    def sniff(self, head: Head) -> float:
        """Sure with blocks of calls; a plain ``system`` beside the messages is a good sign."""
        if '"tool_calls"' in head.text or not head.keys & {"messages", "content", *_PAIR}:
            return 0.0
        marked = _MARKS.search(head.text) is not None
        if "messages" in head.keys:
            return 0.92 if marked or "system" in head.keys else 0.0
        if set(_PAIR) <= head.keys:
            return 0.7 if marked else 0.0
        return 0.8 if marked and {"content", "stop_reason"} <= head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one trace per record, before it the task if the record describes a new one."""
        book = TaskBook()

        def build(value: Any, source: str, notes: Notes) -> list[Task | Trace]:
            row = _flattened(an_object(value))
            if not row.keys() & {"messages", "content"}:
                raise BrokenRecordError("the record has neither `messages` nor `content`")
            _refuse_openai(row.get("messages"))
            row, ours = _parted(row)
            return chat_row(row, source, options, notes, book, _talk(ours))

        return read_each(json_records(path, span=options.span), path, build)


def _refuse_openai(messages: Any) -> None:
    """Refuse a record whose calls this API cannot have: kept unread, they would not be counted.

    Raises:
        BrokenRecordError: a message has OpenAI's calls or one of its roles for results.
    """
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and (
            message.get("tool_calls")
            or message.get("function_call")
            or message.get("role") in _OPENAI_ROLES
        ):
            raise BrokenRecordError(
                "its tool calls are written for OpenAI's API (`tool_calls`, role `tool`); import "
                "it with --format openai-chat"
            )


def _flattened(row: dict[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key in _PAIR:
        if isinstance(row.get(key), dict):
            merged |= row[key]
    return merged | {key: value for key, value in row.items() if key not in _PAIR}


def _parted(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part the fields of Anthropic's API from those around them; its message id is no task."""
    ours = {key: row[key] for key in _OURS if key in row}
    rest = {key: value for key, value in row.items() if key not in ours}
    if isinstance(rest.get("id"), str) and rest["id"].startswith("msg_"):
        rest["message_id"] = rest.pop("id")
    return rest, ours


def _talk(ours: dict[str, Any]) -> Any:
    def talk(row: dict[str, Any], extra: dict[str, Any], notes: Notes) -> Talk:
        messages = read_block_messages(row["messages"], notes) if "messages" in row else ()
        reply = []
        if ours.get("content") is not None:
            reply = block_message({"role": "assistant", "content": ours["content"]}, notes)
        finish_reason = rows.text_field(row, "finish_reason", extra)
        finish_reason = finish_reason or rows.text_or_none(ours.get("stop_reason"))
        if row.get("usage") is not None:
            extra["usage"] = row["usage"]
        tools = {"tools": read_block_tools(row["tools"])} if row.get("tools") is not None else {}
        return Talk(
            (*system_message(ours.get("system"), notes), *messages, *reply),
            finish_reason,
            read_any_usage(row.get("usage")),
            tools,
        )

    return talk


READER = AnthropicMessages()
