"""Samples in the store: drawn once, frozen, and given to people.

A sample's items and probabilities never change. Only who may label it, the guideline in force and
whether it is closed do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select, update

from labelkit.digest import canonical_json
from labelkit.domain.sample import Design, Sample, SampleItem
from labelkit.errors import StoreError
from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.review_tables import SAMPLE, SAMPLE_ITEM, SAMPLE_PERSON
from labelkit.store.selection import chunks
from labelkit.store.tables import TRACE

_LOCK = 0x6C61_6265_0000_0000
_DRAW_LOCK = 0x6C61_6265_6C03


def sample_lock(key: int) -> int:
    """The advisory lock under which leases of one sample change (PostgreSQL)."""
    return _LOCK + key


def add_sample(
    store: Store,
    design: Design,
    frame_last: int,
    items: Sequence[tuple[int, str, float, int | None]],
    *,
    created_by: int | None = None,
) -> bool:
    """Keep a draw; False when the store has this very sample already.

    Args:
        store: the store.
        design: what the draw depends on; its digest is the sample's id.
        frame_last: the highest trace row that the frame could hold.
        items: (trace row id, stratum, inclusion probability, again) in the order of the frame.
        created_by: id of the person who drew it.

    Raises:
        StoreError: when the store cannot be written; nothing is written then.
    """
    head = {
        "digest": design.digest,
        "rubric": design.rubric_digest,
        "guideline": design.rubric_digest,
        "frame_last": frame_last,
        "created_by": created_by,
        "created_at": datetime.now(UTC),
        "closed_at": None,
        "body": canonical_json(design.beyond_defaults()),
    }
    with store.writing(_DRAW_LOCK) as connection:
        if not insert_new(connection, SAMPLE, [head]):
            return False
        key = connection.execute(
            select(SAMPLE.c.id).where(SAMPLE.c.digest == design.digest)
        ).scalar_one()
        rows = [
            {
                "sample_id": key,
                "position": position,
                "trace_id": trace_id,
                "stratum": stratum,
                "probability": probability,
                "again": again,
            }
            for position, (trace_id, stratum, probability, again) in enumerate(items)
        ]
        insert_new(connection, SAMPLE_ITEM, rows)
    return True


def samples(store: Store) -> list[Sample]:
    """Return every sample, oldest first."""
    with store.reading(steady=True) as connection:
        rows = connection.execute(select(SAMPLE).order_by(SAMPLE.c.id)).all()
        given = connection.execute(
            select(SAMPLE_PERSON.c.sample_id, SAMPLE_PERSON.c.person_id).order_by(
                SAMPLE_PERSON.c.person_id
            )
        ).all()
    named: dict[int, list[int]] = {}
    for row in given:
        named.setdefault(row.sample_id, []).append(row.person_id)
    return [_read(row, named.get(row.id, ())) for row in rows]


def sample(store: Store, id_or_prefix: str) -> Sample:
    """Return one sample by its id, or by the first characters of it.

    Raises:
        StoreError: no sample, or several, begin like this.
    """
    prefix = id_or_prefix.lower()
    if not re.fullmatch(r"[0-9a-f]{4,64}", prefix):
        raise StoreError(
            f"{id_or_prefix!r} is no sample id; expected 4 to 64 hexadecimal digits, as"
            " `labelkit sample list` shows them"
        )
    whole = len(prefix) == 64
    begins = SAMPLE.c.digest == prefix if whole else SAMPLE.c.digest.startswith(prefix)
    with store.reading() as connection:
        found = connection.execute(select(SAMPLE).where(begins).limit(2)).all()
        if len(found) == 1:
            return _read(found[0], _people(connection, found[0].id))
    if not found:
        raise StoreError(
            f"the store {store.place} has no sample {id_or_prefix}; see `labelkit sample list`"
        )
    raise StoreError(f"several samples begin with {id_or_prefix}; give more digits")


def sample_at(store: Store, key: int) -> Sample:
    """Return the sample in this row of the store.

    Raises:
        StoreError: there is none.
    """
    with store.reading() as connection:
        row = connection.execute(select(SAMPLE).where(SAMPLE.c.id == key)).first()
        if row is not None:
            return _read(row, _people(connection, key))
    raise StoreError(f"the store {store.place} has no sample in row {key}")


def _people(connection: Connection, key: int) -> Sequence[int]:
    query = (
        select(SAMPLE_PERSON.c.person_id)
        .where(SAMPLE_PERSON.c.sample_id == key)
        .order_by(SAMPLE_PERSON.c.person_id)
    )
    return connection.execute(query).scalars().all()


@lru_cache(maxsize=64)
def _design(body: str) -> Design:
    """Read a design; it never changes, and every label asks for it several times."""
    return Design.model_validate(json.loads(body))


def _read(row: Row[Any], people: Iterable[int]) -> Sample:
    return Sample(
        key=row.id,
        id=row.digest,
        design=_design(row.body),
        guideline=row.guideline,
        frame_last=row.frame_last,
        people=tuple(people),
        created_by=row.created_by,
        created_at=row.created_at,
        closed_at=row.closed_at,
    )


def items(store: Store, key: int) -> list[SampleItem]:
    """Return the items of a sample in order of position."""
    query = _ITEMS.where(SAMPLE_ITEM.c.sample_id == key).order_by(SAMPLE_ITEM.c.position)
    with store.reading() as connection:
        return [_read_item(row) for row in connection.execute(query)]


def item(store: Store, key: int, item_key: int) -> SampleItem | None:
    """Return one item of a sample, or None where the sample has no such item."""
    query = _ITEMS.where(SAMPLE_ITEM.c.sample_id == key, SAMPLE_ITEM.c.id == item_key)
    with store.reading() as connection:
        row = connection.execute(query).first()
    return None if row is None else _read_item(row)


_ITEMS = select(
    SAMPLE_ITEM.c.id,
    SAMPLE_ITEM.c.position,
    SAMPLE_ITEM.c.stratum,
    SAMPLE_ITEM.c.probability,
    SAMPLE_ITEM.c.again,
    TRACE.c.digest,
).select_from(SAMPLE_ITEM.join(TRACE, TRACE.c.id == SAMPLE_ITEM.c.trace_id))


def _read_item(row: Any) -> SampleItem:
    return SampleItem(
        key=row.id,
        position=row.position,
        trace=row.digest,
        stratum=row.stratum,
        probability=row.probability,
        again=row.again,
    )


def item_counts(store: Store) -> dict[int, int]:
    """Return the number of items by sample key."""
    query = select(SAMPLE_ITEM.c.sample_id, func.count()).group_by(SAMPLE_ITEM.c.sample_id)
    with store.reading() as connection:
        return {row[0]: row[1] for row in connection.execute(query)}


def set_people(store: Store, key: int, people: Iterable[int]) -> None:
    """Say who may label a sample; nobody named means everybody may."""
    wanted = sorted(set(people))
    with store.writing(sample_lock(key)) as connection:
        connection.execute(delete(SAMPLE_PERSON).where(SAMPLE_PERSON.c.sample_id == key))
        for chunk in chunks(wanted):
            rows = [{"sample_id": key, "person_id": person} for person in chunk]
            insert_new(connection, SAMPLE_PERSON, rows)


def set_open(store: Store, key: int, *, is_open: bool) -> None:
    """Close a sample, so that no more items are given out, or open it again."""
    moment = None if is_open else datetime.now(UTC)
    with store.writing(sample_lock(key)) as connection:
        connection.execute(update(SAMPLE).where(SAMPLE.c.id == key).values(closed_at=moment))


def set_guideline(store: Store, key: int, rubric_digest: str) -> None:
    """Put another version of the rubric in force for labels to come."""
    with store.writing(sample_lock(key)) as connection:
        connection.execute(update(SAMPLE).where(SAMPLE.c.id == key).values(guideline=rubric_digest))
