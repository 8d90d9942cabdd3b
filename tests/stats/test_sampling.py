"""Draws, their probabilities and the rates they give back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.errors import StatisticsError
from labelkit.stats import allocation, draws, planning, weighted
from labelkit.stats.intervals import Interval, wilson
from labelkit.stats.undefined import Undefined, is_defined

few = settings(max_examples=40, deadline=None)


def test_a_stratified_draw_stores_every_probability() -> None:
    strata = [0] * 40 + [1] * 10
    draw = draws.stratified_draw(strata, [8, 5], seed=3)
    assert len(draw.rows) == 13
    assert draw.probabilities[:40].tolist() == [0.2] * 40
    assert draw.probabilities[40:].tolist() == [0.5] * 10
    assert draw.weights.sum() == pytest.approx(50)
    again = draws.stratified_draw(strata, [8, 5], seed=3)
    assert draw.rows.tolist() == again.rows.tolist()
    assert draws.stratified_draw(strata, [8, 5], seed=4).rows.tolist() != draw.rows.tolist()
    assert "seed 3" in draw.design


@few
@given(
    u=st.lists(st.floats(0, 10), min_size=3, max_size=40),
    share=st.floats(0.05, 1),
    uniform=st.floats(0.05, 1),
    seed=st.integers(0, 99),
)
def test_mixed_draws(u: list[float], share: float, uniform: float, seed: int) -> None:
    n = max(1, round(share * len(u)))
    draw = draws.mixed_draw(u, n, uniform=uniform, seed=seed)
    assert len(set(draw.rows.tolist())) == n
    assert draw.probabilities.sum() == pytest.approx(n)
    assert (draw.probabilities > 0).all()
    assert (draw.probabilities <= 1).all()


def test_mixed_draws_keep_their_probabilities() -> None:
    u = np.array([0.0, 0.0, 1.0, 3.0, 6.0])
    expected = draws.mixed_probabilities(u, 2, uniform=0.5)
    hits = np.zeros(5)
    for seed in range(3000):
        hits[draws.mixed_draw(u, 2, uniform=0.5, seed=seed).rows] += 1
    # Three binomial standard errors of 3,000 draws are 0.027.
    assert hits / 3000 == pytest.approx(expected, abs=0.03)


@given(
    cells=st.lists(st.tuples(st.integers(0, 2), st.floats(0, 10)), min_size=3, max_size=40),
    share=st.floats(0.05, 1),
    seed=st.integers(0, 99),
)
def test_a_mixed_draw_keeps_the_allocation_of_every_stratum(
    cells: list[tuple[int, float]], share: float, seed: int
) -> None:
    cells += [(0, 1.0), (1, 0.0), (2, 2.0)]
    strata, u = (np.array(column) for column in zip(*cells, strict=True))
    allocation = [max(1, round(share * int((strata == h).sum()))) for h in range(3)]
    draw = draws.stratified_mixed_draw(u, strata, allocation, seed=seed)
    assert np.bincount(strata[draw.rows], minlength=3).tolist() == allocation
    assert len(set(draw.rows.tolist())) == sum(allocation)
    for h, rows in enumerate(allocation):
        inside = strata == h
        alone = draws.mixed_probabilities(u[inside], rows)
        assert draw.probabilities[inside] == pytest.approx(alone)


def test_weighting_undoes_the_preference_within_strata() -> None:
    rng = np.random.default_rng(2)
    strata = np.repeat([0, 1], [1500, 500])
    y = (rng.random(2000) < np.where(strata == 0, 0.1, 0.5)).astype(float)
    uncertainty = np.where(y == 1, 5.0, 1.0)
    plain, back = [], []
    for seed in range(200):
        draw = draws.stratified_mixed_draw(uncertainty, strata, [120, 120], seed=seed)
        plain.append(y[draw.rows].mean())
        found = weighted.weighted_rate(
            y[draw.rows], draw.drawn_probabilities, strata=strata[draw.rows]
        )
        back.append(found.value)
    assert float(np.mean(plain)) > 1.5 * y.mean()
    assert float(np.mean([b for b in back if is_defined(b)])) == pytest.approx(y.mean(), abs=0.01)


def test_weighting_undoes_the_preference() -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(2000) < 0.1).astype(float)
    uncertainty = np.where(y == 1, 5.0, 1.0)  # the draw prefers hits
    plain, back = [], []
    for seed in range(200):
        draw = draws.mixed_draw(uncertainty, 200, uniform=0.3, seed=seed)
        plain.append(y[draw.rows].mean())
        back.append(weighted.weighted_rate(y[draw.rows], draw.drawn_probabilities).value)
    assert float(np.mean(plain)) > 1.5 * y.mean()
    assert float(np.mean([b for b in back if is_defined(b)])) == pytest.approx(y.mean(), abs=0.01)


def test_a_simple_draw_has_the_textbook_variance() -> None:
    # 12 of 40 hit, drawn from 100: s^2 = 40/39 * .3 * .7, var = (1 - .4) s^2 / 40.
    y = np.array([1] * 12 + [0] * 28, dtype=float)
    found = weighted.weighted_rate(y, np.full(40, 0.4), frame_size=100)
    expected = (0.6 * (40 / 39 * 0.3 * 0.7) / 40) ** 0.5
    assert found.value == pytest.approx(0.3)
    assert found.horvitz_thompson == pytest.approx(0.3)
    assert found.se == pytest.approx(expected)
    assert found.effective_n == pytest.approx(0.21 / expected**2)


def test_strata_have_the_textbook_variance() -> None:
    y = np.array([1, 0, 0, 0, 1, 1, 1, 0], dtype=float)
    strata = ["a"] * 4 + ["b"] * 4
    found = weighted.weighted_rate(y, [0.1] * 4 + [0.4] * 4, strata=strata)
    # Frame 40 + 10; rates 1/4 and 3/4; s^2 = 4/3 * 3/16 = 1/4 in both.
    value = 0.8 * 0.25 + 0.2 * 0.75
    variance = 0.8**2 * 0.9 * 0.25 / 4 + 0.2**2 * 0.6 * 0.25 / 4
    assert found.value == pytest.approx(value)
    assert found.se == pytest.approx(variance**0.5)


def test_edges_of_weighted_rates() -> None:
    none = weighted.weighted_rate([], [])
    assert isinstance(none.value, Undefined)
    one = weighted.weighted_rate([1.0], [0.5])
    assert one.value == 1.0
    assert isinstance(one.se, Undefined)
    same = weighted.weighted_rate(np.zeros(50), np.full(50, 0.1))
    assert "no_variation" in same.flags
    assert isinstance(same.interval, Interval)
    assert same.interval.high > 0.05
    census = weighted.weighted_rate([1.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    assert isinstance(census.interval, Interval)
    assert census.interval.low == census.interval.high == census.value
    lonely = weighted.weighted_rate([1.0, 0.0, 1.0], [0.1] * 3, strata=["a", "a", "b"])
    assert "stratum_of_one" in lonely.flags
    assert lonely.interval.low >= 0 if isinstance(lonely.interval, Interval) else True


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: weighted.weighted_rate([1.0], [0.0]), "row 0 has inclusion probability"),
        (lambda: weighted.weighted_rate([float("nan")], [0.5]), "row 0 has no value"),
        (lambda: weighted.weighted_rate([1.0], [0.5, 0.5]), "one value per drawn row"),
        (lambda: draws.stratified_draw([0, 0], [3], seed=0), "cannot be drawn"),
        (lambda: draws.stratified_draw([0, 1], [1, 0], seed=0), "stratum 1 gets no row"),
        (lambda: draws.stratified_draw([0, 1], [1], seed=0), "has no allocation"),
        (lambda: draws.mixed_probabilities([1.0, -1.0], 1), "uncertainty of row 1"),
        (lambda: draws.stratified_mixed_draw([1.0], [0], [2], seed=0), "stratum 0 has 1 rows"),
        (lambda: draws.stratified_mixed_draw([1.0], [0], [1, 1], seed=0), "stratum 1 has 0 rows"),
        (lambda: draws.stratified_mixed_draw([1.0, 1.0], [0, 1], [1], seed=0), "give one each"),
        (lambda: draws.mixed_probabilities([1.0], 1, uniform=0), "without a chance"),
        (lambda: draws.mixed_probabilities([1.0], 2), "cannot be drawn"),
        (lambda: allocation.proportional_allocation([3, 2], 6), "cannot be drawn from 5"),
        (lambda: allocation.proportional_allocation([3, 2], 1, minimum=1), "too few"),
        (lambda: allocation.neyman_allocation([3, 2], [1.0], 2), "one finite standard"),
        (lambda: allocation.cochran_size(5), "between 0 and 1"),
        (lambda: allocation.cochran_size(0.05, population=-1), "impossible"),
        (lambda: planning.more_labels(3, 2, 0.1), "impossible"),
        (lambda: planning.more_labels(1, 2, 5), "no share"),
        (lambda: planning.kappa_sample_size(0.5, 0.5, 0.4, 0.4), "equal"),
        (lambda: planning.kappa_sample_size(0.9, 0.1, 0.9, 0.4), "impossible"),
    ],
)
def test_bad_input(call: Any, says: str) -> None:
    with pytest.raises(StatisticsError, match=says):
        call()


def test_neyman_takes_small_strata_whole() -> None:
    # Quotas of 20 would be 18.2 and 1.8, but the first stratum has 10 rows.
    found = allocation.neyman_allocation([10, 100], [10.0, 0.1], 20)
    assert found.rows == (10, 10)
    # No spread anywhere: by size.
    assert allocation.neyman_allocation([30, 10], [0.0, 0.0], 8).rows == (6, 2)
    assert allocation.proportional_allocation([1000, 3], 50, minimum=1).rows == (49, 1)
    assert allocation.proportional_allocation([1000, 3], 50).empty == (1,)
    assert allocation.equal_allocation([2, 100, 100], 20).rows == (2, 9, 9)


def test_more_labels_until_five_points() -> None:
    # The 17 of 18 of a validation table: +- 5 points at 94% needs about 90 in all.
    found = planning.more_labels(17, 18, 0.05)
    assert is_defined(found.needed)
    need = round(found.needed)
    rate = 17 / 18
    assert planning.expected_half_width(rate, need) <= 0.05
    assert planning.expected_half_width(rate, need - 1) > 0.05
    assert found.more == need - 18
    now = wilson(17, 18)
    assert isinstance(now, Interval)
    assert found.half_width_now == pytest.approx(now.half_width)
    # At 90% the same takes about 140.
    assert planning.more_labels(90, 100, 0.05).needed == pytest.approx(140, abs=4)


def test_population_and_design_effect() -> None:
    assert planning.expected_half_width(0.3, 100, population=100) == 0.0
    plain = planning.expected_half_width(0.3, 100)
    assert planning.expected_half_width(0.3, 200, design_effect=2) == pytest.approx(plain)
    assert planning.expected_half_width(0.3, 100, population=150) < plain
    assert planning.more_labels(0, 0, 0.1, population=50).needed < 50
    assert isinstance(planning.more_labels(0, 0, 0.1).half_width_now, Undefined)
