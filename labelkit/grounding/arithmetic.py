"""Simple arithmetic over the numbers of the evidence: what an answer may compute by itself.

Sum, difference, product, ratio, relative change, share and average of two numbers; sum, average
and range of a list. The more numbers there are, the more often a coincidence would pass for a
computation, so the operations allowed shrink as the operands grow.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations, islice
from math import isfinite
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelkit.grounding.value import Value

_INDEX = re.compile(r"\[\d+\]")
_OPERATIONS = ("sum", "difference", "ratio", "change", "product", "share", "average")
ALL_OPERATIONS, SOME_OPERATIONS = 8, 16
_LARGEST = 1e300
_NUMBER = itemgetter(0)
_MOST_WEIGHTED = 15


class Computed(NamedTuple):
    """Absolute results with the operations that gave them.

    ``listed`` are results of lists, each with its operation. ``table`` holds ``block`` results of
    each of the pairwise ``operations`` in turn. ``few`` says that there are few operands only.
    """

    listed: tuple[tuple[float, str], ...]
    table: NDArray[np.float64] | None
    operations: tuple[str, ...]
    block: int
    few: bool

    def giving(self, value: Value, digits: int) -> str | None:
        """The operation whose result ``value`` states with so many significant digits or more."""
        for reading in value.shown:
            if not reading.value or reading.digits < digits:
                continue
            for factor in (1.0, 0.01) if value.unit == "percent" else (1.0,):
                number = abs(float(reading.value)) * factor
                how = self.near(number, float(reading.quantum) * factor / 2)
                if how:
                    return how
        return None

    def exactly(self, number: float) -> str | None:
        """Name of a sum or difference of few numbers that is ``number`` itself, or None."""
        if not self.few or not isfinite(number):
            return None
        slack = 1e-9 * abs(number)
        for result, operation in self.listed:
            if abs(result - number) <= slack:
                return operation
        if self.table is None or self.operations[:2] != _OPERATIONS[:2]:
            return None
        inside = np.abs(self.table[: 2 * self.block] - number) <= slack
        return self.operations[int(inside.argmax()) // self.block] if inside.any() else None

    def near(self, number: float, slack: float) -> str | None:
        """Name of an operation whose result lies within ``slack`` of ``number``, or None."""
        if not isfinite(number + slack):
            return None
        slack *= 1 + 1e-9
        for result, operation in self.listed:
            if abs(result - number) <= slack:
                return operation
        if self.table is None:
            return None
        inside = np.abs(self.table - number) <= slack
        place = int(inside.argmax())
        return self.operations[place // self.block] if inside[place] else None


@lru_cache(maxsize=64)
def compute(operands: tuple[tuple[float, str], ...]) -> Computed:
    """Compute every allowed result of (number, path) operands; at most some thousand.

    The rollouts of one task have the same operands, so the results are kept.
    """
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for number, path in operands:
        if "[" in path:
            groups[_list_of(path)].append(number)
    distinct = dict.fromkeys(operands)
    listed: list[tuple[float, str]] = []
    for numbers in (*groups.values(), *_siblings(distinct)):
        if len(numbers) > 1:
            total = abs(sum(numbers))
            listed += [
                (total, "sum"),
                (total / len(numbers), "average"),
                (max(numbers) - min(numbers), "range"),
            ]
    listed += [(abs(number), "sum of products") for number in _weighted(groups)]
    # Two fields that hold the same number are two operands.
    kept = list(map(_NUMBER, distinct))
    if not sum(map(abs, kept)) < _LARGEST:
        kept = [number for number in kept if -_LARGEST < number < _LARGEST]
    if len(kept) > SOME_OPERATIONS:
        kept = list(set(kept))
    few = len(kept) <= ALL_OPERATIONS
    if not 2 <= len(kept) <= SOME_OPERATIONS:
        return Computed(tuple(listed), None, (), 0, few)
    table = np.abs(_pairs(np.array(sorted(kept)), every=few))
    return Computed(tuple(listed), table, _OPERATIONS, len(kept) * (len(kept) - 1), few)


@lru_cache(maxsize=1024)
def _list_of(path: str) -> str:
    """The path with its indexes left open: the same for every row of a list."""
    return _INDEX.sub("[*]", path)


def _weighted(groups: dict[str, list[float]]) -> list[float]:
    """Sums of products of two fields of one list: quantity by price, row by row."""
    out: list[float] = []
    if len(groups) < 2:
        return out
    for (path, first), (other, second) in islice(combinations(groups.items(), 2), _MOST_WEIGHTED):
        same = path.rpartition(".")[0] == other.rpartition(".")[0] and len(first) == len(second)
        if same and 2 <= len(first) <= SOME_OPERATIONS:
            rows = [a * b for a, b in zip(first, second, strict=True)]
            out += [sum(rows), *rows]
    return [number for number in out if isfinite(number)]


def _siblings(operands: Iterable[tuple[float, str]]) -> list[list[float]]:
    """The numbers of one object, where there are three or more: their total may be told."""
    objects: defaultdict[str, list[float]] = defaultdict(list)
    for number, path in operands:
        objects[path.rpartition(".")[0]].append(number)
    # What stands in no object.
    objects.pop("", None)
    return [found for found in objects.values() if 3 <= len(found) <= ALL_OPERATIONS]


def compute_on(stated: Sequence[float], operands: Sequence[float]) -> Computed:
    """Compute one step on: every stated intermediate result with each operand and each other.

    An answer that shows ``12 x 7.25 = 87`` may add the shipping to the 87. Nothing is computed
    where the operands are many.
    """
    first, second = sorted(set(stated)), sorted({*stated, *operands})
    if not first or len(second) > ALL_OPERATIONS + len(first):
        return Computed((), None, (), 0, few=False)
    a, b = (grid.ravel() for grid in np.meshgrid(first, second))
    with np.errstate(all="ignore"):
        table = np.stack((a + b, a - b, a / b, (a - b) / b, a * b, b / a, (b - a) / a))
    table[~np.isfinite(table)] = 0.0
    names = ("sum", "difference", "ratio", "change", "product", "ratio", "change")
    return Computed((), np.abs(table.ravel()), names, len(a), few=True)


@lru_cache(maxsize=SOME_OPERATIONS)
def _apart(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indexes of every ordered pair of two different operands."""
    first, second = np.nonzero(~np.eye(count, dtype=bool))
    return first, second


def _pairs(values: NDArray[np.float64], *, every: bool) -> NDArray[np.float64]:
    first, second = _apart(len(values))
    a, b = values[first], values[second]
    table = np.empty((len(_OPERATIONS) if every else 4, len(a)))
    total, difference = table[0], table[1]
    with np.errstate(all="ignore"):
        np.add(a, b, out=total)
        np.subtract(a, b, out=difference)
        np.divide(a, b, out=table[2])
        np.divide(difference, b, out=table[3])
        if every:
            np.multiply(a, b, out=table[4])
            np.divide(a, total, out=table[5])
            np.divide(total, 2.0, out=table[6])
    flat = table.ravel()
    flat[~np.isfinite(flat)] = 0.0
    return flat
