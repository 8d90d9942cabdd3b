"""Agreement of any number of raters with missing ratings: percent, Fleiss, Gwet, Brennan.

All follow Gwet's rule for missing ratings (2014, ch. 2.7): observed agreement over the items with
two or more ratings, chance agreement over the items with one or more, n = the latter. Popular
libraries differ silently here; where a second convention is in use it has its own name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from labelkit.stats.agreement.coefficient import (
    TINY,
    Coefficient,
    flagged,
    interval_flags,
    linearised,
    missing,
    nothing_to_compare,
    sparse_flags,
    standard_error,
    t_interval,
    weighted_flags,
)
from labelkit.stats.agreement.weights import Weights, kappa_floor, weight_matrix
from labelkit.stats.intervals import wilson
from labelkit.stats.ratings import Floats, RatingTable
from labelkit.stats.undefined import Number, Reason, Undefined, is_defined

Scores = Sequence[float] | None


def percent_agreement(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Scores = None,
    level: float = 0.95,
    method: str = "gwet_t",
) -> Coefficient:
    """Return the mean pairwise (weighted) agreement per item.

    Fleiss (1971), eq. 1, with weights as in Gwet (2014), eq. 3.5.2. ``method`` ``wilson`` gives
    the Wilson interval of the share of agreeing items (two raters, no weights); ``gwet_t`` the
    t interval with Gwet's standard error, cut to the least weight (0) and 1, between which every
    mean of weights lies. Trust it with 5 or more items that show a disagreement; else it is
    flagged (``few_disagreements``).
    """
    why = nothing_to_compare(table)
    if why is not None:
        return missing("percent_agreement", table, why)
    w = weight_matrix(weights, table, scores)
    observed = observed_by_row(table, w)
    freq = table.freq * (table.ratings_per_row >= 1)
    n = float(freq.sum())
    value = float(freq @ observed) / n
    se = standard_error(observed, freq, value)
    interval = t_interval(value, se, n, level, floor=float(w.min()))
    if method == "wilson":
        pairable = table.n_pairable
        plain = isinstance(weights, str) and weights == "identity"
        if table.n_raters == 2 and plain:
            interval = wilson(min(round(value * pairable), pairable), pairable, level)
        else:
            interval = Undefined(
                Reason.NEEDS_TWO_RATERS, "Wilson's interval needs two raters and no weights"
            )
    flags = interval_flags(interval, n)
    if method != "wilson":
        flags += sparse_flags(table, shares=False) + _uneven(table, w)
    return Coefficient(
        "percent_agreement",
        value,
        se,
        interval,
        value,
        0.0,
        table.n_items,
        table.n_raters,
        table.n_pairs,
        flags=flags,
    )


def unanimous_agreement(table: RatingTable, *, level: float = 0.95) -> Coefficient:
    """Return the share of items with two or more ratings whose ratings are all equal.

    The interval is Wilson's over those items, flagged where Wilson's is (``few_hits``).
    """
    why = nothing_to_compare(table)
    if why is not None:
        return missing("unanimous_agreement", table, why)
    pairable = table.ratings_per_row >= 2
    same = pairable & (table.counts.max(axis=1, initial=0.0) == table.ratings_per_row)
    n, hits = float(table.freq[pairable].sum()), float(table.freq[same].sum())
    value = hits / n
    se = standard_error(same[pairable].astype(np.float64), table.freq[pairable], value)
    interval = wilson(hits, n, level)
    return Coefficient(
        "unanimous_agreement",
        value,
        se,
        interval,
        value,
        0.0,
        int(n),
        table.n_raters,
        table.n_pairs,
        flags=interval_flags(interval, n),
    )


def fleiss_kappa(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Scores = None,
    level: float = 0.95,
) -> Coefficient:
    """Return Fleiss' kappa in the item-mean convention (Gwet 2014, eq. 2.7.1; Fleiss 1971).

    Category shares are means of the items' shares, so that every item counts once however many
    raters it had. ``parts`` are the kappas of every category against the rest; ``se_null`` is
    the formula of Fleiss, Nee & Landis (1979), Psychol. Bull. 86:974, eq. 12, which corrects the
    one printed in 1971 and needs equal numbers of raters. Not defined when only one category
    occurs.
    """
    return _fleiss("fleiss_kappa", table, weights, scores, level)


def scott_pi(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Scores = None,
    level: float = 0.95,
) -> Coefficient:
    """Return Scott's pi (1955), Public Opin. Q. 19:321: Fleiss' kappa of two raters."""
    if table.n_raters > 2:
        why = Undefined(Reason.NEEDS_TWO_RATERS, "Scott's pi compares two raters")
        return missing("scott_pi", table, why)
    return _fleiss("scott_pi", table, weights, scores, level)


def fleiss_kappa_pooled(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Scores = None,
    level: float = 0.95,
) -> Coefficient:
    """Return Fleiss' kappa in the pooled convention.

    Same observed agreement, but category shares over all ratings together, so that items with
    many ratings weigh more. Equals ``fleiss_kappa`` when every item has the same number of
    ratings. The standard error linearises the pooled shares (ratio estimator).
    """
    why = nothing_to_compare(table)
    if why is not None:
        return missing("fleiss_kappa_pooled", table, why)
    w = weight_matrix(weights, table, scores)
    rated = table.freq * (table.ratings_per_row >= 1)
    mean_ratings = float(rated @ table.ratings_per_row) / float(rated.sum())
    shares = (rated @ table.counts) / float(rated @ table.ratings_per_row)
    pe = float(shares @ w @ shares)
    relative = table.ratings_per_row / mean_ratings
    expected = (table.counts @ (w @ shares)) / mean_ratings - pe * (relative - 1.0)
    observed = observed_by_row(table, w)
    result = linearised(
        "fleiss_kappa_pooled", table, observed, expected, pe, level, floor=kappa_floor(w)
    )
    return flagged(result, *_uneven(table, w))


def gwet_ac(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Scores = None,
    level: float = 0.95,
) -> Coefficient:
    """Return Gwet's AC1 (identity weights) or AC2.

    Gwet (2008), Br. J. Math. Stat. Psychol. 61:29, eqs. 4 and 17: chance agreement is
    sum(w) / (q (q - 1)) * sum p_k (1 - p_k). It depends on the number q of declared labels: a
    label that could have been chosen counts even when nobody chose it. Trust the interval with 5
    or more items that show a disagreement; else it is flagged (``few_disagreements``).
    """
    name = "gwet_ac"
    why = nothing_to_compare(table)
    if why is not None:
        return missing(name, table, why)
    w = weight_matrix(weights, table, scores)
    observed = observed_by_row(table, w)
    if table.q < 2:
        return _one_category(name, table, observed)
    shares, row_shares = category_shares(table)
    factor = float(w.sum()) / (table.q * (table.q - 1))
    pe = factor * float((shares * (1 - shares)).sum())
    expected = factor * (row_shares @ (1 - shares))
    result = linearised(name, table, observed, expected, pe, level, shares=False, floor=_least(w))
    return flagged(result, *_uneven(table, w), *_undeclared(table))


def brennan_prediger(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Scores = None,
    level: float = 0.95,
) -> Coefficient:
    """Return Brennan & Prediger's kappa (1981), Educ. Psychol. Meas. 41:687.

    Chance agreement is sum(w) / q^2, where q counts the declared labels. The interval may be
    trusted like that of ``gwet_ac``.
    """
    name = "brennan_prediger"
    why = nothing_to_compare(table)
    if why is not None:
        return missing(name, table, why)
    w = weight_matrix(weights, table, scores)
    observed = observed_by_row(table, w)
    if table.q < 2:
        return _one_category(name, table, observed)
    pe = float(w.sum()) / table.q**2
    result = linearised(name, table, observed, pe, pe, level, shares=False, floor=_least(w))
    return flagged(result, *_uneven(table, w), *_undeclared(table))


def pabak(table: RatingTable, *, level: float = 0.95) -> Coefficient:
    """Return the prevalence- and bias-adjusted kappa 2 po - 1.

    Byrt, Bishop & Carlin (1993), J. Clin. Epidemiol. 46:423: Brennan-Prediger for two labels,
    and undefined for any other number of them.
    """
    if table.q != 2:
        why = Undefined(Reason.NEEDS_TWO_CATEGORIES, "PABAK is defined for two labels")
        return missing("pabak", table, why)
    return replace(brennan_prediger(table, level=level), name="pabak")


def observed_by_row(table: RatingTable, w: Floats) -> Floats:
    """Return every row's contribution to observed agreement; their mean over n items is pa.

    Rows with one rating contribute 0 and the others are scaled by n / n', so that the standard
    error knows that the unpaired items brought no information (Gwet 2014, eq. 5.3.4).
    """
    r = table.ratings_per_row
    pairs = r * (r - 1)
    hits = (table.counts * (table.counts @ w - 1.0)).sum(axis=1)
    share = np.where(r >= 2, hits / np.where(r >= 2, pairs, 1.0), 0.0)
    rated = float(table.freq[r >= 1].sum())
    pairable = float(table.freq[r >= 2].sum())
    return np.asarray(share * rated / pairable)


def category_shares(table: RatingTable) -> tuple[Floats, Floats]:
    """Return the mean share of every category, shape (q,), and the rows' shares, (d, q)."""
    r = table.ratings_per_row
    row_shares = table.counts / np.where(r > 0, r, 1.0)[:, None]
    freq = table.freq * (r >= 1)
    return np.asarray(freq @ row_shares / freq.sum()), row_shares


