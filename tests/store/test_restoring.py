"""Review put back into a store: written once, and what the store has stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from labelkit.errors import StoreError
from labelkit.store import Store
from labelkit.store.people import people
from labelkit.store.portable import decisions, reviews
from labelkit.store.restoring import restore_decisions, restore_reviews
from labelkit.store.review_tables import ADJUDICATION, ANNOTATION, ASSIGNMENT, SUBMISSION
from labelkit.store.samples import samples
from tests.workflows.release.building import reviewed


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'a.db'}", create=True) as opened:
        reviewed(opened)
        yield opened


def sizes(store: Store) -> list[int]:
    with store.reading() as connection:
        return [
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (ASSIGNMENT, SUBMISSION, ANNOTATION, ADJUDICATION)
        ]


def test_what_the_store_has_already_stays_as_it_is(store: Store) -> None:
    """Its own acts have request keys of their own: they are not written a second time."""
    (sample,) = samples(store)
    names = {person.id: person.name for person in people(store)}
    keys = {name: key for key, name in names.items()}
    before = sizes(store)
    assert before == [12, 12, 12, 1]
    restore_reviews(store, reviews(store, sample.id, names), keys)
    restore_decisions(store, decisions(store, sample.id, names), keys)
    assert sizes(store) == before


def test_a_label_that_is_not_there_is_named_and_nothing_is_written(store: Store) -> None:
    (sample,) = samples(store)
    names = {person.id: person.name for person in people(store)}
    keys = {name: key for key, name in names.items()}
    (record,) = decisions(store, sample.id, names)
    name = record.labels[0].model_copy(update={"version": 99})
    strange = record.model_copy(update={"version": 1, "labels": (name,)})
    with pytest.raises(StoreError, match=r"has no label .*99.* restore the labels first"):
        restore_decisions(store, [strange], keys)
    elsewhere = record.model_copy(update={"trace": "f" * 64, "labels": ()})
    with pytest.raises(StoreError, match="has no trace f"):
        restore_decisions(store, [elsewhere], keys)
    assert sizes(store) == [12, 12, 12, 1]
