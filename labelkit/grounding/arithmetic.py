"""Simple arithmetic over the numbers of the evidence: what an answer may compute by itself.

Sum, difference, product, ratio, relative change, share and average of two numbers; sum, average
and range of a list. The more numbers there are, the more often a coincidence would pass for a
computation, so the operations allowed shrink as the operands grow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from math import isfinite

import numpy as np
from numpy.typing import NDArray

_INDEX = re.compile(r"\[\d+\]")
_OPERATIONS = ("sum", "difference", "ratio", "change", "product", "share", "average")
ALL_OPERATIONS, SOME_OPERATIONS = 8, 16
_LARGEST = 1e300
_MOST_WEIGHTED = 15


@dataclass(frozen=True, slots=True)
class Computed:
    """Absolute results.

    First those of lists, each with its operation in ``how``; then ``block`` results of each
    pairwise operation in turn. ``few`` says that there are few operands only.
    """

    results: NDArray[np.float64]
    how: tuple[str, ...]
    block: int
    few: bool

    def near(self, number: float, slack: float) -> str | None:
        """Name of an operation whose result lies within ``slack`` of ``number``, or None."""
        if not self.results.size or not isfinite(number + slack):
            return None
        inside = np.abs(self.results - number) <= slack * (1 + 1e-9)
        place = int(inside.argmax())
        if not inside[place]:
            return None
        if place < len(self.how):
            return self.how[place]
        return _OPERATIONS[(place - len(self.how)) // self.block]


@lru_cache(maxsize=256)
def compute(operands: tuple[tuple[float, str], ...]) -> Computed:
    """Compute every allowed result of (number, path) operands; at most some thousand.

    The rollouts of one task have the same operands, so the results are kept.
    """
    groups: dict[str, list[float]] = {}
    for number, path in operands:
        if "[" in path:
            groups.setdefault(_INDEX.sub("[*]", path), []).append(number)
    results: list[float] = []
    for numbers in (*groups.values(), *_siblings(operands)):
        if len(numbers) > 1:
            total = sum(numbers)
            results += [total, total / len(numbers), max(numbers) - min(numbers)]
    how = ("sum", "average", "range") * (len(results) // 3)
    weighted = _weighted(groups)
    results += weighted
    how += ("sum of products",) * len(weighted)
    # Two fields that hold the same number are two operands.
    kept = sorted(n for n, _ in dict.fromkeys(operands) if abs(n) < _LARGEST)
    if len(kept) > SOME_OPERATIONS:
        kept = sorted(set(kept))
    few = len(kept) <= ALL_OPERATIONS
    flat = np.array(results)
    block = 0
    if 2 <= len(kept) <= SOME_OPERATIONS:
        block = len(kept) * (len(kept) - 1)
        pairs = _pairs(np.array(kept), every=few)
        flat = np.concatenate((flat, pairs)) if results else pairs
    return Computed(np.abs(flat), how, block, few)


def _weighted(groups: dict[str, list[float]]) -> list[float]:
    """Sums of products of two fields of one list: quantity by price, row by row."""
    out = []
    for (path, first), (other, second) in islice(combinations(groups.items(), 2), _MOST_WEIGHTED):
        same = path.rpartition(".")[0] == other.rpartition(".")[0] and len(first) == len(second)
        if same and 2 <= len(first) <= SOME_OPERATIONS:
            out.append(sum(a * b for a, b in zip(first, second, strict=True)))
    return [number for number in out if isfinite(number)]


def _siblings(operands: tuple[tuple[float, str], ...]) -> list[list[float]]:
    """The numbers of one object, where there are three or more: their total may be told."""
    objects: dict[str, list[float]] = {}
    for number, path in dict.fromkeys(operands):
        parent, dot, _ = path.rpartition(".")
        if dot:
            objects.setdefault(parent, []).append(number)
    return [found for found in objects.values() if 3 <= len(found) <= ALL_OPERATIONS]


def compute_on(stated: Sequence[float], operands: Sequence[float]) -> Computed:
    """Compute one step on: every stated intermediate result with each operand and each other.

    An answer that shows ``12 x 7.25 = 87`` may add the shipping to the 87. Nothing is computed
    where the operands are many.
    """
    first, second = sorted(set(stated)), sorted({*stated, *operands})
    if not first or len(second) > ALL_OPERATIONS + len(first):
        return Computed(np.array([]), (), 0, few=False)
    a, b = (grid.ravel() for grid in np.meshgrid(first, second))
    with np.errstate(all="ignore"):
        table = np.stack((a + b, a - b, a / b, (a - b) / b, a * b, b / a, (b - a) / a))
    table[~np.isfinite(table)] = 0.0
    names = ("sum", "difference", "ratio", "change", "product", "ratio", "change")
    how = tuple(name for name in names for _ in a)
    return Computed(np.abs(table.ravel()), how, 1, few=True)


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
