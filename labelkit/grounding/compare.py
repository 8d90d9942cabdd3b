"""Does a written number state a given number? Formats, units, signs and rounding in one place.

The rounding rule: a stated number with d decimals matches when it equals the value rounded to d
decimals and keeps at least three significant digits. Coarser roundings are ``loose``: true of an
approximation, no proof of a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import Literal, NamedTuple

from labelkit.grounding.numbers import CODES, Reading
from labelkit.grounding.units import convert, dimension, scale_in_name, unit_in_path, unit_of
from labelkit.grounding.values import Value

Grade = Literal["exact", "rounded", "loose"]
_ORDER = {"exact": 0, "rounded": 1, "loose": 2}
_RATIO_LIKE = re.compile(
    r"margin|ratio|share|occupan|utili[sz]|probab|fraction|roe|roa|yield|weight|rate|growth|coverage",
    re.IGNORECASE,
)
_UNSURE_UNITS = frozenset({"in", "t", "d", "s", "k", "l", "w", "m", "g", "h", "c", "f"})
_MINOR = frozenset({"p", "pence", "cent", "cents"})
_LETTERS = {"m": 6, "mm": 6, "b": 9, "t": 12}
_LARGE = 100_000
_PLACES = 20
_LOSS_NAME = re.compile(r"loss|declin|decreas|drop|deficit|shortfall|down|outflow", re.IGNORECASE)
_CHANGE_NAME = re.compile(r"chang|growth|delta|return|net|gain|result|profit|income", re.IGNORECASE)


class Target(NamedTuple):
    """A number to be found: its value, canonical unit, currency, and scale of its field."""

    value: Decimal
    unit: str | None = None
    currency: str | None = None
    scale: int = 0
    path: str = ""
    tolerance: Decimal | None = None

    @staticmethod
    def of(
        value: Decimal, path: str | None, unit: str | None = None, tolerance: Decimal | None = None
    ) -> Target:
        """Build from a key's or leaf's parts; unit and scale are also read from the field name."""
        known, code, scale = announced(path or "", unit)
        return Target(value, known, code, scale, path or "", tolerance)


@lru_cache(maxsize=4096)
def announced(path: str, unit: str | None) -> tuple[str | None, str | None, int]:
    """Return the canonical unit, currency code and scale that a field's name and unit announce."""
    code = (unit or "").strip().upper() or path.rpartition("_")[2].upper()
    known = unit_of(unit) or (None if unit else unit_in_path(path))
    return known, code if code in CODES else None, scale_in_name(unit, path)


def far(value: Value, target: Target) -> bool:
    """Whether no reading of ``value`` states ``target``, whatever its sign: a quick no.

    Most comparisons fail, and a plain number only needs its own readings looked at.
    """
    if value.unit is not None or target.scale or value.unscaled is not value.readings:
        return False
    if value.written_unit:
        word = value.written_unit.lower()
        if word in _MINOR or word in _LETTERS:
            return False
    if target.tolerance is not None or target.unit in {"percent", "bps"}:
        return False
    wanted = abs(target.value)
    for number, quantum, _, _ in value.readings:  # noqa: SIM110 (a generator costs more)
        if abs(abs(number) - wanted) * 2 <= quantum:
            return False
    return True


def compare(value: Value, target: Target, loss: bool = False) -> tuple[Grade, bool] | None:
    """Return how well ``value`` states ``target``: the grade, and whether the reading is sure.

    Args:
        value: a number or one-unit duration found in an answer.
        target: the number that is wanted.
        loss: whether the words before it make it negative.

    Returns:
        None when no reading of the value states the target.
    """
    if value.currency and target.currency and value.currency != target.currency:
        return None
    in_whole = target.scale < 0 and value.currency and value.written_unit.lower() not in _MINOR
    if not in_whole and not loss and value.unit in {None, target.unit}:
        first = value.readings[0]
        if first.sure and first.value == target.value:
            return "exact", True
    best: tuple[Grade, bool] | None = None
    candidates = _in_minor if in_whole else _candidates
    for reading, sure in candidates(value, target, loss):
        grade = _grade(reading, target)
        if grade and (best is None or (not sure, _ORDER[grade]) < (not best[1], _ORDER[best[0]])):
            best = grade, sure
    return best


