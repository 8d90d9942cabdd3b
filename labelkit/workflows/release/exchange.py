"""Items and labels as another annotation tool takes them in, and gives them back.

One file per exchange, written row by row. An item carries the digest of its trace, so that what
comes back finds its place. People go by the pseudonyms of a release. What the other tool has no
place for is counted and told, never dropped in silence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from labelkit.domain.label import Label, Rater
from labelkit.domain.message import Message
from labelkit.domain.rubric import Question, Rubric
from labelkit.domain.sample import Sample
from labelkit.domain.trace import Trace
from labelkit.grounding.visible import strip_reasoning
from labelkit.printable import printable
from labelkit.store import Store
from labelkit.store.samples import items as sample_items
from labelkit.workflows.progress import Progress, Silent
from labelkit.workflows.release.contents import (
    Contents,
    contents,
    label_pages,
    moment,
    task_and_trace_pages,
)
from labelkit.workflows.release.placing import whole_file
from labelkit.workflows.release.working_place import clear_leftovers

_SHOWN_ENDS = "\n\r\t"


@dataclass(frozen=True)
class Given:
    """One label in force, as other tools know labels."""

    question: str
    value: str
    rater: str
    kind: Literal["rule", "judge", "person"]
    rationale: str | None
    created_at: str


@dataclass(frozen=True)
class Exchanged:
    """What was written.

    ``left_out`` counts what the other tool has no place for, by kind. ``guarded`` are task sets
    whose texts are in the file although their terms do not allow passing them on. ``cleared`` are
    hidden folders that killed exports had left beside it and that are gone now.
    """

    file: Path
    items: int
    labels: int
    left_out: Mapping[str, int]
    guarded: tuple[str, ...]
    cleared: tuple[str, ...] = ()


Writer = Callable[[Trace, Sequence[Given], Counter[str]], tuple[dict[str, Any], int]]
"""Turns an item into the other tool's object and says how many labels it holds; counts the rest."""


def exchange(
    store: Store,
    rubric: Rubric,
    out: Path,
    writer: Writer,
    *,
    sample: Sample | None = None,
    blank: bool = False,
    progress: Progress | None = None,
) -> Exchanged:
    """Write the items of a rubric, or of a sample, as a JSON array of another tool's objects.

    Args:
        store: an open store.
        rubric: the scheme.
        out: a file that does not exist yet.
        writer: the other tool's form.
        sample: only the rows that were drawn for it.
        blank: without any label, for people who are to label from scratch.
        progress: hears of every item.

    Raises:
        InputError: the file exists.
    """
    listener = progress or Silent()
    left_out: Counter[str] = Counter()
    number, labels = 0, 0
    cleared = clear_leftovers(out)
    with whole_file(out) as file:
        found = contents(store, rubric, sample)
        drawn = None if sample is None else {i.trace for i in sample_items(store, sample.key)}
        listener.begin("export", None)
        for trace, given in _rows(found, drawn, left_out, blank=blank):
            row, held = writer(trace, given, left_out)
            file.write("[\n" if number == 0 else ",\n")
            json.dump(row, file, ensure_ascii=True)
            number, labels = number + 1, labels + held
            listener.advance("export")
        file.write("[]\n" if number == 0 else "\n]\n")
    listener.end("export")
    guarded = tuple(name for name in sorted(found.terms) if found.withheld(name))
    told = {what: count for what, count in sorted(left_out.items()) if count}
    return Exchanged(out, number, labels, told, guarded, cleared)


def _rows(
    found: Contents, drawn: set[str] | None, left_out: Counter[str], *, blank: bool
) -> Iterator[tuple[Trace, list[Given]]]:
    """Yield every item with its labels."""
    asked = {question.id for question in asked_of(found.rubric)}
    names = _names(found.raters)
    for page, labels in zip(task_and_trace_pages(found), label_pages(found), strict=True):
        by_trace: dict[str, list[Label]] = {}
        for label, _ in labels:
            by_trace.setdefault(label.trace, []).append(label)
        for trace, _ in page:
            if drawn is None or trace.digest in drawn:
                kept = [] if blank else by_trace.get(trace.digest, [])
                yield trace, _given(kept, asked, names, found.raters, left_out)


def _given(
    labels: Sequence[Label],
    asked: set[str],
    names: Mapping[str, str],
    raters: Mapping[str, Rater],
    left_out: Counter[str],
) -> list[Given]:
    """Return the labels in force, one per rater and question, in a fixed order."""
    force: dict[tuple[str, str, int], Label] = {}
    # Somebody who labelled under two guidelines goes by one name: the later label counts.
    for label in sorted(labels, key=lambda label: (label.version, label.created_at)):
        force[names[label.rater], label.question, label.repeat] = label
    given = []
    for (name, question, repeat), label in sorted(force.items(), key=lambda pair: pair[0]):
        if question not in asked:
            left_out["labels that follow from other answers or from counts"] += 1
        elif repeat:
            left_out["repeated labels"] += 1
        elif label.value is None:
            left_out["labels without a value"] += 1
        else:
            kind, at = raters[label.rater].kind, moment(label.created_at)
            given.append(Given(question, label.value, name, kind, label.rationale, at))
    return given


def _names(raters: Mapping[str, Rater]) -> dict[str, str]:
    """Return the name of every rater; machines of one name are told apart by their digests."""
    counts = Counter(rater.name for rater in raters.values())
    return {
        key: rater.name
        if counts[rater.name] == 1 or rater.kind == "person"
        else f"{rater.name} {rater.digest[:8]}"
        for key, rater in raters.items()
    }


def asked_of(rubric: Rubric) -> tuple[Question, ...]:
    """Return the questions that somebody is asked; others follow from them, or a rule counts."""
    return tuple(
        question
        for question in rubric.questions
        if question.type != "derived" and question.asked_of != ("rule",)
    )


def conversation(trace: Trace, said: str) -> list[dict[str, str]]:
    """Return the messages as ``role`` and text, under the key ``said``; reasoning taken away."""
    return [{"role": message.role, said: _text(message)} for message in trace.messages]


def facts(trace: Trace) -> dict[str, Any]:
    """Return what tells where an item comes from. ``trace`` is what brings its labels back."""
    return {
        "trace": trace.digest,
        "task_set": trace.task_set,
        "task_id": trace.task_id,
        "model": trace.model,
        "condition": trace.condition,
        "repeat": trace.repeat,
    }


def _text(message: Message) -> str:
    """What a message shows: its text and its calls, printable."""
    content = message.content or ""
    lines = [strip_reasoning(content) if message.role == "assistant" else content]
    lines += [f"{call.name}({call.arguments})" for call in message.tool_calls]
    return printable("\n".join(line for line in lines if line), keep=_SHOWN_ENDS)
