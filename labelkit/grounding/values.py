"""Every typed value in a text, with its place: the raw material of all grounding.

Dates, citations, durations and identifiers are found first and keep their digits to themselves:
the 2026 of a date or the 418 of a section is no free number. Each step is one pass of a bounded
expression over the text, so hostile input costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from labelkit.grounding.folding import fold_values, has_digit
from labelkit.grounding.numbers import (
    CODES,
    CURRENCY_NAMES,
    MAGNITUDES,
    NUMBER,
    SYMBOLS,
    Reading,
    currency,
    magnitude,
    plain_readings,
    readings_of,
)
from labelkit.grounding.times import When, find_durations, find_times
from labelkit.grounding.units import unit_of

ValueKind = Literal["number", "datetime", "duration", "identifier", "citation"]


class Value(NamedTuple):
    """One value and where it stands (character offsets, end exclusive).

    ``readings`` for numbers and one-unit durations (likely one first), ``unscaled`` the same
    without a magnitude word, ``seconds`` a duration (``unit`` ``mo`` or ``yr``: months), ``whens``
    a date's readings, ``canonical`` the comparable form of an identifier or citation.
    """

    kind: ValueKind
    start: int
    end: int
    text: str
    readings: tuple[Reading, ...] = ()
    unscaled: tuple[Reading, ...] = ()
    unit: str | None = None
    currency: str | None = None
    seconds: Reading | None = None
    whens: tuple[When, ...] = ()
    canonical: str = ""
    written_unit: str = ""


_HAS_DIGIT = re.compile(r"\d")
_INTERESTING = re.compile(
    r"\d+|January|February|March|April|\bMay\b|June|July|August|September|October|November|December"
)
MOST_VALUES = 600
_KEPT_LENGTH = 20_000
_SHORT = 300
_AROUND = 24
_NUMBERED = r"\d[\dA-Za-z]{0,11}(?:[.-]\d[\dA-Za-z]{0,9}){0,3}(?:\([A-Za-z0-9]{1,5}\)){0,5}"
_CITATION = re.compile(
    rf"(?:(?<!\w)(?:\d{{1,4}} (?:U\.?S\.?C\.?|C\.?F\.?R\.?) ?)?\u00a7{{1,2}}\s?"
    rf"|\b(?:sections?|sect?\.)\s)(?P<no>{_NUMBERED})"
    r"|(?<!\w)\d{1,4} (?:U\. ?S\.|F\. ?(?:2d|3d|4th)|F\. ?Supp\. ?(?:2d|3d)?|S\. ?Ct\.|C\.?F\.?R\.?"
    rf"|U\.?S\.?C\.?) {_NUMBERED}(?: \((?:[A-Za-z0-9. ]{{1,20}} )?\d{{4}}\))?"
    rf"|\b(?:article|art\.|rule|chapter|exemption) {_NUMBERED}",
    re.IGNORECASE,
)
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
_UNIT = re.compile(
    r"[ \u00a0-]?(%|percent(?:age)?(?: points?)?\b|per cent\b|pct\b|pp\b|bps?\b|basis points?\b"
    r"|\u00b0\s?[CFK]\b|\u2103|[A-Za-z]{1,12}(?:/[A-Za-z]{1,6})?)",
    re.IGNORECASE,
)
_POINTS = re.compile(r"pp|percentage points?|percent(?:age)? points?", re.IGNORECASE)


_CITATION_MARKS = (
    "\u00a7", "ection", "ECTION", "ec. ", "ect. ", "ec ", "rticle", "rt. ", "ule ", "hapter",
    "xemption", " U.", " F.", " S.", " F. ", "CFR", "C.F", "USC",
)  # fmt: skip
_TOKEN_SIGN = re.compile(r"[A-Za-z][-_/.:#]?\d|\d[-_/.:#]?[A-Za-z]|\d[-/]\d|No")
_DIGIT_REACH = 20
# What may stand directly before a digit, or before the space before it, without being a part of the
# number.
_OPENERS = frozenset("|*\"'`[{:;=,~<>/")
_MAY_BE_UNIT = frozenset(" \u00a0-%\u00b0\u2103")
_PLAIN = re.compile(
    r"(\d++(?:[.,]\d++)*+)(?:(?=[.,;:\n|\"?!\]}%]|\Z)|(?= [|(=:;,./\"]| ([A-Za-z]++)(?![\w$])))"
)
_NUMBER_WORDS = frozenset({"x"} | set(MAGNITUDES) | {c.lower() for c in CODES} | CURRENCY_NAMES)
_SIGN_WORDS = ("minus", "negative")


class _Claims:
    """Ranges already taken by an earlier pass."""

    def __init__(self, length: int) -> None:
        self._taken = bytearray(length)

    def end_of(self, place: int) -> int:
        """End of the taken range that ``place`` lies in; ``place`` itself where it is free."""
        if not self._taken[place]:
            return place
        end = self._taken.find(0, place)
        return len(self._taken) if end < 0 else end

    def take(self, start: int, end: int) -> bool:
        if self._taken.find(1, start, end) >= 0:
            return False
        self._taken[start:end] = b"\x01" * (end - start)
        return True


def find_values(text: str) -> tuple[Value, ...]:
    """Return every value in ``text`` in order, with offsets into ``text`` itself.

    At most some ``MOST_VALUES`` are read: a text with more is a data dump, and what is made of it
    must not cost more than reading it.
    """
    folded = fold_values(text)
    out = []
    for value in scan(folded.text):
        start, end = folded.span(value.start, value.end)
        out.append(value._replace(start=start, end=end, text=text[start:end]))
    return tuple(out)


def scan(text: str) -> tuple[Value, ...]:
    """Return every value in an already folded text, with offsets into the folded text."""
    return _kept_scan(text) if len(text) <= _KEPT_LENGTH else _scan_all(text)


@lru_cache(maxsize=1024)
def _kept_scan(text: str) -> tuple[Value, ...]:
    return _scan_all(text)


def _scan_all(text: str) -> tuple[Value, ...]:
    if not has_digit(text):
        return ()
    if len(text) <= _SHORT:
        return tuple(_scan(text))
    found: list[Value] = []
    for start, end in _windows(text):
        for value in _scan(text[start:end]):
            found.append(  # noqa: PERF401 (a generator inside extend would be slower to read)
                value._replace(start=value.start + start, end=value.end + start)
            )
        if len(found) >= MOST_VALUES:
            break
    return tuple(found)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a long text that can hold a value: digits or a month, and around."""
    held: tuple[int, int] | None = None
    for match in _INTERESTING.finditer(text):
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
        else:
            yield held
            held = start, end
    if held is not None:
        yield held


