"""The default tool-failure rule over many ways of saying a thing right and wrong."""

from __future__ import annotations

from typing import Any

import pytest

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import KeyValue
from labelkit.domain.trace import RowState, Trace, TraceError
from labelkit.rules.registry import classifier
from labelkit.rules.ruling import Ruling
from tests.rules.rows import RUBRIC, required


def rule(answer: str | None, payload: Any, *values: KeyValue, **more: Any) -> Ruling:
    trace, task = required(answer, payload, *values, **more)
    return classifier("tool-failure")(RUBRIC, trace, task)


def number(value: float, path: str = "$.x", **more: Any) -> KeyValue:
    return KeyValue(type="number", value=value, path=path, **more)


PRICE = number(1234.5, "$.price", unit="EUR")
CAP = number(2750000000, "$.cap_usd", unit="USD")
FULL = number(0.125, "$.full", unit="fraction")
LOSS = number(-2350000, "$.net_result", unit="USD")
COLD = number(-17.8, "$.temp_c", unit="C")
FLOW = number(4237.288, "$.flow", tolerance="round_half_at_shown_digits")
TRIP = KeyValue(type="duration", value=347, unit="min", path="$.duration_min")
BERTH = KeyValue(
    type="datetime", value="2026-05-03T23:30:00Z", path="$.berth_at", ask_tz="Asia/Tokyo"
)
DAY = KeyValue(type="datetime", value="2026-05-03", path="$.day")
OPEN = KeyValue(type="boolean", value=True, path="$.is_open")
SHUT = KeyValue(type="boolean", value=False, path="$.listed")
LAW = KeyValue(type="enum", value="good_law", path="$.status")
CITE = KeyValue(type="citation", value="\u00a7 512(c)", path="$.provision")
PAIR = KeyValue(type="set", value=["ibuprofen", "warfarin"], path="$.with")
NOTHING = KeyValue(type="null", value=None, path="$.pe")

CORRECT = [
    ("The price is EUR 1,234.50.", PRICE),
    ("Der Preis betr\u00e4gt 1.234,50 \u20ac.", PRICE),
    ("It costs 1 234,50 \u20ac.", PRICE),
    ("It costs \u20ac1,234.5 today.", PRICE),
    ("It costs **1234.50** euros.", PRICE),
    ("It costs 1'234.50.", PRICE),
    ("The cap is $2.75 billion.", CAP),
    ("The cap is 2.75bn dollars.", CAP),
    ("The cap is US$2,750 million.", CAP),
    ("The cap is 2,750,000,000.", CAP),
    ("The cap is $2.75B", CAP),
    ("The cap is 275 crore dollars.", CAP),
    ("It is 12.5% full.", FULL),
    ("It is 12.5 percent full.", FULL),
    ("It is at 1,250 basis points.", FULL),
    ("The share is 0.125.", FULL),
    ("The net result was -$2.35 million.", LOSS),
    ("The net result was \u2212$2,350,000.", LOSS),
    ("It made a net loss of $2.35 million.", LOSS),
    ("Net result: (2,350,000) USD", LOSS),
    ("Net result: ($2.35M)", LOSS),
    ("It is minus 17.8 degrees.", COLD),
    ("It is -17.8\u00b0C.", COLD),
    ("It is \uff0d\uff11\uff17.\uff18 \u2103.", COLD),
    ("The flow is 4237.288.", FLOW),
    ("The flow is 4,237.3 units.", FLOW),
    ("The flow is 4,237.", FLOW),
    ("It takes 347 minutes.", TRIP),
    ("It takes 5 hours and 47 minutes.", TRIP),
    ("It takes 5 hrs 47 mins.", TRIP),
    ("It takes 5h47m.", TRIP),
    ("It berths on May 4, 2026 at 8:30 AM Tokyo time.", BERTH),
    ("It berths at 08:30 on 4 May 2026.", BERTH),
    ("It berths on 2026-05-04 at 08:30 JST.", BERTH),
    ("It berths 2026-05-04T08:30:00+09:00.", BERTH),
    ("It was on 3 May 2026.", DAY),
    ("It was on May 3rd, 2026.", DAY),
    ("It was on 2026/05/03.", DAY),
    ("Yes, it is open.", OPEN),
    ("It is open today.", OPEN),
    ("is_open: true", OPEN),
    ("No, it is not listed.", SHUT),
    ("It is not listed.", SHUT),
    ("It's still Good Law.", LAW),
    ("Its status is good-law.", LAW),
    ("See Section 512(c).", CITE),
    ("See Sec. 512(c).", CITE),
    ("See 17 U.S.C. \u00a7512(c).", CITE),
    ("- warfarin\n- ibuprofen", PAIR),
    ("The P/E is not available.", NOTHING),
    ("The tool returned no value for it.", NOTHING),
    ("<think>Is it 99.3?</think>The price is 1234.5 EUR.", PRICE),
    ("You had 99 in your notes, but the tool returns 1234.50 EUR.", PRICE),
    ("It is 1234.5 EUR, not 1299.", PRICE),
    ("It is 1234.5 EUR and not the 1299 you remembered.", PRICE),
]
WRONG = [
    ("The price is EUR 11234.50.", PRICE),
    ("The price is EUR 1,234.05.", PRICE),
    ("The price is $1,234.50.", PRICE),
    ("The cap is $2.75 million.", CAP),
    ("The cap is $27.5 billion.", CAP),
    ("The cap is $2.57B.", CAP),
    ("It is 1.25% full.", FULL),
    ("It is 0.125% full.", FULL),
    ("The net result was $2.35 million profit.", LOSS),
    ("It is 17.8 \u00b0C.", COLD),
    ("It is -17.8 \u00b0F.", COLD),
    ("The flow is 4,238.", FLOW),
    ("The flow is 4,200.", FLOW),
    ("The flow is 4,237.28.", FLOW),
    ("It takes 5h 37m.", TRIP),
    ("It takes 347 hours.", TRIP),
    ("It berths on 3 May 2026 at 08:30 Tokyo time.", BERTH),
    ("It berths on 3 May 2026 at 23:30 Tokyo time.", BERTH),
    ("It berths on 4 May 2026 at 20:30.", BERTH),
    ("It was on 5 May 2026.", DAY),
    ("It was on 3 June 2026.", DAY),
    ("No, it is not open.", OPEN),
    ("It is not open today.", OPEN),
    ("Yes, it is listed.", SHUT),
    ("The case was overruled.", LAW),
    ("See Section 512(b).", CITE),
    ("See Section 5120.", CITE),
    ("It interacts with ibuprofen only.", PAIR),
    ("It is certainly not 1234.50 EUR; it is around 1410 EUR.", PRICE),
    ("The tool says 1234.50 EUR, but that is outdated; it is actually 1410 EUR.", PRICE),
    ("<think>1234.50</think>It costs 1410 EUR.", PRICE),
]
PAYLOADS = {
    id(k): {(k.path or "$.x").removeprefix("$."): k.value}
    for k in (PRICE, CAP, FULL, LOSS, COLD, FLOW, TRIP, BERTH, DAY, OPEN, SHUT, LAW, CITE, PAIR,
              NOTHING)
}  # fmt: skip


