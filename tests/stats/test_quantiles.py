"""Quantiles against scipy, and the level check."""

from __future__ import annotations

import pytest
from scipy import special
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from labelkit.errors import StatisticsError
from labelkit.stats import intervals, proportions, quantiles
from labelkit.stats.undefined import Undefined


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("df", [1, 1.5, 2, 3, 7, 28, 99, 282, 999, 1000, 1001, 1e6])
def test_t_quantile(level: float, df: float) -> None:
    expected = special.stdtrit(df, 0.5 + level / 2)
    assert quantiles.t_quantile(level, df) == pytest.approx(expected, rel=1e-12)


def test_normal() -> None:
    assert quantiles.normal_quantile(0.95) == pytest.approx(1.959963984540054, abs=1e-14)
    assert quantiles.normal_tail(19.9) == pytest.approx(scipy_stats.norm.sf(19.9), rel=1e-10)
    for level in (0.0, 1.0, 95, -1):
        with pytest.raises(StatisticsError, match=r"0\.95"):
            quantiles.check_level(level)
    with pytest.raises(StatisticsError, match="degrees of freedom"):
        quantiles.t_quantile(0.95, 0)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("wilson", "wilson"),
        ("clopper_pearson", "beta"),
        ("agresti_coull", "agresti_coull"),
    ],
)
@pytest.mark.parametrize(("hits", "n"), [(0, 20), (1, 20), (10, 20), (268, 283), (283, 283)])
def test_intervals_against_statsmodels(ours: str, theirs: str, hits: int, n: int) -> None:
    found = proportions.proportion_interval(hits, n, ours)
    low, high = proportion_confint(hits, n, method=theirs)
    assert not isinstance(found, Undefined)
    assert found.low == pytest.approx(max(0.0, low), abs=1e-12)
    assert found.high == pytest.approx(min(1.0, high), abs=1e-12)


def test_a_rate_over_nothing_is_undefined() -> None:
    rate = intervals.proportion(0, 0)
    assert isinstance(rate.value, Undefined)
    assert isinstance(rate.interval, Undefined)
    assert rate.interval.reason == "no_items"
    with pytest.raises(StatisticsError, match="choose one of"):
        proportions.proportion_interval(1, 2, "wald")
