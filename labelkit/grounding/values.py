"""Every typed value in a text, with its place: the raw material of all grounding.

Dates, citations, durations and identifiers are found first and keep their digits to themselves:
the 2026 of a date or the 418 of a section is no free number. Each step is one pass of a bounded
expression over the text, so hostile input costs no more than its length.

Why not a library. ``benchmarks/value_parsers.py`` reads 52 written values of 14 kinds with ours and
with what fits of babel 2.19, python-dateutil 4.0, dateparser 1.5 and pint 0.25 (right / said to be
open / wrong or unread; microseconds of CPU per bare value on a busy 2-core machine):

    numbers (31)    ours 30/1/0, 20-33 us    babel 16/0/15, 6-8 us
    dates (16)      ours 14/2/0, 20-57 us    dateutil 9/0/7, 16-63 us    dateparser 12/0/4, 0.4-2 ms
    durations (5)   ours 5/0/0, 38 us        pint 2/0/3, 134 us

babel must be told the language, reads no currency, magnitude, power of ten or full-width digit,
and takes one reading where two are open (1.001). dateutil guesses 04/05/2026, passes over zones by
name, and reads 1.618 as a date. dateparser is nearly as careful as ours, but too slow by far for
half a millisecond per trace. None of them finds a value in a sentence or keeps its place. So none
is a run-time dependency; what is a matter of data (zones) comes from the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter

from labelkit.grounding.durations import find_durations
from labelkit.grounding.folding import anchored, fold_values, has_digit
from labelkit.grounding.free_numbers import find_numbers
from labelkit.grounding.hints import holds_any
from labelkit.grounding.numbers import CODES, NUMBER, Reading, readings_of
from labelkit.grounding.times import find_times
from labelkit.grounding.value import Claims, Value, ValueKind

__all__ = [
    "MOST_VALUES",
    "Value",
    "ValueKind",
    "cites",
    "find_values",
    "identifier",
    "scan",
    "scan_once",
]

_HAS_DIGIT = re.compile(r"\d")
_INTERESTING = re.compile(
    r"\d+|January|February|March|April|\bMay\b|June|July|August|September|October|November|December"
)
_MAY_INTEREST = re.compile(r"[\dJFMASOND]")
MOST_VALUES = 250
_LONGEST_PIECE = 1600
_KEPT_LENGTH = 20_000
_SHORT = 300
_AROUND = 24
_NUMBERED = r"\d[\dA-Za-z]{0,11}(?:[.-]\d[\dA-Za-z]{0,9}){0,3}"
_NUMBERED += r"(?:\([A-Za-z0-9]{1,5}\)| \((?:[a-z]{1,3}|\d{1,2})\)){0,5}"
_CODES = r"(?:U\.?S\.?C\.?|C\.?F\.?R\.?)"
_CITATION = re.compile(
    rf"(?:(?<!\w)(?:(?P<code>\d{{1,4}} {_CODES}) ?)?\u00a7{{1,2}}\s?"
    rf"|\b(?:sections?|sect?\.)\s)(?P<no>{_NUMBERED})"
    rf"|(?<!\w)(?P<code2>\d{{1,4}} {_CODES}) (?P<no2>{_NUMBERED})"
    r"|(?<!\w)\d{1,4} (?:U\. ?S\.|F\. ?(?:2d|3d|4th)|F\. ?Supp\. ?(?:2d|3d)?|S\. ?Ct\.)"
    rf" {_NUMBERED}(?: \((?:[A-Za-z0-9. ]{{1,20}} )?\d{{4}}\))?"
    rf"|\b(?:article|art\.|rule|chapter|exemption) {_NUMBERED}",
    re.IGNORECASE,
)
_CUBED = re.compile(r"(?:[kc]?m|ft)[23]", re.IGNORECASE)
_AMOUNT = re.compile(r"\d[ \u00a0]?\Z")
_ARTICLE = re.compile(r"^art\. ?")
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9])(?:No\.? ?(?=\d))?"
    r"(?:[A-Za-z0-9]{1,40}(?:[-_/.:#][A-Za-z0-9]{1,40})+|[A-Za-z]{1,20}\d[A-Za-z0-9]{0,30}"
    r"|\d{1,20}[A-Za-z][A-Za-z0-9]{0,30})(?![A-Za-z0-9])"
)
_NUMBER_LIKE = re.compile(
    r"\d+(?:[.,]\d+)*(?:[eE][-+]?\d+|(?:bn|mn|mm|tn|[kKMBT])(?:/\w+)?|x|st|nd|rd|th|am|pm"
    r"|[a-z]{1,3}(?:/[a-z]+)*|k?Wh?|[kMG]B|[CFK])?"
    r"|\d+(?:\.\d+)?(?:-\d+(?:\.\d+)?)?(?:[-/][A-Za-z][a-z]+|[a-z]*)(?:/[a-z]+)*"
    r"|\d+(?:[./:]\d+)+|\d+(?:\.\d+)?x10",
)
_CITATION_MARKS = (
    "\u00a7", "ection", "ECTION", "ec. ", "ect. ", "ec ", "rticle", "RTICLE", "rt. ", "ule ",
    "hapter", "xemption", " U.", " F.", " S.", " F. ", "CFR", "C.F", "USC",
)  # fmt: skip
# A digit beside a letter or a separator: without one there is no identifier. Both begin with a
# digit, because digits are found many times faster than letters.
_TOKEN_SIGN = re.compile(
    r"\d(?:(?=[-_/.:#]?[A-Za-z]|[-/]\d)|(?<=[A-Za-z].)|(?<=[A-Za-z][-_/.:#].))"
)
_TOKEN_DIGIT = re.compile(
    r"\d(?:(?=[-_/.:#]?[A-Za-z]|[-_/:#]\d)|(?<=[A-Za-z].)|(?<=[A-Za-z][-_/.:#].))"
)
_START = attrgetter("start")
_SEPARATORS = re.compile(r"[-_/.:# ]")
_NUMBERED_NO = re.compile(r"No\.? ?\d")


def find_values(text: str) -> tuple[Value, ...]:
    """Return every value in ``text`` in order, with offsets into ``text`` itself.

    At most ``MOST_VALUES`` are read: a text with more is a data dump, and what is made of it must
    not cost more than reading it. A result of that length is therefore cut.
    """
    folded = fold_values(text)
    out = []
    for value in scan(folded.text):
        start, end = folded.span(value.start, value.end)
        out.append(value._replace(start=start, end=end, text=text[start:end]))
    return tuple(out)


def scan(text: str) -> tuple[Value, ...]:
    """Return every value in an already folded text, with offsets into the folded text.

    Kept for texts that come by again, such as keys and questions.
    """
    return _kept_scan(text) if len(text) <= _KEPT_LENGTH else scan_once(text)


@lru_cache(maxsize=512)
def _kept_scan(text: str) -> tuple[Value, ...]:
    return scan_once(text)


def scan_once(text: str) -> tuple[Value, ...]:
    """Scan a text that no other row holds, such as an answer; nothing is kept."""
    if not has_digit(text):
        return ()
    if len(text) <= _SHORT:
        return tuple(_scan(text))
    found: list[Value] = []
    for start, end in _windows(text):
        found += [value.moved(start) for value in _scan(text[start:end])]
        if len(found) >= MOST_VALUES:
            break
    return tuple(found[:MOST_VALUES])


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a long text that can hold a value: digits or a month, and around.

    A very long one comes in pieces, so that a page of digits is read only until there are enough
    values. A piece ends at a line, a sentence or a word.
    """
    held: tuple[int, int] | None = None
    for match in anchored(_MAY_INTEREST, _INTERESTING, text):
        first, last = match.span()
        # The search for a space is bounded: a long text without one would cost its square.
        lowest = max(0, first - 2 * _AROUND)
        start = text.rfind(" ", max(0, lowest - 1), max(0, first - _AROUND)) + 1
        start = max(start, lowest)
        highest = min(len(text), last + 2 * _AROUND)
        end = text.find(" ", last + _AROUND, highest)
        end = highest if end < 0 else end
        if held is None:
            held = start, end
        elif start <= held[1]:
            held = held[0], max(end, held[1])
            if held[1] - held[0] > 2 * _LONGEST_PIECE:
                cut = _cut(text, held[0])
                yield held[0], cut
                held = cut, held[1]
        else:
            yield held
            held = start, end
    if held is not None:
        yield held


