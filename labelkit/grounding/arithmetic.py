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

import numpy as np
from numpy.typing import NDArray

_INDEX = re.compile(r"\[\d+\]")
_OPERATIONS = ("sum", "difference", "ratio", "change", "product", "share", "average")
ALL_OPERATIONS, SOME_OPERATIONS = 8, 16
_LARGEST = 1e300


@dataclass(frozen=True, slots=True)
class Computed:
    """Absolute results, each with its operation. ``few``: few operands only."""

    results: NDArray[np.float64]
    how: list[str]
    few: bool

    def near(self, number: float, slack: float) -> str | None:
        """Name of an operation whose result lies within ``slack`` of ``number``, or None."""
        slack *= 1 + 1e-9
        inside = (self.results >= number - slack) & (self.results <= number + slack)
        return self.how[int(inside.argmax())] if inside.any() else None


def compute(operands: Sequence[tuple[float, str]]) -> Computed:
    """Compute every allowed result of (number, path) operands; at most some thousand."""
    groups: dict[str, list[float]] = {}
    for number, path in operands:
        groups.setdefault(_INDEX.sub("[*]", path) if "[" in path else "", []).append(number)
    results: list[float] = []
    how: list[str] = []
    for path, numbers in groups.items():
        if path and len(numbers) > 1:
            total = sum(numbers)
            results += [total, total / len(numbers), max(numbers) - min(numbers)]
            how += ["sum", "average", "range"]
    # Two fields that hold the same number are two operands.
    kept = sorted(n for n, _ in dict.fromkeys(operands) if abs(n) < _LARGEST)
    if len(kept) > SOME_OPERATIONS:
        kept = sorted(set(kept))
    few = len(kept) <= ALL_OPERATIONS
    flat = np.array(results)
    if 2 <= len(kept) <= SOME_OPERATIONS:
        names, table = _pairs(np.array(kept), every=few)
        how += names
        flat = np.concatenate((flat, table))
    return Computed(np.abs(flat), how, few)


@lru_cache(maxsize=SOME_OPERATIONS)
def _apart(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indexes of every ordered pair of two different operands."""
    first, second = np.nonzero(~np.eye(count, dtype=bool))
    return first, second


def _pairs(values: NDArray[np.float64], *, every: bool) -> tuple[list[str], NDArray[np.float64]]:
    first, second = _apart(len(values))
    a, b = values[first], values[second]
    with np.errstate(all="ignore"):
        total, difference = a + b, a - b
        tables = [total, difference, a / b, difference / b]
        if every:
            tables += [a * b, a / total, total / 2]
    flat = np.concatenate(tables)
    flat[~np.isfinite(flat)] = 0.0
    return [name for name in _OPERATIONS[: len(tables)] for _ in range(len(a))], flat
