"""The stated facts of the ToolFailBench task files, and the tolerant result reader."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.task import Task
from labelkit.domain.trace import RowState
from tests.formats.writing import read_all, write_lines

DOMAINS = ("finance", "medical", "legal")


@pytest.fixture(scope="module")
def tasks(shared: Path) -> list[Task]:
    found: list[Task] = []
    for domain in DOMAINS:
        read, traces, report = read_all(shared / "real/toolfailbench" / domain / "tasks.json")
        assert traces == []
        # The notes' copy has no system prompts; that must be said, once a file.
        assert [(line.kind, line.count) for line in report.lines] == [("lost", 1)]
        found += read
    return found


def test_counts(tasks: list[Task]) -> None:
    assert len(tasks) == 600
    assert len({t.id for t in tasks}) == 600
    assert {t.set for t in tasks} == {"toolfailbench"}
    assert len({(t.tags["domain"], tool.name) for t in tasks for tool in t.tools}) == 27
    modes = ("result_ignore", "tool_skip", "output_fabrication", "control")
    assert Counter((t.tags["domain"], t.tags["target_mode"]) for t in tasks) == {
        (domain, mode): 50 for domain in DOMAINS for mode in modes
    }
    assert Counter(t.tags["subset"] for t in tasks) == {"required": 450, "control": 150}


def test_match_modes(tasks: list[Task]) -> None:
    mode_all = Counter(t.tags["domain"] for t in tasks if t.reference.match_mode == "all")
    assert mode_all == {"finance": 164, "medical": 145, "legal": 139}


def test_a_required_and_a_control_task(tasks: list[Task]) -> None:
    by_id = {t.id: t for t in tasks}
    required, control = by_id["RI-FIN-001"], by_id["CTRL-FIN-001"]
    assert required.reference.expected_calls[0].arguments == {"ticker": "NVDA"}
    assert required.reference.must_contain == ("47.5", "P/E")
    assert required.reference.payload["pe_ratio"] == 47.5
    assert json.loads(required.environment.returns[0].payload) == required.reference.payload
    assert required.environment.returns[0].tool is None
    assert required.reference.answer_key is not None
    assert required.reference.answer_key.traps == ("30-40", "~35")
    assert required.tags["trap_value"] == "47.5"
    assert required.reference.note
    assert control.reference.expected_calls == ()
    assert control.reference.payload is None
    assert control.environment.returns[0].payload == "null"
    assert all(t.messages[-1].role == "user" for t in tasks)


def task(**changes: Any) -> dict[str, Any]:
    return {
        "task_id": "T1",
        "domain": "d",
        "target_failure_mode": "tool_skip",
        "user_message": "price?",
        "expected_tool_call": {"name": "get", "arguments": {}},
        "mock_tool_return": {"price": 7},
        "ground_truth": {"answer_must_contain": ["7"], "match_mode": "all"},
    } | changes


def test_a_system_prompt_above_the_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/d.md").write_text("Be brief.", encoding="utf-8")
    (tmp_path / "tasks").mkdir()
    path = tmp_path / "tasks/tasks.json"
    file = {"domain": "d", "system_prompt_ref": "prompts/d.md", "tasks": [task()]}
    path.write_text(json.dumps(file), encoding="utf-8")
    (read,), _, report = read_all(path)
    assert [m.content for m in read.messages] == ["Be brief.", "price?"]
    assert [line.what for line in report.lines] == [
        "there is no readable tools.json beside the tasks"
    ]


def test_a_reference_never_leaves_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    for ref in ("../../etc/hostname", "/etc/hostname"):
        path.write_text(json.dumps({"system_prompt_ref": ref, "tasks": [task()]}), "utf-8")
        (read,), _, _ = read_all(path)
        assert [m.role for m in read.messages] == ["user"]


@pytest.mark.parametrize(
    "bad",
    [3, {}, task(user_message=None), task(ground_truth=3), task(expected_tool_call={}),
     task(ground_truth={"answer_must_contain": "7"}), task(ground_truth={"match_mode": "some"})],
)  # fmt: skip
def test_broken_tasks_are_named(tmp_path: Path, bad: Any) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps({"tasks": [task(), bad]}), encoding="utf-8")
    read, _, report = read_all(path, "toolfailbench-tasks")
    assert len(read) == 1
    assert [line.records for line in report.lines if line.kind == "broken"] == [(1,)]


def result(**changes: Any) -> dict[str, Any]:
    return {
        "task_id": "T1",
        "model": "m",
        "user_message": "price?",
        "mock_tool_return": {"price": 7},
        "tool_calls": [{"name": "get", "arguments": {"x": 1}}],
        "final_answer": "It is 7.",
        "rule_label": "correct",
        "judge_labels": {"qwen": "correct"},
    } | changes


def test_a_result_becomes_a_conversation(tmp_path: Path) -> None:
    _, (trace,), _ = read_all(write_lines(tmp_path / "r.jsonl", [result()]))
    assert [(m.role, m.content) for m in trace.messages] == [
        ("user", "price?"),
        ("assistant", None),
        ("tool", '{"price": 7}'),
        ("assistant", "It is 7."),
    ]
    assert trace.messages[1].tool_calls[0].arguments == '{"x":1}'
    assert (trace.task_set, trace.task_id, trace.state) == ("toolfailbench", "T1", RowState.OK)
    assert trace.extra == {"rule_label": "correct", "judge_labels": {"qwen": "correct"}}


def test_error_rows_are_never_answers(tmp_path: Path) -> None:
    rows = [
        result(final_answer="ERROR: timeout", tool_calls=[]),
        result(final_answer=None, error="x"),
    ]
    _, traces, _ = read_all(write_lines(tmp_path / "r.jsonl", rows), "toolfailbench-results")
    assert [t.state for t in traces] == [RowState.INFRA_ERROR] * 2
    assert [t.error.kind for t in traces if t.error] == ["other_error"] * 2
    assert all(m.role != "assistant" or m.content is None for t in traces for m in t.messages)


def test_what_a_row_leaves_out_comes_from_the_tasks_beside_it(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps({"tasks": [task()]}), encoding="utf-8")
    row = {"tool_calls": [{"name": "get", "arguments": "{}"}] * 2, "answer": "7"}
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"model": "m", "domain": "d", "results": {"T1": row}}), "utf-8")
    _, (trace,), report = read_all(path, "toolfailbench-results")
    assert [m.content for m in trace.messages] == ["price?", None, *['{"price": 7}'] * 2, "7"]
    assert trace.tags == {"domain": "d"}
    assert report.clean


def test_unknown_returns_are_told(tmp_path: Path) -> None:
    row = {"task_id": "T9", "tool_calls": [{"name": "f", "arguments": "{}"}], "answer": "7"}
    _, (trace,), report = read_all(write_lines(tmp_path / "r.jsonl", [row]))
    assert [m.role for m in trace.messages] == ["assistant", "tool", "assistant"]
    assert trace.messages[1].content is None
    assert {line.kind for line in report.lines} == {"lost"}
    assert len(report.lines) == 3


def test_no_answer_is_no_text(tmp_path: Path) -> None:
    _, (trace,), _ = read_all(
        write_lines(tmp_path / "r.jsonl", [result(final_answer=None)]), "toolfailbench-results"
    )
    assert trace.state is RowState.NO_TEXT
