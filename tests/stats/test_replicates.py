"""Bootstrap: every coefficient over a matrix of resamples equals its own function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from labelkit.errors import StatisticsError
from labelkit.stats import bootstrap, clusters, ratings
from labelkit.stats.agreement import COEFFICIENTS, krippendorff_alpha
from labelkit.stats.agreement.replicates import (
    REPLICATES,
    bootstrap_agreement,
    replicate_statistic,
)
from labelkit.stats.intervals import Interval
from labelkit.stats.undefined import is_defined

LABELS = ["a", "b", "c"]


def own_value(name: str, table: ratings.RatingTable) -> float:
    if name == "krippendorff_alpha_interval":
        value = krippendorff_alpha(table, "interval").value
    else:
        value = COEFFICIENTS[name].compute(table).value
    return value if is_defined(value) else float("nan")


@pytest.mark.parametrize("name", REPLICATES)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_replicate_is_the_coefficient_of_the_resample(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    raters = 2 if name in ("cohen_kappa", "scott_pi") else 3
    codes = rng.integers(-1, 3, (12, raters))
    # Every rater labels something, so that a resample has the same raters as the table.
    codes[0] = 1
    labels: list[Any] = [1, 2, 3] if name == "krippendorff_alpha_interval" else LABELS
    table = ratings.from_codes(codes, labels)
    statistic = replicate_statistic(table, name)
    own = own_value(name, table)
    assert statistic(table.freq[None, :])[0] == pytest.approx(own, abs=1e-10, nan_ok=True)
    drawn = rng.multinomial(12, table.freq / 12, size=4).astype(float)
    drawn[:, table.pattern_of[0] if table.pattern_of is not None else 0] += 1
    values = statistic(drawn)
    for weights, value in zip(drawn, values, strict=True):
        resampled = own_value(name, table.with_freq(weights))
        assert value == pytest.approx(resampled, abs=1e-9, nan_ok=True)


def test_clusters_move_together() -> None:
    # Two clusters: one always agrees, one never does.
    codes = np.array([[0, 0]] * 5 + [[0, 1]] * 5)
    table = ratings.from_codes(codes, LABELS)
    found = bootstrap_agreement(
        table, "percent_agreement", clusters=["x"] * 5 + ["y"] * 5, replicates=400
    )
    # Draws of two of two clusters: agreement is 0, 1/2 or 1, never between.
    assert set(found.replicates.tolist()) == {0.0, 0.5, 1.0}
    assert "few_clusters" in found.flags
    with pytest.raises(StatisticsError, match="cluster of every item"):
        bootstrap_agreement(table, "percent_agreement", clusters=["x"])


def test_undefined_replicates_are_counted() -> None:
    # One item of ten has the rare label; resamples without it have no kappa.
    codes = np.array([[0, 0]] * 9 + [[1, 1]])
    table = ratings.from_codes(codes, LABELS)
    found = bootstrap_agreement(table, "cohen_kappa", replicates=4000, seed=1)
    expected = 0.9**10  # chance that a resample misses it
    assert found.n_undefined / 4000 == pytest.approx(expected, abs=0.03)
    assert found.n_used + found.n_undefined == 4000
    assert "many_undefined_replicates" in found.flags


def test_all_replicates_undefined() -> None:
    table = ratings.from_codes(np.zeros((5, 2), dtype=int), LABELS)
    found = bootstrap_agreement(table, "cohen_kappa", replicates=50)
    assert not is_defined(found.estimate)
    assert not isinstance(found.interval, Interval)
    assert found.n_undefined == 50


def test_bca_agrees_with_scipy() -> None:
    rng = np.random.default_rng(5)
    x = rng.exponential(size=40)
    ours = bootstrap.bootstrap(
        lambda w: (w @ x) / w.sum(axis=1), np.ones(40), replicates=20_000, method="bca"
    )
    theirs = scipy_stats.bootstrap(
        (x,), np.mean, n_resamples=20_000, method="BCa", random_state=6
    ).confidence_interval
    assert isinstance(ours.interval, Interval)
    assert ours.interval.low == pytest.approx(theirs.low, abs=0.02)
    assert ours.interval.high == pytest.approx(theirs.high, abs=0.03)


def test_folded_rows_resample_like_single_items() -> None:
    # 30 hits of 100: the se of the mean is sqrt(.3 * .7 / 100) = 0.0458.
    folded = bootstrap.bootstrap(lambda w: w[:, 1] / w.sum(axis=1), [70, 30], replicates=20_000)
    assert folded.se == pytest.approx(0.0458, abs=0.001)
    assert folded.n_units == 100


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: bootstrap.bootstrap(lambda w: w[:, 0], []), "at least one unit"),
        (lambda: bootstrap.bootstrap(lambda w: w[:, 0], [1.5]), "whole numbers"),
        (lambda: bootstrap.bootstrap(lambda w: w[:, 0], [1], replicates=0), "too few"),
        (lambda: bootstrap.draw_weights([[3]], 2), "outside"),
        (lambda: clusters.cluster_rate_bootstrap(np.ones(9), np.ones(9), exact=True), "enumerated"),
        (
            lambda: replicate_statistic(ratings.from_counts([[2]], ["a"]), "conger_kappa")(
                np.ones((1, 1))
            ),
            "anonymous",
        ),
        (lambda: replicate_statistic(ratings.from_counts([[2]], ["a"]), "what"), "choose one of"),
    ],
)
def test_bad_input(call: Any, says: str) -> None:
    with pytest.raises(StatisticsError, match=says):
        call()


def test_cluster_t_by_hand() -> None:
    # Rates 3/10, 5/10, 7/10: r = .5, residuals -2, 0, 2, variance 3/2 * 8 / 30^2.
    found = clusters.cluster_t(np.array([3.0, 5, 7]), np.array([10.0, 10, 10]))
    se = (3 / 2 * 8 / 900) ** 0.5
    assert found.value == 0.5
    assert found.se == pytest.approx(se)
    assert isinstance(found.interval, Interval)
    assert found.interval.high - 0.5 == pytest.approx(scipy_stats.t.ppf(0.975, 2) * se)
    assert found.design_effect == pytest.approx(se**2 / (0.25 / 30))
    assert found.flags == ("few_clusters", "few_hits")


def test_cluster_t_without_information() -> None:
    one = clusters.cluster_t(np.array([3.0]), np.array([10.0]))
    assert one.value == 0.3
    assert not is_defined(one.se)
    none = clusters.cluster_t(np.zeros(20), np.full(20, 5.0))
    assert "no_variation_between_clusters" in none.flags
    assert isinstance(none.interval, Interval)
    assert none.interval.high > 0.1  # not [0, 0]
    hits, rows = clusters.cluster_sums([1, 0, 1], ["x", "y", "x"])
    assert (hits.tolist(), rows.tolist()) == ([2, 0], [2, 1])
