"""How many more labels are needed, and how wide an interval to expect."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

from labelkit.errors import StatisticsError
from labelkit.stats.intervals import Interval, wilson, wilson_limits
from labelkit.stats.quantiles import check_level, normal_quantile
from labelkit.stats.undefined import Number, Reason, Undefined

_MOST = 10**9


@dataclass(frozen=True)
class MoreLabels:
    """What is missing until an interval is narrow enough.

    Args:
        needed: labels in total; undefined when even the whole population is not enough.
        more: labels still to make.
        half_width_now: of the present Wilson interval.
    """

    needed: Number
    more: Number
    half_width_now: Number


def expected_half_width(
    rate: float,
    n: int,
    *,
    level: float = 0.95,
    design_effect: float = 1.0,
    population: int | None = None,
) -> float:
    """Return half the width of the Wilson interval that n rows at ``rate`` would give.

    ``design_effect`` divides n (clusters, weights); ``population`` divides the variance by
    (N - n)/(N - 1), the finite-population correction (Cochran 1977, eq. 3.6).
    """
    if n <= 0 or not 0 <= rate <= 1 or design_effect <= 0:
        raise StatisticsError(
            f"rate {rate!r}, n {n!r} and design effect {design_effect!r} give no interval"
        )
    if population is not None and n >= population:
        return 0.0
    effective = _effective(n, design_effect, population)
    low, high = wilson_limits(rate, effective, normal_quantile(level))
    return (high - low) / 2


def interval_so_far(
    hits: float,
    n: int,
    *,
    level: float = 0.95,
    design_effect: float = 1.0,
    population: int | None = None,
) -> Interval | Undefined:
    """Return Wilson's interval of the labels so far, on the terms of ``expected_half_width``.

    Without a design effect and a population it is ``intervals.wilson``. A population that is
    labelled whole leaves nothing to estimate: the interval is the rate itself.
    """
    plain = wilson(hits, n, level)
    if isinstance(plain, Undefined) or (design_effect == 1.0 and population is None):
        return plain
    if population is not None and n >= population:
        return Interval(hits / n, hits / n, level, "census")
    effective = _effective(n, design_effect, population)
    low, high = wilson_limits(hits / n, effective, normal_quantile(level))
    return Interval(low, high, level, "wilson_effective_n", plain.flags)


def _effective(n: int, design_effect: float, population: int | None) -> float:
    """Return rows of an endless population that say as much as n rows of this one."""
    effective = n / design_effect
    return effective if population is None else effective * (population - 1) / (population - n)


def more_labels(
    hits: float,
    n: int,
    half_width: float,
    *,
    level: float = 0.95,
    design_effect: float = 1.0,
    population: int | None = None,
) -> MoreLabels:
    """Return how many more labels make the Wilson interval +- ``half_width``.

    Assumes that the rate stays what it is now (0.5 before the first label). Search by bisection:
    the width falls with n.
    """
    check_level(level)
    if not 0 < half_width < 1:
        raise StatisticsError(
            f"a half-width of {half_width!r} is no share; write 0.05 for 5 points"
        )
    if not 0 <= hits <= n:
        raise StatisticsError(f"{hits!r} hits out of {n!r} rows is impossible")
    if population is not None and n > population:
        raise StatisticsError(f"{n} labels of a population of {population} are impossible")
    rate = hits / n if n else 0.5

    def width(rows: int) -> float:
        return expected_half_width(
            rate, rows, level=level, design_effect=design_effect, population=population
        )

    now: Number = width(n) if n else Undefined(Reason.NO_ITEMS, "no label yet")
    low, high = 1, population or _MOST
    if width(high) > half_width:
        why = Undefined(Reason.OUT_OF_DESIGN, "no number of labels makes it that narrow")
        return MoreLabels(why, why, now)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if width(middle) <= half_width else (middle + 1, high)
    return MoreLabels(float(low), float(max(0, low - n)), now)


def kappa_sample_size(
    rate1: float,
    rate2: float,
    kappa: float,
    kappa_null: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    two_sided: bool = True,
) -> int:
    """Return how many items tell two raters' kappa from ``kappa_null``, yes/no labels.

    Cantor (1996), Psychol. Methods 1:150, eq. 7: ((z_a sqrt(Q0) + z_b sqrt(Q1)) / (k1 - k0))^2
    with Q the large-sample variance of kappa (Fleiss, Cohen & Everitt 1969) times n.

    Raises:
        StatisticsError: for equal kappas, or shares with which a kappa cannot be reached.
    """
    if kappa == kappa_null:
        raise StatisticsError("the two kappas are equal, so no sample tells them apart")
    z_alpha = normal_quantile(1 - (alpha if two_sided else 2 * alpha))
    z_power = normal_quantile(2 * power - 1) if power > 0.5 else -normal_quantile(1 - 2 * power)
    spread = z_alpha * sqrt(_kappa_variance(rate1, rate2, kappa_null))
    spread += z_power * sqrt(_kappa_variance(rate1, rate2, kappa))
    return ceil((spread / (kappa - kappa_null)) ** 2 - 1e-9)


def _kappa_variance(rate1: float, rate2: float, kappa: float) -> float:
    """Return n times the variance of kappa for given shares of yes (Cantor 1996, eq. 4)."""
    pe = rate1 * rate2 + (1 - rate1) * (1 - rate2)
    po = kappa * (1 - pe) + pe
    both_no = (po - rate1 + 1 - rate2) / 2
    both_yes = po - both_no
    first, second = rate1 - both_yes, rate2 - both_yes
    cells = ((both_yes, first), (second, both_no))
    if min(both_yes, both_no, first, second) < -1e-12:
        raise StatisticsError(
            f"a kappa of {kappa} is impossible for raters who say yes to {rate1:.0%} and "
            f"{rate2:.0%} of items"
        )
    rows, columns = (rate1, 1 - rate1), (rate2, 1 - rate2)
    total = 0.0
    for i in range(2):
        for j in range(2):
            agrees = 1.0 if i == j else 0.0
            both = columns[i] + rows[j]
            total += cells[i][j] * (agrees * (1 - pe) - both * (1 - po)) ** 2
    total -= (po * pe - 2 * pe + po) ** 2
    return max(0.0, total) / (1 - pe) ** 4
