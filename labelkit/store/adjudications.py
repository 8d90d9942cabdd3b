"""Decisions in the store, and who has seen whose labels. Both are append-only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, select, update

from labelkit.domain.adjudication import Decision
from labelkit.errors import StoreError
from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.leases import DONE, OPEN, forgo
from labelkit.store.review_tables import (
    ADJUDICATION,
    ASSIGNMENT,
    SAMPLE,
    SAMPLE_ITEM,
    SIGHTING,
)
from labelkit.store.samples import sample_lock
from labelkit.store.submissions import Fate, request_key
from labelkit.store.tables import TRACE

_AT_ONCE = 500


@dataclass(frozen=True)
class Ruling:
    """A decision as it is to be written; ``version`` is the number it expects to get."""

    request_id: str
    sample: int
    item: int
    question: str
    version: int
    person: int
    value: str | None
    reason: str
    tags: Sequence[str]
    guideline_gap: bool
    labels: Sequence[int]
    seen: Sequence[str]
    now: datetime


def decide(store: Store, ruling: Ruling) -> Fate:
    """Write a decision: ``stored``, ``repeated`` (this request), or ``already`` by somebody else.

    ``already``: a decision of this version exists, so the person has not seen it; nothing is
    written.

    Raises:
        StoreError: the request id was used for another case, or the store cannot be written.
    """
    key = request_key(ruling.request_id)
    row = {
        "request_key": key,
        "sample_id": ruling.sample,
        "item_id": ruling.item,
        "question": ruling.question,
        "version": ruling.version,
        "person_id": ruling.person,
        "value": ruling.value,
        "reason": ruling.reason,
        "tags": list(ruling.tags),
        "guideline_gap": ruling.guideline_gap,
        "labels": list(ruling.labels),
        "seen": list(ruling.seen),
        "created_at": ruling.now,
    }
    earlier = select(ADJUDICATION).where(ADJUDICATION.c.request_key == key)
    with store.writing(sample_lock(ruling.sample)) as connection:
        before = connection.execute(earlier).first()
        if before is not None:
            same = (before.item_id, before.question, before.person_id)
            if same != (ruling.item, ruling.question, ruling.person):
                raise StoreError(
                    "this request id was used for another case; send every decision under an id"
                    " of its own"
                )
            return Fate.REPEATED
        return Fate.STORED if insert_new(connection, ADJUDICATION, [row]) else Fate.ALREADY


def decisions(
    store: Store,
    sample: int,
    question: str | None = None,
    *,
    item: int | None = None,
    history: bool = False,
) -> list[Decision]:
    """Return the decisions of a sample in force, in order of time; with ``history`` all of them."""
    query = (
        select(ADJUDICATION, TRACE.c.digest.label("trace"), SAMPLE.c.digest.label("sample"))
        .select_from(
            ADJUDICATION.join(SAMPLE_ITEM, SAMPLE_ITEM.c.id == ADJUDICATION.c.item_id)
            .join(TRACE, TRACE.c.id == SAMPLE_ITEM.c.trace_id)
            .join(SAMPLE, SAMPLE.c.id == ADJUDICATION.c.sample_id)
        )
        .where(ADJUDICATION.c.sample_id == sample)
        .order_by(ADJUDICATION.c.id)
    )
    if question is not None:
        query = query.where(ADJUDICATION.c.question == question)
    if item is not None:
        query = query.where(ADJUDICATION.c.item_id == item)
    with store.reading() as connection:
        every = [_read(row) for row in connection.execute(query)]
    if history:
        return every
    return list({(one.item, one.question): one for one in every}.values())


def _read(row: Row[Any]) -> Decision:
    return Decision(
        sample=row.sample,
        item=row.item_id,
        trace=row.trace,
        question=row.question,
        version=row.version,
        person=row.person_id,
        value=row.value,
        reason=row.reason,
        tags=tuple(row.tags),
        guideline_gap=row.guideline_gap,
        labels=tuple(row.labels),
        seen=tuple(row.seen),
        created_at=row.created_at,
    )


def note_sightings(
    store: Store, person: int, traces: Sequence[str], what: str, now: datetime
) -> None:
    """Record that a person has seen what others said of traces (``case``, or a rater's digest).

    What the person had in hands of them to label blind is taken back, see ``leases.forgo``.

    Raises:
        StoreError: a trace is not in the store.
    """
    for start in range(0, len(traces), _AT_ONCE):
        some = list(dict.fromkeys(traces[start : start + _AT_ONCE]))
        with store.reading() as connection:
            found = connection.execute(
                select(TRACE.c.id, TRACE.c.digest).where(TRACE.c.digest.in_(some))
            ).all()
            known = select(SIGHTING.c.trace_id).where(
                SIGHTING.c.person_id == person,
                SIGHTING.c.what == what,
                SIGHTING.c.trace_id.in_([row.id for row in found]),
            )
            seen = set(connection.execute(known).scalars())
        missing = set(some) - {row.digest for row in found}
        if missing:
            raise StoreError(f"the store {store.place} has no trace {min(missing)}")
        rows = [
            {"person_id": person, "trace_id": row.id, "what": what, "at": now}
            for row in found
            if row.id not in seen
        ]
        # A page that looks again at what was seen before waits for nobody's writing.
        if rows:
            with store.writing() as connection:
                insert_new(connection, SIGHTING, rows)
        forgo(store, person, some)


def sightings(store: Store, person: int, trace: str) -> list[str]:
    """Return what a person has seen of a trace, in the order it was seen."""
    query = (
        select(SIGHTING.c.what)
        .select_from(SIGHTING.join(TRACE, TRACE.c.id == SIGHTING.c.trace_id))
        .where(SIGHTING.c.person_id == person, TRACE.c.digest == trace)
        .order_by(SIGHTING.c.id)
    )
    with store.reading() as connection:
        return list(connection.execute(query).scalars())


def ask_again(
    store: Store, sample: int, item: int, message: str, now: datetime, until: datetime
) -> int:
    """Give an item back to everybody who labelled it, with a message, as a new round.

    Their labels stay; what they say now counts as revised and is left out of agreement. They keep
    their slots. Returns the number of people asked.
    """
    mine = (ASSIGNMENT.c.item_id == item) & (ASSIGNMENT.c.repeat == 0)
    with store.writing(sample_lock(sample)) as connection:
        changed = update(ASSIGNMENT).where(mine, ASSIGNMENT.c.state == DONE)
        asked = connection.execute(
            changed.values(
                state=OPEN,
                round=ASSIGNMENT.c.round + 1,
                message=message,
                leased_at=now,
                expires_at=until,
                done_at=None,
            )
        )
        return asked.rowcount


def tag_counts(store: Store) -> dict[str, int]:
    """Return the tags of all decisions with how often each was given, most frequent first."""
    with store.reading() as connection:
        rows = connection.execute(select(ADJUDICATION.c.tags)).scalars().all()
    counts: dict[str, int] = {}
    for tags in rows:
        for tag in tags:
            counts[tag] = counts.get(tag, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def in_hands(store: Store, item: int, person: int) -> bool:
    """Whether the person is about to label the item."""
    query = select(func.count()).where(
        ASSIGNMENT.c.item_id == item,
        ASSIGNMENT.c.person_id == person,
        ASSIGNMENT.c.state == OPEN,
    )
    with store.reading() as connection:
        return bool(connection.execute(query).scalar_one())
