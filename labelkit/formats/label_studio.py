"""Label Studio's JSON export: tasks with people's annotations and models' predictions.

An item is the trace whose digest stands in ``data`` (``trace``, ``trace_digest``, ``digest``),
else its own text. Read are results of one label: ``choices`` with one choice, ``rating``,
``number``, ``pairwise`` and one ``taxonomy`` path; the control's ``from_name`` is the question. A
``textarea`` of the same annotation is the rationale. Several choices at once are no single label
and are told; a skipped task (``was_cancelled``) is no rating.

A server names annotators by number and gives every annotation the time of its import. What labelkit
sent carries a mark with its rater, time and reason (see ``workflows.release.as_label_studio``); the
mark counts as long as nobody changed or copied the annotation there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from labelkit.digest import canonical_json
from labelkit.domain.trace import Trace
from labelkit.formats import rows
from labelkit.formats.item_traces import item_trace
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import BrokenRecordError, Head, Item, Notes, Rating, ReadOptions
from labelkit.formats.records import an_object, read_each

TASK_SET = "label-studio"

MARK = "labelkit"
"""Where the ``meta`` of a result says who gave the label, when and why."""

_AT = "@labelkit.invalid"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_DIGEST_KEYS = ("trace", "trace_digest", "digest", "trace_id")
_TEXT_KEYS = ("text", "answer", "response", "output", "content")
_ASKED_KEYS = ("question", "prompt", "instruction", "input")


class LabelStudio:
    """Reads Label Studio's JSON export."""

    name = "label-studio"
    description = "Label Studio JSON export (tasks with `data` and `annotations`)"

    def sniff(self, head: Head) -> float:
        """Sure with data and annotations of controls."""
        if not {"data", "annotations"} <= head.keys and not {"annotations", "id"} <= head.keys:
            return 0.0
        marked = '"from_name"' in head.text or '"completed_by"' in head.text
        return 0.95 if marked else 0.4

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield items that are no traces yet, and the labels of each task."""

        def build(value: Any, source: str, notes: Notes) -> list[Trace | Rating]:
            return list(_task(an_object(value), source, options, notes))

        return read_each(json_records(path), path, build)


def _task(
    task: dict[str, Any], source: str, options: ReadOptions, notes: Notes
) -> Iterator[Trace | Rating]:
    data, listed = task.get("data"), task.get("annotations")
    if not isinstance(data, dict) or not isinstance(listed, list):
        raise BrokenRecordError("the task has no `data` or no `annotations`")
    number = int(source.rpartition(":")[2])
    item = digest_in(data)
    if item is None:
        trace = data_trace(data, str(task.get("id", number)), TASK_SET, source, options)
        yield trace
        item = trace.digest
    for annotation in listed:
        if not isinstance(annotation, dict):
            notes.lost("an annotation is no object")
        elif annotation.get("was_cancelled"):
            notes.lost("a task was skipped by an annotator")
        else:
            yield from _given(annotation, item, number, notes)
    for prediction in task.get("predictions") or ():
        if isinstance(prediction, dict):
            yield from _predicted(prediction, item, number, notes)
        else:
            notes.lost(
                "predictions are given by number only; an export snapshot with predictions has them"
            )


def _given(annotation: dict[str, Any], item: str, number: int, notes: Notes) -> Iterator[Rating]:
    who = _person(annotation.get("completed_by"))
    given_at = rows.text_or_none(annotation.get("created_at"))
    as_sent = annotation.get("updated_by") is None and annotation.get("parent_annotation") is None
    for one in _results(annotation.get("result"), notes):
        mark = one.mark if as_sent else {}
        yield Rating(
            item,
            mark.get("rater", who),
            one.question,
            one.label,
            number,
            rationale=mark.get("rationale") if "rater" in mark else one.rationale,
            given_at=mark.get("created_at", given_at),
        )
        if one.mark and not as_sent:
            notes.odd(
                "a label from labelkit was changed or copied there; it is whose it says there"
            )


def _predicted(
    prediction: dict[str, Any], item: str, number: int, notes: Notes
) -> Iterator[Rating]:
    who = rows.text_or_none(prediction.get("model_version")) or "prediction"
    for one in _results(prediction.get("result"), notes):
        why = one.mark.get("rationale") if "rater" in one.mark else one.rationale
        yield Rating(
            item,
            who,
            one.question,
            one.label,
            number,
            kind="judge",
            rationale=why,
            given_at=one.mark.get("created_at"),
        )


def digest_in(data: dict[str, Any]) -> str | None:
    """Return the digest of the trace that a task was made from, where it says so."""
    return next(
        (
            value
            for key in _DIGEST_KEYS
            if isinstance(value := data.get(key), str) and _DIGEST.fullmatch(value)
        ),
        None,
    )


def data_trace(
    data: dict[str, Any], task_id: str, task_set: str, source: str, options: ReadOptions
) -> Trace:
    """Return the trace of an item that is only known by its fields."""
    said = next((data[key] for key in _TEXT_KEYS if isinstance(data.get(key), str)), None)
    asked = next((data[key] for key in _ASKED_KEYS if isinstance(data.get(key), str)), None)
    trace = item_trace(
        canonical_json(data) if said is None else said,
        asked=asked if said is not None else None,
        task_set=task_set,
        task_id=task_id,
        source=source,
        options=options,
    )
    if said is None:
        return trace
    rest = {key: value for key, value in data.items() if value not in (said, asked)}
    return trace.model_copy(update={"extra": rest})


def address_of(name: str) -> str:
    """Return an e-mail address for an annotator who has none, as Label Studio wants one."""
    return f"{name}{_AT}"


def _person(raw: Any) -> str:
    """Return the annotator's name: an id, an e-mail address or an object with either."""
    if isinstance(raw, dict):
        raw = raw.get("email") or raw.get("username") or raw.get("id")
    return "annotator" if raw is None else str(raw).removesuffix(_AT)


