"""A judge held against people: who is confused with what, and how far one may trust it.

0/0 is undefined here. scikit-learn returns 0 with a warning instead, and cannot put intervals on
a weighted table; the tests hold the point values against it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError
from labelkit.stats.agreement.coefficient import Coefficient
from labelkit.stats.agreement.pairwise import cohen_kappa
from labelkit.stats.encode import Value, numbers
from labelkit.stats.intervals import Proportion, proportion
from labelkit.stats.ratings import Floats, RatingTable, count_matrix
from labelkit.stats.undefined import Number, Reason, Undefined, is_defined
from labelkit.stats.weighted import effective_size, weighted_rate


@dataclass(frozen=True)
class ClassReport:
    """How the judge does on one label.

    Args:
        label: the label.
        precision: of the rows the judge gave it, the share people gave it too.
        recall: of the rows people gave it, the share the judge gave it too (TPR).
        specificity: of the rows people did not give it, the share the judge did not (TNR).
        f1: harmonic mean of precision and recall; undefined when nobody used the label.
        support: rows people gave it (unweighted).
    """

    label: Value
    precision: Proportion
    recall: Proportion
    specificity: Proportion
    f1: Number
    support: int


@dataclass(frozen=True, eq=False)
class JudgeReport:
    """A judge against people.

    Args:
        labels: the label set.
        matrix: rows by truth and judge, (q, q); weighted where the draw was unequal.
        classes: per label.
        accuracy: share of rows on which both agree.
        balanced_accuracy: mean recall over the labels that people used.
        kappa: Cohen's kappa.
        mcc: Matthews' correlation; a gap to kappa means different shares of labels.
        coverage: rows the judge labelled, of the rows people labelled.
        flags: ``labels_without_support``, ``weighted``.
    """

    labels: tuple[Value, ...]
    matrix: Floats
    classes: tuple[ClassReport, ...]
    accuracy: Proportion
    balanced_accuracy: Number
    kappa: Coefficient
    mcc: Number
    coverage: Proportion
    flags: tuple[str, ...] = ()


def judge_report(
    truth: NDArray[np.integer[Any]],
    judge: NDArray[np.integer[Any]],
    labels: Sequence[Value],
    *,
    probabilities: Sequence[float] | Floats | None = None,
    strata: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> JudgeReport:
    """Return how a judge compares with people, row by row.

    Rows without a human label are left out; rows without a judge's label count against coverage
    and against nothing else. With ``probabilities`` every rate is weighted by their inverse and
    its interval is the one of ``stats.weighted``; kappa's standard error then uses Kish's
    effective sample size.

    Args:
        truth: people's codes, -1 = none, shape (n,).
        judge: the judge's codes, -1 = none, shape (n,).
        labels: the label set.
        probabilities: inclusion probability of every row in the audit draw.
        strata: stratum of every row in the audit draw.
        level: confidence level.
    """
    human, machine = np.asarray(truth), np.asarray(judge)
    q = len(labels)
    if human.shape != machine.shape or human.ndim != 1:
        raise StatisticsError("truth and judge must be one code per row each")
    for who, codes in (("truth", human), ("judge", machine)):
        wrong = (codes < -1) | (codes >= q)
        if wrong.any():
            row = int(wrong.argmax())
            raise StatisticsError(f"row {row}: {who} code {int(codes[row])} is outside {q} labels")
    rates = _Rates(probabilities, strata, len(human), level)
    audited = human >= 0
    both = audited & (machine >= 0)
    weights = rates.weights[both]
    flat = np.bincount(human[both] * q + machine[both], weights=weights, minlength=q * q)
    matrix = np.asarray(flat, dtype=np.float64).reshape(q, q)
    classes = tuple(
        ClassReport(
            label,
            rates.of(human == k, both & (machine == k)),
            rates.of(machine == k, both & (human == k)),
            rates.of(machine != k, both & (human != k)),
            _f1(matrix, k),
            int((human[both] == k).sum()),
        )
        for k, label in enumerate(labels)
    )
    scale = 1.0 if probabilities is None else effective_size(weights) / max(weights.sum(), 1e-300)
    return _report(
        tuple(labels),
        matrix,
        classes,
        rates.of(human == machine, both),
        rates.of(machine >= 0, audited),
        _kappa(matrix * scale, labels, level),
        () if probabilities is None else ("weighted",),
    )


def confusion_report(
    matrix: Sequence[Sequence[float]] | Floats, labels: Sequence[Value], level: float = 0.95
) -> JudgeReport:
    """Return the report of a confusion matrix: rows by people's label, columns by the judge's."""
    counts = numbers(matrix, "counts of a confusion matrix")
    q = len(labels)
    if counts.shape != (q, q) or not (np.isfinite(counts) & (counts >= 0)).all():
        raise StatisticsError(
            f"a confusion matrix of {q} labels needs {q} x {q} counts >= 0, not {counts.shape}"
        )
    truth, judged, total = counts.sum(axis=1), counts.sum(axis=0), float(counts.sum())
    classes = tuple(
        ClassReport(
            label,
            proportion(counts[k, k], judged[k], level),
            proportion(counts[k, k], truth[k], level),
            proportion(
                min(total - truth[k] - judged[k] + counts[k, k], total - truth[k]),
                total - truth[k],
                level,
            ),
            _f1(counts, k),
            int(truth[k]),
        )
        for k, label in enumerate(labels)
    )
    return _report(
        tuple(labels),
        counts,
        classes,
        proportion(float(np.trace(counts)), total, level),
        proportion(total, total, level),
        _kappa(counts, labels, level),
        (),
    )


def matthews(matrix: Floats) -> Number:
    """Return the multi-class Matthews correlation (Gorodkin 2004, Comput. Biol. Chem. 28:367)."""
    truth, judged, total = matrix.sum(axis=1), matrix.sum(axis=0), float(matrix.sum())
    spread = (total**2 - float(truth @ truth)) * (total**2 - float(judged @ judged))
    if total == 0:
        return Undefined(Reason.NO_OVERLAP, "no row has both labels")
    if spread <= 1e-12 * total**4:
        return Undefined(Reason.NO_VARIATION, "one side used a single label")
    return (float(np.trace(matrix)) * total - float(truth @ judged)) / sqrt(spread)


class _Rates:
    """Rates over subsets of rows, plain or weighted by the audit draw."""

    def __init__(
        self,
        probabilities: Sequence[float] | Floats | None,
        strata: Sequence[Hashable] | None,
        n: int,
        level: float,
    ) -> None:
        self._pi = None if probabilities is None else np.asarray(probabilities, dtype=np.float64)
        if self._pi is not None and not (self._pi.shape == (n,) and (self._pi > 0).all()):
            raise StatisticsError(f"give {n} inclusion probabilities above 0, one per row")
        self._strata = None if strata is None else np.asarray(strata, dtype=object)
        self._level = level
        self.weights: Floats = np.ones(n) if self._pi is None else 1.0 / self._pi

    def of(self, hit: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Proportion:
        """Return the share of ``rows`` that are a ``hit``."""
        hits, n = int((hit & rows).sum()), int(rows.sum())
        if self._pi is None:
            return proportion(hits, n, self._level)
        strata = None if self._strata is None else self._strata[rows]
        found = weighted_rate(hit[rows], self._pi[rows], strata=strata, level=self._level)
        return Proportion(found.value, hits, n, found.interval)


def _report(
    labels: tuple[Value, ...],
    matrix: Floats,
    classes: tuple[ClassReport, ...],
    accuracy: Proportion,
    coverage: Proportion,
    kappa: Coefficient,
    flags: tuple[str, ...],
) -> JudgeReport:
    recalls = [c.recall.value for c in classes if is_defined(c.recall.value)]
    balanced: Number = (
        float(np.mean(recalls))
        if recalls
        else Undefined(Reason.NO_ITEMS, "people used no label at all")
    )
    if 0 < len(recalls) < len(classes):
        flags += ("labels_without_support",)
    return JudgeReport(
        labels, matrix, classes, accuracy, balanced, kappa, matthews(matrix), coverage, flags
    )


def _f1(matrix: Floats, k: int) -> Number:
    given = float(matrix[k].sum() + matrix[:, k].sum())
    if given == 0:
        return Undefined(Reason.ZERO_DENOMINATOR, "neither people nor the judge used the label")
    return 2 * float(matrix[k, k]) / given


def _kappa(matrix: Floats, labels: Sequence[Value], level: float) -> Coefficient:
    first, second = np.nonzero(matrix)
    patterns = np.column_stack([first, second]).astype(np.int32)
    table = RatingTable(
        tuple(labels),
        declared=True,
        raters=("people", "judge"),
        patterns=patterns,
        counts=count_matrix(patterns, len(labels)),
        freq=matrix[first, second],
    )
    return cohen_kappa(table, level=level)
