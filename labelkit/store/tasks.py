"""Tasks in the store: versions of (set, id), of which the newest import is the current one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import orjson
from sqlalchemy import Connection, and_, select, update

from labelkit.digest import canonical_json, digest, digest_text
from labelkit.domain.task import Tag, Task
from labelkit.store.engine import Store
from labelkit.store.inserting import Added, insert_new
from labelkit.store.tables import TASK

IMPORT_LOCK = 0x6C61_6265_6C01
"""Importers take turns on PostgreSQL, so that "newest" has one meaning and ids follow the file."""

_CHUNK = 200


def task_key(task_set: str | None, task_id: str | None) -> str | None:
    """Return what traces and tasks are joined on: the digest of (set, id), or None without both."""
    if task_set is None or task_id is None:
        return None
    try:
        # The same text as the canonical one, ten times faster: an import asks for every trace.
        return hashlib.sha256(orjson.dumps([task_set, task_id])).hexdigest()
    except TypeError:  # a lone surrogate
        return digest([task_set, task_id])


def tag_text(tags: dict[str, Tag], name: str) -> str | None:
    """Return a tag as the text that columns and filters compare (``str`` of it)."""
    value = tags.get(name)
    return None if value is None else str(value)


def read_task(body: str, known_digest: str) -> Task:
    """Return the task of a stored body; its digest is known and not computed again."""
    task = Task.model_validate(json.loads(body))
    task.__dict__["digest"] = known_digest
    return task


def add_tasks(store: Store, tasks: Iterable[Task]) -> Added:
    """Add tasks, streaming; each becomes the current version of its (set, id).

    A task that the store already has by digest counts as known; importing it again after a newer
    version makes it current again. Memory is constant in the number of tasks.

    Raises:
        StoreError: when the store cannot be written; whole chunks before it stay.
    """
    added = Added()
    stream = iter(tasks)
    while chunk := list(islice(stream, _CHUNK)):
        with store.writing(IMPORT_LOCK) as connection:
            added += _add_chunk(connection, chunk)
    return added


def _add_chunk(connection: Connection, tasks: Sequence[Task]) -> Added:
    """Insert one chunk and move the ``current`` marks."""
    now = datetime.now(UTC)
    rows = [_task_row(task, now) for task in tasks]
    new = insert_new(connection, TASK, rows)
    newest = {row["task_key"]: row["digest"] for row in rows}
    marked = connection.execute(
        select(TASK.c.task_key, TASK.c.digest).where(TASK.c.current, TASK.c.task_key.in_(newest))
    )
    current = {row.task_key: row.digest for row in marked}
    moved = {key: value for key, value in newest.items() if current.get(key) != value}
    if moved:
        # Two statements: the unique index on current rows never sees two of one key.
        connection.execute(
            update(TASK).where(TASK.c.task_key.in_(moved), TASK.c.current).values(current=False)
        )
        connection.execute(
            update(TASK).where(TASK.c.digest.in_(moved.values())).values(current=True)
        )
    return Added(new, len(rows) - new)


def _task_row(task: Task, now: datetime) -> dict[str, Any]:
    """Return the row of a task; a new row is not current until the marks are moved."""
    body = canonical_json(task.beyond_defaults())
    return {
        "digest": digest_text(body),
        "task_key": task_key(task.set, task.id),
        "task_set": task.set,
        "task_id": task.id,
        "current": False,
        "domain": tag_text(task.tags, "domain"),
        "subset": tag_text(task.tags, "subset"),
        "tags": task.tags,
        "imported_at": now,
        "body": body,
    }


def tasks(store: Store, task_sets: Sequence[str] | None = None) -> Iterator[Task]:
    """Yield the current version of every task in order of import, optionally of some sets only."""
    last = 0
    while True:
        query = (
            select(TASK.c.id, TASK.c.digest, TASK.c.body)
            .where(TASK.c.current, TASK.c.id > last)
            .order_by(TASK.c.id)
            .limit(_CHUNK)
        )
        if task_sets is not None:
            query = query.where(TASK.c.task_set.in_(list(task_sets)))
        with store.reading() as connection:
            page = connection.execute(query).all()
        if not page:
            return
        for row in page:
            yield read_task(row.body, row.digest)
        last = page[-1].id


def task(store: Store, task_set: str, task_id: str) -> Task | None:
    """Return the current version of one task, or None."""
    key = task_key(task_set, task_id)
    with store.reading() as connection:
        row = connection.execute(
            select(TASK.c.digest, TASK.c.body).where(and_(TASK.c.task_key == key, TASK.c.current))
        ).first()
    return None if row is None else read_task(row.body, row.digest)
