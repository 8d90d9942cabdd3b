"""Score intervals of one proportion, and the two result types of every rate.

Every rate that labelkit prints carries a Wilson interval. The formulas are written out, with the
standard library alone, because importing statsmodels takes longer than a whole report; the tests
hold them against statsmodels and scipy. Exact intervals live in ``stats.proportions``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from numbers import Real

from labelkit.errors import StatisticsError
from labelkit.stats.quantiles import check_level, normal_quantile
from labelkit.stats.undefined import Number, Reason, Undefined

FEW_HITS = 4
"""With fewer hits (or misses) than this a score interval may hold the truth less than 92%."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval.

    Args:
        low: lower limit.
        high: upper limit.
        level: confidence level, 0.95 for 95%.
        method: how it was computed.
        flags: warnings that it may hold the truth less often than it says: ``few_hits``.
    """

    low: float
    high: float
    level: float
    method: str
    flags: tuple[str, ...] = ()

    @property
    def half_width(self) -> float:
        """Half the distance between the limits."""
        return (self.high - self.low) / 2.0

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Proportion:
    """A rate with everything that has to be printed beside it.

    Args:
        value: hits / n, undefined when n is 0.
        hits: rows in the numerator.
        n: rows in the denominator.
        interval: its confidence interval, undefined when n is 0.
    """

    value: Number
    hits: float
    n: float
    interval: Interval | Undefined


def wilson(hits: float, n: float, level: float = 0.95) -> Interval | Undefined:
    """Return Wilson's score interval, the default of labelkit.

    Wilson (1927), J. Am. Stat. Assoc. 22:209, eq. for the roots of |p - phat| = z se(p); method 3
    of Newcombe (1998), Stat. Med. 17:857. Exact coverage of the nominal 95% (n 20 to 1,000): at
    least 92.6% where two hits and two misses or more are expected, 95% on average; down to 84%
    where less than one hit is expected, where Clopper-Pearson's interval never falls short. So
    trust it with 4 hits and 4 misses or more; with fewer it is flagged (``few_hits``).

    Args:
        hits: successes, 0 <= hits <= n (fractions allowed for weighted counts).
        n: trials; 0 gives an undefined interval.
        level: confidence level.
    """
    z, empty = prepare(hits, n, level)
    if empty is not None:
        return empty
    low, high = wilson_limits(hits / n, n, z)
    low, high = 0.0 if hits == 0 else low, 1.0 if hits == n else high
    return Interval(low, high, level, "wilson", few_hits(hits, n))


def few_hits(hits: float, n: float, least: int = FEW_HITS) -> tuple[str, ...]:
    """Return the flag of an interval of a rare outcome (hits or misses), or nothing."""
    return ("few_hits",) if min(hits, n - hits) < least else ()


def wilson_limits(p: float, n: float, z: float) -> tuple[float, float]:
    """Return the two roots of Wilson's equation for a share ``p`` of ``n`` and a quantile ``z``."""
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, centre - reach), min(1.0, centre + reach)


def wilson_cc(hits: float, n: float, level: float = 0.95) -> Interval | Undefined:
    """Return Wilson's interval with continuity correction: method 4 of Newcombe (1998)."""
    z, empty = prepare(hits, n, level)
    if empty is not None:
        return empty
    p = hits / n
    low = high = 0.0
    if hits > 0:
        root = z * sqrt(max(0.0, z * z - 2 - 1 / n + 4 * p * (n * (1 - p) + 1)))
        low = max(0.0, (2 * n * p + z * z - 1 - root) / (2 * (n + z * z)))
    if hits < n:
        root = z * sqrt(max(0.0, z * z + 2 - 1 / n + 4 * p * (n * (1 - p) - 1)))
        high = min(1.0, (2 * n * p + z * z + 1 + root) / (2 * (n + z * z)))
    else:
        high = 1.0
    return Interval(low, high, level, "wilson_cc")


def agresti_coull(hits: float, n: float, level: float = 0.95) -> Interval | Undefined:
    """Return the interval of Agresti & Coull (1998), Am. Stat. 52:119, cut at 0 and 1."""
    z, empty = prepare(hits, n, level)
    if empty is not None:
        return empty
    total = n + z * z
    p = (hits + z * z / 2) / total
    reach = z * sqrt(p * (1 - p) / total)
    return Interval(max(0.0, p - reach), min(1.0, p + reach), level, "agresti_coull")


def proportion(hits: float, n: float, level: float = 0.95) -> Proportion:
    """Return the rate hits / n with its Wilson interval."""
    interval = wilson(hits, n, level)
    if isinstance(interval, Undefined):
        return Proportion(interval, hits, n, interval)
    return Proportion(hits / n, hits, n, interval)


def prepare(hits: float, n: float, level: float) -> tuple[float, Undefined | None]:
    """Check the counts; return z, and the reason when there is nothing to estimate."""
    z = normal_quantile(check_level(level))
    if not all(isinstance(v, Real) for v in (hits, n)) or not 0 <= hits <= n < inf:
        raise StatisticsError(
            f"{hits!r} hits out of {n!r} rows is impossible; hits must lie between 0 and n"
        )
    if n == 0:
        return z, Undefined(Reason.NO_ITEMS, "a rate over no rows has no value")
    return z, None
