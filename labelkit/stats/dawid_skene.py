"""Dawid and Skene's model: learn how every rater errs, and the labels, at the same time.

Works over one list of ratings (row, rater, label), so that many raters who each saw few items cost
no memory. It stops on the log-likelihood of the model itself; a stop on "labels no longer change"
stops too early.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError
from labelkit.stats.ratings import Floats, Ints, RatingTable


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """A fitted model. Rows are the distinct rows of the table; ``items`` expands them.

    Args:
        priors: share of every label, shape (q,).
        posteriors: probability of every label per distinct row, (d, q).
        errors: errors[r, k, l] = P(rater r says l | truth is k), (R, q, q); NaN where rater r saw
            nothing that may be k.
        log_likelihood: of the observed ratings under the fitted model.
        trace: the log-likelihood after every step; it never falls.
        converged: whether the last step gained less than the tolerance.
        pattern_of: index of every item's row, (n,), or None for a folded table.
    """

    priors: Floats
    posteriors: Floats
    errors: Floats
    log_likelihood: float
    trace: tuple[float, ...]
    converged: bool
    pattern_of: Ints | None

    @property
    def labels(self) -> NDArray[np.int32]:
        """Most probable code per item, -1 where two labels are equally probable."""
        best = self.posteriors.max(axis=1)
        leading = self.posteriors >= best[:, None] - 1e-9
        codes = np.where(leading.sum(axis=1) == 1, leading.argmax(axis=1), -1)
        return np.asarray(self._expand(codes), dtype=np.int32)

    @property
    def items(self) -> Floats:
        """Posteriors per item, shape (n, q)."""
        return np.asarray(self._expand(self.posteriors))

    def _expand(self, rows: NDArray[np.generic]) -> NDArray[np.generic]:
        return rows if self.pattern_of is None else rows[self.pattern_of]


@dataclass(frozen=True, eq=False)
class _Ratings:
    """One entry per rating of a distinct row, ordered by row."""

    row: Ints
    rater: Ints
    code: Ints
    freq: Floats
    rated: NDArray[np.bool_]
    n_raters: int
    q: int


def dawid_skene(
    table: RatingTable, *, max_steps: int = 5000, tolerance: float = 1e-10
) -> DawidSkene:
    """Fit the model by EM, starting from the vote shares.

    Dawid & Skene (1979), Appl. Stat. 28:20: eqs. 2.3 and 2.4 for the errors and shares, 2.5 for
    the labels, 2.7 for the likelihood. No smoothing. The optimum is local: a majority of raters
    who err the same way is believed. Items nobody rated keep the priors.

    Args:
        table: ratings by known raters.
        max_steps: most EM steps.
        tolerance: stop when the log-likelihood gains less than this share of its size.

    Raises:
        StatisticsError: for anonymous raters or a table without ratings.
    """
    ratings = _ratings(table)
    posteriors = np.where(
        ratings.rated[:, None],
        table.counts / np.maximum(table.ratings_per_row, 1.0)[:, None],
        1.0 / table.q,
    )
    trace: list[float] = []
    converged = False
    for _ in range(max_steps):
        priors, errors = _maximise(ratings, posteriors)
        posteriors, likelihood = _expect(ratings, priors, errors)
        gain = likelihood - trace[-1] if trace else np.inf
        trace.append(likelihood)
        if gain <= tolerance * (1.0 + abs(likelihood)):
            converged = True
            break
    return DawidSkene(
        priors, posteriors, errors, trace[-1], tuple(trace), converged, table.pattern_of
    )


def _ratings(table: RatingTable) -> _Ratings:
    if table.patterns is None:
        raise StatisticsError("Dawid-Skene has to know who rated what; give the ratings by rater")
    if table.n_items == 0:
        raise StatisticsError("Dawid-Skene needs ratings, and no item has any")
    row, rater = np.nonzero(table.patterns >= 0)
    return _Ratings(
        row.astype(np.int64),
        rater.astype(np.int64),
        table.patterns[row, rater].astype(np.int64),
        table.freq,
        table.ratings_per_row > 0,
        table.patterns.shape[1],
        table.q,
    )


def _maximise(ratings: _Ratings, posteriors: Floats) -> tuple[Floats, Floats]:
    """Return shares of the labels and error rates of the raters (eqs. 2.3 and 2.4)."""
    weighted = posteriors * (ratings.freq * ratings.rated)[:, None]
    priors = weighted.sum(axis=0) / weighted.sum()
    q, cells = ratings.q, ratings.n_raters * ratings.q
    cell = ratings.rater * q + ratings.code
    counts = np.stack(
        [
            np.bincount(cell, weights=weighted[ratings.row, k], minlength=cells).reshape(-1, q)
            for k in range(q)
        ],
        axis=1,
    )
    totals = counts.sum(axis=2, keepdims=True)
    errors = np.divide(counts, totals, out=np.full_like(counts, np.nan), where=totals > 0)
    return priors, errors


def _expect(ratings: _Ratings, priors: Floats, errors: Floats) -> tuple[Floats, float]:
    """Return posteriors of the labels (eq. 2.5) and the log-likelihood (eq. 2.7)."""
    with np.errstate(divide="ignore"):
        log_errors = np.log(np.where(np.isnan(errors), 1.0, errors))
        log_priors = np.log(priors)
    scores = np.tile(log_priors, (len(ratings.freq), 1))
    for k in range(ratings.q):
        scores[:, k] += np.bincount(
            ratings.row,
            weights=log_errors[ratings.rater, k, ratings.code],
            minlength=len(ratings.freq),
        )
    top = scores.max(axis=1, keepdims=True)
    odds = np.exp(scores - top)
    total = odds.sum(axis=1, keepdims=True)
    by_row = (top + np.log(total))[:, 0]
    rated = ratings.rated & (ratings.freq > 0)
    return odds / total, float(ratings.freq[rated] @ by_row[rated])
