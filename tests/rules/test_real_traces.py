"""The rule and the engine run over real agent runs without an exception, and mend nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelkit.domain.task import ExpectedCall, Reference, Task
from labelkit.domain.trace import RowState, Trace
from labelkit.grounding.values import find_values
from labelkit.grounding.visible import visible_answer
from labelkit.rules.registry import classifier
from tests.rules.rows import CONTROL, REQUIRED, RUBRIC, message_of

RUNS = (
    "tau_bench_airline/gpt-4o-airline.tasks-00-24.json",
    "agentrx_tau_retail/tau_dataset_failed.json",
)


@pytest.mark.parametrize("name", RUNS)
def test_real_runs(shared: Path, name: str) -> None:
    runs = json.loads((shared / "real" / name).read_text(encoding="utf-8"))
    rule = classifier("tool_failure")
    silent = 0
    for number, run in enumerate(runs):
        messages = tuple(message_of(m) for m in run["traj"])
        trace = Trace(model="m", messages=messages, state=RowState.OK)
        answer = visible_answer(messages)
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
        not next(m for m in reversed(r["traj"]) if m["role"] == "assistant")["content"]
        for r in runs
    )
    assert silent == ends_in_call