def _cut(text: str, start: int) -> int:
    """Where a piece that begins at ``start`` may end."""
    low, high = start + _LONGEST_PIECE // 2, start + _LONGEST_PIECE
    ends = (text.rfind(mark, low, high) for mark in ("\n", ". ", " "))
    return next((place + 1 for place in ends if place >= 0), high)


def _scan(text: str) -> list[Value]:
    claims = Claims(len(text))
    found: list[Value] = []
    for finder in (_citations, _times, _durations, _identifiers):
        for value in finder(text):
            if claims.take(value.start, value.end):
                found.append(value)
                if len(found) >= MOST_VALUES:
                    break
    for value in find_numbers(text, claims):
        if claims.take(value.start, value.end):
            found.append(value)
            if len(found) >= MOST_VALUES:
                break
    found.sort(key=_START)
    return found


def _citations(text: str) -> Iterator[Value]:
    if not holds_any(text, _CITATION_MARKS):
        return
    for m in _CITATION.finditer(text):
        yield Value("citation", m.start(), m.end(), m[0], canonical=_cited(m))


def _cited(m: re.Match[str]) -> str:
    """``section 418``, ``section 172.101 of 49 cfr``, ``article 12(3)``, or the words."""
    section, code = m["no"] or m["no2"], m["code"] or m["code2"]
    number = (section or m[0]).rstrip(".-").lower()
    if section is None:
        return _ARTICLE.sub("article ", " ".join(number.split()))
    number = "section " + number.replace(" (", "(")
    return f"{number} of {code.replace('.', '').lower()}" if code else number


