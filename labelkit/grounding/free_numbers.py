"""The numbers of a text that are no part of a date, a duration, a citation or an identifier.

Most are plain digits, perhaps with a currency beside them, and are read on a short way; the rest
goes through the one expression for every way of writing a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

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
from labelkit.grounding.units import unit_of
from labelkit.grounding.value import Claims, Value

_HAS_DIGIT = re.compile(r"\d")
_UNIT = re.compile(
    r"[ \u00a0-]?(%|percent(?:age)?(?: points?)?\b|per cent\b|pct\b|pp\b|bps?\b|basis points?\b"
    r"|\u00b0\s?[CFK]\b|\u2103|(?:[kc]?m|ft)\^?[23](?!\w|\.\d)"
    r"|[A-Za-z]{1,12}(?![A-Za-z0-9])(?:/[A-Za-z]{1,6})?)",
    re.IGNORECASE,
)
_POINTS = re.compile(r"pp|percentage points?|percent(?:age)? points?", re.IGNORECASE)
_DIGIT_REACH = 20
# What may stand directly before a digit, or before the space before it, without being a part of the
# number.
_OPENERS = frozenset("|*\"'`[{:;=,~<>/")
_UNITS_TOO = frozenset({"m", "t", "b", "mm"})
_POUNDS = frozenset({"pound", "pounds"})
_GOES_ON = re.compile(r"\s+[A-Za-z]")
_PERCENT_INSIDE = re.compile(r"\s?%\)")
_MAY_BE_UNIT = frozenset(" \u00a0-%\u00b0\u2103")
_PLAIN = re.compile(
    r"(\d++(?:[.,]\d++)*+)(?:(?=[.,;:\n|\"?!\]}%]|\Z)|(?= [|(=:;,./\"]| ([A-Za-z]++)(?![\w$])))"
)
_NUMBER_WORDS = frozenset({"x"} | set(MAGNITUDES) | {c.lower() for c in CODES} | CURRENCY_NAMES)
_SIGN_WORDS = ("minus", "negative")


def find_numbers(text: str, claims: Claims) -> Iterator[Value]:
    """Yield the numbers outside the ranges that ``claims`` holds already, in order."""
    position = 0
    while digit := _HAS_DIGIT.search(text, position):
        first = digit.start()
        after = claims.end_of(first)
        if after > first:
            position = after
            continue
        plain = _plain_number(text, position, first)
        if plain is not None and (readings := plain_readings(plain[0])):
            _, start, position, code = plain
            yield _with_unit(text, start, position, readings, readings, code)
            continue
        match = _number_at(text, min(position, first), first)
        if match is None:
            return
        position = max(match.end(), position + 1)
        readings = readings_of(match)
        if readings:
            value, position = _value_of(text, match, readings)
            yield value
        elif "," in match["core"]:
            yield from _listed(match)


def _value_of(text: str, match: re.Match[str], readings: tuple[Reading, ...]) -> tuple[Value, int]:
    """The value of a match, and where the search goes on."""
    unscaled = _without_magnitude(readings, match) if match["mag"] else readings
    start, end = _within_brackets(match)
    if match["open"] and (inside := _PERCENT_INSIDE.match(text, match.end())):
        # (3.2%) may be a loss, as (3.2) may.
        start, end = match.start(), inside.end()
        readings += tuple(r._replace(value=-r.value, sure=False) for r in readings)
        value = Value(
            "number", start, end, text[start:end], readings, readings, "percent",
            currency(match), written_unit="%",
        )  # fmt: skip
        return value, end
    if end < match.end() and match["close"]:
        readings = unscaled
    if match["mag"] in _UNITS_TOO and readings is unscaled and not match["close2"]:
        # 12.5 m without money is a length, not a million.
        end = min(end, match.end("close") if match["close"] else _digits_end(match))
    value = _with_unit(text, start, end, readings, unscaled, currency(match))
    if (match["cur3"] or "").lower() in _POUNDS and value.unit is None:
        value = value._replace(unit="lb")
    return value, end


def _digits_end(match: re.Match[str]) -> int:
    return match.end("exp") if match["exp"] else match.end("core")


def _within_brackets(match: re.Match[str]) -> tuple[int, int]:
    """The range of the number; a bracket without its other half belongs to the sentence."""
    start, end = match.span()
    opened, close, close2 = match.group("open", "close", "close2")
    if opened and not close and not close2 and not match["cur"]:
        return start + 1, end
    if close and not opened:
        return start, _digits_end(match)
    if close2 and not opened:
        return start, match.start("close2")
    return start, end


def _plain_number(text: str, position: int, digit: int) -> tuple[str, int, int, str | None] | None:
    """Digits, perhaps with a currency beside them, that can be nothing but one number; else None.

    No sign, magnitude, bracket or exponent. Most numbers are like this, and this look at them
    costs a fraction of trying every way of writing one.

    Returns:
        The digits, where the number starts and ends, and the code of its currency.
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
    return core, start, end, code


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
            if unit == "in" and _GOES_ON.match(text, found.end()):
                # "44 in your notes" is no length.
                unit, written = None, ""
            if unit:
                end = found.end()
    return Value(
        "number", start, end, text[start:end], readings, unscaled, unit, code, None, (), "", written
    )


@lru_cache(maxsize=4096)
def _unit_written(written: str) -> str | None:
    if _POINTS.fullmatch(written):
        return "percent"
    return unit_of(written.replace(" ", "")) or unit_of(written)
