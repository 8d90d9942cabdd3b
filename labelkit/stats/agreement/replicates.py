"""Agreement coefficients of many resamples at once.

A resample of a table is a new vector of frequencies of its distinct rows. Here every coefficient
is written for a whole matrix of such vectors, so that ten thousand replicates are a few matrix
products. A test holds each of them against the coefficient's own function.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError
from labelkit.stats.agreement.alpha import alpha_distance, distances
from labelkit.stats.agreement.coefficient import TINY, sparse_flags, weighted_flags
from labelkit.stats.agreement.weights import Weights, weight_matrix
from labelkit.stats.bootstrap import Bootstrapped, Method, Statistic, bootstrap, cluster_bootstrap
from labelkit.stats.ratings import Floats, RatingTable

_WITHOUT_SHARES = {"percent_agreement", "unanimous_agreement", "brennan_prediger", "gwet_ac"}


def bootstrap_agreement(
    table: RatingTable,
    name: str,
    weights: Weights = "identity",
    *,
    clusters: Sequence[Hashable] | NDArray[Any] | None = None,
    replicates: int = 4000,
    seed: int = 0,
    level: float = 0.95,
    method: Method = "percentile",
) -> Bootstrapped:
    """Return the bootstrap interval of a coefficient over items, or over clusters of items.

    Args:
        table: the ratings.
        name: a name of ``REPLICATES``, for example ``cohen_kappa``.
        weights: agreement weights, where the coefficient takes them.
        clusters: the cluster (task, domain) of every item, n of them; None resamples items.
        replicates: number of resamples.
        seed: of the generator.
        level: confidence level.
        method: ``percentile`` or ``bca``.

    Raises:
        StatisticsError: for an unknown name, or clusters that do not fit the items.
    """
    statistic = replicate_statistic(table, name, weights)
    sparse = _flags(table, name, weights)
    if clusters is None:
        found = bootstrap(
            statistic, table.freq, replicates=replicates, seed=seed, level=level, method=method
        )
        return replace(found, flags=found.flags + sparse)
    rows = _cluster_rows(table, clusters)
    found = cluster_bootstrap(
        lambda drawn: statistic(drawn @ rows),
        len(rows),
        replicates=replicates,
        seed=seed,
        level=level,
        method=method,
    )
    return replace(found, flags=found.flags + sparse)


def _flags(table: RatingTable, name: str, weights: Weights) -> tuple[str, ...]:
    """The warnings of the coefficient itself: a bootstrap does no better there."""
    metric = name.removeprefix("krippendorff_alpha_")
    if metric in {"ordinal", "interval"}:
        distance = alpha_distance(table, metric)
    else:
        distance = 1.0 - weight_matrix(weights, table)
    flags = sparse_flags(table, shares=name not in _WITHOUT_SHARES)
    return flags + weighted_flags(table.counts, table.freq, distance)


def replicate_statistic(table: RatingTable, name: str, weights: Weights = "identity") -> Statistic:
    """Return the function from frequencies of the table's rows, (B, d), to values, (B,)."""
    if name not in REPLICATES:
        raise StatisticsError(
            f"no bootstrap for {name!r}; choose one of {', '.join(sorted(REPLICATES))}"
        )
    return REPLICATES[name](table, weight_matrix(weights, table))


def _percent(table: RatingTable, w: Floats) -> Statistic:
    share, pairable = _pair_shares(table, w)
    return lambda freq: _divide(freq @ share, freq @ pairable)


def _unanimous(table: RatingTable, _: Floats) -> Statistic:
    pairable = (table.ratings_per_row >= 2).astype(np.float64)
    same = pairable * (table.counts.max(axis=1, initial=0.0) == table.ratings_per_row)
    return lambda freq: _divide(freq @ same, freq @ pairable)


def _corrected(chance: Callable[[RatingTable, Floats], Statistic]) -> Any:
    """Return the maker of (pa - pe) / (1 - pe) for one rule of chance agreement."""

    def make(table: RatingTable, w: Floats) -> Statistic:
        observed, expected = _percent(table, w), chance(table, w)

        def values(freq: Floats) -> Floats:
            pe = expected(freq)
            return _divide(observed(freq) - pe, 1.0 - pe)

        return values

    return make


