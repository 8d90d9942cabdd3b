"""Columns for reports: what statistics need, read past every row object, as arrays.

A report over 100,000 traces and three raters has to start in a moment, so these functions use the
driver's own cursor and decode each distinct text once. They compute nothing: no rate, no vote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, func, select

from labelkit.domain.task import Tag
from labelkit.errors import StoreError
from labelkit.store.columns import decode_text
from labelkit.store.engine import Store
from labelkit.store.raters import rater_ids
from labelkit.store.selection import (
    DOMAIN,
    EVERYTHING,
    SUBSET,
    TRACE_TASK,
    Selection,
    conditions,
    selected,
)
from labelkit.store.tables import COMPLETION, LABEL, RATER, TASK, TRACE

Ints = NDArray[np.int64]
Objects = NDArray[np.object_]


@dataclass(frozen=True)
class TraceTable:
    """Columns over traces in order of id; all of length n.

    ``id`` joins with ``LabelTable.trace``. Text columns are object arrays of ``str`` or None;
    ``domain`` and ``subset`` are the trace's own tag, else its current task's. ``tags`` (when
    asked for) are the task's tags overlaid by the trace's own; equal rows may share one dict, so
    do not change them.
    """

    id: Ints
    model: Objects
    condition: Objects
    repeat: Ints
    state: Objects
    task_set: Objects
    task_id: Objects
    domain: Objects
    subset: Objects
    digest: Objects | None = None
    tags: Objects | None = None

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True)
class LabelTable:
    """Labels in force for one question, in order of (trace, rater, repeat); all of length n.

    ``trace`` holds trace ids as in ``TraceTable.id`` (ascending), ``rater`` indexes ``raters``
    (rater digests). ``value`` and ``reason`` are ``str`` or None, ``flags`` (when asked for)
    tuples of texts.
    """

    question: str
    raters: tuple[str, ...]
    trace: Ints
    rater: Ints
    repeat: Ints
    version: Ints
    outcome: Objects
    value: Objects
    reason: Objects
    flags: Objects | None = None

    def __len__(self) -> int:
        return len(self.trace)


def trace_table(
    store: Store, selection: Selection = EVERYTHING, *, digests: bool = False, tags: bool = False
) -> TraceTable:
    """Return the columns of the selected traces in order of id.

    Args:
        store: the store.
        selection: which traces.
        digests: also the trace digests.
        tags: also the tags of task and trace together.
    """
    columns: list[Any] = [
        TRACE.c.id,
        TRACE.c.model,
        TRACE.c.condition,
        TRACE.c.repeat,
        TRACE.c.state,
        TRACE.c.task_set,
        TRACE.c.task_id,
        DOMAIN,
        SUBSET,
        *([TRACE.c.digest] if digests else []),
        *([TASK.c.tags, TRACE.c.tags] if tags else []),
    ]
    query = select(*columns).select_from(TRACE_TASK).where(*conditions(selection))
    query = query.order_by(TRACE.c.id)
    with store.reading() as connection:
        data = _columns(connection, query, len(columns))
        if selection.digests is not None or selection.limit is not None:
            ids, _ = selected(connection, selection, "id")
            wanted = set(ids)
            keep = [i for i, trace_id in enumerate(data[0]) if trace_id in wanted]
            data = [[column[i] for i in keep] for column in data]
    return TraceTable(
        id=_ints(data[0]),
        model=_texts(data[1]),
        condition=_texts(data[2]),
        repeat=_ints(data[3]),
        state=_objects(data[4]),
        task_set=_texts(data[5]),
        task_id=_texts(data[6]),
        domain=_texts(data[7]),
        subset=_texts(data[8]),
        digest=_objects(data[9]) if digests else None,
        tags=_merged(data[-2], data[-1]) if tags else None,
    )


def label_table(
    store: Store, question: str, raters: Sequence[str] | None = None, *, flags: bool = False
) -> LabelTable:
    """Return the labels in force for one question.

    Args:
        store: the store.
        question: question id.
        raters: rater digests in the order ``LabelTable.raters`` shall have; None takes every
            rater with a label for the question, in the order they were registered.
        flags: also the flags (a rule's facts such as ``called``).

    Select traces by joining ``trace`` with ``trace_table(store, selection).id``.

    Raises:
        StoreError: a rater is not in the store, or the store cannot be read.
    """
    columns: list[Any] = [
        LABEL.c.trace_id,
        LABEL.c.rater_id,
        LABEL.c.repeat,
        LABEL.c.version,
        LABEL.c.outcome,
        LABEL.c.value,
        LABEL.c.reason,
        *([LABEL.c.flags] if flags else []),
    ]
    with store.reading() as connection:
        ids = _rater_ids(store, connection, question, raters)
        query = select(*columns).where(
            LABEL.c.question == question, LABEL.c.rater_id.in_(list(ids.values()))
        )
        data = _columns(connection, query, len(columns))
    index = {row_id: place for place, row_id in enumerate(ids.values())}
    trace, repeat, version = _ints(data[0]), _ints(data[2]), _ints(data[3])
    rater = _ints([index[row_id] for row_id in data[1]])
    order = _in_force(trace, rater, repeat, version)
    return LabelTable(
        question=question,
        raters=tuple(ids),
        trace=trace[order],
        rater=rater[order],
        repeat=repeat[order],
        version=version[order],
        outcome=_objects(data[4])[order],
        value=_texts(data[5])[order],
        reason=_texts(data[6])[order],
        flags=_decoded(data[7], _flags)[order] if flags else None,
    )


def _rater_ids(
    store: Store, connection: Connection, question: str, raters: Sequence[str] | None
) -> dict[str, int]:
    """Return rater digest -> row id in the order asked for."""
    if raters is None:
        asked = select(LABEL.c.rater_id).where(LABEL.c.question == question).distinct()
        query = select(RATER.c.digest, RATER.c.id).where(RATER.c.id.in_(asked))
        return {row.digest: row.id for row in connection.execute(query.order_by(RATER.c.id))}
    known = rater_ids(store, connection, set(raters))
    for digest in raters:
        if digest not in known:
            raise StoreError(
                f"the store {store.place} has no rater {digest}; run `labelkit judge` with it first"
            )
    return {digest: known[digest] for digest in raters}


def _in_force(trace: Ints, rater: Ints, repeat: Ints, version: Ints) -> Ints:
    """Return the places of the highest version of each (trace, rater, repeat), in that order."""
    order = np.lexsort((version, repeat, rater, trace))
    if len(order) == 0:
        return order
    same = (
        (trace[order][1:] == trace[order][:-1])
        & (rater[order][1:] == rater[order][:-1])
        & (repeat[order][1:] == repeat[order][:-1])
    )
    last: Ints = order[np.append(~same, True)]
    return last


def _columns(connection: Connection, query: Select[Any], width: int) -> list[Sequence[Any]]:
    """Run a query on the driver's cursor and return its columns as stored, undecoded."""
    result: Any = connection.execute(query)
    columns: list[Sequence[Any]] = list(zip(*result.cursor.fetchall(), strict=True))
    return columns or [()] * width


def _ints(values: Sequence[Any]) -> Ints:
    """Return whole numbers as an array."""
    return np.fromiter(values, dtype=np.int64, count=len(values))


def _objects(values: Sequence[Any]) -> Objects:
    """Return values as an object array, also when they are sequences themselves."""
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result


def _decoded(values: Sequence[str | None], decode: Callable[[str | None], Any]) -> Objects:
    """Return decoded values; each distinct stored text is decoded once and shared."""
    known = {value: decode(value) for value in set(values)}
    result = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        result[place] = known[value]
    return result


def _texts(values: Sequence[str | None]) -> Objects:
    """Return the texts of a ``SafeText`` column."""
    return _decoded(values, lambda value: None if value is None else decode_text(value))


def _flags(stored: str | None) -> tuple[str, ...]:
    """Return the flags of a stored list."""
    return () if stored is None else tuple(json.loads(stored))


def _merged(task_tags: Sequence[str | None], trace_tags: Sequence[str]) -> Objects:
    """Return the tags of task and trace together; the trace's own win."""
    pairs = list(zip(task_tags, trace_tags, strict=True))
    known: dict[tuple[str | None, str], dict[str, Tag]] = {}
    for pair in set(pairs):
        of_task, own = pair
        known[pair] = (json.loads(of_task) if of_task else {}) | json.loads(own)
    result = np.empty(len(pairs), dtype=object)
    for place, pair in enumerate(pairs):
        result[place] = known[pair]
    return result


@dataclass(frozen=True)
class Counts:
    """How much is in a store: the parts of ``traces`` sum to it, labels count every version."""

    tasks: int
    traces: int
    raters: int
    labels: int
    completions: int
    traces_by_state: dict[str, int]
    traces_by_model: dict[str, int]


def counts(store: Store) -> Counts:
    """Return the sizes of the store for an overview; ``tasks`` counts current versions."""
    with store.reading() as connection:

        def size(query: Select[Any]) -> int:
            return int(connection.execute(query).scalar_one())

        def by(column: Any) -> dict[str, int]:
            query = select(column, func.count()).group_by(column).order_by(column)
            return {row[0]: row[1] for row in connection.execute(query)}

        states = by(TRACE.c.state)
        return Counts(
            tasks=size(select(func.count()).select_from(TASK).where(TASK.c.current)),
            traces=sum(states.values()),
            raters=size(select(func.count()).select_from(RATER)),
            labels=size(select(func.count()).select_from(LABEL)),
            completions=size(select(func.count()).select_from(COMPLETION)),
            traces_by_state=states,
            traces_by_model=by(TRACE.c.model),
        )
