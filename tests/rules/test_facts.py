"""The rule without code: every fact is counted by hand in the test."""

from __future__ import annotations

import json

import pytest

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.rubric import FactRange, LabelDefinition, Question, Rubric, RuleCase
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace
from labelkit.errors import InputError
from labelkit.rules.facts import classify, count_facts
from labelkit.rules.registry import rule_of


def call(name: str, **arguments: object) -> Message:
    stated = ToolCall(name=name, arguments=json.dumps(arguments), id=f"{name}-{arguments}")
    return Message(role="assistant", tool_calls=(stated,))


def returned(text: str) -> Message:
    return Message(role="tool", content=text)


def trace(*messages: Message, **tags: object) -> Trace:
    return Trace(model="m", messages=messages, state=RowState.OK, tags=tags)


def rubric(*cases: RuleCase) -> Rubric:
    labels = tuple(
        LabelDefinition(name=name, title=name, key=name[0], include=name)
        for name in ("booked", "looked", "handed_over")
    )
    return Rubric(
        name="run-ending",
        version="1.0.0",
        title="How a run ended",
        source="here",
        questions=(Question(id="ending", type="choice", text="How?", labels=labels),),
        rule="facts",
        rule_table=cases,
    )


RUN = trace(
    Message(role="user", content="a seat please"),
    call("search", to="SEA"),
    returned("Error: no such airport"),
    call("search", to="SEA"),
    returned(""),
    call("book", seat=3),
    returned('{"ok": true}'),
    Message(role="assistant", content="Done."),
    reward=1.0,
    checked=True,
)


def test_facts_are_counted() -> None:
    facts = count_facts(RUN, RUN.tags)
    assert facts["calls"] == 3
    assert facts["calls:search"] == 2
    assert facts["calls:book"] == 1
    assert facts["errors"] == 1
    assert facts["empty_results"] == 1
    assert facts["repeated_calls"] == 1
    assert facts["user_turns"] == 1
    assert facts["assistant_turns"] == 4
    assert facts["answer_chars"] == len("Done.")
    assert facts["last_call"] == "book"
    assert facts["tag:reward"] == 1.0


def test_the_first_row_that_matches_wins() -> None:
    table = rubric(
        RuleCase(when={"calls:transfer": FactRange(min=1)}, label="handed_over"),
        RuleCase(when={"calls:book": FactRange(min=1)}, label="booked"),
        RuleCase(label="looked"),
    )
    ruling = classify(table, RUN, None)
    assert ruling.label == "booked"
    assert ruling.flags == ("fact:calls:book",)
    assert classify(table, trace(Message(role="user", content="hi")), None).label == "looked"


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (FactRange(min=3), True),
        (FactRange(min=4), False),
        (FactRange(max=3), True),
        (FactRange(max=2), False),
        (FactRange(min=3, max=3), True),
        ((3,), True),
        ((2, 4), False),
        (("3",), False),
        ((True,), False),
    ],
)
def test_ranges_and_lists(condition: object, holds: bool) -> None:
    table = rubric(RuleCase(when={"calls": condition}, label="looked"))
    assert classify(table, RUN, None).label == ("looked" if holds else None)


def test_a_table_without_a_matching_row_abstains_with_a_reason() -> None:
    ruling = classify(
        rubric(RuleCase(when={"calls": FactRange(min=99)}, label="looked")), RUN, None
    )
    assert ruling.label is None
    assert ruling.reason


def test_a_row_may_abstain_on_purpose() -> None:
    table = rubric(RuleCase(when={"errors": FactRange(min=1)}), RuleCase(label="looked"))
    assert classify(table, RUN, None).label is None


def test_a_fact_that_nobody_counts_is_refused_with_a_guess() -> None:
    table = rubric(RuleCase(when={"erors": FactRange(max=0)}, label="looked"))
    with pytest.raises(InputError, match="did you mean 'errors'"):
        rule_of(table)
    known = rubric(
        RuleCase(when={"calls:anything": FactRange(min=1), "tag:x": (1,)}, label="looked")
    )
    assert rule_of(known) is classify


def test_tags_of_the_task_count_and_an_absent_tag_matches_nothing() -> None:
    task = Task(set="s", id="1", tags={"domain": "air"})
    by_domain = rubric(RuleCase(when={"tag:domain": ("air",)}, label="looked"))
    assert classify(by_domain, RUN, task).label == "looked"
    assert classify(by_domain, RUN, None).label is None
    absent = rubric(RuleCase(when={"tag:nothing": FactRange(max=5)}, label="looked"))
    assert classify(absent, RUN, None).label is None


def test_a_flag_is_not_a_number() -> None:
    by_flag = rubric(RuleCase(when={"tag:checked": FactRange(min=1)}, label="looked"))
    assert classify(by_flag, RUN, None).label is None
