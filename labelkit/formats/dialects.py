"""Requests and responses of any known API as messages, whoever wrote them down.

Providers' payloads are what proxies log, what telemetry puts into spans and what test cassettes
record. This module tells the dialects apart by the fields they have, hands them to the module that
knows them, and returns one kind of value. It knows nothing about files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import Message
from labelkit.domain.task import Tool
from labelkit.domain.trace import TraceError, Usage
from labelkit.formats import rows
from labelkit.formats.blocks import (
    block_message,
    read_block_messages,
    read_block_tools,
    system_message,
)
from labelkit.formats.chat import read_message, read_messages, read_tools
from labelkit.formats.gemini import content_messages, read_contents, system_contents
from labelkit.formats.reader import BrokenRecordError, Notes
from labelkit.formats.semconv import read_logged_message, read_response_item

_BLOCK_MARKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
_USAGE = {
    "prompt_tokens": ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_token_count"),
    "completion_tokens": (
        "completion_tokens", "output_tokens", "candidatesTokenCount", "candidates_token_count",
    ),
    "reasoning_tokens": ("reasoning_tokens", "thoughtsTokenCount", "thoughts_token_count"),
    "cached_tokens": (
        "cached_tokens", "cache_read_input_tokens", "cachedContentTokenCount",
        "cached_content_token_count", "input_tokens_cache_read",
    ),
}  # fmt: skip
_DETAILS = (
    "completion_tokens_details", "output_tokens_details", "prompt_tokens_details",
    "input_tokens_details",
)  # fmt: skip
_CACHE = ("cache_creation_input_tokens", "cache_read_input_tokens")


@dataclass
class Request:
    """What was asked: the messages before the reply, the model and the tools as they were sent."""

    messages: tuple[Message, ...]
    model: str | None = None
    tools: tuple[Tool, ...] | None = None
    raw_tools: Any = None
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class Reply:
    """What came back. ``messages`` is empty where the reply was an error."""

    messages: tuple[Message, ...]
    model: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    error: TraceError | None = None
    extra: dict[str, Any] = field(default_factory=dict)


def read_request(raw: dict[str, Any], notes: Notes) -> Request:
    """Return a request of any dialect.

    Raises:
        BrokenRecordError: no dialect has such fields, or a message in it is damaged.
    """
    model = rows.text_or_none(raw.get("model"))
    if "contents" in raw:
        return _gemini_request(raw, model, notes)
    if "messages" in raw and _has_blocks(raw):
        messages = read_block_messages(raw["messages"], notes)
        used = {"messages", "system", "tools", "model"}
        system = system_message(raw.get("system"), notes)
        tools = read_block_tools(raw.get("tools"))
        return _request((*system, *messages), model, tools, raw, used)
    if "messages" in raw:
        messages = read_messages(raw["messages"], notes)
        tools = read_tools(raw.get("tools"))
        return _request(messages, model, tools, raw, {"messages", "tools", "model"})
    if "input" in raw:
        asked = raw["input"]
        items = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise BrokenRecordError("`input` is neither text nor a list of items")
        said = tuple(m for item in items for m in read_response_item(item, notes))
        used = {"input", "instructions", "tools", "model"}
        system = system_message(raw.get("instructions"), notes)
        return _request((*system, *said), model, read_tools(raw.get("tools")), raw, used)
    if isinstance(raw.get("prompt"), str):
        asked_for = (Message(role="user", content=raw["prompt"]),)
        return _request(asked_for, model, None, raw, {"prompt", "model"})
    raise BrokenRecordError("the request has no `messages`, `contents` or `input`")


def _request(
    messages: tuple[Message, ...],
    model: str | None,
    tools: tuple[Tool, ...] | None,
    raw: dict[str, Any],
    used: set[str],
) -> Request:
    settings = {key: value for key, value in raw.items() if key not in used}
    raw_tools = raw.get("tools") if tools is None else None
    return Request(messages, model, tools, raw_tools, settings)


def _gemini_request(raw: dict[str, Any], model: str | None, notes: Notes) -> Request:
    config = raw["config"] if isinstance(raw.get("config"), dict) else {}
    names = ("systemInstruction", "system_instruction")
    system = next((holder[n] for holder in (raw, config) for n in names if holder.get(n)), None)
    messages = (*system_contents(system, notes), *read_contents(raw["contents"], notes))
    used = {"contents", "model", "tools", *names}
    settings = {key: value for key, value in raw.items() if key not in used}
    return Request(messages, model, None, raw.get("tools") or config.get("tools"), settings)


def _has_blocks(raw: dict[str, Any]) -> bool:
    """Whether a request is written for Anthropic's API: its own fields, or its own blocks."""
    if "system" in raw or "anthropic_version" in raw:
        return True
    tools = raw.get("tools")
    if isinstance(tools, list) and any(isinstance(t, dict) and "input_schema" in t for t in tools):
        return True
    messages = raw["messages"] if isinstance(raw["messages"], list) else []
    contents = [m.get("content") for m in messages if isinstance(m, dict)]
    return any(
        isinstance(block, dict) and block.get("type") in _BLOCK_MARKS
        for content in contents
        if isinstance(content, list)
        for block in content
    )


