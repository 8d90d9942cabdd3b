"""Agreement: independent oracles, standard errors, undefined values and named mistakes."""

from __future__ import annotations

import json
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from labelkit.errors import StatisticsError
from labelkit.stats import agreement, quantiles, ratings
from labelkit.stats.agreement.replicates import replicate_statistic
from labelkit.stats.undefined import Reason, Undefined, as_json, is_defined

seeds = given(seed=st.integers(0, 10_000))
few = settings(max_examples=25, deadline=None)


def noisy(seed: int, n: int = 60, raters: int = 3, q: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, q, n)
    noise = rng.random((n, raters)) < 0.4
    return np.where(noise, rng.integers(0, q, (n, raters)), truth[:, None])


@few
@seeds
@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_against_krippendorff(metric: Any, seed: int) -> None:
    codes = noisy(seed)
    codes[np.random.default_rng(seed).random(codes.shape) < 0.3] = -1
    labels = [1.0, 2.0, 3.0, 5.0]
    values = np.where(codes >= 0, np.array(labels)[codes], np.nan)
    theirs = krippendorff.alpha(
        reliability_data=values.T, level_of_measurement=metric, value_domain=labels
    )
    ours = agreement.krippendorff_alpha(ratings.from_rows(values, labels), metric)
    assert ours.value == pytest.approx(theirs, abs=1e-9)


@few
@seeds
@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic"])
def test_cohen_against_sklearn(weights: str, seed: int) -> None:
    codes = noisy(seed, raters=2)
    theirs = cohen_kappa_score(
        codes[:, 0],
        codes[:, 1],
        labels=[0, 1, 2, 3],
        weights=None if weights == "identity" else weights,
    )
    ours = agreement.cohen_kappa(ratings.from_codes(codes, [0, 1, 2, 3]), weights)
    assert ours.value == pytest.approx(theirs, abs=1e-12)


@few
@seeds
def test_fleiss_against_statsmodels(seed: int) -> None:
    codes = noisy(seed)
    theirs = fleiss_kappa(aggregate_raters(codes, n_cat=4)[0])
    ours = agreement.fleiss_kappa(ratings.from_codes(codes, [0, 1, 2, 3]))
    assert ours.value == pytest.approx(theirs, abs=1e-12)


SMOOTH = [
    "percent_agreement",
    "fleiss_kappa",
    "fleiss_kappa_pooled",
    "conger_kappa",
    "brennan_prediger",
    "gwet_ac",
    "krippendorff_alpha",
    "krippendorff_alpha_ordinal",
    "krippendorff_alpha_weighted",
]


@few
@seeds
@pytest.mark.parametrize("name", SMOOTH)
def test_standard_errors_are_the_infinitesimal_jackknife(name: str, seed: int) -> None:
    """se^2 = sum f_i (n dT/df_i)^2 / (n (n - 1)), with numeric derivatives of the coefficient.

    Independent of the closed forms: it only needs the value under other frequencies. Alpha's
    standard error is that of alpha', whose N / (N - 1) is put back first.
    """
    codes = noisy(seed, n=40)
    codes[np.random.default_rng(seed).random(codes.shape) < 0.15] = -1
    # Gwet counts items with one rating in n, which no derivative does: leave them out here.
    table = ratings.from_codes(codes[(codes >= 0).sum(axis=1) >= 2], [1, 2, 3, 4])
    raw = replicate_statistic(table, name)

    def value(freq: np.ndarray) -> np.ndarray:
        found = raw(freq)
        if not name.startswith("krippendorff"):
            return found
        n_ratings = freq @ table.ratings_per_row
        return 1 - (1 - found) * n_ratings / (n_ratings - 1)

    n, step = table.freq.sum(), 1e-4
    bumped = table.freq + step * np.eye(len(table.freq))
    lowered = table.freq - step * np.eye(len(table.freq))
    slope = (value(bumped) - value(lowered)) / (2 * step)
    expected = np.sqrt(table.freq @ np.square(n * slope) / (n * (n - 1)))
    assert agreement.COEFFICIENTS[name].compute(table).se == pytest.approx(expected, rel=1e-5)


