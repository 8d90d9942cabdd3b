"""Bootstrap intervals over items or clusters, as arithmetic on weights.

A replicate is a vector of how often every unit was drawn, so a statistic that maps a matrix of
weights to one value per row computes ten thousand replicates at once. Replicates without a value
are counted and never dropped in silence; an interval without width is flagged as what it is: lack
of information.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import isfinite
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError
from labelkit.stats.encode import numbers
from labelkit.stats.intervals import Interval
from labelkit.stats.quantiles import check_level, normal_cdf
from labelkit.stats.ratings import Floats
from labelkit.stats.undefined import Number, Reason, Undefined

Statistic = Callable[[Floats], Floats]
"""Maps weights of the units, shape (B, u), to one value per replicate, (B,); NaN is undefined."""

Method = Literal["percentile", "bca"]

FEW_CLUSTERS = 60
"""With fewer clusters than this a percentile interval falls short of its 95%."""

_MANY_UNDEFINED = 0.05
_BLOCK = 4_000_000
_ENUMERABLE = 50_000


@dataclass(frozen=True, eq=False)
class Bootstrapped:
    """What a bootstrap tells of one statistic.

    Args:
        estimate: the statistic of the data itself.
        interval: its interval.
        se: standard deviation of the replicates.
        n_used: replicates with a value.
        n_undefined: replicates without one.
        n_units: what was resampled: items or clusters.
        flags: ``no_variation_in_replicates``, ``many_undefined_replicates``, ``few_clusters``.
        replicates: the values themselves, shape (B,).
    """

    estimate: Number
    interval: Interval | Undefined
    se: Number
    n_used: int
    n_undefined: int
    n_units: int
    flags: tuple[str, ...] = ()
    replicates: Floats = field(default_factory=lambda: np.empty(0), repr=False)


def bootstrap(
    statistic: Statistic,
    sizes: Sequence[float] | Floats,
    *,
    replicates: int = 4000,
    seed: int = 0,
    level: float = 0.95,
    method: Method = "percentile",
) -> Bootstrapped:
    """Resample units with replacement and return the interval of a statistic.

    Efron (1979), Ann. Stat. 7:1, percentile interval; Efron (1987), J. Am. Stat. Assoc. 82:171,
    for BCa (eqs. 2.3, 6.6 with the jackknife acceleration). Percentiles interpolate linearly.
    With fewer than 60 clusters percentile intervals are too narrow: see ``clusters.cluster_t``.

    Args:
        statistic: maps weights (B, u) to values (B,).
        sizes: how many equal units stand behind every column, (u,); all ones for single units,
            the frequencies for a table of distinct rows.
        replicates: B.
        seed: of the generator.
        level: confidence level.
        method: ``percentile`` or ``bca``.

    Raises:
        StatisticsError: for no units, sizes that are not whole numbers, or an unknown method.
    """
    units = _sizes(sizes)
    total = int(units.sum())
    if replicates < 1:
        raise StatisticsError(f"{replicates} replicates are too few; use 1,000 or more")
    rng = np.random.default_rng(seed)
    block = max(1, _BLOCK // max(1, len(units)))
    values = []
    for start in range(0, replicates, block):
        drawn = rng.multinomial(total, units / total, size=min(block, replicates - start))
        values.append(statistic(drawn.astype(np.float64)))
    return summarise_replicates(
        np.concatenate(values), statistic, units, level=level, method=method
    )


def cluster_bootstrap(
    statistic: Statistic,
    n_clusters: int,
    *,
    replicates: int = 4000,
    seed: int = 0,
    level: float = 0.95,
    method: Method = "percentile",
    exact: bool = False,
) -> Bootstrapped:
    """Resample whole clusters and return the interval of a statistic.

    All items of a drawn cluster enter, once for every time it is drawn (Davison & Hinkley 1997,
    ch. 3.8), so a rate is a ratio of sums and not a mean of the clusters' rates.

    Args:
        statistic: maps weights of the clusters (B, G) to values (B,).
        n_clusters: G.
        replicates: B.
        seed: of the generator.
        level: confidence level.
        method: ``percentile`` or ``bca``.
        exact: enumerate all G^G draws instead (G of 6 or less); ``se`` then has divisor G^G.
    """
    if not exact:
        found = bootstrap(
            statistic,
            np.ones(max(0, n_clusters)),
            replicates=replicates,
            seed=seed,
            level=level,
            method=method,
        )
        return _flag(found, n_clusters)
    if n_clusters < 1 or n_clusters**n_clusters > _ENUMERABLE:
        raise StatisticsError(
            f"{n_clusters} clusters cannot be enumerated; use 1 to 6, or random replicates"
        )
    draws = np.array(list(product(range(n_clusters), repeat=n_clusters)))
    values = statistic(draw_weights(draws, n_clusters))
    found = summarise_replicates(
        values, statistic, np.ones(n_clusters), level=level, method=method, ddof=0
    )
    return _flag(found, n_clusters)


def draw_weights(draws: Sequence[Sequence[int]] | NDArray[Any], n_units: int) -> Floats:
    """Return how often every unit was drawn, (B, u), from lists of drawn indices.

    Raises:
        StatisticsError: for an index outside 0..u-1.
    """
    out = np.zeros((len(draws), n_units))
    for b, drawn in enumerate(draws):
        drawn_units = numbers(drawn, f"units of replicate {b}")
        index = drawn_units.astype(np.int64)
        if (index != drawn_units).any():
            raise StatisticsError(f"replicate {b} draws a unit that is no whole number")
        if index.size and (index.min() < 0 or index.max() >= n_units):
            raise StatisticsError(f"replicate {b} draws a unit outside 0..{n_units - 1}")
        out[b] = np.bincount(index, minlength=n_units)
    return out


def summarise_replicates(
    values: Floats,
    statistic: Statistic,
    sizes: Floats,
    *,
    level: float = 0.95,
    method: Method = "percentile",
    ddof: int = 1,
) -> Bootstrapped:
    """Return the interval of replicates that were computed already."""
    check_level(level)
    estimate = float(statistic(sizes[None, :])[0])
    point: Number = (
        estimate
        if isfinite(estimate)
        else Undefined(Reason.NOT_A_NUMBER, "the statistic has no value on the data itself")
    )
    used = values[np.isfinite(values)]
    n_undefined = len(values) - len(used)
    units = int(sizes.sum())
    if not len(used) or isinstance(point, Undefined):
        why = Undefined(Reason.ALL_REPLICATES_UNDEFINED, "no replicate has a value")
        hole = point if isinstance(point, Undefined) else why
        return Bootstrapped(point, hole, hole, len(used), n_undefined, units, (), values)
    flags: tuple[str, ...] = ()
    if n_undefined > _MANY_UNDEFINED * len(values):
        flags += ("many_undefined_replicates",)
    if np.ptp(used) <= 1e-12:
        flags += ("no_variation_in_replicates",)
        method = "percentile"
    if method == "bca":
        low_tail, high_tail = _bca_tails(used, point, statistic, sizes, level)
    elif method == "percentile":
        low_tail, high_tail = (1 - level) / 2, (1 + level) / 2
    else:
        raise StatisticsError(f"unknown bootstrap method {method!r}; choose percentile or bca")
    low, high = (float(v) for v in np.quantile(used, [low_tail, high_tail]))
    se: Number = (
        float(used.std(ddof=ddof))
        if len(used) > ddof
        else Undefined(Reason.SINGLE_ITEM, "one replicate has no spread")
    )
    interval = Interval(low, high, level, f"{method}_bootstrap")
    if not low <= point <= high:
        flags += ("estimate_outside_interval",)
    return Bootstrapped(point, interval, se, len(used), n_undefined, units, flags, values)


def _bca_tails(
    values: Floats, estimate: float, statistic: Statistic, sizes: Floats, level: float
) -> tuple[float, float]:
    """Return the corrected tail probabilities (Efron 1987, eq. 2.3)."""
    normal = NormalDist()
    below = (float((values < estimate).mean()) + float((values <= estimate).mean())) / 2
    edge = 0.5 / len(values)
    bias = normal.inv_cdf(min(max(below, edge), 1 - edge))
    acceleration = _acceleration(statistic, sizes)
    tails = []
    for z in (normal.inv_cdf((1 - level) / 2), normal.inv_cdf((1 + level) / 2)):
        room = 1 - acceleration * (bias + z)
        tails.append(normal_cdf(bias + (bias + z) / room) if room > 0 else float(z > 0))
    return min(tails), max(tails)


def _acceleration(statistic: Statistic, sizes: Floats) -> float:
    """Return Efron's acceleration from leaving out one unit of every kind (1987, eq. 6.6)."""
    kinds = np.flatnonzero(sizes > 0)
    left_out = np.repeat(sizes[None, :], len(kinds), axis=0)
    left_out[np.arange(len(kinds)), kinds] -= 1.0
    values = statistic(left_out)
    known = np.isfinite(values)
    freq, values = sizes[kinds][known], values[known]
    if freq.sum() < 3:
        return 0.0
    apart = freq @ values / freq.sum() - values
    spread = float(freq @ np.square(apart))
    return float(freq @ apart**3) / (6 * spread**1.5) if spread > 0 else 0.0


def _sizes(sizes: Sequence[float] | Floats) -> Floats:
    units = numbers(sizes, "sizes of units")
    if units.ndim != 1 or units.sum() < 1:
        raise StatisticsError("a bootstrap needs at least one unit to resample")
    if (units < 0).any() or (units != np.floor(units)).any():
        raise StatisticsError("sizes of units must be whole numbers >= 0")
    return units


def _flag(found: Bootstrapped, n_clusters: int) -> Bootstrapped:
    flags = found.flags + (("few_clusters",) if n_clusters < FEW_CLUSTERS else ())
    return Bootstrapped(
        found.estimate,
        found.interval,
        found.se,
        found.n_used,
        found.n_undefined,
        n_clusters,
        flags,
        found.replicates,
    )
