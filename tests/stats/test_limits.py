"""Intervals stay where their parameter can be, and input that is no data is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.errors import StatisticsError
from labelkit.stats import (
    agreement,
    bootstrap,
    confusion,
    intervals,
    planning,
    ppi,
    prevalence,
    ratings,
    weighted,
)
from labelkit.stats.agreement.weights import SCHEMES, kappa_floor, weight_matrix
from labelkit.stats.intervals import Interval

SHARES = {"percent_agreement", "unanimous_agreement"}


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=6))
def test_no_interval_leaves_the_range_of_its_coefficient(rows: list[tuple[int, ...]]) -> None:
    table = ratings.from_rows(rows, [0, 1, 2])
    for name, entry in agreement.COEFFICIENTS.items():
        found = entry.compute(table)
        if isinstance(found.interval, Interval) and isinstance(found.value, float):
            floor = 0.0 if name in SHARES else -1.0
            assert floor <= found.interval.low <= found.value <= found.interval.high <= 1.0


@given(
    st.sampled_from(["linear", "quadratic", "ordinal", "radical", "circular"]),
    st.integers(3, 6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12),
)
def test_weights_that_are_squared_distances_keep_kappa_above_minus_one(
    scheme: str, q: int, pairs: list[tuple[int, int]]
) -> None:
    table = ratings.from_rows([(a % q, b % q) for a, b in pairs], list(range(q)))
    assert kappa_floor(weight_matrix(scheme, table)) == -1.0
    for compute in (agreement.cohen_kappa, agreement.fleiss_kappa, agreement.conger_kappa):
        value = compute(table, scheme).value
        assert not isinstance(value, float) or value >= -1.0 - 1e-9


def test_weights_that_are_none_have_no_floor() -> None:
    # Three labels, the first and last far apart although both are near the second.
    odd = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    assert kappa_floor(odd) == -np.inf
    assert set(SCHEMES) >= {"ratio", "bipolar"}


def test_a_weighted_brennan_prediger_may_lie_below_minus_one() -> None:
    # Linear weights of three labels: pe = 5/9 and pa = 0, so (0 - 5/9) / (4/9) = -5/4.
    table = ratings.from_rows([[0, 2], [2, 0], [0, 2]], [0, 1, 2])
    found = agreement.brennan_prediger(table, "linear")
    assert found.value == pytest.approx(-1.25)
    assert isinstance(found.interval, Interval)
    assert found.interval.low == pytest.approx(-1.25)


def test_a_prediction_powered_rate_stays_a_rate() -> None:
    found = ppi.ppi_mean([1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [1] * 50, lam=1)
    assert found.raw == pytest.approx(0.8 - 0.6 + 1.0)
    assert found.value == found.interval.high == 1.0
    assert found.interval_raw.high > 1.0
    assert {"outside_unit_interval", "few_rare_labels", "few_disagreements"} <= set(found.flags)
    # Scores are no rates: nothing is cut.
    scores = ppi.ppi_mean([5.0, 4.0, 3.0], [4.0, 4.0, 2.0], [9.0, 8.0], lam=1)
    assert scores.interval == scores.interval_raw


def test_a_judge_whom_few_rows_may_have_turned_gives_no_limits() -> None:
    # One human positive and one negative row: adjusted 2/3 + 1/3 <= 1.
    found = prevalence.rogan_gladen(50, 100, 1, 1, 1, 50)
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert "weak_judge" in found.flags


def test_rare_outcomes_are_flagged() -> None:
    for hits, flags in ((3, ("few_hits",)), (4, ()), (96, ()), (97, ("few_hits",))):
        found = intervals.wilson(hits, 100)
        assert isinstance(found, Interval)
        assert found.flags == flags
    # Forty rows with a hit each, but one stands for nearly the whole frame.
    pi = [0.001, *[0.9] * 39, *[0.5] * 40]
    heavy = weighted.weighted_rate([1] * 40 + [0] * 40, pi)
    assert "few_effective_rows" in heavy.flags


def test_few_weighty_disagreements_are_flagged() -> None:
    # 30 neighbours and one pair of ends under quadratic weights: (30/4 + 1)^2 / (30/16 + 1) = 25.1.
    rows = [[0, 0]] * 30 + [[2, 2]] * 30 + [[0, 1]] * 30 + [[0, 2]]
    table = ratings.from_rows(rows, [0, 1, 2])
    assert "few_weighted_disagreements" not in agreement.fleiss_kappa(table, "quadratic").flags
    fewer = ratings.from_rows(rows[1:89] + rows[90:], [0, 1, 2])
    assert "few_weighted_disagreements" in agreement.fleiss_kappa(fewer, "quadratic").flags
    assert "few_weighted_disagreements" in agreement.cohen_kappa(fewer, "quadratic").flags
    assert "few_weighted_disagreements" not in agreement.cohen_kappa(fewer).flags


def test_light_takes_the_pairs_that_are_known() -> None:
    table = ratings.from_rows([[0, 0, 1], [1, 1, 1], [0, 1, 0], [1, 0, 1]], [0, 1])
    pairs = agreement.pairwise_cohen(table)
    assert agreement.light_kappa(table, pairs=pairs) == agreement.light_kappa(table)
    summary = agreement.summarise(table)
    light = next(c for c in summary.coefficients if c.name == "light_kappa")
    assert list(light.parts) == [pair.result.value for pair in summary.pairs]


def test_scores_reach_every_coefficient_of_a_summary() -> None:
    table = ratings.from_rows([[0, 1], [1, 2], [2, 2], [0, 0]], [0, 1, 2])
    found = agreement.summarise(table, "quadratic", scores=[0, 1, 10])
    assert found.coefficients[0].value == pytest.approx((0.99 + 0.19 + 1 + 1) / 4)
    kappa = agreement.cohen_kappa(table, "quadratic", scores=[0, 1, 10]).value
    assert found.pairs[0].result.value == kappa


def test_large_whole_numbers_are_not_merged() -> None:
    table = ratings.from_rows(np.array([[2**53, 2**53 + 1], [2**53, 2**53]]))
    assert table.categories == (2**53, 2**53 + 1)


def test_what_is_labelled_whole_needs_no_interval() -> None:
    found = planning.interval_so_far(3, 10, population=10)
    assert isinstance(found, Interval)
    assert (found.low, found.high) == (0.3, 0.3)
    assert planning.expected_half_width(0.5, 1, population=1) == 0.0


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (lambda: ratings.from_rows(["ab", "cd"]), "item 0 is 'ab'"),
        (lambda: ratings.from_rows(None), "list of rows"),
        (lambda: ratings.from_triples([("i", "r")]), "record 0 is"),
        (lambda: ratings.from_columns([None], ["r"], ["a"]), "record 0 names no item"),
        (lambda: ratings.from_contingency([[1]], ["a"], ["x", "x"]), "rater 'x' has two columns"),
        (lambda: intervals.wilson(None, 4), "None hits out of 4"),  # type: ignore[arg-type]
        (lambda: intervals.wilson(1, float("inf")), "is impossible"),
        (lambda: ppi.ppi_mean(["a"], [1], [1]), "truth must be numbers"),
        (lambda: confusion.confusion_report([["x"]], ["a"]), "must be numbers"),
        (lambda: bootstrap.draw_weights([[0.5]], 3), "no whole number"),
        (lambda: weighted.weighted_rate([2.0, 1.0], [0.5, 0.5]), "row 0 has the value 2"),
        (
            lambda: agreement.krippendorff_alpha(ratings.from_rows([[1, np.inf]]), "interval"),
            "inf is no finite one",
        ),
        (
            lambda: agreement.cohen_kappa(
                ratings.from_rows([[0, 1], [1, 1]], [0, 1]),
                "linear",
                scores=["x", "y"],  # type: ignore[list-item]
            ),
            "scores of labels must be numbers",
        ),
        (lambda: planning.more_labels(1, 9, 0.1, population=5), "9 labels of a population of 5"),
    ],
)
def test_what_is_no_data_is_refused_in_a_sentence(work: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(StatisticsError, match=sentence):
        work()