def _fleiss(
    name: str, table: RatingTable, weights: Weights, scores: Scores, level: float
) -> Coefficient:
    why = nothing_to_compare(table)
    if why is not None:
        return missing(name, table, why)
    w = weight_matrix(weights, table, scores)
    shares, row_shares = category_shares(table)
    pe = float(shares @ w @ shares)
    observed = observed_by_row(table, w)
    expected = row_shares @ (w @ shares)
    result = linearised(name, table, observed, expected, pe, level, floor=kappa_floor(w))
    result = flagged(result, *_uneven(table, w))
    if not is_defined(result.value):
        return result
    if not (isinstance(weights, str) and weights == "identity"):
        why = Undefined(Reason.NO_FORMULA, "the null standard error has no weighted form")
        return replace(result, se_null=why)
    return replace(
        result, se_null=_fleiss_null(table, shares), parts=_category_kappas(table, shares)
    )


def _fleiss_null(table: RatingTable, shares: Floats) -> Number:
    """Fleiss, Nee & Landis (1979), eq. 12."""
    r = table.ratings_per_row[(table.freq > 0) & (table.ratings_per_row > 0)]
    if len(np.unique(r)) != 1:
        return Undefined(Reason.UNEQUAL_RATERS, "the null formula needs equal numbers of raters")
    n, m = float(table.n_items), float(r[0])
    spread = shares * (1 - shares)
    total = float(spread.sum())
    inner = total**2 - float((spread * (1 - 2 * shares)).sum())
    return float(np.sqrt(2 * max(0.0, inner) / (n * m * (m - 1))) / total)


