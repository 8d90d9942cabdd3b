"""Whoever has only a table of ratings: two commands in an empty folder, a dossier and a release."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.inprocess import Cli, cli

__all__ = ["cli"]

COEFFICIENTS = {
    "percent_agreement",
    "unanimous_agreement",
    "fleiss_kappa",
    "conger_kappa",
    "light_kappa",
    "gwet_ac",
    "brennan_prediger",
    "krippendorff_alpha",
}


def dossier(folder: Path) -> dict[str, dict[str, Any]]:
    """The coefficients over all rows of the one question."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    (question,) = results["questions"]
    (group,) = [g for g in question["agreement"] if g["group"] == "all"]
    return {one["name"]: one for one in group["coefficients"]}


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_small_table_in_an_empty_folder(cli: Cli, tmp_path: Path) -> None:
    table = "id,ann,ben,cleo\n1,yes,yes,no\n2,no,no,no\n3,yes,yes,yes\n4,yes,no,yes\n5,no,no,\n"
    (tmp_path / "ratings.csv").write_text(table, encoding="utf-8")
    first = cli("import", "ratings.csv", "--item", "id", "--raters", "ann,ben,cleo")
    assert first.code == 0, first.err
    assert "labelkit.yaml: made" in first.out
    second = cli("export", "./ratings", "OUT")
    assert second.code == 0, second.err
    assert "5 traces, 3 raters, 14 labels, 3 gold, 2 disagreements" in second.out
    assert "2 disagreements of people are not decided" in second.out
    out = tmp_path / "OUT"
    found = dossier(out)
    assert set(found) == COEFFICIENTS
    # By item: 1 of 3 pairs, 3 of 3, 3 of 3, 1 of 3, 1 of 1.
    assert found["percent_agreement"]["value"] == pytest.approx((1 / 3 + 1 + 1 + 1 / 3 + 1) / 5)
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "3 raters, 5 items, 14 labels." in card
    assert f"| alpha (nominal) | {found['krippendorff_alpha']['value']:.3f} |" in card
    drawn = {path.name for path in (out / "figures").iterdir()}
    assert {"agreement-label.png", "agreement-label.svg", "rates-label.png"} <= drawn
    assert Counter(row["value"] for row in rows_of(out, "gold")) == {"no": 2, "yes": 1}
    apart = rows_of(out, "disagreements")
    assert [row["values"] for row in apart] == [["no", "yes"]] * 2
    names = [row["name"] for row in rows_of(out, "raters")]
    assert all(name.startswith("annotator-") for name in names)
    assert cli("verify", "OUT").code == 0
    assert "labels 0 new, 14 known" in cli("import", "ratings.csv").out
    assert "labelkit.yaml" not in cli("import", "ratings.csv").out


