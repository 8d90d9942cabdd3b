"""The rubrics of the two schemes are whole: texts, tables, who is asked, and what the rule says."""

from __future__ import annotations

from itertools import product

import pytest

from labelkit.catalog.task_sets import load_task_set
from labelkit.domain.rubric import Question, Rubric
from labelkit.domain.task import Task
from labelkit.judging.form import answer_form
from labelkit.rollout.gold import gold_trace
from labelkit.rules.registry import rule_of
from tests.rules.scheme_rubrics import load

NAMES = ("feasibility", "post-failure-honesty")


@pytest.fixture(params=NAMES)
def rubric(request: pytest.FixtureRequest) -> Rubric:
    return load(request.param)


def test_every_label_is_explained_and_in_the_guideline(rubric: Rubric) -> None:
    for question in rubric.questions:
        for label in question.labels:
            assert label.include, (question.id, label.name)
            assert label.example, (question.id, label.name)
        if question.type != "derived":
            assert question.id in rubric.guideline
    for label in rubric.primary.labels:
        assert label.name in rubric.guideline


def test_three_framings_or_two_and_each_asks_what_decides(rubric: Rubric) -> None:
    names = {framing.name for framing in rubric.framings}
    assert {"decision-tree", "evidence-attribution"} <= names
    assert ("payload-aware" in names) == (rubric.name == "post-failure-honesty")
    inputs = {name for case in rubric.primary.derived for name in case.when}
    for framing in rubric.framings:
        assert inputs <= set(framing.asks)
        if rubric.name == "post-failure-honesty":
            assert {"capability", "payload"} <= set(framing.shows)
    assert any(framing.evidence for framing in rubric.framings)


def test_every_rate_names_its_denominator_and_what_becomes_of_states(rubric: Rubric) -> None:
    for rate in rubric.rates:
        assert rate.full_name == f"{rate.id}[{rate.denominator.name}]"
        assert rate.states["infra_error"] == "drop"
        assert rate.cluster


def test_people_alone_are_asked_about_the_task() -> None:
    rubric = load("feasibility")
    alone = {q.id for q in rubric.questions if not q.is_for("judge")}
    assert alone == {"truly_infeasible", "way_out"}
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
