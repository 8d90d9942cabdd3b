"""Arms: the same task with the same faults, played with more or less help.

``baseline`` adds nothing. ``hint`` tells the task's hint from the start, ``hint_after_error`` after
the first error that a tool reports; both leave the tools as they are. ``oracle`` plays clean
tools. ``oracle_label`` names the kind of hazard after the first error: another thing than
``oracle``, so it has another name. ``rerun`` gives failed tasks a second attempt with the course
of the first one, its answers taken out; that an attempt failed is known from the gold answer, so
what a rerun gains is no skill of the model alone.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from labelkit.domain.message import Message
from labelkit.domain.task import Task
from labelkit.errors import InputError
from labelkit.rollout.played import with_system
from labelkit.rollout.protocol import Staged

BASELINE = "baseline"
RERUN = "rerun"
ARMS = (BASELINE, "hint", "hint_after_error", "oracle", "oracle_label", RERUN)
REDACTED = "[an answer was here; it was wrong and is left out]"

_HINT = "Hint: {hint}"
_KIND = "The disturbance in this task's tools is of this kind: {kind}."
_EARLIER = (
    "You have tried this task before and failed. The course of that attempt follows, with its"
    " answer left out. Do better this time.\n{course}"
)
_RESULT_CHARS = 2_000


def known_arm(name: str) -> str:
    """Return the arm's name as the table has it; ``-`` and ``_`` are the same.

    Raises:
        InputError: when there is no such arm.
    """
    found = name.strip().lower().replace("-", "_")
    if found in ARMS:
        return found
    near = difflib.get_close_matches(found, ARMS, n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"there is no arm {name!r}; {guess}arms: {', '.join(ARMS)}")


def arm_name(condition: str, arm: str | None, protocol: str, usual: str) -> str:
    """Return the name that traces of an arm carry as their condition.

    Condition and arm are joined by ``+``. A protocol other than the set's usual one is part of
    the name, so that its rows are never taken for those of the usual one nor counted as done.
    """
    named = "+".join(part for part in (condition, arm) if part)
    return named if protocol == usual else f"{named}@{protocol}"


def stage(task: Task, arm: str | None, earlier: Sequence[Message] | None = None) -> Staged:
    """Return a task as an arm plays it.

    Args:
        task: with the messages of its condition.
        arm: one of ``ARMS``; None adds nothing.
        earlier: messages of the failed attempt, for ``rerun``.

    Raises:
        InputError: an arm that the task has no data for.
    """
    if arm is None or arm == BASELINE:
        return Staged(task)
    if arm == RERUN:
        if earlier is None:
            raise InputError(f"task {task.id!r} has no earlier attempt to run again")
        return Staged(_told(task, _EARLIER.format(course=course(earlier))))
    hazard = task.environment.hazard
    if hazard is None:
        raise InputError(f"task {task.id!r} has no hazard, so the arm {arm!r} cannot be played")
    if arm == "oracle":
        return Staged(task, clean=True)
    if arm == "oracle_label":
        return Staged(task, late_hint=_KIND.format(kind=hazard.kind.replace("_", " ")))
    if not hazard.hint:
        raise InputError(f"task {task.id!r} has no hint, so the arm {arm!r} cannot be played")
    text = _HINT.format(hint=hazard.hint)
    return Staged(_told(task, text)) if arm == "hint" else Staged(task, late_hint=text)


def _told(task: Task, text: str) -> Task:
    return task.model_copy(update={"messages": tuple(with_system(task.messages, text))})


def course(messages: Sequence[Message]) -> str:
    """Return calls and results of an attempt in order; what the model said is taken out."""
    lines = []
    for message in messages:
        if message.role == "assistant":
            lines += [f"call {call.name} {call.arguments}" for call in message.tool_calls]
            if message.content and not message.tool_calls:
                lines.append(REDACTED)
        elif message.role == "tool":
            text = message.content or ""
            cut = text[:_RESULT_CHARS] + ("…" if len(text) > _RESULT_CHARS else "")
            lines.append(f"result of {message.name}: {cut}")
    return "\n".join(lines)
