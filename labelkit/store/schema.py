"""The schema's version: what this labelkit reads and writes, and what a database has.

Migrations are Alembic scripts inside the package, so that a wheel can run them (``migrating``).
Two processes may open a store at once: each takes the write lock first and looks at the version
again inside it.
"""

from __future__ import annotations

from sqlalchemy import Connection, inspect, text

HEAD = "0005"
"""Schema version that this labelkit reads and writes; a test compares it with the scripts."""

_VERSION_TABLE = "alembic_version"


def schema_version(connection: Connection) -> str | None:
    """Return the schema version of the database, or None where no store has been made."""
    if not inspect(connection).has_table(_VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalar()  # noqa: S608 - a constant
    return None if found is None else str(found)
