"""The loop of every reader: one record after the other, and no fault of one reaches the next.

A format file only says how one record becomes tasks and traces; that a broken record is a finding
and not an exception, and that what was noted is told after its record, is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.domain.trace_text import TraceText
from labelkit.formats.jsonstream import Record
from labelkit.formats.reader import BrokenRecordError, Finding, Item, Notes, Rating

Build = Callable[[Any, str, Notes], Iterable[Task | Trace | Rating]]
"""Turns one record's value into items: (value, source, notes). Raises BrokenRecordError."""


Quickly = Callable[[Any, str, Notes], list[Task | TraceText] | None]
"""Turns a quickly decoded record into written items; None where it takes ``Build``."""


def read_each(
    records: Iterable[Record], path: Path, build: Build, quickly: Quickly | None = None
) -> Iterator[Item]:
    """Yield the items and findings of every record, in file order.

    Where there is a quick way it is tried first on records that were decoded quickly; what it
    leaves is decoded again, exactly, and built as ever.
    """
    name = path.name
    for record in records:
        if record.raw is not None and quickly is not None:
            written = quickly(record.value, f"{name}:{record.number}", record.notes)
            if written is not None:
                yield from written
                if record.notes.found:
                    yield from record.notes.findings(path, record.number)
                continue
        exact = record.exactly()
        yield from _built(exact, path, build)


def _built(record: Record, path: Path, build: Build) -> Iterator[Item]:
    if record.broken is not None:
        yield Finding(path.name, record.number, "broken", record.broken)
        return
    try:
        items = list(build(record.value, f"{path.name}:{record.number}", record.notes))
    except (BrokenRecordError, ValueError, RecursionError) as error:
        yield Finding(path.name, record.number, "broken", reason(error))
        return
    yield from items
    yield from record.notes.findings(path, record.number)


def reason(error: Exception) -> str:
    """Return why a record could not be represented, in one sentence without its values."""
    if isinstance(error, RecursionError):
        return "the record is nested too deeply"
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return first if isinstance(error, BrokenRecordError) else f"the record does not fit: {first}"


def an_object(value: Any) -> dict[str, Any]:
    """Return the record, which must be an object.

    Raises:
        BrokenRecordError: it is not.
    """
    if not isinstance(value, dict):
        raise BrokenRecordError("the record is not an object")
    return value
