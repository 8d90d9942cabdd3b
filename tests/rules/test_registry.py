"""Classifiers are found by name, and an unknown name says what there is."""

from __future__ import annotations

import pytest

from labelkit.catalog.rubrics import rubric_names
from labelkit.domain.rubric import Rubric
from labelkit.errors import InputError
from labelkit.rules import tool_failure, tool_failure_substring
from labelkit.rules.registry import _ANSWERS, answered, classifier, classifier_names
from tests.rules.scheme_rubrics import load


def test_both_spellings_name_the_same_rule() -> None:
    assert classifier("tool-failure") is classifier("tool_failure") is tool_failure.classify
    assert classifier("tool_failure_substring") is tool_failure_substring.classify


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        classifier("tool_failing")
    assert "'tool_failing'" in str(caught.value)
    for name in classifier_names():
        assert name in str(caught.value)


FEASIBILITY = ("signal", "refusal", "success", "lenient_decision", "decision")


def test_a_rule_says_which_questions_of_the_rubric_it_answers() -> None:
    feasibility = load("feasibility")
    assert answered(feasibility) == FEASIBILITY
    assert answered(load("hazard-recovery")) == ("failure_mode", "outcome")
    assert answered(load("tool-failure")) == ("outcome",)
    assert answered(load("error-handling")) == ("api_calls",)
    assert answered(feasibility.model_copy(update={"rule": None})) == ()


def test_questions_with_other_labels_or_for_people_alone_are_left_out() -> None:
    """Somebody's own rubric may use a rule and mean something else by a name."""
    rubric = load("feasibility")

    def changed(**what: object) -> Rubric:
        signal, *rest = [q for q in rubric.questions if q.id in answered(rubric)]
        mine = signal.model_copy(update=what)
        return rubric.model_copy(update={"questions": (mine, *rest)})

    assert "signal" in answered(changed(text="Was it said?"))
    assert "signal" not in answered(changed(labels=rubric.question("way_out").labels))
    assert "signal" not in answered(changed(id="sign"))
    assert "signal" not in answered(changed(asked_of=("person",)))
    assert "signal" in answered(changed(asked_of=("rule",)))


def test_every_declared_label_is_one_of_the_rubric() -> None:
    """Else the question would silently go without the rule."""
    for name in rubric_names():
        rubric = load(name)
        declare = _ANSWERS.get(str(rubric.rule).replace("-", "_"))
        for question, labels in (declare(rubric) if declare else {}).items():
            assert set(labels) == {label.name for label in rubric.question(question).labels}
