"""Leases: who has which item of a sample in hands, never more people than the overlap.

A lease is a row of ``assignment``. It holds one of ``overlap`` slots of its item while it is open
or done; (item, slot) and (item, person, repeat) are unique, so the database itself refuses a
surplus person and a second go. Changes of one sample take turns. A lease that expired keeps its
slot until somebody else needs work; then it returns to the pool and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    bindparam,
    exists,
    func,
    select,
    update,
)

from labelkit.store.engine import Store
from labelkit.store.review_tables import ASSIGNMENT, SAMPLE_ITEM, SIGHTING
from labelkit.store.samples import sample_lock
from labelkit.store.tables import TRACE

OPEN, DONE, SKIPPED = "open", "done", "skipped"
RELEASED = "released"
"""The lease expired; the person gets the item back if nobody else has taken the slot."""
RETURNED = "returned"
"""The person gave the item back and gets it again only when nothing else is left."""
SEEN = "seen"
"""The person saw what others said of it, so that it is never labelled blind: not offered again."""


@dataclass(frozen=True)
class Lease:
    """An item in a person's hands. ``key`` is the assignment's row, ``trace`` a digest."""

    key: int
    sample: int
    item: int
    trace_id: int
    trace: str
    person: int
    repeat: int
    slot: int | None
    state: str
    round: int
    message: str
    leased_at: datetime
    expires_at: datetime
    done_at: datetime | None


@dataclass(frozen=True)
class Turn:
    """What giving out an item depends on.

    ``order`` is the person's own order of positions; ``repeats`` whether some items come twice.
    """

    sample: int
    person: int
    overlap: int
    order: Sequence[int]
    now: datetime
    length: timedelta
    repeats: bool = True


def take(store: Store, turn: Turn) -> Lease | None:
    """Give the person an item: the one in hands, else the next one; None when nothing is left."""
    held = in_hands(store, turn.sample, turn.person)
    if held is not None and held.expires_at - turn.now > turn.length / 2:
        return held
    with store.writing(sample_lock(turn.sample)) as connection:
        key = _held(connection, turn)
        if key is None:
            _release_expired(connection, turn)
            key = _again(connection, turn)
        if key is None:
            key = _taken_back(connection, turn, RELEASED)
        if key is None:
            key = _fresh(connection, turn)
        if key is None:
            key = _again(connection, turn, late=True)
        if key is None:
            key = _taken_back(connection, turn, RETURNED)
        return None if key is None else lease_in(connection, key)


def in_hands(store: Store, sample: int, person: int) -> Lease | None:
    """Return the lease the person works on: the open one begun last, or None."""
    with store.reading() as connection:
        row = connection.execute(_HELD, {"sample": sample, "person": person}).first()
    return None if row is None else _read(row)


def give_back(store: Store, sample: int, key: int) -> bool:
    """Put an open item back into the pool; False when it is not open any more."""
    with store.writing(sample_lock(sample)) as connection:
        found = lease_in(connection, key)
        if found is None or found.state != OPEN:
            return False
        set_lease(connection, key, state=RETURNED, slot=None)
        return True


def forgo(store: Store, person: int, traces: Sequence[str]) -> int:
    """Take unlabelled items out of the hands of a person who has seen what others said of them.

    Their slots are free for others. What was sent back to the person stays: such a second answer
    counts as none that is independent. Returns how many items were taken.
    """
    waiting = (
        select(ASSIGNMENT.c.id, ASSIGNMENT.c.sample_id)
        .select_from(_JOINED)
        .where(
            ASSIGNMENT.c.person_id == person,
            ASSIGNMENT.c.round == 0,
            ASSIGNMENT.c.state.in_((OPEN, RELEASED, RETURNED)),
            TRACE.c.digest.in_(traces),
        )
    )
    with store.reading() as connection:
        found = connection.execute(waiting).all()
    taken = 0
    for sample in sorted({row.sample_id for row in found}):
        with store.writing(sample_lock(sample)) as connection:
            keys = [row.id for row in found if row.sample_id == sample]
            still = ASSIGNMENT.c.id.in_(keys) & ASSIGNMENT.c.state.in_((OPEN, RELEASED, RETURNED))
            taken += connection.execute(
                update(ASSIGNMENT).where(still).values(state=SEEN, slot=None)
            ).rowcount
    return taken


def was_seen(connection: Connection, lease: Lease) -> bool:
    """Whether the person of a lease has seen what others said of its trace."""
    query = select(func.count()).where(
        SIGHTING.c.person_id == lease.person, SIGHTING.c.trace_id == lease.trace_id
    )
    return bool(connection.execute(query).scalar_one())


def count_done(store: Store, sample: int, person: int) -> int:
    """Return how many items of a sample the person has finished, hidden repeats included."""
    with store.reading() as connection:
        return int(connection.execute(_DONE, {"sample": sample, "person": person}).scalar_one())


def lease(store: Store, key: int) -> Lease | None:
    """Return one assignment in whatever state, or None."""
    with store.reading() as connection:
        return lease_in(connection, key)


def lease_in(connection: Connection, key: int) -> Lease | None:
    """Return one assignment inside the caller's transaction."""
    row = connection.execute(_LEASE, {"key": key}).first()
    return None if row is None else _read(row)


