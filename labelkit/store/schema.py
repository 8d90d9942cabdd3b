"""The schema's version: made and migrated on opening, refused when it is newer than labelkit.

Migrations are Alembic scripts inside the package, so that a wheel can run them. Two processes may
open a store at once: each takes the write lock first and looks at the version again inside it.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from labelkit.errors import StoreError

HEAD = "0002"
"""Schema version that this labelkit reads and writes; a test compares it with the scripts."""

MIGRATIONS = Path(__file__).parent / "migrations"
_VERSION_TABLE = "alembic_version"


def migration_config(connection: Connection | None = None) -> Config:
    """Return an Alembic configuration for the packaged scripts; no alembic.ini is involved."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def revisions() -> tuple[str, ...]:
    """Return every schema version, oldest first."""
    scripts = ScriptDirectory.from_config(migration_config())
    return tuple(reversed([script.revision for script in scripts.walk_revisions()]))


def schema_version(connection: Connection) -> str | None:
    """Return the schema version of the database, or None where no store has been made."""
    if not inspect(connection).has_table(_VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalar()  # noqa: S608 - a constant
    return None if found is None else str(found)


def check_version(version: str, place: str) -> None:
    """Refuse a schema that this labelkit does not know.

    Raises:
        StoreError: naming both versions and the next step.
    """
    if version not in revisions():
        raise StoreError(
            f"the store {place} has schema version {version}, but this labelkit knows versions up"
            f" to {HEAD}; upgrade labelkit (`pip install --upgrade labelkit`) to open it"
        )


def migrate(connection: Connection, target: str = "head") -> None:
    """Bring the schema to ``target`` inside the caller's write transaction.

    The caller holds the write lock and has compared the version under it.
    """
    command.upgrade(migration_config(connection), target)
