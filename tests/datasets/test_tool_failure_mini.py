"""The demo task set proves itself: valid, answerable from the payload and from nothing else."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
import yaml

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace
from labelkit.rollout.environment import Episode
from labelkit.rules.registry import classifier
from tests.conftest import ROOT

FOLDER = ROOT / "datasets" / "tool-failure-mini"
CARD = yaml.safe_load((FOLDER / "card.yaml").read_text(encoding="utf-8"))
TASKS = [
    Task.model_validate({"set": CARD["name"], **json.loads(line)})
    for line in (FOLDER / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
]
REQUIRED = [task for task in TASKS if task.tags["subset"] == "required"]
CONTROL = [task for task in TASKS if task.tags["subset"] == "control"]


def id_of(task: Task) -> str:
    return task.id


def at(payload: Any, path: str) -> Any:
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        payload = payload[name] if name else payload[int(index)]
    return payload


def test_the_set_is_what_its_card_says() -> None:
    assert (CARD["licence"], CARD["redistributable"]) == ("Apache-2.0", True)
    assert len({task.id for task in TASKS}) == len(TASKS) == 60
    per_domain = Counter((task.tags["domain"], task.tags["subset"]) for task in TASKS)
    for domain in CARD["domains"]:
        assert per_domain[domain, "required"] == 9
        assert per_domain[domain, "control"] == 3
    assert {task.tags["domain"] for task in TASKS} == set(CARD["domains"])
    types = {
        v.type for t in REQUIRED if t.reference.answer_key for v in t.reference.answer_key.values
    }
    assert types >= {"number", "datetime", "duration", "boolean", "enum", "list", "set"}


@pytest.mark.parametrize("task", REQUIRED, ids=id_of)
def test_the_expected_call_is_declared_and_its_return_holds_the_key(task: Task) -> None:
    (expected,) = task.reference.expected_calls
    tool = next(tool for tool in task.tools if tool.name == expected.name)
    assert set(expected.arguments) == set(tool.parameters["required"])
    call = ToolCall(name=expected.name, arguments=json.dumps(expected.arguments), id="c")
    payload = json.loads(Episode(task).answer(call).content or "")
    assert payload == task.reference.payload
    assert task.reference.answer_key is not None
    for value in task.reference.answer_key.values:
        assert value.path is not None
        assert at(payload, value.path) == value.value
        assert value.path[2:] in tool.returns


@pytest.mark.parametrize("task", REQUIRED, ids=id_of)
def test_the_question_does_not_give_the_answer_away(task: Task) -> None:
    prompt = " ".join(message.content or "" for message in task.messages).lower()
    words = [w for w in task.reference.must_contain if w not in {"yes", "no"}]
    assert not [w for w in words if re.search(rf"(?<!\w){re.escape(w.lower())}(?!\w)", prompt)]


@pytest.mark.parametrize("task", TASKS, ids=id_of)
def test_the_gold_answer_satisfies_the_key(task: Task) -> None:
    gold = (task.reference.gold_answer or "").lower()
    found = [word.lower() in gold for word in task.reference.must_contain]
    assert found
    assert all(found) if task.reference.match_mode == "all" else any(found)
    for trap in task.reference.answer_key.traps if task.reference.answer_key else ():
        assert trap.lower() not in gold


@pytest.mark.parametrize("task", CONTROL, ids=id_of)
def test_a_control_task_expects_no_call(task: Task) -> None:
    assert not task.reference.expected_calls
    assert task.tools


@pytest.mark.parametrize("task", TASKS, ids=id_of)
def test_the_rule_never_calls_a_gold_rollout_wrong(task: Task) -> None:
    """A hand-made correct rollout with the gold answer: ``correct``, or the rule abstains."""
    messages = list(task.messages)
    for number, expected in enumerate(task.reference.expected_calls):
        call = ToolCall(
            name=expected.name, arguments=json.dumps(expected.arguments), id=f"c{number}"
        )
        messages += [
            Message(role="assistant", tool_calls=(call,)),
            Episode(task).answer(call),
        ]
    messages.append(Message(role="assistant", content=task.reference.gold_answer))
    trace = Trace(
        model="by-hand",
        messages=tuple(messages),
        state=RowState.OK,
        task_set=task.set,
        task_id=task.id,
        tags=task.tags,
    )
    ruling = classifier("tool-failure")(load_rubric("tool-failure"), trace, task)
    assert ruling.label in {"correct", None}, ruling