def set_lease(connection: Connection, key: int, **values: Any) -> None:
    """Change an assignment inside the caller's transaction, which holds the sample's lock."""
    connection.execute(update(ASSIGNMENT).where(ASSIGNMENT.c.id == key).values(**values))


def free_slot(connection: Connection, item: int, overlap: int) -> int | None:
    """Return the lowest free slot of an item, or None."""
    query = select(ASSIGNMENT.c.slot).where(
        ASSIGNMENT.c.item_id == item, ASSIGNMENT.c.slot.is_not(None)
    )
    taken = set(connection.execute(query).scalars())
    return next((slot for slot in range(overlap) if slot not in taken), None)


def _held(connection: Connection, turn: Turn) -> int | None:
    """Lengthen the lease in hands."""
    row = connection.execute(_HELD, {"sample": turn.sample, "person": turn.person}).first()
    if row is None:
        return None
    set_lease(connection, row.id, expires_at=turn.now + turn.length)
    return int(row.id)


def _release_expired(connection: Connection, turn: Turn) -> None:
    """Return the items of people who went away."""
    expired = select(ASSIGNMENT.c.id).where(
        ASSIGNMENT.c.sample_id == turn.sample,
        ASSIGNMENT.c.state == OPEN,
        ASSIGNMENT.c.expires_at < turn.now,
    )
    keys = connection.execute(expired).scalars().all()
    if keys:
        connection.execute(
            update(ASSIGNMENT).where(ASSIGNMENT.c.id.in_(keys)).values(state=RELEASED, slot=None)
        )


def _taken_back(connection: Connection, turn: Turn, state: str) -> int | None:
    """Give the person back an own item whose slot is still free."""
    mine = (
        select(ASSIGNMENT.c.id, ASSIGNMENT.c.item_id, ASSIGNMENT.c.repeat)
        .where(
            ASSIGNMENT.c.sample_id == turn.sample,
            ASSIGNMENT.c.person_id == turn.person,
            ASSIGNMENT.c.state == state,
        )
        .order_by(ASSIGNMENT.c.leased_at.desc())
    )
    for row in connection.execute(mine).all():
        slot = None if row.repeat else free_slot(connection, row.item_id, turn.overlap)
        if slot is not None or row.repeat:
            set_lease(
                connection,
                row.id,
                state=OPEN,
                slot=slot,
                leased_at=turn.now,
                expires_at=turn.now + turn.length,
            )
            return int(row.id)
    return None


def _fresh(connection: Connection, turn: Turn) -> int | None:
    """Lease the first item in the person's order that has room for one more person."""
    values = {"sample": turn.sample, "person": turn.person, "overlap": turn.overlap}
    begun = connection.execute(_BEGUN, values).scalar_one()
    ahead = list(turn.order[begun : begun + _AHEAD])
    found = connection.execute(_ROOM_AT, values | {"positions": ahead}).all() if ahead else []
    order: Sequence[int] = ahead
    if not found:
        found, order = connection.execute(_ROOM, values).all(), turn.order
    at = {row.position: row.id for row in found}
    item = next((at[position] for position in order if position in at), None)
    if item is None:
        return None
    slot = free_slot(connection, item, turn.overlap)
    return _insert(connection, turn, item, repeat=0, slot=slot)


def _again(connection: Connection, turn: Turn, *, late: bool = False) -> int | None:
    """Lease an item once more that the person labelled long enough ago, to see how steady it is.

    ``late``: nothing else is left, so every item counts but the one labelled last.
    """
    if not turn.repeats:
        return None
    values = {"sample": turn.sample, "person": turn.person}
    for row in connection.execute(_ONCE, values).all():
        since = connection.execute(_SINCE, values | {"then": row.done_at}).scalar_one()
        if since >= (1 if late else row.again):
            return _insert(connection, turn, row.item_id, repeat=1, slot=None)
    return None


