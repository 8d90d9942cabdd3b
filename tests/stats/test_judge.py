"""A judge against people: oracles, corrections, refusals, and Dawid-Skene."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    balanced_accuracy_score,
    matthews_corrcoef,
    precision_recall_fscore_support,
)

from labelkit.errors import StatisticsError
from labelkit.stats import confusion, ppi, prevalence, ratings
from labelkit.stats.dawid_skene import dawid_skene
from labelkit.stats.undefined import Undefined, is_defined

few = settings(max_examples=30, deadline=None)
LABELS = ["a", "b", "c"]


def judged(seed: int, n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    return truth, np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), truth)


@few
@given(seed=st.integers(0, 10_000))
def test_report_against_sklearn(seed: int) -> None:
    truth, judge = judged(seed)
    report = confusion.judge_report(truth, judge, LABELS)
    precision, recall, f1, support = precision_recall_fscore_support(
        truth, judge, labels=[0, 1, 2], zero_division=0
    )
    for k, found in enumerate(report.classes):
        assert found.precision.value == pytest.approx(precision[k])
        assert found.recall.value == pytest.approx(recall[k])
        assert found.f1 == pytest.approx(f1[k])
        assert found.support == support[k]
    assert report.mcc == pytest.approx(matthews_corrcoef(truth, judge))
    assert report.balanced_accuracy == pytest.approx(balanced_accuracy_score(truth, judge))
    same = confusion.confusion_report(report.matrix, LABELS)
    assert same.accuracy == report.accuracy
    assert same.classes == report.classes


def test_missing_verdicts_count_against_coverage_only() -> None:
    report = confusion.judge_report(
        np.array([0, 0, 1, 1, -1]), np.array([0, -1, 1, 0, 0]), ["a", "b"]
    )
    assert (report.coverage.hits, report.coverage.n) == (3, 4)
    assert (report.accuracy.hits, report.accuracy.n) == (2, 3)


def test_nothing_over_nothing_is_undefined() -> None:
    report = confusion.confusion_report([[5, 0, 0], [0, 5, 0], [0, 0, 0]], LABELS)
    assert isinstance(report.classes[2].precision.value, Undefined)
    assert isinstance(report.classes[2].f1, Undefined)
    assert report.balanced_accuracy == 1.0
    assert "labels_without_support" in report.flags
    flat = confusion.confusion_report([[5, 0], [0, 0]], ["a", "b"])
    assert isinstance(flat.mcc, Undefined)


def test_weights_restore_the_frame() -> None:
    truth, judge = judged(1, 400)
    pi = np.where(truth != judge, 0.9, 0.3)  # disagreements were preferred
    rng = np.random.default_rng(2)
    drawn = rng.random(400) < pi
    whole = confusion.judge_report(truth, judge, LABELS).accuracy.value
    found = confusion.judge_report(truth[drawn], judge[drawn], LABELS, probabilities=pi[drawn])
    naive = confusion.judge_report(truth[drawn], judge[drawn], LABELS).accuracy.value
    assert is_defined(whole)
    assert is_defined(found.accuracy.value)
    assert is_defined(naive)
    assert abs(found.accuracy.value - whole) < 0.05 < abs(naive - whole)
    assert "weighted" in found.flags


@few
@given(
    tp=st.integers(60, 99),
    tn=st.integers(60, 99),
    hits=st.integers(0, 200),
)
def test_inversion_of_two_labels_is_rogan_gladen(tp: int, tn: int, hits: int) -> None:
    single = prevalence.rogan_gladen(hits, 200, tp, 100, tn, 100)
    pair = prevalence.invert_confusion(
        [hits, 200 - hits], [[tp, 100 - tp], [100 - tn, tn]], ["yes", "no"]
    )
    assert pair.raw[0] == pytest.approx(single.raw)
    assert pair.se[0] == pytest.approx(single.se)
    assert pair.values[0] == pytest.approx(single.value)
    assert sum(pair.values) == pytest.approx(1.0)
    assert single.interval.low <= single.value <= single.interval.high


def test_inversion_of_three_labels_recovers_the_truth() -> None:
    matrix = np.array([[80, 10, 10], [5, 90, 5], [20, 20, 60]], dtype=float)
    true = np.array([0.5, 0.3, 0.2])
    seen = 1000 * true @ (matrix / 100)
    found = prevalence.invert_confusion(seen, matrix, LABELS)
    assert found.raw == pytest.approx(true.tolist())
    for value, interval in zip(true, found.intervals, strict=True):
        assert interval.low < value < interval.high


def test_equal_weights_are_no_weights() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(200) < 0.4
    judge = truth ^ (rng.random(200) < 0.1)
    frame = rng.random(1000) < 0.4
    even = prevalence.rogan_gladen_weighted(frame, truth, judge, np.full(200, 0.2))
    plain = prevalence.rogan_gladen(
        int(frame.sum()),
        1000,
        int((truth & judge).sum()),
        int(truth.sum()),
        int((~truth & ~judge).sum()),
        int((~truth).sum()),
    )
    assert even.value == pytest.approx(plain.value)
    assert even.se == pytest.approx(plain.se)
    weighted = ppi.ppi_mean(truth, judge, frame, probabilities=np.full(200, 0.2))
    assert weighted.value == pytest.approx(ppi.ppi_mean(truth, judge, frame).value)
    assert weighted.lam == pytest.approx(ppi.ppi_mean(truth, judge, frame).lam)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: prevalence.rogan_gladen(5, 10, 5, 10, 5, 10), "no better than chance"),
        (lambda: prevalence.rogan_gladen(5, 10, 0, 0, 5, 10), "no human positives"),
        (lambda: prevalence.rogan_gladen(5, 10, 11, 10, 5, 10), "impossible"),
        (
            lambda: prevalence.invert_confusion([5, 5], [[5, 5], [5, 5]], ["a", "b"]),
            "does not tell the labels apart",
        ),
        (
            lambda: prevalence.invert_confusion([5, 5], [[5, 5], [0, 0]], ["a", "b"]),
            "no human row has label 'b'",
        ),
        (lambda: ppi.ppi_mean([], [], [1.0]), "no human labels"),
        (lambda: ppi.ppi_mean([1.0], [1.0, 0.0], [1.0]), "do not match"),
        (lambda: ppi.ppi_mean([1.0], [float("nan")], [1.0]), "leave missing rows out"),
        (lambda: ppi.ppi_mean([1.0], [1.0], [1.0], lam=2), "outside"),
        (lambda: confusion.confusion_report([[1, -1], [0, 0]], ["a", "b"]), "counts >= 0"),
        (
            lambda: confusion.judge_report(np.array([0]), np.array([7]), ["a", "b"]),
            "row 0: judge code 7",
        ),
    ],
)
def test_refusals(call: Any, says: str) -> None:
    with pytest.raises(StatisticsError, match=says):
        call()


def test_a_useless_judge_costs_nothing() -> None:
    rng = np.random.default_rng(1)
    truth, judge = rng.random(300) < 0.5, rng.random(300) < 0.5
    found = ppi.ppi_mean(truth, judge, rng.random(3000) < 0.5)
    people = ppi.ppi_mean(truth, judge, rng.random(3000) < 0.5, lam=0)
    assert found.lam < 0.2
    assert found.se <= people.se * 1.001
    constant = ppi.ppi_mean([1, 0, 1], [1, 1, 1], [1, 1])
    assert constant.lam == 0
    assert "judge_without_variation" in constant.flags


class TestDawidSkene:
    def test_the_likelihood_never_falls(self) -> None:
        rng = np.random.default_rng(0)
        truth = rng.integers(0, 3, 200)
        codes = np.where(rng.random((200, 4)) < 0.35, rng.integers(0, 3, (200, 4)), truth[:, None])
        codes[rng.random(codes.shape) < 0.2] = -1
        fit = dawid_skene(ratings.from_codes(codes, LABELS))
        assert fit.converged
        assert (np.diff(fit.trace) >= -1e-9).all()
        assert fit.items.shape == (200, 3)
        assert fit.items.sum(axis=1) == pytest.approx(np.ones(200))
        assert np.nansum(fit.errors, axis=2) == pytest.approx(np.ones((4, 3)))

    def test_folding_changes_nothing(self) -> None:
        """The likelihood by its definition, item by item."""
        codes = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 1], [0, -1, 0], [1, 1, 0]])
        fit = dawid_skene(ratings.from_codes(codes, ["a", "b"]))
        priors, errors = fit.priors, np.nan_to_num(fit.errors, nan=1.0)
        total = 0.0
        for row in codes:
            joint = [
                priors[k] * np.prod([errors[r, k, c] for r, c in enumerate(row) if c >= 0])
                for k in range(2)
            ]
            total += np.log(sum(joint))
        assert fit.log_likelihood == pytest.approx(total, abs=1e-6)

    def test_a_good_rater_outweighs_bad_ones(self) -> None:
        rng = np.random.default_rng(4)
        truth = rng.integers(0, 2, 600)
        wrong = rng.random((600, 5)) < np.array([0.02, 0.4, 0.4, 0.4, 0.4])
        codes = np.where(wrong, 1 - truth[:, None], truth[:, None])
        fit = dawid_skene(ratings.from_codes(codes, ["a", "b"]))
        majority = (codes.mean(axis=1) > 0.5).astype(int)
        assert (fit.labels == truth).mean() > 0.95 > (majority == truth).mean()

    def test_ties_stay_open_and_nobody_keeps_the_prior(self) -> None:
        tie = dawid_skene(ratings.from_codes(np.array([[0, 1], [1, 0]]), ["a", "b"]))
        assert tie.labels.tolist() == [-1, -1]
        some = dawid_skene(ratings.from_codes(np.array([[0, 0], [1, 1], [-1, -1]]), ["a", "b"]))
        assert some.items[2] == pytest.approx(some.priors)

    def test_refusals(self) -> None:
        with pytest.raises(StatisticsError, match="who rated what"):
            dawid_skene(ratings.from_counts([[1, 1]], ["a", "b"]))
        with pytest.raises(StatisticsError, match="no item has any"):
            dawid_skene(ratings.from_codes(np.array([[-1]]), ["a", "b"]))
