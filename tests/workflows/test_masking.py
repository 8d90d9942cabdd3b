"""Masking: critical tools from rollouts, variants without them, screens that report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labelkit.catalog.task_sets import load_task_set
from labelkit.domain.environment import Environment, ToolReturn
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Reference, Task, Tool
from labelkit.domain.trace import RowState, Trace, TraceError
from labelkit.errors import InputError
from labelkit.store import Store
from labelkit.store.traces import add_traces
from labelkit.workflows.masking import (
    EQUIVALENT,
    GROUNDED,
    Masking,
    critical_tools,
    likeness,
    mask,
    masked_variant,
    screen,
    told_by,
)
from labelkit.workflows.tasks_check import check_tasks

FIND = Tool(name="find_booking", description="Finds a booking by the guest's name.")
PRICE = Tool(name="get_price", description="Price of a booking.")
SEARCH = Tool(name="search_booking", description="Finds a booking by the guest's name.")
CLOCK = Tool(name="get_time", description="The time now.")

TASK = Task(
    set="inn",
    id="t1",
    messages=(Message(role="user", content="What does the stay of Ada Holm cost?"),),
    tools=(FIND, PRICE, CLOCK),
    environment=Environment(
        returns=(
            ToolReturn(tool="find_booking", payload='{"booking": "K-4471"}'),
            ToolReturn(tool="get_price", payload='{"price": 212.5}'),
            ToolReturn(tool="get_time", payload='{"time": "12:00"}'),
        )
    ),
    reference=Reference(must_contain=("212.5",), gold_answer="The stay costs 212.5."),
    tags={"domain": "inn"},
)


def rollout(
    *made: tuple[str, dict[str, Any], str], answer: str = "It costs 212.5.", **fields: Any
) -> Trace:
    messages = list(TASK.messages)
    for number, (name, arguments, result) in enumerate(made):
        call = ToolCall(name=name, arguments=json.dumps(arguments), id=f"c{number}")
        messages.append(Message(role="assistant", tool_calls=(call,)))
        messages.append(Message(role="tool", name=name, tool_call_id=call.id, content=result))
    messages.append(Message(role="assistant", content=answer))
    base: dict[str, Any] = {"model": "a", "state": RowState.OK, "task_set": "inn", "task_id": "t1"}
    return Trace(messages=tuple(messages), **{**base, **fields})


FOUND = ("find_booking", {"guest": "Ada Holm"}, '{"booking": "K-4471", "guest": "Ada Holm"}')
PRICED = ("get_price", {"booking": "K-4471"}, '{"price": 212.5}')
TIMED = ("get_time", {}, '{"time": "12:00"}')
FAILED = ("get_price", {"booking": "?"}, '{"error": "no such booking"}')


def test_critical_are_tools_that_every_success_ran_without_an_error() -> None:
    solved = [rollout(FOUND, PRICED, TIMED), rollout(FAILED, FOUND, PRICED, model="b")]
    assert critical_tools(TASK, solved).critical == ("find_booking", "get_price")


def test_a_call_that_failed_or_was_not_run_makes_no_tool_critical() -> None:
    failed = rollout(FAILED, FOUND, model="b")
    assert critical_tools(TASK, [rollout(FOUND, PRICED), failed]).critical == ("find_booking",)
    attempted = rollout(FOUND, model="b")
    stated = Message(role="assistant", tool_calls=(ToolCall(name="get_price", id="x"),))
    messages = (*attempted.messages[:-1], stated, attempted.messages[-1])
    attempted = attempted.model_copy(update={"messages": messages})
    assert critical_tools(TASK, [rollout(FOUND, PRICED), attempted]).critical == ("find_booking",)


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ([], "fewer than two models"),
        ([rollout(FOUND, PRICED)], "fewer than two models"),
        ([rollout(FOUND, PRICED, answer="It costs 90.", model="b")], "fewer than two models"),
        (
            [
                rollout(
                    FOUND, model="b", state=RowState.INFRA_ERROR, error=TraceError(kind="transport")
                )
            ],
            "fewer than two models",
        ),
        ([rollout(TIMED, model="b")], "no tool is common"),
    ],
)
def test_without_two_solving_models_or_a_common_tool_nothing_is_masked(
    others: list[Trace], why: str
) -> None:
    evidence = critical_tools(TASK, [rollout(FOUND, PRICED, repeat=1), *others])
    assert evidence.why_not.startswith(why)
    assert not evidence.critical


def test_a_variant_has_lost_its_tools_and_kept_its_reference() -> None:
    variant = masked_variant(TASK, ("find_booking", "get_price"))
    assert variant.id == "t1.masked"
    assert [tool.name for tool in variant.tools] == ["get_time"]
    assert variant.environment.masked == ("find_booking", "get_price")
    assert variant.tags["subset"] == "infeasible"
    assert variant.tags["masked_from"] == "t1"
    assert variant.reference.gold_answer == TASK.reference.gold_answer
    assert masked_variant(TASK, ("get_price",), one_of_several=True).id == "t1.without-get_price"


def test_the_screens_find_a_like_tool_and_a_request_that_holds_the_answer() -> None:
    assert likeness(FIND, SEARCH) > 0.5 > likeness(FIND, PRICE)
    assert told_by("find_booking", [rollout(FOUND, PRICED)]) == {"K-4471"}
    rich = TASK.model_copy(
        update={
            "tools": (*TASK.tools, SEARCH),
            "messages": (Message(role="user", content="What does booking K-4471 cost?"),),
        }
    )
    variant = masked_variant(rich, ("find_booking",))
    found = list(screen(rich, variant, ("find_booking",), [rollout(FOUND, PRICED)]))
    assert [finding.screen for finding in found] == [EQUIVALENT, GROUNDED]
    assert not list(screen(TASK, masked_variant(TASK, ("get_time",)), ("get_time",), []))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A set of two tasks: one alone, one with a twin of a critical tool."""
    folder = tmp_path / "inn"
    folder.mkdir()
    card = {
        "name": "inn",
        "title": "Inn",
        "version": "1",
        "licence": "Apache-2.0",
        "redistributable": True,
        "source": "tests",
        "description": "Two tasks.",
        "domains": ["inn"],
    }
    (folder / "card.yaml").write_text(json.dumps(card), encoding="utf-8")
    twin = TASK.model_copy(update={"id": "t2", "tools": (*TASK.tools, SEARCH)})
    lines = [t.model_dump_json(exclude={"set"}, exclude_defaults=True) for t in (TASK, twin)]
    (folder / "tasks.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    traces = [
        rollout(FOUND, PRICED, model=model, task_id=task_id)
        for task_id in ("t1", "t2")
        for model in ("a", "b")
    ]
    opened = Store.open(f"sqlite:///{tmp_path / 'labelkit.db'}", create=True)
    add_traces(opened, traces)
    return opened


