"""Who&When: every fact stated about the files, and the roles that no chat knows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.formats.registry import sniff_format
from tests.formats.writing import read_all, write_lines


@pytest.fixture(scope="module")
def runs(shared: Path) -> list[tuple[Task, Trace]]:
    pairs = []
    for path in sorted((shared / "real/who_and_when_algorithm_generated").glob("*.json")):
        assert sniff_format(path).name == "who-and-when"
        (task,), (trace,), report = read_all(path)
        assert [line.what for line in report.lines] == [
            "no model is named, now `unknown`; name it with --model"
        ]
        pairs.append((task, trace))
    return pairs


def test_files_and_messages(runs: list[tuple[Task, Trace]]) -> None:
    assert len(runs) == 28
    roles = Counter(m.role for _, trace in runs for m in trace.messages)
    assert roles == {"user": 177, "assistant": 72}
    assert sum(roles.values()) == 249


def test_the_step_at_fault_was_spoken_by_the_agent_at_fault(
    runs: list[tuple[Task, Trace]],
) -> None:
    for _, trace in runs:
        step = trace.tags["mistake_step"]
        assert isinstance(step, int)
        assert trace.messages[step].name == trace.tags["mistake_agent"]


def test_questions_are_tasks_with_their_answers(runs: list[tuple[Task, Trace]]) -> None:
    for task, trace in runs:
        assert (task.set, task.id) == (trace.task_set, trace.task_id)
        assert len(task.id) == 64
        assert task.reference.gold_answer
        assert trace.extra["mistake_reason"]
        assert trace.tags["is_correct"] is False


def run(**fields: Any) -> dict[str, Any]:
    history = [
        {"role": "human", "content": "q"},
        {"role": "Orchestrator (thought)", "content": "plan"},
        {"role": "WebSurfer", "content": "found"},
    ]
    return {"history": history, "question_ID": "q1", "mistake_agent": "WebSurfer"} | fields


def test_agents_named_by_their_role_become_assistants(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "1.json", [run(mistake_step="2", question="q", ground_truth=7)])
    (task,), (trace,), report = read_all(path)
    assert [(m.role, m.name) for m in trace.messages] == [
        ("user", None),
        ("assistant", "Orchestrator (thought)"),
        ("assistant", "WebSurfer"),
    ]
    assert trace.tags["mistake_step"] == 2
    assert task.reference.gold_answer == "7"
    assert report.total("repaired") == 2


@pytest.mark.parametrize("step", ["3", "-1", "second", 1.5, None])
def test_a_step_outside_the_history_is_kept_and_told(tmp_path: Path, step: Any) -> None:
    path = write_lines(tmp_path / "1.json", [run(mistake_step=step)])
    _, (trace,), report = read_all(path)
    assert "mistake_step" not in trace.tags
    assert trace.extra.get("mistake_step") == step
    assert report.total("odd") == (step is not None)


def test_a_damaged_run_is_told_and_the_next_one_read(tmp_path: Path) -> None:
    rows = [run(history="x"), run(history=[]), {"mistake_step": "1"}, run()]
    _, traces, report = read_all(write_lines(tmp_path / "r.jsonl", rows), "who-and-when")
    assert len(traces) == 1
    assert report.broken == 3
