"""One trace as a person reads it: question and answer first, then the path, then every label.

It orders and pairs; it never changes, formats or shortens a text: what is shown is what was
recorded. All texts are hostile input, labels' rationales and quotes included, and the page that
shows them must treat them so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from labelkit.domain.label import Label, Outcome
from labelkit.domain.message import Message
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.grounding.calls import Call, pair_calls
from labelkit.grounding.visible import visible_answer
from labelkit.store import Store
from labelkit.store.labels import labels_of
from labelkit.store.raters import raters, rubrics
from labelkit.store.traces import row
from labelkit.workflows.answer_values import SourceText, TracedValue, trace_values

Kind = Literal["system", "user", "agent", "reasoning", "call", "result", "final", "other"]


@dataclass(frozen=True)
class Step:
    """One step of the path.

    ``message`` is the index of its message. For a call ``text`` is the argument text, ``result``
    what came back (None: nothing did) and ``status`` executed, attempted or rejected. A ``result``
    step is a tool message that answers no call. ``final`` marks the place of the visible answer,
    which stands at the top, and has no text of its own. ``part`` and ``result_part`` are the names
    by which evidence speaks of the two texts (``message:4``, ``call:0``, ``result:0``).
    """

    kind: Kind
    message: int
    text: str
    name: str = ""
    status: str = ""
    is_error: bool = False
    result: str | None = None
    result_message: int | None = None
    part: str = ""
    result_part: str = ""


@dataclass(frozen=True)
class Quote:
    """A piece of evidence: which part it was found in, and whether it was found word for word."""

    part: str
    text: str
    place: str


@dataclass(frozen=True)
class Rating:
    """One label in force with its author. ``given`` is the label, or the outcome and its reason."""

    rater: str
    kind: str
    version: str
    digest: str
    question: str
    repeat: int
    labelled: bool
    given: str
    title: str
    rationale: str
    confidence: str
    flags: tuple[str, ...]
    quotes: tuple[Quote, ...]
    view: str
    completion: str
    created_at: str


@dataclass(frozen=True)
class TraceView:
    """Everything the detail page shows.

    ``facts`` and ``reference`` are (name, text) pairs in reading order. ``no_answer`` says why
    there is no answer, or is empty. ``values`` are the values of the answer, traced.
    """

    digest: str
    facts: tuple[tuple[str, str], ...]
    question: str
    question_message: int | None
    answer: str
    no_answer: str
    steps: tuple[Step, ...]
    values: tuple[TracedValue, ...]
    reference: tuple[tuple[str, str], ...]
    ratings: tuple[Rating, ...]


def read_trace(store: Store, digest_or_prefix: str) -> TraceView:
    """Return one trace by digest or unique prefix, with the labels in force.

    Raises:
        StoreError: no trace, or several traces, begin like this.
    """
    trace, task = row(store, digest_or_prefix)
    view = trace_view(trace, task)
    return replace(view, ratings=tuple(_ratings(store, labels_of(store, trace.digest))))


def trace_view(trace: Trace, task: Task | None) -> TraceView:
    """Return a trace as it is read, without anybody's label."""
    asked = _first_user(trace.messages)
    question = (trace.messages[asked].content or "") if asked is not None else _of_task(task)
    answer = visible_answer(trace.messages)
    steps = tuple(_steps(trace, task, asked, answer))
    return TraceView(
        digest=trace.digest,
        facts=tuple(_facts(trace, task)),
        question=question,
        question_message=asked,
        answer=answer,
        no_answer="" if answer else _why_silent(trace),
        steps=steps,
        values=trace_values(answer, tuple(_sources(question, steps))),
        reference=tuple(_reference(task)),
        ratings=(),
    )


def parts_of(view: TraceView) -> dict[str, str]:
    """Return the texts that evidence may quote, by the name of their part."""
    parts = {"question": view.question, "answer": view.answer}
    for step in view.steps:
        if step.part:
            parts[step.part] = step.text
        if step.result is not None:
            parts[step.result_part] = step.result
    return {name: text for name, text in parts.items() if text}


def _sources(question: str, steps: Sequence[Step]) -> Iterator[SourceText]:
    """What the model was given, results first: a value that both hold is said of the result."""
    for step in steps:
        if step.result is not None:
            yield SourceText(step.result_part, "tool_result", step.result)
        elif step.kind == "result":
            yield SourceText(step.part, "tool_result", step.text)
    yield SourceText("question", "question", question)
    for step in steps:
        if step.kind in {"system", "user"}:
            yield SourceText(step.part, "question", step.text)


def _first_user(messages: Sequence[Message]) -> int | None:
    return next((i for i, message in enumerate(messages) if message.role == "user"), None)


def _of_task(task: Task | None) -> str:
    """The question as the task states it, for rollouts that recorded none."""
    messages = task.messages if task else ()
    return "\n\n".join(m.content for m in messages if m.role == "user" and m.content)


def _why_silent(trace: Trace) -> str:
    last = next((m for m in reversed(trace.messages) if m.role == "assistant"), None)
    if last is None:
        return f"no message of the agent (row state {trace.state.value})"
    if not last.content:
        what = "only tool calls" if last.tool_calls else "no text"
        return f"the last message of the agent holds {what} (row state {trace.state.value})"
    return f"nothing but reasoning was said (row state {trace.state.value})"


