"""Agreement weights: how much two different labels agree, 1 on the diagonal.

Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 3.5, names the schemes. Scores
default to 1..q in declared order, because the order of labels is the user's to declare and never
to be guessed from the alphabet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labelkit.errors import StatisticsError
from labelkit.stats.encode import numbers
from labelkit.stats.ratings import Floats, RatingTable

Weights = str | Sequence[Sequence[float]] | Floats


def weight_matrix(
    weights: Weights, table: RatingTable, scores: Sequence[float] | None = None
) -> Floats:
    """Return the q x q agreement weights.

    Args:
        weights: a name of ``SCHEMES`` or an explicit symmetric matrix with unit diagonal.
        table: the ratings, for the label set.
        scores: numeric scores of the labels; default 1..q.

    Raises:
        StatisticsError: for an unknown scheme, a matrix of the wrong shape, scores that do not
            fit, or an ordered scheme over text labels whose order nobody declared.
    """
    if not isinstance(weights, str):
        return _explicit(weights, table)
    if weights not in SCHEMES:
        raise StatisticsError(
            f"unknown weights {weights!r}; choose one of {', '.join(SCHEMES)} or give a matrix"
        )
    if weights == "identity":
        return np.eye(table.q)
    if not table.declared and any(isinstance(c, str) for c in table.categories):
        raise StatisticsError(
            f"{weights} weights need an order of the labels {list(table.categories)!r}; declare "
            "the label set in scale order"
        )
    x = score_vector(table, scores)
    if np.ptp(x) == 0:
        return np.ones((table.q, table.q))
    out = SCHEMES[weights](x)
    np.fill_diagonal(out, 1.0)
    return out


def kappa_floor(w: Floats) -> float:
    """Return the least value of a kappa, pi or alpha under agreement weights ``w``.

    It is -1 when 1 - w is the square of a distance between the labels, which Schoenberg (1935,
    Ann. Math. 36:724) tells from the doubly centred matrix: all schemes here but ratio and
    bipolar weights, which may fail. Otherwise no floor is known, and -inf is returned.
    """
    if len(w) <= 2 or np.count_nonzero(w) == len(w):
        return -1.0  # two labels, or labels that are equal or not
    centred = w - w.mean(axis=0)[None, :] - w.mean(axis=1)[:, None] + w.mean()
    return -1.0 if np.linalg.eigvalsh(centred).min() >= -1e-9 else -np.inf


def score_vector(table: RatingTable, scores: Sequence[float] | None) -> Floats:
    """Return the scores of the labels as floats, 1..q by default."""
    if scores is None:
        return np.arange(1.0, table.q + 1.0)
    x = numbers(scores, "scores of labels")
    if x.shape != (table.q,) or not np.isfinite(x).all():
        raise StatisticsError(
            f"scores {list(scores)!r} do not fit {table.q} labels; give one finite number per label"
        )
    return x


def _explicit(weights: Any, table: RatingTable) -> Floats:
    try:
        w = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"weights must be a matrix of numbers: {error}") from error
    q = table.q
    if w.shape != (q, q):
        raise StatisticsError(
            f"weights have shape {w.shape} where ({q}, {q}) was expected; give one row and one "
            "column per label, in declared order"
        )
    if not np.isfinite(w).all() or not np.allclose(w, w.T, rtol=0, atol=1e-12):
        raise StatisticsError("weights must be finite and symmetric; mend the matrix")
    if not np.allclose(np.diag(w), 1.0, rtol=0, atol=1e-12) or w.max() > 1.0 + 1e-12:
        raise StatisticsError(
            "weights are agreement, not distance: the diagonal must be 1 and nothing above 1; "
            "use 1 - distance"
        )
    return w


def _gap(x: Floats) -> Floats:
    return np.abs(x[:, None] - x[None, :])


def _linear(x: Floats) -> Floats:
    return 1.0 - _gap(x) / np.ptp(x)


def _quadratic(x: Floats) -> Floats:
    return 1.0 - np.square(_gap(x) / np.ptp(x))


def _radical(x: Floats) -> Floats:
    return 1.0 - np.sqrt(_gap(x) / np.ptp(x))


def _ratio(x: Floats) -> Floats:
    total = x[:, None] + x[None, :]
    same = _gap(x) == 0
    widest = (x.max() - x.min()) / (x.max() + x.min()) if x.max() + x.min() != 0 else 0.0
    if (x < 0).any() or widest == 0:
        raise StatisticsError("ratio weights need scores >= 0; give scores on a ratio scale")
    relative = np.where(same, 0.0, _gap(x) / np.where(same, 1.0, total))
    return 1.0 - np.square(relative / widest)


def _circular(x: Floats) -> Floats:
    turn = np.ptp(x) + 1.0
    distance = np.square(np.sin(np.pi * _gap(x) / turn))
    return np.asarray(1.0 - distance / distance.max())


def _bipolar(x: Floats) -> Floats:
    total = x[:, None] + x[None, :]
    same = _gap(x) == 0
    room = np.where(same, 1.0, (total - 2 * x.min()) * (2 * x.max() - total))
    distance = np.where(same, 0.0, np.square(_gap(x)) / room)
    return np.asarray(1.0 - distance / distance.max())


def _ordinal(x: Floats) -> Floats:
    """Ranks only: the number of pairs of labels that lie between two labels, both included."""
    rank = np.argsort(np.argsort(x, kind="stable"), kind="stable").astype(np.float64)
    span = _gap(rank) + 1.0
    distance = span * (span - 1.0) / 2.0
    return np.asarray(1.0 - distance / distance.max())


SCHEMES: dict[str, Callable[[Floats], Floats]] = {
    "identity": lambda x: np.eye(len(x)),
    "linear": _linear,
    "quadratic": _quadratic,
    "ordinal": _ordinal,
    "radical": _radical,
    "ratio": _ratio,
    "circular": _circular,
    "bipolar": _bipolar,
}
