"""BFCL task files: the stated counts, schemas in another language's types, accepted answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from labelkit.domain.task import Task
from labelkit.errors import FormatError
from labelkit.formats.registry import LossReport, read_file, sniff_format
from tests.formats.writing import read_all, write_lines

COUNTS = {
    "simple_python": 120,
    "parallel_multiple": 100,
    "irrelevance": 120,
    "live_parallel": 16,
    "simple_javascript": 50,
}


@pytest.fixture(scope="module")
def sets(shared: Path) -> dict[str, tuple[list[Task], LossReport]]:
    found = {}
    for name in COUNTS:
        path = shared / f"real/bfcl_v4/BFCL_v4_{name}.json"
        assert sniff_format(path).name == "bfcl"
        tasks, _, report = read_all(path)
        found[name] = (tasks, report)
    return found


def test_the_stated_numbers_of_tasks(sets: dict[str, tuple[list[Task], LossReport]]) -> None:
    assert {name: len(tasks) for name, (tasks, _) in sets.items()} == COUNTS
    for tasks, report in sets.values():
        assert report.broken == report.total("lost") == 0
        assert all(task.messages[0].role in {"user", "system"} for task in tasks)
        assert len({task.id for task in tasks}) == len(tasks)


def test_every_schema_is_one_that_a_validator_accepts(
    sets: dict[str, tuple[list[Task], LossReport]], shared: Path
) -> None:
    raw = (shared / "real/bfcl_v4/BFCL_v4_simple_python.json").read_text("utf-8")
    stated = [json.loads(line)["function"][0]["parameters"]["type"] for line in raw.splitlines()]
    assert set(stated) == {"dict"}
    for tasks, _ in sets.values():
        for task in tasks:
            for tool in task.tools:
                assert tool.parameters["type"] == "object"
                jsonschema.Draft202012Validator.check_schema(tool.parameters)


def test_expected_calls_are_among_the_accepted(
    sets: dict[str, tuple[list[Task], LossReport]], shared: Path
) -> None:
    for name, (tasks, _) in sets.items():
        path = shared / f"real/bfcl_v4/possible_answer/BFCL_v4_{name}.json"
        if name == "irrelevance":
            assert not path.exists()
            assert all(t.reference.no_calls and not t.reference.expected_calls for t in tasks)
            continue
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for task, row in zip(tasks, rows, strict=True):
            assert task.id == row["id"]
            calls = task.reference.expected_calls
            assert [c.name for c in calls] == [n for call in row["ground_truth"] for n in call]
            for call, accepted in zip(calls, row["ground_truth"], strict=True):
                lists = accepted[call.name]
                assert set(call.arguments) == {k for k, v in lists.items() if "" not in v}
            assert json.loads(task.reference.note)["accepted_calls"] == row["ground_truth"]


def test_the_answers_alone_are_no_tasks(shared: Path) -> None:
    path = shared / "real/bfcl_v4/possible_answer/BFCL_v4_live_parallel.json"
    with pytest.raises(FormatError, match="import the task file in the folder above"):
        list(read_file(path))


def task(number: int = 0, category: str = "simple", **fields: Any) -> dict[str, Any]:
    function = {"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {}}}
    question = [[{"role": "user", "content": "q"}]]
    return {"id": f"{category}_{number}", "question": question, "function": [function]} | fields


def test_types_are_translated_at_every_depth_but_not_names(tmp_path: Path) -> None:
    inner = {"type": {"type": "String"}, "n": {"type": "float"}, "any": {"type": "any"}}
    schema = {
        "type": "dict",
        "properties": {
            "box": {"type": "HashMap", "properties": inner},
            "all": {"type": "ArrayList", "items": {"type": "tuple"}},
            "odd": {"type": "int[]"},
        },
    }
    row = task(function={"name": "f", "parameters": schema})
    (made,), _, report = read_all(write_lines(tmp_path / "BFCL.json", [row]))
    assert made.tools[0].parameters == {
        "type": "object",
        "properties": {
            "box": {
                "type": "object",
                "properties": {"type": {"type": "string"}, "n": {"type": "number"}, "any": {}},
            },
            "all": {"type": "array", "items": {"type": "array"}},
            "odd": {"type": "array"},
        },
    }
    assert {line.kind for line in report.lines} == {"lost", "repaired"}


def test_optional_arguments_and_nested_objects(tmp_path: Path) -> None:
    accepted = {
        "f": {
            "a": [1, 2],
            "b": ["x", ""],
            "c": [{"d": [[1]], "e": ["", 3]}],
            "g": [[{"h": [7]}]],
        }
    }
    (tmp_path / "possible_answer").mkdir()
    row = {"id": "simple_0", "ground_truth": [accepted]}
    write_lines(tmp_path / "possible_answer/t.json", [row])
    (made,), _, report = read_all(write_lines(tmp_path / "t.json", [task()]))
    (call,) = made.reference.expected_calls
    assert call.arguments == {"a": 1, "c": {"d": [1]}, "g": [{"h": 7}]}
    assert report.total("lost") == 0


def test_later_turns_are_kept_in_the_note(tmp_path: Path) -> None:
    turns = [[{"role": "user", "content": "q"}], [{"role": "user", "content": "and then?"}]]
    (made,), _, report = read_all(write_lines(tmp_path / "t.json", [task(question=turns)]))
    assert [m.content for m in made.messages] == ["q"]
    assert json.loads(made.reference.note)["later_turns"] == turns[1:]
    assert report.total("lost") == 2


def test_missing_answers_are_told_only_where_there_should_be_some(tmp_path: Path) -> None:
    _, _, report = read_all(write_lines(tmp_path / "a.json", [task()]))
    assert [line.what for line in report.lines if line.kind == "lost"] == [
        "there are no accepted answers in possible_answer/"
    ]
    (made,), _, report = read_all(
        write_lines(tmp_path / "x_irrelevance.json", [task(category="live_irrelevance")])
    )
    assert made.reference.no_calls
    assert made.tags["subset"] == "live_irrelevance"
    assert report.total("lost") == 0


@pytest.mark.parametrize(
    "row",
    [task(id=None), task(question=[]), task(question=3), task(function=[{"a": 1}]), 3],
)
def test_damaged_tasks_are_broken(tmp_path: Path, row: Any) -> None:
    tasks, _, report = read_all(write_lines(tmp_path / "t.json", [row, task(1)]), "bfcl")
    assert [t.id for t in tasks] == ["simple_1"]
    assert report.broken == 1