def _item_shares(table: RatingTable) -> Callable[[Floats], Floats]:
    r = table.ratings_per_row
    rated = (r >= 1).astype(np.float64)
    shares = table.counts / np.where(r > 0, r, 1.0)[:, None]
    return lambda freq: _divide(freq @ shares, (freq @ rated)[:, None])


def _fleiss(table: RatingTable, w: Floats) -> Statistic:
    shares = _item_shares(table)

    def chance(freq: Floats) -> Floats:
        p = shares(freq)
        return _quadratic(p, w)

    return chance


def _pooled(table: RatingTable, w: Floats) -> Statistic:
    def chance(freq: Floats) -> Floats:
        totals = freq @ table.counts
        p = _divide(totals, totals.sum(axis=1, keepdims=True))
        return _quadratic(p, w)

    return chance


def _gwet(table: RatingTable, w: Floats) -> Statistic:
    shares = _item_shares(table)
    q = table.q
    factor = float(w.sum()) / (q * (q - 1)) if q > 1 else np.nan

    def chance(freq: Floats) -> Floats:
        p = shares(freq)
        return np.asarray(factor * (p * (1.0 - p)).sum(axis=1))

    return chance


def _brennan(table: RatingTable, w: Floats) -> Statistic:
    return lambda freq: np.full(len(freq), float(w.sum()) / table.q**2)


def _conger(table: RatingTable, w: Floats) -> Statistic:
    patterns, active = _known(table), table.active
    one_hot = np.vstack([np.eye(table.q), np.zeros(table.q)])

    def chance(freq: Floats) -> Floats:
        shares = np.stack(
            [
                _divide(freq @ one_hot[patterns[:, k]], (freq @ (patterns[:, k] >= 0))[:, None])
                for k in active
            ]
        )
        # A rater whom the resample left without ratings has no shares and makes no pair.
        present = ~np.isnan(shares[:, :, 0])
        shares = np.nan_to_num(shares)
        total = shares.sum(axis=0)
        own = np.einsum("gbk,kl,gbl->b", shares, w, shares)
        raters = present.sum(axis=0)
        return _divide(_quadratic(total, w) - own, raters * (raters - 1.0))

    return chance


def _cohen_of(table: RatingTable, w: Floats, first: int, second: int) -> Statistic:
    patterns = _known(table)
    a, b = patterns[:, first], patterns[:, second]
    both = np.flatnonzero((a >= 0) & (b >= 0))
    q = table.q
    cell = np.zeros((len(both), q * q))
    cell[np.arange(len(both)), a[both] * q + b[both]] = 1.0

    def values(freq: Floats) -> Floats:
        counts = (freq[:, both] @ cell).reshape(-1, q, q)
        p = _divide(counts, counts.sum(axis=(1, 2), keepdims=True))
        po = np.einsum("bij,ij->b", p, w)
        pe = np.einsum("bi,ij,bj->b", p.sum(axis=2), w, p.sum(axis=1))
        return _divide(po - pe, 1.0 - pe)

    return values


def _cohen(table: RatingTable, w: Floats) -> Statistic:
    if len(table.active) != 2:
        raise StatisticsError(
            f"Cohen's kappa compares two raters, not {len(table.active)}; pick two columns"
        )
    return _cohen_of(table, w, *table.active)


def _light(table: RatingTable, w: Floats) -> Statistic:
    _known(table)
    pairs = [_cohen_of(table, w, a, b) for a, b in combinations(table.active, 2)]

    def values(freq: Floats) -> Floats:
        kappas = np.stack([pair(freq) for pair in pairs])
        known = ~np.isnan(kappas)
        return _divide(np.nan_to_num(kappas).sum(axis=0), known.sum(axis=0).astype(np.float64))

    return values


def _alpha(metric: str) -> Callable[[RatingTable, Floats], Statistic]:
    def make(table: RatingTable, _: Floats) -> Statistic:
        return _alpha_of(table, distances(table, metric, None), ordinal=metric == "ordinal")

    return make


def _alpha_weighted(table: RatingTable, w: Floats) -> Statistic:
    return _alpha_of(table, 1.0 - w, ordinal=False)


