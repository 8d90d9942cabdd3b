"""Intervals of one proportion that need the beta distribution, and the choice by name.

Kept apart from ``stats.intervals`` so that a report, which only prints Wilson's interval, does
not wait for scipy.
"""

from __future__ import annotations

from collections.abc import Callable

from scipy import special

from labelkit.errors import StatisticsError
from labelkit.stats.intervals import Interval, agresti_coull, few_hits, prepare, wilson, wilson_cc
from labelkit.stats.undefined import Undefined

_FEW_FOR_JEFFREYS = 6


def clopper_pearson(hits: float, n: float, level: float = 0.95) -> Interval | Undefined:
    """Return the exact interval of Clopper & Pearson (1934), Biometrika 26:404.

    Never covers less than ``level``, and is therefore wide.
    """
    _, empty = prepare(hits, n, level)
    if empty is not None:
        return empty
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else _beta_quantile(tail, hits, n - hits + 1)
    high = 1.0 if hits == n else _beta_quantile(1 - tail, hits + 1, n - hits)
    return Interval(low, high, level, "clopper_pearson")


def jeffreys(hits: float, n: float, level: float = 0.95) -> Interval | Undefined:
    """Return the equal-tailed Jeffreys interval.

    Brown, Cai & DasGupta (2001), Stat. Sci. 16:101, section 3.1.3, with their boundary rule: the
    lower limit is 0 when there is no hit, the upper limit is 1 when there is no miss. Trust it
    with 6 hits and 6 misses or more; with fewer its exact coverage falls to 88% and it is flagged.
    """
    _, empty = prepare(hits, n, level)
    if empty is not None:
        return empty
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else _beta_quantile(tail, hits + 0.5, n - hits + 0.5)
    high = 1.0 if hits == n else _beta_quantile(1 - tail, hits + 0.5, n - hits + 0.5)
    return Interval(low, high, level, "jeffreys", few_hits(hits, n, _FEW_FOR_JEFFREYS))


METHODS: dict[str, Callable[[float, float, float], Interval | Undefined]] = {
    "wilson": wilson,
    "wilson_cc": wilson_cc,
    "clopper_pearson": clopper_pearson,
    "jeffreys": jeffreys,
    "agresti_coull": agresti_coull,
}


def proportion_interval(
    hits: float, n: float, method: str = "wilson", level: float = 0.95
) -> Interval | Undefined:
    """Return the interval of ``hits`` out of ``n`` by a method of ``METHODS``.

    Raises:
        StatisticsError: for an unknown method, a wrong level, or hits outside 0..n.
    """
    if method not in METHODS:
        known = ", ".join(METHODS)
        raise StatisticsError(f"unknown interval method {method!r}; choose one of {known}")
    return METHODS[method](hits, n, level)


def _beta_quantile(probability: float, a: float, b: float) -> float:
    return float(special.betaincinv(a, b, probability))
