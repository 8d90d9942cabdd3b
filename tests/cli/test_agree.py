"""``labelkit agree`` on files and on a store, up to the published values of real tables."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.label import Label, Outcome, Rater
from labelkit.domain.message import Message
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace
from labelkit.store import Store
from labelkit.store.labels import commit_labels
from labelkit.store.raters import add_rater, add_rubric
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces
from labelkit.workflows.report import agree
from tests.acceptance.conftest import RUBRIC, TEMPLATE
from tests.acceptance.inprocess import Cli, cli
from tests.store.values import START

__all__ = ["cli"]

Answer = Callable[..., dict[str, Any]]

SMALL = """\
item,ann,ben,cleo
q1,correct,correct,correct
q2,tool_skip,tool_skip,correct
q3,correct,correct,correct
q4,result_ignore,result_ignore,result_ignore
q5,correct,tool_skip,tool_skip
q6,correct,correct,NA
q7,tool_skip,tool_skip,tool_skip
q8,result_ignore,correct,result_ignore
"""


@pytest.fixture
def answer(cli: Cli) -> Answer:
    """The JSON of ``labelkit agree``, strict: no NaN, no noise."""

    def ask(*words: str) -> dict[str, Any]:
        done = cli("agree", *words, "--json")
        assert done.code == 0, done.err
        found: dict[str, Any] = json.loads(done.out, parse_constant=pytest.fail)
        return found

    return ask


def test_missing_adds_to_the_usual_texts(answer: Answer, tmp_path: Path) -> None:
    rows = [(1, "x", "x"), (2, "y", "y"), (3, "x", "y"), (4, "-", "x"), (5, "", "y"), (6, "NA", "")]
    wide = save(tmp_path / "wide.csv", ("item", "a", "b"), rows)
    found = answer(wide, "--missing", "-")
    assert found["source"]["missing"] == {"-": 1, "": 2, "NA": 1}
    (group,) = found["groups"]
    kappa = {one["name"]: one for one in group["coefficients"]}["cohen_kappa"]
    # Three items with both ratings: po 2/3; a x 2/3, b x 1/3: pe 4/9; kappa 2/5.
    assert kappa["value"] == pytest.approx(0.4)
    assert kappa["n_items"] == 3


def test_marks_that_spoil_an_order_are_named_with_their_cure(cli: Cli, tmp_path: Path) -> None:
    rows = [(1, 1, 2), (2, "-", 3), (3, 3, 3), (4, 2, 1)]
    wide = save(tmp_path / "wide.csv", ("item", "a", "b"), rows)
    told = cli("agree", wide, "--level", "ordinal")
    assert told.code == 2
    assert "if '-' means no rating, add --missing=-" in told.err
    mended = cli("agree", wide, "--level", "ordinal", "--missing=-")
    assert mended.code == 0
    assert cli("agree", wide, "--level", "ordinal", "--missing", "-").out == mended.out
    words = save(tmp_path / "words.csv", ("item", "a", "b"), [(1, "bad", "good"), (2, "bad", "ok")])
    assert "--missing" not in cli("agree", words, "--level", "ordinal").err


def save(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path.name


def values(group: dict[str, Any]) -> dict[str, float]:
    return {c["name"]: c["value"] for c in group["coefficients"]}


def test_a_small_table_on_a_terminal(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "small.csv").write_text(SMALL, encoding="utf-8")
    done = cli("agree", "small.csv")
    assert done.code == 0
    assert "8 items, 3 raters, 23 ratings, 3 labels" in done.out
    assert "missing ratings: 1 ('NA' 1)" in done.out
    assert "Fleiss' kappa is moderate; with 95% probability it is at least fair" in done.out
    # ann and ben differ on q5 and q8 of 8 items. Shares: ann 4, 2, 2; ben 4, 3, 1 of 8, so
    # pe = (16 + 6 + 2) / 64 = 3/8 and kappa = (6/8 - 3/8) / (5/8) = 0.6.
    assert re.search(r"ann - ben\W+0\.6000", done.out)
    # result_ignore: q4 by all three (3 ratings, each met by both others), q8 by two of three
    # (2 ratings, each met by one of two others): (3 + 2 * 1/2) / 5.
    assert re.search(r"result_ignore\W+20\.8%\W+5\W+80\.0%", done.out)
    assert "only labels that occur" in done.out.lower()
    assert "fewer than 20 items" in " ".join(done.out.split())


def test_json_has_everything_and_says_why_not(answer: Answer, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("item,a,b\n1,x,x\n2,x,x\n", encoding="utf-8")
    found = answer("one.csv")
    (group,) = found["groups"]
    kappa = next(c for c in group["coefficients"] if c["name"] == "cohen_kappa")
    assert kappa["value"] is None
    assert kappa["undefined"]["value"]["reason"] == "no_variation"
    assert kappa["observed"] == 1.0
    assert "only 'x' occurs" in group["remark"]
    assert {"se", "interval", "n_items", "n_raters", "n_pairs"} <= set(kappa)
    assert found["source"]["layout"] == "wide"
    assert found["scale"] == {"level": None, "weights": None, "confidence": 0.95, "scores": None}
    used = found["groups"][0]["scale"]
    assert (used["level"], used["weights"], used["why"]) == ("nominal", "identity", "")


def test_high_agreement_with_low_kappa_is_explained_in_one_line(
    cli: Cli, answer: Answer, tmp_path: Path
) -> None:
    # 94 of 100 items alike, but of 8 items that anyone called "yes" only 2.
    rows = [("no", "no")] * 92 + [("yes", "yes")] * 2 + [("yes", "no")] * 3 + [("no", "yes")] * 3
    name = save(tmp_path / "r.csv", ("item", "a", "b"), [(k, *r) for k, r in enumerate(rows)])
    pe = (95 * 95 + 5 * 5) / 100**2
    kappa = (0.94 - pe) / (1 - pe)
    (group,) = answer(name)["groups"]
    assert values(group)["cohen_kappa"] == pytest.approx(kappa)
    remark = f"agree on 94% of pairs but kappa is {kappa:.2f}: 95% of ratings are 'no'"
    assert remark in group["remark"]
    assert remark in " ".join(cli("agree", name).out.split())
    bands = {b["coefficient"]: b for b in group["benchmarks"]}
    assert bands["cohen_kappa"]["landis_koch"] == "fair"
    assert not bands["cohen_kappa"]["borrowed"]
    assert bands["gwet_ac"]["borrowed"]
    assert group["two_by_two"]["prevalence_index"] == pytest.approx((92 - 2) / 100)


def test_confidence_is_that_of_every_interval(cli: Cli, answer: Answer, tmp_path: Path) -> None:
    (tmp_path / "small.csv").write_text(SMALL, encoding="utf-8")
    usual, lower = (
        answer("small.csv", "--level", "nominal", *more)["groups"][0]
        for more in ((), ("--confidence", "0.8"))
    )
    for one, other in zip(usual["coefficients"], lower["coefficients"], strict=True):
        if one["interval"]:
            assert other["interval"]["level"] == 0.8
            assert other["interval"]["low"] > one["interval"]["low"]
    assert lower["pairs"][0]["result"]["interval"]["level"] == 0.8
    assert "80% CI" in cli("agree", "small.csv", "--confidence", "0.8").out


def test_votes_in_the_reply_and_in_a_file(cli: Cli, answer: Answer, tmp_path: Path) -> None:
    (tmp_path / "small.csv").write_text(SMALL, encoding="utf-8")
    votes = {v["item"]: v for v in answer("small.csv", "--votes")["votes"]}
    assert votes["q2"]["majority"] == "tool_skip"
    assert votes["q2"]["share"] == pytest.approx(2 / 3)
    assert votes["q6"]["n_votes"] == 2
    done = cli("agree", "small.csv", "--votes", "out.csv")
    assert done.code == 0
    assert "Votes: 8 majority." in done.out
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["item"]: row for row in csv.DictReader(file)}
    assert {k: r["majority"] for k, r in rows.items()} == {
        k: v["majority"] for k, v in votes.items()
    }
    assert {row["tied"] for row in rows.values()} == {""}
    assert rows["q2"]["share"] == repr(2 / 3)
    (tmp_path / "tie.csv").write_text("item,a,b\n1,x,y\n2,y,y\n", encoding="utf-8")
    assert cli("agree", "tie.csv", "--votes", "tie_votes.csv").code == 0
    line = (tmp_path / "tie_votes.csv").read_text(encoding="utf-8").splitlines()[1]
    assert line.startswith(",1,,tie,x|y,2,0.5,")
    refused = cli("agree", "small.csv", "--votes", "small.csv")
    assert refused.code == 2
    assert "holds the ratings" in refused.sentence
    assert (tmp_path / "small.csv").read_text(encoding="utf-8") == SMALL


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "needs a table of ratings, for example `labelkit agree ratings.csv"),
        (("small.csv", "--scores", "1,2"), "2 scores for 0 labels"),
        (("small.csv", "--labels", "a,b", "--scores", "1,x"), "'1,x' are not numbers"),
        (("small.csv", "--rubric", "tool-failure"), "not both"),
        (("gone.csv",), "there is no file gone.csv"),
        (("small.csv", "--item", "id"), "no column 'id'"),
        (("small.csv", "--labels", "correct,tool_skip"),
         "item 'q4', rater 'ann': label 'result_ignore' is not among the declared labels"),
        (("small.csv", "--numeric"), "item 'q1', rater 'ann': label 'correct' is no number"),
        (("small.csv", "--level", "ordinal"), "declare them in scale order with --labels"),
        (("small.csv", "--level", "odd"), "'odd' is not one of"),
        (("small.csv", "--weights", "odd"), "'odd' is not one of"),
        (("small.csv", "--delimiter", "ab"), "a delimiter is one character"),
        (("small.csv", "--confidence", "2"), "not in the range"),
        (("small.csv", "--labels", "a,a"), "label 'a' is declared twice"),
        (("twice.csv",), "item 'q1', rater 'ann': rated 2 times ('yes' and 'no')"),
        (("small.csv", "--votes", "no/such/place.csv"), "cannot be written"),
        (("--rubric", "tool-failure", "--votes"), "--votes belongs to a file"),
        (("--rubric", "tool-failure", "--item", "x"), "--item belongs to a file"),
        (("--rubric", "tool-failure"), "run `labelkit init` there first"),
    ],
)  # fmt: skip
def test_mistakes_get_one_sentence(
    cli: Cli, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    (tmp_path / "small.csv").write_text(SMALL, encoding="utf-8")
    twice = "item,rater,label\nq1,ann,yes\nq1,ben,yes\nq1,ann,no\n"
    (tmp_path / "twice.csv").write_text(twice, encoding="utf-8")
    done = cli("agree", *words)
    assert done.code == 2
    assert sentence in done.sentence


def test_declared_scores_make_near_labels_agree_in_part(
    cli: Cli, answer: Answer, tmp_path: Path
) -> None:
    rows = [("q1", "bad", "bad"), ("q2", "fair", "good"), ("q3", "bad", "good")]
    name = save(tmp_path / "s.csv", ("item", "ann", "ben"), rows)
    words = (name, "--labels", "bad,fair,good", "--scores", "0,1,4")
    (group,) = answer(*words)["groups"]
    used = group["scale"]
    assert (used["level"], used["weights"], used["scores"]) == ("interval", "quadratic", [0, 1, 4])
    # Quadratic weights of scores 0, 1, 4: 1 - (d / 4)^2, so 1, 7/16 and 0 on the three items.
    assert values(group)["percent_agreement"] == pytest.approx((1 + 7 / 16 + 0) / 3)
    # Alpha on the scores: observed (0 + 9 + 16) / 3; expected over all pairs of 0 0 1 4 0 4.
    scores = [0, 0, 1, 4, 0, 4]
    apart = [(a - b) ** 2 for k, a in enumerate(scores) for b in scores[k + 1 :]]
    alpha = 1 - (25 / 3) / (sum(apart) / len(apart))
    assert values(group)["krippendorff_alpha_interval"] == pytest.approx(alpha)
    shown = cli("agree", *words).out
    assert "Because labels have scores" in shown
    (plain,) = answer(*words, "--weights", "identity", "--level", "nominal")["groups"]
    assert values(plain)["percent_agreement"] == pytest.approx(1 / 3)
    assert plain["scale"]["why"] == ""


def test_a_rater_who_shares_no_item_is_named(cli: Cli, tmp_path: Path) -> None:
    rows = [("q1", "a", "a", ""), ("q2", "a", "b", ""), ("q3", "", "", "b")]
    name = save(tmp_path / "alone.csv", ("item", "ann", "ben", "cleo"), rows)
    assert "shares no item with any other rater: cleo" in cli("agree", name).out


HOSTILE = "\x00\ud800 \u202e\x1b[31m[red]=cmd()[/red] {{ 7*7 }}"


def test_hostile_names_and_labels_are_printed_and_written(
    cli: Cli, answer: Answer, tmp_path: Path
) -> None:
    rows = [
        {"item": HOSTILE, HOSTILE: HOSTILE, "b": "x", "set": HOSTILE},
        {"item": "q2", HOSTILE: "x", "b": "x", "set": "s"},
    ]
    (tmp_path / "h.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    shown = cli("agree", "h.jsonl", "--by", "set", "--votes", "out.csv")
    assert shown.code == 0, shown.err
    assert "\x1b" not in shown.out
    assert "[red]=cmd()[/red]" in shown.out
    (tmp_path / "out.csv").read_text(encoding="utf-8")
    found = answer("h.jsonl", "--by", "set", "--votes")
    assert found["votes"][0]["item"] == HOSTILE
    assert HOSTILE in found["groups"][0]["labels"]
    refused = cli("agree", "h.jsonl", "--raters", f"{HOSTILE},b", "--labels", "x")
    assert refused.code == 2
    assert "[red]" in refused.sentence


# --- a rubric's raters -------------------------------------------------------------------------

VOTES = {  # item: model, rule, judge one, judge two; None is a failed label
    0: ("big", "polite", "polite", "polite"),
    1: ("big", "rude", "rude", "polite"),
    2: ("big", "polite", "polite", "polite"),
    3: ("small", "rude", "rude", "rude"),
    4: ("small", "polite", "rude", "rude"),
    5: ("small", "polite", None, "polite"),
}


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """A folder with a rubric and the labels of three raters on six traces of two models."""
    return store_of(tmp_path, RUBRIC, VOTES)


@pytest.fixture
def ordinal(tmp_path: Path) -> Path:
    """The same with two raters and an ordinal question of three labels."""
    steps = """\
    labels:
      - {name: rude, title: Rude, key: r, include: It is rude.}
      - {name: plain, title: Plain, key: l, include: It is neither.}
      - {name: polite, title: Polite, key: p, include: It is polite.}
