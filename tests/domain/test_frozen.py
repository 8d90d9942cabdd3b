"""Domain values are what they say: immutable, strict, and addressed by their own content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from labelkit.digest import canonical_json, digest
from labelkit.domain.label import Label, Outcome, Rater
from labelkit.domain.message import Message
from labelkit.domain.rubric import LabelDefinition, Question, Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace, tags_of

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def trace(**fields) -> Trace:
    return Trace(
        model="m", messages=(Message(role="user", content="hi"),), state=RowState.OK, **fields
    )


def test_a_changed_copy_has_a_digest_of_its_own() -> None:
    # A digest that is computed once and kept must not travel into a changed copy.
    first = trace()
    assert first.digest
    assert first.model_copy(update={"model": "other"}).digest != first.digest
    assert first.model_copy().digest == first.digest


def test_where_a_trace_was_read_is_no_part_of_what_it_is() -> None:
    assert trace(source="a.jsonl:1").digest == trace(source="b.jsonl:9").digest


def test_equal_answers_of_two_repeats_stay_two_traces() -> None:
    assert trace(repeat=0).digest != trace(repeat=1).digest


def test_unknown_fields_and_changes_are_refused() -> None:
    with pytest.raises(ValidationError):
        Trace(model="m", messages=(), state="ok", modell="typo")
    with pytest.raises(ValidationError):
        trace().model = "other"


@given(json_values)
def test_canonical_json_is_always_utf8_without_nul(value) -> None:
    text = canonical_json(value)
    assert b"\x00" not in text.encode("utf-8")
    assert digest(value) == digest(value)


def test_digests_do_not_depend_on_key_order() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1}) != digest({"a": 1.5})


NOW = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "fields",
    [
        {"outcome": Outcome.LABELLED},
        {"outcome": Outcome.FAILED},
        {"outcome": Outcome.FAILED, "value": "x", "reason": "parse"},
        {"outcome": Outcome.ABSTAINED, "value": "x"},
    ],
)
def test_a_label_has_a_value_or_says_why_not(fields) -> None:
    with pytest.raises(ValidationError):
        Label(trace="t", rater="r", question="q", created_at=NOW, **fields)


def test_a_rater_is_its_spec() -> None:
    one = Rater(kind="judge", name="j", version="1", spec={"model": "a"})
    other = Rater(kind="judge", name="j", version="1", spec={"model": "b"})
    assert one.digest != other.digest


def test_labels_follow_the_subset() -> None:
    def label(name: str, *subsets: str) -> LabelDefinition:
        return LabelDefinition(name=name, title=name, key=name[0], include=name, subsets=subsets)

    question = Question(
        id="q", type="choice", text="?", labels=(label("a"), label("b", "x"), label("c", "y"))
    )
    assert question.labels_for("x") == ("a", "b")
    assert question.labels_for("y") == ("a", "c")
    assert question.labels_for(None) == ("a",)
    rubric = Rubric(
        name="r", version="1.0.0", title="t", source="s", subsets=("x", "y"), questions=(question,)
    )
    assert rubric.subset_of({"subset": "x"}) == "x"
    assert rubric.subset_of({"subset": "z"}) is None
    assert rubric.subset_of({}) is None


def test_a_traces_own_tags_win_over_its_tasks() -> None:
    task = Task(set="s", id="1", tags={"subset": "required", "domain": "air"})
    assert tags_of(trace(tags={"subset": "control"}), task) == {
        "subset": "control",
        "domain": "air",
    }
    assert tags_of(trace(tags={"a": 1}), None) == {"a": 1}


def test_a_field_that_is_added_later_leaves_digests_as_they_were():
    class Later(Task):
        reviewed: bool = False

    task = Task(set="s", id="1", tags={"domain": "law"})
    assert Later(**task.model_dump()).digest == task.digest
    assert Later(**task.model_dump(), reviewed=True).digest != task.digest