def _category_kappas(table: RatingTable, shares: Floats) -> tuple[Number, ...]:
    """Return Fleiss' kappa of every category against all others (Fleiss 1971, eq. 8)."""
    r = table.ratings_per_row
    freq = table.freq * (r >= 2)
    pairs = np.where(r >= 2, r * (r - 1), 1.0)
    apart = 2 * freq @ (table.counts * (r[:, None] - table.counts) / pairs[:, None])
    disagreement = apart / freq.sum()
    out: list[Number] = []
    for share, split in zip(shares.tolist(), disagreement.tolist(), strict=True):
        chance = 2 * share * (1 - share)
        if chance <= TINY:
            out.append(Undefined(Reason.NO_VARIATION, "the category is never or always chosen"))
        else:
            out.append(1.0 - split / chance)
    return tuple(out)


def _least(w: Floats) -> float:
    """Return the least value of Brennan-Prediger's coefficient and Gwet's, or -1 if that is less.

    Both have pe <= sum(w) / q^2 (equality for even shares), and (pa - pe) / (1 - pe) falls with
    pe, so the least is reached where every pair of ratings differs most.
    """
    pe = float(w.sum()) / len(w) ** 2
    return min(-1.0, (float(w.min()) - pe) / (1.0 - pe)) if pe < 1.0 - TINY else -1.0


def _one_category(name: str, table: RatingTable, observed: Floats) -> Coefficient:
    freq = table.freq * (table.ratings_per_row >= 1)
    pa = float(freq @ observed) / float(freq.sum())
    why = Undefined(Reason.ONE_CATEGORY, "only one label is declared, so nothing can disagree")
    return missing(name, table, why, observed=pa)


def _uneven(table: RatingTable, w: Floats) -> tuple[str, ...]:
    return weighted_flags(table.counts, table.freq, 1.0 - w)


def _undeclared(table: RatingTable) -> tuple[str, ...]:
    """Flag that q is what happened to occur: AC and Brennan-Prediger depend on it."""
    return () if table.declared else ("labels_not_declared",)
