"""Counts for the overview: leases, labels by day and person. Grouped by the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, func, select

from labelkit.store.annotations import day_of
from labelkit.store.engine import Store
from labelkit.store.leases import DONE, OPEN
from labelkit.store.review_tables import ADJUDICATION, ASSIGNMENT, SUBMISSION

_LAST = 200


@dataclass(frozen=True)
class SampleTally:
    """Leases of one sample; hidden repeats are counted in ``repeats`` alone.

    ``states`` counts assignments by state; ``abandoned`` are open ones that have expired.
    ``labelled`` maps a number of labels to the items that have so many. ``decided`` counts cases.
    """

    states: dict[str, int]
    abandoned: int
    repeats: int
    labelled: dict[int, int]
    decided: int


@dataclass(frozen=True)
class PersonTally:
    """What one person has submitted; ``active_ms`` of the last 200 labels, newest first."""

    labels: int
    skips: int
    undone: int
    last: datetime | None
    active_ms: tuple[int, ...]


def sample_tallies(store: Store, now: datetime) -> dict[int, SampleTally]:
    """Return the tally of every sample that somebody has begun, by its row."""
    late = (ASSIGNMENT.c.state == OPEN) & (ASSIGNMENT.c.expires_at < now)
    leases = select(
        ASSIGNMENT.c.sample_id,
        ASSIGNMENT.c.state,
        ASSIGNMENT.c.repeat,
        func.count(),
        func.sum(case((late, 1), else_=0)),
    ).group_by(ASSIGNMENT.c.sample_id, ASSIGNMENT.c.state, ASSIGNMENT.c.repeat)
    per_item = (
        select(ASSIGNMENT.c.sample_id, ASSIGNMENT.c.item_id, func.count().label("labels"))
        .where(ASSIGNMENT.c.state == DONE, ASSIGNMENT.c.repeat == 0)
        .group_by(ASSIGNMENT.c.sample_id, ASSIGNMENT.c.item_id)
        .subquery()
    )
    items = select(per_item.c.sample_id, per_item.c.labels, func.count()).group_by(
        per_item.c.sample_id, per_item.c.labels
    )
    cases = select(ADJUDICATION.c.sample_id, func.count(ADJUDICATION.c.item_id.distinct()))
    with store.reading(steady=True) as connection:
        held = connection.execute(leases).all()
        labelled = connection.execute(items).all()
        ruled = connection.execute(cases.group_by(ADJUDICATION.c.sample_id)).all()
    decided: dict[int, int] = {row[0]: row[1] for row in ruled}
    out: dict[int, SampleTally] = {}
    for sample in {row[0] for row in held}:
        mine = [row for row in held if row[0] == sample]
        states: dict[str, int] = {}
        for _, state, repeat, count, _late in mine:
            if not repeat:
                states[state] = states.get(state, 0) + count
        out[sample] = SampleTally(
            states=states,
            abandoned=sum(int(row[4]) for row in mine if not row[2]),
            repeats=sum(row[3] for row in mine if row[2] and row[1] == DONE),
            labelled={row[1]: row[2] for row in labelled if row[0] == sample},
            decided=decided.get(sample, 0),
        )
    return out


def person_tallies(store: Store) -> dict[int, PersonTally]:
    """Return the tally of everybody who has submitted anything, by person."""
    acts = select(
        SUBMISSION.c.person_id, SUBMISSION.c.act, func.count(), func.max(SUBMISSION.c.created_at)
    ).group_by(SUBMISSION.c.person_id, SUBMISSION.c.act)
    out: dict[int, PersonTally] = {}
    with store.reading(steady=True) as connection:
        rows = connection.execute(acts).all()
        for person in {row[0] for row in rows}:
            counts = {row[1]: row[2] for row in rows if row[0] == person}
            times = (
                select(SUBMISSION.c.active_ms)
                .where(SUBMISSION.c.person_id == person, SUBMISSION.c.act == "label")
                .order_by(SUBMISSION.c.id.desc())
                .limit(_LAST)
            )
            out[person] = PersonTally(
                labels=counts.get("label", 0),
                skips=counts.get("skip", 0),
                undone=counts.get("undo", 0),
                last=max(row[3] for row in rows if row[0] == person),
                active_ms=tuple(connection.execute(times).scalars()),
            )
    return out


def labels_by_day(store: Store) -> list[tuple[str, int, int]]:
    """Return (UTC day, person, labels submitted), ascending."""
    inner = (
        select(day_of(store.dialect).label("day"), SUBMISSION.c.person_id)
        .where(SUBMISSION.c.act == "label")
        .subquery()
    )
    key = (inner.c.day, inner.c.person_id)
    query = select(*key, func.count()).group_by(*key).order_by(*key)
    with store.reading() as connection:
        return [(row[0], row[1], row[2]) for row in connection.execute(query)]
