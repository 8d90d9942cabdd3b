"""Repeats of one judge: majority, share, ties, and what was never read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.judging.consistency import SelfConsistency, self_consistency


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", "a", "b"], SelfConsistency("a", 2 / 3, 3, 0)),
        (["a", None, None], SelfConsistency("a", 1.0, 1, 2)),
        (["a", "b"], SelfConsistency(None, 1 / 2, 2, 0, "tie")),
        (["a", "b", "a", "b", "c"], SelfConsistency(None, 2 / 5, 5, 0, "tie")),
        ([None], SelfConsistency(None, None, 0, 1, "no_label")),
        ([], SelfConsistency(None, None, 0, 0, "no_label")),
    ],
)
def test_majority(values: list[str | None], expected: SelfConsistency) -> None:
    assert self_consistency(values) == expected


@given(st.lists(st.sampled_from(["a", "b", None]), max_size=9), st.randoms())
def test_order_does_not_matter_and_every_repeat_is_counted(values, random) -> None:  # type: ignore[no-untyped-def]
    found = self_consistency(values)
    assert found.n + found.n_null == len(values)
    random.shuffle(values)
    assert self_consistency(values) == found
    assert (found.value is None) == (found.reason is not None)
