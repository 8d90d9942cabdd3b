"""With which letters an expression can begin: read off its text, never too few.

Only the syntax that the wordings use is read: letters, groups that catch nothing, quantifiers,
classes and tests that take no room. Whatever else comes first, nothing is known of what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_QUANTIFIER = re.compile(r"([?*+]|\{(\d*)(?:,(\d*))?\})[?+]?")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_TEST = re.compile(r"\(\?<?[=!]")
LETTERS = 5
"""So many first letters tell words apart."""


@dataclass(frozen=True, slots=True)
class Head:
    """A beginning: ``text``, and whether a ``word`` ends there; else anything may follow."""

    text: str
    ended: bool = False


def heads(pattern: str, *, words: bool) -> frozenset[Head]:
    """Return the beginnings of everything that a pattern can match.

    Args:
        pattern: one alternative, without outer bars.
        words: read the first letters of a word, which end at the first other character; without
            it any characters.
    """
    return frozenset(_heads(pattern, "", words=words))


def _heads(pattern: str, so_far: str, *, words: bool) -> Iterator[Head]:
    if len(so_far) >= LETTERS or not pattern:
        yield Head(so_far)
        return
    if pattern.startswith("("):
        yield from _of_group(pattern, so_far, words=words)
        return
    letter, rest = _letter(pattern)
    if letter is None and pattern.startswith(("\\b", "^", "$")):
        yield from _heads(rest, so_far, words=words)
        return
    low, once, rest = _times(rest)
    if low == 0:
        yield from _heads(rest, so_far, words=words)
    if letter is None:
        yield Head(so_far)
    elif words and not (letter.isalnum() or letter == "_"):
        yield Head(so_far, ended=True)
    elif once:
        yield from _heads(rest, so_far + letter, words=words)
    else:
        yield Head(so_far + letter)


def _of_group(pattern: str, so_far: str, *, words: bool) -> Iterator[Head]:
    """Go on with every alternative of the group that comes first, and with what follows it."""
    end = _closing(pattern)
    inside, rest = pattern[1:end], pattern[end + 1 :]
    if _TEST.match(pattern):
        yield from _heads(rest, so_far, words=words)
        return
    inside = inside.removeprefix("?:")
    low, once, rest = _times(rest)
    if low == 0:
        yield from _heads(rest, so_far, words=words)
    for one in alternatives(inside):
        if once:
            yield from _heads(one + rest, so_far, words=words)
        else:
            # Of repeated ones only the first is read on.
            for head in _heads(one, so_far, words=words):
                yield head if head.ended else Head(head.text)


def _letter(pattern: str) -> tuple[str | None, str]:
    """The letter that comes first (None: one of several, or no letter), and the rest."""
    if pattern.startswith("\\"):
        found = _ESCAPED.match(pattern)
        if found is None:
            return None, ""
        rest = pattern[found.end() :]
        if found[1]:
            return chr(int(found[1], 16)), rest
        return (None if found[2].isalnum() else found[2]), rest
    if pattern.startswith("["):
        return None, pattern[_class_end(pattern) + 1 :]
    return (None if pattern[0] in ".^$" else pattern[0]), pattern[1:]


def _times(rest: str) -> tuple[int, bool, str]:
    """Fewest times that the item before may stand, whether at most once, and what follows."""
    found = _QUANTIFIER.match(rest)
    if found is None:
        return 1, True, rest
    low = {"?": 0, "*": 0, "+": 1}.get(found[1], int(found[2] or 0) if found[1][0] == "{" else 1)
    return low, found[1] == "?", rest[found.end() :]


def _class_end(pattern: str) -> int:
    at = 2 if pattern[1:2] == "^" else 1
    if pattern[at : at + 1] == "]":
        at += 1
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at


def _closing(pattern: str) -> int:
    """Place of the bracket that closes the one at the beginning."""
    depth = 0
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "\\":
            at += 1
        elif letter == "[":
            at += _class_end(pattern[at:])
        elif letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise ValueError(f"a bracket is not closed in {pattern!r}")


def alternatives(pattern: str) -> list[str]:
    """Split a pattern at its outermost bars."""
    pieces = [""]
    depth = 0
    escaped = in_class = False
    for letter in pattern:
        if escaped:
            escaped = False
        elif letter == "\\":
            escaped = True
        elif in_class:
            in_class = letter != "]"
        elif letter == "[":
            in_class = True
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "|" and depth == 0:
            pieces.append("")
            continue
        pieces[-1] += letter
    return pieces