def _alpha_of(table: RatingTable, distance: Floats, *, ordinal: bool) -> Statistic:
    keep = np.flatnonzero(table.ratings_per_row >= 2)
    counts = table.counts[keep]
    free = counts.sum(axis=1) - 1.0
    if ordinal:
        return _alpha_ordinal(keep, counts, free)
    by_row = ((counts @ distance) * counts).sum(axis=1) / free

    def values(freq: Floats) -> Floats:
        totals = freq[:, keep] @ counts
        expected = _quadratic(totals, distance)
        observed = freq[:, keep] @ by_row
        return np.asarray(1.0 - (totals.sum(axis=1) - 1.0) * _divide(observed, expected))

    return values


def _alpha_ordinal(keep: NDArray[Any], counts: Floats, free: Floats) -> Statistic:
    """Ranks change with every resample: sum o_ck (m_c - m_k)^2 over the coincidences o."""
    d, q = counts.shape
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(q), np.arange(q)] -= counts
    flat = (pairs / free[:, None, None]).reshape(d, q * q)

    def values(freq: Floats) -> Floats:
        totals = freq[:, keep] @ counts
        middle = np.cumsum(totals, axis=1) - totals / 2.0
        gap = np.square(middle[:, :, None] - middle[:, None, :])
        observed = ((freq[:, keep] @ flat).reshape(-1, q, q) * gap).sum(axis=(1, 2))
        expected = np.einsum("bk,bkl,bl->b", totals, gap, totals)
        return np.asarray(1.0 - (totals.sum(axis=1) - 1.0) * _divide(observed, expected))

    return values


REPLICATES: dict[str, Callable[[RatingTable, Floats], Statistic]] = {
    "percent_agreement": _percent,
    "unanimous_agreement": _unanimous,
    "cohen_kappa": _cohen,
    "scott_pi": _corrected(_fleiss),
    "fleiss_kappa": _corrected(_fleiss),
    "fleiss_kappa_pooled": _corrected(_pooled),
    "gwet_ac": _corrected(_gwet),
    "brennan_prediger": _corrected(_brennan),
    "conger_kappa": _corrected(_conger),
    "light_kappa": _light,
    "krippendorff_alpha": _alpha("nominal"),
    "krippendorff_alpha_ordinal": _alpha("ordinal"),
    "krippendorff_alpha_interval": _alpha("interval"),
    "krippendorff_alpha_weighted": _alpha_weighted,
}


def _pair_shares(table: RatingTable, w: Floats) -> tuple[Floats, Floats]:
    r = table.ratings_per_row
    pairable = (r >= 2).astype(np.float64)
    hits = (table.counts * (table.counts @ w - 1.0)).sum(axis=1)
    return pairable * hits / np.where(r >= 2, r * (r - 1), 1.0), pairable


def _quadratic(p: Floats, w: Floats) -> Floats:
    """Return p_b' W p_b for every row b."""
    return np.asarray(((p @ w) * p).sum(axis=1))


def _divide(top: Floats, bottom: Floats | NDArray[Any]) -> Floats:
    """Divide; NaN where the divisor is zero, which the bootstrap counts as undefined."""
    bottom = np.broadcast_to(bottom, top.shape)
    out = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=out, where=np.abs(bottom) > TINY)
    return out


def _known(table: RatingTable) -> NDArray[np.int32]:
    if table.patterns is None:
        raise StatisticsError("raters of a count table are anonymous; give the ratings by rater")
    return table.patterns


def _cluster_rows(table: RatingTable, clusters: Sequence[Hashable] | NDArray[Any]) -> Floats:
    """Return how many items of every distinct row every cluster holds, shape (G, d)."""
    if table.pattern_of is None or len(clusters) != len(table.pattern_of):
        held = 0 if table.pattern_of is None else len(table.pattern_of)
        raise StatisticsError(
            f"{len(clusters)} clusters for {held} items; name the cluster of every item"
        )
    seen: dict[Hashable, int] = {}
    number = np.fromiter(
        (seen.setdefault(c, len(seen)) for c in clusters), dtype=np.int64, count=len(clusters)
    )
    d = len(table.freq)
    flat = np.bincount(number * d + table.pattern_of, minlength=len(seen) * d)
    return np.asarray(flat, dtype=np.float64).reshape(len(seen), d)
