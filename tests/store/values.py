"""Values the store tests are made of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from labelkit.domain.completion import Completion
from labelkit.domain.label import Label, Outcome, Rater
from labelkit.domain.message import Message
from labelkit.domain.rubric import LabelDefinition, Question, Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace

START = datetime(2026, 1, 1, tzinfo=UTC)
HOSTILE = "\x00 \ud800 \u202eabc {{ 7*7 }} json:x é 日本 \U0001f600 ' \" \\u0000 % :a"
RULE = Rater(kind="rule", name="rule", version="1")


def make_task(number: int = 0, **more: Any) -> Task:
    return Task(**{"set": "demo", "id": f"t{number}", "tags": {"domain": "d"}} | more)


def make_trace(number: int = 0, **more: Any) -> Trace:
    fields: dict[str, Any] = {
        "model": "m",
        "messages": (Message(role="assistant", content=f"answer {number}"),),
        "state": RowState.OK,
        "task_set": "demo",
        "task_id": f"t{number}",
    }
    return Trace(**fields | more)


def make_label(trace: Trace | str, rater: Rater = RULE, **more: Any) -> Label:
    fields: dict[str, Any] = {
        "trace": trace if isinstance(trace, str) else trace.digest,
        "rater": rater.digest,
        "question": "q",
        "outcome": Outcome.LABELLED,
        "value": "correct",
        "created_at": START,
    }
    fields |= more
    if fields["outcome"] != Outcome.LABELLED:
        fields["value"] = None
        fields.setdefault("reason", "parse")
    return Label(**fields)


def make_completion(request: str = "r", seconds: int = 0, **more: Any) -> Completion:
    fields: dict[str, Any] = {
        "request": request,
        "endpoint": "e",
        "model": "m",
        "created_at": START + timedelta(seconds=seconds),
    }
    return Completion(**fields | more)


def make_rubric(**more: Any) -> Rubric:
    label = LabelDefinition(name="correct", title="Correct", key="c", include="all")
    fields: dict[str, Any] = {
        "name": "r",
        "version": "1",
        "title": "R",
        "source": "tests",
        "questions": (Question(id="q", type="choice", text="?", labels=(label,)),),
    }
    return Rubric(**fields | more)
