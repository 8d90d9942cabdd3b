"""Hazard-recovery tasks and traces for the tests, from plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.rubric import LabelDefinition, Question, Rubric
from labelkit.domain.task import Reference, Task, Tool
from labelkit.domain.trace import RowState, Trace
from labelkit.rules.registry import classifier
from labelkit.rules.ruling import Ruling

HAZARD = Rubric(
    name="hazard-recovery",
    version="1",
    title="Hazard recovery",
    source="tests",
    questions=(
        Question(
            id="outcome",
            type="choice",
            text="Was the answer reached?",
            labels=tuple(
                LabelDefinition(name=name, title=name, key=name[0], include=name)
                for name in ("correct", "incorrect", "unscored")
            ),
        ),
    ),
    rule="hazard_recovery",
)


def rule_on(trace: Trace, task: Task | None, **policy: Any) -> Ruling:
    """The rule's decision under a policy."""
    rubric = HAZARD.model_copy(update={"rule_policy": policy})
    return classifier("hazard_recovery")(rubric, trace, task)


def hazard_task(expected: str | None, tools: int = 2, **reference: Any) -> Task:
    declared = tuple(Tool(name=f"tool_{number}") for number in range(tools))
    return Task(
        set="own",
        id="1",
        messages=(Message(role="user", content="Return only the final value."),),
        tools=declared,
        reference=Reference(gold_answer=expected, **reference),
    )


def hazard_trace(
    answer: str | None, results: Sequence[str] = (), state: RowState = RowState.OK, **more: Any
) -> Trace:
    """A run with one call per result, then the answer."""
    messages = [Message(role="user", content="Return only the final value.")]
    for number, result in enumerate(results):
        call = ToolCall(name=f"tool_{number % 2}", id=f"c{number}", arguments="{}")
        messages.append(Message(role="assistant", tool_calls=(call,)))
        messages.append(Message(role="tool", tool_call_id=f"c{number}", content=result))
    messages.append(Message(role="assistant", content=answer))
    return Trace(model="m", messages=tuple(messages), state=state, **more)
