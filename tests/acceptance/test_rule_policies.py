"""A rule under another policy labels beside the rubric's rule: for comparison, never as a vote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelkit.catalog.rubrics import load_rubric
from labelkit.errors import InputError
from labelkit.rules.registry import classifier_names, under_policy
from labelkit.store import Store
from labelkit.store.raters import raters
from tests.acceptance.hand_labels import named, report_of
from tests.acceptance.inprocess import Cli, cli
from tests.acceptance.paper_rows import alarm_row, counts, kept, ruled
from tests.rules.hazard_rows import hazard_task, hazard_trace

__all__ = ["cli"]

EXACT = "hazard-recovery:policy=exact_string"


@pytest.fixture
def hazards(cli: Cli, tmp_path: Path) -> Cli:
    """Three runs: the expected text, the expected value in other words, another value."""
    assert cli("init").code == 0
    rows = [
        (
            hazard_task("42").model_copy(update={"id": str(n)}),
            hazard_trace(text, task_set="own", task_id=str(n)),
        )
        for n, text in enumerate(("42", "**42**", "41"))
    ]
    kept(tmp_path, rows).close()
    ruled(cli, "hazard-recovery")
    return cli


def test_both_policies_stand_side_by_side(hazards: Cli) -> None:
    before = report_of(hazards, "hazard-recovery")
    exact = ("judge", "--rubric", "hazard-recovery", "--policy", "policy=exact_string")
    done = hazards(*exact)
    assert done.code == 0, done.err
    report = report_of(hazards, "hazard-recovery")
    given = {rater["name"]: rater["label_counts"]["correct"] for rater in report["raters"]}
    assert given == {"hazard-recovery": 2, EXACT: 1}
    # The other policy casts no vote and agrees with nobody: all numbers are as they were.
    for part in ("rates", "measures", "contrasts", "agreement", "label_counts", "tie_broken"):
        assert report[part] == before[part]
    assert any(EXACT in remark and "casts no vote" in remark for remark in report["remarks"])
    alone = named(report_of(hazards, "hazard-recovery", "--rater", EXACT), "rates")
    assert counts(alone["ACC[Scored]"]) == (1, 3)
    assert counts(named(report, "rates")["ACC[Scored]"]) == (2, 3)
    # A second run owes nothing.
    again = hazards(*exact)
    assert again.code == 0
    assert report_of(hazards, "hazard-recovery")["raters"] == report["raters"]


def test_facts_are_those_of_the_rater_that_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    assert cli("init").code == 0
    kept(tmp_path, [alarm_row("a", "06:30"), alarm_row("b", "07:00")]).close()
    ruled(cli, "error-handling")
    words = ("--rubric", "error-handling", "--policy", "policy=paper_code")
    assert cli("judge", *words).code == 0
    name = "error-handling:policy=paper_code"
    ours = named(report_of(cli, "error-handling"), "rates")
    theirs = named(report_of(cli, "error-handling", "--rater", name), "rates")
    # A function without declared key parameters is matched by its name there: 07:00 passes too.
    assert counts(ours["API-ACC[Units]"]) == (1, 2)
    assert counts(theirs["API-ACC[Units]"]) == (2, 2)
    assert counts(ours["EXTRA-WRITE[Units]"]) == (1, 2)


def test_the_identity_holds_the_options(hazards: Cli, tmp_path: Path) -> None:
    words = ("--policy", "expansion_over=1.5", "--policy", "policy=exact_string")
    assert hazards("judge", "--rubric", "hazard-recovery", *words).code == 0
    # What the rubric says anyway is no change: the same rater, which owes nothing.
    assert hazards("judge", "--rubric", "hazard-recovery", "--policy", "policy=typed").code == 0
    with Store.open(f"sqlite:///{tmp_path / 'labelkit.db'}") as store:
        found = {rater.name: rater.spec for rater in raters(store)}
    assert set(found) == {
        "hazard-recovery",
        "hazard-recovery:expansion_over=1.5,policy=exact_string",
    }
    changed = found["hazard-recovery:expansion_over=1.5,policy=exact_string"]
    assert changed["changed"] == {"expansion_over": 1.5, "policy": "exact_string"}
    assert (changed["policy"], changed["expansion_over"]) == ("exact_string", 1.5)
    assert changed["abandoned_at_most"] == 0
    assert json.dumps(found["hazard-recovery"]).count("changed") == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--policy", "exact"), "is not NAME=VALUE"),
        (("--policy", "polcy=exact_string"), "is no option of the rule hazard-recovery"),
        (("--policy", "policy=exactly"), "choose one of: typed, exact_string"),
        (("--policy", "expansion_over=lots"), "expansion_over"),
        (("--policy", "policy=exact_string", "--judge", "j"), "runs it alone"),
    ],
)
def test_what_a_rule_does_not_know_is_refused(
    hazards: Cli, words: tuple[str, ...], said: str
) -> None:
    refused = hazards("judge", "--rubric", "hazard-recovery", *words)
    assert refused.code == 2
    assert said in refused.sentence
    assert len(report_of(hazards, "hazard-recovery")["raters"]) == 1


def test_every_rule_says_which_options_it_has() -> None:
    rubric = load_rubric("tool-failure")
    for name in classifier_names():
        with pytest.raises(InputError, match="no option of the rule"):
            under_policy(rubric.model_copy(update={"rule": name}), {"nonsense": 1})
    with pytest.raises(InputError, match="has no rule"):
        under_policy(rubric.model_copy(update={"rule": None}), {"policy": "x"})
    changed = under_policy(rubric, {"policy": "substring"})
    assert changed.rule_policy == {"args_policy": "lenient", "policy": "substring"}
