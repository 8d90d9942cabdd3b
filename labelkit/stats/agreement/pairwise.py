"""Agreement of two raters who are known by name: Cohen's kappa and what explains it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from labelkit.stats.agreement.coefficient import (
    FEW,
    FEW_RARE,
    TINY,
    Coefficient,
    interval_flags,
    missing,
    nothing_to_compare,
    weighted_flags,
    z_interval,
)
from labelkit.stats.agreement.weights import Weights, kappa_floor, weight_matrix
from labelkit.stats.ratings import Floats, RatingTable
from labelkit.stats.undefined import Number, Reason, Undefined, is_defined


@dataclass(frozen=True)
class RaterPair:
    """Two raters and a coefficient of the items both rated."""

    first: Hashable
    second: Hashable
    result: Coefficient


@dataclass(frozen=True)
class TwoByTwo:
    """Why kappa and percent agreement may part: Byrt, Bishop & Carlin (1993).

    Args:
        prevalence_index: (both say first - both say second) / n, in [-1, 1].
        bias_index: difference of the raters' shares of the first label.
        n_items: items both rated.
    """

    prevalence_index: Number
    bias_index: Number
    n_items: int


def cohen_kappa(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Sequence[float] | None = None,
    level: float = 0.95,
) -> Coefficient:
    """Return Cohen's (weighted) kappa of two raters over the items that both rated.

    Cohen (1960), Educ. Psychol. Meas. 20:37; weighted form Cohen (1968). The standard error is
    the general large-sample formula of Fleiss, Cohen & Everitt (1969), Psychol. Bull. 72:323,
    eq. 13, with divisor n; ``se_null`` is their eq. 14 (kappa = 0, for testing only). The interval
    is kappa +- z se, cut to [-1, 1]. Trust it when 5 items or more show a disagreement and 15 or
    more are free of the commonest label; below, its coverage falls as low as 6% and it is flagged
    (``few_disagreements``, ``few_rare_labels``; the bootstrap does no better there). Under weights
    the disagreements must also be worth 25 equal ones (``few_weighted_disagreements``).
    """
    name = "cohen_kappa"
    why = _two_raters(table)
    if why is not None:
        return missing(name, table, why)
    first, second = table.active
    w = weight_matrix(weights, table, scores)
    return _cohen(table.pair_counts(first, second), w, kappa_floor(w), table, level)


def _cohen(
    counts: Floats, w: Floats, floor: float, table: RatingTable, level: float
) -> Coefficient:
    """Return Cohen's kappa of a q x q cross table with agreement weights ``w``."""
    name = "cohen_kappa"
    n = float(counts.sum())
    if n == 0:
        why = Undefined(Reason.NO_OVERLAP, "the two raters share no item")
        return replace(missing(name, table, why), n_items=0, n_raters=2, n_pairs=0)
    p = counts / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    po, pe = float((w * p).sum()), float(rows @ w @ columns)
    if 1.0 - pe <= TINY:
        why = Undefined(Reason.NO_VARIATION, "both raters used one and the same label throughout")
        broken = missing(name, table, why, observed=po, expected=pe)
        return replace(broken, n_items=int(n), n_raters=2, n_pairs=int(n))
    value = (po - pe) / (1.0 - pe)
    row_weight, column_weight = w @ columns, rows @ w
    both = row_weight[:, None] + column_weight[None, :]
    square = float((p * np.square(w * (1 - pe) - both * (1 - po))).sum())
    spread = square - (po * pe - 2 * pe + po) ** 2
    if spread <= 1e-14 * square:
        spread = 0.0  # what is left of two equal terms is rounding, not variance
    null = float((np.outer(rows, columns) * np.square(w - both)).sum()) - pe**2
    se = float(np.sqrt(spread / n)) / (1 - pe) ** 2
    interval = z_interval(value, se, level, "fleiss_cohen_everitt", floor)
    return Coefficient(
        name,
        value,
        se,
        interval,
        po,
        pe,
        int(n),
        2,
        int(n),
        se_null=float(np.sqrt(max(0.0, null) / n)) / (1 - pe),
        flags=interval_flags(interval, n) + _sparse(counts, w),
    )


