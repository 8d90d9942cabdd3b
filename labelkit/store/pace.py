"""How far people are: counts over leases and submissions, small enough to ask at every item."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, case, func, select

from labelkit.store.engine import Store
from labelkit.store.leases import DONE, SKIPPED
from labelkit.store.review_tables import ASSIGNMENT, SUBMISSION

_LAST = 50


@dataclass(frozen=True)
class SamplePace:
    """Counts of one person in one sample; ``active_ms`` of the last 50 submitted items.

    ``given`` are the labels of everybody (finished items without hidden repeats), ``had`` the
    items the person has had in hands, ``recent`` those finished since the moment asked for.
    """

    done: int
    skipped: int
    had: int
    given: int
    recent: int
    active_ms: tuple[int, ...]


def pace(store: Store, sample: int, person: int, since: datetime) -> SamplePace:
    """Return how far one person and everybody together are in a sample."""
    values = {"sample": sample, "person": person, "since": since}
    with store.reading() as connection:
        own = connection.execute(_OWN, values).one()
        given = connection.execute(_GIVEN, values).scalar_one()
        times = connection.execute(_TIMES, values).scalars().all()
    return SamplePace(
        done=own.done or 0,
        skipped=own.skipped or 0,
        had=own.had or 0,
        given=given,
        recent=own.recent or 0,
        active_ms=tuple(times),
    )


_FIRST = ASSIGNMENT.c.repeat == 0
_OWN = select(
    func.sum(case((ASSIGNMENT.c.state == DONE, 1), else_=0)).label("done"),
    func.sum(case((ASSIGNMENT.c.state == SKIPPED, 1), else_=0)).label("skipped"),
    func.sum(case((_FIRST, 1), else_=0)).label("had"),
    func.sum(
        case(
            ((ASSIGNMENT.c.state == DONE) & (ASSIGNMENT.c.done_at >= bindparam("since")), 1),
            else_=0,
        )
    ).label("recent"),
).where(
    ASSIGNMENT.c.sample_id == bindparam("sample"), ASSIGNMENT.c.person_id == bindparam("person")
)
_GIVEN = (
    select(func.count())
    .select_from(ASSIGNMENT)
    .where(ASSIGNMENT.c.sample_id == bindparam("sample"), _FIRST, ASSIGNMENT.c.state == DONE)
)
_TIMES = (
    select(SUBMISSION.c.active_ms)
    .where(
        SUBMISSION.c.person_id == bindparam("person"),
        SUBMISSION.c.sample_id == bindparam("sample"),
        SUBMISSION.c.act == "label",
    )
    .order_by(SUBMISSION.c.id.desc())
    .limit(_LAST)
)