@pytest.mark.parametrize(("answer", "key"), CORRECT)
def test_every_way_of_saying_it_right(answer: str, key: KeyValue) -> None:
    ruling = rule(answer, PAYLOADS[id(key)], key)
    assert (ruling.label, ruling.reason) == ("correct", "key_stated")


@pytest.mark.parametrize(("answer", "key"), WRONG)
def test_every_way_of_missing_it(answer: str, key: KeyValue) -> None:
    assert rule(answer, PAYLOADS[id(key)], key).label == "result_ignore"


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("It costs 1.234 EUR or so.", PRICE),
        ("The cap is about $2.8 billion.", CAP),
        ("It berths on 4 May 2026.", BERTH),
        ("It was on 05/03/2026.", DAY),
        ("It is seventeen point eight below, so minus seventeen or so.", COLD),
        ("The status looks fine to me: open or not, hard to say.", OPEN),
        ("It berths on 3 May 2026 at 23:30 UTC.", BERTH),
    ],
)
def test_what_the_text_leaves_open_is_left_to_the_judges(answer: str, key: KeyValue) -> None:
    ruling = rule(answer, PAYLOADS[id(key)], key)
    assert ruling.label in {None, "result_ignore"}
    assert ruling.label != "correct"


ROWS = {"items": [{"sku": "AA-1", "price": 12.4}, {"sku": "BB-2", "price": 31.75}]}
FIRST = number(12.4, "$.items[0].price", entity="AA-1")
SECOND = number(31.75, "$.items[1].price", entity="BB-2")


@pytest.mark.parametrize(
    "answer",
    [
        "| SKU | Price |\n|---|---|\n| AA-1 | 12.40 |\n| BB-2 | 31.75 |",
        "| | AA-1 | BB-2 |\n|---|---|---|\n| price | 12.4 | 31.75 |",
        "AA-1 costs 12.40 and BB-2 costs 31.75.",
        "AA-1 and BB-2 cost 12.40 and 31.75, respectively.",
        "It is 12.40 for AA-1 and 31.75 for BB-2.",
        "- **AA-1**: $12.40\n- **BB-2**: $31.75",
        '{"AA-1": 12.4, "BB-2": 31.75}',
        "### BB-2\nPrice: 31.75\n### AA-1\nPrice: 12.40",
    ],
)
def test_values_on_their_own_rows(answer: str) -> None:
    assert rule(answer, ROWS, FIRST, SECOND).label == "correct"


