"""A reader that keeps what it read has to know when that is no longer all."""

from __future__ import annotations

from labelkit.store import Store
from labelkit.store.growth import growth
from labelkit.store.labels import commit_labels
from labelkit.store.raters import add_rater
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces
from tests.store.values import RULE, make_label, make_task, make_trace


def test_every_addition_moves_the_mark_and_a_repetition_does_not(store: Store) -> None:
    assert growth(store) == (0, 0, 0, 0)
    marks = [growth(store)]
    for add in (
        lambda: add_tasks(store, [make_task()]),
        lambda: add_traces(store, [make_trace()]),
        lambda: add_rater(store, RULE),
        lambda: commit_labels(store, [make_label(make_trace())]),
    ):
        add()
        marks.append(growth(store))
        add()
        assert growth(store) == marks[-1]
    assert len(set(marks)) == len(marks)
