"""Figures printed in the source papers, recomputed to the printed digit."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from labelkit.stats import (
    agreement,
    allocation,
    clusters,
    comparison,
    intervals,
    ppi,
    prevalence,
    ratings,
    vote,
)
from labelkit.stats.intervals import Interval
from labelkit.stats.quantiles import normal_tail


@pytest.fixture(scope="module")
def facts(shared: Path) -> dict[str, Any]:
    text = (shared / "schemes" / "published.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


TEXTBOOK = 1 - 2 * normal_tail(1.96)
"""The level whose quantile is the textbooks' 1.96, 0.950004."""


def limits(interval: Any) -> tuple[float, float]:
    assert isinstance(interval, Interval)
    return interval.low, interval.high


def test_wilson_rows(facts: dict[str, Any]) -> None:
    for hits, n, low, high in facts["wilson_95"]:
        found = limits(intervals.wilson(hits, n))
        assert found == pytest.approx((low, high), abs=2e-5)
        printed = [f"{100 * limit:.1f}" for limit in (low, high)]
        assert [f"{100 * limit:.1f}" for limit in found] == printed


def test_the_one_wilson_row_whose_last_digits_differ(facts: dict[str, Any]) -> None:
    """353 of 746 is handed over as .43761 to .50907; Wilson's limits are .43759 and .50906.

    The limits are by definition the roots of (share - p)^2 = z^2 p (1 - p) / n. Ours solve it, the
    sheet's do not, with 1.959964 or with 1.96; statsmodels agrees with ours. To the digit that the
    paper prints, 0.1 points, both are the same, and all other rows agree to the last digit.
    """
    hits, n, low, high = next(row for row in facts["wilson_95"] if row[:2] == [353, 746])

    def off(p: float, z: float) -> float:
        # Distance to the root: the left side less the right one over the slope of the difference.
        share = hits / n
        gap = (share - p) ** 2 - z**2 * p * (1 - p) / n
        return abs(gap / (2 * (p - share) - z**2 * (1 - 2 * p) / n))

    ours = limits(intervals.wilson(hits, n))
    assert [round(limit, 5) for limit in ours] == [0.43759, 0.50906]
    assert ours == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-12)
    assert max(off(p, 1.959963984540054) for p in ours) < 1e-12
    for z in (1.959963984540054, 1.96):
        assert off(low, z) > 1.5e-5
        assert off(high, z) > 5e-6


def test_all_nineteen_leaderboard_rows_add_up(facts: dict[str, Any]) -> None:
    rows = facts["toolfailbench_leaderboard"]["rows"]
    assert len(rows) == 19
    assert sum(n for n, *_ in rows.values()) == 14171
    rates = []
    for n, *counts in rows.values():
        assert sum(counts) == n
        shares = [intervals.proportion(c, n).value for c in counts]
        assert sum(s for s in shares if isinstance(s, float)) == pytest.approx(1.0)
        low, high = limits(intervals.wilson(counts[0], n))
        assert low < counts[0] / n < high
        assert 0.045 < high - low < 0.08  # about 745 rows each
        rates.append(100 * counts[0] / n)
    mean = facts["toolfailbench_leaderboard"]["mean_ensemble_CTUR"]
    assert float(np.mean(rates)) == pytest.approx(mean, abs=0.005)


def test_the_denominator_changes_the_rate(facts: dict[str, Any]) -> None:
    board = facts["toolfailbench_leaderboard"]
    n, _, skipped, ignored, _ = board["rows"]["Llama-3.1-8B"]
    other = board["same_rows_other_denominator"]
    assert ignored / n == pytest.approx(other["Llama-3.1-8B RIR on Required"], abs=5e-5)
    called = n - skipped
    assert ignored / called == pytest.approx(other["Llama-3.1-8B RIR on Called (code)"], abs=5e-5)
    _, _, skipped, ignored, _ = board["rows"]["Grok-4.3"]
    assert ignored / (746 - skipped) == pytest.approx(other["Grok-4.3 RIR on Called"], abs=5e-5)


def test_two_proportion_z(facts: dict[str, Any]) -> None:
    for row in facts["two_proportion_z_pooled"]:
        found = comparison.two_proportions(*row["a"], *row["b"])
        digits = 5e-5 if abs(row["z"]) > 10 else 1e-5
        assert found.z == pytest.approx(row["z"], abs=digits)
        assert found.p_value == pytest.approx(row["p"], rel=1e-4)


def test_fabrication_table(facts: dict[str, Any]) -> None:
    table = facts["fabrication"]
    n = table["n_in_scope"]
    for name, (fabricated, dishonest) in table["counts_F_and_dishonest"].items():
        if fabricated is not None:
            assert fabricated <= dishonest, f"{name}: FR <= DR"
    assert sum(table["dishonest_by_type_deploy"].values()) == 97
    assert len(table["dishonest_by_type_deploy"]) * table["n_per_failure_cell"] == n


def test_mcnemar_and_holm(facts: dict[str, Any]) -> None:
    rows = facts["fabrication"]["mcnemar_exact_holm"]
    tests = [comparison.mcnemar(*row["n01_n10"]) for row in rows]
    for row, found in zip(rows, tests, strict=True):
        assert found.p_exact == pytest.approx(row["raw"], rel=1e-4)
    family = {str(k): found.p_exact for k, found in enumerate(tests)}
    adjusted = comparison.adjust("three mitigations", family).adjusted
    for k, row in enumerate(rows):
        assert adjusted[str(k)] == pytest.approx(row["holm"], rel=1e-4)
    edge = facts["fabrication"]["mcnemar_edge"]
    assert comparison.mcnemar(*edge["n01_n10"]).p_exact == edge["p"]