def _scan(text: str) -> list[Value]:
    claims = _Claims(len(text))
    found: list[Value] = []
    for finder in (_citations, _times, _durations, _identifiers):
        for value in finder(text):
            if claims.take(value.start, value.end):
                found.append(value)
                if len(found) >= MOST_VALUES:
                    break
    for value in _numbers(text, claims):
        if claims.take(value.start, value.end):
            found.append(value)
            if len(found) >= MOST_VALUES:
                break
    found.sort(key=lambda v: v.start)
    return found


def _citations(text: str) -> Iterator[Value]:
    for mark in _CITATION_MARKS:
        if mark in text:
            break
    else:
        return
    for m in _CITATION.finditer(text):
        number = (m["no"] or m[0]).rstrip(".-").lower()
        canonical = "section " + number if m["no"] else " ".join(number.split())
        yield Value("citation", m.start(), m.end(), m[0], canonical=canonical)


def _times(text: str) -> Iterator[Value]:
    for start, end, whens in find_times(text):
        yield Value("datetime", start, end, text[start:end], whens=whens)


def _durations(text: str) -> Iterator[Value]:
    for start, end, amount, quantum, unit in find_durations(text):
        written = text[start:end]
        digits = sum(c.isdigit() for c in written.lstrip("0"))
        one = NUMBER.match(written)
        readings: tuple[Reading, ...] = ()
        if one and not _HAS_DIGIT.search(written, one.end("core")):
            readings = readings_of(one)
        yield Value(
            "duration", start, end, written, readings=readings, unit=unit,
            seconds=Reading(amount, quantum, digits), written_unit=unit,
        )  # fmt: skip


def _identifiers(text: str) -> Iterator[Value]:
    if not _TOKEN_SIGN.search(text):
        return
    for m in _TOKEN.finditer(text):
        token = m[0]
        if not _HAS_DIGIT.search(token):
            continue
        if not token.startswith("No") and (
            _NUMBER_LIKE.fullmatch(token) or token[:3].upper() in CODES
        ):
            continue
        yield Value("identifier", m.start(), m.end(), token, canonical=identifier(token))


def identifier(text: str) -> str:
    """Return the comparable form of an identifier: case and separators do not matter."""
    plain = text.lower().removeprefix("no.").removeprefix("no ").strip()
    return re.sub(r"[-_/.:# ]", "", plain)


