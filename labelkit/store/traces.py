"""Traces in the store: content-addressed, imported once, read back as a stream of constant size."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select

from labelkit.domain.task import Tag, Task
from labelkit.domain.trace import RowState, Trace
from labelkit.domain.trace_text import TraceText
from labelkit.errors import StoreError
from labelkit.store.engine import Store
from labelkit.store.inserting import Added, insert_columns
from labelkit.store.selection import EVERYTHING, TRACE_TASK, Order, Selection, chunks, selected
from labelkit.store.tables import TASK, TRACE, TRACE_BODY
from labelkit.store.tasks import IMPORT_LOCK, read_task, tag_text, task_key

_CHUNK_ROWS = 256
_CHUNK_CHARS = 4_000_000
_KNOWN_TASKS = 256


def add_traces(store: Store, traces: Iterable[Trace | TraceText]) -> Added:
    """Add traces, streaming; a trace that the store has by digest counts as known.

    A trace may come before its task or have none. Written in chunks of at most 256 traces or about
    4 million characters, each in one transaction, so memory does not grow with the import.

    Raises:
        StoreError: when the store cannot be written; whole chunks before it stay, and importing
            the same traces again completes the rest.
    """
    added = Added()
    chunk: dict[str, TraceText] = {}
    size = seen = 0
    now = datetime.now(UTC)
    for trace in traces:
        text = TraceText.of(trace) if isinstance(trace, Trace) else trace
        chunk.setdefault(text.digest, text)
        seen += 1
        size += len(text.text)
        if seen >= _CHUNK_ROWS or size >= _CHUNK_CHARS:
            added += _add_chunk(store, chunk, seen, now)
            chunk, size, seen = {}, 0, 0
    return added + _add_chunk(store, chunk, seen, now) if chunk else added


def _add_chunk(store: Store, chunk: dict[str, TraceText], seen: int, now: datetime) -> Added:
    """Insert one chunk: the columns, then the bodies under the ids that the columns got.

    Ids only grow, and importers take turns, so what is new is what lies above the last one.
    """
    columns = _columns(list(chunk.values()), now)
    with store.writing(IMPORT_LOCK) as connection:
        last = connection.exec_driver_sql("SELECT max(id) FROM trace").scalar() or 0
        new = insert_columns(connection, TRACE, columns)
        if new:
            above = f"SELECT id, digest FROM trace WHERE id > {last:d} ORDER BY id"  # noqa: S608 - a number
            made = connection.exec_driver_sql(above).all()
            bodies = {
                "trace_id": [row_id for row_id, _ in made],
                "body": [chunk[digest].text for _, digest in made],
            }
            insert_columns(connection, TRACE_BODY, bodies)
    return Added(new, seen - new)


def _columns(traces: Sequence[TraceText], now: datetime) -> dict[str, list[Any]]:
    """Return the columns of some traces by name."""
    return {
        "digest": [trace.digest for trace in traces],
        "task_key": [task_key(trace.task_set, trace.task_id) for trace in traces],
        "task_set": [trace.task_set for trace in traces],
        "task_id": [trace.task_id for trace in traces],
        "model": [trace.model for trace in traces],
        "condition": [trace.condition for trace in traces],
        "repeat": [trace.repeat for trace in traces],
        "state": [trace.state.value for trace in traces],
        "domain": [tag_text(trace.tags, "domain") for trace in traces],
        "subset": [tag_text(trace.tags, "subset") for trace in traces],
        "tags": [trace.tags for trace in traces],
        "source": [trace.source for trace in traces],
        "imported_at": [now] * len(traces),
        "body_chars": [_chars(trace.text) for trace in traces],
    }


def _chars(utf8: bytes) -> int:
    return len(utf8) if utf8.isascii() else len(utf8.decode("utf-8"))


def _read_trace(body: str, source: str, known_digest: str) -> Trace:
    """Return the trace of a stored body; its digest is known and not computed again."""
    trace = Trace.model_validate(json.loads(body) | {"source": source})
    trace.__dict__["digest"] = known_digest
    return trace


def rows(
    store: Store, selection: Selection = EVERYTHING, *, order: Order = "prefix"
) -> Iterator[tuple[Trace, Task | None]]:
    """Yield the selected traces, each with the current version of its task (or None).

    The order is fixed at the first step (16 bytes per trace); traces are then read in pages of at
    most 256 rows or about 4 million characters. No transaction stays open between two steps.
    """
    with store.reading() as connection:
        ids, sizes = selected(connection, selection, order)
    reader = PageReader(store)
    for page in pages(ids, sizes):
        yield from reader.read(page)


def pages(ids: array[int], sizes: array[int], rows: int = _CHUNK_ROWS) -> Iterator[list[int]]:
    """Cut ids into pages of at most ``rows`` rows, and by characters."""
    page: list[int] = []
    chars = 0
    for trace_id, size in zip(ids, sizes, strict=True):
        if page and (len(page) >= rows or chars + size > _CHUNK_CHARS):
            yield page
            page, chars = [], 0
        page.append(trace_id)
        chars += size
    if page:
        yield page


class PageReader:
    """Reads pages of traces; tasks that come again and again are parsed once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tasks: dict[int, Task] = {}

    def read(self, ids: Sequence[int]) -> list[tuple[Trace, Task | None]]:
        """Return traces and tasks in the order of ``ids``."""
        with self._store.reading() as connection:
            found = {row.id: row for row in connection.execute(_PAGE, {"ids": list(ids)})}
            tasks = self._load_tasks(connection, {row.task for row in found.values()})
        return [
            (
                _read_trace(row.body, row.source, row.digest),
                None if row.task is None else tasks[row.task],
            )
            for row in (found[trace_id] for trace_id in ids)
        ]

    def _load_tasks(self, connection: Connection, ids: set[int | None]) -> dict[int, Task]:
        """Return the tasks of one page; what an earlier page needed is kept while it is small."""
        wanted = {task_id for task_id in ids if task_id is not None}
        missing = wanted - self._tasks.keys()
        if len(self._tasks) + len(missing) > _KNOWN_TASKS:
            self._tasks = {i: task for i, task in self._tasks.items() if i in wanted}
        if missing:
            for row in connection.execute(_TASKS, {"ids": list(missing)}):
                self._tasks[row.id] = read_task(row.body, row.digest)
        return self._tasks


