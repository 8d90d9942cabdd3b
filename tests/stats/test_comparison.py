"""Tests of differences against statsmodels and scipy, families, fronts and ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar as peer_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportions_ztest

from labelkit.errors import StatisticsError
from labelkit.stats import comparison, missingness, ranking
from labelkit.stats.intervals import Interval, wilson
from labelkit.stats.undefined import Undefined

few = settings(max_examples=50, deadline=None)


@few
@given(data=st.tuples(*[st.integers(1, 60)] * 2), shares=st.tuples(*[st.floats(0, 1)] * 2))
def test_z_and_newcombe(data: tuple[int, int], shares: tuple[float, float]) -> None:
    (n1, n2), (x1, x2) = data, (round(n * s) for n, s in zip(data, shares, strict=True))
    found = comparison.two_proportions(x1, n1, x2, n2)
    low, high = confint_proportions_2indep(x1, n1, x2, n2, method="newcomb")
    assert isinstance(found.interval, Interval)
    assert found.interval.low == pytest.approx(low, abs=1e-9)
    assert found.interval.high == pytest.approx(high, abs=1e-9)
    if x1 + x2 in (0, n1 + n2):
        assert isinstance(found.z, Undefined)
        return
    z, p = proportions_ztest([x1, x2], [n1, n2])
    assert found.z == pytest.approx(z, abs=1e-9)
    assert found.p_value == pytest.approx(p, rel=1e-9)


@few
@given(b=st.integers(0, 80), c=st.integers(0, 80))
def test_mcnemar(b: int, c: int) -> None:
    found = comparison.mcnemar(b, c)
    if b + c == 0:
        assert (found.p_exact, found.p_midp) == (1.0, 1.0)
        assert isinstance(found.chi2, Undefined)
        return
    table = [[0, b], [c, 0]]
    assert found.p_exact == pytest.approx(
        min(1.0, peer_mcnemar(table, exact=True).pvalue), rel=1e-9
    )
    assert found.chi2 == pytest.approx(peer_mcnemar(table, exact=False, correction=False).statistic)
    mass = scipy_stats.binom.pmf(b, b + c, 0.5)
    midp = 1 - mass / 2 if b == c else found.p_exact - mass
    assert found.p_midp == pytest.approx(midp, abs=1e-12)
    assert 0 <= found.p_midp <= found.p_exact


def test_midp_of_the_airway_study() -> None:
    # Bentur et al. (2009) in Fagerland, Lydersen & Laake (2013): b = 1, c = 7.
    found = comparison.mcnemar(1, 7)
    assert found.p_exact == pytest.approx(2 * (1 + 8) / 256)
    assert found.p_midp == pytest.approx(2 * (1 + 8) / 256 - 8 / 256)


@settings(max_examples=10, deadline=None)  # statsmodels takes 0.15 s for one Holm family
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_families(p: list[float]) -> None:
    assert comparison.holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist())
    ours = comparison.benjamini_hochberg(p)
    assert ours == pytest.approx(multipletests(p, method="fdr_bh")[1].tolist())


def test_a_family_has_a_name() -> None:
    found = comparison.adjust("prompts", {"a": 0.01, "b": 0.04}, "benjamini_hochberg")
    assert found.adjusted == {"a": 0.02, "b": 0.04}
    with pytest.raises(StatisticsError, match="needs a name"):
        comparison.adjust("", {"a": 0.5})
    with pytest.raises(StatisticsError, match=r"1\.5 at position 1"):
        comparison.holm([0.1, 1.5])
    with pytest.raises(StatisticsError, match="whole numbers"):
        comparison.mcnemar(-1, 2)


def test_pareto_front_and_its_tie_rule() -> None:
    # Success up, false claims down. The second ties the first on success and is worse in claims.
    points = [(0.8, 0.1), (0.8, 0.2), (0.6, 0.05), (0.5, 0.3), (0.8, 0.1)]
    directions = [True, False]
    weak = ranking.pareto_front(points, directions)
    strict = ranking.pareto_front(points, directions, ties="strict")
    assert weak.tolist() == [True, False, True, False, True]
    assert strict.tolist() == [True, True, True, False, True]
    with pytest.raises(StatisticsError, match="model 0 has no value for criterion 1"):
        ranking.pareto_front([(1.0, float("nan"))], directions)


def test_ranks() -> None:
    rng = np.random.default_rng(0)
    hard = rng.random((200, 1))
    scores = (hard < np.array([[0.9, 0.6, 0.61, 0.1]])).astype(float)
    first, second, third, last = ranking.rank_intervals(scores, list("abcd"), replicates=500)
    assert (first.rank, first.low, first.high) == (1, 1, 1)
    assert first.p_best == 1.0
    assert (last.low, last.high) == (4, 4)
    assert {second.rank, third.rank} <= {2, 3}
    assert second.high == 3
    lower = ranking.rank_intervals(scores, list("abcd"), higher_is_better=False, replicates=50)
    assert lower[3].rank == 1


def test_shared_ranks_missing_scores_and_clusters() -> None:
    scores = np.array([[1.0, 1.0, np.nan], [0.0, 0.0, np.nan]])
    tied, also, absent = ranking.rank_intervals(scores, list("abc"), replicates=50)
    assert tied.rank == also.rank == 1
    assert isinstance(absent.score, Undefined)
    assert absent.rank is None
    found = ranking.rank_intervals(
        np.ones((4, 1)), ["m"], clusters=["x", "x", "y", "y"], replicates=20
    )
    assert found[0].flags == ("few_clusters",)


def test_missing_bounds() -> None:
    found = missingness.missing_bounds(30, 50, 10)
    assert (found.value, found.low, found.high) == (0.6, 30 / 60, 40 / 60)
    low, high = wilson(30, 60), wilson(40, 60)
    assert isinstance(found.interval, Interval)
    assert isinstance(low, Interval)
    assert isinstance(high, Interval)
    assert (found.interval.low, found.interval.high) == (low.low, high.high)
    assert isinstance(missingness.missing_bounds(0, 0, 0).value, Undefined)
    nothing_scored = missingness.missing_bounds(0, 0, 5)
    assert isinstance(nothing_scored.value, Undefined)
    assert (nothing_scored.low, nothing_scored.high) == (0.0, 1.0)
    with pytest.raises(StatisticsError, match="impossible"):
        missingness.missing_bounds(3, 2, 0)


@pytest.mark.parametrize("points", [[[1.0]], [1.0, 2.0]])
def test_directions_must_fit(points: Any) -> None:
    with pytest.raises(StatisticsError, match="one direction per criterion"):
        ranking.pareto_front(points, [True, True])
