"""``labelkit plan`` as people type it."""

from __future__ import annotations

import json
from math import hypot
from pathlib import Path

import pytest

from labelkit.stats.intervals import wilson_limits
from labelkit.stats.quantiles import normal_quantile
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
    # 80 of the 1,000 rows of the strata: the correction for a finite population holds there too.
    interval = found["have"]["now"]["interval"]
    low, high = wilson_limits(0.15, 80 * 999 / 920, normal_quantile(0.95))
    assert (interval["low"], interval["high"]) == pytest.approx((low, high))
    assert "corrected for a population of 1,000" in shown.out.replace("\n", " ")


def test_only_what_was_asked_for_is_shown(cli: Cli) -> None:
    assert set(json.loads(cli("plan", "--have", "12/80", "--json").out)) == {"have"}
    assert set(json.loads(cli("plan", "--kappa", "0.8", "--json").out)) == {"kappa"}
    assert set(json.loads(cli("plan", "--json").out)) == {"plan"}
    both = cli("plan", "--have", "12/80", "--n", "50", "--json")
    assert set(json.loads(both.out)) == {"plan", "have"}
    assert "Cochran" not in cli("plan", "--have", "12/80").out
    plain = json.loads(cli("plan", "--have", "12/80", "--json").out)["have"]
    assert plain["now"]["interval"]["method"] == "wilson"


def test_a_stratum_drawn_whole_says_so(cli: Cli) -> None:
    done = cli("plan", "--strata", "a=60,b=30,c=1", "--n", "30", "--allocation", "equal")
    assert "c is drawn whole: +-0 there" in done.out


def test_rates_of_strata_decide_the_width(cli: Cli) -> None:
    words = ("plan", "--strata", "a=60,b=40", "--n", "30", "--json")
    even = json.loads(cli(*words).out)["plan"]
    known = json.loads(cli(*words, "--rates", "a=0.1,b=0.5").out)["plan"]
    parts = [s["size"] / 100 * s["half_width"] for s in known["strata"]]
    assert known["half_width"] == pytest.approx(hypot(*parts))
    assert known["half_width"] < even["half_width"]


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
        (("--n", "30", "--rates", "a=0.1"), "--rates is about strata, and none are given"),
        (("--n", "30", "--minimum", "2"), "--minimum is about strata"),
        (("--strata", "a=9,b=9", "--sds", "a=1,b=2"), "--sds decides a split by --allocation ney"),
        (("--yes", "0.3,0.3"), "--yes has a meaning with --kappa only"),
        (("--have", "3/9", "--rates", "a=1"), "--rates has a meaning with a draw (--n) only"),
        (("--kappa", "0.8", "--population", "90"), "--population has a meaning with a draw"),
        (("--have", "12/80", "--population", "50"), "80 labels of a population of 50"),
    ],
)
def test_mistakes_get_one_sentence(cli: Cli, words: tuple[str, ...], sentence: str) -> None:
    done = cli("plan", *words)
    assert done.code == 2
    assert sentence in done.sentence
