"""Rates of the whole frame from a draw with unequal probabilities.

A plain rate over a draw that preferred uncertain rows is a rate of uncertain rows. Weighting every
row by 1 / probability undoes the preference; the interval says what the weighting costs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError
from labelkit.stats.encode import numbers
from labelkit.stats.intervals import Interval, wilson_limits
from labelkit.stats.quantiles import check_level, normal_quantile, t_quantile
from labelkit.stats.ratings import Floats
from labelkit.stats.undefined import Number, Reason, Undefined

FEW_EFFECTIVE_HITS = 12.0
"""Effective drawn rows of the rarer outcome; with fewer the variance itself is uncertain."""


@dataclass(frozen=True)
class WeightedRate:
    """A rate estimated from a draw.

    Args:
        value: Hajek's estimate, the weighted mean.
        horvitz_thompson: Horvitz-Thompson's estimate of the mean over the known frame size;
            undefined when that size is not given.
        se: standard error of the Hajek estimate.
        interval: Wilson's interval at the effective sample size.
        n: drawn rows with a value.
        effective_n: rows of a simple random sample with the same variance.
        flags: ``no_variation``, ``stratum_of_one``, ``few_effective_rows``.
    """

    value: Number
    horvitz_thompson: Number
    se: Number
    interval: Interval | Undefined
    n: int
    effective_n: Number
    flags: tuple[str, ...] = ()


def weighted_rate(
    hits: Sequence[float] | NDArray[Any],
    probabilities: Sequence[float] | Floats,
    *,
    strata: Sequence[Hashable] | NDArray[Any] | None = None,
    frame_size: int | None = None,
    level: float = 0.95,
) -> WeightedRate:
    """Return the weighted rate of a draw with its interval.

    Hajek (1971) and Horvitz & Thompson (1952, J. Am. Stat. Assoc. 47:663) estimates. The variance
    is Hajek's approximation with finite-population correction, summed over strata (Deville 1999,
    as in Tille 2006, eq. 7.8): n/(n-1) sum (1 - pi_i)(z_i - mean z)^2 over the linearised z; for a
    stratified draw it is the exact textbook formula. The interval is Wilson's with the effective
    sample size and a t quantile (Korn & Graubard 1998, Surv. Methodol. 24:193), cut to [0, 1].
    Trust it for 30 effective rows or more, of which 12 or more show the rarer outcome (rows
    counted by Kish's formula, so that a few heavy rows count as few); else coverage falls to 84%
    and it is flagged.

    Args:
        hits: 1 or 0 (or a share) of every drawn row, shape (n,).
        probabilities: inclusion probability of every drawn row, above 0 and at most 1.
        strata: stratum of every drawn row.
        frame_size: rows in the frame, for Horvitz-Thompson.
        level: confidence level.

    Raises:
        StatisticsError: for a probability or a hit outside [0, 1], or columns of unequal length.
    """
    check_level(level)
    y, pi = _columns(hits, probabilities, strata)
    n = len(y)
    if n == 0:
        why = Undefined(Reason.NO_ITEMS, "nothing was drawn")
        return WeightedRate(why, why, why, why, 0, why)
    w = 1.0 / pi
    value = float(w @ y / w.sum())
    total: Number = (
        float(w @ y) / frame_size
        if frame_size
        else Undefined(Reason.OUT_OF_DESIGN, "the size of the frame was not given")
    )
    group = np.zeros(n, dtype=np.int64) if strata is None else _numbers(strata)
    variance, lonely, df = _variance(w * (y - value) / w.sum(), pi, group)
    if n < 2 or df < 1:
        why = Undefined(Reason.SINGLE_ITEM, "one row shows no variation")
        return WeightedRate(value, total, why, why, n, why)
    flags: tuple[str, ...] = ("stratum_of_one",) if lonely else ()
    kish = float(w.sum()) ** 2 / float((w * w).sum())
    spread = value * (1 - value)
    census = bool((pi >= 1.0).all())
    if variance > 0 and spread > 0:
        effective = spread / variance
    else:
        effective = kish
        flags += () if census else ("no_variation",)
    interval = (
        Interval(value, value, level, "census")
        if census
        else effective_interval(value, effective, df, level)
    )
    if not census and (effective < 30 or rarer_size(y, w) < FEW_EFFECTIVE_HITS):
        flags += ("few_effective_rows",)
    return WeightedRate(value, total, sqrt(variance), interval, n, effective, flags)


def effective_interval(value: float, effective: float, df: float, level: float) -> Interval:
    """Return Wilson's interval of a rate at an effective sample size (Korn & Graubard 1998)."""
    z, t = normal_quantile(level), t_quantile(level, df)
    adjusted = effective * (z / t) ** 2
    low, high = wilson_limits(value, adjusted, z)
    return Interval(min(low, value), max(high, value), level, "wilson_effective_n")


def effective_size(weights: Floats) -> float:
    """Return Kish's effective sample size (sum w)^2 / sum w^2; 0 without rows."""
    square = float((weights * weights).sum())
    return float(weights.sum()) ** 2 / square if square > 0 else 0.0


def rarer_size(y: Floats, weights: Floats) -> float:
    """Return the effective number of rows of the rarer outcome of 0/1 values ``y``.

    A share (neither 0 nor 1) counts towards both in proportion.
    """
    return min(effective_size(weights * y), effective_size(weights * (1.0 - y)))


def _variance(z: Floats, pi: Floats, group: NDArray[np.int64]) -> tuple[float, bool, int]:
    """Return Hajek's variance over strata, whether a stratum was alone, and degrees of freedom.

    Strata with one row are put together, since one row shows no variation.
    """
    sizes = np.bincount(group)
    alone = (sizes == 1)[group]
    if alone.any():
        group = np.where(alone, len(sizes), group)
    total, strata = 0.0, 0
    for h in np.unique(group):
        inside = group == h
        m = int(inside.sum())
        strata += 1
        if m < 2:
            continue
        free = 1.0 - pi[inside]
        centre = float(free @ z[inside] / free.sum()) if free.sum() > 0 else 0.0
        total += m / (m - 1) * float(free @ np.square(z[inside] - centre))
    return total, bool(alone.any()), len(z) - strata


def _columns(
    hits: Sequence[float] | NDArray[Any],
    probabilities: Sequence[float] | Floats,
    strata: Sequence[Hashable] | NDArray[Any] | None,
) -> tuple[Floats, Floats]:
    y, pi = numbers(hits, "hits"), numbers(probabilities, "inclusion probabilities")
    if y.shape != pi.shape or y.ndim != 1 or (strata is not None and len(strata) != len(y)):
        raise StatisticsError("hits, probabilities and strata must be one value per drawn row")
    bad = ~((pi > 0) & (pi <= 1 + 1e-12))
    if bad.any():
        row = int(bad.argmax())
        raise StatisticsError(
            f"row {row} has inclusion probability {pi[row]}; it must be in (0, 1]"
        )
    wrong = ~np.isfinite(y)
    if wrong.any():
        raise StatisticsError(f"row {int(wrong.argmax())} has no value; leave it out and count it")
    beyond = (y < 0) | (y > 1)
    if beyond.any():
        row = int(beyond.argmax())
        raise StatisticsError(f"row {row} has the value {y[row]:g}; a hit is 1, 0 or a share")
    return y, np.minimum(pi, 1.0)


def _numbers(names: Sequence[Hashable] | NDArray[Any]) -> NDArray[np.int64]:
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in names], dtype=np.int64)
