"""From the database to arrays: whole columns, each distinct text kept once.

Statistics need a few columns of hundreds of thousands of rows. A Python object for every cell
would cost more than everything that is computed from it, so the database packs a page of each
column into one text, which is read here in one go. This module knows no table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Select, Text, bindparam, cast, func, select

Ints = NDArray[np.int64]
Objects = NDArray[np.object_]
_PAGE = 16_384
"""Row ids at a time: so few that a page stays small even where texts are long."""


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


def fetch(
    connection: Connection, query: Select[Any], key: ColumnElement[int], whole: int
) -> tuple[list[Ints], list[Coded]]:
    """Run a query whose first ``whole`` columns are whole numbers and whose others are texts.

    Args:
        connection: a transaction that sees one state, because there is a statement per page.
        query: columns, tables and conditions; an order would be lost.
        key: the row id (ascending from 1) that pages are cut by.
        whole: how many columns are numbers; these are never NULL.

    Returns:
        The numbers as arrays, and the texts coded as the database keeps them (undecoded); page by
        page, in no order within a page.
    """
    packed = [
        _packed(connection.dialect.name, column, number=place < whole)
        for place, column in enumerate(query.selected_columns)
    ]
    paged = query.with_only_columns(*packed, maintain_column_froms=True)
    paged = paged.where(key > bindparam("low"), key <= bindparam("low") + _PAGE)
    last = connection.execute(select(func.max(key))).scalar() or 0
    numbers: list[list[Ints]] = [[] for _ in range(whole)]
    codes: list[list[Ints]] = [[] for _ in packed[whole:]]
    numberings = [_Numbering() for _ in codes]
    for low in range(0, last, _PAGE):
        row: Any = connection.execute(paged, {"low": low}).one()
        if row[0] is None:
            continue
        for parts, text in zip(numbers, row, strict=False):
            parts.append(np.fromstring(text, dtype=np.int64, sep=","))
        for parts, known, text in zip(codes, numberings, row[whole:], strict=True):
            cells = json.loads(text)
            numbered = map(known.__getitem__, cells)
            parts.append(np.fromiter(numbered, dtype=np.int64, count=len(cells)))
    return (
        [_joined(parts) for parts in numbers],
        [
            Coded(_joined(parts), tuple(known))
            for parts, known in zip(codes, numberings, strict=True)
        ],
    )


def _packed(dialect: str, column: ColumnElement[Any], *, number: bool) -> ColumnElement[str]:
    """Return the cells of a column as one text: digits with commas, or a JSON list with nulls.

    All packed columns of one statement have the same order, for they see the same rows pass.
    """
    if dialect == "sqlite":
        return func.group_concat(column) if number else func.json_group_array(column)
    if number:
        return func.string_agg(cast(column, Text), ",")
    return cast(func.json_agg(column), Text)


def _joined(parts: Sequence[Ints]) -> Ints:
    """Return the batches of one column as one array."""
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
