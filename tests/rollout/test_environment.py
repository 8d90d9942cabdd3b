"""Scripted worlds: what a call gets back, for every way a script can speak about it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.environment import ArgumentTest, Environment, PriorCall, ToolReturn, When
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Task, Tool
from labelkit.grounding.calls import pair_calls
from labelkit.rollout.environment import Episode, offered_tools, wire_payload
from labelkit.rollout.matching import same_value

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = (
    Tool(name="forecast", parameters=SCHEMA),
    Tool(name="refresh", effect="write"),
)


def world(*returns: ToolReturn, **fields: Any) -> Task:
    return Task(set="s", id="t", tools=TOOLS, environment=Environment(returns=returns, **fields))


def call(name: str = "forecast", arguments: str | None = None, **given: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments or json.dumps(given), id="c")


def say(payload: str, tool: str | None = "forecast", **fields: Any) -> ToolReturn:
    when = {k: fields.pop(k) for k in list(fields) if k in When.model_fields}
    return ToolReturn(payload=payload, tool=tool, when=When(**when), **fields)


def heard(episode: Episode, *calls: ToolCall) -> list[str | None]:
    return [episode.answer(made).content for made in calls]


def test_the_tools_own_return_comes_before_one_for_every_tool() -> None:
    episode = Episode(world(say("any", tool=None), say("own")))
    assert heard(episode, call(), call("refresh"), call("made_up")) == ["own", "any", "any"]


@pytest.mark.parametrize(
    ("when", "arguments", "speaks"),
    [
        ({"arguments": {"city": "Oslo"}}, {"city": " oslo "}, True),
        ({"arguments": {"city": "Oslo"}}, {"city": "Oslo", "days": 2}, True),
        ({"arguments": {"city": "Oslo"}, "exactly": True}, {"city": "Oslo", "days": 2}, False),
        ({"arguments": {"city": "Oslo"}, "exactly": True}, {"city": "Oslo"}, True),
        ({"arguments": {"days": 2}}, {"days": 2.0}, True),
        ({"arguments": {"days": 2}}, {"days": "2"}, False),
        ({"arguments": {"days": 1}}, {"days": True}, False),
        ({"arguments": {"city": None}}, {"city": None}, True),
        ({"arguments": {"city": None}}, {}, False),
        ({"tests": {"city": ArgumentTest(pattern=r"[A-Z]{3}")}}, {"city": "OSL"}, True),
        ({"tests": {"city": ArgumentTest(pattern=r"[A-Z]{3}")}}, {"city": "OSLO"}, False),
        ({"tests": {"city": ArgumentTest(pattern=r"\d+")}}, {"city": "9" * 3000}, False),
        ({"tests": {"city": ArgumentTest(pattern=r"O.*", negate=True)}}, {"city": "Bergen"}, True),
        ({"tests": {"city": ArgumentTest(missing=True)}}, {}, True),
        ({"tests": {"city": ArgumentTest(missing=True)}}, {"city": "x"}, False),
        ({"tests": {"city": ArgumentTest(missing=False)}}, {}, False),
        ({"tests": {"days": ArgumentTest(type="integer")}}, {"days": 2}, True),
        ({"tests": {"days": ArgumentTest(type="integer")}}, {"days": True}, False),
        ({"tests": {"days": ArgumentTest(type="string")}}, {"days": "2"}, True),
        ({"tests": {"days": ArgumentTest(min=1, max=7)}}, {"days": 7}, True),
        ({"tests": {"days": ArgumentTest(min=1, max=7)}}, {"days": 8}, False),
        ({"tests": {"days": ArgumentTest(min=1)}}, {"days": "3"}, False),
        ({"tests": {"city": ArgumentTest(one_of=("Oslo", "Bergen"))}}, {"city": "BERGEN"}, True),
        ({"tests": {"city": ArgumentTest(one_of=("Oslo",))}}, {"city": "Bergen"}, False),
    ],
)
def test_a_return_speaks_for_the_arguments_it_names(
    when: dict[str, Any], arguments: dict[str, Any], speaks: bool
) -> None:
    episode = Episode(world(say("yes", **when), say("no")))
    assert heard(episode, call(**arguments)) == ["yes" if speaks else "no"]


def test_unreadable_arguments_can_be_answered_for_themselves() -> None:
    task = world(say("what?", readable=False), say("fine", readable=True))
    assert heard(Episode(task), call(arguments="{broken"), call(city="Oslo")) == ["what?", "fine"]


def test_returns_follow_the_count_of_calls() -> None:
    task = world(
        say('{"error": "busy"}', times=2),
        say("third", to_call=3),
        say("fifth", from_call=5),
        say("else"),
    )
    said = heard(Episode(task), *[call(city="Oslo")] * 5)
    assert said == ['{"error": "busy"}'] * 2 + ["third", "else", "fifth"]


def test_a_write_changes_what_later_reads_say() -> None:
    after = (PriorCall(tool="refresh", arguments={"scope": "all"}),)
    task = world(say("new", after=after), say("old"), say("{}", tool="refresh"))
    episode = Episode(task)
    assert heard(
        episode, call(), call("refresh", scope="some"), call(), call("refresh", scope="all"), call()
    ) == ["old", "{}", "old", "{}", "new"]


def test_a_write_that_failed_changes_nothing() -> None:
    after = (PriorCall(tool="refresh"),)
    failing = say('{"error": "locked"}', tool="refresh", times=1)
    task = world(say("new", after=after), say("old"), failing, say("{}", tool="refresh"))
    said = heard(Episode(task), call("refresh"), call(), call("refresh"), call())
    assert said[1::2] == ["old", "new"]


def test_calls_that_the_conversation_holds_already_count() -> None:
    task = world(say("first", to_call=1), say("second")).model_copy(
        update={
            "messages": (
                Message(role="user", content="?"),
                Message(role="assistant", tool_calls=(call(city="Oslo"),)),
                Message(role="tool", tool_call_id="c", content="first"),
            )
        }
    )
    assert heard(Episode(task), call(city="Oslo")) == ["second"]


def test_envelopes_hold_the_payload_and_never_lose_broken_json() -> None:
    assert wire_payload(say('{"a": 1}', status="ok")) == '{"data":{"a":1},"status":"ok"}'
    broken = json.loads(wire_payload(say('{"a": 1, "b', status="ok")))
    assert broken == {"status": "ok", "data": '{"a": 1, "b'}
    error = json.loads(wire_payload(say("code 500", status="error")))
    assert error == {"status": "error", "error": "code 500"}
    assert json.loads(wire_payload(say("NaN", status="ok")))["data"] == "NaN"
    assert wire_payload(say("{broken")) == "{broken"


def test_a_payload_is_cut_before_it_is_put_into_its_envelope() -> None:
    cut = say('{"price": 12.5}', keep_chars=9, cut_mark="…", status="ok")
    assert json.loads(wire_payload(cut))["data"] == '{"price":…'
    assert wire_payload(say("short", keep_chars=9, cut_mark="…")) == "short"


def test_slow_tools_time_out_and_nobody_waits() -> None:
    task = world(say("late", latency_s=500, times=1), say("ok", latency_s=3), timeout_s=30)
    episode = Episode(task)
    first, second = episode.answer(call(city="a")), episode.answer(call(city="a"))
    assert json.loads(first.content or "")["error"] == "timed out after 30 s"
    assert (first.extra["latency_s"], second.extra["latency_s"]) == (30, 3)
    assert [answered.ok for answered in episode.answered] == [False, True]


def test_clean_tools_leave_the_faults_out_and_every_episode_is_fresh() -> None:
    task = world(say('{"error": "busy"}', times=1, fault="execution_failure"), say("fine"))
    for _ in range(2):
        episode = Episode(task)
        assert heard(episode, call(), call()) == ['{"error": "busy"}', "fine"]
        assert [a.fault for a in episode.answered] == ["execution_failure", ""]
        assert episode.troubled
    clean = Episode(task, clean=True)
    assert heard(clean, call()) == ["fine"]
    assert not clean.troubled


def test_masked_tools_are_not_offered_and_never_answer() -> None:
    task = world(say("fine"), say("any", tool=None), masked=("forecast",))
    assert [tool.name for tool in offered_tools(task)] == ["refresh"]
    episode = Episode(task)
    result = episode.answer(call(city="Oslo"))
    paired = pair_calls([Message(role="assistant", tool_calls=(call(city="Oslo"),)), result])
    assert paired[0].status == "rejected"
    assert not episode.answered[0].executed


def test_declared_arguments_are_checked_only_where_the_world_says_so() -> None:
    wrong = call(city=5)
    assert heard(Episode(world(say("fine"))), wrong) == ["fine"]
    checked = Episode(world(say("fine"), check_arguments=True))
    said = heard(checked, wrong, call(), call(city="Oslo", more=1), call(city="Oslo"))
    assert "city" in json.loads(said[0] or "")["error"]
    assert "'city' is a required property" in (said[1] or "")
    assert "more" in (said[2] or "")
    assert said[3] == "fine"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strin"},
        {"$ref": "http://127.0.0.1:9/never-fetched.json"},
        {"properties": {"city": {"pattern": "("}}},
    ],
)
def test_a_broken_declaration_checks_nothing_and_fetches_nothing(schema: dict[str, Any]) -> None:
    task = world(say("fine"), check_arguments=True)
    broken = task.model_copy(update={"tools": (Tool(name="forecast", parameters=schema),)})
    assert heard(Episode(broken), call(city="Oslo")) == ["fine"]


def test_a_pattern_that_is_none_is_refused_when_it_is_read() -> None:
    with pytest.raises(ValueError, match="no regular expression"):
        ArgumentTest(pattern="(")


def test_a_call_without_a_fitting_return_is_an_executed_error() -> None:
    episode = Episode(world(say("fine", arguments={"city": "Oslo"})))
    result = episode.answer(call(city="Rome"))
    (paired,) = pair_calls([Message(role="assistant", tool_calls=(call(city="Rome"),)), result])
    assert (paired.status, paired.is_error) == ("executed", True)


def test_chance_is_drawn_from_the_task_alone() -> None:
    flaky = say("busy", chance=0.5)
    task = world(flaky, say("fine"), seed=7)

    def course(repeat: int = 0, seed: int = 7) -> list[str | None]:
        played = task.model_copy(
            update={"environment": task.environment.model_copy(update={"seed": seed})}
        )
        return heard(Episode(played, repeat=repeat), *[call()] * 200)

    assert course() == course()
    assert course() != course(repeat=1)
    assert course() != course(seed=8)
    assert 60 <= course().count("busy") <= 140


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_every_value_equals_itself(value: Any) -> None:
    assert same_value(value, value)


@given(name=st.text(), arguments=st.text())
def test_no_call_breaks_a_world(name: str, arguments: str) -> None:
    episode = Episode(world(say("fine", tests={"city": ArgumentTest(pattern=r"\w+")})))
    made = ToolCall(name=name, arguments=arguments, id="c")
    assert episode.answer(made).role == "tool"
