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

_MAX_PARAMETERS = {"postgresql": 30_000, "sqlite": 900}
"""PostgreSQL's protocol counts the values of a statement in 16 bits; old SQLites take 999."""


@dataclass(frozen=True)
class Added:
    """How many values of an import were new, and how many the store already knew."""

    new: int = 0
    known: int = 0

    def __add__(self, other: Added) -> Added:
        return Added(self.new + other.new, self.known + other.known)


def insert_new(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    beside: bool = False,
) -> int:
    """Insert the rows that break no unique constraint; return how many were really inserted.

    Rows of equal keys, also within ``rows``, are inserted once. All rows have the same keys.
    ``beside`` is for a writer beside a busy thread: SQLite gets many rows per statement as well,
    because after each statement this thread may have to wait for its turn in Python.
    """
    if not rows:
        return 0
    names = tuple(rows[0])
    bind = [
        (name, None if how is None else _remembering(how))
        for name, how in _binders(table, names, connection.dialect)
    ]
    values = [
        tuple([row[name] if how is None else how(row[name]) for name, how in bind]) for row in rows
    ]
    if connection.dialect.name == "sqlite" and not beside:
        # One prepared statement for all rows; the driver sums the changes.
        statement = _insert(table.name, names, "?", 1)
        return connection.exec_driver_sql(statement, values).rowcount
    return _insert_pages(connection, table.name, names, values)


def _remembering(how: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Bind equal values of a column once: most columns of a chunk hold few different ones."""
    seen: dict[Any, Any] = {}

    def bound(value: Any) -> Any:
        try:
            return seen[value]
        except KeyError:
            made = seen[value] = how(value)
            return made
        except TypeError:  # a list or an object, which no dictionary finds
            return how(value)

    return bound


def _insert_pages(
    connection: Connection, table: str, names: tuple[str, ...], values: list[tuple[Any, ...]]
) -> int:
    """Insert many rows per statement: a round trip for each would wait for the network."""
    inserted = 0
    dialect = connection.dialect.name
    mark = "?" if dialect == "sqlite" else "%s"
    rows = max(_MAX_PARAMETERS[dialect] // len(names), 1)
    stream = iter(values)
    while page := list(islice(stream, rows)):
        statement = _insert(table, names, mark, len(page))
        flat = tuple(chain.from_iterable(page))
        inserted += connection.exec_driver_sql(statement, flat).rowcount
    return inserted


@cache
def _insert(table: str, names: tuple[str, ...], mark: str, rows: int) -> str:
    """Return the insert statement; table and column names come from ``tables.py`` alone."""
    columns = ", ".join(f'"{name}"' for name in names)
    marks = "(" + ", ".join([mark] * len(names)) + ")"
    many = ", ".join([marks] * rows)
    return f'INSERT INTO "{table}" ({columns}) VALUES {many} ON CONFLICT DO NOTHING'  # noqa: S608 - our own names


@cache
def _binders(
    table: Table, names: tuple[str, ...], dialect: Dialect
) -> list[tuple[str, Callable[[Any], Any] | None]]:
    """Return for each column the function that turns a value into what the driver takes."""
    return [
        (name, table.c[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in names
    ]