def test_a_new_set_holds_originals_and_variants_and_passes_its_check(
    store: Store, source: Path, tmp_path: Path
) -> None:
    done = mask(store, source, tmp_path / "masked")
    assert (done.originals, done.variants, done.dropped) == (2, 2, 0)
    assert [finding.variant for finding in done.findings] == ["t2.masked"]
    made = load_task_set(tmp_path / "masked")
    assert [task.id for task in made.tasks] == ["t1", "t1.masked", "t2", "t2.masked"]
    assert made.card.rubric == "feasibility"
    assert check_tasks(tmp_path / "masked").problems == ()
    before = (tmp_path / "masked" / "tasks.jsonl").read_bytes()
    mask(store, source, tmp_path / "masked")
    assert (tmp_path / "masked" / "tasks.jsonl").read_bytes() == before


def test_one_variant_per_tool_and_screens_on_request(
    store: Store, source: Path, tmp_path: Path
) -> None:
    done = mask(store, source, tmp_path / "each", Masking(each=True, screens=(EQUIVALENT,)))
    assert (done.variants, done.dropped) == (3, 1)
    ids = [task.id for task in load_task_set(tmp_path / "each").tasks]
    assert ids == [
        "t1",
        "t1.without-find_booking",
        "t1.without-get_price",
        "t2",
        "t2.without-get_price",
    ]


def test_without_rollouts_of_the_set_there_is_nothing_to_mask(
    store: Store, source: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="no rollouts of task set inn"):
        mask(store, source, tmp_path / "none", Masking(condition="other"))


def test_traces_may_come_from_files(store: Store, source: Path, tmp_path: Path) -> None:
    file = tmp_path / "rollouts.jsonl"
    records = []
    for model in ("a", "b"):
        trace = rollout(FOUND, PRICED, model=model)
        messages = []
        for message in trace.messages:
            said: dict[str, Any] = {"role": message.role, "content": message.content}
            if message.tool_calls:
                said["tool_calls"] = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": call.arguments},
                    }
                    for call in message.tool_calls
                ]
            if message.tool_call_id:
                said["tool_call_id"] = message.tool_call_id
            messages.append(said)
        records.append({"model": model, "task_set": "inn", "task_id": "t1", "messages": messages})
    file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    done = mask(None, source, tmp_path / "fromfile", Masking(files=(file,)))
    assert done.originals == 1
    assert done.left_out == {"fewer than two models solved it": 1}
