"""From the driver's cursor to arrays: whole columns, each distinct text kept once.

Statistics need a few columns of hundreds of thousands of rows. A row object for each would cost
more than everything that is computed from it, so rows are taken from the driver in small batches
and turned into numbers at once; equal texts become equal codes. This module knows no table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select

Ints = NDArray[np.int64]
Objects = NDArray[np.object_]
_BATCH = 4096
"""Rows at a time: few enough to stay in the processor's cache and to leave no garbage behind."""


class _Numbering(dict[Any, int]):
    """Numbers values in the order in which they are first met."""

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self)
        return number


@dataclass(frozen=True)
class Coded:
    """A column as ``codes`` (shape (n,), into ``values``) and its distinct values."""

    codes: Ints
    values: tuple[Any, ...]

    def decoded(self, decode: Callable[[Any], Any] | None = None) -> Objects:
        """Return the cells as objects; each distinct value is decoded once and then shared."""
        table = np.empty(len(self.values), dtype=object)
        for code, value in enumerate(self.values):
            table[code] = value if decode is None else decode(value)
        cells: Objects = table[self.codes]
        return cells


def coded(cells: Iterable[Any], count: int) -> Coded:
    """Return ``count`` hashable cells as a coded column. Equal means equal: True is 1 here."""
    numbering = _Numbering()
    codes = np.fromiter(map(numbering.__getitem__, cells), dtype=np.int64, count=count)
    return Coded(codes, tuple(numbering))


def together(columns: Sequence[Coded]) -> Coded:
    """Return several columns of one length as one, whose values are tuples of theirs."""
    codes, values = columns[0].codes, [(value,) for value in columns[0].values]
    for column in columns[1:]:
        mixed = codes * len(column.values) + column.codes
        present, codes = np.unique(mixed, return_inverse=True)
        values = [
            (*values[code // len(column.values)], column.values[code % len(column.values)])
            for code in present.tolist()
        ]
    return Coded(codes, tuple(values))


def fetch(connection: Connection, query: Select[Any], whole: int) -> tuple[list[Ints], list[Coded]]:
    """Run a query whose first ``whole`` columns are whole numbers and whose others are not.

    Returns:
        The numbers as arrays, and the other columns coded as the database keeps them (undecoded).
    """
    cursor: Any = connection.execute(query).cursor
    width = len(cursor.description)
    numbers: list[list[Ints]] = [[] for _ in range(whole)]
    codes: list[list[Ints]] = [[] for _ in range(width - whole)]
    numberings = [_Numbering() for _ in codes]
    while rows := cursor.fetchmany(_BATCH):
        columns = list(zip(*rows, strict=True))
        for parts, cells in zip(numbers, columns, strict=False):
            parts.append(np.fromiter(cells, dtype=np.int64, count=len(rows)))
        for parts, known, cells in zip(codes, numberings, columns[whole:], strict=True):
            numbered = map(known.__getitem__, cells)
            parts.append(np.fromiter(numbered, dtype=np.int64, count=len(rows)))
    return (
        [_joined(parts) for parts in numbers],
        [
            Coded(_joined(parts), tuple(known))
            for parts, known in zip(codes, numberings, strict=True)
        ],
    )


def _joined(parts: Sequence[Ints]) -> Ints:
    """Return the batches of one column as one array."""
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
