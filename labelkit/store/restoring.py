"""Portable review records put into a store; what the store has already stays as it is.

The counterpart of ``portable``. Request keys are made anew from the records, so that restoring the
same records twice writes nothing the second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

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
        for record in records:
            sample_row, item = places.item(record.sample, record.trace)
            row = {
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
            if insert_new(connection, ASSIGNMENT, [row]):
                _restore_acts(store, connection, record, row)


def _restore_acts(
    store: Store, connection: Connection, record: ReviewRecord, assignment: Mapping[str, Any]
) -> None:
    wanted = ("item_id", "person_id", "repeat")
    key = connection.execute(
        select(ASSIGNMENT.c.id).where(*(ASSIGNMENT.c[name] == assignment[name] for name in wanted))
    ).scalar_one()
    for act in record.acts:
        body = {**record.model_dump(mode="json", exclude={"acts"}), "version": act.version}
        row = {
            **{name: assignment[name] for name in ("sample_id", *wanted)},
            "request_key": digest(body),
            "assignment_id": key,
            **act.model_dump(exclude={"labels"}),
        }
        made = connection.execute(SUBMISSION.insert().values(**row)).inserted_primary_key
        labels = _label_keys(store, connection, record.trace, act.labels)
        notes = [
            {
                "submission_id": made[0] if made else None,
                "question": name.question,
                "label_id": label,
            }
            for name, label in zip(act.labels, labels, strict=True)
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
        for record in records:
            sample_row, item = places.item(record.sample, record.trace)
            row = {
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
                "labels": _label_keys(store, connection, record.trace, record.labels),
                "seen": list(record.seen),
                "created_at": record.created_at,
            }
            insert_new(connection, ADJUDICATION, [row])


def _label_keys(
    store: Store, connection: Connection, trace: str, names: Iterable[LabelName]
) -> list[int]:
    keys = []
    for name in names:
        key = connection.execute(
            select(LABEL.c.id)
            .select_from(
                LABEL.join(TRACE, TRACE.c.id == LABEL.c.trace_id).join(
                    RATER, RATER.c.id == LABEL.c.rater_id
                )
            )
            .where(
                TRACE.c.digest == trace,
                RATER.c.digest == name.rater,
                LABEL.c.question == name.question,
                LABEL.c.repeat == name.repeat,
                LABEL.c.version == name.version,
            )
        ).scalar()
        if key is None:
            raise StoreError(
                f"the store {store.place} has no label {canonical_json(name.model_dump())} of the"
                f" trace {trace}; restore the labels first"
            )
        keys.append(int(key))
    return keys


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
        """Row ids of the sample and of the item.

        Raises:
            StoreError: the sample has no such trace.
        """
        try:
            return self._keys[sample_id], self._items[sample_id, trace]
        except KeyError:
            raise StoreError(
                f"the sample {sample_id[:12]} has no trace {trace}; the records do not fit it"
            ) from None


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
