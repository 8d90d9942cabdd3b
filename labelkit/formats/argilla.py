"""Argilla's exports: records with fields, people's responses and models' suggestions.

Read are records as Argilla 2 writes them (``responses: {question: [{value, user_id}]}``,
``suggestions: {question: {value, agent}}``), as Argilla 1 did (``responses: [{user_id, values}]``)
and flattened for data sets (``question.responses``, ``question.responses.users``). An item is the
trace whose digest stands in ``metadata`` or is the record's id, else its own text. Only submitted
responses are ratings; drafts and discarded ones are counted. Values that are lists are no single
label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.trace import Trace
from labelkit.formats import rows
from labelkit.formats.jsonstream import Record, json_records
from labelkit.formats.label_studio import data_trace, digest_in
from labelkit.formats.rating_rows import is_parquet, table_header, table_rows
from labelkit.formats.reader import BrokenRecordError, Head, Item, Notes, Rating, ReadOptions
from labelkit.formats.records import an_object, read_each

TASK_SET = "argilla"

_FLAT = ".responses"
_OWN = frozenset({"id", "status", "_server_id", "metadata", "external_id", "vectors"})
_PSEUDONYM = "annotator-"
_USER = "6c616265-6c6b-8000-8000-00"
"""The beginning of our ids: a UUID of version 8, whose content is up to whoever makes it."""


class Argilla:
    """Reads Argilla's exports."""

    name = "argilla"
    description = "Argilla exports (records with `fields`, `responses` and `suggestions`)"

    def sniff(self, head: Head) -> float:
        """Sure with fields and responses, or with flattened responses and their users."""
        if "fields" in head.keys and head.keys & {"responses", "suggestions"}:
            return 0.95
        names = table_header(head.path) if head.kind == "parquet" else head.keys
        return 0.9 if any(name.endswith(f"{_FLAT}.users") for name in names) else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield items that are no traces yet, and the labels of each record."""
        records: Iterator[Record] = table_rows(path) if is_parquet(path) else json_records(path)

        def build(value: Any, source: str, notes: Notes) -> list[Trace | Rating]:
            return list(_record(an_object(value), source, options, notes))

        return read_each(records, path, build)


def _record(
    raw: dict[str, Any], source: str, options: ReadOptions, notes: Notes
) -> Iterator[Trace | Rating]:
    flat = [key for key in raw if key.endswith(_FLAT)]
    metadata = raw["metadata"] if isinstance(raw.get("metadata"), dict) else {}
    fields = raw.get("fields")
    if not isinstance(fields, dict):
        if not flat:
            raise BrokenRecordError("the record has no `fields`")
        asked = [key.removesuffix(_FLAT) for key in flat]
        fields = {
            key: value
            for key, value in raw.items()
            if key not in _OWN and not any(key == q or key.startswith(f"{q}.") for q in asked)
        }
    number = int(source.rpartition(":")[2])
    item = digest_in(metadata) or digest_in({"trace": raw.get("id")})
    if item is None:
        trace = data_trace(fields, str(raw.get("id", number)), TASK_SET, source, options)
        yield trace
        item = trace.digest
    responses = _flat_responses(raw, flat) if flat else _responses(raw.get("responses"))
    for question, who, given, status in responses:
        if status not in {None, "submitted"}:
            notes.lost("a response was never submitted")
            continue
        value = _label(given, notes)
        if value is not None:
            yield Rating(item, who, question, value, number)
    for question, given, agent in _suggestions(raw):
        value = _label(given, notes)
        if value is not None:
            yield Rating(item, agent, question, value, number, kind="judge")


def user_id_of(name: str) -> str:
    """Return the id under which Argilla may know a pseudonym; any other name as it is."""
    digits = name.removeprefix(_PSEUDONYM)
    if name == digits or not re.fullmatch("[0-9a-f]{10}", digits):
        return name
    return f"{_USER}{digits}"


def _name_of(user: Any) -> str:
    """Return the annotator's name: the pseudonym that an id stands for, else the id."""
    if not user:
        return "annotator"
    digits = str(user).removeprefix(_USER)
    return f"{_PSEUDONYM}{digits}" if len(digits) == 10 and digits != str(user) else str(user)


def _responses(raw: Any) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield (question, person, value, status) of either version's responses."""
    if isinstance(raw, dict):
        for question, answers in raw.items():
            for answer in answers if isinstance(answers, list) else ():
                if isinstance(answer, dict):
                    who = _name_of(answer.get("user_id"))
                    yield question, who, answer.get("value"), answer.get("status")
    for answer in raw if isinstance(raw, list) else ():
        values = answer.get("values") if isinstance(answer, dict) else None
        for question, given in values.items() if isinstance(values, dict) else ():
            value = given.get("value") if isinstance(given, dict) else given
            who = _name_of(answer.get("user_id"))
            yield question, who, value, answer.get("status")


def _flat_responses(raw: dict[str, Any], flat: list[str]) -> Iterator[tuple[str, str, Any, Any]]:
    for key in flat:
        values = raw[key] if isinstance(raw[key], list) else []
        users = _as_long(raw.get(f"{key}.users"), len(values))
        states = _as_long(raw.get(f"{key}.status"), len(values))
        for value, user, state in zip(values, users, states, strict=True):
            yield key.removesuffix(_FLAT), _name_of(user), value, state


def _as_long(raw: Any, length: int) -> list[Any]:
    found = raw if isinstance(raw, list) else []
    return [*found[:length], *([None] * (length - len(found)))]


def _suggestions(raw: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    listed = raw.get("suggestions")
    for question, found in listed.items() if isinstance(listed, dict) else ():
        if isinstance(found, dict):
            agent = rows.text_or_none(found.get("agent")) or "suggestion"
            yield question, found.get("value"), agent
    for key, value in raw.items():
        if key.endswith(".suggestion") and value is not None:
            question = key.removesuffix(".suggestion")
            agent = rows.text_or_none(raw.get(f"{key}.agent")) or "suggestion"
            yield question, value, agent


def _label(value: Any, notes: Notes) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(int(value)) if float(value).is_integer() else str(value)
    if value is not None:
        notes.lost("a response is no single label; it was left out")
    return None


READER = Argilla()
