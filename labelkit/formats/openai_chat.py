"""OpenAI chat conversations: JSON Lines, an array or one object, with what people write around.

Accepted per record: ``messages`` (required; also inside ``request``), ``choices`` (a raw API
response, also inside ``response``: the first choice's message is the model's reply), and
``model``, ``task_id`` or ``id``, ``task_set``, ``condition``, ``repeat``, ``state``,
``finish_reason``, ``error``, ``usage``, ``tags``, ``metadata``, ``tool_mode``, ``tools`` or
``functions``. Everything else stays in ``Trace.extra``. Tools make a ``Task`` only where the
record names its task set and task id; otherwise they stay in ``Trace.extra`` too, because a task
without an identity could be confused with another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelkit.domain.message import Message
from labelkit.domain.task import Task, Tool
from labelkit.domain.trace import RowState, Trace, Usage
from labelkit.domain.trace_text import TraceText, write_trace
from labelkit.formats import rows
from labelkit.formats.chat import prompt_of, read_message, read_messages, read_tools
from labelkit.formats.jsonstream import json_records
from labelkit.formats.nesting import deeper
from labelkit.formats.plain_chat import PlainRow, PlainRows, PlainTalk, plain_talk
from labelkit.formats.reader import (
    BrokenRecordError,
    Head,
    Item,
    Notes,
    ReadOptions,
    TaskBook,
)
from labelkit.formats.records import an_object, read_each

_USED = frozenset({
    "messages", "request", "response", "choices", "model", "task_id", "id", "task_set",
    "condition", "repeat", "state", "finish_reason", "error", "usage", "tags", "metadata",
    "tool_mode", "tools", "functions",
})  # fmt: skip
_OF_THE_API = frozenset({
    "object", "created", "message_id", "system_fingerprint", "service_tier", "provider", "user",
    "stream", "store", "seed", "temperature", "top_p", "top_k", "min_p", "n", "max_tokens",
    "max_completion_tokens", "frequency_penalty", "presence_penalty", "repetition_penalty",
    "logprobs", "top_logprobs", "stop", "tool_choice", "function_call", "parallel_tool_calls",
    "reasoning_effort", "verbosity", "prompt_cache_key", "safety_identifier", "type", "role",
    "status", "status_code", "request_id", "custom_id", "stop_sequence",
})  # fmt: skip
_TAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
_TAG_CHARS = 80
_REPLY_KEYS = frozenset({"messages", "choices", "request", "response"})
_NEVER_PLAIN = _REPLY_KEYS - {"messages"}
_FOREIGN = re.compile(r'"(?:input_schema|tool_use|tool_result)"')
_STATES = frozenset(state.value for state in RowState)


class OpenAIChat:
    """Reads OpenAI chat conversations."""

    name = "openai-chat"
    description = "OpenAI chat conversations (JSON Lines, array or object with `messages`)"

    def sniff(self, head: Head) -> float:
        """Sure with ``messages``, unless calls are written the way Anthropic's API does."""
        if "messages" in head.keys:
            foreign = _FOREIGN.search(head.text) and '"tool_calls"' not in head.text
            return 0.4 if foreign else 0.9
        if "choices" in head.keys or {"request", "response"} <= head.keys:
            return 0.6
        return 0.3 if '"role"' in head.text and '"content"' in head.text else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one trace per record, before it the task if the record describes a new one."""
        book = TaskBook()

        def build(value: Any, source: str, notes: Notes) -> list[Task | Trace]:
            row = an_object(value)
            if not _REPLY_KEYS & row.keys():
                raise BrokenRecordError("the record has no `messages`")
            return chat_row(_flattened(row), source, options, notes, book, _talk)

        def quickly(value: PlainRow, source: str, notes: Notes) -> list[Task | TraceText] | None:
            return _plain_row(value, source, options, notes, book)

        quick = PlainRows(_NEVER_PLAIN).decode if options.texts else None
        records = json_records(path, quick=quick, span=options.span)
        return read_each(records, path, build, quickly if options.texts else None)


@dataclass(slots=True)
class Talk:
    """What a row says: its messages, why the reply ended, its tokens and its declared tools."""

    messages: tuple[Message, ...]
    finish_reason: str | None
    usage: Usage | None
    tools: Mapping[str, tuple[Tool, ...] | None]
    plain: PlainTalk | None = None

    def prompt(self) -> tuple[Message, ...]:
        """Return what the task showed the model."""
        return self.plain.prompt() if self.plain else prompt_of(self.messages)


ReadTalk = Callable[[dict[str, Any], dict[str, Any], Notes], Talk]
"""Reads the conversation of a row: (row, extra, notes); what has no place goes to ``extra``."""


def chat_row(
    row: dict[str, Any],
    source: str,
    options: ReadOptions,
    notes: Notes,
    book: TaskBook,
    talk: ReadTalk,
) -> list[Task | Trace]:
    """Return the trace of a row, before it the task where the row describes a new one.

    The fields around the conversation are the same whichever API the conversation is written for.

    Raises:
        BrokenRecordError: the row cannot be represented.
    """
    task, fields, said = _row_fields(row, options, notes, talk)
    trace = Trace(messages=said.messages, source=source, **fields)
    return [task, trace] if task is not None and book.is_new(task, notes) else [trace]


def _plain_row(
    row: PlainRow, source: str, options: ReadOptions, notes: Notes, book: TaskBook
) -> list[Task | TraceText] | None:
    """Return what a row that needs no mending says, its trace as text; else None."""
    plain = plain_talk(row.said, notes)
    if plain is None:
        return None

    def talk(row: dict[str, Any], extra: dict[str, Any], notes: Notes) -> Talk:
        return _talk(row, extra, notes, plain)

    try:
        task, fields, _ = _row_fields(row.fields, options, notes, talk)
    except (BrokenRecordError, ValueError):
        return None
    deep = bool(fields["extra"]) and deeper(fields["extra"])
    text = None if deep else write_trace(fields, plain.text, source)
    if text is None:
        return None
    return [task, text] if task is not None and book.is_new(task, notes) else [text]


def _row_fields(
    row: dict[str, Any], options: ReadOptions, notes: Notes, talk: ReadTalk
) -> tuple[Task | None, dict[str, Any], Talk]:
    """Return a row's task, the fields of its trace but messages and source, and what it says."""
    extra = {key: value for key, value in row.items() if key not in _USED}
    _tell_no_tags(extra, notes)
    said = talk(row, extra, notes)
    if not said.messages and not row.get("error"):
        raise BrokenRecordError("`messages` is empty")
    error = rows.read_error(row.get("error"))
    state, error = rows.row_state(said.messages, said.finish_reason, error)
    if row.get("state") in _STATES:
        state = RowState(row["state"])
    elif row.get("state") is not None:
        extra["state"] = row["state"]
    task_id = _task_id(row, extra)
    task_set = options.task_set or rows.text_field(row, "task_set", extra)
    task = _task(row, extra, task_set, task_id, said)
    tool_mode = row.get("tool_mode")
    if tool_mode is not None and tool_mode not in {"native", "emulated"}:
        extra["tool_mode"] = tool_mode
        tool_mode = None
    condition = options.condition
    if condition is None:
        condition = rows.text_field(row, "condition", extra)
    fields = {
        "model": rows.model_name(options.model, rows.text_field(row, "model", extra), notes),
        "state": state,
        "task_set": task_set,
        "task_id": task_id,
        "condition": condition or "",
        "repeat": rows.repeat_of(row.get("repeat"), extra, "repeat", notes),
        "finish_reason": said.finish_reason,
        "error": error,
        "usage": said.usage,
        "tool_mode": tool_mode,
        "tags": rows.read_tags(row, extra),
        "extra": extra,
    }
    return task, fields, said