def cites(stated: str, wanted: str) -> bool:
    """Whether one canonical citation names ``wanted`` or a part of it.

    Section 15.05(1) lies in section 15.05; the reverse says less than was asked. A code that only
    one of the two names says nothing against it.
    """
    mine, _, my_code = stated.partition(" of ")
    theirs, _, their_code = wanted.partition(" of ")
    if my_code and their_code and my_code != their_code:
        return False
    return mine == theirs or mine.startswith(theirs + "(")


def _times(text: str) -> Iterator[Value]:
    for start, end, whens in find_times(text):
        yield Value("datetime", start, end, text[start:end], whens=whens)


def _durations(text: str) -> Iterator[Value]:
    for start, end, amount, quantum, unit in find_durations(text):
        written = text[start:end]
        digits, readings = _duration_readings(written)
        yield Value(
            "duration", start, end, written, readings=readings, unit=unit,
            seconds=Reading(amount, quantum, digits), written_unit=unit,
        )  # fmt: skip


@lru_cache(maxsize=1024)
def _duration_readings(written: str) -> tuple[int, tuple[Reading, ...]]:
    """Number of digits of a duration, and its readings where it is one number with a unit.

    Kept, because answers say "24 hours" again and again.
    """
    digits = sum(c.isdigit() for c in written.lstrip("0"))
    one = NUMBER.match(written)
    if one and not _HAS_DIGIT.search(written, one.end("core")):
        return digits, readings_of(one)
    return digits, ()


def _identifiers(text: str) -> Iterator[Value]:
    for m in _tokens(text):
        if _is_identifier(text, m):
            yield Value("identifier", m.start(), m.end(), m[0], canonical=identifier(m[0]))


def _is_identifier(text: str, m: re.Match[str]) -> bool:
    """Whether a token is no plain word, number, currency or measure."""
    token = m[0]
    if not _HAS_DIGIT.search(token):
        return False
    if not token.startswith("No") and (_NUMBER_LIKE.fullmatch(token) or token[:3].upper() in CODES):
        return False
    return not (_CUBED.fullmatch(token) and _AMOUNT.search(text, max(0, m.start() - 2), m.start()))


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """Yield what may be identifiers; words without a digit are passed over.

    Only the words around a digit are read closely. "No. 5" has a space inside, so a text with one
    is read as a whole.
    """
    maybe_numbered = "No" in text
    if not maybe_numbered and not _TOKEN_SIGN.search(text):
        return
    if maybe_numbered and _NUMBERED_NO.search(text):
        yield from _TOKEN.finditer(text)
        return
    position = 0
    for digit in _TOKEN_DIGIT.finditer(text):
        at = digit.start()
        if at < position:
            continue
        start = max(text.rfind(" ", position, at), text.rfind("\n", position, at), position - 1) + 1
        position = text.find(" ", at)
        if position < 0:
            position = len(text)
        line_end = text.find("\n", at, position)
        if line_end >= 0:
            position = line_end
        yield from _TOKEN.finditer(text, start, position)


def identifier(text: str) -> str:
    """Return the comparable form of an identifier: case and separators do not matter."""
    plain = text.lower().removeprefix("no.").removeprefix("no ").strip()
    return _SEPARATORS.sub("", plain)
