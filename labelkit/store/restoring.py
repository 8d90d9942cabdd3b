"""Portable review records put into a store; what the store has already stays as it is.

The counterpart of ``portable``. Request keys are made anew from the records, so that restoring the
same records twice writes nothing the second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from labelkit.digest import canonical_json, digest
from labelkit.domain.sample import Design
from labelkit.errors import StoreError
from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.portable import DecisionRecord, ItemRecord, LabelName, ReviewRecord, sample_key
from labelkit.store.review_tables import (
    ADJUDICATION,
    ANNOTATION,
    ASSIGNMENT,
    SAMPLE,
    SAMPLE_ITEM,
    SUBMISSION,
)
from labelkit.store.samples import add_sample, sample
from labelkit.store.selection import chunks
from labelkit.store.tables import LABEL, RATER, TRACE

_LOCK = 0x6C61_6265_6C04


def restore_sample(
    store: Store,
    design: Design,
    items: Sequence[ItemRecord],
    frame: Sequence[str],
    guideline: str,
    created_at: datetime,
) -> str:
    """Put a sample back as it was drawn, closed: nothing more is given out. Returns its id.

    Args:
        store: the store.
        design: the sample's design.
        items: its rows, in order.
        frame: digests of the traces that it was drawn from. They are told from others by the
            order of import, so the frame is exact in a store that held no other trace before.
        guideline: digest of the rubric in force.
        created_at: when it was drawn.

    Raises:
        StoreError: a trace of it is not in the store.
    """
    last = max(_trace_keys(store, frame).values(), default=0)
    traces = _trace_keys(store, [item.trace for item in items])
    rows = [(traces[i.trace], i.stratum, i.probability, i.again) for i in items]
    add_sample(store, design, last, rows)
    found = sample(store, design.digest)
    with store.writing(_LOCK) as connection:
        connection.execute(
            SAMPLE.update()
            .where(SAMPLE.c.id == found.key, SAMPLE.c.closed_at.is_(None))
            .values(guideline=guideline, created_at=created_at, closed_at=created_at)
        )
    return found.id


def restore_reviews(
    store: Store, records: Sequence[ReviewRecord], people: Mapping[str, int]
) -> None:
    """Put finished items back; what the store has already stays as it is.

    Args:
        store: the store; samples, traces, raters and labels of the records are in it.
        records: the records.
        people: row id by the name used in the records.

    Raises:
        StoreError: something that a record names is not in the store.
    """
    places = _Places(store, [record.sample for record in records])
    with store.writing(_LOCK) as connection:
        for page in chunks(records):
            named = [(r.trace, name) for r in page for act in r.acts for name in act.labels]
            labels = _label_keys(store, connection, named)
            taken = _assignments(connection, places, page)
            fresh = [record for record in page if places.key(record, people) not in taken]
            rows = [_assignment(record, places, people) for record in fresh]
            insert_new(connection, ASSIGNMENT, rows)
            made = _assignments(connection, places, fresh)
            # A place that somebody else holds by now stays theirs, and the record is left out.
            kept = [record for record in fresh if places.key(record, people) in made]
            _restore_acts(
                connection, [(record, made[places.key(record, people)]) for record in kept], labels
            )


def _assignment(record: ReviewRecord, places: _Places, people: Mapping[str, int]) -> dict[str, Any]:
    sample_row, item = places.item(record.sample, record.trace)
    return {
        "sample_id": sample_row,
        "item_id": item,
        "person_id": people[record.person],
        "repeat": record.repeat,
        "slot": record.slot,
        "state": record.state,
        "round": record.round,
        "message": None,
        "leased_at": record.leased_at,
        "expires_at": record.done_at or record.leased_at,
        "done_at": record.done_at,
    }


def _assignments(
    connection: Connection, places: _Places, records: Sequence[ReviewRecord]
) -> dict[tuple[int, int, int], Row[Any]]:
    """The assignments of the records' items by item, person and repeat."""
    items = {places.item(record.sample, record.trace)[1] for record in records}
    columns = ("id", "sample_id", "item_id", "person_id", "repeat")
    query = select(*(ASSIGNMENT.c[name] for name in columns)).where(
        ASSIGNMENT.c.item_id.in_(sorted(items))
    )
    return {(row.item_id, row.person_id, row.repeat): row for row in connection.execute(query)}


def _restore_acts(
    connection: Connection,
    restored: Sequence[tuple[ReviewRecord, Row[Any]]],
    labels: Mapping[tuple[str, LabelName], int],
) -> None:
    """Write the acts of assignments that were just made, and which labels they wrote."""
    acts = [(record, row, act) for record, row in restored for act in record.acts]
    same = ("sample_id", "item_id", "person_id", "repeat")
    rows = [
        {
            **{name: getattr(row, name) for name in same},
            "request_key": digest(
                {**record.model_dump(mode="json", exclude={"acts"}), "version": act.version}
            ),
            "assignment_id": row.id,
            **act.model_dump(exclude={"labels"}),
        }
        for record, row, act in acts
    ]
    insert_new(connection, SUBMISSION, rows)
    query = select(SUBMISSION.c.id, SUBMISSION.c.assignment_id, SUBMISSION.c.version).where(
        SUBMISSION.c.assignment_id.in_([row.id for _, row in restored])
    )
    made = {(row.assignment_id, row.version): row.id for row in connection.execute(query)}
    notes = [
        {
            "submission_id": made[row.id, act.version],
            "question": name.question,
            "label_id": labels[record.trace, name],
        }
        for record, row, act in acts
        for name in act.labels
    ]
    insert_new(connection, ANNOTATION, notes)


