"""A release folder into a store: to go on working with it, or to recompute its numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from labelkit.domain.frozen import Frozen
from labelkit.domain.label import Label, Rater
from labelkit.domain.person import Role
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Design
from labelkit.domain.task import Task
from labelkit.domain.terms import Terms
from labelkit.domain.trace import Trace
from labelkit.errors import FormatError
from labelkit.store import Store
from labelkit.store.inserting import Added
from labelkit.store.labels import commit_labels
from labelkit.store.people import add_person, person_named
from labelkit.store.placeholders import add_task_placeholders, add_trace_placeholders
from labelkit.store.portable import DecisionRecord, ItemRecord, ReviewRecord
from labelkit.store.raters import add_rater, add_rubric
from labelkit.store.restoring import restore_decisions, restore_reviews, restore_sample
from labelkit.store.selection import chunks
from labelkit.store.tasks import add_tasks
from labelkit.store.terms import note_terms
from labelkit.store.traces import add_traces
from labelkit.workflows.release.checksums import read_sums, sha256
from labelkit.workflows.release.tables import EMPTY_ALLOWED, TABLES, read_table

Value = TypeVar("Value", bound=Frozen)
Addressed = TypeVar("Addressed", Task, Trace, Rater)

FORMAT = 1
HEAD = "release.json"
_PAGE = 200


@dataclass(frozen=True)
class Loaded:
    """What a release brought into a store. ``reviews`` and ``decisions`` count all there are."""

    rubric: Rubric
    samples: tuple[str, ...]
    tasks: Added
    traces: Added
    labels: Added
    reviews: int
    decisions: int


def is_release(path: Path) -> bool:
    """Whether a folder looks like a release of labelkit."""
    return path.is_dir() and (path / HEAD).is_file() and (path / "labels.jsonl").is_file()


def head_of(folder: Path) -> dict[str, Any]:
    """Return ``release.json``.

    Raises:
        FormatError: the folder is no release, or one of a newer labelkit.
    """
    head: Any = read_json(folder / HEAD)
    found = head.get("format") if isinstance(head, dict) else None
    if found != FORMAT:
        raise FormatError(
            f"{folder / HEAD} is of release format {found!r}, expected {FORMAT}; use the labelkit "
            "that wrote it"
        )
    return dict(head)


def load_release(folder: Path, store: Store, *, placeholders: bool = False) -> Loaded:
    """Put everything of a release into a store; a second time changes nothing.

    Args:
        folder: the release.
        store: an open store.
        placeholders: rows for withheld texts too. Only for a store that recomputes numbers.

    Raises:
        FormatError: a file is missing or damaged; names it and the line.
    """
    head = head_of(folder)
    if not placeholders:
        check_release(folder)
    rubrics = _rubrics(folder)
    for name in sorted(rubrics):
        add_rubric(store, rubrics[name])
    for terms in head["terms"]:
        note_terms(store, Terms.model_validate(terms))
    tasks = _load_tasks(folder, store, placeholders=placeholders)
    traces = _load_traces(folder, store, placeholders=placeholders)
    labels = _load_labels(folder, store)
    people = _people(folder, store)
    samples = _load_samples(folder, store)
    reviews = list(_records(folder, "reviews", ReviewRecord))
    restore_reviews(store, reviews, people)
    decisions = list(_records(folder, "decisions", DecisionRecord))
    restore_decisions(store, decisions, people)
    rubric = rubrics[head["rubric"]["digest"]]
    return Loaded(rubric, samples, tasks, traces, labels, len(reviews), len(decisions))


def check_release(folder: Path) -> None:
    """Look whether a release can be worked on, before anything is made for it.

    Raises:
        FormatError: it is no release, is not what was published, or has no texts.
    """
    head_of(folder)
    _refuse_changed(folder)
    _refuse_withheld(folder)


def _refuse_changed(folder: Path) -> None:
    """Refuse a folder that is not what was published: labels have no digest of their own."""
    sums = read_sums(folder)
    changed = [n for n, said in sums.items() if not _is(folder / n, said)]
    if changed:
        raise FormatError(
            f"{folder / changed[0]} is not the published file, or is missing; `labelkit verify "
            f"{folder}` says what differs; fetch the release again"
        )


def _is(path: Path, stated: str) -> bool:
    return path.is_file() and sha256(path) == stated


def _refuse_withheld(folder: Path) -> None:
    """Refuse a release without texts: a store to work in has no use for traces nobody can read."""
    for name in ("tasks", "traces"):
        withheld = sum(row["withheld"] for row in read_table(folder, name))
        if withheld:
            raise FormatError(
                f"{folder}: the texts of {withheld} {name} are withheld, so it cannot be worked "
                "on; its numbers can be checked with `labelkit verify`"
            )


def _rubrics(folder: Path) -> dict[str, Rubric]:
    found = {}
    for path in sorted((folder / "rubric").glob("*.json")):
        rubric = _valid(Rubric, read_json(path), path, None)
        found[rubric.digest] = rubric
    wanted = head_of(folder)["rubric"]["digest"]
    if wanted not in found:
        raise FormatError(
            f"{folder / 'rubric'} holds no rubric with digest {wanted[:12]}, which {HEAD} names; "
            "the folder is incomplete or was changed"
        )
    return found


def _load_tasks(folder: Path, store: Store, *, placeholders: bool) -> Added:
    added = Added()
    for withheld, page in _runs(folder, "tasks"):
        if not withheld:
            added += add_tasks(store, [_task(folder, line, row) for line, row in page])
        elif placeholders:
            add_task_placeholders(store, [_tagged(row) for _, row in page])
    return added


def _runs(folder: Path, name: str) -> Iterator[tuple[bool, list[tuple[int, dict[str, Any]]]]]:
    """Yield pages of rows that are all withheld or all whole, in the order of the file.

    The order counts: the frame of a sample is a beginning of the traces.
    """
    for withheld, run in groupby(numbered(folder, name), key=lambda pair: pair[1]["withheld"]):
        for page in chunks(run, _PAGE):
            yield withheld, page


def _tagged(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "tags": json.loads(row["tags"])}


def _task(folder: Path, line: int, row: Mapping[str, Any]) -> Task:
    task = _valid(Task, json.loads(row["body"]), folder / "tasks.jsonl", line)
    return _same_digest(task, row["digest"], folder / "tasks.jsonl", line)


def _load_traces(folder: Path, store: Store, *, placeholders: bool) -> Added:
    added = Added()
    for withheld, page in _runs(folder, "traces"):
        if not withheld:
            added += add_traces(store, [_trace(folder, line, row) for line, row in page])
        elif placeholders:
            add_trace_placeholders(store, [_tagged(row) for _, row in page])
    return added


def _trace(folder: Path, line: int, row: Mapping[str, Any]) -> Trace:
    path = folder / "traces.jsonl"
    body = {**json.loads(row["body"]), "source": folder.name}
    return _same_digest(_valid(Trace, body, path, line), row["digest"], path, line)


def _load_labels(folder: Path, store: Store) -> Added:
    for line, row in numbered(folder, "raters"):
        fields = {**row, "spec": json.loads(row["spec"])}
        stated = fields.pop("digest")
        path = folder / "raters.jsonl"
        add_rater(store, _same_digest(_valid(Rater, fields, path, line), stated, path, line))
    added = Added()
    for page in chunks(numbered(folder, "labels"), _PAGE):
        path = folder / "labels.jsonl"
        new = commit_labels(store, [_valid(Label, row, path, line) for line, row in page])
        added += Added(new, len(page) - new)
    return added


def _people(folder: Path, store: Store) -> dict[str, int]:
    """Return the row of everybody the records name; who is new may not sign in."""
    names = {row["person"] for row in read_table(folder, "reviews")}
    names |= {row["person"] for row in read_table(folder, "decisions")}
    found = {}
    for name in sorted(names):
        person = add_person(store, name, Role.ANNOTATOR)
        known = person_named(store, name)
        found[name] = person.id if person else known[0].id if known else 0
    return found


def _load_samples(folder: Path, store: Store) -> tuple[str, ...]:
    path = folder / "sampling.json"
    order = [row["digest"] for row in read_table(folder, "traces")]
    ids = []
    for entry in read_json(path)["samples"] if path.exists() else ():
        design = _valid(Design, entry["design"], path, None)
        items = [_valid(ItemRecord, item, path, None) for item in entry["items"]]
        moment = _valid(_Moment, {"at": entry["created_at"]}, path, None).at
        frame = order[: entry["frame_rows"]]
        ids.append(restore_sample(store, design, items, frame, entry["guideline"], moment))
    return tuple(ids)


def read_json(path: Path) -> Any:
    """Return the value of a JSON file of a release.

    Raises:
        FormatError: it is missing or no JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FormatError(f"{path} cannot be read ({error.strerror}); fetch it again") from None
    except ValueError as error:
        raise FormatError(f"{path} is no JSON ({error}); fetch it again") from None


