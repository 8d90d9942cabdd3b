"""Leaderboards: which models are on the Pareto front, and how sure their ranks are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError
from labelkit.stats.bootstrap import FEW_CLUSTERS
from labelkit.stats.quantiles import check_level
from labelkit.stats.ratings import Floats
from labelkit.stats.undefined import Number, Reason, Undefined

TieRule = Literal["weak", "strict"]


@dataclass(frozen=True)
class ModelRank:
    """The rank of one model.

    Args:
        name: the model.
        score: mean score over its items.
        rank: 1 is best; equal scores share the better rank.
        low: best rank within the interval.
        high: worst rank within the interval.
        p_best: share of resamples in which it is first (shared first places count).
        n_items: items with a score.
        flags: ``few_clusters``, ``undefined_in_some_resamples``.
    """

    name: Hashable
    score: Number
    rank: int | None
    low: int | None
    high: int | None
    p_best: Number
    n_items: int
    flags: tuple[str, ...] = ()


def pareto_front(
    points: Sequence[Sequence[float]] | Floats,
    maximise: Sequence[bool],
    *,
    ties: TieRule = "weak",
) -> NDArray[np.bool_]:
    """Return which points no other point dominates, shape (n,).

    Args:
        points: one row per model, one column per criterion.
        maximise: for every criterion, whether more is better.
        ties: ``weak``: a point is dominated by one that is at least as good everywhere and better
            somewhere; ``strict``: only by one that is better everywhere, so ties stay on the
            front. Equal points never dominate one another.

    Raises:
        StatisticsError: for a missing value, or directions that do not fit.
    """
    values = np.asarray(points, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(maximise):
        raise StatisticsError("give one direction per criterion, and one row per model")
    if ties not in ("weak", "strict"):
        raise StatisticsError(f"unknown tie rule {ties!r}; choose weak or strict")
    if np.isnan(values).any():
        row, column = (int(k) for k in np.argwhere(np.isnan(values))[0])
        raise StatisticsError(f"model {row} has no value for criterion {column}; leave it out")
    good = np.where(np.asarray(maximise, dtype=bool), values, -values)
    above = good[None, :, :] - good[:, None, :]
    if ties == "strict":
        beats = np.all(above > 0, axis=2)
    else:
        beats = np.all(above >= 0, axis=2) & np.any(above > 0, axis=2)
    return np.asarray(~np.any(beats, axis=1))


def rank_intervals(
    scores: Sequence[Sequence[float]] | Floats,
    names: Sequence[Hashable],
    *,
    clusters: Sequence[Hashable] | None = None,
    higher_is_better: bool = True,
    replicates: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[ModelRank, ...]:
    """Return every model's rank with its interval under resampling of the items.

    Percentile bootstrap of the ranks (Goldstein & Spiegelhalter 1996, J. R. Stat. Soc. A 159:385,
    sec. 3): all models are resampled on the same items, so that shared difficulty cancels.

    Args:
        scores: one row per item, one column per model; NaN where a model has no score.
        names: one name per column.
        clusters: the cluster of every item; whole clusters are resampled.
        higher_is_better: whether the largest mean is rank 1.
        replicates: number of resamples.
        seed: of the generator.
        level: confidence level.
    """
    check_level(level)
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise StatisticsError(f"{len(names)} names do not fit scores of shape {values.shape}")
    known = ~np.isnan(values)
    top, bottom = _unit_sums(values, known, clusters)
    rng = np.random.default_rng(seed)
    means = _means(np.ones((1, len(top))), top, bottom)[0]
    drawn = rng.multinomial(len(top), np.full(len(top), 1 / max(1, len(top))), size=replicates)
    resampled = _means(drawn.astype(np.float64), top, bottom)
    ranks = _ranks(resampled, higher_is_better=higher_is_better)
    own = _ranks(means[None, :], higher_is_better=higher_is_better)[0]
    flags: tuple[str, ...] = ()
    if clusters is not None and len(top) < FEW_CLUSTERS:
        flags = ("few_clusters",)
    tails = [(1 - level) / 2, (1 + level) / 2]
    return tuple(
        _model_rank(name, means[k], own[k], ranks[:, k], int(known[:, k].sum()), tails, flags)
        for k, name in enumerate(names)
    )


def _model_rank(
    name: Hashable,
    mean: float,
    rank: float,
    ranks: Floats,
    n_items: int,
    tails: list[float],
    flags: tuple[str, ...],
) -> ModelRank:
    if np.isnan(mean):
        why = Undefined(Reason.NO_ITEMS, "the model has no score")
        return ModelRank(name, why, None, None, None, why, n_items, flags)
    used = ranks[~np.isnan(ranks)]
    if len(used) < len(ranks):
        flags += ("undefined_in_some_resamples",)
    low = int(np.quantile(used, tails[0], method="inverted_cdf"))
    high = int(np.quantile(used, tails[1], method="inverted_cdf"))
    best = float((used == 1).mean())
    return ModelRank(
        name,
        float(mean),
        int(rank),
        min(low, int(rank)),
        max(high, int(rank)),
        best,
        n_items,
        flags,
    )


def _unit_sums(
    values: Floats, known: NDArray[np.bool_], clusters: Sequence[Hashable] | None
) -> tuple[Floats, Floats]:
    """Return sums of scores and counts of scores per unit and model."""
    top, bottom = np.where(known, values, 0.0), known.astype(np.float64)
    if clusters is None:
        return top, bottom
    if len(clusters) != len(values):
        raise StatisticsError(f"{len(clusters)} clusters for {len(values)} items; name one each")
    seen: dict[Hashable, int] = {}
    number = np.array([seen.setdefault(c, len(seen)) for c in clusters], dtype=np.int64)
    sums = np.zeros((2, len(seen), values.shape[1]))
    np.add.at(sums[0], number, top)
    np.add.at(sums[1], number, bottom)
    return sums[0], sums[1]


def _means(weights: Floats, top: Floats, bottom: Floats) -> Floats:
    rows = weights @ bottom
    out = np.full(rows.shape, np.nan)
    np.divide(weights @ top, rows, out=out, where=rows > 0)
    return out


def _ranks(means: Floats, *, higher_is_better: bool) -> Floats:
    """Return ranks from 1 per row; equal means share the better rank, NaN stays NaN."""
    # Rounded, so that the order of a sum does not part two models with the same score.
    good = np.round(means if higher_is_better else -means, 12)
    ranks = 1.0 + (good[:, None, :] > good[:, :, None]).sum(axis=2)
    return np.where(np.isnan(means), np.nan, ranks)