def test_specific_agreement_by_hand() -> None:
    # a = 40, b = 9, c = 6, d = 45: yes 2a/(2a + b + c) = 80/95, no 90/105.
    table = ratings.from_contingency([[40, 9], [6, 45]], ["yes", "no"])
    yes, no = agreement.category_agreement(table)
    assert yes.specific == pytest.approx(80 / 95)
    assert no.specific == pytest.approx(90 / 105)
    assert yes.share == pytest.approx(95 / 200)
    indices = agreement.prevalence_and_bias(table)
    assert indices.prevalence_index == pytest.approx((40 - 45) / 100)
    assert indices.bias_index == pytest.approx((9 - 6) / 100)


def test_a_label_nobody_gave_has_no_specific_agreement() -> None:
    table = ratings.from_rows([["a", "a"], ["a", "b"]], ["a", "b", "c"])
    assert isinstance(agreement.category_agreement(table)[2].specific, Undefined)


def test_high_agreement_with_low_kappa_is_explained() -> None:
    table = ratings.from_contingency([[90, 5], [5, 0]], ["ok", "bad"])
    found = agreement.summarise(table)
    assert "90%" in found.remark
    assert "'ok'" in found.remark
    assert found.band == "poor"
    assert (
        agreement.summarise(ratings.from_contingency([[50, 2], [2, 46]], ["a", "b"])).remark == ""
    )


def test_the_remark_when_only_one_label_occurs() -> None:
    table = ratings.from_contingency([[90, 0], [0, 0]], ["ok", "bad"])
    assert "kappa has no value" in agreement.summarise(table).remark


def test_the_table_names_what_applies() -> None:
    def names(table: ratings.RatingTable) -> list[str]:
        return [c.name for c in agreement.agreement_table(table)]

    two = ratings.from_rows([["a", "b"], ["a", "a"]], ["a", "b"])
    assert {"cohen_kappa", "scott_pi", "pabak"} <= set(names(two))
    three = ratings.from_rows([["a", "b", "a"], ["a", "a", "b"]], ["a", "b", "c"])
    assert {"fleiss_kappa", "conger_kappa", "light_kappa"} <= set(names(three))
    assert "pabak" not in names(three)
    counts = ratings.from_counts([[2, 1], [0, 3]], ["a", "b"])
    assert "conger_kappa" not in names(counts)


def test_undefined_is_null_with_a_reason_in_json() -> None:
    table = ratings.from_rows([["a", "a"]], ["a", "b"])
    found = as_json(agreement.cohen_kappa(table))
    assert found["value"] is None
    assert found["undefined"]["value"]["reason"] == "no_variation"
    assert found["observed"] == 1.0
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], Reason.NO_ITEMS),
        ([["a"], ["b"]], Reason.SINGLE_RATER),
        ([["a", None], [None, "b"]], Reason.NO_OVERLAP),
        ([["a", "a"], ["a", "a"]], Reason.NO_VARIATION),
        ([["a", "b", "a"]], Reason.NEEDS_TWO_RATERS),
    ],
)
def test_reasons(rows: list[list[str | None]], reason: Reason) -> None:
    found = agreement.cohen_kappa(ratings.from_rows(rows, ["a", "b"])).value
    assert isinstance(found, Undefined)
    assert found.reason is reason


