"""Insert-or-nothing: the one way rows enter the store, so that every write can be repeated.

A judge run commits tens of thousands of rows, so the statement of a table is written once and the
values go to the driver directly, through the column types' own bind processors. Nothing here
updates or deletes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from typing import Any

from sqlalchemy import Connection, Dialect, Table

_MAX_PARAMETERS = 30_000
"""PostgreSQL's protocol counts the values of a statement in 16 bits."""


@dataclass(frozen=True)
class Added:
    """How many values of an import were new, and how many the store already knew."""

    new: int = 0
    known: int = 0

    def __add__(self, other: Added) -> Added:
        return Added(self.new + other.new, self.known + other.known)


def insert_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert the rows that break no unique constraint; return how many were really inserted.

    Rows of equal keys, also within ``rows``, are inserted once. All rows have the same keys.
    """
    if not rows:
        return 0
    names = tuple(rows[0])
    return insert_columns(connection, table, {name: [row[name] for row in rows] for name in names})


def insert_columns(
    connection: Connection, table: Table, columns: Mapping[str, Sequence[Any]]
) -> int:
    """Insert rows like ``insert_new``; they are given column by column.

    A column of texts may be given in UTF-8, as bytes: long ones need not become Python's first.
    """
    names = tuple(columns)
    bind = _binders(table, names, connection.dialect)
    lite = connection.dialect.name == "sqlite"
    utf8 = [bool(values) and isinstance(values[0], bytes) for values in columns.values()]
    bound = [
        _bound(column, _as_text if encoded and not lite else how)
        for column, how, encoded in zip(columns.values(), bind, utf8, strict=True)
    ]
    values = list(zip(*bound, strict=True))
    if not lite:
        return _insert_pages(connection, table.name, names, values)
    # One prepared statement for all rows; the driver sums the changes.
    marks = tuple("CAST(? AS TEXT)" if encoded else "?" for encoded in utf8)
    return connection.exec_driver_sql(_insert(table.name, names, marks, 1), values).rowcount


def _as_text(utf8: bytes) -> str:
    return utf8.decode("utf-8")


def _bound(values: Sequence[Any], how: Callable[[Any], Any] | None) -> Sequence[Any]:
    """Bind a column, equal values of it once: most columns of a chunk hold few different ones."""
    if how is None:
        return values
    try:
        made = {value: how(value) for value in set(values)}
    except TypeError:  # lists or objects, which no dictionary finds
        return [how(value) for value in values]
    return [made[value] for value in values]


def _insert_pages(
    connection: Connection, table: str, names: tuple[str, ...], values: list[tuple[Any, ...]]
) -> int:
    """Insert many rows per statement: a round trip for each would wait for the network."""
    inserted = 0
    rows = max(_MAX_PARAMETERS // len(names), 1)
    stream = iter(values)
    while page := list(islice(stream, rows)):
        statement = _insert(table, names, ("%s",) * len(names), len(page))
        flat = tuple(chain.from_iterable(page))
        inserted += connection.exec_driver_sql(statement, flat).rowcount
    return inserted


@cache
def _insert(table: str, names: tuple[str, ...], marks: tuple[str, ...], rows: int) -> str:
    """Return the insert statement; table and column names come from ``tables.py`` alone."""
    columns = ", ".join(f'"{name}"' for name in names)
    one = "(" + ", ".join(marks) + ")"
    many = ", ".join([one] * rows)
    return f'INSERT INTO "{table}" ({columns}) VALUES {many} ON CONFLICT DO NOTHING'  # noqa: S608 - our own names


@cache
def _binders(
    table: Table, names: tuple[str, ...], dialect: Dialect
) -> list[Callable[[Any], Any] | None]:
    """Return for each column the function that turns a value into what the driver takes."""
    return [table.c[name].type.dialect_impl(dialect).bind_processor(dialect) for name in names]
