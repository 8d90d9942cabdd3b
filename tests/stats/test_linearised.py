"""Linearised intervals against the closed forms they must equal, and against resampling."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.stats.clusters import cluster_sums, cluster_t
from labelkit.stats.linearised import mean, ratio, spread, weighted_sum
from labelkit.stats.undefined import Reason, Undefined

samples = st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=3, max_size=30)


def masks(n: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n) < first, np.arange(n) >= first


@given(samples)
def test_a_mean_has_its_textbook_standard_error(values: list[float]) -> None:
    x = np.array(values)
    found = spread(mean(x, np.ones(len(x), dtype=bool)))
    assert found.se == pytest.approx(x.std(ddof=1) / sqrt(len(x)), abs=1e-9)
    assert found.n_clusters == len(x)


def test_a_ratio_of_independent_means_has_the_delta_method_variance() -> None:
    x = np.array([9.0, 10, 11, 10, 4, 5, 6, 5, 5])
    first, second = masks(9, 4)
    found = ratio(mean(x, first), mean(x, second))
    assert found.value == 10 / 5
    # var(a/b) = (var a + R^2 var b) / b^2 with the sums of squares 2/16 and 2/25; 9 rows in all.
    squares = (2 / 16 + 4 * 2 / 25) / 25
    assert spread(found).se == pytest.approx(sqrt(9 / 8 * squares))


def test_pairs_cancel_in_a_clustered_difference() -> None:
    # Each pair differs by exactly 1, whatever its level: the difference is 1 without any error.
    base = np.array([1.0, 5, 9, 30])
    x = np.concatenate([base, base + 1])
    first, second = masks(8, 4)
    change = weighted_sum([mean(x, second), mean(x, first)], [1, -1])
    pairs = np.array([0, 1, 2, 3, 0, 1, 2, 3])
    assert change.value == 1
    paired, apart = spread(change, pairs), spread(change)
    assert paired.se == pytest.approx(0, abs=1e-12)
    assert isinstance(apart.se, float)
    assert apart.se > 5


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=8, max_size=40))
def test_a_clustered_rate_is_that_of_cluster_t(rows: list[tuple[bool, int]]) -> None:
    hits = np.array([float(hit) for hit, _ in rows])
    cluster = np.array([c for _, c in rows])
    mine = spread(mean(hits, np.ones(len(rows), dtype=bool)), cluster)
    theirs = cluster_t(*cluster_sums(hits, cluster.tolist()))
    if isinstance(theirs.se, Undefined):
        assert isinstance(mine.se, Undefined)
    else:
        assert mine.se == pytest.approx(theirs.se, abs=1e-12)


def test_undefined_parts_make_undefined_results() -> None:
    x = np.array([1.0, 2.0])
    nothing, everything = np.zeros(2, dtype=bool), np.ones(2, dtype=bool)
    for found in (
        mean(x, nothing),
        ratio(mean(x, nothing), mean(x, everything)),
        ratio(mean(x, everything), mean(x, nothing)),
        weighted_sum([mean(x, everything), mean(x, nothing)], [1, -1]),
    ):
        assert isinstance(found.value, Undefined)
        assert found.value.reason is Reason.NO_ITEMS
        assert spread(found).n_clusters == 0
    zero = ratio(mean(x, everything), mean(np.zeros(2), everything))
    assert isinstance(zero.value, Undefined)
    assert zero.value.reason is Reason.ZERO_DENOMINATOR
    assert isinstance(spread(mean(x, everything), np.zeros(2, dtype=np.int64)).se, Undefined)


def test_a_divisor_near_nothing_is_flagged() -> None:
    x = np.array([1.0] * 12 + [-1, 1] * 5 + [1, 1.0])
    top, bottom = masks(24, 12)
    assert "unstable_divisor" in spread(ratio(mean(x, top), mean(x, bottom))).flags
    assert spread(ratio(mean(x, bottom), mean(x, top))).flags == ()


def test_coverage_of_a_ratio_of_clustered_means() -> None:
    # 20 clusters of 10 rows; the level of a cluster enters both parts. True ratio 2.
    rng = np.random.default_rng(7)
    cluster = np.repeat(np.arange(20), 10)
    top = np.tile(np.arange(10) < 5, 20)
    covered = 0
    for _ in range(400):
        level = np.repeat(rng.normal(0, 0.3, 20), 10)
        x = np.where(top, 4.0, 2.0) + level + rng.normal(0, 0.5, 200)
        interval = spread(ratio(mean(x, top), mean(x, ~top)), cluster).interval
        assert not isinstance(interval, Undefined)
        covered += interval.low <= 2 <= interval.high
    assert 0.92 <= covered / 400 <= 0.98
