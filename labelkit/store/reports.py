"""Columns for reports: what statistics need, read past every row object, as arrays.

A report over 100,000 traces and three raters has to start in a moment, so these functions use
``fetching`` and decode each distinct text once. They compute nothing: no rate, no vote.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, Connection, FromClause, Select, Text, cast, func, null, select

from labelkit.domain.task import Tag
from labelkit.errors import StoreError
from labelkit.store.columns import decode_text
from labelkit.store.engine import Store
from labelkit.store.fetching import Coded, Ints, Objects, fetch, together
from labelkit.store.raters import rater_ids
from labelkit.store.review_tables import SAMPLE_ITEM
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


class Kind(NamedTuple):
    """What a label says, apart from whose it is; ``flags`` is empty when not asked for."""

    outcome: str
    value: str | None
    reason: str | None
    flags: tuple[str, ...]


@dataclass(frozen=True)
class LabelTable:
    """Labels in force for one question, in order of (trace, rater, repeat); all of length n.

    ``trace`` holds trace ids as in ``TraceTable.id`` (ascending), ``rater`` indexes ``raters``
    (rater digests). ``value`` and ``reason`` are ``str`` or None, ``flags`` (when asked for)
    tuples of texts. ``kind`` indexes ``kinds``, the distinct (outcome, value, reason, flags):
    there are few of them, so what depends on them alone is worked out once per kind.
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
    kind: Ints
    kinds: tuple[Kind, ...]
    flags: Objects | None = None

    def __len__(self) -> int:
        return len(self.trace)


def trace_table(
    store: Store,
    selection: Selection = EVERYTHING,
    *,
    digests: bool = False,
    tags: bool = False,
    sample: int | None = None,
) -> TraceTable:
    """Return the columns of the selected traces in order of id.

    Args:
        store: the store.
        selection: which traces.
        digests: also the trace digests.
        tags: also the tags of task and trace together.
        sample: only the items of the sample in this row of the store.
    """
    columns: list[Any] = [
        TRACE.c.id,
        TRACE.c.repeat,
        TRACE.c.model,
        TRACE.c.condition,
        TRACE.c.state,
        TRACE.c.task_set,
        TRACE.c.task_id,
        DOMAIN,
        SUBSET,
        *([TASK.c.tags, TRACE.c.tags] if tags else []),
        *([TRACE.c.digest] if digests else []),
    ]
    tables, drawn, key = _within(TRACE_TASK, TRACE.c.id, sample)
    query = select(*columns).select_from(tables).where(*conditions(selection), *drawn)
    with store.reading(steady=True) as connection:
        (ids, repeat), texts = fetch(connection, query, TRACE.c.id if key is None else key, 2)
        keep = np.argsort(ids, kind="stable")
        if selection.digests is not None or selection.limit is not None:
            wanted, _ = selected(connection, selection, "id")
            keep = keep[np.isin(ids[keep], np.frombuffer(wanted, dtype=np.int64))]
    texts = [Coded(column.codes[keep], column.values) for column in texts]
    return TraceTable(
        id=ids[keep],
        model=_texts(texts[0]),
        condition=_texts(texts[1]),
        repeat=repeat[keep],
        state=texts[2].decoded(),
        task_set=_texts(texts[3]),
        task_id=_texts(texts[4]),
        domain=_texts(texts[5]),
        subset=_texts(texts[6]),
        digest=texts[-1].decoded() if digests else None,
        tags=together(texts[7:9]).decoded(_merged) if tags else None,
    )


def label_table(
    store: Store,
    question: str,
    raters: Sequence[str] | None = None,
    *,
    flags: bool = False,
    sample: int | None = None,
) -> LabelTable:
    """Return the labels in force for one question.

    Args:
        store: the store.
        question: question id.
        raters: rater digests in the order ``LabelTable.raters`` shall have; None takes every
            rater with a label for the question, in the order they were registered.
        flags: also the flags (a rule's facts such as ``called``).
        sample: only labels of the items of the sample in this row of the store.

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
        LABEL.c.flags if flags else cast(null(), Text).label("flags"),
    ]
    with store.reading(steady=True) as connection:
        ids = _rater_ids(store, connection, question, raters)
        tables, drawn, key = _within(LABEL, LABEL.c.trace_id, sample)
        query = (
            select(*columns)
            .select_from(tables)
            .where(LABEL.c.question == question, LABEL.c.rater_id.in_(list(ids.values())), *drawn)
        )
        (trace, rater_id, repeat, version), texts = fetch(
            connection, query, LABEL.c.id if key is None else key, 4
        )
    places = np.zeros(max(ids.values(), default=0) + 1, dtype=np.int64)
    places[list(ids.values())] = np.arange(len(ids))
    rater = places[rater_id]
    order = _in_force(trace, rater, repeat, version)
    kind = together(texts)
    kinds = np.empty((len(kind.values), 4), dtype=object)
    for code, (outcome, value, reason, stored) in enumerate(kind.values):
        kinds[code] = (outcome, _text(value), _text(reason), None)
        kinds[code, 3] = _flags(stored)
    codes = kind.codes[order]
    return LabelTable(
        question=question,
        raters=tuple(ids),
        trace=trace[order],
        rater=rater[order],
        repeat=repeat[order],
        version=version[order],
        outcome=kinds[codes, 0],
        value=kinds[codes, 1],
        reason=kinds[codes, 2],
        kind=codes,
        kinds=tuple(Kind(*row) for row in kinds.tolist()),
        flags=kinds[codes, 3] if flags else None,
    )


def _within(
    tables: FromClause, trace: ColumnElement[int], sample: int | None
) -> tuple[FromClause, list[ColumnElement[bool]], ColumnElement[int] | None]:
    """Join the items of a sample, if one is meant; pages are cut by their ids then."""
    if sample is None:
        return tables, [], None
    joined = tables.join(SAMPLE_ITEM, SAMPLE_ITEM.c.trace_id == trace)
    return joined, [SAMPLE_ITEM.c.sample_id == sample], SAMPLE_ITEM.c.id


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


def _text(stored: str | None) -> str | None:
    """Return the text of a ``SafeText`` cell."""
    return None if stored is None else decode_text(stored)


def _texts(column: Coded) -> Objects:
    """Return the texts of a ``SafeText`` column."""
    return column.decoded(_text)


def _flags(stored: str | None) -> tuple[str, ...]:
    """Return the flags of a stored list."""
    return () if stored is None else tuple(json.loads(stored))


def _merged(stored: tuple[str | None, str]) -> dict[str, Tag]:
    """Return the tags of task and trace together; the trace's own win."""
    of_task, own = stored
    merged: dict[str, Tag] = (json.loads(of_task) if of_task else {}) | json.loads(own)
    return merged


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
