"""Intervals of means, ratios and differences of them, from one vector of influences per estimate.

A published number is often a ratio of two means, or a share of a difference, over rows that share
tasks or domains. By linearisation every such number is, to first order, a sum of one influence
per row; the influences of a ratio follow from those of its parts by the chain rule, and rows of
one cluster are added up before the variance is taken. So pairs, clusters and ratios need no
formula of their own.

Source: Taylor linearisation as in Binder (1983), Int. Stat. Rev. 51:279, and Särndal, Swensson &
Wretman (1992), Model Assisted Survey Sampling, section 5.5; t quantile with clusters - 1 degrees
of freedom. Trust it with 10 or more clusters (below: flag ``few_clusters``) and, for a ratio, a
divisor at least three standard errors from 0 (below: flag ``unstable_divisor``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from labelkit.stats.intervals import Interval
from labelkit.stats.quantiles import t_quantile
from labelkit.stats.ratings import Floats
from labelkit.stats.undefined import Number, Reason, Undefined

FEW_CLUSTERS = 10
_STEADY = 3.0


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number with the influence of every row on it.

    Args:
        value: the number, or why there is none.
        influence: shape (n_rows,); it sums to 0 and is 0 for rows that do not matter.
        rows: mask of the rows that the number is about, shape (n_rows,).
        divisor_z: for a ratio, the divisor in units of its standard error; None otherwise.
    """

    value: Number
    influence: Floats
    rows: NDArray[np.bool_]
    divisor_z: float | None = None


@dataclass(frozen=True)
class Spread:
    """How sure an estimate is.

    Args:
        se: standard error.
        interval: t interval.
        n_clusters: independent units: clusters, or rows where none are named.
        flags: ``few_clusters``, ``no_variation``, ``unstable_divisor``.
    """

    se: Number
    interval: Interval | Undefined
    n_clusters: int
    flags: tuple[str, ...] = ()


def mean(values: Floats, where: NDArray[np.bool_]) -> Estimate:
    """Return the mean of ``values`` (n_rows,) over the rows of a mask; undefined over none."""
    n = int(np.count_nonzero(where))
    influence = np.zeros(len(where), dtype=np.float64)
    if n == 0:
        return Estimate(Undefined(Reason.NO_ITEMS, "a mean over no rows"), influence, where)
    inside = np.asarray(values, dtype=np.float64)[where]
    value = float(inside.mean())
    influence[where] = (inside - value) / n
    return Estimate(value, influence, where)


def weighted_sum(parts: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """Return the sum of weight * estimate, the weights taken as fixed; undefined if a part is."""
    value, influence = 0.0, np.zeros_like(parts[0].influence)
    rows = np.any([part.rows for part in parts], axis=0)
    for part, weight in zip(parts, weights, strict=True):
        if isinstance(part.value, Undefined):
            return Estimate(part.value, np.zeros_like(influence), rows)
        value += weight * part.value
        influence = influence + weight * part.influence
    return Estimate(value, influence, rows)


def ratio(top: Estimate, bottom: Estimate, clusters: NDArray[np.int64] | None = None) -> Estimate:
    """Return top / bottom; undefined where a part is, or where the divisor is 0."""
    rows, none = top.rows | bottom.rows, np.zeros_like(top.influence)
    if isinstance(top.value, Undefined):
        return Estimate(top.value, none, rows)
    if isinstance(bottom.value, Undefined):
        return Estimate(bottom.value, none, rows)
    if bottom.value == 0:
        return Estimate(Undefined(Reason.ZERO_DENOMINATOR, "the divisor is 0"), none, rows)
    value = top.value / bottom.value
    influence = (top.influence - value * bottom.influence) / bottom.value
    error, _ = _standard_error(bottom, clusters)
    return Estimate(value, influence, rows, abs(bottom.value) / error if error else None)


def spread(
    estimate: Estimate, clusters: NDArray[np.int64] | None = None, level: float = 0.95
) -> Spread:
    """Return standard error and t interval of an estimate.

    Args:
        estimate: the estimate over n_rows rows.
        clusters: shape (n_rows,), whole numbers; None takes every row as its own cluster.
        level: confidence level.
    """
    if isinstance(estimate.value, Undefined):
        return Spread(estimate.value, estimate.value, 0)
    error, n = _standard_error(estimate, clusters)
    if n < 2:
        why = Undefined(Reason.SINGLE_CLUSTER, "one independent unit shows no variation")
        return Spread(why, why, n)
    flags: tuple[str, ...] = ("few_clusters",) if n < FEW_CLUSTERS else ()
    if error == 0:
        flags += ("no_variation",)
    if estimate.divisor_z is not None and estimate.divisor_z < _STEADY:
        flags += ("unstable_divisor",)
    reach = t_quantile(level, n - 1) * error
    interval = Interval(estimate.value - reach, estimate.value + reach, level, "linearised_t")
    return Spread(error, interval, n, flags)


def _standard_error(estimate: Estimate, clusters: NDArray[np.int64] | None) -> tuple[float, int]:
    """Root of G / (G - 1) * sum of squared cluster influences, and G; 0 for a single cluster."""
    sums = estimate.influence[estimate.rows]
    if clusters is not None:
        _, place = np.unique(clusters[estimate.rows], return_inverse=True)
        sums = np.bincount(place, weights=sums).astype(np.float64)
    n = len(sums)
    if n < 2:
        return 0.0, n
    return sqrt(n / (n - 1) * float(np.square(sums).sum())), n
