"""The answer schema and its words: closed, strict, verdict after reasons, the same for all rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.rubric import Framing, Question
from labelkit.judging.form import answer_form, fold
from labelkit.judging.prompt import answer_format, answer_schema
from labelkit.judging.verdict import NullVerdict, Verdict, read_verdict
from tests.fake_server.samples import sample
from tests.judging.samples import GRADED, PAYLOAD_AWARE, PLAIN, RUBRIC, TERSE, TREE, label

FRAMINGS = (TREE, PLAIN, TERSE, PAYLOAD_AWARE, GRADED)


def objects(schema: Any) -> list[dict[str, Any]]:
    found = [schema] if schema.get("type") == "object" else []
    for inner in [*schema.get("properties", {}).values(), schema.get("items", {})]:
        found.extend(objects(inner) if inner else [])
    return found


@pytest.mark.parametrize("framing", FRAMINGS, ids=lambda f: f.name)
def test_schemas_are_strict_at_every_level(framing: Framing) -> None:
    schema = answer_schema(RUBRIC, framing, "required")
    for one in objects(schema):
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])


def test_reasons_come_before_the_verdict_and_confidence_last() -> None:
    schema = answer_schema(RUBRIC, TREE, "required")
    assert list(schema["properties"]) == ["rationale", "evidence", "outcome", "confidence"]
    assert schema["properties"]["rationale"]["maxLength"] == TREE.rationale_chars
    assert list(answer_schema(RUBRIC, TERSE, "required")["properties"]) == ["outcome", "confidence"]


def test_only_the_labels_of_the_subset_can_be_answered() -> None:
    def labels(subset: str | None) -> list[str]:
        found = answer_schema(RUBRIC, PLAIN, subset)["properties"]["outcome"]["enum"]
        assert isinstance(found, list)
        return found

    assert labels("required") == ["correct", "tool_skip", "result_ignore"]
    assert labels("control") == ["correct", "wrong_answer"]
    assert labels(None) == []  # one label is no choice


@pytest.mark.parametrize("framing", FRAMINGS, ids=lambda f: f.name)
@pytest.mark.parametrize("subset", ["required", "control"])
def test_what_the_schema_allows_the_parser_reads(framing: Framing, subset: str) -> None:
    form = answer_form(RUBRIC, framing, subset)
    found = read_verdict(json.dumps(sample(form.schema)), "stop", form=form)
    assert isinstance(found, Verdict)
    assert list(found.answers) == list(framing.asks)


def test_the_format_names_every_field_and_the_labels_of_each_subset() -> None:
    words = answer_format(RUBRIC, TREE)
    for field in ("rationale", "evidence", "outcome", "confidence"):
        assert f"- {field}: " in words
    assert 'for subset control: one of "correct", "wrong_answer"' in words
    assert "for subset" not in answer_format(RUBRIC, PAYLOAD_AWARE)


def test_the_shape_shown_in_the_prompt_is_no_verdict_when_copied() -> None:
    shape = answer_format(RUBRIC, TREE).rpartition("Shape: ")[2]
    found = read_verdict(shape, "stop", form=answer_form(RUBRIC, TREE, "required"))
    assert isinstance(found, NullVerdict)


def test_a_question_named_like_a_field_of_the_form_is_kept_apart() -> None:
    question = Question(id="confidence", type="choice", text="?", labels=(label("a"), label("b")))
    rubric = RUBRIC.model_copy(update={"questions": (question,)})
    form = answer_form(rubric, PLAIN.model_copy(update={"asks": ("confidence",)}), None)
    found = read_verdict('{"answer_confidence": "b", "confidence": "low"}', "stop", form=form)
    assert isinstance(found, Verdict)
    assert (found.answers, found.confidence) == ({"confidence": "b"}, "low")


def test_labels_that_fold_alike_match_only_exactly() -> None:
    question = Question(id="q", type="choice", text="?", labels=(label("a_b"), label("A b")))
    rubric = RUBRIC.model_copy(update={"questions": (question,)})
    form = answer_form(rubric, PLAIN.model_copy(update={"asks": ("q",)}), None)

    def read(value: str) -> str | None:
        found = read_verdict(f'{{"q": "{value}"}}', "stop", form=form)
        return found.answers["q"] if isinstance(found, Verdict) else None

    assert (read("a_b"), read("A b"), read("a-b")) == ("a_b", "A b", None)


@given(st.text())
def test_folding_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)
