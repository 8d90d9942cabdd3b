"""Is one rate really higher than another? Tests, intervals of differences, and families of tests.

Written out rather than taken from statsmodels: importing it costs more than the comparison, its z
test returns NaN with a warning where nothing varies, and it has no mid-p. The tests of this module
hold it against statsmodels and scipy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, lgamma, log, sqrt
from typing import Literal

from labelkit.errors import StatisticsError
from labelkit.stats.intervals import Interval, wilson
from labelkit.stats.quantiles import normal_tail
from labelkit.stats.undefined import Number, Reason, Undefined


@dataclass(frozen=True)
class Difference:
    """The comparison of two independent rates.

    Args:
        value: first rate - second rate.
        z: pooled z statistic.
        p_value: two-sided.
        interval: Newcombe's interval of the difference.
    """

    value: Number
    z: Number
    p_value: Number
    interval: Interval | Undefined


@dataclass(frozen=True)
class Paired:
    """McNemar's test of two raters or models on the same items.

    Args:
        only_first: items that only the first got right (b, n10).
        only_second: items that only the second got right (c, n01).
        p_exact: two-sided exact binomial p-value.
        p_midp: mid-p value; less conservative, for single tests.
        chi2: (b - c)^2 / (b + c).
        chi2_cc: with Edwards' continuity correction.
    """

    only_first: int
    only_second: int
    p_exact: float
    p_midp: float
    chi2: Number
    chi2_cc: Number


@dataclass(frozen=True)
class Adjusted:
    """P-values adjusted within one named family, declared before looking.

    Args:
        family: what the family is.
        method: ``holm`` or ``benjamini_hochberg``.
        p_values: raw p-value by comparison.
        adjusted: adjusted p-value by comparison.
    """

    family: str
    method: str
    p_values: Mapping[str, float]
    adjusted: Mapping[str, float]


def two_proportions(
    hits1: float, n1: float, hits2: float, n2: float, level: float = 0.95
) -> Difference:
    """Return the pooled two-proportion z test and Newcombe's interval of the difference.

    z as in Fleiss, Levin & Paik (2003), Statistical Methods for Rates and Proportions, eq. 3.5
    without continuity correction. For rows of the same tasks a paired test is the better one.
    """
    interval = newcombe(hits1, n1, hits2, n2, level)
    if isinstance(interval, Undefined):
        return Difference(interval, interval, interval, interval)
    value = hits1 / n1 - hits2 / n2
    pooled = (hits1 + hits2) / (n1 + n2)
    variance = pooled * (1 - pooled) * (1 / n1 + 1 / n2)
    if variance <= 0:
        why = Undefined(Reason.NO_VARIATION, "all rows of both samples are alike")
        return Difference(value, why, why, interval)
    z = value / sqrt(variance)
    return Difference(value, z, 2 * normal_tail(abs(z)), interval)


def newcombe(
    hits1: float, n1: float, hits2: float, n2: float, level: float = 0.95
) -> Interval | Undefined:
    """Return the hybrid score interval of a difference of independent rates.

    Newcombe (1998), Stat. Med. 17:873, method 10: the Wilson limits of both rates, combined by
    squares. It stays within [-1, 1].
    """
    first, second = wilson(hits1, n1, level), wilson(hits2, n2, level)
    if isinstance(first, Undefined):
        return first
    if isinstance(second, Undefined):
        return second
    p1, p2 = hits1 / n1, hits2 / n2
    value = p1 - p2
    down = sqrt((p1 - first.low) ** 2 + (second.high - p2) ** 2)
    up = sqrt((first.high - p1) ** 2 + (p2 - second.low) ** 2)
    return Interval(max(-1.0, value - down), min(1.0, value + up), level, "newcombe_10")


def mcnemar(only_first: int, only_second: int) -> Paired:
    """Return McNemar's test from the discordant pairs.

    McNemar (1947), Psychometrika 12:153; exact and mid-p as in Fagerland, Lydersen & Laake
    (2013), BMC Med. Res. Methodol. 13:91, whose mid-p for b = c is 1 - P(b)/2. Without any
    discordant pair both p-values are 1 and the statistics undefined.

    Raises:
        StatisticsError: for counts that are not whole numbers >= 0.
    """
    b, c = only_first, only_second
    if b < 0 or c < 0 or b != int(b) or c != int(c):
        raise StatisticsError(f"discordant pairs must be whole numbers >= 0, not {b!r} and {c!r}")
    n, low = int(b + c), int(min(b, c))
    if n == 0:
        why = Undefined(Reason.NO_VARIATION, "the two never differ")
        return Paired(0, 0, 1.0, 1.0, why, why)
    mass = _half_mass(low, n)
    exact = min(1.0, 2 * sum(_half_mass(k, n) for k in range(low + 1)))
    midp = 1 - mass / 2 if b == c else exact - mass
    gap = abs(b - c)
    return Paired(int(b), int(c), exact, midp, gap * gap / n, max(0.0, gap - 1.0) ** 2 / n)


def adjust(
    family: str,
    p_values: Mapping[str, float],
    method: Literal["holm", "benjamini_hochberg"] = "holm",
) -> Adjusted:
    """Return the p-values adjusted within a named family of comparisons.

    Holm (1979), Scand. J. Stat. 6:65, controls the chance of any false claim; Benjamini &
    Hochberg (1995), J. R. Stat. Soc. B 57:289, the share of false claims.

    Raises:
        StatisticsError: for an unnamed family, an unknown method or a p-value outside [0, 1].
    """
    if not family:
        raise StatisticsError("a family of tests needs a name; say what was declared beforehand")
    values = list(p_values.values())
    if method == "holm":
        adjusted = holm(values)
    elif method == "benjamini_hochberg":
        adjusted = benjamini_hochberg(values)
    else:
        raise StatisticsError(f"unknown method {method!r}; choose holm or benjamini_hochberg")
    return Adjusted(family, method, dict(p_values), dict(zip(p_values, adjusted, strict=True)))


def holm(p_values: list[float]) -> list[float]:
    """Return Holm's step-down adjusted p-values, in input order."""
    order = _ascending(p_values)
    out, running = [0.0] * len(p_values), 0.0
    for step, k in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - step) * p_values[k]))
        out[k] = running
    return out


def benjamini_hochberg(p_values: list[float]) -> list[float]:
    """Return the Benjamini-Hochberg step-up adjusted p-values, in input order."""
    order = _ascending(p_values)
    out, running = [0.0] * len(p_values), 1.0
    for step in range(len(order) - 1, -1, -1):
        k = order[step]
        running = min(running, p_values[k] * len(p_values) / (step + 1))
        out[k] = running
    return out


def _ascending(p_values: list[float]) -> list[int]:
    for k, p in enumerate(p_values):
        if not 0.0 <= p <= 1.0:
            raise StatisticsError(f"p-value {p!r} at position {k} is outside [0, 1]")
    return sorted(range(len(p_values)), key=p_values.__getitem__)


def _half_mass(k: int, n: int) -> float:
    """Return P(X = k) of a binomial of n throws of a fair coin."""
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2.0))
