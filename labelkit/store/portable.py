"""Review in a form that leaves the store and comes back: no row numbers, no names, no secrets.

Rows of review point at one another by numbers that mean nothing elsewhere. A record here names
traces and samples by digest, labels by their identity and people by whatever name the caller
gives them. Only what is finished travels: leases and drafts under way stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import Field
from sqlalchemy import Connection, select

from labelkit.domain.frozen import Frozen
from labelkit.errors import StoreError
from labelkit.store.engine import Store
from labelkit.store.leases import DONE, SKIPPED
from labelkit.store.review_tables import (
    ADJUDICATION,
    ANNOTATION,
    ASSIGNMENT,
    SAMPLE,
    SAMPLE_ITEM,
    SUBMISSION,
)
from labelkit.store.selection import chunks
from labelkit.store.tables import LABEL, RATER, TRACE


class LabelName(Frozen):
    """The identity of a label within its trace."""

    rater: str
    question: str
    repeat: int
    version: int


class ActRecord(Frozen):
    """One act of a person on an item, with the labels that it wrote."""

    version: int
    round: int
    act: str
    active_ms: int
    guideline: str
    created_at: datetime
    labels: tuple[LabelName, ...] = ()


class ReviewRecord(Frozen):
    """An item that a person finished. ``person`` is the name the caller gave."""

    sample: str
    trace: str
    person: str
    repeat: int
    slot: int | None = None
    state: str
    round: int
    leased_at: datetime
    done_at: datetime | None = None
    acts: tuple[ActRecord, ...] = Field(default_factory=tuple)


class DecisionRecord(Frozen):
    """A decision on an item and question, every version."""

    sample: str
    trace: str
    question: str
    version: int
    person: str
    value: str | None = None
    reason: str
    tags: tuple[str, ...] = ()
    guideline_gap: bool = False
    labels: tuple[LabelName, ...] = ()
    seen: tuple[str, ...] = ()
    created_at: datetime


class ItemRecord(Frozen):
    """A drawn row of a sample."""

    trace: str
    stratum: str
    probability: float
    again: int | None = None


def reviews(store: Store, sample_id: str, names: Mapping[int, str]) -> list[ReviewRecord]:
    """Return the finished items of a sample by trace, person and repeat.

    Args:
        store: the store.
        sample_id: full id of the sample.
        names: what each person (by row id) is called in the records.
    """
    with store.reading(steady=True) as connection:
        key = sample_key(store, connection, sample_id)
        acts = _acts(connection, key)
        finished = connection.execute(
            select(ASSIGNMENT, TRACE.c.digest.label("trace"))
            .select_from(
                ASSIGNMENT.join(SAMPLE_ITEM, SAMPLE_ITEM.c.id == ASSIGNMENT.c.item_id).join(
                    TRACE, TRACE.c.id == SAMPLE_ITEM.c.trace_id
                )
            )
            .where(ASSIGNMENT.c.sample_id == key, ASSIGNMENT.c.state.in_((DONE, SKIPPED)))
        ).all()
    found = [
        ReviewRecord(
            sample=sample_id,
            trace=row.trace,
            person=names[row.person_id],
            repeat=row.repeat,
            slot=row.slot,
            state=row.state,
            round=row.round,
            leased_at=row.leased_at,
            done_at=row.done_at,
            acts=tuple(acts.get(row.id, ())),
        )
        for row in finished
    ]
    return sorted(found, key=lambda record: (record.trace, record.person, record.repeat))


def _acts(connection: Connection, key: int) -> dict[int, list[ActRecord]]:
    """The acts on every assignment of a sample, in order of version."""
    written: dict[int, list[LabelName]] = {}
    query = (
        select(
            ANNOTATION.c.submission_id,
            RATER.c.digest.label("rater"),
            LABEL.c.question,
            LABEL.c.repeat,
            LABEL.c.version,
        )
        .select_from(
            ANNOTATION.join(SUBMISSION, SUBMISSION.c.id == ANNOTATION.c.submission_id)
            .join(LABEL, LABEL.c.id == ANNOTATION.c.label_id)
            .join(RATER, RATER.c.id == LABEL.c.rater_id)
        )
        .where(SUBMISSION.c.sample_id == key)
        .order_by(ANNOTATION.c.submission_id, LABEL.c.question)
    )
    for row in connection.execute(query):
        name = LabelName(
            rater=row.rater, question=row.question, repeat=row.repeat, version=row.version
        )
        written.setdefault(row.submission_id, []).append(name)
    acts: dict[int, list[ActRecord]] = {}
    for row in connection.execute(
        select(SUBMISSION)
        .where(SUBMISSION.c.sample_id == key)
        .order_by(SUBMISSION.c.assignment_id, SUBMISSION.c.version)
    ):
        act = ActRecord(
            version=row.version,
            round=row.round,
            act=row.act,
            active_ms=row.active_ms,
            guideline=row.guideline,
            created_at=row.created_at,
            labels=tuple(sorted(written.get(row.id, ()), key=lambda n: n.question)),
        )
        acts.setdefault(row.assignment_id, []).append(act)
    return acts


def decisions(store: Store, sample_id: str, names: Mapping[int, str]) -> list[DecisionRecord]:
    """Return every decision of a sample by trace, question and version."""
    with store.reading(steady=True) as connection:
        key = sample_key(store, connection, sample_id)
        rows = connection.execute(
            select(ADJUDICATION, TRACE.c.digest.label("trace"))
            .select_from(
                ADJUDICATION.join(SAMPLE_ITEM, SAMPLE_ITEM.c.id == ADJUDICATION.c.item_id).join(
                    TRACE, TRACE.c.id == SAMPLE_ITEM.c.trace_id
                )
            )
            .where(ADJUDICATION.c.sample_id == key)
        ).all()
        labels = _names_of(connection, {label for row in rows for label in row.labels})
    found = [
        DecisionRecord(
            sample=sample_id,
            trace=row.trace,
            question=row.question,
            version=row.version,
            person=names[row.person_id],
            value=row.value,
            reason=row.reason,
            tags=row.tags,
            guideline_gap=row.guideline_gap,
            labels=tuple(
                sorted((labels[k] for k in row.labels), key=lambda n: (n.rater, n.repeat))
            ),
            seen=tuple(sorted(row.seen)),
            created_at=row.created_at,
        )
        for row in rows
    ]
    return sorted(found, key=lambda record: (record.trace, record.question, record.version))


def _names_of(connection: Connection, keys: set[int]) -> dict[int, LabelName]:
    found = {}
    for chunk in chunks(sorted(keys)):
        query = (
            select(
                LABEL.c.id,
                RATER.c.digest.label("rater"),
                LABEL.c.question,
                LABEL.c.repeat,
                LABEL.c.version,
            )
            .select_from(LABEL.join(RATER, RATER.c.id == LABEL.c.rater_id))
            .where(LABEL.c.id.in_(chunk))
        )
        for row in connection.execute(query):
            found[row.id] = LabelName(
                rater=row.rater, question=row.question, repeat=row.repeat, version=row.version
            )
    return found


def sample_key(store: Store, connection: Connection, sample_id: str) -> int:
    """Return the row of a sample by its full id.

    Raises:
        StoreError: there is none.
    """
    key = connection.execute(select(SAMPLE.c.id).where(SAMPLE.c.digest == sample_id)).scalar()
    if key is None:
        raise StoreError(f"the store {store.place} has no sample {sample_id}")
    return int(key)
