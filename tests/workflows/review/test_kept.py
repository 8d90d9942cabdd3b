from __future__ import annotations

from labelkit.store import Store
from labelkit.workflows.review.kept import MOST, Kept


def test_what_arrives_while_numbers_are_computed_is_in_the_next_ones(store: Store) -> None:
    kept: Kept[str] = Kept()
    mark = [1]

    def compute() -> str:
        mark[0] = 2  # a label comes in
        return "old"

    assert kept.find(store, ("s", None), mark[0], compute) == "old"
    assert kept.find(store, ("s", None), mark[0], lambda: "new") == "new"
    assert kept.find(store, ("s", None), mark[0], lambda: "newer") == "new"


def test_the_one_nobody_asked_for_longest_is_forgotten(store: Store) -> None:
    kept: Kept[str] = Kept()
    for number in range(MOST):
        kept.find(store, (str(number), None), 0, lambda: "first")
    kept.find(store, ("0", None), 0, lambda: "second")
    kept.find(store, ("another", None), 0, lambda: "first")
    assert kept.find(store, ("0", None), 0, lambda: "third") == "first"
    assert kept.find(store, ("1", None), 0, lambda: "third") == "third"