def _tell_no_tags(extra: Mapping[str, Any], notes: Notes) -> None:
    """Tell of plain facts beside the conversation: kept, but no report can group by them."""
    for key, value in extra.items():
        if key in _OF_THE_API or not _TAG_NAME.fullmatch(key) or not rows.is_tag(value):
            continue
        if not isinstance(value, str) or len(value) <= _TAG_CHARS:
            notes.odd(f"`{key}` is kept, but is no tag; write it inside `tags` to group by it")


def _talk(
    row: dict[str, Any], extra: dict[str, Any], notes: Notes, plain: PlainTalk | None = None
) -> Talk:
    messages, finish_reason = _conversation(row, extra, notes)
    usage = rows.read_usage(row.get("usage"), extra)
    tools = {
        key: read_tools(row[key]) for key in ("tools", "functions") if row.get(key) is not None
    }
    return Talk((plain.last,) if plain else messages, finish_reason, usage, tools, plain)


def _flattened(row: dict[str, Any]) -> dict[str, Any]:
    """Lay a request and its response side by side; what the row itself says wins."""
    merged: dict[str, Any] = {}
    for key in ("request", "response"):
        if isinstance(row.get(key), dict):
            merged |= row[key]
    return merged | {key: value for key, value in row.items() if key not in {"request", "response"}}


def _conversation(
    row: dict[str, Any], extra: dict[str, Any], notes: Notes
) -> tuple[tuple[Message, ...], str | None]:
    messages = read_messages(row["messages"], notes) if "messages" in row else ()
    finish_reason = rows.text_field(row, "finish_reason", extra)
    choices = row.get("choices")
    if not isinstance(choices, list) or not choices:
        if choices:
            extra["choices"] = choices
        return messages, finish_reason
    first = choices[0]
    if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
        raise BrokenRecordError("`choices` holds no message")
    reply = {"role": "assistant"} | first["message"]
    messages = (*messages, read_message(reply, notes))
    rest = {key: value for key, value in first.items() if key not in {"message", "finish_reason"}}
    if rest.pop("index", 0) != 0 or any(value is not None for value in rest.values()):
        extra["choice"] = rest
    if len(choices) > 1:
        extra["other_choices"] = choices[1:]
        notes.lost("a response has several choices; the first is the reply, the others are kept")
    return messages, finish_reason or rows.text_field(first, "finish_reason", extra)


def _task_id(row: dict[str, Any], extra: dict[str, Any]) -> str | None:
    """Prefer ``task_id``; an ``id`` made by an API names a response and no task."""
    stated = rows.text_field(row, "task_id", extra)
    record_id = rows.text_field(row, "id", extra)
    if record_id is None:
        return stated
    if stated is not None or record_id.startswith(("chatcmpl", "resp_")):
        extra["id"] = row["id"]
        return stated
    return record_id


def _task(
    row: dict[str, Any],
    extra: dict[str, Any],
    task_set: str | None,
    task_id: str | None,
    said: Talk,
) -> Task | None:
    task = None
    for key, tools in said.tools.items():
        if tools is None or task is not None or task_set is None or task_id is None:
            extra[key] = row[key]
        else:
            task = Task(set=task_set, id=task_id, messages=said.prompt(), tools=tools)
    return task


READER = OpenAIChat()
