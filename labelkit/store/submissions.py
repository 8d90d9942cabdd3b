"""What people submit: one transaction per act, repeatable, and never for another trace.

An act inserts its labels, its submission and its annotations, moves the assignment on and deletes
the draft: all of it or nothing. The same request again changes nothing. An act names the trace it
was made on and is refused where the lease is for another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, select, update

from labelkit.digest import digest_text
from labelkit.domain.label import Label
from labelkit.errors import StoreError
from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.labels import append_in
from labelkit.store.leases import (
    DONE,
    OPEN,
    RELEASED,
    RETURNED,
    SKIPPED,
    Lease,
    free_slot,
    lease_in,
    set_lease,
    was_seen,
)
from labelkit.store.review_tables import ANNOTATION, ASSIGNMENT, DRAFT, SUBMISSION
from labelkit.store.samples import sample_lock


class Act(StrEnum):
    """``label`` and ``skip`` finish an item, ``undo`` takes the last act on it back."""

    LABEL = "label"
    SKIP = "skip"
    UNDO = "undo"


class Fate(StrEnum):
    """What became of an act.

    ``stored`` now, ``repeated`` (this very request was stored before), ``already`` (the item was
    finished before by another request; nothing was written), ``lost`` (the lease had expired and
    others took the item; nothing was written, the draft stays), ``seen`` (the person has seen
    what others said of the trace, so that no independent label can follow; nothing was written).
    """

    STORED = "stored"
    REPEATED = "repeated"
    ALREADY = "already"
    LOST = "lost"
    SEEN = "seen"


@dataclass(frozen=True)
class Entry:
    """One act as it is to be written. ``labels`` are of one rater and one repeat."""

    request_id: str
    lease: int
    sample: int
    person: int
    overlap: int
    trace: str
    act: Act
    labels: Sequence[Label]
    guideline: str
    active_ms: int
    now: datetime
    length: timedelta
    draft: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Receipt:
    """What was written. ``version`` is the act's number on this item, from 0."""

    fate: Fate
    version: int | None


def write(store: Store, entry: Entry) -> Receipt:
    """Write one act in one transaction.

    Raises:
        StoreError: the lease is another person's or for another trace, the request id was used
            for another item, or the store cannot be written. Nothing is written then.
    """
    with store.writing(sample_lock(entry.sample)) as connection:
        before = _earlier(connection, entry)
        if before is not None:
            return Receipt(Fate.REPEATED, before)
        lease = _own_lease(store, connection, entry)
        finished = lease.state in {DONE, SKIPPED}
        if finished != (entry.act is Act.UNDO):
            return Receipt(Fate.ALREADY, _last_version(connection, lease.key))
        if lease.round == 0 and was_seen(connection, lease):
            return Receipt(Fate.SEEN, _last_version(connection, lease.key))
        slot = lease.slot
        if slot is None and not lease.repeat and entry.act is not Act.SKIP:
            slot = free_slot(connection, lease.item, entry.overlap)
            if slot is None:
                return Receipt(Fate.LOST, None)
        version = _append(store, connection, entry, lease)
        _move_on(connection, entry, lease, slot)
        return Receipt(Fate.STORED, version)


def _earlier(connection: Connection, entry: Entry) -> int | None:
    """Return the version that this very request has written before, or None."""
    query = select(SUBMISSION).where(SUBMISSION.c.request_key == request_key(entry.request_id))
    row = connection.execute(query).first()
    if row is None:
        return None
    if (row.person_id, row.assignment_id, row.act) != (entry.person, entry.lease, entry.act.value):
        raise StoreError(
            "this request id was used for another item; send every choice under an id of its own"
        )
    return int(row.version)


def repeated(store: Store, request_id: str, person: int) -> Receipt | None:
    """Return the receipt of a request that the person has made before, or None."""
    query = select(SUBMISSION.c.version).where(
        SUBMISSION.c.request_key == request_key(request_id), SUBMISSION.c.person_id == person
    )
    with store.reading() as connection:
        version = connection.execute(query).scalar()
    return None if version is None else Receipt(Fate.REPEATED, version)


def request_key(request_id: str) -> str:
    """Return what is kept of a request id, which may be any text."""
    return digest_text(request_id)


def _own_lease(store: Store, connection: Connection, entry: Entry) -> Lease:
    lease = lease_in(connection, entry.lease)
    if lease is None or lease.person != entry.person or lease.sample != entry.sample:
        raise StoreError(
            f"this item is not in your hands in the store {store.place}; load the page again"
        )
    if lease.trace != entry.trace:
        raise StoreError(
            f"the choice was made on the trace {entry.trace[:12]}, but the item is"
            f" {lease.trace[:12]}; nothing was stored, load the page again"
        )
    return lease