_PAGE = (
    select(TRACE.c.id, TRACE.c.digest, TRACE.c.source, TRACE_BODY.c.body, TASK.c.id.label("task"))
    .select_from(TRACE_TASK.join(TRACE_BODY, TRACE_BODY.c.trace_id == TRACE.c.id))
    .where(TRACE.c.id.in_(bindparam("ids", expanding=True)))
)
_TASKS = select(TASK.c.id, TASK.c.digest, TASK.c.body).where(
    TASK.c.id.in_(bindparam("ids", expanding=True))
)


def row(store: Store, digest_or_prefix: str) -> tuple[Trace, Task | None]:
    """Return one trace by its digest, or by the first characters of it, with its current task.

    Raises:
        StoreError: no trace, or several traces, begin like this.
    """
    prefix = digest_or_prefix.lower()
    if not re.fullmatch(r"[0-9a-f]{1,64}", prefix):
        raise StoreError(
            f"{digest_or_prefix!r} is no trace digest; expected up to 64 hexadecimal digits, as"
            " `labelkit report` and the app show them"
        )
    # A whole digest is looked up by its index; a prefix search reads every row.
    whole = len(prefix) == 64
    begins = TRACE.c.digest == prefix if whole else TRACE.c.digest.startswith(prefix)
    query = select(TRACE.c.id, TRACE.c.digest).where(begins).limit(3)
    with store.reading() as connection:
        found = connection.execute(query).all()
    if not found:
        raise StoreError(
            f"the store {store.place} has no trace {digest_or_prefix}; import it first, or check"
            " the digest"
        )
    if len(found) > 1:
        raise StoreError(
            f"several traces begin with {digest_or_prefix}, such as {found[0].digest[:16]} and"
            f" {found[1].digest[:16]}; give more digits"
        )
    return PageReader(store).read([found[0].id])[0]


def known_traces(store: Store, digests: Iterable[str]) -> set[str]:
    """Return which of these digests are traces of the store, in whatever state."""
    found: set[str] = set()
    for chunk in chunks(digests):
        query = select(TRACE.c.digest).where(TRACE.c.digest.in_(chunk))
        with store.reading() as connection:
            found.update(connection.execute(query).scalars())
    return found


def has_rollout(
    store: Store, task_set: str, task_id: str, model: str, condition: str, repeat: int
) -> bool:
    """Whether the store has a trace of this row; an outage is none."""
    query = select(TRACE.c.id).where(
        TRACE.c.task_key == task_key(task_set, task_id),
        TRACE.c.model == model,
        TRACE.c.condition == condition,
        TRACE.c.repeat == repeat,
        TRACE.c.state != RowState.INFRA_ERROR.value,
    )
    with store.reading() as connection:
        return connection.execute(query.limit(1)).first() is not None


def trace_tags(store: Store, digest: str) -> dict[str, Tag] | None:
    """Return the tags of a trace's row (its task's, overlaid by its own) without reading a body.

    None where the store has no trace with this digest.
    """
    query = (
        select(TRACE.c.tags, TASK.c.tags.label("of_task"))
        .select_from(TRACE_TASK)
        .where(TRACE.c.digest == digest)
    )
    with store.reading() as connection:
        found = connection.execute(query).first()
    return None if found is None else {**(found.of_task or {}), **found.tags}


def trace(store: Store, digest_or_prefix: str) -> Trace:
    """Return one trace by digest or unique prefix; see ``row`` for the errors."""
    return row(store, digest_or_prefix)[0]
