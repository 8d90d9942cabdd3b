"""The terms of task sets in the store; what was said last counts."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from sqlalchemy import select, union, update

from labelkit.digest import canonical_json, digest_text
from labelkit.domain.terms import Terms
from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.tables import TASK, TASK_SET, TRACE


def note_terms(store: Store, terms: Terms) -> None:
    """Keep the terms of a task set in place of earlier ones; the same again changes nothing.

    Raises:
        StoreError: when the store cannot be written.
    """
    row = {
        "name_key": digest_text(terms.name),
        "name": terms.name,
        "noted_at": datetime.now(UTC),
        "body": canonical_json(terms.model_dump()),
    }
    with store.writing() as connection:
        if not insert_new(connection, TASK_SET, [row]):
            changed = update(TASK_SET).where(
                TASK_SET.c.name_key == row["name_key"], TASK_SET.c.body != row["body"]
            )
            connection.execute(changed.values(noted_at=row["noted_at"], body=row["body"]))


def terms_of(store: Store) -> dict[str, Terms]:
    """Return the terms of every task set that the store knows terms of, by name."""
    with store.reading() as connection:
        bodies = connection.execute(select(TASK_SET.c.body).order_by(TASK_SET.c.name_key))
        found = [Terms.model_validate(json.loads(body)) for body in bodies.scalars()]
    return {terms.name: terms for terms in found}


def task_sets_of(store: Store) -> list[str]:
    """Return the names of the task sets that tasks or traces of the store belong to, sorted."""
    named = union(
        select(TASK.c.task_set), select(TRACE.c.task_set).where(TRACE.c.task_set.is_not(None))
    )
    with store.reading() as connection:
        return sorted(connection.execute(named).scalars())
