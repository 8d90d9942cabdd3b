"""Published values of real rating tables, recomputed from the raw ratings."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from labelkit.stats import agreement, dawid_skene, ratings, vote
from labelkit.stats.intervals import Interval


@pytest.fixture(scope="module")
def real(shared: Path) -> Path:
    return shared / "real"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def numbers(path: Path, columns: list[str]) -> list[list[float | None]]:
    return [[float(row[c]) if row[c] != "" else None for c in columns] for row in rows_of(path)]


@pytest.fixture(scope="module")
def pandalm(real: Path) -> list[dict[str, int]]:
    loaded: list[dict[str, int]] = json.loads(
        (real / "pandalm" / "testset-v1.json").read_text(encoding="utf-8")
    )
    return loaded


def test_pandalm_three_people(pandalm: list[dict[str, int]]) -> None:
    people = ["annotator1", "annotator2", "annotator3"]
    table = ratings.from_rows([[i[p] for p in people] for i in pandalm], [0, 1, 2], raters=people)
    kappas = [pair.result.value for pair in agreement.pairwise_cohen(table)]
    assert kappas == pytest.approx([0.8520, 0.8789, 0.8617], abs=5e-5)
    assert agreement.fleiss_kappa(table).value == pytest.approx(0.864175, abs=5e-7)
    assert agreement.krippendorff_alpha(table).value == pytest.approx(0.864221, abs=5e-7)
    # By hand, in exact fractions: pa = 919/999 over 2,997 ratings, of which 326, 1,255 and 1,416
    # are 0, 1 and 2; pe = sum p (1 - p) / 2. AC1 is 0.8864447..., which irrCAC gives too. The sheet
    # says 0.886447: the same digits with one of the three 4s lost.
    shares = [Fraction(times, 2997) for times in (326, 1255, 1416)]
    counted = Counter(i[p] for i in pandalm for p in people)
    assert [counted[label] for label in (0, 1, 2)] == [326, 1255, 1416]
    pe = sum(share * (1 - share) for share in shares) / 2
    exact = (Fraction(919, 999) - pe) / (1 - pe)
    assert f"{float(exact):.7f}" == "0.8864447"
    assert agreement.gwet_ac(table).value == pytest.approx(float(exact), abs=1e-12)
    assert float(exact) != pytest.approx(0.886447, abs=1e-6)
    unanimous = agreement.unanimous_agreement(table)
    assert unanimous.value == pytest.approx(879 / 999)


def test_pandalm_judges_against_the_majority(real: Path, pandalm: list[dict[str, int]]) -> None:
    people = ["annotator1", "annotator2", "annotator3"]
    codes = np.array([[i[p] for p in people] for i in pandalm])
    majority = vote.majority(codes, 3)
    assert (majority.codes >= 0).all()
    assert np.bincount(majority.codes).tolist() == [105, 422, 472]
    # Garbage is its own wrong class, as in the published numbers.
    read = {"Tie": 0, "1": 1, "2": 2, "garbage": 3, 0: 0, 1: 1, 2: 2}
    for name, accuracy, kappa in (
        ("gpt-3.5-turbo-testset-v1.json", 0.6977, 0.4755),
        ("pandalm-7b-testset-v1.json", 0.6677, 0.4354),
    ):
        said = json.loads((real / "pandalm" / name).read_text(encoding="utf-8"))
        key = next(k for k in said[0] if k.endswith("_result"))
        by_item = {row["idx"]: read[row[key]] for row in said}
        judge = [by_item[item["idx"]] for item in pandalm]
        pairs = np.column_stack([majority.codes, judge])
        table = ratings.from_codes(pairs, [0, 1, 2, 3], ["people", "judge"])
        found = agreement.cohen_kappa(table)
        assert found.observed == pytest.approx(accuracy, abs=5e-5)
        assert found.value == pytest.approx(kappa, abs=5e-5)


def test_recipe_scales(real: Path) -> None:
    path = real / "judgebench_recipes" / "meta_evaluation_recipes.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    published = {
        "grammar": (0.4151, 0.4099),
        "fluency": (0.4324, 0.4553),
        "verbosity": (0.3991, 0.3993),
        "structure": (0.3986, 0.3978),
        "success": (0.3627, 0.3721),
        "overall": (0.4351, 0.4637),
    }
    for scale, (ordinal, interval) in published.items():
        rows = [i["annotations"][scale]["individual_human_scores"] for i in data["instances"]]
        # Raters are anonymous and unequal in number: a table of counts.
        counts = [[sum(v == s for v in row) for s in range(1, 7)] for row in rows]
        table = ratings.from_counts(counts, [1, 2, 3, 4, 5, 6])
        found = agreement.krippendorff_alpha(table, "ordinal").value
        assert found == pytest.approx(ordinal, abs=5e-5), scale
        found = agreement.krippendorff_alpha(table, "interval").value
        assert found == pytest.approx(interval, abs=5e-5), scale


@pytest.fixture(scope="module")
def rte_rows(real: Path) -> list[dict[str, str]]:
    return rows_of(real / "crowd_rte" / "rte.standardized.csv")


@pytest.fixture(scope="module")
def rte(rte_rows: list[dict[str, str]]) -> ratings.RatingTable:
    return ratings.from_columns(
        [r["orig_id"] for r in rte_rows],
        [r["!amt_worker_ids"] for r in rte_rows],
        [r["response"] for r in rte_rows],
        ["0", "1"],
    )


@pytest.fixture(scope="module")
def rte_gold(rte_rows: list[dict[str, str]]) -> np.ndarray:
    return np.array(list({r["orig_id"]: int(r["gold"]) for r in rte_rows}.values()))


def test_rte_agreement(rte: ratings.RatingTable) -> None:
    assert (rte.n_items, rte.n_raters) == (800, 164)
    assert agreement.fleiss_kappa(rte).value == pytest.approx(0.24138, abs=5e-6)
    assert agreement.krippendorff_alpha(rte).value == pytest.approx(0.24148, abs=5e-6)
    assert agreement.gwet_ac(rte).value == pytest.approx(0.27273, abs=5e-6)


def test_rte_majority(rte: ratings.RatingTable, rte_gold: np.ndarray) -> None:
    assert rte.patterns is not None
    assert rte.pattern_of is not None
    found = vote.majority(rte.patterns[rte.pattern_of], 2)
    right = int((found.codes == rte_gold).sum())
    ties = int((found.outcomes == vote.RowOutcome.TIE).sum())
    assert ties == 65
    assert right / 800 == pytest.approx(0.85625, abs=1e-12)
    assert (right + ties / 2) / 800 == pytest.approx(0.89687, abs=6e-6)


def test_rte_dawid_skene(rte: ratings.RatingTable, rte_gold: np.ndarray) -> None:
    fit = dawid_skene.dawid_skene(rte)
    assert fit.converged
    assert (fit.labels == rte_gold).mean() == pytest.approx(0.9275, abs=1e-12)


@pytest.fixture(scope="module")
def reference(real: Path) -> Path:
    return real / "reference_tables"


def test_fleiss_1971(reference: Path) -> None:
    rows = numbers(reference / "fleiss1971_diagnoses_30x6.csv", [f"rater{k}" for k in range(1, 7)])
    table = ratings.from_rows(rows, [1.0, 2.0, 3.0, 4.0, 5.0])
    assert agreement.fleiss_kappa(table).value == pytest.approx(0.430245, abs=5e-7)


def test_wikipedia_counts(reference: Path) -> None:
    rows = numbers(reference / "fleiss_wikipedia_counts_10x5.csv", [f"c{k}" for k in range(1, 6)])
    table = ratings.from_counts(rows, [1, 2, 3, 4, 5])
    assert agreement.fleiss_kappa(table).value == pytest.approx(0.209931, abs=5e-7)


def test_krippendorff_2011(reference: Path) -> None:
    rows = numbers(reference / "krippendorff2011_12x4_missing.csv", ["A", "B", "C", "D"])
    table = ratings.from_rows(rows, [1.0, 2.0, 3.0, 4.0, 5.0])
    for metric, alpha in (
        ("nominal", 0.74342),
        ("ordinal", 0.81539),
        ("interval", 0.84911),
        ("ratio", 0.7974),
    ):
        found = agreement.krippendorff_alpha(table, metric).value  # type: ignore[arg-type]
        assert found == pytest.approx(alpha, abs=6e-6), metric
    assert agreement.gwet_ac(table).value == pytest.approx(0.775444, abs=5e-7)


def test_sas(reference: Path) -> None:
    counts = numbers(reference / "sas_table_3x3.csv", ["c1", "c2", "c3"])
    table = ratings.from_contingency(counts, [1, 2, 3])
    kappa = agreement.cohen_kappa(table)
    assert kappa.value == pytest.approx(0.4842, abs=5e-5)
    assert kappa.se == pytest.approx(0.1380, abs=5e-5)
    assert isinstance(kappa.interval, Interval)
    assert kappa.interval.low == pytest.approx(0.2137, abs=5e-5)
    assert kappa.interval.high == pytest.approx(0.7547, abs=5e-5)
    linear = agreement.cohen_kappa(table, "linear")
    assert linear.value == pytest.approx(0.4701, abs=5e-5)
    assert linear.se == pytest.approx(0.1457, abs=5e-5)
    quadratic = agreement.cohen_kappa(table, "quadratic")
    assert quadratic.value == pytest.approx(0.4502, abs=5e-5)


def test_mast_people_agree_on_everything(real: Path) -> None:
    records = json.loads(next((real / "mast_human").glob("*.json")).read_text(encoding="utf-8"))
    people = ["annotator_1", "annotator_2", "annotator_3"]
    rows = [[bool(a[p]) for p in people] for record in records for a in record["annotations"]]
    table = ratings.from_rows(rows, [False, True])
    assert table.n_items == 175
    assert agreement.fleiss_kappa(table).value == 1.0
    assert Counter(row[0] for row in rows)[True] == 24 + 7
