"""The true rate behind an imperfect judge, from its errors on rows that people labelled.

A judge that finds 90% of failures and cries wolf at 5% reports a wrong rate, with an interval that
is far too narrow. These estimates undo the errors and carry the uncertainty of all three samples.
A judge that is no better than chance carries no information: that is refused, not estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from labelkit.errors import StatisticsError
from labelkit.stats.encode import Value, numbers
from labelkit.stats.intervals import Interval
from labelkit.stats.quantiles import normal_quantile
from labelkit.stats.ratings import Floats
from labelkit.stats.weighted import effective_size

_WORST_CONDITION = 1e6


@dataclass(frozen=True)
class TrueRate:
    """A rate corrected for the judge's errors.

    Args:
        value: the estimate, cut to [0, 1].
        raw: before cutting.
        apparent: the judge's own rate.
        sensitivity: of the rows people call positive, the share the judge does.
        specificity: of the rows people call negative, the share the judge does.
        se: standard error of ``raw``, all three sampling errors included.
        interval: Lang and Reiczigel's interval.
        interval_delta: raw +- z se, cut to [0, 1].
        flags: ``cut_to_unit_interval``, ``weak_judge``, ``few_human_labels``.
    """

    value: float
    raw: float
    apparent: float
    sensitivity: float
    specificity: float
    se: float
    interval: Interval
    interval_delta: Interval
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class TrueShares:
    """Shares of several labels corrected for the judge's errors.

    Args:
        labels: the label set.
        values: shares, projected to be >= 0 and to sum to 1.
        raw: before projection.
        se: standard errors of ``raw``.
        intervals: raw +- z se, cut to [0, 1].
        flags: ``projected_to_simplex``, ``weak_judge``, ``few_human_labels``.
    """

    labels: tuple[Value, ...]
    values: tuple[float, ...]
    raw: tuple[float, ...]
    se: tuple[float, ...]
    intervals: tuple[Interval, ...]
    flags: tuple[str, ...] = ()


def rogan_gladen(
    hits: float,
    n: float,
    true_positives: float,
    positives: float,
    true_negatives: float,
    negatives: float,
    level: float = 0.95,
) -> TrueRate:
    """Return the true rate behind a judge with known errors.

    Rogan & Gladen (1978), Am. J. Epidemiol. 107:71: (p + sp - 1) / (se + sp - 1), with the
    delta-method variance over all three samples. The interval is Lang & Reiczigel's (2014), Prev.
    Vet. Med. 113:13, eqs. 3-7: Agresti-Coull counts for the rate, one added success and failure
    for the judge's errors, and a correction for their skewness. Trust it for 30 human labels or
    more of each kind and se + sp of 1.2 or more; else it is flagged.

    Args:
        hits: rows the judge calls positive, out of n.
        n: rows the judge saw.
        true_positives: of ``positives`` rows that people call positive, those the judge does.
        positives: rows people call positive.
        true_negatives: of ``negatives`` rows that people call negative, those the judge does.
        negatives: rows people call negative.
        level: confidence level.

    Raises:
        StatisticsError: when a count is impossible, a kind has no human label, or the judge is no
            better than chance (se + sp <= 1).
    """
    z = normal_quantile(level)
    apparent = _share(hits, n, "rows the judge saw")
    sensitivity = _share(true_positives, positives, "human positives, so sensitivity is unknown")
    specificity = _share(true_negatives, negatives, "human negatives, so specificity is unknown")
    youden = sensitivity + specificity - 1
    if youden <= 1e-12:
        raise StatisticsError(
            f"the judge is no better than chance (sensitivity {sensitivity:.3f} + specificity "
            f"{specificity:.3f} <= 1); its labels cannot be corrected, label more rows by people"
        )
    raw = (apparent + specificity - 1) / youden
    spread = apparent * (1 - apparent) / n
    spread += raw**2 * sensitivity * (1 - sensitivity) / positives
    spread += (1 - raw) ** 2 * specificity * (1 - specificity) / negatives
    se = sqrt(spread) / youden
    value = _unit(raw)
    delta = Interval(
        min(value, _unit(raw - z * se)), max(value, _unit(raw + z * se)), level, "delta"
    )
    low, high = _lang_reiczigel(
        (apparent, n), (sensitivity, positives), (specificity, negatives), z
    )
    interval = Interval(min(low, value), max(high, value), level, "lang_reiczigel")
    flags = ("cut_to_unit_interval",) if value != raw else ()
    return TrueRate(
        value,
        raw,
        apparent,
        sensitivity,
        specificity,
        se,
        interval,
        delta,
        flags
        + _warn(youden, _youden_se(sensitivity, positives, specificity, negatives), z)
        + (("few_human_labels",) if min(positives, negatives) < 30 else ()),
    )


def rogan_gladen_weighted(
    judged: Sequence[bool] | Floats,
    truth: Sequence[bool] | Floats,
    judge: Sequence[bool] | Floats,
    probabilities: Sequence[float] | Floats,
    level: float = 0.95,
) -> TrueRate:
    """Return the true rate when people's rows were drawn with unequal probabilities.

    Sensitivity and specificity are Hajek estimates; each enters with Kish's effective number of
    rows in place of its count.

    Args:
        judged: the judge's verdict (1 or 0) on every row of the frame, shape (N,).
        truth: people's verdict on the drawn rows, shape (n,).
        judge: the judge's verdict on the drawn rows, shape (n,).
        probabilities: inclusion probability of the drawn rows, shape (n,).
        level: confidence level.
    """
    frame = numbers(judged, "verdicts of the judge")
    human, machine = np.asarray(truth, dtype=bool), np.asarray(judge, dtype=bool)
    pi = numbers(probabilities, "inclusion probabilities")
    if not human.shape == machine.shape == pi.shape or not (pi > 0).all():
        raise StatisticsError("give one verdict and one probability above 0 per drawn row")
    w = 1.0 / pi
    tp, pos = _effective(machine[human], w[human])
    tn, neg = _effective(~machine[~human], w[~human])
    return rogan_gladen(float(frame.sum()), float(len(frame)), tp, pos, tn, neg, level)


def invert_confusion(
    judged: Sequence[float] | Floats,
    confusion: Sequence[Sequence[float]] | Floats,
    labels: Sequence[Value],
    level: float = 0.95,
) -> TrueShares:
    """Return the true shares of several labels behind a judge with a known confusion matrix.

    The judge's shares are M' pi with M[t][j] = P(judge says j | truth is t); solved for pi
    (Tenenbein 1972, Technometrics 14:187; Buonaccorsi 2010, ch. 3). Delta-method covariance over
    the judged rows and every row of M. For two labels this is Rogan-Gladen.

    Args:
        judged: rows the judge gave each label, (q,).
        confusion: rows people labelled, by truth and judge, (q, q).
        labels: the label set.
        level: confidence level.

    Raises:
        StatisticsError: when a label has no human row, or M cannot be inverted because the judge
            does not tell two labels apart.
    """
    seen, counts = numbers(judged, "judged counts"), numbers(confusion, "counts")
    q = len(labels)
    if seen.shape != (q,) or counts.shape != (q, q) or (seen < 0).any() or (counts < 0).any():
        raise StatisticsError(f"{q} labels need {q} judged counts and a {q} x {q} matrix, all >= 0")
    support, n = counts.sum(axis=1), float(seen.sum())
    for label, rows in zip(labels, support, strict=True):
        if rows == 0:
            raise StatisticsError(
                f"no human row has label {label!r}, so the judge's errors on it are unknown; label "
                "some or take it out of the label set"
            )
    if n == 0:
        raise StatisticsError("the judge saw no row, so there is nothing to correct")
    m = counts / support[:, None]
    if np.linalg.cond(m) > _WORST_CONDITION or np.linalg.det(m) <= 0:
        raise StatisticsError(
            "the judge does not tell the labels apart (its confusion matrix cannot be inverted); "
            "its labels cannot be corrected, label more rows by people"
        )
    back = np.linalg.inv(m.T)
    apparent = seen / n
    raw = back @ apparent
    covariance = (np.diag(apparent) - np.outer(apparent, apparent)) / n
    for t in range(q):
        covariance += raw[t] ** 2 * (np.diag(m[t]) - np.outer(m[t], m[t])) / support[t]
    se = np.sqrt(np.maximum(0.0, np.diag(back @ covariance @ back.T)))
    values = _project(raw)
    z = normal_quantile(level)
    flags: tuple[str, ...] = ()
    if (np.abs(values - raw) > 1e-9).any():
        flags += ("projected_to_simplex",)
    if np.diag(m).min() < 0.5:
        flags += ("weak_judge",)
    if support.min() < 30:
        flags += ("few_human_labels",)
    intervals = tuple(
        Interval(min(v, _unit(r - z * s)), max(v, _unit(r + z * s)), level, "delta")
        for v, r, s in zip(values.tolist(), raw.tolist(), se.tolist(), strict=True)
    )
    return TrueShares(
        tuple(labels),
        tuple(values.tolist()),
        tuple(raw.tolist()),
        tuple(se.tolist()),
        intervals,
        flags,
    )


def _lang_reiczigel(
    rate: tuple[float, float], sens: tuple[float, float], spec: tuple[float, float], z: float
) -> tuple[float, float]:
    """Return the limits of Lang & Reiczigel (2014), eqs. 3-7, cut to [0, 1].

    Where their adjusted sensitivity and specificity sum to 1 or less the limits are 0 and 1.
    """
    (p, n), (se, m1), (sp, m0) = rate, sens, spec
    p, n = (n * p + z * z / 2) / (n + z * z), n + z * z
    se, m1 = (m1 * se + 1) / (m1 + 2), m1 + 2
    sp, m0 = (m0 * sp + 1) / (m0 + 2), m0 + 2
    youden = se + sp - 1
    if youden <= 1e-12:
        # So few human rows that the added ones turn the judge: nothing is known of the rate.
        return 0.0, 1.0
    theta = (p + sp - 1) / youden
    from_se, from_sp = se * (1 - se) / m1, sp * (1 - sp) / m0
    shift = 2 * z * z * (theta * from_se - (1 - theta) * from_sp)
    reach = z / youden
    reach *= sqrt(p * (1 - p) / n + theta**2 * from_se + (1 - theta) ** 2 * from_sp)
    return _unit(theta + shift - reach), _unit(theta + shift + reach)


def _share(hits: float, n: float, what: str) -> float:
    if not (n >= 0 and 0 <= hits <= n + 1e-9):
        raise StatisticsError(f"{hits!r} out of {n!r} is impossible; hits lie between 0 and n")
    if n == 0:
        raise StatisticsError(f"there are no {what}")
    return min(1.0, hits / n)


def _effective(
    hits: Floats | np.ndarray[tuple[int], np.dtype[np.bool_]], w: Floats
) -> tuple[float, float]:
    size = effective_size(w)
    return (float(w @ hits) / float(w.sum()) * size if size else 0.0), size


def _youden_se(se: float, m1: float, sp: float, m0: float) -> float:
    return sqrt(se * (1 - se) / m1 + sp * (1 - sp) / m0)


def _warn(youden: float, youden_se: float, z: float) -> tuple[str, ...]:
    return ("weak_judge",) if youden < 0.2 or youden <= z * youden_se else ()


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))


def _project(raw: Floats) -> Floats:
    """Return the nearest shares (Duchi et al. 2008, fig. 1)."""
    falling = np.sort(raw)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(raw) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    return np.asarray(np.maximum(0.0, raw - excess[last]))
