"""Raters and rubrics: who labelled, and by which frozen text."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from sqlalchemy import Connection, select

from labelkit.digest import canonical_json, digest_text
from labelkit.domain.label import Rater, RaterKind
from labelkit.domain.rubric import Rubric
from labelkit.errors import StoreError
from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.tables import LABEL, RATER, RUBRIC


def add_rubric(store: Store, rubric: Rubric) -> None:
    """Keep a rubric as it is now, under its digest. Adding it again changes nothing.

    Raises:
        StoreError: when the store cannot be written.
    """
    body = canonical_json(rubric.beyond_defaults())
    row = {
        "digest": digest_text(body),
        "name": rubric.name,
        "version": rubric.version,
        "added_at": datetime.now(UTC),
        "body": body,
    }
    with store.writing() as connection:
        insert_new(connection, RUBRIC, [row])


def rubric(store: Store, digest: str) -> Rubric:
    """Return the frozen rubric with this digest.

    Raises:
        StoreError: the store holds no such rubric.
    """
    with store.reading() as connection:
        body = connection.execute(select(RUBRIC.c.body).where(RUBRIC.c.digest == digest)).scalar()
    if body is None:
        raise StoreError(
            f"the store {store.place} holds no rubric with digest {digest}; it is kept when"
            " `labelkit judge` first uses it"
        )
    return Rubric.model_validate(json.loads(body))


def rubrics(store: Store, name: str | None = None) -> list[Rubric]:
    """Return the frozen rubrics in the order they were added, optionally of one name."""
    query = select(RUBRIC.c.body).order_by(RUBRIC.c.id)
    if name is not None:
        query = query.where(RUBRIC.c.name == name)
    with store.reading() as connection:
        bodies = connection.execute(query).scalars().all()
    return [Rubric.model_validate(json.loads(body)) for body in bodies]


def add_rater(store: Store, rater: Rater) -> None:
    """Register a rater under its digest. Adding it again changes nothing.

    Raises:
        StoreError: when the store cannot be written.
    """
    body = canonical_json(rater.model_dump())
    rubric_digest = rater.spec.get("rubric_digest")
    row = {
        "digest": digest_text(body),
        "kind": rater.kind,
        "name": rater.name,
        "version": rater.version,
        "rubric": rubric_digest if isinstance(rubric_digest, str) else None,
        "added_at": datetime.now(UTC),
        "body": body,
    }
    with store.writing() as connection:
        insert_new(connection, RATER, [row])


def raters(
    store: Store,
    *,
    kind: RaterKind | None = None,
    name: str | None = None,
    rubric: str | None = None,
    question: str | None = None,
) -> list[Rater]:
    """Return raters in the order they were added; each knows its ``digest``.

    Args:
        store: the store.
        kind: only rules, judges or people.
        name: only raters of this name (of every version).
        rubric: only raters whose ``spec["rubric_digest"]`` is this rubric digest.
        question: only raters that have at least one label for this question.
    """
    query = select(RATER.c.body, RATER.c.digest).order_by(RATER.c.id)
    if kind is not None:
        query = query.where(RATER.c.kind == kind)
    if name is not None:
        query = query.where(RATER.c.name == name)
    if rubric is not None:
        query = query.where(RATER.c.rubric == rubric)
    if question is not None:
        labelled = select(LABEL.c.rater_id).where(LABEL.c.question == question).distinct()
        query = query.where(RATER.c.id.in_(labelled))
    with store.reading() as connection:
        found = connection.execute(query).all()
    return [_read_rater(row.body, row.digest) for row in found]


def _read_rater(body: str, known_digest: str) -> Rater:
    """Return the rater of a stored body; its digest is known and not computed again."""
    rater = Rater.model_validate(json.loads(body))
    rater.__dict__["digest"] = known_digest
    return rater


def rater_ids(store: Store, connection: Connection, digests: set[str]) -> dict[str, int]:
    """Return the row ids of raters by digest; unknown digests are left out."""
    missing = digests - store.rater_ids.keys()
    if missing:
        found = connection.execute(
            select(RATER.c.digest, RATER.c.id).where(RATER.c.digest.in_(sorted(missing)))
        )
        store.rater_ids.update({row.digest: row.id for row in found})
    return {digest: store.rater_ids[digest] for digest in digests if digest in store.rater_ids}
