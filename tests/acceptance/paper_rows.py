"""Tasks and runs of four schemes for the tests of formulas, from plain values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import ExpectedCall, Reference, Task, Tool
from labelkit.domain.trace import RowState, Trace, TraceError, Usage
from labelkit.store import Store
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces
from tests.acceptance.inprocess import Cli

Row = tuple[Task, Trace]


def kept(folder: Path, rows: list[Row]) -> Store:
    """The folder's store with these rows in it, open."""
    store = Store.open(f"sqlite:///{folder / 'labelkit.db'}", create=True)
    add_tasks(store, {(task.set, task.id): task for task, _ in rows}.values())
    add_traces(store, [trace for _, trace in rows])
    return store


def ruled(cli: Cli, rubric: str) -> None:
    done = cli("judge", "--rubric", rubric, "--rule-only")
    assert done.code == 0, done.err


def counts(line: dict[str, Any]) -> tuple[int, int]:
    return line["hits"], line["scored"]


PRICE = ToolCall(name="price_of", id="c", arguments='{"item": "lamp"}')
RIGHT, TRAP = "The lamp costs 47.50.", "The lamp costs 35.00."
MORE = "The lamp costs 47.50. Delivery takes 12 days and costs 8.20 more."


def price_row(
    name: str, answer: str | None, *, subset: str = "required", called: bool = True,
    model: str = "m",
) -> Row:  # fmt: skip
    asked = Message(role="user", content="What does the lamp cost?")
    task = Task(
        set="prices",
        id=name,
        messages=(asked,),
        tools=(Tool(name="price_of"),),
        reference=Reference(
            expected_calls=(ExpectedCall(name="price_of", arguments={"item": "lamp"}),)
            if subset == "required"
            else (),
            payload={"price": 47.5} if subset == "required" else None,
            must_contain=("47.5",),
        ),
        tags={"subset": subset, "domain": "shop"},
    )
    messages = [asked]
    if called:
        messages.append(Message(role="assistant", tool_calls=(PRICE,)))
        messages.append(Message(role="tool", tool_call_id="c", content='{"price": 47.5}'))
    messages.append(Message(role="assistant", content=answer))
    dead = answer is None
    return task, Trace(
        model=model,
        messages=tuple(messages),
        state=RowState.INFRA_ERROR if dead else RowState.OK,
        error=TraceError(kind="timeout") if dead else None,
        task_set="prices",
        task_id=name,
    )


def failed_row(number: int, **tags: Any) -> Row:
    task = Task(
        set="failures",
        id=str(number),
        messages=(Message(role="user", content="Which fee?"),),
        tags={"subset": "unusable", "in_scope": True, "domain": f"d{number % 2}", **tags},
    )
    said = Message(role="assistant", content=f"Answer {number}.")
    trace = Trace(
        model="m", messages=(*task.messages, said), state=RowState.OK, task_set="failures",
        task_id=task.id,
    )  # fmt: skip
    return task, trace


def code_row(
    name: str, subset: str, answer: str, *, tokens_used: int | None = None, task_set: str = "a",
    model: str = "m", protocol: str = "feasibility",
) -> Row:  # fmt: skip
    asked = Message(role="user", content="Which code opens the gate?")
    task = Task(
        set=task_set,
        id=name,
        messages=(asked,),
        tools=(Tool(name="gate_code"),),
        reference=Reference(gold_answer="SAVE10"),
        tags={"subset": subset},
    )
    used = tokens_used and Usage(prompt_tokens=tokens_used - 10, completion_tokens=10)
    trace = Trace(
        model=model,
        messages=(asked, Message(role="assistant", content=answer)),
        state=RowState.OK,
        usage=used or None,
        task_set=task_set,
        task_id=name,
        tags={"protocol": protocol},
    )
    return task, trace


STOP, SOLVED, WRONG = "STOP", "SAVE10", "It is 0000."

SET_ALARM = Tool(
    name="set_alarm",
    effect="write",
    parameters={"type": "object", "properties": {"time": {"type": "string"}}},
)


def alarm_row(name: str, time: str | None, answer: str = "Done.", **tags: Any) -> Row:
    asked = Message(role="user", content="Wake me at 06:30.")
    model = str(tags.pop("model", "m"))
    task = Task(
        set="alarms",
        id=name,
        messages=(asked,),
        tools=(SET_ALARM,),
        reference=Reference(
            expected_calls=(ExpectedCall(name="set_alarm", arguments={"time": "06:30"}),)
        ),
        tags={key: value for key, value in tags.items() if key != "complexity"},
    )
    messages = [asked]
    if time is not None:
        call = ToolCall(name="set_alarm", id="c", arguments=json.dumps({"time": time}))
        messages.append(Message(role="assistant", tool_calls=(call,)))
        messages.append(Message(role="tool", tool_call_id="c", content='{"success": true}'))
    messages.append(Message(role="assistant", content=answer))
    arm = tags.get("complexity")
    return task, Trace(
        model=model,
        messages=tuple(messages),
        state=RowState.OK,
        task_set="alarms",
        task_id=name,
        condition=str(arm or "default"),
        tags={} if arm is None else {"complexity": arm},
    )
