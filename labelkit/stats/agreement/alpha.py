"""Krippendorff's alpha for labels of any kind, with a standard error.

The common package gives no standard error, another one a wrong one, a third divides by the wrong
number of pairs; here they are at most checks in the tests. Items with fewer than two ratings have
nothing to pair and take no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from labelkit.errors import StatisticsError
from labelkit.stats.agreement.coefficient import (
    TINY,
    Coefficient,
    interval_flags,
    nothing_to_compare,
    sparse_flags,
    standard_error,
    t_interval,
    weighted_flags,
)
from labelkit.stats.agreement.weights import Weights, kappa_floor, score_vector, weight_matrix
from labelkit.stats.encode import kind_of
from labelkit.stats.ratings import Floats, RatingTable
from labelkit.stats.undefined import Number, Reason, Undefined

Level = Literal["nominal", "ordinal", "interval", "ratio"]

_ABSENT = Undefined(Reason.NO_ITEMS, "nothing was compared")


@dataclass(frozen=True)
class Alpha(Coefficient):
    """Krippendorff's alpha.

    Args:
        d_o: observed disagreement, the mean squared distance of paired ratings.
        d_e: disagreement expected by chance; ordinal distances are in rank units.
        n_pairable: ratings that can be paired.
    """

    d_o: Number = _ABSENT
    d_e: Number = _ABSENT
    n_pairable: int = 0


def krippendorff_alpha(
    table: RatingTable,
    metric: Level = "nominal",
    *,
    scores: Sequence[float] | None = None,
    level: float = 0.95,
) -> Alpha:
    """Return alpha = 1 - Do / De with Krippendorff's own distances.

    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, sections A-D: nominal
    (0 or 1), ordinal (squared difference of mid-ranks of the ratings), interval (c - k)^2, ratio
    ((c - k) / (c + k))^2 with 0 against 0 at distance 0. Ordinal takes the declared order;
    interval and ratio the numeric labels themselves, or ``scores``.

    The standard error linearises alpha' = 1 - (1 - alpha) N / (N - 1), which for complete data is
    Fleiss' kappa (Gwet 2014, ch. 5.4), with the ranks' own dependence on the data included for
    ordinal; interval alpha +- t(n - 1) se over the n items with two or more ratings, cut to
    [-1, 1]. Trust it as that of ``fleiss_kappa``: with 5 items or more that show a disagreement
    and 15 free of the commonest label, else it is flagged.

    Raises:
        StatisticsError: for an unknown metric, or interval and ratio metrics of labels that are
            no numbers.
    """
    distance = distances(table, metric, scores)
    paired = _pairable(table)
    if isinstance(paired, Undefined):
        return _undefined("krippendorff_alpha", table, paired)
    counts, freq = paired
    totals = freq @ counts
    if metric == "ordinal":
        distance = np.square(_rank_gap(totals))
    sums = _disagreement(counts, freq, distance)
    if sums.expected <= TINY * max(1.0, float(distance.max(initial=0.0))):
        return _no_variation("krippendorff_alpha", table, sums)
    row_expected = 2.0 * counts @ (distance @ totals)
    row_observed = sums.by_row
    if metric == "ordinal":
        row_observed = row_observed + counts @ _rank_gain(totals, sums.coincidences)
        row_expected = row_expected + counts @ _rank_gain(totals, np.outer(totals, totals))
    # Only the ratio metric may be no square of a distance.
    floor = kappa_floor(1.0 - distance) if metric == "ratio" else -1.0
    return _finish("krippendorff_alpha", table, sums, (row_observed, row_expected), level, floor)


def krippendorff_alpha_weighted(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Sequence[float] | None = None,
    level: float = 0.95,
) -> Alpha:
    """Return alpha with agreement weights, distance = 1 - weight (Gwet 2014, ch. 2.7 and 5.4).

    ``observed`` is pa after the 1/N correction and ``expected`` is pe over the pairable ratings.
    """
    name = "krippendorff_alpha_weighted"
    w = weight_matrix(weights, table, scores)
    paired = _pairable(table)
    if isinstance(paired, Undefined):
        return _undefined(name, table, paired)
    counts, freq = paired
    sums = _disagreement(counts, freq, 1.0 - w)
    if sums.expected <= TINY:
        return _no_variation(name, table, sums)
    row_expected = 2.0 * counts @ ((1.0 - w) @ (freq @ counts))
    rows = (sums.by_row, row_expected)
    return _finish(name, table, sums, rows, level, kappa_floor(w), shares=True)


@dataclass(frozen=True)
class _Sums:
    """Observed and expected disagreement, as sums over ratings (N Do and N^2 times pe form)."""

    counts: Floats
    freq: Floats
    distance: Floats
    coincidences: Floats
    by_row: Floats
    observed: float
    expected: float
    n_ratings: float


def _pairable(table: RatingTable) -> tuple[Floats, Floats] | Undefined:
    why = nothing_to_compare(table)
    if why is not None:
        return why
    keep = (table.ratings_per_row >= 2) & (table.freq > 0)
    return table.counts[keep], table.freq[keep]


def _disagreement(counts: Floats, freq: Floats, distance: Floats) -> _Sums:
    """Fold the ratings into the coincidence matrix (Krippendorff 2011, step 2)."""
    free = counts.sum(axis=1) - 1.0
    totals = freq @ counts
    scale = freq / free
    coincidences = (counts * scale[:, None]).T @ counts - np.diag(scale @ counts)
    by_row = ((counts @ distance) * counts).sum(axis=1) / free
    return _Sums(
        counts,
        freq,
        distance,
        coincidences,
        by_row,
        float(freq @ by_row),
        float(totals @ distance @ totals),
        float(totals.sum()),
    )


def _finish(
    name: str,
    table: RatingTable,
    sums: _Sums,
    rows: tuple[Floats, Floats],
    level: float,
    floor: float,
    *,
    shares: bool = False,
) -> Alpha:
    """Return alpha from its sums, and its standard error from every row's derivative of them.

    With O = N Do, E = sum n_c n_k d_ck and N ratings, alpha' = 1 - N O / E; a row adds to O, E
    and N, so its influence on N O / E is (dO/O + dN/N - dE/E) N O / E.
    """
    row_observed, row_expected = rows
    n_all, n = sums.n_ratings, float(sums.freq.sum())
    value = 1.0 - (n_all - 1.0) * sums.observed / sums.expected
    own = sums.counts.sum(axis=1)
    influence = n_all * (row_observed - sums.observed * row_expected / sums.expected)
    influence = n * (influence + own * sums.observed) / sums.expected
    se = standard_error(influence, sums.freq, 0.0)
    interval = t_interval(value, se, n, level, floor)
    d_o = sums.observed / n_all
    d_e = sums.expected / (n_all * (n_all - 1.0))
    pe = 1.0 - sums.expected / n_all**2
    return Alpha(
        name,
        value,
        se,
        interval,
        1.0 - d_o * (n_all - 1.0) / n_all if shares else 1.0 - d_o,
        pe if shares else 1.0 - d_e,
        int(n),
        table.n_raters,
        table.n_pairs,
        flags=interval_flags(interval, n)
        + sparse_flags(table)
        + weighted_flags(sums.counts, sums.freq, sums.distance),
        d_o=d_o,
        d_e=d_e,
        n_pairable=int(n_all),
    )


def distances(table: RatingTable, metric: str, scores: Sequence[float] | None) -> Floats:
    """Return Krippendorff's squared distance of every two labels, (q, q).

    For the ordinal metric, whose distances depend on the ratings, it only checks the order.
    """
    if metric in ("nominal", "ordinal"):
        if metric == "ordinal" and not table.declared:
            _need_order(table)
        return 1.0 - np.eye(table.q)
    if metric not in ("interval", "ratio"):
        raise StatisticsError(
            f"unknown metric {metric!r}; choose nominal, ordinal, interval or ratio"
        )
    x = _numbers(table, metric) if scores is None else score_vector(table, scores)
    gap = x[:, None] - x[None, :]
    if metric == "interval":
        return np.asarray(np.square(gap))
    if (x < 0).any():
        raise StatisticsError("a ratio metric needs labels >= 0; use the interval metric")
    total = x[:, None] + x[None, :]
    return np.asarray(np.square(np.where(gap == 0, 0.0, gap / np.where(total == 0, 1.0, total))))


def alpha_distance(table: RatingTable, metric: str) -> Floats:
    """Return the distances of the table's own alpha; for ordinal in ranks of its ratings."""
    distance = distances(table, metric, None)
    if metric != "ordinal":
        return distance
    keep = table.ratings_per_row >= 2
    return np.asarray(np.square(_rank_gap(table.freq[keep] @ table.counts[keep])))