def _numbers(text: str, claims: _Claims) -> Iterator[Value]:
    position = 0
    while digit := _HAS_DIGIT.search(text, position):
        first = digit.start()
        after = claims.end_of(first)
        if after > first:
            position = after
            continue
        plain = _plain_number(text, position, first)
        if plain is not None and (readings := plain_readings(plain.core)):
            position = plain.end
            yield _with_unit(text, plain.start, position, readings, readings, plain.currency)
            continue
        match = _number_at(text, min(position, first), first)
        if match is None:
            return
        position = max(match.end(), position + 1)
        readings = readings_of(match)
        if not readings:
            if "," in match["core"]:
                yield from _listed(match)
            continue
        unscaled = _without_magnitude(readings, match) if match["mag"] else readings
        start, end = match.span()
        opened, close, close2 = match.group("open", "close", "close2")
        if opened or close or close2:
            if opened and not close and not close2 and not match["cur"]:
                # The opening bracket belongs to the sentence, not to the number.
                start += 1
            elif (close or close2) and not opened:
                end = match.end("exp") if match["exp"] else match.end("core")
                if close:
                    readings = unscaled
                else:
                    end = match.start("close2")
                position = end
        yield _with_unit(text, start, end, readings, unscaled, currency(match))


class _Plain(NamedTuple):
    core: str
    start: int
    end: int
    currency: str | None


def _plain_number(text: str, position: int, digit: int) -> _Plain | None:
    """Digits, perhaps with a currency beside them, that can be nothing but one number; else None.

    No sign, magnitude, bracket or exponent. Most numbers are like this, and this look at them
    costs a fraction of trying every way of writing one.
    """
    start = digit
    code = SYMBOLS.get(text[digit - 1]) if digit else None
    if code:
        start -= 1
    if start and (start - 2 < position or not _begins(text, start)):
        return None
    plain = _PLAIN.match(text, digit)
    if plain is None:
        return None
    core, word = plain.groups()
    end = digit + len(core)
    if word and word.lower() in _NUMBER_WORDS:
        if word.upper() not in CODES:
            return None
        end = plain.end(2)
        code = code or ("CNY" if word.upper() == "RMB" else word.upper())
    return _Plain(core, start, end, code)


def _number_at(text: str, position: int, digit: int) -> re.Match[str] | None:
    """The next number from ``position`` on, where ``digit`` is the place of the next digit."""
    if digit - 2 >= position and _begins(text, digit) and (match := NUMBER.match(text, digit)):
        return match
    # A number begins at most a sign, a currency and a word before its first digit.
    return NUMBER.search(text, max(position, digit - _DIGIT_REACH))


def _begins(text: str, digit: int) -> bool:
    """Whether surely nothing before the digit (sign, currency, "minus") belongs to its number."""
    before = text[digit - 1]
    if before != " ":
        return before in _OPENERS
    last = text[digit - 2]
    if not last.isalpha():
        return last in _OPENERS or last == "."
    tail = text[max(0, digit - 9) : digit - 1]
    return (
        tail.isascii() and not tail.lower().endswith(_SIGN_WORDS) and tail[-3:].upper() not in CODES
    )


def _without_magnitude(readings: tuple[Reading, ...], match: re.Match[str]) -> tuple[Reading, ...]:
    shift = -magnitude(match)
    if not shift:
        return readings
    return tuple(
        r._replace(value=r.value.scaleb(shift), quantum=r.quantum.scaleb(shift)) for r in readings
    )


def _listed(match: re.Match[str]) -> Iterator[Value]:
    """Numbers that stand in one run with commas: ``12.4,31.75``."""
    offset = match.start("core")
    for piece in match["core"].split(","):
        one = NUMBER.fullmatch(piece)
        readings = readings_of(one) if one else ()
        if readings:
            end = offset + len(piece)
            yield Value("number", offset, end, piece, readings=readings, unscaled=readings)
        offset += len(piece) + 1


def _with_unit(
    text: str,
    start: int,
    end: int,
    readings: tuple[Reading, ...],
    unscaled: tuple[Reading, ...],
    code: str | None,
) -> Value:
    unit = None
    written = ""
    follows = text[end : end + 1]
    if follows in _MAY_BE_UNIT or follows.isalpha():
        found = _UNIT.match(text, end)
        if found:
            written = found[1]
            unit = _unit_written(written)
            if unit:
                end = found.end()
    return Value(
        "number", start, end, text[start:end], readings, unscaled, unit,
        code, written_unit=written,
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _unit_written(written: str) -> str | None:
    if _POINTS.fullmatch(written):
        return "percent"
    return unit_of(written.replace(" ", "")) or unit_of(written)
