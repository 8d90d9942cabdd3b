"""API-call tasks and traces for the tests, from plain values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.rubric import LabelDefinition, Question, Rubric
from labelkit.domain.task import ExpectedCall, Reference, Task, Tool
from labelkit.domain.trace import RowState, Trace
from labelkit.rules.registry import classifier
from labelkit.rules.ruling import Ruling

APICALL = Rubric(
    name="error-handling",
    version="1",
    title="Error handling",
    source="tests",
    questions=(
        Question(
            id="api_calls",
            type="choice",
            text="Were the calls made?",
            labels=tuple(
                LabelDefinition(name=name, title=name, key=name[:2][-1], include=name)
                for name in ("match", "mismatch")
            ),
        ),
    ),
    rule="error_handling",
)

OK = '{"success": true}'
FAILED = '{"success": false, "error": "device offline"}'
Stated = tuple[str, Mapping[str, Any]] | tuple[str, Mapping[str, Any], str]


def rule_on(trace: Trace, task: Task | None, **policy: Any) -> Ruling:
    """The rule's decision under a policy."""
    rubric = APICALL.model_copy(update={"rule_policy": policy})
    return classifier("error_handling")(rubric, trace, task)


def tool(name: str, effect: str = "write", **properties: Any) -> Tool:
    """A tool with typed parameters; a parameter is a type name or a schema."""
    typed = {n: {"type": p} if isinstance(p, str) else p for n, p in properties.items()}
    schema = {"type": "object", "properties": typed}
    return Tool(name=name, effect=effect, parameters=schema)  # type: ignore[arg-type]


def wanted(name: str, **arguments: Any) -> ExpectedCall:
    return ExpectedCall(name=name, arguments=arguments)


def call_task(tools: Iterable[Tool], *calls: ExpectedCall, **reference: Any) -> Task:
    return Task(
        set="own",
        id="1",
        messages=(Message(role="user", content="please"),),
        tools=tuple(tools),
        reference=Reference(expected_calls=calls, **reference),
    )


def call_trace(*turns: Sequence[Stated], answer: str = "Done.", **more: Any) -> Trace:
    """A run of user turns, each with its calls: (name, arguments) or (name, arguments, result)."""
    messages = []
    number = 0
    for turn in turns or ((),):
        messages.append(Message(role="user", content="please"))
        for name, arguments, *result in turn:
            number += 1
            said = arguments if isinstance(arguments, str) else json.dumps(arguments)
            call = ToolCall(name=name, id=f"c{number}", arguments=said)
            messages.append(Message(role="assistant", tool_calls=(call,)))
            content = result[0] if result else OK
            messages.append(Message(role="tool", tool_call_id=f"c{number}", content=content))
        messages.append(Message(role="assistant", content=answer))
    state = more.pop("state", RowState.OK)
    return Trace(model="m", messages=tuple(messages), state=state, **more)
