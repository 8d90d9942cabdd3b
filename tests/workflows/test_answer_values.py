"""The values of an answer lead to the places they come from, or say that there are none."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.trace import RowState, Trace
from labelkit.workflows.answer_values import SourceText, TracedValue, trace_values
from labelkit.workflows.one_trace import parts_of, trace_view

ROWS = json.dumps({"rows": [{"id": "ORD-5263", "amount": 1212.25}, {"id": "ORD-1", "amount": 7.5}]})
SOURCES = (
    SourceText("result:0", "tool_result", ROWS),
    SourceText("question", "question", "What about ORD-5263 in March 2024?"),
)


def only(answer: str, *sources: SourceText) -> TracedValue:
    (value,) = trace_values(answer, sources or SOURCES)
    return value


def quoted(value: TracedValue) -> list[str]:
    texts = {source.part: source.text for source in SOURCES}
    return [texts[place.part][place.start : place.end] for place in value.places]


def test_a_number_is_found_in_the_payload_in_another_format() -> None:
    answer = "It costs $1,212.25, all told."
    value = only(answer)
    assert answer[value.start : value.end] == value.text == "$1,212.25"
    assert (value.source, value.path) == ("tool_result", "$.rows[0].amount")
    assert quoted(value) == ["1212.25"]


def test_an_identifier_is_found_in_the_result_and_in_the_question() -> None:
    value = only("Order ORD-5263 is there.")
    assert value.source == "tool_result"
    assert [place.part for place in value.places] == ["result:0", "question"]


def test_a_value_from_nowhere_has_no_place_and_says_how_much_that_means() -> None:
    invented = only("The fee is 88.41 EUR.")
    assert (invented.source, invented.strength, invented.places) == ("nowhere", "strong", ())
    everyday = only("There are 3 ways.")
    assert (everyday.source, everyday.strength) == ("nowhere", "weak")


def test_a_sum_of_given_values_is_derived() -> None:
    value = only("Together 1219.75.")  # 1212.25 + 7.5
    assert value.source == "derived"
    assert value.how


def test_a_piece_of_a_longer_number_is_no_place() -> None:
    long = SourceText("result:0", "tool_result", "id 912.25 and 12.251 and 12.25")
    value = only("It is 12.25.", long)
    assert [(p.start, p.end) for p in value.places] == [(25, 30)]


def test_a_rounded_value_leads_to_its_leaf() -> None:
    source = SourceText("result:0", "tool_result", '{"other": 1, "share": 0.83124}')
    value = only("The share is 0.831.", source)
    (place,) = value.places
    assert source.text[place.start : place.end] == "0.83124"


def test_offsets_count_characters_beyond_the_basic_plane() -> None:
    answer = "\U0001f600\U0001f600 total\u00a01,212.25"
    value = only(answer)
    assert answer[value.start : value.end] == "1,212.25"


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_read(answer: str, source: str) -> None:
    for value in trace_values(answer, [SourceText("result:0", "tool_result", source)]):
        assert answer[value.start : value.end] == value.text
        for place in value.places:
            assert 0 <= place.start < place.end <= len(source)


def test_a_number_of_a_million_digits_costs_nothing() -> None:
    assert trace_values("1e999999 and " + "9" * 5000, SOURCES) is not None


def test_a_view_names_its_parts_and_traces_its_answer() -> None:
    trace = Trace(
        model="m",
        state=RowState.OK,
        messages=(
            Message(role="user", content="What does ORD-5263 cost?"),
            Message(
                role="assistant",
                content="I look.",
                reasoning="hm",
                tool_calls=(ToolCall(name="find", arguments='{"id": "ORD-5263"}', id="a"),),
            ),
            Message(role="tool", content=ROWS, tool_call_id="a"),
            Message(role="assistant", content="It costs 1212.25."),
        ),
    )
    view = trace_view(trace, None)
    assert parts_of(view) == {
        "question": "What does ORD-5263 cost?",
        "answer": "It costs 1212.25.",
        "reasoning:1": "hm",
        "message:1": "I look.",
        "call:0": '{"id": "ORD-5263"}',
        "result:0": ROWS,
    }
    (value,) = view.values
    assert [place.part for place in value.places] == ["result:0"]
