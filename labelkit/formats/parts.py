"""A file of lines read in parts, by whoever has time, with the outcome of reading it whole.

Parts know neither how many lines lie before them nor which tasks were described there, so both are
put right where the parts are joined, in the order of the file. Only formats whose records stand
alone can be read so: nothing but the book of tasks may go from one record to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from pickle import PickleBuffer
from typing import Any

from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.domain.trace_text import TraceText
from labelkit.formats import anthropic_messages, openai_chat, tau_bench
from labelkit.formats.checks import examine
from labelkit.formats.jsonstream import line_spans, lines_of
from labelkit.formats.reader import Finding, Notes, Reader, ReadOptions, Span, TaskBook

_STAND_ALONE = frozenset({
    openai_chat.READER.name, anthropic_messages.READER.name, tau_bench.READER.name,
})  # fmt: skip

PartItem = Task | TraceText | Finding
"""What a part holds. Traces are examined and written; tasks are as they were read."""


@dataclass(frozen=True, slots=True)
class Part:
    """What some lines of a file say, numbered from 1, and how many lines they are."""

    lines: int
    items: list[PartItem]

    def __reduce__(self) -> tuple[Any, ...]:
        """Texts go to another process as buffers, which it gets as bytes (see ``children``)."""
        packed = [
            (PickleBuffer(item.text), *item[1:]) if isinstance(item, TraceText) else item
            for item in self.items
        ]
        return _unpacked, (self.lines, packed)


def _unpacked(lines: int, packed: list[Any]) -> Part:
    items = [TraceText._make(item) if type(item) is tuple else item for item in packed]
    return Part(lines, items)


def part_spans(reader: Reader, path: Path, size: int) -> Iterator[Span]:
    """Cut a file into parts of about ``size`` bytes; none where it can only be read whole."""
    return line_spans(path, size) if reader.name in _STAND_ALONE else iter(())


def read_part(reader: Reader, path: Path, options: ReadOptions, span: Span) -> Part:
    """Read some lines of a file; ``options`` are those of the whole file."""
    lines = lines_of(path, span)
    items: list[PartItem] = []
    for item in reader.read(path, replace(options, span=replace(span, lines=lines))):
        if isinstance(item, Trace):
            found, fits = examined(item, path)
            items += found
            if fits:
                items.append(TraceText.of(item))
        elif isinstance(item, PartItem):
            items.append(item)
        else:
            raise TypeError(f"{reader.name} yields {type(item).__name__}: it is read whole")
    return Part(len(lines), items)


def join(parts: Iterable[Part], path: Path) -> Iterator[PartItem]:
    """Yield what reading the whole file yields, from its parts in order."""
    book = TaskBook()
    before = 0
    for part in parts:
        yield from _told_anew(_numbered(part.items, before), book, path)
        before += part.lines


def _numbered(items: Iterable[PartItem], before: int) -> Iterator[PartItem]:
    """Number records from the beginning of the file."""
    for item in items:
        if isinstance(item, TraceText):
            stem, _, number = item.source.rpartition(":")
            yield item._replace(source=f"{stem}:{before + int(number)}")
        elif isinstance(item, Finding):
            yield replace(item, record=before + item.record)
        else:
            yield item


def _told_anew(items: Iterable[PartItem], book: TaskBook, path: Path) -> Iterator[PartItem]:
    """Decide about the first mention of each task in a part by what earlier parts said.

    A task that is described differently is told as its record's last finding, like ``TaskBook``
    does. A task has no number: it is the first item of its record.
    """
    seen: set[tuple[str, str]] = set()
    notes = Notes()
    record: int | None = None
    for item in items:
        if record is not None and (isinstance(item, Task) or _record(item) != record):
            yield from notes.findings(path, record)
            notes, record = Notes(), None
        if isinstance(item, Task):
            known = (item.set, item.id) in seen
            seen.add((item.set, item.id))
            if book.is_new(item, Notes() if known else notes):
                yield item
            continue
        if notes.found:
            record = _record(item)
        yield item
    if record is not None:
        yield from notes.findings(path, record)


def _record(item: TraceText | Finding) -> int:
    return item.record if isinstance(item, Finding) else _number(item.source)


def examined(trace: Trace, path: Path) -> tuple[list[Finding], bool]:
    """Return what is to be said about a trace, and whether it can be kept as one."""
    number = _number(trace.source)
    notes = Notes()
    fault = examine(trace, notes)
    if fault is not None:
        return [Finding(path.name, number, "broken", fault)], False
    return list(notes.findings(path, number)), True


def _number(source: str) -> int:
    """The number of the record that was read there; readers end ``source`` with it."""
    number = source.rpartition(":")[2]
    return int(number) if number.isdecimal() else 0
