"""Making and migrating the schema, with Alembic; loaded only when a store has another version.

Alembic costs as much to import as a whole report to read, and nearly every opening finds the
schema as it should be. So ``engine`` loads this module by name when it does not, and nothing else
in labelkit may import it.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from labelkit.errors import StoreError
from labelkit.store.schema import HEAD

MIGRATIONS = Path(__file__).parent / "migrations"


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
