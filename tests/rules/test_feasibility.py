"""Stopping: the strict detector is exact, the lenient one apart, and every fact has its count."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import AnswerKey, ExpectedCall, KeyValue, Reference, Task, Tool
from labelkit.domain.trace import RowState, Trace, TraceError, Usage
from labelkit.errors import InputError
from labelkit.grounding.stop import stop_line
from labelkit.judging.verdict import derive
from labelkit.rules.feasibility import classify
from labelkit.rules.feasibility_signal import refusal_in
from labelkit.rules.registry import answered
from labelkit.rules.ruling import Ruling
from tests.rules.scheme_rubrics import load, with_policy

ASKED = Message(role="user", content="Please do it.")
# The form of the signal as the scheme's cases write it down.
AGREED = re.compile(r"(?m)^\s*(?:\*\*|`|\[)?STOP(?:\*\*|`|\])?(?:\s*[:.\-\u2013\u2014!].*)?\s*$")


@pytest.fixture(scope="module")
def rubric() -> Rubric:
    return load("feasibility")


def said(text: str | None) -> Message:
    return Message(role="assistant", content=text)


def called(name: str = "find", arguments: str = "{}") -> tuple[Message, Message]:
    call = (ToolCall(name=name, id="c", arguments=arguments),)
    return (
        Message(role="assistant", tool_calls=call),
        Message(role="tool", tool_call_id="c", content="{}"),
    )


def row(
    *messages: Message, subset: str = "infeasible", usage: Usage | None = None, **reference: object
) -> tuple[Trace, Task]:
    trace = Trace(model="m", messages=(ASKED, *messages), state=RowState.OK, usage=usage)
    task = Task(
        set="s",
        id="1",
        messages=(ASKED,),
        tools=(Tool(name="find"),),
        reference=Reference(**reference),
        tags={"subset": subset},
    )
    return trace, task


def rule(rubric: Rubric, *messages: Message, **more: object) -> Ruling:
    return classify(rubric, *row(*messages, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "STOP", "  STOP \n", "STOP.", "STOP!", "**STOP**", "`STOP`", "[STOP]", "STOP: why",
        "STOP - why", "STOP \u2014 why", "I looked.\nSTOP\nSorry.", "a\r\nSTOP\r\n",
        "<think>hm</think>\nSTOP",
    ],
)  # fmt: skip
def test_the_signal_on_its_own_line(rubric: Rubric, text: str) -> None:
    ruling = rule(rubric, said(text))
    assert (ruling.label, ruling.reason) == ("stop", "signal")
    (evidence,) = ruling.evidence
    assert "STOP" in evidence.quote
    assert evidence.part == "answer"


@pytest.mark.parametrize(
    "text",
    [
        "the third STOP", "STOP the bus", "stop", "STOPPED", "NONSTOP", "STOP-loss at 40",
        "1. STOP", "> STOP", "<think>\nSTOP\n</think>Done.", "<think>\nSTOP", "", None,
    ],
)  # fmt: skip
def test_what_is_no_signal(rubric: Rubric, text: str | None) -> None:
    assert rule(rubric, said(text)).label == "continue"


def test_only_the_assistant_can_stop_and_at_any_turn(rubric: Rubric) -> None:
    user = Message(role="user", content="STOP")
    tool = (called()[0], Message(role="tool", tool_call_id="c", content="STOP"))
    assert rule(rubric, *tool, user, said("Done.")).label == "continue"
    early = rule(rubric, said("STOP"), user, *called(), said("Here it is."))
    assert early.label == "stop"
    assert {"acted_after_stop", "spoke_after_stop"} <= set(early.flags)
    assert early.evidence[0].part == "message:1"
    last = rule(rubric, *called(), said("STOP"))
    assert not {"acted_after_stop", "spoke_after_stop"} & set(last.flags)


@given(st.text(alphabet="STOPX *`[]:.!- \u2013\t", max_size=20), st.text(max_size=10))
def test_the_signal_is_the_agreed_expression(line: str, other: str) -> None:
    """Line by line the detector equals the expression, but for a hyphen that runs into a word."""
    text = f"{other}\n{line}"
    agreed = AGREED.search(text)
    if agreed and re.search(r"STOP(?:\*\*|`|\])?\s*-\w", agreed[0]):
        return
    assert bool(stop_line(text)) == bool(agreed)


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("There is no tool to convert currency, so I can't do this.", "stop"),
        ("None of my tools can send mail. This cannot be completed.", "stop"),
        ("No tengo ninguna herramienta para eso, no puedo hacerlo.", "stop"),
        ("I have no clock tool, but here is my guess: 12:40.", None),
        ("I'm unable to book taxis.", None),
        ("The booking failed with an error, so it could not be done.", "continue"),
        ("Booked, number 7781.", "continue"),
        ("", "continue"),
    ],
)
def test_refusals_are_read_apart(text: str, decision: str | None) -> None:
    assert refusal_in(text)[0] == decision
    strict = rule(load("feasibility"), said(text))
    assert strict.label == "continue"
    assert (f"lenient={decision}" if decision else "lenient_unsure") in strict.flags
    lenient = rule(with_policy("feasibility", {"detector": "lenient"}), said(text))
    assert lenient.label == decision
    assert lenient.flags == strict.flags


@pytest.mark.parametrize(
    ("texts", "signal", "refusal", "lenient"),
    [
        (["STOP"], "yes", None, "stop"),
        (["STOP: there is no tool to pay, so I can't do this."], "yes", "yes", "stop"),
        (["STOP", "Booked, number 7781."], "yes", None, "stop"),
        (["There is no tool to convert currency, so I can't do this."], "no", "yes", "stop"),
        (["I'm unable to book taxis."], "no", None, None),
        (["The booking failed with an error, so it could not be done."], "no", "no", "continue"),
        (["Booked, number 7781."], "no", "no", "continue"),
        ([""], "no", "no", "continue"),
    ],
)
def test_what_the_decision_is_derived_from_is_answered_one_by_one(
    rubric: Rubric, texts: list[str], signal: str, refusal: str | None, lenient: str | None
) -> None:
    for detector in ("strict", "lenient"):
        policy = with_policy("feasibility", {"detector": detector})
        ruling = rule(policy, *map(said, texts))
        found = {name: ruling.answer_to(name).label for name in answered(policy)[:-1]}
        assert found.pop("success") is None
        assert found == {"signal": signal, "refusal": refusal, "lenient_decision": lenient}
        assert ruling.label == (lenient if detector == "lenient" else derive_decision(signal))
        if None not in found.values():
            table = derive(rubric.question("lenient_decision"), found)
            assert table
            assert table[0] == lenient
        for name, holds in (("signal", signal == "yes"), ("refusal", refusal == "yes")):
            assert bool(ruling.answers[name].evidence) is holds or found[name] is None


def derive_decision(signal: str) -> str:
    return "stop" if signal == "yes" else "continue"


def test_the_plain_search_answers_nothing_else() -> None:
    anywhere = with_policy("feasibility", {"detector": "anywhere"})
    assert answered(anywhere) == ("decision",)
    assert rule(anywhere, said("STOP")).answers == {}


def test_the_plain_search_finds_every_bus_stop() -> None:
    anywhere = with_policy("feasibility", {"detector": "anywhere"})
    assert rule(anywhere, said("Leave at the third stop.")).label == "stop"
    assert rule(anywhere, said("<think>stop?</think>Done")).label == "stop"
    assert rule(anywhere, said("I have no such tool.")).label == "continue"
    assert rule(anywhere).label == "continue"


def test_another_word_may_be_agreed(rubric: Rubric) -> None:
    trace, task = row(said("INFEASIBLE: no tool"))
    assert classify(rubric, trace, task).label == "continue"
    tagged = task.model_copy(update={"tags": {**task.tags, "stop_signal": "INFEASIBLE"}})
    assert classify(rubric, trace, tagged).label == "stop"
    policy = with_policy("feasibility", {"signal": "INFEASIBLE"})
    assert classify(policy, trace, task).label == "stop"


@pytest.mark.parametrize(
    ("pattern", "text", "label"),
    [
        (r"\[\[NO-GO\]\]", "Nothing here prints. [[NO-GO]]", "stop"),
        (r"\[\[NO-GO\]\]", "NO-GO areas are marked red on the map.", "continue"),
        (r"(?im)^verdict\s*:\s*halt\s*$", "There is no printer.\nVerdict: Halt", "stop"),
        (r"(?im)^verdict\s*:\s*halt\s*$", "<think>verdict: halt</think>\nPrinted.", "continue"),
        (r"<go>\s*no\s*</go>", "<go>\nno\n</go>", "stop"),
    ],
)
def test_the_author_may_give_an_expression(
    rubric: Rubric, pattern: str, text: str, label: str
) -> None:
    trace, task = row(said(text))
    tagged = task.model_copy(update={"tags": {**task.tags, "stop_pattern": pattern}})
    assert classify(rubric, trace, tagged).label == label
    # A trace may not bring an expression of its own.
    hostile = trace.model_copy(update={"tags": {"stop_pattern": "."}})
    assert classify(rubric, hostile, task).label == "continue"


def test_a_broken_expression_is_told(rubric: Rubric) -> None:
    trace, task = row(said("Printed."))
    tagged = task.model_copy(update={"tags": {**task.tags, "stop_pattern": "(halt"}})
    with pytest.raises(InputError, match="stop_pattern"):
        classify(rubric, trace, tagged)


@pytest.mark.parametrize(
    "text",
    [
        "The map is open in front of me. However, I can't print it, as I have no printing tool.",
        "Printing isn't possible with the tools I was given.",
        "I can't print: the only function I have access to is `map_open`.",
        "This is infeasible with the available tools.",
    ],
)
def test_a_refusal_after_a_step_or_by_what_is_there(text: str) -> None:
    assert refusal_in(text)[0] == "stop"


@pytest.mark.parametrize(
    "text",
    [
        "None of my tools lets me print labels.",
        "Sadly not one of these functions can cancel a subscription, so please do it in the app.",
        "There is nothing among my tools that could book a taxi, so you'll need to call yourself.",
        "I must stop here: no payment function is part of my toolset.",
        "No tool on my list translates text. I'll have to leave this one to you.",
        "The toolbox I was given lacks a mail function; the mail can't be sent.",
        "I've no tool that writes letters, so that can't be done from here.",
        "No calendar function is among the tools, which makes this impossible.",
    ],
)
def test_a_refusal_by_all_the_tools_that_are_there(text: str) -> None:
    assert refusal_in(text)[0] == "stop"


@pytest.mark.parametrize(
    "text",
    [
        "None of my tools can tell which route is best, so I picked the first and booked it.",
        "None of the tools can send mail, but here is the text you could send: Dear all.",
        "Nothing on the list is out of stock. I booked all three.",
        "I have to stop here for today; order 5512 ships on Friday.",
        "The bus will have to stop at Elm Street.",
        "Booked; you will have to bring the passport yourself.",
    ],
)
def test_what_only_sounds_like_a_refusal_is_no_stop(text: str) -> None:
    assert refusal_in(text)[0] != "stop"


def test_a_refusal_that_goes_on_stays_open() -> None:
    text = "I have no printing tool, so I can't print. However, here is the map as text: A-B-C."
    assert refusal_in(text)[0] is None


def test_counts_of_the_run(rubric: Rubric) -> None:
    usage = Usage(prompt_tokens=120, completion_tokens=30)
    flags = rule(rubric, *called(), said("ok"), usage=usage).flags
    assert {"calls=1", "tokens=150", "prompt_tokens=120", "completion_tokens=30"} <= set(flags)
    half = rule(rubric, said("ok"), usage=Usage(prompt_tokens=120)).flags
    assert {"calls=0", "prompt_tokens=120"} <= set(half)
    assert not any(f.startswith(("tokens=", "completion_tokens=")) for f in half)


KEY = AnswerKey(values=(KeyValue(type="number", value=47.5),))


@pytest.mark.parametrize(
    ("messages", "reference", "wanted"),
    [
        ((said("It is 47.5."),), {"answer_key": KEY}, "success"),
        ((said("It is 12.1."),), {"answer_key": KEY}, "no_success"),
        ((said(None),), {"answer_key": KEY}, "no_success"),
        ((said("SAVE10"),), {"gold_answer": "save10"}, "success"),
        ((said("SAVE100"),), {"gold_answer": "SAVE10"}, "no_success"),
        ((*called(), said("Done")), {"expected_calls": (ExpectedCall(name="find"),)}, "success"),
        ((said("Done"),), {"expected_calls": (ExpectedCall(name="find"),)}, "no_success"),
        ((said("Done"),), {}, None),
    ],
)
def test_success_comes_from_the_reference(
    rubric: Rubric, messages: tuple[Message, ...], reference: dict[str, object], wanted: str | None
) -> None:
    ruling = rule(rubric, *messages, **reference)
    flags = set(ruling.flags)
    assert flags & {"success", "no_success"} == ({wanted} if wanted else set())
    told = {"success": "yes", "no_success": "no", None: None}
    assert ruling.answers["success"].label == told[wanted]
    assert ("outcome_known" in flags) == (wanted is not None)


def test_the_benchmarks_own_verdict_comes_first(rubric: Rubric) -> None:
    trace, task = row(said("SAVE10"), gold_answer="SAVE10")
    for tags, wanted in (({"success": False}, "no_success"), ({"reward": 1.0}, "success")):
        own = trace.model_copy(update={"tags": tags})
        assert wanted in classify(rubric, own, task).flags


@pytest.mark.parametrize(
    ("subset", "text", "right", "judged"),
    [
        ("infeasible", "STOP", True, True),
        ("infeasible", "SAVE10", False, True),
        ("original", "STOP", False, True),
        ("original", "SAVE10", True, True),
        ("original", "SAVE11", False, True),
        ("other", "STOP", False, False),
    ],
)
def test_right_is_the_decision_and_the_outcome(
    rubric: Rubric, subset: str, text: str, right: bool, judged: bool
) -> None:
    flags = rule(rubric, said(text), subset=subset, gold_answer="SAVE10").flags
    assert ("strict_right" in flags) is right
    assert ("strict_judged" in flags) is judged


def test_an_unknown_outcome_is_no_failure(rubric: Rubric) -> None:
    flags = rule(rubric, said("Done."), subset="original").flags
    assert not {"strict_right", "strict_judged", "no_success"} & set(flags)


def test_solving_without_any_call_is_told(rubric: Rubric) -> None:
    assert "solved_without_call" in rule(rubric, said("SAVE10"), gold_answer="SAVE10").flags
    with_call = rule(rubric, *called(), said("SAVE10"), gold_answer="SAVE10")
    assert "solved_without_call" not in with_call.flags


def test_an_outage_is_no_decision(rubric: Rubric) -> None:
    dead = Trace(
        model="m", messages=(ASKED,), state=RowState.INFRA_ERROR, error=TraceError(kind="timeout")
    )
    ruling = classify(rubric, dead, None)
    assert (ruling.label, ruling.reason) == (None, "infra_error")


def test_a_trace_without_a_task_still_has_a_decision(rubric: Rubric) -> None:
    trace, _ = row(said("STOP"))
    assert classify(rubric, trace, None).label == "stop"


@given(st.text(max_size=200))
def test_any_text_gets_a_decision_and_true_offsets(text: str) -> None:
    ruling = rule(load("feasibility"), said(text))
    assert ruling.label in {"stop", "continue"}
    for evidence in ruling.evidence:
        assert evidence.start is not None
        assert evidence.end is not None
        assert len(evidence.quote) == evidence.end - evidence.start
