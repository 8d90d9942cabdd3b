"""Logs of Inspect: one JSON object, or the ``.eval`` archive with one member per sample.

A log may hold a thousand samples with long transcripts, so neither kind is ever in memory whole:
the header is read first, then one sample after the other. What a sample means is the business of
``inspect_samples``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.formats.archive import Archive
from labelkit.formats.inspect_samples import read_sample
from labelkit.formats.jsonstream import Record, json_value, member_records, members
from labelkit.formats.reader import (
    BrokenRecordError,
    Finding,
    Head,
    Item,
    Notes,
    ReadOptions,
    TaskBook,
)
from labelkit.formats.records import Build, an_object, read_each

_HEADER = "header.json"
_START = "_journal/start.json"
_SAMPLES = "samples/"


class InspectJson:
    """Reads Inspect's JSON logs."""

    name = "inspect-json"
    description = "Inspect logs as JSON (an object with `eval`, `plan` and `samples`)"

    def sniff(self, head: Head) -> float:
        """Sure with the sections every log begins with."""
        return 0.95 if {"version", "status", "eval"} <= head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield each sample's trace, before it its task where it is new."""
        header = members(path, "samples")
        records = _counted(member_records(path, "samples"))
        yield from read_each(records, path, _build(header, options))
        if not records.count:
            yield Finding(path.name, 0, "broken", _no_samples(header))


class InspectEval:
    """Reads Inspect's ``.eval`` archives."""

    name = "inspect-eval"
    description = "Inspect logs as `.eval` archives (zip, also zstandard)"

    def sniff(self, head: Head) -> float:
        """Sure with an archive that has the members of a log."""
        return 0.97 if {_HEADER, _START} & set(head.members) else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield each sample's trace, before it its task where it is new."""
        with Archive(path) as archive:
            names = archive.names()
            header = _header(archive, names)
            samples = [n for n in names if n.startswith(_SAMPLES) and n.endswith(".json")]
            records = (_member(archive, name, number) for number, name in enumerate(samples))
            yield from read_each(records, path, _build(header, options))
            if not samples:
                yield Finding(path.name, 0, "broken", _no_samples(header))


class _counted(Iterator[Record]):  # noqa: N801 - used like a function
    """Records with their number so far."""

    def __init__(self, records: Iterator[Record]) -> None:
        self.count = 0
        self._records = records

    def __next__(self) -> Record:
        record = next(self._records)
        self.count += 1
        return record


def _no_samples(header: dict[str, Any]) -> str:
    found = "only the results were kept" if "results" in header else "the header could not be read"
    return f"the log has no samples: {found}"


def _header(archive: Archive, names: list[str]) -> dict[str, Any]:
    """Return the header; a log that was cut off while running has only its start."""
    name = _HEADER if _HEADER in names else _START
    try:
        value = json_value(archive.read(name)).value
    except BrokenRecordError:
        value = None
    return value if isinstance(value, dict) else {}


def _member(archive: Archive, name: str, number: int) -> Record:
    try:
        return json_value(archive.read(name), number)
    except BrokenRecordError as error:
        return Record(number, broken=str(error))


def _build(header: dict[str, Any], options: ReadOptions) -> Build:
    evaluation = header["eval"] if isinstance(header.get("eval"), dict) else {}
    book = TaskBook()

    def build(value: Any, source: str, notes: Notes) -> Iterator[Task | Trace]:
        task, trace = read_sample(an_object(value), evaluation, source, options, notes)
        if task is not None and book.is_new(task, notes):
            yield task
        yield trace

    return build


JSON = InspectJson()
EVAL = InspectEval()
