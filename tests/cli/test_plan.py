"""``labelkit plan`` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.inprocess import Cli, cli

__all__ = ["cli"]


def test_table_and_json_say_the_same(cli: Cli) -> None:
    words = ("plan", "--strata", "law=600,tax=400", "--n", "100", "--have", "12/80")
    shown = cli(*words)
    assert shown.code == 0
    found = json.loads(cli(*words, "--json").out)
    plan = found["plan"]
    assert [s["n"] for s in plan["strata"]] == [60, 40]
    for stratum in plan["strata"]:
        assert f"{100 * stratum['half_width']:.3g} points" in shown.out
    assert f"{100 * plan['half_width']:.3g} points" in shown.out
    assert "Now 12/80 = 15.0%" in shown.out
    assert f"{found['have']['more']['more']:.0f} more labels" in shown.out
    assert found["have"]["now"]["interval"]["method"] == "wilson"


def test_published_sample_size(cli: Cli) -> None:
    # Cochran for +-5 points at 95% out of 1,069: the source paper drew 283.
    done = cli("plan", "--population", "1069")
    assert "283 of 1,069" in done.out
    assert json.loads(cli("plan", "--population", "1069", "--json").out)["plan"]["n"] == 283


def test_nothing_reaches_the_margin_is_null_with_a_reason(cli: Cli) -> None:
    words = (
        "plan",
        "--strata",
        "a=9,b=9",
        "--allocation",
        "neyman",
        "--sds",
        "a=0,b=1",
        "--n",
        "5",
    )
    found = json.loads(cli(*words, "--json").out)["plan"]
    assert found["half_width"] is None
    assert found["undefined"]["half_width"]["reason"] == "out_of_design"
    assert found["strata"][0]["undefined"]["half_width"]["reason"] == "no_items"
    assert "null (out_of_design)" in cli(*words).out


def test_kappa(cli: Cli) -> None:
    done = cli("plan", "--kappa", "0.8", "--kappa-null", "0.6", "--yes", "0.3,0.3")
    size = json.loads(cli("plan", "--kappa", "0.8", "--yes", "0.3,0.3", "--json").out)["kappa"]
    assert f"{size['n_items']} items" in done.out
    assert size["wish"]["kappa_null"] == 0.6


def test_strata_from_a_table(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,domain\n1,law\n2,tax\n3,law\n", encoding="utf-8")
    words = ("plan", "--strata-from", "t.csv", "--by", "domain", "--n", "3", "--json")
    found = json.loads(cli(*words).out)["plan"]
    assert [(s["name"], s["size"], s["n"]) for s in found["strata"]] == [
        ("law", 2, 2),
        ("tax", 1, 1),
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--have", "12"), "--have '12' is not HITS/N"),
        (("--have", "9/3"), "9 hits out of 3 rows is impossible"),
        (("--strata", "law"), "'law' is not NAME=NUMBER"),
        (("--strata", "a=x"), "'x' of 'a' is no number"),
        (("--strata", "a=inf"), "is not finite"),
        (("--strata", "a=1,a=2"), "'a' is named twice"),
        (("--strata", "a=1.5"), "stratum 'a' has a size of 1.5"),
        (("--strata", "a=-1"), "stratum 'a' has a size of -1"),
        (("--strata-from", "t.csv"), "belong together"),
        (("--strata-from", "no.csv", "--by", "x"), "there is no file no.csv"),
        (("--strata", "a=1", "--strata-from", "t.csv", "--by", "x"), "exclude each other"),
        (("--margin", "5"), "5.0 is not in the range"),
        (("--margin", "nan"), "nan"),
        (("--confidence", "nan"), "nan"),
        (("--kappa", "0.8", "--yes", "0.3"), "--yes '0.3' is not two shares"),
        (("--strata", "a=9,b=9", "--allocation", "neyman"), "give --sds"),
    ],
)
def test_mistakes_get_one_sentence(cli: Cli, words: tuple[str, ...], sentence: str) -> None:
    done = cli("plan", *words)
    assert done.code == 2
    assert sentence in done.sentence
