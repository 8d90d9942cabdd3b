"""Conger's kappa: chance agreement from the shares of every rater, for any number of raters.

Apart from Fleiss' kin in ``chance`` because it has to know who rated what.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labelkit.stats.agreement.chance import observed_by_row
from labelkit.stats.agreement.coefficient import (
    Coefficient,
    flagged,
    linearised,
    missing,
    nothing_to_compare,
    weighted_flags,
)
from labelkit.stats.agreement.weights import Weights, kappa_floor, weight_matrix
from labelkit.stats.ratings import Floats, RatingTable
from labelkit.stats.undefined import Reason, Undefined

Scores = Sequence[float] | None


def conger_kappa(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Scores = None,
    level: float = 0.95,
) -> Coefficient:
    """Return Conger's kappa (1980), Psychol. Bull. 88:322, the multi-rater form of Cohen's.

    Chance agreement is the mean over rater pairs of sum w_kl p_gk p_hl, with p_g the shares of
    rater g over the items that he rated. Raters without ratings are left out. The standard
    error linearises it (Gwet 2014, ch. 5.3); with missing ratings every rater's shares are
    ratio estimates and are linearised as such (flag ``se_with_missing_ratings``).
    """
    name = "conger_kappa"
    why = nothing_to_compare(table)
    if table.patterns is None:
        why = Undefined(Reason.ANONYMOUS_RATERS, "Conger's kappa has to know who rated what")
    if why is not None or table.patterns is None:
        return missing(name, table, why or Undefined(Reason.ANONYMOUS_RATERS))
    w = weight_matrix(weights, table, scores)
    pe, expected = _conger_chance(table, w)
    observed = observed_by_row(table, w)
    result = linearised(name, table, observed, expected, pe, level, floor=kappa_floor(w))
    result = flagged(result, *weighted_flags(table.counts, table.freq, 1.0 - w))
    full = (table.ratings_per_row == table.n_raters) | (table.ratings_per_row == 0)
    complete = bool(full[table.freq > 0].all())
    return result if complete else flagged(result, "se_with_missing_ratings")


def _conger_chance(table: RatingTable, w: Floats) -> tuple[float, Floats]:
    """Return pe and the contribution of every row to it.

    Summed over ordered pairs of different raters, sum_gh p_g' W p_h is S'WS - sum_g p_g'Wp_g
    with S the sum of all p_g.
    """
    patterns, active = table.patterns, table.active
    assert patterns is not None  # noqa: S101 - the caller has checked; this is for the reader
    n = float((table.freq * (table.ratings_per_row >= 1)).sum())
    pairs = len(active) * (len(active) - 1)
    one_hot = np.vstack([np.eye(table.q), np.zeros(table.q)])
    shares = np.zeros((len(active), table.q))
    sizes = np.zeros(len(active))
    for k, column in enumerate(active):
        codes = patterns[:, column]
        sizes[k] = table.freq[codes >= 0].sum()
        shares[k] = (table.freq @ one_hot[codes]) / sizes[k]
    total = shares.sum(axis=0)
    own = np.einsum("gk,kl,gl->g", shares, w, shares)
    pe = (float(total @ w @ total) - float(own.sum())) / pairs
    expected = np.full(len(patterns), pe)
    for k, column in enumerate(active):
        codes = patterns[:, column]
        # Half of the derivative: the pair (g, h) is counted in both orders.
        against = w @ (total - shares[k])
        gain = one_hot[codes] @ against - float(shares[k] @ against)
        expected += np.where(codes >= 0, gain * n / sizes[k], 0.0) / pairs
    return pe, expected
