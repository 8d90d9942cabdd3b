"""Who&When: failed runs of several agents, with the agent and step at fault as people found them.

One file per run: ``{question, question_ID, level, ground_truth, is_correct, history, mistake_agent,
mistake_step, mistake_reason, system_prompt}``. In the algorithm-generated half the agents speak
under the roles user and assistant and are told apart by ``name``; in the hand-crafted half the
role itself is the agent's name (``WebSurfer``, ``Orchestrator (thought)``, ``human``). A role that
no chat knows becomes ``assistant`` with the role as its name. ``mistake_step`` is a 0-based index
into ``history``, written as text; it becomes a number where it is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.message import Message
from labelkit.domain.task import Reference, Tag, Task
from labelkit.domain.trace import Trace
from labelkit.formats import rows
from labelkit.formats.chat import ROLES, read_messages
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import (
    BrokenRecordError,
    Head,
    Item,
    Notes,
    ReadOptions,
    TaskBook,
)
from labelkit.formats.records import an_object, read_each

TASK_SET = "who-and-when"

_QUESTION_KEYS = ("question_ID", "question_id", "id")
_MARKS = frozenset({"mistake_agent", "mistake_step"})
_USED = _MARKS | {"history", "question", "level", "ground_truth", "groundtruth", "is_correct"}
_TAGS = ("level", "is_correct", "is_corrected", "mistake_agent")


class WhoAndWhen:
    """Reads Who&When runs."""

    name = "who-and-when"
    description = "Who&When runs (objects with `history`, `mistake_agent`, `mistake_step`)"

    def sniff(self, head: Head) -> float:
        """Sure with a history and a mistake; the marks may lie beyond the head."""
        if "history" in head.keys and head.keys & _MARKS:
            return 0.95
        return 0.6 if "history" in head.keys and set(_QUESTION_KEYS) & head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield the question as a task and the run as a trace."""
        book = TaskBook()

        def build(value: Any, source: str, notes: Notes) -> Iterator[Task | Trace]:
            task, trace = _run(an_object(value), source, options, notes)
            if task is not None and book.is_new(task, notes):
                yield task
            yield trace

        return read_each(json_records(path), path, build)


def _run(
    run: dict[str, Any], source: str, options: ReadOptions, notes: Notes
) -> tuple[Task | None, Trace]:
    if "history" not in run:
        raise BrokenRecordError("the record has no `history`")
    messages = read_messages([_speaker(entry, notes) for entry in _listed(run["history"])], notes)
    if not messages:
        raise BrokenRecordError("`history` is empty")
    extra = {key: value for key, value in run.items() if key not in _USED}
    task_set = options.task_set or TASK_SET
    key = next((key for key in _QUESTION_KEYS if run.get(key) is not None), None)
    task_id = rows.text_field(run, key, extra) if key else None
    if key:
        extra.pop(key)
    if task_id is None:
        notes.lost("the run has no question id: it belongs to no task")
    state, _ = rows.row_state(messages, None, None)
    trace = Trace(
        model=rows.model_name(options.model, rows.text_field(extra, "model", extra), notes),
        messages=messages,
        state=state,
        task_set=task_set,
        task_id=task_id,
        condition=options.condition or "",
        tags=_tags(run, len(messages), extra, notes),
        extra=extra,
        source=source,
    )
    return (_task(run, task_set, task_id) if task_id is not None else None), trace


def _listed(raw: Any) -> list[Any]:
    if not isinstance(raw, list):
        raise BrokenRecordError("`history` is not a list")
    return raw


def _speaker(entry: Any, notes: Notes) -> Any:
    """Give a message whose role is an agent's name a role that chats know."""
    if not isinstance(entry, dict) or not isinstance(entry.get("role"), str):
        return entry
    role = entry["role"]
    if role in ROLES:
        return entry
    if role == "human":
        notes.repaired("the role human became user")
        return entry | {"role": "user"}
    notes.repaired("an agent's name stood in the role; it is an assistant of that name now")
    return {"name": role} | entry | {"role": "assistant"}


def _tags(run: dict[str, Any], steps: int, extra: dict[str, Any], notes: Notes) -> dict[str, Tag]:
    tags = {key: run[key] for key in _TAGS if rows.is_tag(run.get(key))}
    step = run.get("mistake_step")
    number = int(step) if isinstance(step, str) and step.isdecimal() else rows.count(step)
    if number is not None and number < steps:
        tags["mistake_step"] = number
    elif step is not None:
        extra["mistake_step"] = step
        notes.odd("the mistake's step is no place in the history; it was kept as it is")
    return tags


def _task(run: dict[str, Any], task_set: str, task_id: str) -> Task:
    truth = run.get("ground_truth", run.get("groundtruth"))
    question = run.get("question")
    level = run.get("level")
    return Task(
        set=task_set,
        id=task_id,
        messages=(Message(role="user", content=question),) if isinstance(question, str) else (),
        reference=Reference(gold_answer=None if truth is None else str(truth)),
        tags={"level": level} if rows.is_tag(level) else {},
    )


READER = WhoAndWhen()