class _Result(NamedTuple):
    """One label of an annotation, with what labelkit marked it with."""

    question: str
    label: str
    rationale: str | None
    mark: Mapping[str, str]


def _results(raw: Any, notes: Notes) -> Iterator[_Result]:
    """Yield the labels of one annotation."""
    entries = [e for e in raw if isinstance(e, dict)] if isinstance(raw, list) else []
    words = [text for entry in entries if (text := _words(entry))]
    rationale = "\n".join(words) or None
    for entry in entries:
        if _words(entry):
            continue
        value = entry.get("value")
        label = _label(value if isinstance(value, dict) else {})
        if label is None:
            notes.lost("a result is no single label; it was left out")
        else:
            question = str(entry.get("from_name") or "label")
            yield _Result(question, label, rationale, _mark(entry.get("meta")))


def _mark(meta: Any) -> dict[str, str]:
    found = meta.get(MARK) if isinstance(meta, dict) else None
    pairs = found.items() if isinstance(found, dict) else ()
    return {key: value for key, value in pairs if isinstance(value, str)}


def _words(entry: dict[str, Any]) -> str | None:
    if entry.get("type") != "textarea":
        return None
    value = entry.get("value")
    said = value.get("text") if isinstance(value, dict) else None
    texts = said if isinstance(said, list) else [said]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


def _label(value: dict[str, Any]) -> str | None:
    choices = value.get("choices")
    if isinstance(choices, list) and len(choices) == 1:
        return str(choices[0])
    for key in ("rating", "number"):
        number = value.get(key)
        if isinstance(number, int | float) and not isinstance(number, bool):
            return str(int(number)) if float(number).is_integer() else str(number)
    if isinstance(value.get("selected"), str):
        return str(value["selected"])
    paths = value.get("taxonomy")
    if isinstance(paths, list) and len(paths) == 1 and isinstance(paths[0], list):
        return " / ".join(map(str, paths[0]))
    return None


READER = LabelStudio()