def _last_version(connection: Connection, assignment: int) -> int | None:
    query = select(func.max(SUBMISSION.c.version)).where(SUBMISSION.c.assignment_id == assignment)
    return connection.execute(query).scalar()


def _append(store: Store, connection: Connection, entry: Entry, lease: Lease) -> int:
    """Write submission, labels and annotations; return the version."""
    last = _last_version(connection, lease.key)
    version = 0 if last is None else last + 1
    row = {
        "request_key": request_key(entry.request_id),
        "assignment_id": lease.key,
        "sample_id": lease.sample,
        "item_id": lease.item,
        "person_id": lease.person,
        "repeat": lease.repeat,
        "version": version,
        "round": lease.round,
        "act": entry.act.value,
        "active_ms": entry.active_ms,
        "guideline": entry.guideline,
        "created_at": entry.now,
    }
    made = connection.execute(SUBMISSION.insert().values(**row)).inserted_primary_key
    labels = append_in(store, connection, entry.labels)
    notes = [
        {"submission_id": made[0] if made else None, "question": question, "label_id": label}
        for question, label in labels.items()
    ]
    insert_new(connection, ANNOTATION, notes)
    return version


def _move_on(connection: Connection, entry: Entry, lease: Lease, slot: int | None) -> None:
    """Move the assignment on, then replace the draft: a save side by side waits for the first."""
    if entry.act is Act.UNDO:
        set_lease(
            connection,
            lease.key,
            state=OPEN,
            slot=slot,
            done_at=None,
            leased_at=entry.now,
            expires_at=entry.now + entry.length,
        )
    elif entry.act is Act.SKIP:
        set_lease(connection, lease.key, state=SKIPPED, slot=None, done_at=entry.now)
    else:
        set_lease(connection, lease.key, state=DONE, slot=slot, done_at=entry.now, message=None)
    connection.execute(delete(DRAFT).where(DRAFT.c.assignment_id == lease.key))
    if entry.draft is not None:
        _put_draft(connection, lease.key, entry.draft, entry.now)


def save_draft(
    store: Store, lease: int, person: int, body: Mapping[str, Any], now: datetime
) -> bool:
    """Keep what was begun; False (and nothing kept) when the item is finished or not the person's.

    A save that arrives late, after the choice, therefore never brings a draft back.
    """
    with store.writing() as connection:
        query = select(ASSIGNMENT.c.id).where(
            ASSIGNMENT.c.id == lease,
            ASSIGNMENT.c.person_id == person,
            ASSIGNMENT.c.state.in_((OPEN, RELEASED, RETURNED)),
        )
        # On PostgreSQL a submission of the same item waits for this row, or this for it.
        if connection.execute(query.with_for_update()).first() is None:
            return False
        _put_draft(connection, lease, body, now)
        return True


def _put_draft(connection: Connection, lease: int, body: Mapping[str, Any], now: datetime) -> None:
    row = {"assignment_id": lease, "saved_at": now, "body": dict(body)}
    if not insert_new(connection, DRAFT, [row]):
        changed = update(DRAFT).where(DRAFT.c.assignment_id == lease)
        connection.execute(changed.values(saved_at=now, body=dict(body)))


def draft(store: Store, lease: int) -> dict[str, Any] | None:
    """Return the draft of a lease, or None."""
    with store.reading() as connection:
        found = connection.execute(_DRAFT, {"lease": lease}).scalar()
    return None if found is None else dict(found)


def last_finished(store: Store, sample: int, person: int) -> int | None:
    """Return the assignment that the person finished last in a sample, or None."""
    query = (
        select(ASSIGNMENT.c.id)
        .where(
            ASSIGNMENT.c.sample_id == sample,
            ASSIGNMENT.c.person_id == person,
            ASSIGNMENT.c.state.in_((DONE, SKIPPED)),
        )
        .order_by(ASSIGNMENT.c.done_at.desc(), ASSIGNMENT.c.id.desc())
        .limit(1)
    )
    with store.reading() as connection:
        return connection.execute(query).scalar()


def submissions_of(store: Store, assignment: int) -> list[Row[Any]]:
    """Return the acts on an assignment in order, each with its version, act, round and time."""
    query = (
        select(SUBMISSION)
        .where(SUBMISSION.c.assignment_id == assignment)
        .order_by(SUBMISSION.c.version)
    )
    with store.reading() as connection:
        return list(connection.execute(query).all())


_DRAFT = select(DRAFT.c.body).where(DRAFT.c.assignment_id == bindparam("lease"))
