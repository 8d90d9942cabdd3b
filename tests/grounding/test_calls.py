"""Executed, attempted and rejected calls are told apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.message import Message, ToolCall
from labelkit.grounding.calls import executed_calls, pair_calls, parse_arguments


def says(*calls: tuple[str, str | None], text: str | None = None) -> Message:
    return Message(
        role="assistant",
        content=text,
        tool_calls=tuple(ToolCall(name=n, id=i, arguments="{}") for n, i in calls),
    )


def result(
    content: str | None, ref: str | None = None, name: str | None = None, role: str = "tool"
) -> Message:
    return Message(role=role, content=content, tool_call_id=ref, name=name)


def outcome(*messages: Message, tools: tuple[str, ...] = ()) -> list[tuple[str, str, str | None]]:
    return [(c.name, c.status, c.result) for c in pair_calls(messages, tools)]


def test_a_reused_id_pairs_by_order() -> None:
    assert outcome(
        says(("f", "x")), result("1", "x"), says(("g", "x")), result("2", "x")
    ) == [("f", "executed", "1"), ("g", "executed", "2")]  # fmt: skip


def test_parallel_calls_answered_in_another_order() -> None:
    assert outcome(says(("f", "a"), ("g", "b")), result("2", "b"), result("1", "a")) == [
        ("f", "executed", "1"),
        ("g", "executed", "2"),
    ]


def test_the_same_id_twice_in_one_turn() -> None:
    assert outcome(says(("f", "a"), ("g", "a")), result("1", "a"), result("2", "a")) == [
        ("f", "executed", "1"),
        ("g", "executed", "2"),
    ]


def test_missing_ids_pair_by_name_then_order() -> None:
    assert outcome(
        says(("f", None), ("g", None), ("f", None)), result("g", name="g"), result("1"), result("2")
    ) == [("f", "executed", "1"), ("g", "executed", "g"), ("f", "executed", "2")]


def test_legacy_function_call() -> None:
    legacy = Message(
        role="assistant", extra={"function_call": {"name": "f", "arguments": '{"a": 1}'}}
    )
    (call,) = pair_calls([legacy, result("1", name="f", role="function")])
    assert (call.name, call.parsed, call.status) == ("f", {"a": 1}, "executed")


def test_a_result_with_a_foreign_id_answers_nothing() -> None:
    assert outcome(says(("f", "a")), result("1", "zz")) == [("f", "attempted", None)]
    assert outcome(says(("f", "a")), result("1", "zz", name="f")) == [("f", "executed", "1")]
    assert outcome(result("1", "zz")) == []


def test_a_call_without_an_answer_is_only_attempted() -> None:
    assert outcome(says(("f", "a"), text="It is 7.")) == [("f", "attempted", None)]
    assert outcome(says(("f", "a"), ("g", "b")), result("2", "b"), says(text="ok")) == [
        ("f", "attempted", None),
        ("g", "executed", "2"),
    ]


@pytest.mark.parametrize(
    ("content", "status", "is_error"),
    [
        ('{"executed": false}', "rejected", False),
        ('{"error": "unknown tool: f", "executed": false}', "rejected", True),
        ('{"error": "no such function f"}', "rejected", True),
        ("Error: tool 'f' does not exist", "rejected", True),
        ("Tool f not found. Available tools: g", "rejected", False),
        ('{"error": "user not found"}', "executed", True),
        ("Error: user not found", "executed", True),
        ('{"status": "error", "code": 500}', "executed", True),
        ('{"status": "ok", "error": null}', "executed", False),
        ('{"note": "the unknown tool marks were found"}', "executed", False),
        ("", "executed", False),
        (None, "executed", False),
        ("[" * 100_000, "executed", False),
        ('{"a":' * 100_000, "executed", False),
    ],
)
def test_what_the_runner_said(content: str | None, status: str, is_error: bool) -> None:
    (call,) = pair_calls([says(("f", "a")), result(content, "a")])
    assert (call.status, call.is_error) == (status, is_error)
    assert call.result == (content or "")
    assert (call.call_message, call.result_message) == (0, 1)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>', "f"),
        ('I call:\n```json\n{"name": "f", "arguments": {"a": 1}}\n```', "f"),
        ('<|python_tag|>{"name": "f", "parameters": {"a": 1}}', "f"),
        ('[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]', "f"),
        ('<API_CALL>{"api": "f", "params": {"a": 1}}</API_CALL>', "f"),
        ('<function=f>{"a": 1}</function>', "f"),
        ('{"name": "f", "arguments": {"a": 1}}', "f"),
        ('Action: {"action": "f", "action_input": {"a": 1}}', "f"),
        ("I would run f(a=1) now.", "f"),
        ("<tool_call>{broken", None),
        ("I would run h(a=1) now.", None),
        ("f(x) is a function of x", None),
        ('<think>{"name": "f", "arguments": {"a": 1}}</think>ok', None),
        ('{"name": "Aoba", "parameters": {"berth": 4}}', None),
    ],
)
def test_text_that_looks_like_a_call_is_an_attempt(text: str, name: str | None) -> None:
    calls = pair_calls([says(text=text)], tools=("f", "g"))
    assert [c.name for c in calls] == ([name] if name else [])
    for call in calls:
        assert (call.status, call.in_text, call.parsed) == ("attempted", True, {"a": 1})
    assert executed_calls([says(text=text)], tools=("f", "g")) == ()


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("", {}), ("null", {}), ("{}", {}), ('"{\\"a\\": 1}"', {"a": 1}), ('{"a": 1}', {"a": 1}),
        ("[1]", None), ("{a: 1}", None), ('""', {}),
    ],
)  # fmt: skip
def test_arguments_are_read_from_every_spelling(text: str, parsed: dict[str, Any] | None) -> None:
    assert parse_arguments(text) == parsed


def read(messages: list[dict[str, Any]]) -> list[Message]:
    return [
        Message(
            role=m["role"],
            content=m.get("content"),
            tool_call_id=m.get("tool_call_id"),
            name=m.get("name"),
            tool_calls=tuple(
                ToolCall(
                    id=c["id"], name=c["function"]["name"], arguments=c["function"]["arguments"]
                )
                for c in m.get("tool_calls") or ()
            ),
        )
        for m in messages
    ]


def test_facts_of_the_airline_runs(shared: Path) -> None:
    (path,) = (shared / "real" / "tau_bench_airline").glob("*.json")
    runs = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, int] = {}
    errors = empty = reused = runs_without = 0
    for run in runs:
        messages = read(run["traj"])
        calls = pair_calls(messages)
        assert {c.status for c in calls} <= {"executed"}
        for call in calls:
            names[call.name] = names.get(call.name, 0) + 1
            errors += call.is_error and (call.result or "").startswith("Error")
            empty += call.result == ""
            # Results follow their call at once in these traces.
            assert call.result_message == call.call_message + 1
        ids = [c.id for m in messages for c in m.tool_calls]
        reused += len(set(ids)) < len(ids)
        runs_without += not calls
    assert {name: names[name] for name in STATED} == STATED
    assert sum(names.values()) == 621
    assert (errors, empty, reused, runs_without) == (63, 58, 25, 15)


STATED = {
    "get_reservation_details": 134,
    "search_direct_flight": 92,
    "update_reservation_flights": 90,
    "calculate": 76,
    "get_user_details": 63,
    "think": 58,
    "book_reservation": 38,
    "transfer_to_human_agents": 18,
}


def test_facts_of_the_retail_runs(shared: Path) -> None:
    path = shared / "real" / "agentrx_tau_retail" / "tau_dataset_failed.json"
    runs = json.loads(path.read_text(encoding="utf-8"))
    calls = [c for run in runs for c in pair_calls(read(run["traj"]))]
    assert len(runs) == 29
    assert len(calls) == 284
    assert all(c.status == "executed" for c in calls)
