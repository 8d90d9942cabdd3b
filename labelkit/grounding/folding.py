"""Text made comparable without losing its place.

People and models write the same thing in different code points: a no-break space, full-width
digits, a line break in the middle of a sentence. Comparing needs one form; evidence needs offsets
into the *original* text. A ``Folded`` text holds both. Folding removes zero-width characters,
applies NFKC and (for quotes) makes every run of white space one space. It does nothing looser:
no case, no punctuation, no dashes, no quotation marks.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache

from labelkit.grounding.hints import holds_any

_ZERO_WIDTH = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u0900-\u0903\u093c\u094d"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
)
# A cluster is bounded: canonical ordering of an endless run of marks would be quadratic.
_CLUSTER = (
    "[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?"
    f"|[^{_MARKS}{_ZERO_WIDTH}\\s][{_MARKS}]{{1,32}}|[^\\x00-\\x7f]"
)
_DIGIT = re.compile(r"\d")
_SHORT = 64
_SQUEEZED = re.compile(r"[^a-z0-9]+")
_NOT_SQUEEZED = bytes(c for c in range(128) if not (chr(c).islower() or chr(c).isdigit()))
_ODD_SPACE = re.compile(r"[^\S ]\s*| \s+")
_QUOTE_PIECES = re.compile(f"[{_ZERO_WIDTH}\\s]+|{_CLUSTER}")
_VALUE_PIECES = re.compile(
    f"\u2212[\u00a0\u2007\u2009\u202f](?=\\d)|[{_ZERO_WIDTH}]+|[\u2070\u00b9\u00b2\u00b3\u2074-\u207b]+|{_CLUSTER}"
)
_REMOVED = re.compile(f"[{_ZERO_WIDTH}]+")
# What LaTeX writes for a sign or a space of a number, and the dollars around a formula (they hold
# a backslash, a power or a group in braces, so that they are no currency).
_LATEX = (
    r"\\(?:times|cdot|ast)(?![A-Za-z])|\\[,;: ]|\\[%$#&_]|\\(?:approx|sim)(?![A-Za-z])|\{,\}"
    r"|\\(?:text|mathrm|mathbf|textbf|operatorname)\{[^{}\n]{0,80}\}"
    r"|(?<![\\\w$])\$(?=[^$\n]{0,80}?[\\^{][^$\n]{0,120}\$)"
)
_LATEX_SIGN = re.compile(r"\\[A-Za-z,;: %$_#&]|\{,\}")
_LATEX_PIECES = re.compile(_LATEX)
_LATEX_OR_VALUE = re.compile(f"{_LATEX}|{_VALUE_PIECES.pattern}")
_LATEX_SIGNS = {
    "\\times": "x", "\\cdot": "x", "\\ast": "x", "{,}": ",", "\\approx": "\u2248", "\\sim": "~",
    "$": " ",
}  # fmt: skip
# A minus sign apart from its number by a hard space: a dash would be no U+2212.
_MINUS_APART = re.compile("\u2212[\u00a0\u2007\u2009\u202f](?=\\d)")
# Dashes that stand for a minus or a range, and signs NFKC leaves apart. The hard spaces that group
# digits stay apart from ordinary spaces: 12 345 may be two numbers, 12\u00a0345 is one.
_VALUE_SIGNS = {
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2212": "-",
    "\u00a0": "\u00a0", "\u2007": "\u00a0", "\u2009": "\u00a0", "\u202f": "\u00a0",
    "\ufe63": "-", "\uff0d": "-", "\u00d7": "x", "\u2715": "x", "\u22c5": "x", "\u00b7": "x",
    "\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"', "\u2044": "/",
    "\u066b": ".", "\u066c": ",", "\u00b0": "\u00b0", "\u2026": "\u2026",
}  # fmt: skip


def anchored(sign: re.Pattern[str], pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield what ``pattern.finditer(text)`` does, where every match begins at one of ``sign``.

    Made for speed: ``sign`` is an expression that begins with a class of characters, which is
    searched many times faster than an expression of many branches.
    """
    position = 0
    for place in sign.finditer(text):
        if place.start() >= position and (match := pattern.match(text, place.start())):
            yield match
            position = match.end()


def has_digit(text: str) -> bool:
    """Whether the text holds a decimal digit of any script; cheap on long prose."""
    if len(text) < _SHORT or not text.isascii():
        return _DIGIT.search(text) is not None
    return holds_any(text, "0123456789")


def squeezed_text(lowered: str) -> str:
    """The ASCII small letters and digits of ``lowered`` alone."""
    if lowered.isascii():
        return lowered.encode("ascii").translate(None, _NOT_SQUEEZED).decode("ascii")
    return _SQUEEZED.sub("", lowered)


_Changes = tuple[list[int], list[int], list[int], list[int]]