"""
    text = re.sub(r"    labels:\n(      .*\n)+", steps, RUBRIC).replace(
        "type: choice", "type: ordinal"
    )
    votes = {
        0: ("big", "rude", "rude"),
        1: ("big", "polite", "polite"),
        2: ("big", "plain", "polite"),
        3: ("big", "rude", "polite"),
    }
    return store_of(tmp_path, text, votes)


def store_of(tmp_path: Path, text: str, votes: dict[int, tuple[str | None, ...]]) -> Path:
    rubric = tmp_path / "politeness"
    rubric.mkdir()
    (rubric / "rubric.yaml").write_text(text, encoding="utf-8")
    (rubric / "plain.md").write_text(TEMPLATE, encoding="utf-8")
    (rubric / "guideline.md").write_text("Read the answer. Choose.\n", encoding="utf-8")
    (tmp_path / "labelkit.yaml").write_text("store: sqlite:///labelkit.db\n", encoding="utf-8")
    loaded = load_rubric(rubric)
    spec = {"rubric_digest": loaded.digest}
    raters = [Rater(kind="rule", name="rule", version="1", spec=spec)]
    raters += [Rater(kind="judge", name=n, version="1", spec=spec) for n in ("one", "two")][
        : len(votes[0]) - 2
    ]
    traces = [
        Trace(
            model=model,
            messages=(Message(role="assistant", content=f"answer {k}"),),
            state=RowState.OK,
            task_set="demo",
            task_id=f"t{k}",
        )
        for k, (model, *_) in votes.items()
    ]
    labels = [
        Label(
            trace=trace.digest,
            rater=rater.digest,
            question="tone",
            outcome=Outcome.FAILED if value is None else Outcome.LABELLED,
            value=value,
            reason="parse" if value is None else None,
            created_at=START,
        )
        for trace, (_, *said) in zip(traces, votes.values(), strict=True)
        for rater, value in zip(raters, said, strict=True)
    ]
    with Store.open(f"sqlite:///{tmp_path / 'labelkit.db'}", create=True) as store:
        add_tasks(store, [Task(set="demo", id=f"t{k}") for k in votes])
        add_traces(store, traces)
        add_rubric(store, loaded)
        for rater in raters:
            add_rater(store, rater)
        commit_labels(store, labels)
    return rubric


def test_raters_of_a_rubric(cli: Cli, answer: Answer, labelled: Path) -> None:
    found = answer("--rubric", "politeness", "--by", "model")
    every, big, small = found["groups"]
    assert [g["group"] for g in (every, big, small)] == ["all", "model=big", "model=small"]
    assert {g["question"] for g in found["groups"]} == {"tone"}
    assert (every["n_items"], every["n_ratings"], big["n_items"]) == (6, 17, 3)
    pairs = {(p["first"], p["second"]): p["result"] for p in every["pairs"]}
    assert set(pairs) == {("rule", "one"), ("rule", "two"), ("one", "two")}
    # Rule and judge one share items 0-4 and differ on 4: rude 2 of 5 and 3 of 5.
    pe = (2 / 5) * (3 / 5) + (3 / 5) * (2 / 5)
    assert pairs["rule", "one"]["value"] == pytest.approx((0.8 - pe) / (1 - pe))
    # Rule and one: alike on all three traces of big; on one of the two of small they share.
    raw = [g["pairs"][0]["result"]["observed"] for g in (big, small)]
    assert raw == [1.0, 0.5]
    assert found["source"]["missing"] == {"tone": {"failed": 1}}
    with Store.open(f"sqlite:///{labelled.parent / 'labelkit.db'}") as store:
        (same,) = agree(store, load_rubric(labelled))
    assert [c["value"] for c in every["coefficients"]] == [
        pytest.approx(c.value) if isinstance(c.value, float) else None for c in same.coefficients
    ]
    shown = cli("agree", "--rubric", "politeness", "--by", "model", "--question", "tone")
    assert shown.code == 0
    assert "model=small" in shown.out


def test_an_ordinal_question_is_compared_by_ranks(cli: Cli, answer: Answer, ordinal: Path) -> None:
    (group,) = answer("--rubric", "politeness")["groups"]
    used = group["scale"]
    assert (used["level"], used["weights"]) == ("ordinal", "ordinal")
    # Ordinal weights of three labels (Gwet): 1 for equal, 2/3 for neighbours, 0 for the ends.
    assert values(group)["percent_agreement"] == pytest.approx((1 + 1 + 2 / 3 + 0) / 4)
    assert "krippendorff_alpha_ordinal" in values(group)
    shown = cli("agree", "--rubric", "politeness").out
    assert "Because the question is ordinal" in shown
    assert "Gwet's AC2" in shown
    (plain,) = answer("--rubric", "politeness", "--weights", "identity", "--level", "nominal")[
        "groups"
    ]
    assert values(plain)["percent_agreement"] == pytest.approx(2 / 4)


def test_unknown_questions_and_tags_of_a_rubric(cli: Cli, labelled: Path) -> None:
    assert (
        "choose one of: tone" in cli("agree", "--rubric", "politeness", "--question", "x").sentence
    )
    assert "no trace has a tag 'x'" in cli("agree", "--rubric", "politeness", "--by", "x").sentence


# --- published values of real tables -----------------------------------------------------------


@pytest.fixture
def real(shared: Path) -> Path:
    return shared / "real"


def test_pandalm(real: Path, answer: Answer, tmp_path: Path) -> None:
    data = json.loads((real / "pandalm" / "testset-v1.json").read_text(encoding="utf-8"))
    people = ("annotator1", "annotator2", "annotator3")
    name = save(
        tmp_path / "p.csv", ("idx", *people), [[r["idx"], *(r[p] for p in people)] for r in data]
    )
    found = answer(name, "--votes", "--labels", "0,1,2")
    (group,) = found["groups"]
    kappas = [round(p["result"]["value"], 4) for p in group["pairs"]]
    assert kappas == [0.8520, 0.8789, 0.8617]
    of = values(group)
    assert of["fleiss_kappa"] == pytest.approx(0.864175, abs=5e-7)
    assert of["krippendorff_alpha"] == pytest.approx(0.864221, abs=5e-7)
    # Handed over as 0.886447, with a digit lost: tests/golden/test_real_tables.py derives it.
    assert of["gwet_ac"] == pytest.approx(0.8864447, abs=5e-8)
    assert of["unanimous_agreement"] == pytest.approx(879 / 999)
    majority = [v["majority"] for v in found["votes"]]
    assert [majority.count(label) for label in (0, 1, 2)] == [105, 422, 472]
    # The same ratings, JSON as published and long.
    people_of = ",".join(people)
    (tmp_path / "p.json").write_text(json.dumps(data), encoding="utf-8")
    (same,) = answer("p.json", "--item", "idx", "--raters", people_of, "--labels", "0,1,2")[
        "groups"
    ]
    assert values(same) == of
    rows = [(r["idx"], p, r[p]) for p in people for r in data]
    long = save(tmp_path / "long.csv", ("item", "annotator", "label"), rows)
    (same,) = answer(long, "--labels", "0,1,2")["groups"]
    assert values(same) == pytest.approx(of)


def test_recipe_scales_as_questions(real: Path, answer: Answer, tmp_path: Path) -> None:
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
    # Raters are anonymous there; alpha does not ask who they are.
    rows = [
        (scale, number, f"r{slot}", score)
        for number, instance in enumerate(data["instances"])
        for scale in published
        for slot, score in enumerate(instance["annotations"][scale]["individual_human_scores"])
    ]
    header = ("question", "item", "rater", "label")
    name = save(tmp_path / "all.csv", header, rows)
    words = ("--question", "question", "--labels", "1,2,3,4,5,6", "--level")
    found = answer(name, *words, "ordinal")
    of = {g["question"]: values(g)["krippendorff_alpha_ordinal"] for g in found["groups"]}
    assert of == pytest.approx({scale: both[0] for scale, both in published.items()}, abs=5e-5)
    # 88 raters make 3,828 pairs; one scale is enough for the other level.
    name = save(tmp_path / "one.csv", header, [row for row in rows if row[0] == "fluency"])
    (group,) = answer(name, *words, "interval")["groups"]
    interval = published["fluency"][1]
    assert values(group)["krippendorff_alpha_interval"] == pytest.approx(interval, abs=5e-5)


def test_rte(real: Path, cli: Cli, answer: Answer) -> None:
    path = real / "crowd_rte" / "rte.standardized.csv"
    words = (str(path), "--item", "orig_id", "--rater", "!amt_worker_ids", "--label", "response")
    found = answer(*words, "--votes", "--labels", "0,1")
    (group,) = found["groups"]
    of = values(group)
    assert (group["n_items"], group["n_raters"], group["n_ratings"]) == (800, 164, 8000)
    assert of["fleiss_kappa"] == pytest.approx(0.24138, abs=5e-6)
    assert of["krippendorff_alpha"] == pytest.approx(0.24148, abs=5e-6)
    assert of["gwet_ac"] == pytest.approx(0.27273, abs=5e-6)
    with path.open(encoding="utf-8", newline="") as file:
        gold = {row["orig_id"]: int(row["gold"]) for row in csv.DictReader(file)}
    votes = {v["item"]: v for v in found["votes"]}
    assert set(votes) == set(gold)
    right = sum(votes[item]["majority"] == label for item, label in gold.items())
    ties = sum(v["outcome"] == "tie" for v in votes.values())
    assert ties == 65
    # Snow et al. (2008) print 89.7%; ties count half.
    assert (right + ties / 2) / 800 == pytest.approx(0.89687, abs=6e-6)
    model = sum(votes[item]["dawid_skene"] == label for item, label in gold.items())
    assert model / 800 == 0.9275


def reference(real: Path, name: str) -> tuple[list[str], list[list[str]]]:
    with (real / "reference_tables" / name).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def test_krippendorff_2011(real: Path, answer: Answer) -> None:
    path = str(real / "reference_tables" / "krippendorff2011_12x4_missing.csv")
    nominal = values(answer(path, "--labels", "1,2,3,4,5")["groups"][0])
    assert nominal["krippendorff_alpha"] == pytest.approx(0.74342, abs=6e-6)
    assert nominal["gwet_ac"] == pytest.approx(0.775444, abs=5e-7)
    for level, alpha in (("ordinal", 0.81539), ("interval", 0.84911), ("ratio", 0.7974)):
        found = answer(path, "--level", level)
        assert found["source"]["n_missing"] == 7
        of = values(found["groups"][0])
        assert of[f"krippendorff_alpha_{level}"] == pytest.approx(alpha, abs=6e-6)


def test_fleiss_tables(real: Path, answer: Answer, tmp_path: Path) -> None:
    path = str(real / "reference_tables" / "fleiss1971_diagnoses_30x6.csv")
    assert values(answer(path)["groups"][0])["fleiss_kappa"] == pytest.approx(0.430245, abs=5e-7)
    _, rows = reference(real, "fleiss_wikipedia_counts_10x5.csv")
    raters = [f"r{k}" for k in range(14)]
    wide = [
        [item, *(label for label, times in enumerate(counts, 1) for _ in range(int(times)))]
        for item, *counts in rows
    ]
    name = save(tmp_path / "w.csv", ("subject", *raters), wide)
    assert values(answer(name)["groups"][0])["fleiss_kappa"] == pytest.approx(0.209931, abs=5e-7)


def test_sas_table(real: Path, answer: Answer, tmp_path: Path) -> None:
    _, rows = reference(real, "sas_table_3x3.csv")
    pairs = [
        (first, second)
        for first, (_, *cells) in enumerate(rows, 1)
        for second, times in enumerate(cells, 1)
        for _ in range(int(times))
    ]
    items = [(k, *pair) for k, pair in enumerate(pairs)]
    name = save(tmp_path / "s.csv", ("item", "r1", "r2"), items)
    published = {"identity": 0.4842, "linear": 0.4701, "quadratic": 0.4502}
    for weights, kappa in published.items():
        (group,) = answer(name, "--labels", "1,2,3", "--weights", weights)["groups"]
        found = next(c for c in group["coefficients"] if c["name"] == "cohen_kappa")
        assert found["value"] == pytest.approx(kappa, abs=5e-5)
        if weights == "identity":
            assert found["se"] == pytest.approx(0.1380, abs=5e-5)
            assert found["interval"]["low"] == pytest.approx(0.2137, abs=5e-5)
            assert found["interval"]["high"] == pytest.approx(0.7547, abs=5e-5)
