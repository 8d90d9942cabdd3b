"""Every protocol against the fake server: what is sent, in which order, what row comes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.environment import ToolReturn
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.trace import RowState
from labelkit.errors import InputError
from labelkit.grounding.calls import pair_calls
from labelkit.grounding.stop import says_stop
from labelkit.grounding.visible import visible_answer
from labelkit.rollout.protocols import protocol, protocol_names
from labelkit.rollout.react_text import read_step
from tests.fake_server import FakeServer, replies
from tests.rollout.playing import MakeEndpoint, berth, calls, play, said

BUSY = ToolReturn(payload='{"error": "busy"}', times=1, fault="execution_failure")
FINE = ToolReturn(payload='{"depth_m": 11.3}')


def choices(server: FakeServer) -> list[Any]:
    return server.sent("tool_choice")


def statuses(trace: Any) -> list[str]:
    return [call.status for call in pair_calls(trace.messages)]


# -- all of them -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", protocol_names())
@pytest.mark.parametrize("mode", ["native", "emulated"])
def test_a_failed_request_is_an_infra_error_under_every_protocol(
    name: str, mode: str, fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.reply = lambda _: replies.FILTERS["azure"]
    trace = play(make_endpoint(), name, tool_mode=mode)
    assert trace.state is RowState.INFRA_ERROR
    assert trace.error is not None
    assert trace.error.kind == "filtered"
    assert trace.tags["protocol"] == name
    assert len(fake_server.requests) == 1


@pytest.mark.parametrize("name", protocol_names())
@pytest.mark.parametrize("mode", ["native", "emulated"])
def test_every_protocol_comes_to_an_end_with_a_model_that_never_stops_calling(
    name: str, mode: str, fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    written = '{"tool": "get_depth", "arguments": {"berth": "B7"}}'
    texts = {"react_text": f"Thought: again\nAction: {written}"}
    text = texts.get(name, written)
    native = mode == "native" and name != "react_text"
    fake_server.reply = lambda _: calls("get_depth", "get_tide") if native else text
    trace = play(make_endpoint(), name, tool_mode=mode)
    asked = len(fake_server.requests)
    assert trace.extra["requests"] == asked <= 20
    # Whatever was asked of the server: no history with an open call, results after their calls.
    for request in fake_server.requests:
        opened: list[str] = []
        for message in request.json["messages"]:
            if message["role"] == "tool":
                opened.remove(message["tool_call_id"])
            else:
                assert not opened
            opened += [call["id"] for call in message.get("tool_calls") or ()]
        assert not opened
    ids = [call.id for message in trace.messages for call in message.tool_calls]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", [n for n in protocol_names() if n != "replay"])
def test_usage_is_the_sum_of_all_requests_and_unknown_when_one_is(
    name: str, fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    fake_server.queue(calls("get_depth", usage=usage), replies.text("Answer: 11.3", usage=usage))
    fake_server.reply = lambda _: replies.text("Answer: 11.3 m", usage=usage)
    trace = play(make_endpoint(), name)
    assert trace.usage is not None
    assert trace.usage.prompt_tokens == 10 * len(fake_server.requests)
    fake_server.reset()
    fake_server.reply = lambda _: replies.text("Answer: 11.3 m", usage=None)
    assert play(make_endpoint(), name).usage is None


def test_an_unknown_protocol_is_named_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match=r"'live-lop'.*'live_loop'"):
        protocol("live-lop")
    assert protocol("live-loop").name == "live_loop"


# -- live loop -------------------------------------------------------------------------------------


def test_live_loop_forces_then_frees_then_forbids(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(*[calls("get_depth")] * 3, "It is 11.3 m.")
    trace = play(make_endpoint(), "live_loop")
    assert choices(fake_server) == ["required", "auto", "auto", "none"]
    assert statuses(trace) == ["executed"] * 3
    assert (trace.state, visible_answer(trace.messages)) == (RowState.OK, "It is 11.3 m.")


def test_live_loop_can_force_by_name(fake_server: FakeServer, make_endpoint: MakeEndpoint) -> None:
    fake_server.queue(calls("get_depth"), "It is 11.3 m.")
    play(make_endpoint(), "live_loop", forcing="named")
    assert choices(fake_server)[0] == {"type": "function", "function": {"name": "get_depth"}}


def test_a_forced_turn_without_a_call_is_tried_once_more_with_another_seed(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue("About 9 m.", calls("get_depth"), "11.3")
    trace = play(make_endpoint(), "live_loop")
    assert trace.state is RowState.OK
    assert trace.extra["flags"] == ["protocol_violation"]
    assert trace.extra["violations"] == ["About 9 m."]
    assert fake_server.sent("seed") == [42, 43, 42]
    assert "About 9 m." not in [content for _, content in said(trace)]


def test_two_forced_turns_without_a_call_are_no_behaviour_of_the_model(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.reply = lambda _: "About 9 m."
    trace = play(make_endpoint(), "live_loop")
    assert trace.state is RowState.INFRA_ERROR
    assert trace.error is not None
    assert trace.error.kind == "protocol_violation"
    assert len(fake_server.requests) == 2


def test_an_endpoint_that_ignores_none_loses_its_tools_and_is_flagged(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(*[calls("get_depth")] * 4, "It is 11.3 m.")
    trace = play(make_endpoint(), "live_loop")
    assert choices(fake_server) == ["required", "auto", "auto", "none", None]
    assert fake_server.sent("tools")[-1] is None
    assert trace.extra["flags"] == ["calls_after_none"]
    assert statuses(trace) == ["executed"] * 3 + ["attempted"]
    assert trace.state is RowState.OK


def test_live_loop_ends_after_eight_turns_without_text(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.reply = lambda _: calls("get_depth")
    trace = play(make_endpoint(), "live_loop")
    assert len(fake_server.requests) == 8
    assert trace.state is RowState.NO_TEXT


# -- replay ----------------------------------------------------------------------------------------


def test_replay_sends_one_request_that_holds_the_result(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue("It is 11.3 m.")
    trace = play(make_endpoint(), "replay")
    (sent,) = fake_server.sent("messages")
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool"]
    assert json.loads(sent[2]["tool_calls"][0]["function"]["arguments"]) == {"berth": "B7"}
    assert choices(fake_server) == ["none"]
    assert statuses(trace) == ["executed"]
    assert trace.tags["protocol"] == "replay"


def test_emulated_replay_tells_the_transcript_in_text(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue('{"answer": "It is 11.3 m."}')
    trace = play(make_endpoint(), "replay", tool_mode="emulated")
    (sent,) = fake_server.sent("messages")
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert "11.3" in sent[-1]["content"]
    assert visible_answer(trace.messages) == "It is 11.3 m."


# -- agent and hints -------------------------------------------------------------------------------


def test_agent_goes_on_until_there_is_an_answer(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(calls("get_depth", "get_tide"), calls("get_tide"), "11.3")
    trace = play(make_endpoint(), "agent")
    assert choices(fake_server) == ["auto"] * 3
    assert statuses(trace) == ["executed"] * 3
    assert "flags" not in trace.extra


def test_agent_that_is_capped_is_flagged_and_has_no_text(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.reply = lambda _: calls("get_depth")
    trace = play(make_endpoint(), "agent", max_turns=3)
    assert len(fake_server.requests) == 3
    assert (trace.state, trace.extra["flags"]) == (RowState.NO_TEXT, ["turn_cap"])


def test_a_late_hint_is_told_once_after_the_first_error(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(calls("get_tide"), calls("get_depth"), calls("get_depth"), "11.3")
    task = berth(ToolReturn(payload="{}", tool="get_tide"), BUSY, FINE)
    trace = play(make_endpoint(), "agent", task, late_hint="Try once more.")
    sent = fake_server.sent("messages")
    assert [sum("Try once more." in str(m) for m in messages) for messages in sent] == [0, 0, 1, 1]
    assert sent[2][-1] == {"role": "user", "content": "Try once more."}
    told = [m for m in trace.messages if m.content == "Try once more."]
    assert [(m.role, m.name, m.extra) for m in told] == [("system", "harness", {"sent_as": "user"})]
    assert trace.extra["flags"] == ["hinted"]


def test_clean_tools_play_no_fault(fake_server: FakeServer, make_endpoint: MakeEndpoint) -> None:
    fake_server.queue(calls("get_depth"), "11.3")
    trace = play(make_endpoint(), "agent", berth(BUSY, FINE), clean=True, late_hint="Try again.")
    assert trace.messages[3].content == FINE.payload
    assert "flags" not in trace.extra


def test_a_fault_that_was_played_is_noted_on_its_result(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(calls("get_depth"), "11.3")
    trace = play(make_endpoint(), "agent", berth(BUSY, FINE))
    assert trace.messages[3].extra == {"fault": "execution_failure"}


# -- feasibility -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("STOP\nThere is no tool for tides.", True),
        ("I have no such tool.\n**STOP**", True),
        ("STOP.", True),
        ("  `STOP`  ", True),
        ("**STOP** - no payment tool", True),
        ("STOP: no such tool", True),
        ("STOP-loss orders are set.", False),
        ("Please STOP asking.", False),
        ("stop", False),
        ("STOPPED", False),
        ("<think>\nSTOP\n</think>It is 11.3 m.", False),
        ("<think>hm</think>STOP", True),
        ("", False),
        (None, False),
    ],
)
def test_stop_is_a_visible_line_of_its_own(text: str | None, stops: bool) -> None:
    assert says_stop(text) is stops


def test_feasibility_ends_at_stop_and_says_so_in_the_prompt(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(calls("get_depth"), calls("get_tide", content="STOP\nNo tool for it."))
    trace = play(make_endpoint(), "feasibility")
    system = fake_server.sent("messages")[0][0]["content"]
    assert system.startswith("You help.")
    assert "STOP" in system
    assert trace.messages[0].content == system
    assert trace.extra["flags"] == ["stop"]
    assert statuses(trace) == ["executed", "attempted"]


def test_feasibility_has_ten_turns(fake_server: FakeServer, make_endpoint: MakeEndpoint) -> None:
    fake_server.reply = lambda _: calls("get_depth")
    trace = play(make_endpoint(), "feasibility")
    assert len(fake_server.requests) == 10
    assert trace.extra["flags"] == ["turn_cap"]


# -- planner and executor --------------------------------------------------------------------------


def test_the_planner_plans_twice_without_tools_and_the_executor_carries_out(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue("1. get_tide", "1. get_depth", calls("get_depth"), "It is 11.3 m.")
    trace = play(make_endpoint(), "planner_executor")
    assert [tools is None for tools in fake_server.sent("tools")] == [True, True, False, False]
    sent = fake_server.sent("messages")
    assert "get_depth(berth: string)" in sent[0][0]["content"]
    assert sent[1][-2] == {"role": "assistant", "content": "1. get_tide"}
    executor = "\n".join(str(message["content"]) for message in sent[2])
    assert "1. get_depth" in executor
    assert "1. get_tide" not in executor
    assert [m.name for m in trace.messages if m.role == "assistant"] == ["planner"] * 2 + [None] * 2
    assert visible_answer(trace.messages) == "It is 11.3 m."


@pytest.mark.parametrize("plans", [["STOP\nno tool"], ["1. get_depth", "STOP"]])
def test_a_planner_that_stops_ends_the_episode(
    plans: list[str], fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(*plans)
    trace = play(make_endpoint(), "planner_executor")
    assert len(fake_server.requests) == len(plans)
    assert trace.extra["flags"] == ["stop", "stopped_by_planner"]
    assert trace.state is RowState.OK


def test_the_executor_has_eight_turns(fake_server: FakeServer, make_endpoint: MakeEndpoint) -> None:
    fake_server.queue("plan", "plan")
    fake_server.reply = lambda _: calls("get_depth")
    trace = play(make_endpoint(), "planner_executor")
    assert len(fake_server.requests) == 2 + 8
    assert trace.extra["flags"] == ["turn_cap"]


# -- one action per round --------------------------------------------------------------------------


def test_one_action_per_round_runs_the_first_call_and_names_what_it_was(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(
        calls("get_depth", "get_tide"),
        calls("get_depth"),
        calls("get_tide"),
        calls("get_depth"),
        calls("get_depth"),
        "It is 11.3 m.",
    )
    task = berth(
        ToolReturn(payload='{"error": "busy"}', tool="get_depth", times=2),
        ToolReturn(payload="{}", tool="get_tide"),
        FINE,
    )
    trace = play(make_endpoint(), "one_action_per_round", task)
    assert trace.extra["actions"] == ["call", "retry", "fallback", "retry", "call", "finish"]
    assert statuses(trace) == ["executed", "rejected", *["executed"] * 4]
    assert trace.extra["flags"] == ["several_calls"]
    assert set(fake_server.sent("parallel_tool_calls")) == {False}
    assert visible_answer(trace.messages) == "It is 11.3 m."


def test_ten_rounds_and_no_answer_put_in_by_the_harness(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.reply = lambda _: calls("get_depth")
    trace = play(make_endpoint(), "one_action_per_round")
    assert len(fake_server.requests) == 10
    assert (trace.state, visible_answer(trace.messages)) == (RowState.NO_TEXT, "")


# -- react -----------------------------------------------------------------------------------------


def test_react_reads_actions_from_text_and_answers_with_observations(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    action = 'Action: {"tool": "get_depth", "arguments": {"berth": "B7"}}'
    invented = "Observation: it is 9 m\nAnswer: 9 m"
    fake_server.queue(f"Thought: look\n{action}\n{invented}", "Thought: done\nAnswer: 11.3 m")
    trace = play(make_endpoint(), "react_text")
    assert fake_server.sent("tools") == [None, None]
    second = fake_server.sent("messages")[1]
    assert second[-2]["content"] == f"Thought: look\n{action}"
    assert second[-1] == {"role": "user", "content": 'Observation: {"depth_m": 11.3}'}
    (call,) = pair_calls(trace.messages)
    assert (call.status, call.parsed) == ("executed", {"berth": "B7"})
    assert trace.messages[2].reasoning == "Thought: look"
    assert visible_answer(trace.messages) == "11.3 m"
    assert trace.extra["flags"] == ["text_after_action", "hallucinated_observation"]
    assert trace.tool_mode == "emulated"


def test_an_unreadable_action_is_told_back_once_and_counted(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue("Action: get_depth(B7)", "Action: {broken", "Answer: never asked for")
    trace = play(make_endpoint(), "react_text")
    assert len(fake_server.requests) == 2
    told = fake_server.sent("messages")[1][-1]
    assert told["role"] == "user"
    assert told["content"].startswith("Observation: the action could not be read")
    assert trace.extra["parse_errors"] == 2
    assert trace.extra["flags"] == ["unreadable_action"]


def test_react_ends_after_fifteen_steps_without_text(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.reply = lambda _: 'Action: {"tool": "get_depth"}'
    trace = play(make_endpoint(), "react_text")
    assert len(fake_server.requests) == 15
    assert (trace.state, trace.extra["flags"]) == (RowState.NO_TEXT, ["turn_cap"])


@pytest.mark.parametrize(
    ("text", "call", "answer"),
    [
        ("It is deep.", None, "It is deep."),
        ("Thought: x\nAnswer: 5", None, "5"),
        ('Answer: 5\nAction: {"tool": "f"}', None, "5"),
        ('Action: {"tool": "f", "arguments": {"a": 1}}', ("f", '{"a":1}'), None),
        ('Action:\n{"tool": "f"}', ("f", "{}"), None),
        ('Action:\n```json\n{"tool": "f"}\n```', ("f", "{}"), None),
        ('I take Action: {"tool": "f"}', None, 'I take Action: {"tool": "f"}'),
        ('<think>Action: {"tool": "f"}</think>Answer: 5', None, "5"),
        ('Action: {"tool": "f"}\nAction: {"tool": "g"}', ("f", "{}"), None),
    ],
)
def test_the_first_action_at_the_start_of_a_line_counts(
    text: str, call: tuple[str, str] | None, answer: str | None
) -> None:
    step = read_step(text)
    assert (step.call and (step.call.name, step.call.arguments)) == call
    assert step.answer == answer


def test_an_action_quoted_in_a_thought_is_none_and_later_ones_are_flagged() -> None:
    """The trap AP-07 of the handed-over cases, in other words."""
    step = read_step(
        'Thought: before, Action: {"tool": "a"} was right; now the other.\n'
        'Action: {"name": "b", "arguments": {"n": 58}}\n'
        'Observation: done\nAction: {"name": "b", "arguments": {"n": 60}}'
    )
    assert step.call is not None
    assert (step.call.name, step.call.arguments) == ("b", '{"n":58}')
    assert step.flags == ("text_after_action", "multiple_actions", "hallucinated_observation")


@given(st.text() | st.text().map(lambda text: f"Action: {text}"))
def test_reading_a_step_is_total(text: str) -> None:
    step = read_step(text)
    assert (step.call is not None) + (step.answer is not None) + bool(step.fault) == 1


# -- conversations that begin in the middle --------------------------------------------------------


@pytest.mark.parametrize("mode", ["native", "emulated"])
def test_a_task_may_begin_after_earlier_calls(
    mode: str, fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    task = berth()
    made = ToolCall(name="get_tide", arguments="{}", id="c1")
    before = (
        *task.messages,
        Message(role="assistant", tool_calls=(made,)),
        Message(role="tool", name="get_tide", tool_call_id="c1", content="{}"),
        Message(role="assistant", content="It is high tide. What else?"),
        Message(role="user", content="And how deep is B7?"),
    )
    fake_server.queue("I do not know.")
    play(make_endpoint(), "agent", task.model_copy(update={"messages": before}), tool_mode=mode)
    (sent,) = fake_server.sent("messages")
    tool_role = "tool" if mode == "native" else "user"
    roles = ["system", "user", "assistant", tool_role, "assistant", "user"]
    assert [message["role"] for message in sent] == roles


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("agent", [calls("get_depth"), "11.3 m.", "High tide.", "never asked"]),
        (
            "react_text",
            ['Action: {"tool": "get_depth"}', "Answer: 11.3 m.", "Answer: High tide.", "never"],
        ),
    ],
)
def test_a_user_who_speaks_again_does_so_after_the_answer(
    name: str, answers: list[Any], fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(*answers)
    task = berth(later_turns=(Message(role="user", content="And the tide?"),))
    trace = play(make_endpoint(), name, task)
    told = [m.content for m in trace.messages if m.role in {"user", "assistant"} and m.content]
    assert told == ["How deep is berth B7?", "11.3 m.", "And the tide?", "High tide."]
    last = fake_server.sent("messages")[-1]
    assert [m["role"] for m in last][-3:] == [last[-3]["role"], "assistant", "user"]
    assert "11.3 m." in last[-2]["content"]
    assert len(fake_server.requests) == 3


def test_a_dead_turn_ends_the_conversation(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(replies.truncated("It is"), "never asked for")
    task = berth(later_turns=(Message(role="user", content="And the tide?"),))
    trace = play(make_endpoint(), "agent", task)
    assert trace.state is RowState.TRUNCATED
    assert len(fake_server.requests) == 1


def test_an_endpoint_without_tool_choice_is_kept_from_calls_by_declaring_no_tools(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    refusal = replies.error(
        400, "Unsupported parameter: 'tool_choice' is not supported", param="tool_choice"
    )
    fake_server.rejects["tool_choice"] = refusal
    fake_server.queue(calls("get_depth"), "It is 11.3 m.")
    trace = play(make_endpoint(), "two_step")
    assert trace.state is RowState.OK
    answered = [r.json for r in fake_server.requests if r.status == 200]
    assert ["tools" in body for body in answered] == [True, False]
    assert trace.extra["flags"] == ["dropped:tool_choice"]


def test_an_emulated_answer_after_several_calls_is_bound_to_its_form(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    action = '{"tool": "get_depth", "arguments": {}}'
    fake_server.queue(action, action, action, '{"answer": "It is 11.3 m."}')
    trace = play(make_endpoint(), "live_loop", tool_mode="emulated")
    shapes = [s["json_schema"]["schema"]["anyOf"] for s in fake_server.sent("response_format")]
    kinds = [["answer" in shape["properties"] for shape in shapes_] for shapes_ in shapes]
    assert kinds == [[False, False], [False, False, True], [False, False, True], [True]]
    assert visible_answer(trace.messages) == "It is 11.3 m."