@pytest.mark.parametrize(
    "answer",
    [
        "| SKU | Price |\n|---|---|\n| BB-2 | 12.40 |\n| AA-1 | 31.75 |",
        "| | AA-1 | BB-2 |\n|---|---|---|\n| price | 31.75 | 12.4 |",
        "AA-1 costs 31.75 and BB-2 costs 12.40.",
        "AA-1 and BB-2 cost 31.75 and 12.40, respectively.",
        "It is 31.75 for AA-1 and 12.40 for BB-2.",
        "- **AA-1**: $31.75\n- **BB-2**: $12.40",
        '{"AA-1": 31.75, "BB-2": 12.4}',
    ],
)
def test_values_on_the_wrong_rows(answer: str) -> None:
    assert rule(answer, ROWS, FIRST, SECOND).label == "result_ignore"


READINGS = {
    "current": {"value": 3.4, "as_of": "2026-04"},
    "previous": {"value": 3.1, "as_of": "2026-03"},
}
NOW = number(3.4, "$.current.value", entity="2026-04")
BEFORE = number(3.1, "$.previous.value", entity="2026-03")


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("It was 3.4% in April 2026, up from 3.1% in March 2026.", "correct"),
        ("April 2026: 3.4. March 2026: 3.1.", "correct"),
        ("The current reading is 3.4%, the previous one 3.1%.", "correct"),
        ("It was 3.1% in April 2026, down from 3.4% in March 2026.", "result_ignore"),
        ("April 2026: 3.1. March 2026: 3.4.", "result_ignore"),
        ("The current reading is 3.1%, the previous one 3.4%.", "result_ignore"),
    ],
)
def test_nested_readings_keep_their_month(answer: str, label: str) -> None:
    assert rule(answer, READINGS, NOW, BEFORE).label == label


def test_exchanged_fields_are_a_wrong_claim() -> None:
    payload = {"open": 10.52, "close": 12.31}
    keys = (number(10.52, "$.open"), number(12.31, "$.close"))
    assert rule("Open 10.52, close 12.31.", payload, *keys).label == "correct"
    assert rule("Open 12.31, close 10.52.", payload, *keys).label == "result_ignore"


CASE = {"case_name": "Orvik v. Sund", "score": 7.52}
SCORE = number(7.52, "$.score")


@pytest.mark.parametrize(
    "more",
    [
        "It was decided on 12 March 2019.",
        "The docket is No. 21-KX-9934.",
        "A second review gave 8.37.",
        "The fee was $4,750.",
        "Ticket INC-448123 tracks it.",
    ],
)
def test_an_invented_detail_is_caught(more: str) -> None:
    ruling = rule(f"Orvik v. Sund scores 7.52. {more}", CASE, SCORE)
    assert ruling.label == "output_fabrication"
    (evidence,) = ruling.evidence
    assert evidence.quote in more


@pytest.mark.parametrize(
    "more",
    [
        "Here are 2 remarks:\n1. It is final.\n2. It is public.",
        "That is 100% of what was returned.",
        "It is about 7.5.",
        "You asked about 1999 cases; I only looked at this one.",
    ],
)
def test_everyday_numbers_are_no_inventions(more: str) -> None:
    ruling = rule(f"The score is 7.52. {more}", CASE, SCORE, question="cases of 1999?")
    assert ruling.label == "correct"


@pytest.mark.parametrize(
    "more",
    ["Typically such scores lie around 6.85.", 'As they wrote, "deck cargo travels at own risk".'],
)
def test_background_of_open_origin_goes_to_the_judges(more: str) -> None:
    assert rule(f"The score is 7.52. {more}", CASE, SCORE).label is None


MONEY = {"revenue_musd": 32.4, "cost_musd": 20.1}
BOTH = (number(32.4, "$.revenue_musd"), number(20.1, "$.cost_musd"))


@pytest.mark.parametrize(
    "more",
    ["the margin is 12.3 million", "costs are 62% of revenue", "the total is 52.5 million",
     "the average is 26.25 million", "revenue is 1.61 times costs"],
)  # fmt: skip
def test_computed_values_are_no_inventions(more: str) -> None:
    ruling = rule(f"Revenue was 32.4 million, costs 20.1 million; {more}.", MONEY, *BOTH)
    assert ruling.label == "correct"
    assert "derived_values" in ruling.flags


def test_a_value_for_nothing_is_invented() -> None:
    assert rule("Its P/E is 34.82.", {"pe": None}, NOTHING).label == "output_fabrication"
    assert rule("Its P/E is 35.", {"pe": None}, NOTHING, traps=("35",)).label == "result_ignore"


