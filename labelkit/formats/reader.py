"""What every format file is: a sniffer and a stream of items, with nothing dropped silently.

A format file knows one way in which people store traces or tasks. It turns records into domain
values and says, record by record, what it had to mend, what it could not keep and what it could
not read. It never opens a store, never decides what a call or an answer *means* (that is
``labelkit.grounding``) and never holds more than one record of a line or array file in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol

from labelkit.domain.task import Tag, Task
from labelkit.domain.trace import Trace
from labelkit.domain.trace_text import TraceText
from labelkit.formats.keys import first_keys
from labelkit.formats.rating_layout import Layout

FindingKind = Literal["repaired", "lost", "odd", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a user must know about one record.

    ``record`` is the 1-based line of a line file or the 0-based index in an array. ``what`` is one
    sentence, worded without values of the record where possible, so that equal findings can be
    counted together. ``repaired``: changed to fit, meaning kept. ``lost``: could not be kept or
    was not there. ``odd``: kept as it is, but unusual enough to be looked at. ``broken``: the whole
    record could not be read.
    """

    file: str
    record: int
    kind: FindingKind
    what: str


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's outcome on one item.

    Args:
        item: the digest of a trace that was yielded before, or what the file calls the item.
        rater: the rater's name in the file.
        question: what was asked; None where the file asks one thing and does not name it.
        value: the label, or None with a reason.
        record: where it was read, as in ``Finding``.
        kind: whether a person or a model judged.
        reason: why there is no value: ``parse`` for an unreadable verdict.
        rationale: what the rater wrote beside the label.
        given_at: when, in ISO 8601, where the file says so.
        text: what the item says, where the file holds it.
        tags: plain facts about the item.
    """

    item: str
    rater: str
    question: str | None
    value: str | None
    record: int
    kind: Literal["person", "judge"] = "person"
    reason: str | None = None
    rationale: str | None = None
    given_at: str | None = None
    text: str | None = None
    tags: Mapping[str, Tag] = field(default_factory=dict)


Item = Task | Trace | TraceText | Rating | Finding


@dataclass(frozen=True, slots=True)
class Span:
    """A run of whole lines: bytes ``start`` up to, not including, ``stop``.

    ``lines`` are the lines themselves, where they have been read already.
    """

    start: int
    stop: int
    lines: Sequence[bytes] | None = None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user states about a file; each wins over what the file says.

    ``texts`` lets a reader write plain traces down at once instead of building them: for an
    import, which does nothing else with them. ``layout``, ``text`` (the column with the item's
    own text) and ``judges`` (raters who are models) are about tables of ratings. With ``span`` only
    those lines of a line file are read, and records are numbered from its first line: for the
    formats that ``labelkit.formats.parts`` names.
    """

    task_set: str | None = None
    model: str | None = None
    condition: str | None = None
    texts: bool = False
    layout: Layout = field(default_factory=Layout)
    text: str | None = None
    judges: frozenset[str] = frozenset()
    span: Span | None = None


@dataclass(frozen=True)
class Head:
    """The beginning of a file: its path and about the first 64 kB, decoded leniently.

    ``members`` are the names inside a zip archive, whose text is empty; so is that of a file of
    kind ``parquet``.
    """

    path: Path
    text: str
    members: tuple[str, ...] = ()
    kind: Literal["text", "zip", "parquet"] = "text"

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys of the first object (first line, first array element or the whole file)."""
        return first_keys(self.text)


class Reader(Protocol):
    """One format. Instances are stateless: one reader serves any number of files at once."""

    @property
    def name(self) -> str:
        """What ``--format`` takes."""

    @property
    def description(self) -> str:
        """One line for ``--help`` and for error messages."""

    def sniff(self, head: Head) -> float:
        """Return the confidence, 0 to 1, that the file is in this format; reads nothing."""

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield tasks, traces and findings in file order, in constant memory."""


class BrokenRecordError(Exception):
    """Raised inside a reader when a record cannot be represented; becomes a finding."""


@dataclass(slots=True)
class Notes:
    """What is found while one record is read; the reader turns it into findings at the end."""

    found: list[tuple[FindingKind, str]] = field(default_factory=list)

    def repaired(self, what: str) -> None:
        """Note a change that keeps the meaning."""
        self._add("repaired", what)

    def lost(self, what: str) -> None:
        """Note something that could not be kept or was not there."""
        self._add("lost", what)

    def odd(self, what: str) -> None:
        """Note something that was kept as it is but may surprise whoever counts it."""
        self._add("odd", what)

    def _add(self, kind: FindingKind, what: str) -> None:
        if (kind, what) not in self.found:
            self.found.append((kind, what))

    def findings(self, path: Path, record: int) -> Iterator[Finding]:
        """Yield what was noted, once per record and sentence."""
        for kind, what in self.found:
            yield Finding(path.name, record, kind, what)


@dataclass(slots=True)
class TaskBook:
    """Lets a task through once per content, so that a run file names each task once.

    Keeps one digest per task: about 200 bytes each, independent of the size of the traces.
    """

    digests: dict[tuple[str, str], str] = field(default_factory=dict)

    def is_new(self, task: Task, notes: Notes) -> bool:
        """Whether this content of the task was not the last one seen under its id."""
        key = (task.set, task.id)
        before = self.digests.get(key)
        if before == task.digest:
            return False
        if before is not None:
            notes.repaired("the task is described differently from an earlier record; both kept")
        self.digests[key] = task.digest
        return True