def _facts(trace: Trace, task: Task | None) -> Iterator[tuple[str, str]]:
    yield "model", trace.model
    yield "state", trace.state.value
    if trace.task_id is not None:
        yield "task", f"{trace.task_set or ''} / {trace.task_id}"
    yield "condition", trace.condition
    yield "repeat", str(trace.repeat)
    yield "finish reason", trace.finish_reason or ""
    yield "tool mode", trace.tool_mode or ""
    if trace.error is not None:
        yield "error", f"{trace.error.kind}: {trace.error.message}"
    tags = (task.tags if task else {}) | trace.tags
    yield from ((f"tag {name}", str(value)) for name, value in sorted(tags.items()))
    yield "read from", trace.source


def _steps(trace: Trace, task: Task | None, asked: int | None, answer: str) -> Iterator[Step]:
    """The messages in order, each call with its result."""
    messages = trace.messages
    calls = pair_calls(messages, [tool.name for tool in task.tools] if task else None)
    answered = {call.result_message for call in calls}
    last = max((i for i, m in enumerate(messages) if m.role == "assistant"), default=None)
    for index, message in enumerate(messages):
        if index != asked and index not in answered:
            made = [(n, call) for n, call in enumerate(calls) if call.call_message == index]
            yield from _message(index, message, made, answer if index == last else "")


def _message(
    index: int, message: Message, calls: Sequence[tuple[int, Call]], answer: str
) -> Iterator[Step]:
    if message.reasoning:
        yield Step("reasoning", index, message.reasoning, part=f"reasoning:{index}")
    content = message.content or ""
    if answer and content.strip() == answer:
        yield Step("final", index, "")
    elif content or not (calls or message.reasoning):
        name = message.name or _role(message.role)
        yield Step(_kind(message.role), index, content, name=name, part=f"message:{index}")
    others = [part for part in message.parts if part.get("type") != "text"]
    if others:
        yield Step("other", index, _json(others), name="parts that are no text")
    for number, call in calls:
        yield Step(
            "call",
            index,
            call.arguments,
            name=call.name,
            status=f"{call.status}, written as text" if call.in_text else call.status,
            is_error=call.is_error,
            result=call.result,
            result_message=call.result_message,
            part=f"call:{number}",
            result_part=f"result:{number}",
        )


_KINDS: dict[str, Kind] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "agent",
    "tool": "result",
    "function": "result",
}


def _kind(role: str) -> Kind:
    return _KINDS.get(role, "other")


def _role(role: str) -> str:
    """A role that has no word of its own on the page is named."""
    return "" if role in _KINDS else role


def _reference(task: Task | None) -> Iterator[tuple[str, str]]:
    """What the author of the task knows and the model did not."""
    if task is None:
        return
    known = task.reference
    if known.expected_calls:
        yield "expected calls", _json([call.model_dump() for call in known.expected_calls])
    if known.payload is not None:
        payload = known.payload
        yield "payload", payload if isinstance(payload, str) else _json(payload)
    if known.answer_key is not None:
        yield "answer key", _json(known.answer_key.model_dump(exclude_none=True))
    if known.must_contain:
        yield f"answer contains {known.match_mode} of", _json(list(known.must_contain))
    if known.gold_answer:
        yield "gold answer", known.gold_answer
    if known.scenario is not None:
        yield "an expert would", known.scenario.ideal
        if known.scenario.mistakes:
            yield "mistakes seen here", "\n".join(known.scenario.mistakes)
    if known.note:
        yield "note", known.note


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _ratings(store: Store, labels: Sequence[Label]) -> Iterator[Rating]:
    """The labels with their authors; raters are few, traces are many."""
    if not labels:
        return
    authors = {rater.digest: rater for rater in raters(store)}
    known = {rubric.digest: rubric for rubric in rubrics(store)}
    for label in labels:
        author = authors[label.rater]
        yield Rating(
            rater=author.name,
            kind=author.kind,
            version=author.version,
            digest=author.digest,
            question=label.question,
            repeat=label.repeat,
            labelled=label.outcome is Outcome.LABELLED,
            given=label.value or f"{label.outcome.value}: {label.reason}",
            title=_title(known.get(str(author.spec.get("rubric_digest"))), label),
            rationale=label.rationale or "",
            confidence=label.confidence or "",
            flags=label.flags,
            quotes=tuple(Quote(e.part, e.quote, _place(e.start, e.end)) for e in label.evidence),
            view=label.view or "",
            completion=label.completion or "",
            created_at=label.created_at.strftime("%Y-%m-%d %H:%M:%S UTC"),
        )


def _place(start: int | None, end: int | None) -> str:
    return "not found word for word" if start is None else f"characters {start} to {end}"


def _title(rubric: Rubric | None, label: Label) -> str:
    """The label's title in the rubric it was given under."""
    for question in rubric.questions if rubric else ():
        for definition in question.labels:
            if question.id == label.question and definition.name == label.value:
                return definition.title
    return ""
