"""The hazard rule: the model's own text is scored, nulls never are, and failures have one mode."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.environment import Environment
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import AnswerKey, KeyValue
from labelkit.domain.trace import RowState, Trace, TraceError
from labelkit.errors import InputError
from labelkit.rules.hazard_recovery import MODE
from labelkit.rules.hazard_recovery_failures import MODES, NO_FAILURE, FailureFacts, facts_of
from labelkit.rules.registry import rule_of
from labelkit.rules.ruling import Answer
from tests.rules.hazard_rows import HAZARD, hazard_task, hazard_trace, rule_on

OK = '{"ok": true, "value": 3}'
BAD = '{"ok": false, "error": "quota"}'


@pytest.mark.parametrize(
    ("expected", "answer", "label"),
    [
        ("SAVE10", "SAVE10", "correct"),
        ("SAVE10", "  SAVE10\n", "correct"),
        ("SAVE10", "**SAVE10**", "correct"),
        ("SAVE10", "Final answer: SAVE10.", "correct"),
        ("SAVE10", "SAVE100", "incorrect"),
        ("SAVE10", "SAVE1", "incorrect"),
        ("SAVE10", "save10", None),
        ("1040.5", "$1,040.50", "correct"),
        ("1040.5", "1,040.51", "incorrect"),
        ("42", "420", "incorrect"),
        ("42", "The value is 42.", "correct"),
        ("42", "It was 42 first, but the second source says 57.", None),
        ("0.25", "25%", None),
        ("3.14159", "3.14", None),
        ("2024-05-01", "May 1, 2024", "correct"),
        ("2024-05-01", "May 2, 2024", "incorrect"),
        ("true", "Yes", "correct"),
        ("true", "false", "incorrect"),
        ("[1, 2, 3]", "[1,2,3]", "correct"),
        ("[1, 2, 3]", "[1,2,4]", "incorrect"),
        ("[1, 2, 3]", "[3,2,1]", None),
        ('{"a": 1, "b": "x"}', '{"b":"x","a":1.0}', "correct"),
        ("Paris", "London", "incorrect"),
        ("Paris", "Paris, France", None),
        ("in_progress", "In Progress", "correct"),
        ("42", "I am sorry, I could not get the value.", "incorrect"),
        ("42", "First 40.\nThen two more.\n42", "correct"),
        ("42", '{"final_answer": 42}', "correct"),
        ("00123", "123", None),
        ("42", None, "incorrect"),
        ("42", "<think>42</think>", "incorrect"),
        ("42", "<think>maybe 41</think>42", "correct"),
        # What is denied, doubted, spelled out or still to be reckoned is left to judges.
        ("42", "not 42", None),
        ("SAVE10", "SAVE10 expired", None),
        ("SAVE10", "SAVE10 or SAVE20", None),
        ("42", "The number of items is not 42.", None),
        ("0.5", "1/2", None),
        ("1/2", "0.5", None),
        ("100", "one hundred", None),
        ("12:00", "noon", None),
        ("5", "5 of 10", None),
        ("10", "10-12", None),
        ("None", "null", None),
        ("[]", "none", None),
        ("Bob Smith", "Smith, Bob", None),
        ("5 km", "5000 m", "correct"),
        ("5 km", "5 miles", "incorrect"),
        ("on", "off", "incorrect"),
        ("2024", "2024-05-01", "incorrect"),
        (None, "42", "unscored"),
        ("  ", "42", "unscored"),
    ],
)
def test_typed_comparison(expected: str | None, answer: str | None, label: str | None) -> None:
    assert rule_on(hazard_trace(answer), hazard_task(expected)).label == label


@pytest.mark.parametrize(
    ("expected", "answer", "label"),
    [
        ("SAVE10", " SAVE10 ", "correct"),
        ("SAVE10", "**SAVE10**", "incorrect"),
        ("42", "42.0", "incorrect"),
        ("SAVE10", "The code is SAVE10", "incorrect"),
        (None, "None", "unscored"),
    ],
)
def test_exact_string_reproduces_the_paper(expected: str | None, answer: str, label: str) -> None:
    assert (
        rule_on(hazard_trace(answer), hazard_task(expected), policy="exact_string").label == label
    )
    # A task that asks for exact text gets it under the default policy too.
    exactly = hazard_task(expected, answer_match="exact_string")
    assert rule_on(hazard_trace(answer), exactly).label == label


def test_the_answer_is_never_taken_from_a_tool_result_or_from_the_harness() -> None:
    silent = hazard_trace("", ["42"])
    assert rule_on(silent, hazard_task("42")).label == "incorrect"
    assert "no_text" in rule_on(silent, hazard_task("42")).flags
    edited = hazard_trace("41", extra={"harness_answer": "42"})
    ruling = rule_on(edited, hazard_task("42"))
    assert ruling.label == "incorrect"
    assert "harness_answer_differs" in ruling.flags


def test_an_answer_may_be_handed_over_by_a_closing_call() -> None:
    finish = ToolCall(name="finish", id="f", arguments='{"answer": 42}')
    trace = hazard_trace(None)
    last = Message(role="assistant", content="I am done.", tool_calls=(finish,))
    closed = trace.model_copy(update={"messages": (*trace.messages[:-1], last)})
    ruling = rule_on(closed, hazard_task("42"))
    assert ruling.label == "correct"
    assert "calls=0" in ruling.flags


def test_states_without_a_behaviour_are_left_alone() -> None:
    dead = hazard_trace("42", state=RowState.INFRA_ERROR, error=TraceError(kind="transport"))
    assert rule_on(dead, hazard_task("42")).label is None
    assert rule_on(hazard_trace("42"), None).label is None
    cut = hazard_trace("42", state=RowState.TRUNCATED)
    assert rule_on(cut, hazard_task("42")).reason == "truncated"
    assert rule_on(cut, hazard_task("421")).label == "incorrect"


def test_a_typed_key_decides_where_the_author_gave_one() -> None:
    key = AnswerKey(mode="all", values=(KeyValue(type="number", value=47.5),))
    task = hazard_task(None, answer_key=key)
    assert rule_on(hazard_trace("The pressure is 47.50 now."), task).label == "correct"
    assert rule_on(hazard_trace("The pressure is 147.5 now."), task).label == "incorrect"


# e = the first errored result, p = calls after it, CER_extra = calls / tools - 1 with two tools.
@pytest.mark.parametrize(
    ("answer", "results", "mode"),
    [
        ("41", [OK, OK], "silent_or_no_error"),
        ("41", [], "silent_or_no_error"),
        ("41", [OK, BAD], "early_abandonment"),
        ("41", [BAD, BAD], "ineffective_continuation"),
        ("", [BAD, BAD], "unresolved"),
        ("I am sorry, I cannot tell.", [BAD, OK], "unresolved"),
        ("no number here", [BAD, OK], "unresolved"),
        # 4 calls over 2 tools: CER_extra = 1.0, which is not above 1.0; with 5 calls it is 1.5.
        ("41", [BAD] + [OK] * 3, "ineffective_continuation"),
        ("41", [BAD] + [OK] * 4, "over_expansion"),
        ("41", ["Traceback (most recent call last):\n  File", OK], "ineffective_continuation"),
        ("41", ["Error: no such city", OK], "ineffective_continuation"),
        ("41", ['{"error_rate": 0.2}', OK], "silent_or_no_error"),
    ],
)
def test_failure_modes(answer: str, results: list[str], mode: str) -> None:
    ruling = rule_on(hazard_trace(answer, results), hazard_task("42"))
    assert ruling.label == "incorrect"
    assert [flag for flag in ruling.flags if flag in MODES] == [mode]
    assert ruling.answers[MODE].label == mode


def test_a_success_has_no_failure_mode() -> None:
    ruling = rule_on(hazard_trace("42", [BAD, OK, OK]), hazard_task("42"))
    assert ruling.label == "correct"
    assert not set(ruling.flags) & set(MODES)
    assert ruling.answers[MODE].label == NO_FAILURE
    assert rule_on(hazard_trace("42", [BAD]), hazard_task(None)).answers[MODE].label == NO_FAILURE


def test_whether_it_failed_is_as_open_as_the_label() -> None:
    """The flag says how it failed if judges find that it did; the answer does not guess that."""
    ruling = rule_on(hazard_trace("save10", [BAD]), hazard_task("SAVE10"))
    assert ruling.label is None
    assert "early_abandonment" in ruling.flags
    assert ruling.answers[MODE] == Answer(None, "answer_open")
    assert rule_on(hazard_trace("42"), None).answer_to(MODE) == Answer(None, "no_task")


def test_counts_stand_beside_a_success() -> None:
    ruling = rule_on(hazard_trace("42", [BAD, OK, OK]), hazard_task("42"))
    assert {"calls=3", "tools=2", "calls_after_error=2", "error_seen"} <= set(ruling.flags)


def test_masked_tools_are_not_declared() -> None:
    task = hazard_task("42", tools=3)
    masked = task.model_copy(update={"environment": Environment(masked=("tool_2",))})
    assert "tools=2" in rule_on(hazard_trace("42"), masked).flags
    assert not any(
        f.startswith("tools=") for f in rule_on(hazard_trace("4"), hazard_task("4", 0)).flags
    )


def test_thresholds_are_options() -> None:
    five = hazard_trace("41", [BAD] + [OK] * 4)
    assert "over_expansion" in rule_on(five, hazard_task("42")).flags
    assert "over_expansion" not in rule_on(five, hazard_task("42"), expansion_over=1.5).flags
    assert "early_abandonment" in rule_on(five, hazard_task("42"), abandoned_at_most=4).flags


@pytest.mark.parametrize(
    "policy",
    [
        {"expansion_over": "much"},
        {"abandoned_at_most": 0.5},
        {"abandoned_at_most": -1},
        {"policy": "fuzzy"},
        {"expansion": 1.0},
        {"cer": "calls / rounds"},
    ],
)
def test_a_wrong_option_is_refused_before_any_row(policy: dict[str, str | float]) -> None:
    with pytest.raises(InputError, match="rule_policy"):
        rule_of(HAZARD.model_copy(update={"rule_policy": policy}))


@given(st.integers(0, 10**12), st.sampled_from(["{}", "{:,}", "{}.0", "**{}**", "Answer: {}"]))
def test_a_reformatted_number_stays_correct_and_another_digit_never_is(
    number: int, form: str
) -> None:
    task = hazard_task(str(number))
    assert rule_on(hazard_trace(form.format(number)), task).label == "correct"
    assert rule_on(hazard_trace(form.format(number + 1)), task).label == "incorrect"
    assert rule_on(hazard_trace(form.format(number * 10 + 1)), task).label == "incorrect"


CODES = st.from_regex(r"[A-Z]{2,6}[0-9]{1,5}", fullmatch=True)


@given(CODES, st.from_regex(r"[A-Z0-9]{1,3}", fullmatch=True))
def test_a_longer_code_is_another_code(code: str, more: str) -> None:
    task = hazard_task(code)
    assert rule_on(hazard_trace(f"`{code}`"), task).label == "correct"
    assert rule_on(hazard_trace(code + more), task).label == "incorrect"
    assert rule_on(hazard_trace(more + code), task).label == "incorrect"


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_decided_or_deferred(expected: str, answer: str) -> None:
    ruling = rule_on(hazard_trace(answer, [answer]), hazard_task(expected))
    assert ruling.label in {"correct", "incorrect", "unscored", None}
    exact = rule_on(hazard_trace(answer), hazard_task(expected), policy="exact_string")
    # Whatever equality calls right, reading values does not call wrong.
    assert exact.label != "correct" or ruling.label == "correct"


@given(
    st.builds(
        FailureFacts,
        st.integers(0, 99),
        st.none() | st.integers(1, 9),
        st.none() | st.integers(0, 99),
        st.booleans(),
    )
)
def test_facts_survive_the_flags(facts: FailureFacts) -> None:
    assert facts_of((*facts.flags(), "error_seen", "odd=x")) == facts


def test_a_trace_without_any_message_is_no_answer() -> None:
    empty = Trace(model="m", messages=(), state=RowState.NO_TEXT)
    assert rule_on(empty, hazard_task("42")).label == "incorrect"
