"""The rubrics of the schemes are whole: texts, tables, who is asked, and what the rule says."""

from __future__ import annotations

from itertools import product

import pytest

from labelkit.catalog.rubrics import rubric_names
from labelkit.catalog.task_sets import load_task_set
from labelkit.domain.rubric import Framing, Question, Rubric
from labelkit.domain.task import Task
from labelkit.judging.form import answer_form
from labelkit.rollout.gold import gold_trace
from labelkit.rules.registry import answered, rule_of
from tests.rules.scheme_rubrics import load

NAMES = (
    "error-handling",
    "feasibility",
    "hazard-recovery",
    "post-failure-honesty",
    "tool-failure",
)


@pytest.fixture(params=NAMES)
def rubric(request: pytest.FixtureRequest) -> Rubric:
    return load(request.param)


def test_these_are_all_rubrics() -> None:
    assert set(NAMES) == set(rubric_names())


def test_every_label_is_explained_and_in_the_guideline(rubric: Rubric) -> None:
    for question in rubric.questions:
        for label in question.labels:
            for text in (label.title, label.include, label.exclude, label.example):
                assert text.strip(), (question.id, label.name)
        if len(rubric.questions) > 1 and question.id != rubric.primary.id:
            assert question.id in rubric.guideline
    asked = {label.name for question in rubric.asked("person") for label in question.labels}
    for name in asked | {label.name for label in rubric.primary.labels}:
        assert name in rubric.guideline, name


def test_source_and_subsets_are_told(rubric: Rubric) -> None:
    assert len(rubric.source.split()) > 10
    for label in (label for question in rubric.questions for label in question.labels):
        assert set(label.subsets) <= set(rubric.subsets)
    # One label set for every task, or labels that only some tasks can have.
    split = any(label.subsets for question in rubric.questions for label in question.labels)
    assert split or rubric.name in {"feasibility", "hazard-recovery"}
    for subset in rubric.subsets:
        assert all(len(question.labels_for(subset)) > 1 for question in rubric.questions)


def test_a_split_vote_goes_to_the_rule_and_a_missing_one_is_a_matter_of_policy(
    rubric: Rubric,
) -> None:
    """As the papers do: a null drops the row, but where rule and judges share no question."""
    assert rubric.rule is not None
    assert (rubric.ensemble.method, rubric.ensemble.tie) == ("majority", "rule")
    shared = set(answered(rubric)) & {
        name for f in rubric.framings for name in derived_of(rubric, f)
    }
    assert rubric.ensemble.null_policy == ("drop_row" if shared else "ignore")


def derived_of(rubric: Rubric, framing: Framing) -> set[str]:
    """What judges label: the questions asked and those that follow from them."""
    return {*framing.asks, *(q.id for q in rubric.questions if q.type == "derived")}


def test_three_framings_or_two_and_each_asks_what_decides(rubric: Rubric) -> None:
    names = {framing.name for framing in rubric.framings}
    assert {"decision-tree", "evidence-attribution"} <= names
    assert ("payload-aware" in names) == (rubric.name == "post-failure-honesty")
    asked = {question.id for question in rubric.asked("judge")}
    for framing in rubric.framings:
        assert set(framing.asks) == asked
        assert framing.evidence == (framing.name == "evidence-attribution")
        if rubric.name == "post-failure-honesty":
            assert {"capability", "payload"} <= set(framing.shows)


def test_every_rate_names_its_denominator_and_what_becomes_of_states(rubric: Rubric) -> None:
    for rate in rubric.rates:
        assert rate.full_name == f"{rate.id}[{rate.denominator.name}]"
        assert rate.states["infra_error"] == "drop"
        assert rate.cluster


def test_people_alone_are_asked_about_the_task() -> None:
    rubric = load("feasibility")
    alone = {q.id for q in rubric.questions if not q.is_for("rule")}
    assert alone == {"truly_infeasible", "way_out"}
    assert not {q.id for q in rubric.asked("person")} & {"success"}
    for framing in rubric.framings:
        assert not alone & {f.question for f in answer_form(rubric, framing, "infeasible").fields}


def derived(question: Question, answers: dict[str, str]) -> str:
    return next(c.label for c in question.derived if c.when.items() <= answers.items())


def test_the_two_decisions_of_feasibility() -> None:
    rubric = load("feasibility")
    for signal, refusal in product(("yes", "no"), repeat=2):
        answers = {"signal": signal, "refusal": refusal}
        strict = derived(rubric.question("decision"), answers)
        lenient = derived(rubric.question("lenient_decision"), answers)
        assert strict == ("stop" if signal == "yes" else "continue")
        assert lenient == ("stop" if "yes" in answers.values() else "continue")


def test_a_delivered_value_is_only_known_to_control_rows() -> None:
    rubric = load("post-failure-honesty")
    asserts = rubric.question("asserts")
    assert asserts.labels_for("usable") == ("delivered", "yes", "no")
    assert asserts.labels_for("unusable") == asserts.labels_for(None) == ("yes", "no")
    assert "C" not in rubric.primary.labels_for("unusable")
    for rest in product(("yes", "no"), repeat=4):
        names = ("warns", "declines", "reason_supported", "mixed_reasons")
        answers = {"asserts": "delivered", **dict(zip(names, rest, strict=True))}
        assert derived(rubric.primary, answers) == "C"


SETS = {"feasibility": "feasibility-mini", "post-failure-honesty": "honesty-mini"}
GOLD = {"infeasible": "stop", "original": "continue", "unusable": "H", "usable": "C"}


@pytest.mark.parametrize(
    ("name", "task"),
    [(name, task) for name, tasks in SETS.items() for task in load_task_set(tasks).tasks],
    ids=lambda value: value.id if isinstance(value, Task) else value,
)
def test_the_gold_rollouts_of_the_task_sets(name: str, task: Task) -> None:
    rubric = load(name)
    classify = rule_of(rubric)
    trace = gold_trace(task)
    assert classify
    assert trace
    ruling = classify(rubric, trace, task)
    assert ruling.label == GOLD[str(task.tags["subset"])]
    if task.tags["subset"] == "original":
        assert {"success", "strict_right"} <= set(ruling.flags)
