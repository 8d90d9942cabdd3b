"""Alembic's entry: runs the scripts on the connection that ``labelkit.store.migrating`` hands over.

There is no offline mode and no alembic.ini: a store is migrated by opening it.
"""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    # The caller's transaction holds the lock that keeps two processes from migrating at once.
    transactional_ddl=True,
)
context.run_migrations()
