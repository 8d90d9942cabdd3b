"""Durations, in the common ways of writing them: ``5h 47m``, ``347 minutes``, ``PT5H47M``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from labelkit.grounding.folding import anchored
from labelkit.grounding.units import convert, unit_of

_DURATION_UNIT = (
    r"days?|d|hours?|hrs?|h|minutes?|mins?|min|m|seconds?|secs?|s|weeks?|months?|years?|yrs?"
    r"|ms|msecs?|milliseconds?"
)
_DURATION = re.compile(
    rf"(?<![A-Za-z0-9_.^])(?<!\^-)(?<!\d,)(?:\d{{1,3}}(?:,\d{{3}}){{1,3}}(?:\.\d{{1,6}})?"
    r"|\d{1,9}(?:[.,]\d{1,6})?)"
    rf"[ \u00a0-]?(?:{_DURATION_UNIT})(?![A-Za-z]|/[A-Za-z])\.?"
    rf"(?:(?:,? and |, | |)\d{{1,9}}(?:\.\d{{1,6}})?[ \u00a0-]?(?:{_DURATION_UNIT})"
    r"(?![A-Za-z])){0,4}"
    r"|(?<!\w)PT(?=\d)(?:\d{1,6}H)?(?:\d{1,6}M)?(?:\d{1,6}S)?(?!\w)",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DURATION_PART = re.compile(r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)[ \u00a0-]?([A-Za-z]+)")
_DURATION_SIGN = re.compile(r"\d[ \u00a0-]?[dhmswyDHMSWY]")
_DURATION_START = re.compile(
    r"[\dpP](?:(?<=\d)(?<![A-Za-z0-9_.].)(?<!\d,.)"
    r"(?=\d{0,8}(?:,\d{3}){0,3}(?:[.,]\d{1,6})?[ \u00a0-]?[dhmswyDHMSWY\u017f])"
    r"|(?<=[pP])(?=[tT]\d))"
)
_CALENDAR = frozenset({"mo", "yr"})


def find_durations(text: str) -> Iterator[tuple[int, int, Decimal, Decimal, str]]:
    """Yield (start, end, amount, quantum, unit): seconds, or months for calendar units.

    ``unit`` is the smallest unit written; ``quantum`` its last written digit, in that unit.
    """
    if not _DURATION_SIGN.search(text) and "PT" not in text:
        return
    for m in anchored(_DURATION_START, _DURATION, text):
        parts = list(_DURATION_PART.finditer(m[0]))
        run: list[tuple[int, int, Decimal, Decimal, str]] = []
        for part in parts:
            one = _duration_part(part, len(parts) > 1 or m[0][:2].upper() == "PT")
            if one and run and _longer(run[-1][4], one[4]):
                run.append(one)
                continue
            yield from _summed(run, m.start())
            run = [one] if one else []
        yield from _summed(run, m.start())


def _duration_part(
    part: re.Match[str], in_chain: bool
) -> tuple[int, int, Decimal, Decimal, str] | None:
    word = part[2]
    known = unit_of(word) or ""
    if known == "m":
        known = "min" if in_chain and word in {"m", "M"} else ""
    grouped = _THOUSANDS.fullmatch(part[1])
    written = part[1].replace(",", "" if grouped else ".")
    value = Decimal(written)
    base = "mo" if known in _CALENDAR else "s"
    amount = convert(value, known, base) if known else None
    if amount is None:
        return None
    places = len(written.partition(".")[2])
    return part.start(), part.end(), amount, Decimal(1).scaleb(-places), known


def _longer(unit: str, other: str) -> bool:
    """Whether ``unit`` may stand before ``other`` in one duration."""
    if (unit in _CALENDAR) != (other in _CALENDAR):
        return False
    into = "mo" if unit in _CALENDAR else "s"
    one = Decimal(1)
    return (convert(one, unit, into) or one) > (convert(one, other, into) or one)


def _summed(
    run: list[tuple[int, int, Decimal, Decimal, str]], offset: int
) -> Iterator[tuple[int, int, Decimal, Decimal, str]]:
    if run:
        total = sum((part[2] for part in run), Decimal(0))
        yield offset + run[0][0], offset + run[-1][1], total, run[-1][3], run[-1][4]
