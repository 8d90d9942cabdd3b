"""The engine and the rule over real agent runs: no exception, and the known facts come out.

The facts are those that the README of the real data states; the runs are read as they are.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from labelkit.domain.message import Message
from labelkit.domain.task import ExpectedCall, Reference, Task
from labelkit.domain.trace import RowState, Trace
from labelkit.grounding.calls import Call, pair_calls
from labelkit.grounding.values import find_values
from labelkit.grounding.visible import visible_answer
from labelkit.rules.registry import classifier
from tests.rules.rows import CONTROL, REQUIRED, RUBRIC, message_of

AIRLINE = "tau_bench_airline/gpt-4o-airline.tasks-00-24.json"
RETAIL = "agentrx_tau_retail/tau_dataset_failed.json"


class Run(NamedTuple):
    raw: dict[str, Any]
    messages: tuple[Message, ...]
    calls: tuple[Call, ...]


@pytest.fixture(scope="module", params=[AIRLINE, RETAIL])
def runs(shared: Path, request: pytest.FixtureRequest) -> list[Run]:
    return read_runs(shared, request.param)


@pytest.fixture(scope="module")
def airline(shared: Path) -> list[Run]:
    return read_runs(shared, AIRLINE)


@pytest.fixture(scope="module")
def retail(shared: Path) -> list[Run]:
    return read_runs(shared, RETAIL)


def read_runs(shared: Path, name: str) -> list[Run]:
    out = []
    for raw in json.loads((shared / "real" / name).read_text(encoding="utf-8")):
        messages = tuple(message_of(m) for m in raw["traj"])
        out.append(Run(raw, messages, pair_calls(messages)))
    return out


def test_the_rule_runs_and_points_into_the_answer(runs: list[Run]) -> None:
    rule = classifier("tool_failure")
    silent = 0
    for number, run in enumerate(runs):
        trace = Trace(model="m", messages=run.messages, state=RowState.OK)
        answer = visible_answer(run.messages)
        silent += not answer
        for value in find_values(answer):
            assert answer[value.start : value.end] == value.text
        for subset, allowed in (("required", REQUIRED), ("control", CONTROL)):
            task = Task(
                set="tau",
                id=str(number),
                reference=Reference(
                    expected_calls=(ExpectedCall(name="get_reservation_details"),),
                    must_contain=("100",),
                ),
                tags={"subset": subset},
            )
            ruling = rule(RUBRIC, trace, task)
            assert ruling.label is None or ruling.label in allowed
            for evidence in ruling.evidence:
                assert evidence.quote == answer[evidence.start : evidence.end]
    # A run that ends in a call has said nothing after it: these are no answers.
    ends_in_call = sum(
        not next(m for m in reversed(r.raw["traj"]) if m["role"] == "assistant")["content"]
        for r in runs
    )
    assert silent == ends_in_call


def test_values_of_every_message_keep_their_place(runs: list[Run]) -> None:
    found = 0
    for run in runs:
        for message in run.messages:
            text = message.content or ""
            for value in find_values(text):
                found += 1
                assert text[value.start : value.end] == value.text
    assert found > 1000


def test_airline_calls(airline: list[Run]) -> None:
    assert len(airline) == 100
    roles = Counter(m.role for run in airline for m in run.messages)
    assert roles == {"system": 100, "user": 860, "assistant": 1381, "tool": 621}
    calls = [call for run in airline for call in run.calls]
    assert len(calls) == 621

    names = Counter(call.name for call in calls)
    known = {
        "get_reservation_details": 134, "search_direct_flight": 92,
        "update_reservation_flights": 90, "calculate": 76, "get_user_details": 63, "think": 58,
        "book_reservation": 38, "transfer_to_human_agents": 18,
    }  # fmt: skip
    assert {name: names[name] for name in known} == known
    assert all(call.parsed is not None for call in calls)
    assert sum(not run.calls for run in airline) == 15
    assert max(Counter(c.call_message for c in run.calls).most_common(1)[0][1]
               for run in airline if run.calls) == 1  # fmt: skip


def test_airline_errors_and_empty_outputs(airline: list[Run]) -> None:
    calls = [call for run in airline for call in run.calls]
    answered = [call for call in calls if call.result is not None]
    assert len(answered) == 621
    assert sum(call.is_error for call in answered) == 63
    assert all(
        call.result.startswith("Error") for call in answered if call.is_error and call.result
    )
    empty = [call for call in answered if call.result == ""]
    assert len(empty) == 58
    assert {call.name for call in empty} == {"think"}
    ended = sum(run.messages[-1].role == "tool" for run in airline)
    assert ended == 20


def test_airline_ids_are_reused_and_pairs_hold(airline: list[Run]) -> None:
    ids = [[c.id for m in run.messages for c in m.tool_calls] for run in airline]
    assert sum(len(set(of_run)) < len(of_run) for of_run in ids) == 25
    assert len({i for of_run in ids for i in of_run}) == 117
    for run in airline:
        for call in run.calls:
            # One call a turn: its result is the very next message, whatever its id is.
            assert call.result_message == call.call_message + 1
            assert run.messages[call.call_message + 1].content == call.result
    first = airline[0].calls
    assert [c.name for c in first if c.call_message in {8, 12}] == [
        "search_direct_flight", "search_onestop_flight",
    ]  # fmt: skip
    repeated = sum(
        max(Counter((c.name, c.arguments) for c in run.calls).values(), default=0) > 1
        for run in airline
    )
    assert repeated == 13


def test_retail_calls(retail: list[Run]) -> None:
    assert len(retail) == 29
    assert sum(len(run.messages) for run in retail) == 1064
    calls = [call for run in retail for call in run.calls]
    assert len(calls) == 284
    ids = [c.id for run in retail for m in run.messages for c in m.tool_calls]
    assert len(set(ids)) == len(ids) == 284
    assert all(run.raw["reward"] == 0 for run in retail)