def numbered(folder: Path, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a table with their line numbers.

    Raises:
        FormatError: the file is missing, or a line is no row of this table.
    """
    path = folder / f"{name}.jsonl"
    if name not in EMPTY_ALLOWED and not path.is_file():
        raise FormatError(f"{path} does not exist; the release is incomplete, fetch it again")
    line = 0
    try:
        for line, row in enumerate(read_table(folder, name), start=1):
            if row.keys() != set(TABLES[name].names):
                raise FormatError(f"{path}:{line}: not a row of {name}; fetch the file again")
            yield line, row
    except OSError as error:
        raise FormatError(f"{path} cannot be read ({error.strerror})") from None
    except (ValueError, AttributeError) as error:
        raise FormatError(f"{path}:{line + 1}: no JSON object ({error}); fetch it again") from None


class _Moment(Frozen):
    """A time as text."""

    at: datetime


def _records(folder: Path, name: str, kind: type[Value]) -> Iterator[Value]:
    for line, row in numbered(folder, name):
        yield _valid(kind, row, folder / f"{name}.jsonl", line)


def _valid(kind: type[Value], fields: Any, path: Path, line: int | None) -> Value:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        place = str(path) if line is None else f"{path}:{line}"
        raise FormatError(
            f"{place}: {where or 'the value'} is wrong ({first['msg']}); the file was changed or "
            "is damaged, fetch it again"
        ) from None


def _same_digest(value: Addressed, stated: str, path: Path, line: int) -> Addressed:
    if value.digest != stated:
        raise FormatError(
            f"{path}:{line}: the digest is {stated[:12]} but the content's is {value.digest[:12]}; "
            "the line was changed, fetch the file again"
        )
    return value
