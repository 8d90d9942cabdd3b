"""Quantiles of the normal and of Student's t, and the one check of a confidence level.

Every interval of agreement needs them, and ``import scipy.special`` costs more time than a whole
agreement report. The normal quantile comes from the standard library; the t quantile is found
here from its tail probability, and the tests hold it against scipy to twelve digits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

from labelkit.errors import StatisticsError

_NORMAL = NormalDist()
_MANY = 1000.0
"""Above this many degrees of freedom the Cornish-Fisher series is exact to rounding."""


def check_level(level: float) -> float:
    """Return ``level`` when it is a confidence level.

    Raises:
        StatisticsError: when it is not strictly between 0 and 1 (95 instead of 0.95).
    """
    if not 0.0 < level < 1.0:
        raise StatisticsError(
            f"confidence level {level!r} is not between 0 and 1; write 0.95 for 95%"
        )
    return float(level)


@lru_cache(maxsize=64)
def normal_quantile(level: float) -> float:
    """Return z so that a standard normal lies within +-z with probability ``level``."""
    return _NORMAL.inv_cdf(0.5 + check_level(level) / 2.0)


def normal_tail(z: float) -> float:
    """Return P(Z > z); exact far out in the tail, where ``1 - cdf`` is 0."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def normal_cdf(z: float) -> float:
    """Return P(Z <= z)."""
    return normal_tail(-z)


@lru_cache(maxsize=1024)
def t_quantile(level: float, df: float) -> float:
    """Return t so that Student's t with ``df`` degrees lies within +-t with prob. ``level``.

    Starts from the Cornish-Fisher series (Abramowitz & Stegun 1964, 26.7.5) and, where that is
    not exact, solves for the tail probability (26.7.1) by Newton steps kept inside a bracket.
    """
    if not df > 0:
        raise StatisticsError(f"{df!r} degrees of freedom are impossible; a t needs more than 0")
    z = normal_quantile(level)
    t = _cornish_fisher(z, df)
    if df >= _MANY:
        return t
    tail = (1.0 - level) / 2.0
    low, high = 0.0, max(2.0 * z, t)
    while _t_tail(high, df) > tail:
        low, high = high, 2.0 * high
    t = min(max(t, low), high)
    for _ in range(200):
        error = _t_tail(t, df) - tail
        low, high = (t, high) if error > 0 else (low, t)
        step = t + error / _t_density(t, df)
        step = step if low < step < high else 0.5 * (low + high)
        if abs(step - t) <= 1e-15 * max(1.0, abs(t)):
            return step
        t = step
    return t


def _cornish_fisher(z: float, df: float) -> float:
    z2 = z * z
    terms = (
        (z2 + 1) / 4,
        ((5 * z2 + 16) * z2 + 3) / 96,
        (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
        ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160,
    )
    return z * (1 + sum(term / df ** (k + 1) for k, term in enumerate(terms)))


def _t_density(t: float, df: float) -> float:
    log = (
        math.lgamma((df + 1) / 2)
        - math.lgamma(df / 2)
        - 0.5 * math.log(df * math.pi)
        - (df + 1) / 2 * math.log1p(t * t / df)
    )
    return math.exp(log)


def _t_tail(t: float, df: float) -> float:
    """Return P(T > t) for t >= 0 through the incomplete beta function."""
    x = df / (df + t * t)
    return 0.5 * _incomplete_beta(x, df / 2, 0.5)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta (DLMF 8.17.22): the continued fraction, on its quick side."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _incomplete_beta(1.0 - x, b, a)
    front = a * math.log(x) + b * math.log1p(-x)
    front += math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(front) / (a * _beta_fraction(x, a, b))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The fraction 1 + d1/(1 + d2/(1 + ...)) of DLMF 8.17.22, by the modified Lentz method."""
    tiny = 1e-300
    c, d, out = 1.0, 0.0, 1.0
    for step in range(1, 2000):
        m = step // 2
        if step % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1.0 + term * d
        d = 1.0 / (d if abs(d) > tiny else tiny)
        c = 1.0 + term / c
        c = c if abs(c) > tiny else tiny
        out *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return out