def test_no_overlap_of_one_pair_of_three() -> None:
    table = ratings.from_rows([["a", None, "b"], [None, "b", "b"]], ["a", "b"])
    first = agreement.pairwise_cohen(table)[0].result
    assert isinstance(first.value, Undefined)
    assert first.value.reason is Reason.NO_OVERLAP
    assert "undefined_pairs_left_out" in agreement.light_kappa(table).flags or not is_defined(
        agreement.light_kappa(table).value
    )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: ratings.from_triples([("i1", "r1", "a"), ("i1", "r1", "b")]),
            r"item 'i1', rater 'r1': rated 2 times \('a' and 'b'\)",
        ),
        (
            lambda: ratings.from_triples([("i1", "r1", "a"), ("i1", "r1", "a")]),
            "rated 2 times",
        ),
        (
            lambda: ratings.from_rows([["a", "z"]], ["a", "b"], raters=["ann", "bob"]),
            r"item 0, rater 'bob': label 'z' is not among the declared labels \['a', 'b'\]",
        ),
        (
            lambda: ratings.from_rows(np.array([["a", "z"]]), ["a", "b"]),
            "item 0, rater 2: label 'z'",
        ),
        (lambda: ratings.from_rows([["1", 1]]), "label 1 is number while the others are text"),
        (lambda: ratings.from_rows([[1, True]], [1, 2]), "label True is truth"),
        (lambda: ratings.from_rows(np.array([[1.0, 7.0]]), [1, 2]), "label 7.0"),
        (lambda: ratings.from_rows([["a", ["b"]]]), "is no label"),
        (lambda: ratings.from_rows([["a", "b"], ["a"]]), "item 1 has 1 ratings where 2"),
        (lambda: ratings.from_rows([["a", "b"]], ["a", "b", "a"]), "'a' is declared twice"),
        (lambda: ratings.from_rows([["a", "b"]], []), "empty"),
        (lambda: ratings.from_rows([["a", "b"]], ["a", 1]), "mix"),
        (lambda: ratings.from_rows([["a", "b"]], raters=["x", "x"]), "two columns"),
        (lambda: ratings.from_codes(np.array([[0, 5]]), ["a"]), "item 0, rater 2: code 5"),
        (lambda: ratings.from_counts([[1, -1]], ["a", "b"]), "row 0, column 1"),
        (lambda: ratings.from_counts([[1]], ["a", "b"]), "shape"),
        (lambda: ratings.from_contingency([[1, 2]], ["a", "b"]), "shape"),
        (lambda: ratings.from_columns(["i"], ["r"], []), "equal length"),
    ],
)
def test_bad_ratings_are_named(call: Any, says: str) -> None:
    with pytest.raises(StatisticsError, match=says):
        call()


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([[1, 0.5]], "shape"),
        ([[1, 0.5], [0.2, 1]], "symmetric"),
        ([[0, 1], [1, 0]], "diagonal"),
        ("cubic", "choose one of"),
    ],
)
def test_bad_weights(weights: Any, says: str) -> None:
    table = ratings.from_rows([["a", "b"]], ["a", "b"])
    with pytest.raises(StatisticsError, match=says):
        agreement.cohen_kappa(table, weights)


def test_bad_scores_levels_and_metrics() -> None:
    table = ratings.from_rows([["a", "b"]], ["a", "b"])
    with pytest.raises(StatisticsError, match="do not fit 2 labels"):
        agreement.cohen_kappa(table, "linear", scores=[1, 2, 3])
    with pytest.raises(StatisticsError, match=r"write 0\.95"):
        agreement.cohen_kappa(table, level=95)
    with pytest.raises(StatisticsError, match="declare the label set"):
        agreement.krippendorff_alpha(ratings.from_rows([["a", "b"]]), "ordinal")
    with pytest.raises(StatisticsError, match="numeric labels"):
        agreement.krippendorff_alpha(table, "ratio")
    with pytest.raises(StatisticsError, match="above 0"):
        agreement.band_membership(0.5, 0.0)


def test_band_membership_by_hand() -> None:
    bands = agreement.band_membership(0.7, 0.1)
    assert bands[0].name == "almost perfect"
    # P(> .8) = P(Z > 1) up to the cut at 1: (Phi(3) - Phi(1)) / (Phi(3) - Phi(-17)).
    above = quantiles.normal_cdf(3) - quantiles.normal_cdf(1)
    assert bands[0].cumulative == pytest.approx(above / quantiles.normal_cdf(3))
    assert bands[-1].cumulative == pytest.approx(1.0)


def test_labels_of_every_layout_of_numbers_and_missing() -> None:
    wide = ratings.from_rows(np.array([[1.0, np.nan], [2.0, 2.0]]))
    assert wide.categories == (1.0, 2.0)
    assert wide.n_pairs == 1
    ints = ratings.from_rows(np.array([[1, 2], [2, 2]]), [1, 2])
    assert ints.n_items == 2
    truths = ratings.from_rows(np.array([[True, False]]))
    assert truths.categories == (False, True)
    many = ratings.from_rows(np.array([[f"l{k}", f"l{k}"] for k in range(100)]))
    assert many.q == 100