def test_cluster_bootstrap_properties() -> None:
    # 16 equal domains with one rate: no width, and a flag that says so.
    flat = clusters.cluster_rate_bootstrap(np.full(16, 3.0), np.full(16, 10.0))
    assert limits(flat.interval) == pytest.approx((0.3, 0.3))
    assert "no_variation_in_replicates" in flat.flags
    # 8 domains of hits, 8 of misses: the number of hit domains is binomial(16, 1/2).
    split = clusters.cluster_rate_bootstrap(np.repeat([5.0, 0.0], 8), np.full(16, 5.0))
    assert limits(split.interval) == (0.25, 0.75)
    # Unequal sizes: ratio of sums, not mean of rates.
    y, x = np.array([1.0, 9.0]), np.array([1.0, 90.0])
    assert clusters.cluster_rate_bootstrap(y, x).estimate == pytest.approx(10 / 91)


def test_validation_study(facts: dict[str, Any]) -> None:
    study = facts["feasigen"]
    yes, no = study["kappa_table_yes_yes"], study["kappa_table_no_no"]
    n = study["agreement"][1]
    low, high = study["kappa_range_over_splits_of_12"]
    kappas = []
    for split in range(13):
        table = ratings.from_contingency([[yes, split], [12 - split, no]], ["yes", "no"])
        assert table.n_items == n
        kappas.append(agreement.cohen_kappa(table).value)
        ac1 = agreement.gwet_ac(table).value
        assert ac1 == pytest.approx(study["gwet_ac1"], abs=2e-4)
    assert min(kappas) == pytest.approx(low, abs=1e-4)
    assert max(kappas) == pytest.approx(high, abs=1e-4)
    assert {f"{k:.2f}" for k in kappas} == {"0.66"}
    band = agreement.landis_koch_band(kappas[0])
    assert band == "substantial"


def test_cochran(facts: dict[str, Any]) -> None:
    plan = facts["feasigen"]["cochran"]
    first, last = plan["finite_population_N_giving_283"]
    assert allocation.cochran_size(plan["e"], z=plan["z"]).n0 == pytest.approx(plan["n0"])
    sizes = {
        population: allocation.cochran_size(plan["e"], z=plan["z"], population=population).n
        for population in range(first - 1, last + 2)
    }
    assert {population for population, n in sizes.items() if n == 283} == set(
        range(first, last + 1)
    )


def test_agreement_toy(facts: dict[str, Any]) -> None:
    toy = facts["agreement_toy"]
    labels = ["c", "t", "r", "o"]
    table = ratings.from_rows(toy["items"], labels)
    pairs = [pair.result.value for pair in agreement.pairwise_cohen(table)]
    assert pairs == pytest.approx([toy["cohen_12"], toy["cohen_13"], toy["cohen_23"]], abs=5e-6)
    assert agreement.fleiss_kappa(table).value == pytest.approx(toy["fleiss"], abs=1e-9)
    alpha = agreement.krippendorff_alpha(table).value
    assert alpha == pytest.approx(toy["krippendorff_alpha_nominal"], abs=1e-9)
    ac1 = agreement.gwet_ac(table.columns([0, 1])).value
    assert ac1 == pytest.approx(toy["gwet_ac1_12"], abs=5e-7)
    codes = np.array([[labels.index(v) for v in row] for row in toy["items"]])
    winners = [labels[k] for k in vote.majority(codes, 4, tie_rater=0).codes]
    assert winners == toy["majority_tie_to_first"]
    assert Counter(len(set(row)) for row in toy["items"])[3] == 1  # the one three-way tie


def test_rogan_gladen(facts: dict[str, Any]) -> None:
    given = facts["rogan_gladen"]
    n, m1, m0 = given["n"], given["m1"], given["m0"]
    found = prevalence.rogan_gladen(
        given["p_hat"] * n,
        n,
        given["sens"] * m1,
        m1,
        given["spec"] * m0,
        m0,
        TEXTBOOK,
    )
    assert found.value == pytest.approx(given["theta"], abs=5e-7)
    assert found.se == pytest.approx(given["se_delta"], abs=5e-7)
    assert limits(found.interval_delta) == pytest.approx(given["ci95"], abs=5e-7)


def test_ppi_plus_plus(facts: dict[str, Any]) -> None:
    given = facts["ppi_plus_plus"]
    frame = [1] * 37 + [0] * 63
    for lam in (1, 0):
        found = ppi.ppi_mean(given["Y"], given["f"], frame, lam=lam)
        assert found.value == pytest.approx(given[f"lambda_{lam}"], abs=5e-7)
    tuned = ppi.ppi_mean(given["Y"], given["f"], frame)
    assert tuned.lam == pytest.approx(given["lambda_tuned"], abs=5e-5)
    assert tuned.value == pytest.approx(given["tuned_point"], abs=5e-7)
    assert limits(tuned.interval) == pytest.approx(given["tuned_ci95"], abs=5e-7)