SHAPES = {
    # Semicolons, a mark at the beginning, decimal commas, names with colons, texts, blanks.
    "survey": (
        (
            "\ufeffNr. of the answer;Text;Rater: Ünal;Rater: Zoë;Rater: 李\r\n"
            'Item 1;"An answer, with a comma";1,5;2;\r\n'
            "Item 2;Another;10;10;2\r\n"
            "Item 3;A third;2;1,5;2\r\n"
            "Item 4;A fourth;;;10\r\n"
        ),
        ("--ordinal",),
        ["1.5", "2", "10"],
        9,
        3,
    ),
    # A column per rater beside free texts; no item column but that of the questions.
    "quality": (
        (
            "question_id,prompt,response,annotator_1,annotator_2\n"
            "q1,what is 1?,it is 1,Yes,No\nq2,what is 2?,it is 2,Yes,Yes\n"
            "q3,what is 3?,it is 3,n/a,No\nq4,what is 4?,it is 4,,Yes\n"
        ),
        (),
        ["No", "Yes"],
        6,
        2,
    ),
    # A form's answers, one row each, with the columns named by the user.
    "form": (
        (
            "timestamp,Respondent email,Item ID,Your rating,Comments\n"
            "2026/03/01 10:10,ann@example.org,Q1,Correct,fine\n"
            "2026/03/01 10:11,bob@example.org,Q1,Incorrect,\n"
            "2026/03/01 10:12,ann@example.org,Q2,Correct,\n"
            "2026/03/01 10:13,bob@example.org,Q2,Correct,\n"
        ),
        ("--item", "Item ID", "--rater", "Respondent email", "--label", "Your rating"),
        ["Correct", "Incorrect"],
        4,
        2,
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_tables_as_people_have_them(cli: Cli, tmp_path: Path, shape: str) -> None:
    """Two commands, the labels in the order of the scale, and no name of a person in a file."""
    text, more, labels, n_labels, n_raters = SHAPES[shape]
    (tmp_path / f"{shape}.csv").write_text(text, encoding="utf-8", newline="")
    first = cli("import", f"{shape}.csv", *more)
    assert first.code == 0, first.err
    second = cli("export", f"./{shape}", "OUT")
    assert second.code == 0, second.err
    assert f"{n_raters} raters, {n_labels} labels" in second.out
    results = json.loads((tmp_path / "OUT/results.json").read_text(encoding="utf-8"))
    (question,) = results["questions"]
    (group,) = [g for g in question["agreement"] if g["group"] == "all"]
    assert [one["label"] for one in group["categories"]] == labels
    card = (tmp_path / "OUT/README.md").read_text(encoding="utf-8")
    for label in labels:
        assert f"`label: {label}`" in card
    assert ("have ordinal weights" in card) is (shape == "survey")
    everything = b"".join(path.read_bytes() for path in (tmp_path / "OUT").rglob("*.*"))
    for name in ("Ünal", "Zoë", "李", "ann@example.org", "bob@example.org"):
        assert name.encode() not in everything
    assert cli("verify", "OUT").code == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Results of March,,,\n,,,\nid,r1,r2,\n1,a,b,\n", "leave out what stands above"),
        ("what,who,said\nx,ann,long text one\ny,bob,another\n", "'what', 'who', 'said'"),
        (
            "thing,words,mark\n" + "".join(f"t{n},w{n},m{n}\n" for n in range(9)),
            "--item and --raters A,B,C (a column per rater)",
        ),
    ],
)
def test_tables_that_do_not_tell_what_is_what_are_asked_about(
    cli: Cli, tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    refused = cli("import", "t.csv")
    assert refused.code == 2
    assert told in refused.sentence


def test_a_mistyped_file_makes_no_store(cli: Cli, tmp_path: Path) -> None:
    refused = cli("import", "rattings.csv")
    assert refused.code == 2
    assert list(tmp_path.iterdir()) == []


def test_pandalm_s_table_gives_the_published_agreement(
    cli: Cli, tmp_path: Path, shared: Path
) -> None:
    """999 items, three people: Fleiss 0.864175, alpha 0.864221, AC1 0.8864447, 879 unanimous."""
    shutil.copy(shared / "real/pandalm/testset-v1.json", tmp_path / "pandalm.json")
    assert cli("import", "pandalm.json").code == 0
    done = cli("export", "./pandalm", "OUT", "--accept-findings")
    assert done.code == 0, done.err
    found = dossier(tmp_path / "OUT")
    for name, value in (
        ("fleiss_kappa", 0.864175),
        ("krippendorff_alpha", 0.864221),
        ("gwet_ac", 0.8864447),
        ("unanimous_agreement", 879 / 999),
    ):
        assert found[name]["value"] == pytest.approx(value, abs=5e-7), name
    assert len(rows_of(tmp_path / "OUT", "gold")) == 879
    assert len(rows_of(tmp_path / "OUT", "disagreements")) == 999 - 879
    assert cli("verify", "OUT").code == 0


@pytest.mark.slow
def test_a_crowd_s_long_table_with_many_raters(cli: Cli, tmp_path: Path, shared: Path) -> None:
    """800 items with ten labels each of 164 workers: Fleiss 0.24138, alpha 0.24148, AC1 0.27273."""
    source = shared / "real/crowd_rte/rte.standardized.csv"
    with source.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    text = "".join(f"{r['orig_id']},{r['!amt_worker_ids']},{r['response']}\n" for r in rows)
    (tmp_path / "rte.csv").write_text("item,worker,response\n" + text, encoding="utf-8")
    done = cli(
        "import", "rte.csv", "--item", "item", "--rater", "worker", "--label", "response"
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "labels 8000 new" in done.out
    assert cli("export", "./rte", "OUT").code == 0
    found = dossier(tmp_path / "OUT")
    for name, value in (
        ("fleiss_kappa", 0.24138),
        ("krippendorff_alpha", 0.24148),
        ("gwet_ac", 0.27273),
    ):
        assert found[name]["value"] == pytest.approx(value, abs=5e-6), name
    assert cli("verify", "OUT").code == 0
