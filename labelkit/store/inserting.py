"""Insert-or-nothing: the one way rows enter the store, so that every write can be repeated.

Nothing here updates or deletes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


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
    return len(insert_returning(connection, table, rows))


def insert_returning(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
) -> set[int]:
    """Insert like ``insert_new`` and return the ids of the inserted rows."""
    if not rows:
        return set()
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table).on_conflict_do_nothing().returning(table.c.id)
    return set(connection.execute(statement, list(rows)).scalars())