def restore_decisions(
    store: Store, records: Sequence[DecisionRecord], people: Mapping[str, int]
) -> None:
    """Put decisions back; what the store has already stays as it is.

    Raises:
        StoreError: something that a record names is not in the store.
    """
    places = _Places(store, [record.sample for record in records])
    with store.writing(_LOCK) as connection:
        for page in chunks(records):
            named = [(record.trace, name) for record in page for name in record.labels]
            labels = _label_keys(store, connection, named)
            rows = [_decision(record, places, people, labels) for record in page]
            insert_new(connection, ADJUDICATION, rows)


def _decision(
    record: DecisionRecord,
    places: _Places,
    people: Mapping[str, int],
    labels: Mapping[tuple[str, LabelName], int],
) -> dict[str, Any]:
    sample_row, item = places.item(record.sample, record.trace)
    return {
        "request_key": digest(record.model_dump(mode="json")),
        "sample_id": sample_row,
        "item_id": item,
        "question": record.question,
        "version": record.version,
        "person_id": people[record.person],
        "value": record.value,
        "reason": record.reason,
        "tags": list(record.tags),
        "guideline_gap": record.guideline_gap,
        "labels": [labels[record.trace, name] for name in record.labels],
        "seen": list(record.seen),
        "created_at": record.created_at,
    }


def _label_keys(
    store: Store, connection: Connection, named: Sequence[tuple[str, LabelName]]
) -> dict[tuple[str, LabelName], int]:
    """Return the row ids of labels by trace and name.

    Raises:
        StoreError: the store has no such label.
    """
    query = select(
        LABEL.c.id,
        TRACE.c.digest.label("trace"),
        RATER.c.digest.label("rater"),
        LABEL.c.question,
        LABEL.c.repeat,
        LABEL.c.version,
    ).select_from(
        LABEL.join(TRACE, TRACE.c.id == LABEL.c.trace_id).join(
            RATER, RATER.c.id == LABEL.c.rater_id
        )
    )
    raters = sorted({name.rater for _, name in named})
    found: dict[tuple[str, LabelName], int] = {}
    for chunk in chunks(sorted({trace for trace, _ in named})):
        wanted = query.where(TRACE.c.digest.in_(chunk), RATER.c.digest.in_(raters))
        for row in connection.execute(wanted):
            name = LabelName(
                rater=row.rater, question=row.question, repeat=row.repeat, version=row.version
            )
            found[row.trace, name] = row.id
    missing = next((key for key in named if key not in found), None)
    if missing is not None:
        trace, name = missing
        raise StoreError(
            f"the store {store.place} has no label {canonical_json(name.model_dump())} of the"
            f" trace {trace}; restore the labels first"
        )
    return found


class _Places:
    """Where the items of samples are in this store."""

    def __init__(self, store: Store, samples: Iterable[str]) -> None:
        self._store = store
        self._keys: dict[str, int] = {}
        self._items: dict[tuple[str, str], int] = {}
        for sample_id in sorted(set(samples)):
            with store.reading() as connection:
                key = sample_key(store, connection, sample_id)
                rows = connection.execute(
                    select(SAMPLE_ITEM.c.id, TRACE.c.digest)
                    .select_from(SAMPLE_ITEM.join(TRACE, TRACE.c.id == SAMPLE_ITEM.c.trace_id))
                    .where(SAMPLE_ITEM.c.sample_id == key)
                ).all()
            self._keys[sample_id] = key
            self._items.update({(sample_id, row.digest): row.id for row in rows})

    def item(self, sample_id: str, trace: str) -> tuple[int, int]:
        """Return the row ids of the sample and of the item.

        Raises:
            StoreError: the sample has no such trace.
        """
        try:
            return self._keys[sample_id], self._items[sample_id, trace]
        except KeyError:
            raise StoreError(
                f"the sample {sample_id[:12]} has no trace {trace}; the records do not fit it"
            ) from None

    def key(self, record: ReviewRecord, people: Mapping[str, int]) -> tuple[int, int, int]:
        """Return what identifies the record's assignment: item, person and repeat."""
        return self.item(record.sample, record.trace)[1], people[record.person], record.repeat


def _trace_keys(store: Store, digests: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    with store.reading() as connection:
        for chunk in chunks(sorted(set(digests))):
            query = select(TRACE.c.digest, TRACE.c.id).where(TRACE.c.digest.in_(chunk))
            found.update({row.digest: row.id for row in connection.execute(query)})
    missing = [digest for digest in digests if digest not in found]
    if missing:
        raise StoreError(
            f"the store {store.place} has no trace {missing[0]} (and {len(missing) - 1} more) of"
            " the sample; import the traces first"
        )
    return found
