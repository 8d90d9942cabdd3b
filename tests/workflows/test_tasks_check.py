"""A task set that breaks one promise is told so by task; one that keeps them all is in order."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from labelkit.catalog.task_sets import load_task_set, task_json_schema
from labelkit.workflows.tasks_check import Checked, check_tasks
from tests.acceptance.inprocess import Cli, cli  # noqa: F401 - a fixture

CARD: dict[str, Any] = {
    "name": "mine",
    "title": "Mine",
    "version": "1",
    "licence": "Apache-2.0",
    "redistributable": True,
    "source": "these tests",
    "description": "One task.",
    "domains": ["harbour"],
    "rubric": "tool-failure",
}
SCHEMA = {
    "type": "object",
    "properties": {"berth": {"type": "string"}},
    "required": ["berth"],
    "additionalProperties": False,
}
TASK: dict[str, Any] = {
    "id": "t1",
    "messages": [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "How deep is the water at berth B7?"},
    ],
    "tools": [
        {"name": "get_berth", "parameters": SCHEMA, "returns": ["depth_m"]},
        {"name": "get_tide"},
    ],
    "environment": {"returns": [{"tool": "get_berth", "payload": '{"depth_m": 11.3}'}]},
    "reference": {
        "expected_calls": [{"name": "get_berth", "arguments": {"berth": "B7"}}],
        "payload": {"depth_m": 11.3},
        "answer_key": {"values": [{"type": "number", "value": 11.3, "path": "$.depth_m"}]},
        "must_contain": ["11.3"],
        "gold_answer": "The water at berth B7 is 11.3 m deep.",
    },
    "tags": {"subset": "required", "domain": "harbour"},
}
BUSY = {"tool": "get_berth", "payload": '{"error": "busy"}', "fault": "x", "times": 1}
HAZARD = {
    "kind": "execution_failure",
    "hint": "Call it again.",
    "recovery": [
        {"name": "get_berth", "arguments": {"berth": "B7"}},
        {"name": "get_berth", "arguments": {"berth": "B7"}, "gives": ["11.3"]},
    ],
}
Check = Callable[..., Checked]


def changed(value: Any, path: str, new: Any) -> Any:
    """A copy of a JSON value with one place changed (``a.b.0``)."""
    copy = json.loads(json.dumps(value))
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place = copy
    for part in way:
        place = place[part]
    place[last] = new
    return copy


@pytest.fixture
def check(tmp_path: Path) -> Check:
    def run(task: Any = TASK, card: Any = CARD, *, more: str = "") -> Checked:
        folder = tmp_path / "mine"
        folder.mkdir(exist_ok=True)
        (folder / "card.yaml").write_text(json.dumps(card), encoding="utf-8")
        (folder / "tasks.jsonl").write_text(json.dumps(task) + "\n" + more, encoding="utf-8")
        return check_tasks(folder)

    return run


def texts(found: Checked) -> list[str]:
    return [problem.text for problem in found.problems]


def hazardous() -> Any:
    task = changed(TASK, "environment.hazard", HAZARD)
    return changed(task, "environment.returns", [BUSY, *TASK["environment"]["returns"]])


def test_a_set_that_keeps_its_promises_is_in_order(check: Check) -> None:
    assert check().problems == ()
    assert check(hazardous()).problems == ()
    assert check().remarks == ()


@pytest.mark.parametrize(
    ("path", "new", "words"),
    [
        ("messages", [], "no user message"),
        ("tools.1.name", "get_berth", "declared twice"),
        ("tools.0.parameters", {"type": "strin"}, "no JSON Schema"),
        ("environment.returns.0.tool", "get_brth", "speaks for get_brth"),
        ("environment.returns.0.when", {"from_call": 3, "to_call": 2}, "before it begins"),
        (
            "environment.returns.0.when",
            {"tests": {"berth": {"pattern": "("}}},
            "no regular expression",
        ),
        ("environment.returns.0.when", {"after": [{"tool": "nope"}]}, "waits for nope"),
        ("environment.returns.0.when", {"arguments": {"berth": "C1"}}, "no scripted return"),
        ("environment.returns.0.payload", '{"error": "busy"}', "no fault declares"),
        ("reference.expected_calls.0.name", "get_brth", "names no tool"),
        ("reference.expected_calls.0.arguments", {}, "breaks its tool's schema"),
        ("reference.gold_answer", None, "no gold answer"),
        ("reference.gold_answer", "It is 9.5 m deep.", "calls the gold answer result_ignore"),
        ("tags.subset", "other", "abstains on the gold answer (no_subset)"),
        ("messages.1.content", "Is berth B7 11.3 m deep?", "the prompt gives the answer away"),
        ("messages.0.content", "Depths: 11.30 m.", "the prompt gives the answer away"),
    ],
)
def test_each_broken_promise_is_named(check: Check, path: str, new: Any, words: str) -> None:
    found = check(changed(TASK, path, new))
    assert any(words in text for text in texts(found)), texts(found)
    assert {problem.task for problem in found.problems} <= {"t1", ""}


@pytest.mark.parametrize(
    ("path", "new", "words"),
    [
        ("environment.returns.0.fault", "", "the hazard never strikes"),
        ("environment.hazard.recovery", [], "no recovery"),
        ("environment.hazard.recovery.1.gives", ["12.5"], "does not give '12.5'"),
        ("environment.hazard.recovery.1.gives", [], "no recovery call says what it gives"),
        ("environment.hazard.recovery.1.name", "get_tide", "gets no scripted return"),
        ("environment.hazard.recovery.1.name", "nope", "names no tool"),
        ("environment.returns.0.times", 2, "the recovery ends in an error"),
        ("environment.returns.1.fault", "y", "no scripted return with clean tools"),
        ("environment.hazard.hint", "It is 11.3 m.", "the hint gives the answer away"),
    ],
)
def test_a_hazard_that_cannot_be_overcome_is_named(
    check: Check, path: str, new: Any, words: str
) -> None:
    found = check(changed(hazardous(), path, new))
    assert any(words in text for text in texts(found)), texts(found)


@pytest.mark.parametrize(
    ("path", "new", "words"),
    [
        ("domains", ["harbour", "desert"], "'desert', of which there is no task"),
        ("domains", [], "does not list the domain 'harbour'"),
        ("rubric", "tool-failur", "no rubric 'tool-failur' found"),
        ("protocol", "live-lop", "there is no protocol"),
        ("conditions", [{"name": "a", "system": "Other."}], "declared an insertion"),
        ("conditions", [{"name": "a", "after": "It is 11.3 m."}], "the condition a gives"),
        ("gold", {"required": ["tool_skip"]}, "correct (key_stated), not tool_skip"),
    ],
)
def test_a_wrong_card_is_named(check: Check, path: str, new: Any, words: str) -> None:
    found = check(card=changed(CARD, path, new))
    assert any(words in text for text in texts(found)), texts(found)


def test_wrong_lines_are_all_listed_and_the_others_checked(check: Check) -> None:
    bad = json.dumps(changed(changed(TASK, "id", "t2"), "tags.domain", "sea"))
    found = check(more=f"{{\n{json.dumps(TASK)}\n{bad}\n[]\n")
    assert found.tasks == 2
    assert [text for text in texts(found) if "jsonl:2" in text]
    assert [text for text in texts(found) if "given twice" in text]
    assert [text for text in texts(found) if "not an object" in text]
    assert "the card does not list the domain 'sea'" in texts(found)


def test_a_set_without_a_rule_says_what_was_not_checked(check: Check) -> None:
    assert "names no rubric" in check(card=changed(CARD, "rubric", "")).remarks[0]


def test_a_masked_task_is_right_when_it_says_stop(check: Check) -> None:
    task = changed(TASK, "environment.masked", ["get_berth"])
    task = changed(task, "tags.subset", "infeasible")
    task = changed(task, "tools", TASK["tools"][1:])
    task = changed(task, "reference", {"gold_answer": "There is no tool for berths."})
    card = {**CARD, "rubric": "feasibility", "gold": {"infeasible": ["stop"]}}
    assert check(task, card).problems == ()
    wrong = changed(changed(task, "environment.masked", []), "environment.returns", [])
    assert "not stop" in texts(check(wrong, card))[0]


def test_the_command_lists_problems_and_ends_with_2(
    check: Check,
    tmp_path: Path,
    cli: Cli,  # noqa: F811
) -> None:
    check()
    said = cli("tasks", "check", "./mine")
    assert (said.code, said.out) == (0, "mine 1: 1 tasks in order\n")
    check(changed(changed(TASK, "tools.1.name", "get_berth"), "messages", []))
    said = cli("tasks", "check", str(tmp_path / "mine"))
    assert said.code == 2
    assert said.out.splitlines()[0] == "t1"
    assert len(said.out.splitlines()) == 3
    assert said.sentence.startswith("2 problems in task set mine")


def test_the_schema_takes_every_packaged_task(cli: Cli) -> None:  # noqa: F811
    assert json.loads(cli("tasks", "schema").out) == task_json_schema()
    validator = jsonschema.Draft202012Validator(task_json_schema())
    for task in load_task_set("tool-failure-mini").tasks[:3]:
        validator.validate(task.model_dump(mode="json", exclude={"set"}))
    assert list(validator.iter_errors({"id": "x", "mesages": []}))


def test_the_list_names_every_packaged_set(cli: Cli) -> None:  # noqa: F811
    assert "tool-failure-mini" in cli("tasks", "list").out