def _grade(reading: Reading, target: Target) -> Grade | None:
    distance = abs(reading.value - target.value)
    if not distance or (target.tolerance is not None and distance <= target.tolerance):
        return "exact"
    if not reading.value or distance * 2 > reading.quantum:
        return None
    return "rounded" if reading.digits >= 3 else "loose"


def _candidates(value: Value, target: Target, loss: bool) -> Iterator[tuple[Reading, bool]]:
    for reading in _signed(value.readings, target, loss):
        yield from _in_unit(reading, value, target)
    word = value.written_unit.lower()
    if word in _MINOR and target.currency:
        for reading in _signed(value.readings, target, loss):
            yield _times(reading, Decimal("0.01")), reading.sure
    elif word in _LETTERS and target.unit is None and abs(target.value) >= _LARGE:
        for reading in _signed(value.readings, target, loss):
            yield _times(reading, Decimal(1).scaleb(_LETTERS[word])), reading.sure
    if target.scale > 0:
        for reading in _signed(value.readings, target, loss):
            yield _times(reading, Decimal(1).scaleb(-target.scale)), reading.sure
    elif value.unscaled != value.readings and value.kind == "number":
        for reading in _signed(value.unscaled, target, loss):
            yield reading, False


def _in_minor(value: Value, target: Target, loss: bool) -> Iterator[tuple[Reading, bool]]:
    """Whole units of money for a field in cents: $12.95 are 1,295 of them, and $1,295 are not."""
    for reading in _signed(value.readings, target, loss):
        yield _times(reading, Decimal(1).scaleb(-target.scale)), reading.sure


def _signed(readings: tuple[Reading, ...], target: Target, loss: bool) -> Iterator[Reading]:
    for reading in readings:
        if not loss or reading.value < 0:
            yield reading
            continue
        yield _times(reading, Decimal(-1))
        if _LOSS_NAME.search(target.path):
            yield reading
        elif not _CHANGE_NAME.search(target.path):
            yield Reading(reading.value, reading.quantum, reading.digits, reading.sure)


def _in_unit(reading: Reading, value: Value, target: Target) -> Iterator[tuple[Reading, bool]]:
    have, want = value.unit, target.unit
    if have in {"percent", "bps"}:
        yield from _share(reading, have, target)
        return
    if want in {"percent", "bps"} and have is None:
        yield reading, reading.sure
        # 0.0725 may stand for 7.25%, or for itself.
        yield _times(reading, Decimal(100 if want == "percent" else 10_000)), False
        return
    if have is None or want is None or have == want:
        yield reading, reading.sure
        return
    if dimension(have) == dimension(want):
        one = convert(Decimal(1), have, want) or Decimal(1)
        zero = convert(Decimal(0), have, want) or Decimal(0)
        with localcontext() as context:
            context.prec = 40
            factor = one - zero
            # 68 degrees Fahrenheit are 20 Celsius, not 19.99...9.
            moved = round(reading.value * factor + zero, _PLACES)
        yield Reading(moved, reading.quantum * abs(factor), reading.digits), reading.sure
    elif have in _UNSURE_UNITS or dimension(want) is None:
        yield reading, False


def _share(reading: Reading, have: str, target: Target) -> Iterator[tuple[Reading, bool]]:
    want = target.unit
    if want in {"percent", "bps", "fraction"}:
        factor = convert(Decimal(1), have, want) or Decimal(1)
        yield _times(reading, factor), reading.sure
        return
    if want is not None or target.currency:
        return
    yield reading, reading.sure
    fraction = convert(Decimal(1), have, "fraction") or Decimal(1)
    if abs(target.value) <= 1:
        yield _times(reading, fraction), reading.sure and bool(_RATIO_LIKE.search(target.path))


def _times(reading: Reading, factor: Decimal) -> Reading:
    return Reading(
        reading.value * factor, reading.quantum * abs(factor), reading.digits, reading.sure
    )