def _sparse(counts: Floats, w: Floats) -> tuple[str, ...]:
    """Return the flags of ``sparse_flags`` and ``weighted_flags`` from a cross table."""
    n, given = float(counts.sum()), counts.sum(axis=0) + counts.sum(axis=1)
    top = int(given.argmax())
    flags: tuple[str, ...] = ("few_disagreements",) if n - float(np.trace(counts)) < FEW else ()
    if n - given[top] + counts[top, top] < FEW_RARE:
        flags += ("few_rare_labels",)
    if len(counts) <= 2:
        return flags
    first, second = np.nonzero(counts)
    both = np.eye(len(counts))[first] + np.eye(len(counts))[second]
    return flags + weighted_flags(both, counts[first, second], 1.0 - w)


def pairwise_cohen(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Sequence[float] | None = None,
    level: float = 0.95,
) -> tuple[RaterPair, ...]:
    """Return Cohen's kappa of every pair of raters who rated anything, in column order.

    Anonymous raters have no pairs: the result is empty.
    """
    if table.patterns is None:
        return ()
    w = weight_matrix(weights, table, scores)
    floor = kappa_floor(w)
    return tuple(
        RaterPair(
            table.raters[a],
            table.raters[b],
            _cohen(table.pair_counts(a, b), w, floor, table, level),
        )
        for a, b in combinations(table.active, 2)
    )


def light_kappa(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Sequence[float] | None = None,
    level: float = 0.95,
    pairs: tuple[RaterPair, ...] | None = None,
) -> Coefficient:
    """Return Light's kappa: the mean of Cohen's kappa over all pairs of raters.

    Light (1971), Psychol. Bull. 76:365. ``parts`` holds the pairs' kappas in the order (1,2),
    (1,3), ..., (2,3), ...; a pair that is undefined is left out of the mean and flagged. The
    literature gives no standard error that holds; use the bootstrap. ``pairs`` are those of
    ``pairwise_cohen`` where they are known already.
    """
    name = "light_kappa"
    why = nothing_to_compare(table)
    if table.patterns is None:
        why = Undefined(Reason.ANONYMOUS_RATERS, "Light's kappa has to know who rated what")
    if why is not None:
        return missing(name, table, why)
    if pairs is None:
        pairs = pairwise_cohen(table, weights, scores=scores, level=level)
    values = tuple(pair.result.value for pair in pairs)
    known = [value for value in values if is_defined(value)]
    if not known:
        return replace(
            missing(name, table, Undefined(Reason.NO_VARIATION, "no pair of raters has a kappa")),
            parts=values,
        )
    no_se = Undefined(Reason.NO_FORMULA, "Light's kappa has no accepted standard error; bootstrap")
    return Coefficient(
        name,
        float(np.mean(known)),
        no_se,
        no_se,
        Undefined(Reason.NO_FORMULA, "a mean of kappas has no observed agreement"),
        Undefined(Reason.NO_FORMULA, "a mean of kappas has no chance agreement"),
        table.n_items,
        table.n_raters,
        table.n_pairs,
        parts=values,
        flags=() if len(known) == len(values) else ("undefined_pairs_left_out",),
    )


def prevalence_and_bias(table: RatingTable) -> TwoByTwo:
    """Return the prevalence and bias index of two raters and two labels.

    Byrt, Bishop & Carlin (1993), J. Clin. Epidemiol. 46:423: with cells a, b, c, d of the 2 x 2
    table, (a - d) / n and (b - c) / n. A large prevalence index explains high agreement with low
    kappa.
    """
    why = _two_raters(table)
    if why is None and table.q != 2:
        why = Undefined(Reason.NEEDS_TWO_CATEGORIES, "the indices are defined for two labels")
    if why is not None:
        return TwoByTwo(why, why, 0)
    counts = table.pair_counts(*table.active)
    n = float(counts.sum())
    if n == 0:
        why = Undefined(Reason.NO_OVERLAP, "the two raters share no item")
        return TwoByTwo(why, why, 0)
    return TwoByTwo(
        float(counts[0, 0] - counts[1, 1]) / n, float(counts[0, 1] - counts[1, 0]) / n, int(n)
    )


def _two_raters(table: RatingTable) -> Undefined | None:
    if table.n_items == 0:
        return Undefined(Reason.NO_ITEMS, "no item has a rating")
    if table.patterns is None:
        return Undefined(Reason.ANONYMOUS_RATERS, "Cohen's kappa has to know who rated what")
    if len(table.active) < 2:
        return Undefined(Reason.SINGLE_RATER, "agreement needs at least two raters")
    if len(table.active) > 2:
        return Undefined(
            Reason.NEEDS_TWO_RATERS, "Cohen's kappa compares two raters; use pairwise_cohen"
        )
    return None
