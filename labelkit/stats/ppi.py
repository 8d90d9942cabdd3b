"""Prediction-powered inference: a mean from a few human labels and many judge labels.

Unlike Rogan-Gladen it needs no model of the judge's errors; a useless judge costs nothing, because
the tuned lambda falls to 0 and the estimate back to the human labels alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError
from labelkit.stats.encode import numbers
from labelkit.stats.intervals import Interval
from labelkit.stats.quantiles import normal_quantile
from labelkit.stats.ratings import Floats
from labelkit.stats.weighted import effective_size, rarer_size

_FEW = 50
_FEW_RARE = 10
"""Effective human rows of the rarer value, and of those on which people and judge differ."""


@dataclass(frozen=True)
class PpiMean:
    """A prediction-powered mean.

    Args:
        value: the estimate; for yes/no values cut to [0, 1], where the true rate must lie.
        raw: before cutting.
        se: standard error of ``raw``.
        interval: raw +- z se, cut like the value: what is cut off cannot hold the true rate.
        interval_raw: before cutting.
        lam: weight of the judge, 0 (people only) to 1 (plain PPI).
        n_human: rows people labelled.
        n_judge: rows only the judge labelled.
        effective_n: rows people alone would need for the same standard error.
        flags: ``few_human_labels``, ``few_rare_labels``, ``few_disagreements``,
            ``outside_unit_interval``, ``judge_without_variation``.
    """

    value: float
    raw: float
    se: float
    interval: Interval
    interval_raw: Interval
    lam: float
    n_human: int
    n_judge: int
    effective_n: float
    flags: tuple[str, ...] = ()


def ppi_mean(
    truth: Sequence[float] | NDArray[Any],
    judge: Sequence[float] | NDArray[Any],
    unlabelled: Sequence[float] | NDArray[Any],
    *,
    lam: float | None = None,
    probabilities: Sequence[float] | Floats | None = None,
    level: float = 0.95,
) -> PpiMean:
    """Return the PPI++ mean.

    Angelopoulos et al. (2023), Science 382:669, for lambda = 1; Angelopoulos, Duchi & Zrnic
    (2023), arXiv 2311.01453, eq. 6 and sec. 6 for the tuned lambda, in the conventions of their
    package: variances with divisor n, the pooled variance of the judge inside lambda with divisor
    n - 1, lambda cut to [0, 1]. With ``probabilities`` the human rows are weighted by their
    inverse (Hajek) and the judge's mean is over the whole frame: the difference estimator of
    survey sampling. Trust the interval for 50 human labels or more, 10 of them of the rarer value
    and 10 on which people and judge differ (their differences are all that its variance knows of
    the judge's errors); else its coverage falls as low as 6% and it is flagged.

    Args:
        truth: people's values, shape (n,).
        judge: the judge's values on the same rows, shape (n,).
        unlabelled: the judge's values on the other rows, shape (N,).
        lam: weight of the judge; None tunes it.
        probabilities: inclusion probability of the human rows.
        level: confidence level.

    Raises:
        StatisticsError: for columns of unequal length, missing values, or no human label.
    """
    y, f, g = (
        _column(v, what)
        for v, what in ((truth, "truth"), (judge, "judge"), (unlabelled, "unlabelled"))
    )
    n, rest = len(y), len(g)
    if len(f) != n:
        raise StatisticsError(f"{n} human and {len(f)} judge values of the same rows do not match")
    if n == 0:
        raise StatisticsError("there are no human labels, so nothing ties the judge to the truth")
    if lam is not None and not 0 <= lam <= 1:
        raise StatisticsError(f"lambda {lam!r} is outside [0, 1]; leave it out to tune it")
    w = _weights(probabilities, n)
    flags: tuple[str, ...] = ()
    pooled = np.concatenate([f, g])
    varies = len(pooled) > 1 and float(np.ptp(pooled)) > 0
    if not varies:
        flags += ("judge_without_variation",)
    if rest == 0 or (lam is None and not varies):
        weight = 0.0
    elif lam is None:
        weight = _tuned(y, f, w, float(pooled.var(ddof=1)), rest)
    else:
        weight = float(lam)
    gap = y - weight * f
    share = w / w.sum()
    correction = float(share @ gap)
    raw = correction + (weight * float(g.mean()) if rest else 0.0)
    variance = float(np.square(share) @ np.square(gap - correction))
    if rest:
        variance += weight**2 * float(g.var()) / rest
    se = sqrt(variance)
    reach = normal_quantile(level) * se
    human = float(share @ y)
    spread = float(share @ np.square(y - human))
    value, low, high = raw, raw - reach, raw + reach
    if _binary(y):
        value, low, high = (min(1.0, max(0.0, x)) for x in (value, low, high))
    return PpiMean(
        value,
        raw,
        se,
        Interval(low, high, level, "ppi"),
        Interval(raw - reach, raw + reach, level, "ppi"),
        weight,
        n,
        rest,
        spread / variance if variance > 0 else float(n),
        flags + _warnings(y, f, w, (raw - reach, raw + reach)),
    )


def _tuned(y: Floats, f: Floats, w: Floats, pooled: float, rest: int) -> float:
    """Return the lambda that minimises the variance, cut to [0, 1] (PPI++, sec. 6)."""
    square = np.square(w) / np.square(w).sum()
    share = w / w.sum()
    covariance = float(square @ ((y - share @ y) * (f - share @ f)))
    best = covariance / ((1 + effective_size(w) / rest) * pooled)
    return min(1.0, max(0.0, best))


def _binary(values: Floats) -> bool:
    return bool(np.isin(values, (0.0, 1.0)).all())


def _warnings(y: Floats, f: Floats, w: Floats, limits: tuple[float, float]) -> tuple[str, ...]:
    flags: tuple[str, ...] = ()
    if effective_size(w) < _FEW:
        flags += ("few_human_labels",)
    if _binary(y):
        if rarer_size(y, w) < _FEW_RARE:
            flags += ("few_rare_labels",)
        if _binary(f) and effective_size(w[y != f]) < _FEW_RARE:
            flags += ("few_disagreements",)
        if limits[0] < 0 or limits[1] > 1:
            flags += ("outside_unit_interval",)
    return flags


def _column(values: Sequence[float] | NDArray[Any], what: str) -> Floats:
    column = numbers(values, what)
    if column.ndim != 1 or not np.isfinite(column).all():
        raise StatisticsError(f"{what} must be one finite number per row; leave missing rows out")
    return column


def _weights(probabilities: Sequence[float] | Floats | None, n: int) -> Floats:
    if probabilities is None:
        return np.ones(n)
    pi = numbers(probabilities, "inclusion probabilities")
    if pi.shape != (n,) or not ((pi > 0) & (pi <= 1 + 1e-12)).all():
        raise StatisticsError(f"give {n} inclusion probabilities in (0, 1], one per human row")
    return 1.0 / pi
