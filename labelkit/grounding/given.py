"""What the model was given, read once: the texts and payloads that values are traced to.

Twenty models answer one task, so the same system prompt and the same payload come by again and
again. What is read off them depends on nothing else and is kept. Everything dear (digit runs,
dates, typed values) is read when it is first asked for; most answers never ask.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from math import inf, isfinite
from operator import itemgetter
from typing import Any, Generic, TypeVar

from labelkit.grounding.compare import Target, announced
from labelkit.grounding.folding import fold_values, has_digit
from labelkit.grounding.numbers import MAX_DIGITS, as_decimal
from labelkit.grounding.payloads import MOST_LEAVES, as_json, leaves
from labelkit.grounding.times import When, find_times
from labelkit.grounding.units import dimension
from labelkit.grounding.values import MOST_VALUES, Value, scan

LONGEST = 200_000
"""Characters of one text that are read; a longer one is cut, and says so."""
MOST_RUNS = 400
_KEPT_LENGTH = 20_000
_KEPT_PAYLOADS = 512
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
# Every sign of a plain text but digits and points becomes a blank.
_DIGITS_ALONE = bytes(c if chr(c) in "0123456789." else ord(" ") for c in range(256))
SHARES = frozenset({"percent", "bps", "fraction"})
_FACTORS = (1.0, 0.01, 0.0001, 100.0)
_ONE = (1.0,)
_LARGEST = 1e300
_FEW = 48
_SHORT = 64


_Thing = TypeVar("_Thing")
_Read = TypeVar("_Read")


class _Kept(Generic[_Thing, _Read]):
    """An attribute that is computed when it is first asked for.

    The one of the standard library takes a lock each time, which costs more than most of what is
    computed here; two threads may compute one twice, to the same value.
    """

    def __init__(self, read: Callable[[_Thing], _Read]) -> None:
        self._read = read
        self._name = read.__name__
        self.__doc__ = read.__doc__

    def __get__(self, thing: _Thing, owner: type[_Thing] | None = None) -> _Read:
        found = thing.__dict__[self._name] = self._read(thing)
        return found


Figure = tuple[float, str, Any]
"""A number that was given: its plain size, the path it stands at, and what it is exactly (a JSON
number, the digits of a text, or a target)."""


_SIZE = itemgetter(0)


def _sizes_of(figures: Sequence[Figure]) -> list[float]:
    """The plain sizes without their signs; most of the work on figures is of this kind."""
    return list(map(abs, map(_SIZE, figures)))


def target_of(figure: Figure) -> Target:
    """Return the exact number, with what the name of its field says about it.

    Digits out of a text have no field: their path names the text they stand in.
    """
    _, path, raw = figure
    if isinstance(raw, Target):
        return raw
    if isinstance(raw, str):
        return Target(Decimal(raw), path=path)
    return Target.of(as_decimal(raw) or Decimal(0), path)


class Reach:
    """The sizes that a value could state: its readings, each with the room of its last digit.

    ``endless`` says that one is too large to tell; ``dimension`` what it measures, where a figure
    in another unit may be of any size.
    """

    __slots__ = ("dimension", "endless", "ranges")

    def __init__(self, value: Value) -> None:
        self.ranges: list[tuple[float, float]] = []
        self.endless = False
        self.dimension: str | None = None
        share = value.unit in SHARES
        for reading in value.shown:
            at = abs(float(reading.value))
            slack = 0.6 * float(reading.quantum) + 1e-9 * at
            if not isfinite(at + slack):
                self.endless = True
            for factor in _FACTORS if share else _ONE:
                self.ranges.append(((at - slack) * factor, (at + slack) * factor))
        if value.unit is not None and not share:
            self.dimension = dimension(value.unit) or ""


def _told(unit: str | None, scale: int) -> tuple[str | None, int] | None:
    """What a figure measures (None: nothing, or a share) and its scale; None for a plain one."""
    measure = None if unit is None or unit in SHARES else dimension(unit) or ""
    return (measure, scale) if scale or measure is not None else None


@lru_cache(maxsize=4096)
def _told_by(path: str) -> tuple[str | None, int] | None:
    """What the name of a field tells of its figure; most names tell nothing."""
    unit, _, scale = announced(path, None)
    return _told(unit, scale)


class Ranked:
    """Figures by size, so that a value is only compared with those it could state.

    A few are looked through; more are sorted when a value is first looked up.
    """

    __slots__ = ("_measured", "_order", "_places", "_sizes", "figures")

    def __init__(self, figures: Sequence[Figure], *, measured: bool = True) -> None:
        """Rank figures; ``measured`` is False for digit runs, which no field says a unit of."""
        self.figures = figures
        self._measured: dict[str, list[int]] = {}
        self._sizes = _sizes_of(figures)
        self._places = list(range(len(figures)))
        self._order: list[tuple[float, int]] | None = None
        for place, (_, path, raw) in enumerate(figures) if measured else ():
            told = _told(raw.unit, raw.scale) if type(raw) is Target else _told_by(path)
            if told is None:
                continue
            measure, scale = told
            if scale:
                # A figure in millions is found by its written and by its full size.
                self._sizes.append(self._sizes[place] * 10.0**scale)
                self._places.append(place)
            if measure is not None:
                self._measured.setdefault(measure, []).append(place)

    def measuring(self, what: str) -> list[Figure]:
        """The figures whose field names a unit of the dimension ``what``."""
        return [self.figures[place] for place in self._measured.get(what, ())]

    def near(self, reach: Reach) -> list[Figure]:
        """The figures that a value could state; those surely too far off are left out."""
        if reach.endless:
            return list(self.figures)
        found: list[int] = []
        for low, high in reach.ranges:
            found += self._between(low, high)
        if reach.dimension is not None:
            found += self._measured.get(reach.dimension, ())
        return [self.figures[place] for place in sorted(set(found))] if found else []

    def _between(self, low: float, high: float) -> list[int]:
        """The places of the figures whose size lies between two sizes."""
        if len(self._sizes) <= _FEW:
            pairs = zip(self._sizes, self._places, strict=True)
            return [place for size, place in pairs if low <= size <= high]
        if self._order is None:
            self._order = sorted(zip(self._sizes, self._places, strict=True))
        first = bisect_left(self._order, (low, -1))
        last = bisect_right(self._order, (high, len(self.figures)), first)
        return [place for _, place in self._order[first:last]]


class GivenText:
    """One text (a question, a text leaf, a plain result) with what can be read off it."""

    cut = runs_cut = values_cut = False

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            self.cut = True
            text = text[:LONGEST]
        self.folded = text if text.isascii() else fold_values(text).text
        self.has_digit = has_digit(self.folded)

    @_Kept
    def lowered(self) -> str:
        """The text lower-cased."""
        return self.folded.lower()

    @_Kept
    def runs(self) -> tuple[str, ...]:
        """Every different run of digits, thousands commas left out, in order."""
        if len(self.folded) < _SHORT or not self.folded.isascii():
            return tuple(dict.fromkeys(_DIGITS.findall(self.folded.replace(",", ""))))
        # In a long text several times faster than an expression that finds digits.
        alone = self.folded.encode("ascii").translate(_DIGITS_ALONE, b",").decode("ascii")
        pieces = dict.fromkeys(alone.split())
        if "." not in alone:
            return tuple(pieces)
        found: dict[str, None] = {}
        for piece in pieces:
            if "." in piece:
                found.update(dict.fromkeys(_DIGITS.findall(piece)))
            else:
                found[piece] = None
        return tuple(found)

    @_Kept
    def run_set(self) -> frozenset[str]:
        """The runs, for looking one up."""
        return frozenset(self.runs)

    def run_figures(self, path: str) -> list[Figure]:
        """The runs as figures of the text at ``path``."""
        return [(float(r), path, r) for r in self.runs if len(r) <= MAX_DIGITS]

    @_Kept
    def ranked_runs(self) -> Ranked:
        """The runs, at most ``MOST_RUNS``, for looking one up by its size."""
        found = self.run_figures("")
        self.runs_cut = len(found) > MOST_RUNS
        return Ranked(found[:MOST_RUNS], measured=False)

    @_Kept
    def whens(self) -> tuple[When, ...]:
        """Every different date and time in it."""
        return tuple(dict.fromkeys(w for _, _, whens in find_times(self.folded) for w in whens))

    @_Kept
    def values(self) -> tuple[Value, ...]:
        """Every typed value in it, at most ``MOST_VALUES``."""
        found = scan(self.folded)
        self.values_cut = len(found) >= MOST_VALUES
        return found


@lru_cache(maxsize=256)
def _kept_text(text: str) -> GivenText:
    return GivenText(text)


def given_text(text: str) -> GivenText:
    """Return the text with its readings, from the store of known ones when it is not too long."""
    return _kept_text(text) if len(text) <= _KEPT_LENGTH else GivenText(text)


class GivenPayload:
    """A JSON value: its numbers and its texts, each with the path it stands at."""

    runs_cut = False

    def __init__(self, value: Any) -> None:
        self.texts: list[tuple[str, GivenText]] = []
        self.figures: list[Figure] = []
        found = leaves(value)
        self.cut = len(found) >= MOST_LEAVES
        for path, leaf in found:
            kind = type(leaf)
            if kind is str:
                text = GivenText(leaf)
                self.cut |= text.cut
                self.texts.append((path, text))
            elif kind is float:
                self.figures.append((leaf, path, leaf))
            elif kind is int:
                self.figures.append((_plain_size(leaf), path, leaf))
        sizes = _sizes_of(self.figures)
        if not sum(sizes) < _LARGEST:
            # One may be too large, endless, or no number.
            self.figures = [figure for figure in self.figures if abs(figure[0]) < _LARGEST]
            sizes = _sizes_of(self.figures)
        # Of two numbers of one size the first is found.
        self.by_size = dict(zip(reversed(sizes), reversed(self.figures), strict=True))

    @_Kept
    def written(self) -> dict[str, str]:
        """Path of every number by its digits."""
        return {str(leaf).lstrip("-"): path for _, path, leaf in reversed(self.figures)}

    @_Kept
    def ranked(self) -> Ranked:
        """The numbers, for looking one up by its size."""
        return Ranked(self.figures)

    @_Kept
    def ranked_runs(self) -> Ranked:
        """The digit runs of its texts, at most ``MOST_RUNS``."""
        found = [f for path, text in self.texts if text.has_digit for f in text.run_figures(path)]
        self.runs_cut = len(found) > MOST_RUNS
        return Ranked(found[:MOST_RUNS], measured=False)


def _plain_size(whole: int) -> float:
    """A whole number as a float; one that is too large is no figure."""
    try:
        return float(whole)
    except OverflowError:
        return inf


_payloads: OrderedDict[int, tuple[Any, GivenPayload | None]] = OrderedDict()


def given_payload(value: Any) -> GivenPayload:
    """Return the index of a payload; it is kept from the second time that it is asked for.

    Payloads are frozen data. An object is held as long as its index, so that no other object can
    come to stand at its address. Where every row has a task of its own nothing comes by again, and
    keeping the indexes would only crowd the memory.
    """
    place = id(value)
    known = _payloads.get(place)
    if known is not None and known[1] is not None:
        return known[1]
    made = GivenPayload(value)
    _payloads[place] = value, made if known else None
    if len(_payloads) > _KEPT_PAYLOADS:
        _payloads.popitem(last=False)
    return made


@lru_cache(maxsize=64)
def _kept_result(text: str) -> GivenPayload:
    return GivenPayload(as_json(text))


def given_result(text: str) -> GivenPayload:
    """Return the index of a tool result's text (JSON, or a plain text as one leaf)."""
    return _kept_result(text) if len(text) <= _KEPT_LENGTH else GivenPayload(as_json(text))
