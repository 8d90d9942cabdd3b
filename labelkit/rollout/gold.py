"""What an author promises about a task, played: the expected calls, the way out of a hazard.

Nothing is asked of a model here. A task whose own gold calls fail, or whose hazard cannot be
overcome, would be counted against every model that meets it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from labelkit.digest import canonical_json
from labelkit.domain.environment import ScriptedCall
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import ExpectedCall, Task
from labelkit.domain.trace import RowState, Trace
from labelkit.rollout.environment import Answered, Episode, offered_tools, schema_fault

GOLD = "gold"
"""The model's name on traces that the author's own calls and answer make."""


@dataclass(frozen=True, slots=True)
class PlayedCalls:
    """Calls of the author and what the world said, in order."""

    messages: tuple[Message, ...]
    answered: tuple[Answered, ...]


def play_calls(
    task: Task, calls: Iterable[ExpectedCall | ScriptedCall], *, clean: bool = False
) -> PlayedCalls:
    """Play calls one by one in a fresh world."""
    episode = Episode(task, clean=clean)
    messages: list[Message] = []
    for number, made in enumerate(calls, start=1):
        arguments = canonical_json(made.arguments)
        call = ToolCall(name=made.name, arguments=arguments, id=f"gold_{number}")
        messages.append(Message(role="assistant", tool_calls=(call,)))
        messages.append(episode.answer(call))
    return PlayedCalls(tuple(messages), tuple(episode.answered))


def gold_calls(task: Task) -> Sequence[ExpectedCall | ScriptedCall]:
    """Return the calls of a right rollout: the way out of the hazard, else the expected calls.

    A task whose tools were taken away has none.
    """
    if task.environment.masked:
        return ()
    hazard = task.environment.hazard
    return hazard.recovery if hazard is not None else task.reference.expected_calls


def gold_trace(task: Task) -> Trace | None:
    """Return the rollout that the author has in mind; None without a gold answer.

    Where tools were taken away the right rollout says STOP and what is missing.
    """
    masked, text = task.environment.masked, task.reference.gold_answer
    if masked:
        text = f"STOP\nThe request needs {', '.join(masked)}, which I do not have."
    if text is None:
        return None
    played = play_calls(task, gold_calls(task))
    messages = (*task.messages, *played.messages, Message(role="assistant", content=text))
    return Trace(
        model=GOLD,
        messages=messages,
        state=RowState.OK,
        task_set=task.set,
        task_id=task.id,
        finish_reason="stop",
        tags=dict(task.tags),
    )


def world_problems(task: Task) -> list[str]:
    """Return what is wrong with the calls that the author promises to run; empty when nothing."""
    hazard = task.environment.hazard
    if task.environment.masked:
        return []
    found = _expected_problems(task)
    if hazard is not None:
        found += _recovery_problems(task)
    return found


def _expected_problems(task: Task) -> list[str]:
    """Expected calls must fit their tool's schema and be answered by the script."""
    calls = task.reference.expected_calls
    found = _call_problems(task, calls, "expected call")
    hazard = task.environment.hazard is not None
    for answered in play_calls(task, calls, clean=hazard).answered:
        name = answered.call.name
        if not answered.scripted:
            where = " with clean tools" if hazard else ""
            found.append(f"the expected call {name} gets no scripted return{where}")
        elif not answered.ok and not answered.fault:
            found.append(f"the expected call {name} gets an error that no fault declares")
        elif hazard and answered.fault:
            found.append(f"the expected call {name} meets a fault although tools are clean")
    return found


def _call_problems(
    task: Task, calls: Sequence[ExpectedCall | ScriptedCall], what: str, *, strict: bool = True
) -> list[str]:
    tools = {tool.name: tool for tool in offered_tools(task)}
    found = []
    for made in calls:
        tool = tools.get(made.name)
        if tool is None:
            found.append(f"the {what} {made.name} names no tool of the task")
        elif strict and (fault := schema_fault(tool, made.arguments)):
            found.append(f"the {what} {made.name} breaks its tool's schema: {fault}")
    return found


def _recovery_problems(task: Task) -> list[str]:
    """The hazard must strike on the expected calls, and the recovery must lead out of it."""
    hazard = task.environment.hazard
    if hazard is None:
        return []
    found = []
    if not any(a.fault for a in play_calls(task, task.reference.expected_calls).answered):
        found.append("the hazard never strikes: the expected calls meet no fault")
    if not hazard.recovery:
        return [*found, "the hazard has no recovery"]
    # The recovery may break the declared schema: that is how specification drift is overcome.
    found += _call_problems(task, hazard.recovery, "recovery call", strict=False)
    played = play_calls(task, hazard.recovery).answered
    for step, answered in zip(hazard.recovery, played, strict=True):
        if not answered.scripted:
            found.append(f"the recovery call {step.name} gets no scripted return")
        missing = [text for text in step.gives if text not in (answered.message.content or "")]
        if missing:
            found.append(f"the recovery call {step.name} does not give {missing[0]!r}")
    if not played[-1].ok:
        found.append(f"the recovery ends in an error of {played[-1].call.name}")
    if not any(step.gives for step in hazard.recovery):
        found.append("no recovery call says what it gives")
    return found
