"""Rates of clustered rows: tasks of one domain share their fate, so domains are the sample.

With 16 domains a percentile bootstrap is too narrow. The t interval here, with clusters - 1
degrees of freedom, is printed beside it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError
from labelkit.stats.bootstrap import Bootstrapped, Method, cluster_bootstrap
from labelkit.stats.intervals import Interval, wilson_limits
from labelkit.stats.quantiles import t_quantile
from labelkit.stats.ratings import Floats
from labelkit.stats.undefined import Number, Reason, Undefined

_FEW_HITS = 15.0
"""Effective rows of the rarer outcome; with fewer the interval is too narrow, and flagged."""

_FEW_FOR_T = 10
"""Clusters; the t quantile makes up for their number down to here."""


@dataclass(frozen=True)
class ClusterRate:
    """A rate as a ratio of sums over clusters.

    Args:
        value: sum of hits / sum of rows.
        se: cluster-robust standard error.
        interval: t interval with clusters - 1 degrees of freedom.
        n_items: rows in the denominator.
        n_clusters: clusters with at least one row.
        design_effect: variance relative to independent rows.
        flags: ``few_clusters``, ``few_hits``, ``no_variation_between_clusters``.
    """

    value: Number
    se: Number
    interval: Interval | Undefined
    n_items: float
    n_clusters: int
    design_effect: Number
    flags: tuple[str, ...] = ()


def cluster_sums(
    hits: Sequence[float] | NDArray[np.generic], clusters: Sequence[Hashable]
) -> tuple[Floats, Floats]:
    """Return hits and rows per cluster, in order of first appearance.

    Args:
        hits: 1 or 0 (or a score) per row of the denominator, shape (n,).
        clusters: the cluster of every row.
    """
    if len(hits) != len(clusters):
        raise StatisticsError(f"{len(clusters)} clusters for {len(hits)} rows; name one per row")
    seen: dict[Hashable, int] = {}
    number = np.array([seen.setdefault(c, len(seen)) for c in clusters], dtype=np.int64)
    value = np.asarray(hits, dtype=np.float64)
    return (
        np.asarray(np.bincount(number, weights=value, minlength=len(seen)), dtype=np.float64),
        np.asarray(np.bincount(number, minlength=len(seen)), dtype=np.float64),
    )


def cluster_t(hits: Floats, rows: Floats, level: float = 0.95) -> ClusterRate:
    """Return a rate with its cluster-robust t interval, cut to [0, 1].

    Cochran (1977), Sampling Techniques, eq. 6.13, the linearised variance of a ratio estimate:
    G / (G - 1) * sum (y_g - r x_g)^2 / (sum x_g)^2, the CR1 estimate of a mean. Trust it for 10
    clusters or more with 15 effective rows (rows / design effect) of the rarer outcome: coverage
    is then 92% or more. Below, it falls to 71% and is flagged (``few_clusters``, ``few_hits``).

    Args:
        hits: numerator per cluster, (G,).
        rows: denominator per cluster, (G,); clusters of no rows are left out.
        level: confidence level.
    """
    y, x = np.asarray(hits, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    if y.shape != x.shape or y.ndim != 1:
        raise StatisticsError("hits and rows must be one number per cluster each")
    y, x = y[x > 0], x[x > 0]
    total, groups = float(x.sum()), len(x)
    if groups == 0:
        why = Undefined(Reason.NO_ITEMS, "a rate over no rows has no value")
        return ClusterRate(why, why, why, 0.0, 0, why)
    value = float(y.sum()) / total
    if groups == 1:
        why = Undefined(Reason.SINGLE_CLUSTER, "one cluster shows no variation between clusters")
        return ClusterRate(value, why, why, total, 1, why, ("few_clusters",))
    se = sqrt(groups / (groups - 1) * float(np.square(y - value * x).sum())) / total
    reach = t_quantile(level, groups - 1) * se
    low, high = min(value, max(0.0, value - reach)), max(value, min(1.0, value + reach))
    plain = value * (1 - value) / total
    effect: Number = (
        se * se / plain
        if plain > 0
        else Undefined(Reason.NO_VARIATION, "all rows are alike, so no row varies")
    )
    flags: tuple[str, ...] = ("few_clusters",) if groups < _FEW_FOR_T else ()
    if _few_hits(value, effect, total):
        flags += ("few_hits",)
    if se == 0:
        flags += ("no_variation_between_clusters",)
        t = t_quantile(level, groups - 1)
        if value in (0.0, 1.0):
            low, high = wilson_limits(value, groups, t)
    return ClusterRate(
        value, se, Interval(low, high, level, "cluster_t"), total, groups, effect, flags
    )


def _few_hits(value: float, effect: Number, rows: float) -> bool:
    """Tell whether the rarer outcome has fewer than 15 effective rows."""
    if isinstance(effect, Undefined):
        return True
    return rows / max(effect, 1.0) * min(value, 1 - value) < _FEW_HITS


def cluster_rate_bootstrap(
    hits: Floats,
    rows: Floats,
    *,
    replicates: int = 4000,
    seed: int = 0,
    level: float = 0.95,
    method: Method = "percentile",
    exact: bool = False,
) -> Bootstrapped:
    """Return the cluster bootstrap of a rate: ratio of sums over the drawn clusters.

    Sixteen domains with one and the same rate give an interval of width 0, flagged.
    """
    y, x = np.asarray(hits, dtype=np.float64), np.asarray(rows, dtype=np.float64)

    def rate(drawn: Floats) -> Floats:
        out = np.full(len(drawn), np.nan)
        np.divide(drawn @ y, drawn @ x, out=out, where=drawn @ x > 0)
        return out

    found = cluster_bootstrap(
        rate,
        len(x),
        replicates=replicates,
        seed=seed,
        level=level,
        method=method,
        exact=exact,
    )
    few = tuple(f for f in cluster_t(y, x, level).flags if f == "few_hits")
    return replace(found, flags=found.flags + few)
