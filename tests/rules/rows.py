"""Tasks and traces for the rule tests, built from plain values."""

from __future__ import annotations

import json
from typing import Any

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.rubric import LabelDefinition, Question, Rubric
from labelkit.domain.task import AnswerKey, ExpectedCall, KeyValue, Reference, Task, Tool
from labelkit.domain.trace import RowState, Trace, TraceError

REQUIRED = ("correct", "tool_skip", "result_ignore", "output_fabrication")
CONTROL = ("correct", "unnecessary_tool_use", "wrong_answer")
RUBRIC = Rubric(
    name="tool-failure",
    version="1",
    title="Tool failure",
    source="tests",
    subsets=("required", "control"),
    questions=(
        Question(
            id="label",
            type="choice",
            text="What happened?",
            labels=tuple(
                LabelDefinition(name=n, title=n, key=str(i), include=n)
                for i, n in enumerate(dict.fromkeys(REQUIRED + CONTROL))
            ),
        ),
    ),
    rule="tool_failure",
)


def message_of(raw: dict[str, Any]) -> Message:
    return Message(
        role=raw["role"],
        content=raw.get("content"),
        tool_call_id=raw.get("tool_call_id"),
        name=raw.get("name"),
        tool_calls=tuple(
            ToolCall(
                id=c.get("id"),
                name=c["function"]["name"],
                arguments=c["function"]["arguments"],
            )
            for c in raw.get("tool_calls") or ()
        ),
    )


def trace_of_case(case: dict[str, Any]) -> Trace:
    raw = case["trace"]
    error = raw.get("error")
    state = RowState.OK
    if error:
        state = RowState.INFRA_ERROR
    elif raw.get("finish_reason") == "length":
        state = RowState.TRUNCATED
    return Trace(
        model="m",
        messages=tuple(message_of(m) for m in raw["messages"]),
        state=state,
        finish_reason=raw.get("finish_reason"),
        error=TraceError(kind=error["kind"], message=error["message"]) if error else None,
    )


def task_of_case(case: dict[str, Any]) -> Task:
    raw = case["task"]
    key = raw["answer_key"]
    call = raw["expected_call"]
    return Task(
        set="cases",
        id=case["id"],
        messages=(Message(role="user", content=raw["user"]),),
        tools=tuple(Tool(name=n) for n in raw["tools"]),
        reference=Reference(
            expected_calls=(ExpectedCall(**call),) if call else (),
            payload=raw["payload"],
            answer_key=AnswerKey(
                mode=key["mode"],
                values=tuple(KeyValue(**v) for v in key["values"]),
                traps=tuple(key["traps"]),
            ),
            must_contain=tuple(raw["naive_key"]["must_contain"]),
            match_mode=raw["naive_key"]["match_mode"],
        ),
        tags={"subset": raw["kind"]},
    )


def required(
    answer: str | None,
    payload: Any,
    *values: KeyValue,
    question: str = "please look it up",
    traps: tuple[str, ...] = (),
    called: bool = True,
    mode: str = "all",
    strings: tuple[str, ...] = (),
    state: RowState = RowState.OK,
) -> tuple[Trace, Task]:
    """A required task with one tool ``look`` and a rollout that ends in ``answer``."""
    messages = [Message(role="user", content=question)]
    if called:
        result = payload if isinstance(payload, str) else json.dumps(payload)
        call = (ToolCall(name="look", id="c", arguments='{"what": "it"}'),)
        messages.append(Message(role="assistant", tool_calls=call))
        messages.append(Message(role="tool", tool_call_id="c", content=result))
    messages.append(Message(role="assistant", content=answer))
    key = AnswerKey(mode=mode, values=values, traps=traps) if values else None  # type: ignore[arg-type]
    task = Task(
        set="own",
        id="1",
        messages=(messages[0],),
        tools=(Tool(name="look"),),
        reference=Reference(
            expected_calls=(ExpectedCall(name="look", arguments={"what": "it"}),),
            payload=payload,
            answer_key=key,
            must_contain=strings,
            match_mode=mode,  # type: ignore[arg-type]
        ),
        tags={"subset": "required"},
    )
    return Trace(model="m", messages=tuple(messages), state=state), task
