"""API-call match: the world must end up as the author says; the paper's checker is kept beside."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.task import ExpectedCall, Tool
from labelkit.domain.trace import RowState, TraceError
from labelkit.errors import InputError
from labelkit.rules.registry import rule_of
from tests.rules.apicall_rows import (
    APICALL,
    FAILED,
    OK,
    call_task,
    call_trace,
    rule_on,
    tool,
    wanted,
)

LIST = {"type": "array", "items": {"type": "string"}}
VOLUME = tool(
    "set_volume", endpoints=LIST, volume="integer", fade={"type": "boolean", "default": False}
)
LOCK = tool("lock", endpoints=LIST)
LOOK = tool("look", "read", endpoint="string", location="string")
TOOLS = (VOLUME, LOCK, LOOK)
GOLD = wanted("set_volume", endpoints=["62"], volume=58)
DOOR = wanted("lock", endpoints=["29"])
LOOKED = wanted("look", endpoint="62")


def label(calls: Any, *gold: ExpectedCall, tools: Any = TOOLS, **policy: Any) -> str | None:
    return rule_on(call_trace(calls), call_task(tools, *gold), **policy).label


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        ({"endpoints": ["62"], "volume": 58}, True),
        ({"volume": 58, "fade": False, "endpoints": ["62"]}, True),
        ({"volume": "58", "endpoints": ["62"]}, True),
        ({"volume": 58.0, "endpoints": ["62"]}, True),
        ({"volume": 58, "endpoints": [62]}, True),
        ({"volume": 58, "endpoints": '["62"]'}, True),
        ({"volume": 58, "endpoints": ["62"], "fade": "false"}, True),
        ({"volume": 58, "endpoints": ["62"], "fade": None}, True),
        ({"volume": 59, "endpoints": ["62"]}, False),
        ({"volume": 58, "endpoints": ["62"], "fade": True}, False),
        ({"volume": 58, "endpoints": ["62", "63"]}, False),
        ({"volume": 58, "endpoints": []}, False),
        ({"volume": True, "endpoints": ["62"]}, False),
        ({"endpoints": ["62"]}, False),
        ({"volume": 58, "endpoints": ["62"], "room": "bath"}, False),
        ({}, False),
    ],
)
def test_arguments_are_compared_by_the_schema(arguments: dict[str, Any], right: bool) -> None:
    found = rule_on(call_trace([("set_volume", arguments)]), call_task(TOOLS, GOLD))
    assert found.label == ("match" if right else "mismatch")
    assert right or found.reason == "wrong_arguments"


@pytest.mark.parametrize(
    ("schema", "gold", "given", "right"),
    [
        ({"type": "array"}, ["a", "b"], ["b", "a"], False),
        ({"type": "array", "order_independent": True}, ["a", "b"], ["b", "a"], True),
        ({"type": "array", "order_independent": True}, ["a", "a", "b"], ["b", "a"], False),
        ({"type": "array", "order_independent": True}, ["a", "b"], ["a", "c"], False),
        ({"type": "array", "uniqueItems": True}, ["a", "b"], ["b", "a", "b"], True),
        ({"type": "array", "uniqueItems": True}, ["a", "b"], ["b"], False),
        ({"type": "array"}, ["a"], "a", False),
        ({"type": "string"}, "Kitchen", " Kitchen ", True),
        ({"type": "string"}, "Kitchen", "kitchen", False),
        ({"type": "string"}, "Kitchen", "Kitchen 2", False),
        ({"type": "string"}, "062", "62", False),
        ({"type": "string"}, "62", 62, True),
        ({"type": "number"}, 21.5, "21.50", True),
        ({"type": "number"}, 21.5, 21.6, False),
        ({"type": ["integer", "null"]}, 3, "3", True),
        ({"type": "boolean"}, True, "True", True),
        ({"type": "boolean"}, True, 1, False),
        ({"type": "string"}, "2025-07-17T08:00:00", "2025-07-17 08:00", True),
        ({"type": "string"}, "2025-07-17T08:00:00", "2025-07-17T08:00:00Z", False),
        ({"type": "string"}, "2025-07-17T08:00:00", "2025-07-17T18:00:00", False),
        ({"type": "string", "format": "date"}, "2025-07-17", "July 17, 2025", True),
        ({"type": "string", "format": "date"}, "2025-07-17", "2025-07-18", False),
        ({"type": "string", "format": "time"}, "08:00", "8:00 AM", True),
        ({"type": "string", "format": "date-time"}, "2025-07-17T08:00:00Z",
         "2025-07-17T10:00:00+02:00", True),
        ({"type": "object"}, {"a": 1, "b": [2]}, {"b": [2], "a": 1}, True),
        ({"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}, {}, {"a": 1},
         True),
        ({"type": "object"}, {"a": 1}, {"a": 2}, False),
        ({}, 5, "5", True),
        ({}, "x", ["x"], False),
        ({}, None, None, True),
    ],
)  # fmt: skip
def test_each_type(schema: dict[str, Any], gold: Any, given: Any, right: bool) -> None:
    tools = [tool("put", value=schema)]
    said = label([("put", {"value": given})], wanted("put", value=gold), tools=tools)
    assert said == ("match" if right else "mismatch")


@pytest.mark.parametrize(
    ("calls", "gold", "reason"),
    [
        ([("lock", DOOR.arguments)], [DOOR], "calls_match"),
        ([], [DOOR], "missing_call"),
        ([("lock", {"endpoints": ["30"]})], [DOOR], "wrong_arguments"),
        ([("lock", DOOR.arguments, FAILED)], [DOOR], "failed_call"),
        ([("lock", "not json")], [DOOR], "wrong_arguments"),
        # A failed try changes nothing; the second one counts.
        ([("lock", DOOR.arguments, FAILED), ("lock", DOOR.arguments)], [DOOR], "calls_match"),
        ([("lock", {"endpoints": ["3"]}, FAILED), ("lock", DOOR.arguments)], [DOOR], "calls_match"),
        # Done twice is done once too often.
        ([("lock", DOOR.arguments), ("lock", DOOR.arguments)], [DOOR], "extra_write"),
        ([("lock", DOOR.arguments), ("set_volume", GOLD.arguments)], [DOOR], "extra_write"),
        ([("look", LOOKED.arguments), ("lock", DOOR.arguments)], [DOOR], "calls_match"),
        ([("lock", DOOR.arguments), ("unlock_all", {})], [DOOR], "unknown_function"),
        # One call serves one wanted call.
        ([("lock", DOOR.arguments)], [DOOR, DOOR], "missing_call"),
        ([("lock", DOOR.arguments)] * 2, [DOOR, DOOR], "calls_match"),
        # A wanted read must be made; whether it brought anything is not the model's doing.
        ([("look", LOOKED.arguments, FAILED)], [LOOKED], "calls_match"),
        ([("look", {"endpoint": "63"})], [LOOKED], "wrong_arguments"),
    ],
)
def test_strict(calls: Any, gold: list[ExpectedCall], reason: str) -> None:
    ruling = rule_on(call_trace(calls), call_task(TOOLS, *gold))
    assert ruling.reason == reason
    assert ruling.label == ("match" if reason == "calls_match" else "mismatch")


def test_order_counts_only_where_it_is_declared() -> None:
    calls = [("set_volume", GOLD.arguments), ("lock", DOOR.arguments)]
    assert label(calls, DOOR, GOLD) == "match"
    later = GOLD.model_copy(update={"after": (0,)})
    assert label(calls, DOOR, later) == "mismatch"
    assert label(list(reversed(calls)), DOOR, later) == "match"
    found = rule_on(call_trace(calls), call_task(TOOLS, DOOR, later))
    assert found.reason == "wrong_order"
    circle = (DOOR.model_copy(update={"after": (1,)}), later)
    assert rule_on(call_trace(calls), call_task(TOOLS, *circle)).reason == "circular_order"


def test_equal_calls_are_given_out_so_that_the_order_can_hold() -> None:
    # lock, volume, lock: the second lock must follow the volume, the first comes before it.
    calls = [("lock", DOOR.arguments), ("set_volume", GOLD.arguments), ("lock", DOOR.arguments)]
    gold = (DOOR, GOLD.model_copy(update={"after": (2,)}), DOOR)
    assert label(calls, *gold) == "match"
    late = (DOOR.model_copy(update={"after": (1,)}), GOLD.model_copy(update={"after": (2,)}), DOOR)
    assert label(calls, *late) == "match"
    assert label([calls[1], calls[0], calls[2]], *late) == "mismatch"


def test_supporting_calls_only_warn() -> None:
    helper = LOOKED.model_copy(update={"supporting": True})
    for policy in ("strict", "paper_code"):
        without = rule_on(
            call_trace([("lock", DOOR.arguments)]), call_task(TOOLS, DOOR, helper), policy=policy
        )
        assert without.label == "match"
        assert "supporting_call_missing" in without.flags
    calls = [("look", LOOKED.arguments), ("lock", DOOR.arguments)]
    with_it = rule_on(call_trace(calls), call_task(TOOLS, DOOR, helper))
    assert {"extra_read_calls=0", "calls=2"} <= set(with_it.flags)
    assert "supporting_call_missing" not in with_it.flags


def test_counted_facts() -> None:
    calls = [
        ("look", {"endpoint": "1"}),
        ("look", {"endpoint": "2"}, FAILED),
        ("lock", DOOR.arguments, FAILED),
        ("lock", DOOR.arguments),
        ("set_volume", GOLD.arguments),
    ]
    flags = set(rule_on(call_trace(calls), call_task(TOOLS, DOOR)).flags)
    assert {"calls=5", "failed_calls=2", "extra_read_calls=2", "extra_writes=1"} <= flags
    assert {"failed_write", "failed_read", "extra_write"} <= flags


def test_turns_pass_one_by_one() -> None:
    gold = (DOOR.model_copy(update={"turn": 0}), GOLD.model_copy(update={"turn": 1}))
    good, late = ("lock", DOOR.arguments), ("set_volume", GOLD.arguments)
    both = rule_on(call_trace([good], [late]), call_task(TOOLS, *gold))
    assert both.label == "match"
    assert {"turns=2", "turns_passed=2"} <= set(both.flags)
    early = rule_on(call_trace([good, late], []), call_task(TOOLS, *gold))
    assert early.label == "mismatch"
    assert {"turns=2", "turns_passed=0"} <= set(early.flags)
    # A run that ended before the second turn has not passed it.
    short = rule_on(call_trace([good]), call_task(TOOLS, *gold))
    assert {"turns=2", "turns_passed=1"} <= set(short.flags)


def test_played_turns_are_not_the_models() -> None:
    gold = GOLD.model_copy(update={"turn": 1})
    task = call_task(TOOLS, DOOR.model_copy(update={"turn": 0}), gold, first_turn=1)
    played = call_trace([("lock", {"endpoints": ["1"]})], [("set_volume", GOLD.arguments)])
    ruling = rule_on(played, task)
    assert ruling.label == "match"
    assert {"calls=1", "turns=1"} <= set(ruling.flags)


def test_a_task_may_want_no_call() -> None:
    assert label([], tools=TOOLS) is None
    nothing = call_task(TOOLS, no_calls=True)
    assert rule_on(call_trace([("look", {})]), nothing).label == "match"
    assert rule_on(call_trace([("lock", DOOR.arguments)]), nothing).reason == "extra_write"


def test_what_cannot_be_known_is_left_open() -> None:
    assert label([("lock", DOOR.arguments)], DOOR, tools=()) == "match"
    more = call_trace([("lock", DOOR.arguments), ("beep", {})])
    assert rule_on(more, call_task((), DOOR)).reason == "effects_unknown"
    dead = call_trace([], state=RowState.INFRA_ERROR, error=TraceError(kind="transport"))
    assert rule_on(dead, call_task(TOOLS, DOOR)).reason == "infra_error"
    assert rule_on(call_trace([]), None).reason == "no_task"
    many = [DOOR] * 201
    assert rule_on(call_trace([]), call_task(TOOLS, *many)).reason == "too_many_calls"


# The released checker, point by point.
KEYED = Tool(name="lock", effect="write", key_parameters=("endpoints",))
PLACED = Tool(name="look", effect="read", key_parameters=("location",))
AD_HOC = Tool(name="lock", effect="write", ad_hoc=True)


@pytest.mark.parametrize(
    ("tools", "calls", "gold", "right"),
    [
        # Without key parameters the name is enough.
        ((LOCK,), [("lock", {"endpoints": ["30"]})], DOOR, True),
        ((KEYED,), [("lock", {"endpoints": ["30"]})], DOOR, False),
        ((KEYED,), [("lock", {"endpoints": ["29"], "slowly": True})], DOOR, True),
        # Only successful writes; reads in any state.
        ((LOCK,), [("lock", {}, FAILED)], DOOR, False),
        ((PLACED,), [("look", {"location": "x"}, FAILED)], wanted("look", location="x"), True),
        # A place in any spelling.
        ((PLACED,), [("look", {"location": "Living room"})], wanted("look", location="living_room"),
         True),
        ((PLACED,), [("look", {"location": "bath"})], wanted("look", location="living_room"),
         False),
        # Further writes never fail.
        ((LOCK, VOLUME), [("lock", {}), ("set_volume", {})], DOOR, True),
        ((LOCK,), [("lock", {}), ("lock", {})], DOOR, True),
        # A function that does not exist does.
        ((LOCK,), [("lock", {}), ("open_all", {})], DOOR, False),
        # Two failures in a row at the start of an ad-hoc function fail the turn, one does not.
        ((AD_HOC,), [("lock", {}, FAILED), ("lock", {})], DOOR, True),
        ((AD_HOC,), [("lock", {}, FAILED), ("lock", {}, FAILED), ("lock", {})], DOOR, False),
        ((AD_HOC,), [("lock", {}), ("lock", {}, FAILED), ("lock", {}, FAILED)], DOOR, True),
        ((LOCK,), [("lock", {}, FAILED), ("lock", {}, FAILED), ("lock", {})], DOOR, True),
    ],
)  # fmt: skip
def test_paper_code(tools: Any, calls: Any, gold: ExpectedCall, right: bool) -> None:
    assert label(calls, gold, tools=tools, policy="paper_code") == (
        "match" if right else "mismatch"
    )


def test_paper_code_looks_at_no_order_and_lets_one_call_serve_twice() -> None:
    later = GOLD.model_copy(update={"after": (0,)})
    calls = [("set_volume", GOLD.arguments), ("lock", DOOR.arguments)]
    assert label(calls, DOOR, later, policy="paper_code") == "match"
    assert label([("lock", DOOR.arguments)], DOOR, DOOR, policy="paper_code") == "match"


@pytest.mark.parametrize("policy", [{"policy": "loose"}, {"args": "strict"}])
def test_a_wrong_option_is_refused_before_any_row(policy: dict[str, str]) -> None:
    with pytest.raises(InputError, match="rule_policy"):
        rule_of(APICALL.model_copy(update={"rule_policy": policy}))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["endpoints", "volume", "fade", "x"]), VALUES, max_size=4
)
FINITE = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.integers(), max_size=3),
    max_size=3,
)


@given(ARGUMENTS, ARGUMENTS)
def test_any_arguments_are_decided(gold: dict[str, Any], given_: dict[str, Any]) -> None:
    for policy in ("strict", "paper_code"):
        said = label([("set_volume", given_)], wanted("set_volume", **gold), policy=policy)
        assert said in {"match", "mismatch"}


@given(FINITE, st.permutations(["a", "b", "c"]))
def test_the_order_of_keys_never_matters(arguments: dict[str, Any], keys: list[str]) -> None:
    shuffled = {key: arguments[key] for key in keys if key in arguments}
    tools = [Tool(name="put", effect="write")]
    assert label([("put", shuffled)], wanted("put", **arguments), tools=tools) == "match"


@given(FINITE, st.sampled_from(["a", "b", "c"]), st.integers())
def test_one_changed_argument_never_matches(
    arguments: dict[str, Any], key: str, number: int
) -> None:
    changed = {**arguments, key: f"other {number}"}
    tools = [Tool(name="put", effect="write")]
    if changed != arguments:
        assert label([("put", changed)], wanted("put", **arguments), tools=tools) == "mismatch"


@given(st.lists(st.sampled_from([GOLD, DOOR, LOOKED]), max_size=6), st.randoms())
def test_a_run_of_just_the_wanted_calls_matches_in_any_order(
    gold: list[ExpectedCall], random: Any
) -> None:
    calls = [(c.name, c.arguments, OK) for c in gold]
    random.shuffle(calls)
    task = call_task(TOOLS, *gold, no_calls=not gold)
    assert rule_on(call_trace(calls), task).label == "match"
    if gold:
        assert rule_on(call_trace(calls[1:]), task).label == "mismatch"