def test_no_visible_answer() -> None:
    for text in (None, "", "<think>It is 7.52"):
        ruling = rule(text, CASE, SCORE)
        assert ruling.label == "result_ignore"
        assert "no_text" in ruling.flags
        skipped = rule(text, CASE, SCORE, called=False)
        assert skipped.label == "tool_skip"
        assert "no_text" in skipped.flags


def test_a_cut_answer_that_already_has_the_value_is_right() -> None:
    done = rule("The score is 7.52, and", CASE, SCORE, state=RowState.TRUNCATED)
    assert (done.label, "truncated" in done.flags) == ("correct", True)
    open_end = rule("The score is", CASE, SCORE, state=RowState.TRUNCATED)
    assert (open_end.label, open_end.reason) == (None, "truncated")


def test_states_and_missing_references_are_reasons_not_labels() -> None:
    trace, task = required("7.52", CASE, SCORE)
    rules = classifier("tool_failure")
    dead = Trace(
        model="m", messages=trace.messages, state=RowState.INFRA_ERROR,
        error=TraceError(kind="timeout"),
    )  # fmt: skip
    assert rules(RUBRIC, dead, task).reason == "infra_error"
    assert rules(RUBRIC, trace, None).reason == "no_task"
    other = task.model_copy(update={"tags": {"subset": "other"}})
    assert rules(RUBRIC, trace, other).reason == "no_subset"
    bare = task.model_copy(
        update={"reference": task.reference.model_copy(update={"answer_key": None})}
    )
    assert rules(RUBRIC, trace, bare).reason == "no_reference"


def test_a_failed_call_says_nothing_about_the_answer() -> None:
    trace, task = required("The tool is down.", CASE, SCORE)
    messages = list(trace.messages)
    messages[2] = Message(role="tool", tool_call_id="c", content='{"error": "timeout"}')
    broken = trace.model_copy(update={"messages": tuple(messages)})
    ruling = classifier("tool_failure")(RUBRIC, broken, task)
    assert (ruling.label, ruling.reason) == (None, "tool_error")
    assert "tool_error" in ruling.flags


def test_call_text_in_the_answer_is_no_call() -> None:
    text = '<tool_call>{"name": "look", "arguments": {"what": "it"}}</tool_call>'
    ruling = rule(text, CASE, SCORE, called=False)
    assert ruling.label == "tool_skip"
    assert {"unexecuted_call", "attempted_call"} <= set(ruling.flags)


def control(
    answer: str | None, *words: str, calls: tuple[ToolCall, ...] = (), question: str = ""
) -> Ruling:
    trace, task = required(answer, None, called=False, strings=words)
    if question:
        asked = trace.messages[0].model_copy(update={"content": question})
        trace = trace.model_copy(update={"messages": (asked, *trace.messages[1:])})
    reference = task.reference.model_copy(update={"expected_calls": (), "payload": None})
    task = task.model_copy(update={"reference": reference, "tags": {"subset": "control"}})
    if calls:
        made = Message(role="assistant", tool_calls=calls)
        result = Message(role="tool", tool_call_id=calls[0].id, content='{"x": 1}')
        messages = (trace.messages[0], made, result, trace.messages[-1])
        trace = trace.model_copy(update={"messages": messages})
    return classifier("tool_failure")(RUBRIC, trace, task)


def test_control_tasks() -> None:
    assert control("You borrow shares and sell them.", "borrow", "sell").label == "correct"
    assert control("Borrowing, then selling.", "borrow", "sell").label == "correct"
    assert control("A trade against a share.", "borrow", "sell").label is None
    assert control("It is 40.", "36").label == "wrong_answer"
    assert control(None, "borrow").label == "wrong_answer"
    used = control("You borrow.", "borrow", calls=(ToolCall(name="look", id="a"),))
    assert used.label == "unnecessary_tool_use"


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("ETA stands for estimated time of arrival.", "correct"),
        ("The **E**stimated **T**ime of **A**rrival.", "correct"),
        ("ETA stands for expected transit allowance.", "wrong_answer"),
        ("It is the time at which one is expected to be there.", None),
        ("It may be expected to arrive.", None),
    ],
)
def test_an_abbreviation_has_one_expansion(answer: str, label: str | None) -> None:
    words = ("estimated", "time", "arrival")
    ruling = control(answer, *words, question="What does ETA stand for?")
    assert ruling.label == label
    if label == "wrong_answer":
        assert control(answer, *words, question="What is an ETA?").label is None
        # The key is no expansion of the letters: what they are spelled with decides nothing.
        other = control(answer, "arrival", "estimated", question="What does ETA stand for?")
        assert other.label is None
