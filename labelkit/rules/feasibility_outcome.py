"""Did the rollout reach the task's goal, as far as the reference can tell?

The source benchmark's own verdict comes first, then what the author wrote down: typed or string
key, gold answer, expected calls. Where none of these decides, the outcome is not known; it is
never taken for a failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labelkit.domain.task import Tag, Task
from labelkit.domain.trace import Trace
from labelkit.grounding.calls import Call
from labelkit.rules.arguments import arguments_fit
from labelkit.rules.statements import read_statements

_VERDICTS = ("success", "solved")


def succeeded(
    trace: Trace, task: Task | None, tags: Mapping[str, Tag], calls: Sequence[Call], answer: str
) -> bool | None:
    """Return whether the goal was reached; None when that is not known.

    Args:
        trace: the rollout.
        task: its task.
        tags: tags of the row: ``success`` or ``solved`` (boolean) and ``reward`` (1 is full)
            are the source benchmark's verdict.
        calls: every call of the rollout.
        answer: the visible answer.
    """
    for name in _VERDICTS:
        if isinstance(tags.get(name), bool):
            return bool(tags[name])
    reward = tags.get("reward")
    if isinstance(reward, int | float) and not isinstance(reward, bool):
        return reward >= 1
    return _by_reference(trace, task, calls, answer) if task is not None else None


def _by_reference(trace: Trace, task: Task, calls: Sequence[Call], answer: str) -> bool | None:
    reference = task.reference
    executed = [c for c in calls if c.status == "executed"]
    if reference.answer_key or reference.must_contain:
        if not answer:
            return False
        read = read_statements(task, trace.messages, executed, answer)
        if read.too_long or read.key == "unsure":
            return None
        return read.key == "match"
    if reference.gold_answer is not None:
        return _plain(answer) == _plain(reference.gold_answer)
    if reference.expected_calls:
        done = [c for c in executed if not c.is_error]
        wanted = [e for e in reference.expected_calls if not e.supporting]
        return all(any(arguments_fit(e, c) for c in done) for e in wanted)
    return None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
