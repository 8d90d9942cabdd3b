"""Labels of people as they came in by submission: by item, and as columns for statistics."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, func, select

from labelkit.domain.label import Label
from labelkit.store.columns import decode_text
from labelkit.store.engine import Store
from labelkit.store.fetching import Ints, Objects, fetch
from labelkit.store.labels import LABELS, read_label
from labelkit.store.review_tables import (
    ADJUDICATION,
    ANNOTATION,
    PERSON,
    SAMPLE,
    SAMPLE_ITEM,
    SUBMISSION,
)
from labelkit.store.tables import LABEL, TRACE


@dataclass(frozen=True, eq=False)
class ItemColumns:
    """The items of a sample in order of position; arrays of length n."""

    key: Ints
    trace_id: Ints
    digest: Objects
    stratum: Objects
    probability: np.ndarray[tuple[int], np.dtype[np.float64]]

    def __len__(self) -> int:
        """Number of items."""
        return len(self.key)


@dataclass(frozen=True, eq=False)
class GivenColumns:
    """Every act of people on one question of a sample, in order of (assignment, version).

    ``item`` is the place in ``ItemColumns``, ``label`` the row id of the label written. ``day`` is
    the UTC day as text; ``outcome``, ``value`` and ``flags`` are the label's.
    """

    item: Ints
    person: Ints
    repeat: Ints
    version: Ints
    round: Ints
    assignment: Ints
    label: Ints
    day: Objects
    act: Objects
    guideline: Objects
    outcome: Objects
    value: Objects
    flags: Objects


@dataclass(frozen=True, eq=False)
class SampleColumns:
    """What people have said about one question of a sample, read in one state of the store.

    ``names`` maps the ids of the people to their names. ``mark`` is the version of ``mark_of``.
    """

    items: ItemColumns
    given: GivenColumns
    names: dict[int, str]
    mark: tuple[int, int]


def mark_of(store: Store, sample: str) -> tuple[int, int]:
    """Return the last submission and the last decision of a sample: equal marks, nothing new.

    Index ends are read and nothing is computed. ``sample`` is a whole id; (0, 0) for an unknown
    one.
    """
    key = select(SAMPLE.c.id).where(SAMPLE.c.digest == sample).scalar_subquery()
    with store.reading() as connection:
        return _mark(connection, key)


def _mark(connection: Connection, sample: Any) -> tuple[int, int]:
    ends = [
        select(func.coalesce(func.max(table.c.id), 0))
        .where(table.c.sample_id == sample)
        .scalar_subquery()
        for table in (SUBMISSION, ADJUDICATION)
    ]
    row = connection.execute(select(*ends)).one()
    return row[0], row[1]


def sample_columns(store: Store, sample: int, question: str) -> SampleColumns:
    """Return items and acts of a sample for one question, whole columns at a time.

    Raises:
        StoreError: when the store cannot be read.
    """
    with store.reading(steady=True) as connection:
        mark = _mark(connection, sample)
        items = _items(connection, sample)
        numbers, texts = fetch(connection, _acts(connection, sample, question), SUBMISSION.c.id, 7)
        people = select(PERSON.c.id, PERSON.c.name)
        names = {row.id: row.name for row in connection.execute(people)}
    item, person, repeat, version, rounds, assignment, label = numbers
    order = np.lexsort((version, assignment))
    places = np.searchsorted(items.key, item[order])
    day, act, guideline, outcome, value, flags = texts
    return SampleColumns(
        items=items,
        given=GivenColumns(
            item=places.astype(np.int64),
            person=person[order],
            repeat=repeat[order],
            version=version[order],
            round=rounds[order],
            assignment=assignment[order],
            label=label[order],
            day=day.decoded()[order],
            act=act.decoded()[order],
            guideline=guideline.decoded()[order],
            outcome=outcome.decoded()[order],
            value=value.decoded(_text)[order],
            flags=flags.decoded(_flags)[order],
        ),
        names=names,
        mark=mark,
    )


def _acts(connection: Connection, sample: int, question: str) -> Any:
    """The acts with their labels; whole numbers first, as ``fetch`` wants them."""
    return (
        select(
            SUBMISSION.c.item_id,
            SUBMISSION.c.person_id,
            SUBMISSION.c.repeat,
            SUBMISSION.c.version,
            SUBMISSION.c.round,
            SUBMISSION.c.assignment_id,
            ANNOTATION.c.label_id,
            day_of(connection.dialect.name).label("day"),
            SUBMISSION.c.act,
            SUBMISSION.c.guideline,
            LABEL.c.outcome,
            LABEL.c.value,
            LABEL.c.flags,
        )
        .select_from(
            SUBMISSION.join(ANNOTATION, ANNOTATION.c.submission_id == SUBMISSION.c.id).join(
                LABEL, LABEL.c.id == ANNOTATION.c.label_id
            )
        )
        .where(SUBMISSION.c.sample_id == sample, ANNOTATION.c.question == question)
    )


def day_of(dialect: str) -> ColumnElement[str]:
    """Return the UTC day of a submission as text; SQLite keeps moments as UTC texts."""
    if dialect == "sqlite":
        return func.substr(SUBMISSION.c.created_at, 1, 10)
    return func.to_char(func.timezone("UTC", SUBMISSION.c.created_at), "YYYY-MM-DD")


def _items(connection: Connection, sample: int) -> ItemColumns:
    query = (
        select(
            SAMPLE_ITEM.c.id,
            SAMPLE_ITEM.c.trace_id,
            TRACE.c.digest,
            SAMPLE_ITEM.c.stratum,
            SAMPLE_ITEM.c.probability,
        )
        .select_from(SAMPLE_ITEM.join(TRACE, TRACE.c.id == SAMPLE_ITEM.c.trace_id))
        .where(SAMPLE_ITEM.c.sample_id == sample)
        .order_by(SAMPLE_ITEM.c.id)
    )
    rows = connection.execute(query).all()
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [()] * 5
    texts = [np.array(columns[place], dtype=object) for place in (2, 3)]
    return ItemColumns(
        key=np.array(columns[0], dtype=np.int64),
        trace_id=np.array(columns[1], dtype=np.int64),
        digest=texts[0],
        stratum=texts[1],
        probability=np.array(columns[4], dtype=np.float64),
    )


def _text(stored: str | None) -> str | None:
    return None if stored is None else decode_text(stored)


def _flags(stored: str | None) -> tuple[str, ...]:
    return () if stored is None else tuple(json.loads(stored))


@dataclass(frozen=True)
class Given:
    """One act of a person on an item for one question, with the label it wrote."""

    person: int
    assignment: int
    round: int
    act: str
    label_id: int
    label: Label


def given_on(store: Store, item: int, question: str) -> list[Given]:
    """Return the acts on one item in order of time, hidden repeats left out."""
    query = (
        LABELS.add_columns(
            SUBMISSION.c.person_id, SUBMISSION.c.assignment_id, SUBMISSION.c.round, SUBMISSION.c.act
        )
        .join(ANNOTATION, ANNOTATION.c.label_id == LABEL.c.id)
        .join(SUBMISSION, SUBMISSION.c.id == ANNOTATION.c.submission_id)
        .where(
            SUBMISSION.c.item_id == item,
            SUBMISSION.c.repeat == 0,
            ANNOTATION.c.question == question,
        )
        .order_by(SUBMISSION.c.id)
    )
    with store.reading() as connection:
        rows = connection.execute(query).all()
    return [
        Given(row.person_id, row.assignment_id, row.round, row.act, row.id, read_label(row))
        for row in rows
    ]


def last_labels(store: Store, assignment: int) -> list[Label]:
    """Return the labels of the last submission of an assignment, in order of question."""
    last = (
        select(func.max(SUBMISSION.c.id))
        .where(SUBMISSION.c.assignment_id == assignment)
        .scalar_subquery()
    )
    ids = select(ANNOTATION.c.label_id).where(ANNOTATION.c.submission_id == last)
    query = LABELS.where(LABEL.c.id.in_(ids)).order_by(LABEL.c.id)
    with store.reading() as connection:
        return [read_label(row) for row in connection.execute(query)]
