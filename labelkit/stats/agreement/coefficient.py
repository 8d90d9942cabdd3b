"""The result type of every agreement coefficient, and the one way to get its standard error.

All chance-corrected coefficients here are (pa - pe) / (1 - pe). Gwet's standard error linearises
that ratio item by item, so one function serves them all: a coefficient only has to say what each
item contributes to pa and to pe.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from labelkit.stats.intervals import Interval
from labelkit.stats.quantiles import check_level, normal_quantile, t_quantile
from labelkit.stats.ratings import Floats, RatingTable
from labelkit.stats.undefined import Number, Reason, Undefined

FEW = 5
"""With fewer items than this that show a disagreement, normal theory does not hold."""

FEW_RARE = 15
"""The same for items free of the commonest label, where shares of labels enter."""

FEW_WEIGHTED = 25
"""Least effective number of disagreeing items where some disagreements weigh more than others."""

TINY = 1e-12
"""Below this 1 - pe is zero: the data show no variation that agreement could be measured on."""

_NO_NULL = Undefined(Reason.NO_FORMULA, "no standard error under the null")


@dataclass(frozen=True)
class Coefficient:
    """One agreement coefficient with everything that has to be printed beside it.

    Args:
        name: which coefficient, for example ``cohen_kappa``.
        value: the coefficient, or why it is undefined.
        se: its standard error.
        interval: its confidence interval.
        observed: observed agreement (pa, po), weighted where weights are.
        expected: agreement expected by chance (pe).
        n_items: items that enter the coefficient.
        n_raters: raters who rated anything.
        n_pairs: pairs of ratings of one item that were compared.
        se_null: standard error under no agreement beyond chance, for testing only.
        parts: values by category (``category_kappas``) or by rater pair, where they exist.
        flags: machine-readable warnings, for example ``zero_width_interval``.
    """

    name: str
    value: Number
    se: Number
    interval: Interval | Undefined
    observed: Number
    expected: Number
    n_items: int
    n_raters: int
    n_pairs: int
    se_null: Number = _NO_NULL
    parts: tuple[Number, ...] = ()
    flags: tuple[str, ...] = ()


def missing(name: str, table: RatingTable, why: Undefined, **known: Number) -> Coefficient:
    """Return a coefficient that is undefined, with what is known of it."""
    return Coefficient(
        name,
        why,
        why,
        why,
        known.get("observed", why),
        known.get("expected", why),
        table.n_items,
        table.n_raters,
        table.n_pairs,
        se_null=why,
    )


def nothing_to_compare(table: RatingTable) -> Undefined | None:
    """Return why no two ratings of one item exist, or None when they do."""
    if table.n_items == 0:
        return Undefined(Reason.NO_ITEMS, "no item has a rating")
    if table.n_pairable > 0:
        return None
    if table.n_raters < 2:
        return Undefined(Reason.SINGLE_RATER, "agreement needs at least two raters")
    return Undefined(Reason.NO_OVERLAP, "no item was rated by two raters")


def linearised(
    name: str,
    table: RatingTable,
    observed: Floats,
    expected: Floats | float,
    pe: float,
    level: float,
    *,
    shares: bool = True,
    floor: float = -1.0,
) -> Coefficient:
    """Return (pa - pe) / (1 - pe) with Gwet's standard error and interval.

    Gwet (2008), Br. J. Math. Stat. Psychol. 61:29, eqs. 30-37, in the form of his handbook (2014,
    ch. 5.3): item i contributes ``k_i = (pa_i - pe)/(1 - pe) - 2 (1 - k)(pe_i - pe)/(1 - pe)``
    (the first term scaled by n / n' over the n' items with two or more ratings, 0 elsewhere), and
    the variance is sum (k_i - k)^2 / (n (n - 1)). The interval is k +- t(n - 1) se, cut to the
    values that the coefficient can have (see ``t_interval``). Trust it when no flag of
    ``sparse_flags`` is raised: 92% or more of them then hold the truth.

    Args:
        name: name of the coefficient.
        table: the ratings; n is the number of items with at least one rating.
        observed: contribution of every distinct row to pa, shape (d,); their mean is pa.
        expected: contribution of every distinct row to pe (half its derivative), shape (d,), or
            the constant pe when chance agreement does not depend on the data.
        pe: chance agreement.
        level: confidence level.
        shares: whether chance agreement follows the shares of the labels (see ``sparse_flags``).
        floor: the least value that the coefficient can have.
    """
    freq = table.freq * (table.ratings_per_row >= 1)
    n = float(freq.sum())
    pa = float(freq @ observed) / n
    if 1.0 - pe <= TINY:
        why = Undefined(
            Reason.NO_VARIATION, "chance agreement is 1: all ratings fall into one category"
        )
        return missing(name, table, why, observed=pa, expected=pe)
    value = (pa - pe) / (1.0 - pe)
    # An item with one rating says nothing of observed agreement: its first term is 0.
    paired = (table.ratings_per_row >= 2) * (n / float(table.n_pairable))
    per_row = (observed - pe * paired) / (1.0 - pe)
    per_row = per_row - 2.0 * (1.0 - value) * (expected - pe) / (1.0 - pe)
    se = standard_error(per_row, freq, value)
    interval = t_interval(value, se, n, level, floor)
    return Coefficient(
        name,
        value,
        se,
        interval,
        pa,
        pe,
        table.n_items,
        table.n_raters,
        table.n_pairs,
        flags=interval_flags(interval, n) + sparse_flags(table, shares=shares),
    )


def standard_error(per_row: Floats, freq: Floats, centre: float) -> Number:
    """Return sqrt(sum f_i (x_i - centre)^2 / (n (n - 1))), n = sum f_i."""
    n = float(freq.sum())
    if n < 2:
        return Undefined(Reason.SINGLE_ITEM, "a standard error needs at least two items")
    return sqrt(max(0.0, float(freq @ np.square(per_row - centre))) / (n * (n - 1)))


def t_interval(
    value: float, se: Number, n: float, level: float, floor: float = -1.0
) -> Interval | Undefined:
    """Return value +- t(n - 1) se, cut to [floor, 1].

    Values outside are impossible for the coefficient, so cutting them off loses no coverage. The
    floor is 0 for a share. It is -1 for kappa, pi and alpha: where disagreement is the square of a
    distance, E |X - Y|^2 <= 2 E |X - Y'|^2 for Y' with Y's shares and independent of X, so the
    observed disagreement is at most twice the expected one (``weights.kappa_floor`` checks it).
    Brennan-Prediger's and Gwet's coefficients under weights may lie lower; their own functions
    say where. A value that missing ratings have pushed below its floor is not cut.
    """
    check_level(level)
    if isinstance(se, Undefined):
        return se
    return cut_interval(value, t_quantile(level, n - 1) * se, (floor, 1.0), level, "gwet_t")


def z_interval(
    value: float, se: Number, level: float, method: str, floor: float = -1.0
) -> Interval | Undefined:
    """Return value +- z se, cut to [floor, 1] for the reason given at ``t_interval``."""
    check_level(level)
    if isinstance(se, Undefined):
        return se
    return cut_interval(value, normal_quantile(level) * se, (floor, 1.0), level, method)


def cut_interval(
    value: float, reach: float, limits: tuple[float, float], level: float, method: str
) -> Interval:
    """Return value +- reach cut to the limits, where the value itself keeps them."""
    floor, ceiling = limits
    low = value - reach if value < floor else max(floor, value - reach)
    return Interval(low, max(value, min(ceiling, value + reach)), level, method)


def interval_flags(interval: Interval | Undefined, n: float) -> tuple[str, ...]:
    """Return warnings about an interval: one without width shows lack of information."""
    flags: tuple[str, ...] = ()
    if isinstance(interval, Interval) and interval.high - interval.low <= TINY:
        flags += ("zero_width_interval",)
    if n < 20:
        flags += ("few_items",)
    return flags + (interval.flags if isinstance(interval, Interval) else ())


def sparse_flags(table: RatingTable, *, shares: bool = True) -> tuple[str, ...]:
    """Return warnings that a 95% interval covers less than it says.

    In the simulation of ``benchmarks/coverage.py`` coverage falls below 92% when fewer than 5
    items show a disagreement, and, for coefficients whose chance agreement follows the shares of
    the labels (``shares``), when fewer than 15 items are free of the commonest label.
    """
    pairable = (table.ratings_per_row >= 2) & (table.freq > 0)
    counts, freq = table.counts[pairable], table.freq[pairable]
    split = counts.max(axis=1, initial=0.0) < table.ratings_per_row[pairable]
    flags: tuple[str, ...] = ()
    if float(freq[split].sum()) < FEW:
        flags += ("few_disagreements",)
    if shares and counts.size:
        commonest = int((freq @ counts).argmax())
        if float(freq[counts[:, commonest] == 0].sum()) < FEW_RARE:
            flags += ("few_rare_labels",)
    return flags


def weighted_flags(counts: Floats, freq: Floats, distance: Floats) -> tuple[str, ...]:
    """Return the warning for coefficients under weights, or nothing when all weigh the same.

    With quadratic weights a few far disagreements decide the coefficient. Their effective number
    is Kish's (sum d)^2 / sum d^2 over the items' mean distances d; in the simulation coverage
    falls below 92% (to 72%) when it is under 25.

    Args:
        counts: raters per label in every distinct row, shape (d, q).
        freq: how many items have that row, shape (d,).
        distance: disagreement of every two labels, shape (q, q), 0 on the diagonal.
    """
    q = len(distance)
    if q <= 2:
        return ()
    # All entries but the diagonal, as a view: q - 1 runs of q + 1 entries after the first.
    apart = distance.ravel()[1:].reshape(q - 1, q + 1)[:, :-1]
    if float(apart.max() - apart.min()) <= TINY * float(np.abs(apart).max()):
        return ()
    r = counts.sum(axis=1)
    pairs = np.where(r >= 2, r * (r - 1.0), np.inf)
    mean = ((counts @ distance) * counts).sum(axis=1) / pairs
    total, square = float(freq @ mean), float(freq @ np.square(mean))
    few = square <= 0 or total * total / square < FEW_WEIGHTED
    return ("few_weighted_disagreements",) if few else ()


def flagged(result: Coefficient, *flags: str) -> Coefficient:
    """Return the same coefficient with more flags."""
    return replace(result, flags=result.flags + tuple(f for f in flags if f not in result.flags))