def _insert(
    connection: Connection, turn: Turn, item: int, *, repeat: int, slot: int | None
) -> int | None:
    row = {
        "sample_id": turn.sample,
        "item_id": item,
        "person_id": turn.person,
        "repeat": repeat,
        "slot": slot,
        "state": OPEN,
        "round": 0,
        "leased_at": turn.now,
        "expires_at": turn.now + turn.length,
    }
    made = connection.execute(ASSIGNMENT.insert().values(**row)).inserted_primary_key
    return None if made is None else int(made[0])


_AHEAD = 32
_COLUMNS = (ASSIGNMENT, SAMPLE_ITEM.c.trace_id, TRACE.c.digest)
_JOINED = ASSIGNMENT.join(SAMPLE_ITEM, SAMPLE_ITEM.c.id == ASSIGNMENT.c.item_id).join(
    TRACE, TRACE.c.id == SAMPLE_ITEM.c.trace_id
)
_MINE = (ASSIGNMENT.c.sample_id == bindparam("sample")) & (
    ASSIGNMENT.c.person_id == bindparam("person")
)
_LEASE = select(*_COLUMNS).select_from(_JOINED).where(ASSIGNMENT.c.id == bindparam("key"))
_HELD = (
    select(*_COLUMNS)
    .select_from(_JOINED)
    .where(_MINE, ASSIGNMENT.c.state == OPEN)
    .order_by(ASSIGNMENT.c.leased_at.desc(), ASSIGNMENT.c.id.desc())
    .limit(1)
)
_BEGUN = select(func.count()).select_from(ASSIGNMENT).where(_MINE, ASSIGNMENT.c.repeat == 0)
_DONE = select(func.count()).select_from(ASSIGNMENT).where(_MINE, ASSIGNMENT.c.state == DONE)
_ONCE_MORE = ASSIGNMENT.alias("once_more")
_ONCE = (
    select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.done_at, SAMPLE_ITEM.c.again)
    .select_from(ASSIGNMENT.join(SAMPLE_ITEM, SAMPLE_ITEM.c.id == ASSIGNMENT.c.item_id))
    .where(
        _MINE,
        ASSIGNMENT.c.state == DONE,
        ASSIGNMENT.c.repeat == 0,
        SAMPLE_ITEM.c.again.is_not(None),
        ~exists().where(
            _ONCE_MORE.c.item_id == ASSIGNMENT.c.item_id,
            _ONCE_MORE.c.person_id == ASSIGNMENT.c.person_id,
            _ONCE_MORE.c.repeat == 1,
        ),
        ~exists().where(
            SIGHTING.c.trace_id == SAMPLE_ITEM.c.trace_id,
            SIGHTING.c.person_id == ASSIGNMENT.c.person_id,
        ),
    )
    .order_by(ASSIGNMENT.c.done_at)
)
_SINCE = (
    select(func.count())
    .select_from(ASSIGNMENT)
    .where(_MINE, ASSIGNMENT.c.state == DONE, ASSIGNMENT.c.done_at > bindparam("then"))
)


def _with_room(*more: ColumnElement[bool]) -> Select[Any]:
    """Items of a sample that the person has not had and that are not in enough hands."""
    holders = (
        select(func.count())
        .select_from(ASSIGNMENT)
        .where(ASSIGNMENT.c.item_id == SAMPLE_ITEM.c.id, ASSIGNMENT.c.slot.is_not(None))
        .correlate(SAMPLE_ITEM)
        .scalar_subquery()
    )
    had = exists().where(
        ASSIGNMENT.c.item_id == SAMPLE_ITEM.c.id, ASSIGNMENT.c.person_id == bindparam("person")
    )
    seen = exists().where(
        SIGHTING.c.trace_id == SAMPLE_ITEM.c.trace_id, SIGHTING.c.person_id == bindparam("person")
    )
    return select(SAMPLE_ITEM.c.id, SAMPLE_ITEM.c.position).where(
        SAMPLE_ITEM.c.sample_id == bindparam("sample"),
        *more,
        ~had,
        ~seen,
        holders < bindparam("overlap"),
    )


_ROOM = _with_room()
_ROOM_AT = _with_room(SAMPLE_ITEM.c.position.in_(bindparam("positions", expanding=True)))


def _read(row: Row[Any]) -> Lease:
    return Lease(
        key=row.id,
        sample=row.sample_id,
        item=row.item_id,
        trace_id=row.trace_id,
        trace=row.digest,
        person=row.person_id,
        repeat=row.repeat,
        slot=row.slot,
        state=row.state,
        round=row.round,
        message=row.message or "",
        leased_at=row.leased_at,
        expires_at=row.expires_at,
        done_at=row.done_at,
    )
