"""Votes: ties are results, nulls are missing, and the arithmetic is shown."""

from __future__ import annotations

from random import Random
from statistics import median_low

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.errors import StatisticsError
from labelkit.stats.vote import RowOutcome, lower_median, majority, tally_votes

# Columns: rule, judge A, judge B. Labels 0, 1, 2.
ROWS = np.array(
    [
        [0, 0, 1],  # two of three
        [0, 1, 2],  # three-way tie: the rule decides
        [-1, 1, 1],  # a null
        [-1, 1, 2],  # a null and a tie
        [-1, -1, -1],  # nobody
    ]
)


def test_the_tie_rater_decides_and_nulls_are_ignored() -> None:
    vote = majority(ROWS, 3, tie_rater=0)
    assert vote.codes.tolist() == [0, 0, 1, -1, -1]
    assert [RowOutcome(o) for o in vote.outcomes] == [
        RowOutcome.MAJORITY,
        RowOutcome.TIE_BROKEN,
        RowOutcome.MAJORITY,
        RowOutcome.TIE,
        RowOutcome.TOO_FEW,
    ]
    assert vote.share[:4].tolist() == [2 / 3, 1 / 3, 1.0, 0.5]
    assert np.isnan(vote.share[4])
    assert vote.leaders.tolist() == [1, 3, 1, 2, 0]


def test_without_a_tie_rule_ties_stay_open() -> None:
    assert majority(ROWS, 3).codes.tolist() == [0, -1, 1, -1, -1]


def test_drop_row_drops_every_row_with_a_null() -> None:
    vote = majority(ROWS, 3, tie_rater=0, null_policy="drop_row")
    assert vote.codes.tolist() == [0, 0, -1, -1, -1]
    assert vote.tally() == {
        "majority": 1,
        "tie_broken": 1,
        "tie": 0,
        "null": 3,
        "too_few": 0,
    }


def test_every_row_is_accounted_for() -> None:
    assert sum(majority(ROWS, 3).tally().values()) == len(ROWS)


def test_min_raters() -> None:
    assert majority(ROWS, 3, min_raters=3).tally()["too_few"] == 3


def test_weights_can_overrule_heads() -> None:
    # Label 0 has weight 2.5, label 1 has 1 + 1 = 2.
    vote = majority(np.array([[0, 1, 1]]), 2, weights=[2.5, 1, 1])
    assert vote.codes.tolist() == [0]
    assert vote.share.tolist() == [2.5 / 4.5]


def test_equal_weighted_votes_are_a_tie_despite_rounding() -> None:
    # 0.1 + 0.2 is 0.30000000000000004 in floating point.
    vote = majority(np.array([[0, 0, 1]]), 2, weights=[0.1, 0.2, 0.3])
    assert vote.leaders.tolist() == [2]
    assert vote.codes.tolist() == [-1]


def test_tally() -> None:
    assert tally_votes(ROWS, 3).tolist() == [
        [2, 1, 0],
        [1, 1, 1],
        [0, 2, 0],
        [0, 1, 1],
        [0, 0, 0],
    ]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"codes": np.array([[3, 0]])}, "row 0, rater 0: code 3"),
        ({"codes": np.array([0, 1])}, "rows x raters"),
        ({"tie_rater": 5}, "tie rater 5"),
        ({"weights": [1, 0, 1]}, "above 0"),
        ({"weights": [1.0]}, "3 weights"),
        ({"null_policy": "maybe"}, "drop_row or ignore"),
    ],
)
def test_bad_input_is_named(bad: dict[str, object], says: str) -> None:
    arguments: dict[str, object] = {"codes": ROWS, "q": 3} | bad
    codes, q = arguments.pop("codes"), arguments.pop("q")
    with pytest.raises(StatisticsError, match=says):
        majority(codes, q, **arguments)  # type: ignore[arg-type]


def test_no_rows() -> None:
    vote = majority(np.empty((0, 3), dtype=int), 2, tie_rater=0)
    assert vote.codes.shape == (0,)
    assert sum(vote.tally().values()) == 0


@given(st.lists(st.lists(st.integers(-1, 4), min_size=3, max_size=3), min_size=1, max_size=20))
def test_the_lower_median_is_the_middle_of_what_was_given(rows: list[list[int]]) -> None:
    vote = lower_median(np.array(rows), 5)
    for row, code, share, n in zip(rows, vote.codes, vote.share, vote.n_votes, strict=True):
        given_codes = sorted(code for code in row if code >= 0)
        assert n == len(given_codes)
        if not given_codes:
            assert code == -1
            assert np.isnan(share)
            continue
        assert code == median_low(given_codes)
        assert share == given_codes.count(code) / n
    assert vote.tally()["tie"] == 0
    assert sum(vote.tally().values()) == len(rows)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=7), st.randoms())
def test_the_median_knows_no_order_of_raters(row: list[int], order: Random) -> None:
    mixed = row.copy()
    order.shuffle(mixed)
    assert lower_median(np.array([row]), 5).codes == lower_median(np.array([mixed]), 5).codes


def test_a_median_needs_its_raters_and_a_known_scale() -> None:
    vote = lower_median(np.array([[4, 1], [4, -1], [-1, -1]]), 5, min_raters=2)
    assert vote.codes.tolist() == [1, -1, -1]
    assert vote.leaders.tolist() == [2, 1, 0]
    assert vote.tally()["too_few"] == 2
    assert lower_median(np.empty((0, 2), dtype=int), 5).codes.shape == (0,)
    with pytest.raises(StatisticsError):
        lower_median(np.array([[5]]), 5)