def read_reply(raw: dict[str, Any], notes: Notes, status: int | None = None) -> Reply:
    """Return a response of any dialect; an HTTP status of 400 and above is an error.

    Raises:
        BrokenRecordError: no dialect has such fields, or a message in it is damaged.
    """
    stated = raw.get("error")
    if (status is not None and status >= 400) or (stated and "output" not in raw):
        error = rows.read_error(stated if stated else raw) or TraceError(kind="other_error")
        error = error.model_copy(update={"status": status}) if status is not None else error
        return Reply((), rows.text_or_none(raw.get("model")), error=error, extra={"response": raw})
    if isinstance(raw.get("choices"), list) and raw["choices"]:
        return _chat_reply(raw, notes)
    if "candidates" in raw or "promptFeedback" in raw:
        return _gemini_reply(raw, notes)
    if isinstance(raw.get("output"), list):
        return _responses_reply(raw, notes)
    if isinstance(raw.get("content"), list | str) and raw.get("role", "assistant") == "assistant":
        messages = tuple(block_message({"role": "assistant", "content": raw["content"]}, notes))
        used = {"content", "role", "type", "stop_reason"}
        return _reply(messages, rows.text_or_none(raw.get("stop_reason")), raw, used)
    raise BrokenRecordError("the response has no reply that a known API would give")


def _reply(
    messages: tuple[Message, ...], finish: str | None, raw: dict[str, Any], used: set[str]
) -> Reply:
    counted = raw.get("usage", raw.get("usageMetadata", raw.get("usage_metadata")))
    model = raw.get("model", raw.get("modelVersion"))
    extra = {k: v for k, v in raw.items() if k not in used and k != "model" and v is not None}
    return Reply(messages, rows.text_or_none(model), finish, read_any_usage(counted), None, extra)


def _chat_reply(raw: dict[str, Any], notes: Notes) -> Reply:
    first = raw["choices"][0]
    if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
        raise BrokenRecordError("`choices` holds no message")
    message = read_message({"role": "assistant"} | first["message"], notes)
    reply = _reply((message,), rows.text_or_none(first.get("finish_reason")), raw, {"choices"})
    if len(raw["choices"]) > 1:
        reply.extra["other_choices"] = raw["choices"][1:]
        notes.lost("a response has several choices; the first is the reply, the others are kept")
    return reply


def _gemini_reply(raw: dict[str, Any], notes: Notes) -> Reply:
    candidates = raw.get("candidates") or []
    used = {"candidates", "modelVersion"}
    if not isinstance(candidates, list) or not candidates:
        feedback = raw.get("promptFeedback") or {}
        why = feedback.get("blockReason") if isinstance(feedback, dict) else None
        return _reply((), rows.text_or_none(why) or "content_filter", raw, used)
    first = candidates[0]
    content = first.get("content") if isinstance(first, dict) else None
    messages = content_messages(content, notes, "model") if isinstance(content, dict) else []
    named = first if isinstance(first, dict) else {}
    finish = named.get("finishReason", named.get("finish_reason"))
    if len(candidates) > 1:
        notes.lost("a response has several choices; the first is the reply, the others are kept")
        used.discard("candidates")
    return _reply(tuple(messages), rows.text_or_none(finish), raw, used)


def _responses_reply(raw: dict[str, Any], notes: Notes) -> Reply:
    items = [item for item in raw["output"] if isinstance(item, dict)]
    messages = tuple(m for item in items for m in read_logged_message(item, notes))
    why = raw.get("incomplete_details")
    finish = why.get("reason") if isinstance(why, dict) else raw.get("status")
    reply = _reply(messages, rows.text_or_none(finish), raw, {"output", "error"})
    reply.error = rows.read_error(raw.get("error"))
    return reply


def read_any_usage(raw: Any) -> Usage | None:
    """Return the tokens under whatever names a provider counts them; None where it says nothing.

    Anthropic counts cached input apart from ``input_tokens``; the prompt is their sum.
    """
    if not isinstance(raw, dict):
        return None
    flat = dict(raw)
    for key in _DETAILS:
        if isinstance(raw.get(key), dict):
            flat = raw[key] | flat
    found = {
        name: next((n for key in keys if (n := rows.count(flat.get(key))) is not None), None)
        for name, keys in _USAGE.items()
    }
    if found["prompt_tokens"] is not None and any(key in raw for key in _CACHE):
        found["prompt_tokens"] += sum(rows.count(raw.get(key)) or 0 for key in _CACHE)
    return Usage(**found) if any(value is not None for value in found.values()) else None


def read_logged(value: Any, role: str, notes: Notes) -> tuple[Message, ...]:
    """Return what a span's input or output says: a payload, messages, one message, or a text.

    ``role`` is who speaks where the value does not say.
    """
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (Message(role=role, content=value),)
    if isinstance(value, list):
        if value and all(isinstance(entry, dict) for entry in value):
            return tuple(m for entry in value for m in _logged_entry(entry, role, notes))
        return (Message(role=role, content=canonical_json(value)),)
    if isinstance(value, dict):
        return _logged_entry(value, role, notes)
    return (Message(role=role, content=canonical_json(value)),)


def _logged_entry(entry: dict[str, Any], role: str, notes: Notes) -> tuple[Message, ...]:
    if entry.keys() & {"messages", "contents"}:
        return read_request(entry, notes).messages
    if entry.keys() & {"choices", "candidates"} or isinstance(entry.get("output"), list):
        return read_reply(entry, notes).messages
    content = entry.get("content")
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        return tuple(content_messages(content, notes, role))
    if _is_block_content(content):
        return tuple(block_message({"role": role} | entry, notes))
    if entry.keys() & {"role", "message", "additional_kwargs"} or "type" in entry:
        return tuple(read_logged_message(entry, notes))
    return (Message(role=role, content=canonical_json(entry)),)


def _is_block_content(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(b, dict) and b.get("type") in _BLOCK_MARKS for b in content
    )
