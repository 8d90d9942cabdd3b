"""Simple arithmetic over the numbers of the evidence: what an answer may compute by itself.

Sum, difference, product, ratio, relative change, share and average of two numbers; sum, average
and range of a list. The more numbers there are, the more often a coincidence would pass for a
computation, so the operations allowed shrink as the operands grow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_INDEX = re.compile(r"\[\d+\]")
ALL_OPERATIONS, SOME_OPERATIONS = 8, 16
_LARGEST = 1e300


@dataclass(frozen=True, slots=True)
class Computed:
    """Absolute results in rising order, each with its operation. ``few``: few operands only."""

    results: NDArray[np.float64]
    how: list[str]
    order: NDArray[np.intp]
    few: bool

    def near(self, number: float, slack: float) -> str | None:
        """Name of an operation whose result lies within ``slack`` of ``number``, or None."""
        slack *= 1 + 1e-9
        at = int(np.searchsorted(self.results, number - slack))
        if at < len(self.results) and self.results[at] <= number + slack:
            return self.how[int(self.order[at])]
        return None


def compute(operands: Sequence[tuple[float, str]]) -> Computed:
    """Compute every allowed result of (number, path) operands; at most some thousand."""
    groups: dict[str, list[float]] = {}
    for number, path in operands:
        groups.setdefault(_INDEX.sub("[*]", path) if "[" in path else "", []).append(number)
    results: list[NDArray[np.float64]] = []
    how: list[str] = []
    for path, numbers in groups.items():
        if path and len(numbers) > 1:
            total = sum(numbers)
            listed = [total, total / len(numbers), max(numbers) - min(numbers)]
            results.append(np.array(listed))
            how += ["sum", "average", "range"]
    # Two fields that hold the same number are two operands.
    kept = sorted(n for n, _ in dict.fromkeys(operands) if abs(n) < _LARGEST)
    if len(kept) > SOME_OPERATIONS:
        kept = sorted(set(kept))
    values = np.array(kept)
    if 2 <= len(values) <= SOME_OPERATIONS:
        for name, table in _pairs(values, every=len(values) <= ALL_OPERATIONS):
            results.append(table)
            how += [name] * len(table)
    flat = np.abs(np.concatenate(results)) if results else np.zeros(0)
    order = np.argsort(flat)
    return Computed(flat[order], how, order, len(values) <= ALL_OPERATIONS)


def _pairs(values: NDArray[np.float64], *, every: bool) -> list[tuple[str, NDArray[np.float64]]]:
    apart = ~np.eye(len(values), dtype=bool)
    a = np.broadcast_to(values[:, None], apart.shape)[apart]
    b = np.broadcast_to(values[None, :], apart.shape)[apart]
    with np.errstate(all="ignore"):
        out = [("sum", a + b), ("difference", a - b), ("ratio", a / b), ("change", (a - b) / b)]
        if every:
            out += [("product", a * b), ("share", a / (a + b)), ("average", (a + b) / 2)]
    return [(name, np.nan_to_num(table, nan=0.0, posinf=0.0, neginf=0.0)) for name, table in out]