def _need_order(table: RatingTable) -> None:
    if any(isinstance(c, str) for c in table.categories):
        raise StatisticsError(
            f"ordinal alpha needs an order of the labels {list(table.categories)!r}; declare the "
            "label set in scale order"
        )


def _numbers(table: RatingTable, metric: str) -> Floats:
    for label in table.categories:
        if kind_of(label) != "number" or not np.isfinite(float(label)):
            raise StatisticsError(
                f"{metric} alpha needs numeric labels, and {label!r} is no finite one; use "
                "ordinal, or give scores"
            )
    return np.asarray(table.categories, dtype=np.float64)


def _rank_gap(totals: Floats) -> Floats:
    """Return the difference of the mid-ranks of every two labels (Krippendorff 2011, step C)."""
    middle = np.cumsum(totals) - totals / 2.0
    return np.asarray(middle[:, None] - middle[None, :])


def _rank_gain(totals: Floats, mass: Floats) -> Floats:
    """Return d/dn_g of sum_ck mass_ck (m_c - m_k)^2 through the mid-ranks m alone, shape (q,).

    m_c = sum_{g<c} n_g + n_c / 2, so m_c grows by 1 with n_g for g < c and by 1/2 for g = c.
    """
    pull = 2.0 * (mass * _rank_gap(totals))
    by_label = pull.sum(axis=1) - pull.sum(axis=0)
    above = np.cumsum(by_label[::-1])[::-1] - by_label
    return np.asarray(above + by_label / 2.0)


def _undefined(name: str, table: RatingTable, why: Undefined) -> Alpha:
    return Alpha(
        name, why, why, why, why, why, table.n_pairable, table.n_raters, table.n_pairs, why
    )


def _no_variation(name: str, table: RatingTable, sums: _Sums) -> Alpha:
    why = Undefined(Reason.NO_VARIATION, "all paired ratings are one label: De is 0")
    return Alpha(
        name,
        why,
        why,
        why,
        1.0,
        1.0,
        table.n_pairable,
        table.n_raters,
        table.n_pairs,
        why,
        d_o=0.0,
        d_e=0.0,
        n_pairable=int(sums.n_ratings),
    )
