"""JSON objects in free text, found in linear time and without ever guessing.

A judge wraps its verdict in prose, fences, thoughts or nothing at all. Fences need no step of
their own: an object is found where it starts, whatever stands around it, and back-ticks inside a
string stay part of the string. The text may be 1 MB of ``{``: work is bounded by a budget that
grows with the length of the text, and is spent from the end, where the verdict stands.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_START = re.compile(r'\{\s*"')
_STRING = r'"(?:[^"\\]++|\\.)*+"'
_TOKEN = re.compile(rf'{_STRING}|["{{}}\[\],]', re.DOTALL)
_MENDABLE = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
_BAD_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|(["\\/bfnrt])|(.))', re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}
MAX_STARTS = 256
_MAX_CUTS = 8


class Repeated(dict[str, Any]):
    """An object in which a key stood several times; ``values`` holds every value of such keys."""

    __slots__ = ("values_of",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.values_of: dict[str, list[Any]] = {}
        for key, value in pairs:
            self.values_of.setdefault(key, []).append(value)


def _keep_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Repeated(pairs)


# strict=False: a line break inside a string is a common slip that leaves no doubt.
_DECODER = json.JSONDecoder(object_pairs_hook=_keep_repeats, strict=False)


@dataclass(frozen=True, slots=True)
class Found:
    """One object with its place in the text. ``repaired``: mended before it could be read."""

    value: dict[str, Any]
    start: int
    end: int
    repaired: bool = False


def whole_object(text: str) -> dict[str, Any] | None:
    """Return the object when ``text`` is exactly one JSON object, else None."""
    start = len(text) - len(text.lstrip())
    if not text.startswith("{", start):
        return None
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if text[end:].strip() or not isinstance(value, dict):
        return None
    return value


def objects_in(text: str, most: int = MAX_STARTS) -> tuple[list[Found], list[int]]:
    """Return the outermost complete objects of ``text`` and the starts of unreadable ones.

    Args:
        text: what to search.
        most: number of object starts that are looked at, counted from the end.

    Returns:
        ``found`` in text order, and ``broken``: where objects start that could not be read, in
        text order; those inside a readable object are left out.
    """
    starts = [match.start() for match in _START.finditer(text)][-most:]
    budget = 8 * len(text) + 10_000
    found: list[Found] = []
    broken: list[int] = []
    for start in reversed(starts):
        if budget <= 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            unterminated = error.msg.startswith("Unterminated")
            budget -= (len(text) if unterminated else error.pos) - start + 64
            broken.append(start)
            continue
        except (ValueError, RecursionError):
            budget -= len(text) - start
            continue
        budget -= end - start
        while found and found[-1].start < end:
            found.pop()
        while broken and broken[-1] < end:
            broken.pop()
        found.append(Found(value, start, end))
    return found[::-1], broken[::-1]


def repair(text: str, start: int) -> Found | None:
    """Mend an object that cannot be read as it stands, or return None.

    Mended are: closing brackets missing at the end of the text, a comma before a closing bracket,
    escapes that JSON does not know. A member whose value was cut is dropped, never completed, so
    a cut label is missing afterwards.
    """
    body = text[start:].rstrip("` \t\r\n")
    stack: list[str] = []
    comma: int | None = None
    for match in _TOKEN.finditer(body):
        mark = match.group()
        if mark == '"':
            return _close(body, comma, start, None)
        if mark in "{[":
            stack.append(_CLOSERS[mark])
        elif mark in "}]":
            if not stack or stack.pop() != mark:
                return None
            if not stack:
                return _read(body[: match.end()], start, match.end())
        elif mark == "," and len(stack) == 1:
            comma = match.start()
    ends_whole = body.endswith(('"', "}", "]", "true", "false", "null"))
    return _close(body, comma, start, "".join(reversed(stack)) if ends_whole else None)


def _close(body: str, comma: int | None, start: int, closers: str | None) -> Found | None:
    """Close a body that ran out of text: whole, or without its last member."""
    end = len(body)
    if closers is not None:
        found = _read(body + closers, start, end)
        if found is not None:
            return found
    return None if comma is None else _read(body[:comma] + "}", start, end)


def _read(text: str, start: int, length: int) -> Found | None:
    try:
        value = _DECODER.decode(_MENDABLE.sub(_mended, text))
    except (ValueError, RecursionError):
        return None
    return Found(value, start, start + length, repaired=True) if isinstance(value, dict) else None


def _mended(match: re.Match[str]) -> str:
    string = match.group(1)
    if string is None:
        return ""
    return _BAD_ESCAPE.sub(_escaped, string) if "\\" in string else string


def _escaped(match: re.Match[str]) -> str:
    escaped = match.group(2)
    if escaped is None:
        return match.group()
    return escaped if escaped == "'" else f"\\\\{escaped}"


def repairs(text: str, broken: list[int]) -> list[Found]:
    """Return what can be mended of the broken objects: outermost first, few of them."""
    tried = (
        broken if len(broken) <= _MAX_CUTS else broken[: _MAX_CUTS // 2] + broken[-_MAX_CUTS // 2 :]
    )
    found: list[Found] = []
    for start in tried:
        if found and start < found[-1].end:
            continue
        mended = repair(text, start)
        if mended is not None:
            found.append(mended)
    return found