class Folded:
    """A folded text with the way back to the original.

    ``text`` is the folded text; ``span`` maps a range of it to offsets of the original. Only
    replaced places are stored, so that a text with few of them costs little.
    """

    __slots__ = ("_ends", "_o_ends", "_o_starts", "_starts", "text")

    def __init__(self, text: str, changes: _Changes | None = None) -> None:
        self.text = text
        self._starts, self._ends, self._o_starts, self._o_ends = changes or ([], [], [], [])

    def _place(self, index: int) -> tuple[int, int]:
        """Original start and end of the folded character at ``index``."""
        at = bisect_right(self._starts, index) - 1
        if at < 0:
            return index, index + 1
        if index < self._ends[at]:
            return self._o_starts[at], self._o_ends[at]
        moved = index - self._ends[at] + self._o_ends[at]
        return moved, moved + 1

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets (end exclusive) in the original of the folded range; needs ``end > start``."""
        if not self._starts:
            return start, end
        return self._place(start)[0], self._place(end - 1)[1]


def _replace(text: str, pieces: re.Pattern[str], fold_piece: Callable[[str], str]) -> Folded:
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    o_starts: list[int] = []
    o_ends: list[int] = []
    known: dict[str, str] = {}
    position = length = 0
    for match in pieces.finditer(text):
        piece = match.group()
        new = known.get(piece)
        if new is None:
            new = known[piece] = fold_piece(piece)
        if new == piece:
            continue
        start, end = match.span()
        if start > position:
            out.append(text[position:start])
            length += start - position
        out.append(new)
        starts.append(length)
        length += len(new)
        ends.append(length)
        o_starts.append(start)
        o_ends.append(end)
        position = end
    out.append(text[position:])
    return Folded("".join(out), (starts, ends, o_starts, o_ends))


def _quote_piece(piece: str) -> str:
    if piece[0].isspace() or _REMOVED.match(piece):
        return " " if any(c.isspace() for c in piece) else ""
    return unicodedata.normalize("NFKC", piece)


def _latex_piece(piece: str) -> str:
    first = piece[0]
    if first not in "\\{$":
        return _value_piece(piece)
    sign = _LATEX_SIGNS.get(piece)
    if sign is not None:
        return sign
    if piece.endswith("}"):
        return piece[piece.index("{") + 1 : -1]
    # A thin space groups the digits of one number, as a hard space does.
    return "\u00a0" if piece[1] in ",;: " else piece[1:]


def _value_piece(piece: str) -> str:
    first = piece[0]
    if first in _VALUE_SIGNS:
        return _VALUE_SIGNS[first]
    if _REMOVED.match(piece):
        return ""
    if first in "\u2070\u00b9\u00b2\u00b3" or "\u2074" <= first <= "\u207b":
        # An exponent would melt into the number before it: 10\u207b\u2077 must not become 10-7.
        return "^" + unicodedata.normalize("NFKC", piece).replace("\u2212", "-")
    return unicodedata.normalize("NFKC", piece)


@lru_cache(maxsize=8)
def fold_quote(text: str) -> Folded:
    """Fold for word-for-word comparison: white space, zero-width characters, NFKC."""
    if text.isascii():
        if not _ODD_SPACE.search(text):
            return Folded(text)
        return _replace(text, _ODD_SPACE, _quote_piece)
    return _replace(text, _QUOTE_PIECES, _quote_piece)


# Letters and signs that folding keeps or replaces one for one, when no mark can join them: offsets
# stay what they are. Most answers that are not plain ASCII hold nothing else.
_EVEN = re.compile(
    "[\\x00-\\x7f\u00a0\u00a1-\u00a7\u00a9\u00ab\u00ac\u00ae\u00b0\u00b1\u00b6\u00b7\u00bb\u00bf-\u00ff"
    "\u0100-\u0131\u0134-\u013e\u2010-\u2016\u2018-\u201f\u2020-\u2023\u20ac\u20b9\u2190-\u21ff\u2212\u2248"
    "\u2264\u2265\u202f\u2007\u2009\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff\uff10-\uff19\uff0c-\uff0e\uff05]*+"
)
_EVENLY = {ord(k): v for k, v in _VALUE_SIGNS.items()} | {
    0xFF10 + digit: str(digit) for digit in range(10)
} | {0xFF0C: ",", 0xFF0E: ".", 0xFF05: "%"}  # fmt: skip

_SWAPPED = re.compile("[" + re.escape("".join(map(chr, _EVENLY))) + "]")


def fold_values(text: str) -> Folded:
    """Fold for reading values: NFKC, one minus sign, straight quotes, exponents as ``^-7``."""
    if ("\\" in text or "{,}" in text) and _LATEX_SIGN.search(text):
        return _fold_latex(text)
    if text.isascii():
        return Folded(text)
    if _EVEN.fullmatch(text) and not _MINUS_APART.search(text):
        return Folded(text.translate(_EVENLY) if _SWAPPED.search(text) else text)
    return _fold_values(text)


@lru_cache(maxsize=64)
def _fold_values(text: str) -> Folded:
    return _replace(text, _VALUE_PIECES, _value_piece)


@lru_cache(maxsize=64)
def _fold_latex(text: str) -> Folded:
    if text.isascii():
        return _replace(text, _LATEX_PIECES, _latex_piece)
    return _replace(text, _LATEX_OR_VALUE, _latex_piece)
