"""The short way from a decoded chat row to stored text, for rows that need no mending.

Most rows of a large file hold nothing but texts, and building validated messages only to write
them again is most of an import's time. This module writes the canonical text of such rows and
gives up, with None, on everything that the long way would mend, note or refuse; so there is one
meaning of a row, and a test compares the two ways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from orjson import dumps

from labelkit.domain.message import Message
from labelkit.formats.chat import ROLES, prompt_of, read_message
from labelkit.formats.checks import check_arguments, check_result
from labelkit.formats.reader import Notes

_CALL_KEYS = {"id", "type", "function"}
_FUNCTION_KEYS = {"name", "arguments"}
_BIG = 2.0**63
_PLAIN = (str, int, bool, type(None))

# The canonical text of a message, cut where its values go: keys in order, no spaces.
_HEAD = b'{"content":'
_NAME = b',"extra":{},"name":'
_ROLE = {role: b',"parts":[],"reasoning":null,"role":' + dumps(role) for role in ROLES}
_CALL_ID = b',"tool_call_id":'
_CALLS = b',"tool_calls":['
_END = b"]}"
_NULL = b"null"
_SHORT = {role: _NAME + _NULL + _ROLE[role] + _CALL_ID + _NULL + _CALLS + _END for role in ROLES}


@dataclass(slots=True)
class PlainTalk:
    """The messages of a row as the canonical text of their list.

    ``last`` is the model's last word; ``raw`` the messages as they were decoded.
    """

    text: bytes
    last: Message
    raw: list[Any]

    def prompt(self) -> tuple[Message, ...]:
        """Return the messages before the model's first word, validated."""
        notes = Notes()
        shown = []
        for entry in self.raw:
            if entry["role"] in {"assistant", "tool"}:
                break
            shown.append(read_message(entry, notes))
        return prompt_of(shown)


class _NotPlainError(Exception):
    """The row needs the long way."""


def plain_talk(raw: Any, notes: Notes) -> PlainTalk | None:
    """Return the messages of a row, or None when one needs the long way or no model speaks.

    Notes what every conversation is checked for: unreadable arguments and foreign results.
    """
    if type(raw) is not list:
        return None
    texts: list[bytes] = []
    made: set[str] = set()
    last: Any = None
    try:
        for entry in raw:
            role = entry.get("role") if type(entry) is dict else None
            if role == "assistant":
                last = entry
            if role in ROLES and len(entry) == 2 and "content" in entry:
                content = entry["content"]
                said = _NULL if content is None else dumps(_text(content))
                texts.append(_HEAD + said + _SHORT[role])
            elif role in ROLES:
                texts.append(_message_text(entry, role, made, notes))
            else:
                return None
    except (_NotPlainError, TypeError):  # a lone surrogate cannot be written
        return None
    if last is None:
        return None
    spoken = Message(role="assistant", content=last.get("content"))
    return PlainTalk(b"[" + b",".join(texts) + b"]", spoken, raw)


def _message_text(entry: dict[str, Any], role: str, made: set[str], notes: Notes) -> bytes:
    """Return the canonical text of a message that has calls, an id or a name."""
    known = 1
    content = name = call_id = _NULL
    calls = b""
    if "content" in entry:
        known += 1
        if entry["content"] is not None:
            content = dumps(_text(entry["content"]))
    if "tool_calls" in entry:
        known += 1
        calls = _calls_text(entry["tool_calls"], made, notes)
    if "tool_call_id" in entry:
        known += 1
        call_id = dumps(_text(entry["tool_call_id"]))
        if role == "tool":
            check_result(entry["tool_call_id"], made, notes)
    if "name" in entry:
        known += 1
        name = dumps(_text(entry["name"]))
    if len(entry) != known:
        raise _NotPlainError
    return b"".join(
        (_HEAD, content, _NAME, name, _ROLE[role], _CALL_ID, call_id, _CALLS, calls, _END)
    )


def _calls_text(stated: Any, made: set[str], notes: Notes) -> bytes:
    if type(stated) is not list:
        raise _NotPlainError
    texts = []
    for call in stated:
        if type(call) is not dict or call.keys() != _CALL_KEYS or call["type"] != "function":
            raise _NotPlainError
        function = call["function"]
        if type(function) is not dict or function.keys() != _FUNCTION_KEYS:
            raise _NotPlainError
        arguments, call_id = _text(function["arguments"]), _text(call["id"])
        if arguments.strip() == "null":
            raise _NotPlainError
        check_arguments(arguments, notes)
        made.add(call_id)
        texts.append(
            b'{"arguments":%b,"id":%b,"name":%b}'
            % (dumps(arguments), dumps(call_id), dumps(_text(function["name"])))
        )
    return b",".join(texts)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise _NotPlainError
    return value


def exact(value: Any) -> bool:
    """Whether a quickly decoded value is what the exact decoder returns.

    The quick one turns integers beyond 64 bits into floats; any float that could be one is
    decoded again.
    """
    if isinstance(value, float):
        return math.isfinite(value) and abs(value) < _BIG
    if isinstance(value, dict):
        return all(type(v) in _PLAIN or exact(v) for v in value.values())
    if isinstance(value, list):
        return all(type(v) in _PLAIN or exact(v) for v in value)
    return True
