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

_BIG = 2.0**63
_PLAIN = (str, int, bool, type(None))
_NOTHING: dict[str, Any] = {}
_NONE: list[Any] = []


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
    said: list[dict[str, Any]] = []
    made: set[str] = set()
    last: Any = None
    try:
        for entry in raw:
            role = entry.get("role") if type(entry) is dict else None
            if role not in ROLES:
                return None
            if role == "assistant":
                last = entry
            if len(entry) == 2 and "content" in entry:
                content = entry["content"]
                if content is not None and type(content) is not str:
                    return None
                # As `_message`, without the call: most messages of a file are like this.
                said.append({
                    "content": content,
                    "extra": _NOTHING,
                    "name": None,
                    "parts": _NONE,
                    "reasoning": None,
                    "role": role,
                    "tool_call_id": None,
                    "tool_calls": _NONE,
                })  # fmt: skip
            else:
                said.append(_message(entry, role, made, notes))
        # All at once: a call of the writer for every text costs more than the writing.
        text = dumps(said)
    except (_NotPlainError, KeyError, TypeError):  # a lone surrogate cannot be written
        return None
    if last is None:
        return None
    return PlainTalk(text, Message(role="assistant", content=last.get("content")), raw)


def _message(entry: dict[str, Any], role: str, made: set[str], notes: Notes) -> dict[str, Any]:
    """Return what is stored of a message that has calls, an id or a name; its keys in order."""
    content = entry.get("content")
    if content is not None and type(content) is not str:
        raise _NotPlainError
    known = 1 + ("content" in entry)
    name = call_id = None
    calls = _NONE
    if "tool_calls" in entry:
        known += 1
        calls = _calls(entry["tool_calls"], made, notes)
    if "tool_call_id" in entry:
        known += 1
        call_id = _text(entry["tool_call_id"])
        if role == "tool":
            check_result(call_id, made, notes)
    if "name" in entry:
        known += 1
        name = _text(entry["name"])
    if len(entry) != known:
        raise _NotPlainError
    return {
        "content": content,
        "extra": _NOTHING,
        "name": name,
        "parts": _NONE,
        "reasoning": None,
        "role": role,
        "tool_call_id": call_id,
        "tool_calls": calls,
    }


def _calls(stated: Any, made: set[str], notes: Notes) -> list[dict[str, str]]:
    """Return what is stored of a message's calls, keys in order."""
    if type(stated) is not list:
        raise _NotPlainError
    calls = []
    for call in stated:
        if type(call) is not dict or len(call) != 3 or call["type"] != "function":
            raise _NotPlainError
        call_id, function = call["id"], call["function"]
        if type(function) is not dict or len(function) != 2:
            raise _NotPlainError
        name, arguments = function["name"], function["arguments"]
        if not (type(arguments) is type(call_id) is type(name) is str):
            raise _NotPlainError
        if arguments.strip() == "null":
            raise _NotPlainError
        check_arguments(arguments, notes)
        made.add(call_id)
        calls.append({"arguments": arguments, "id": call_id, "name": name})
    return calls


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
