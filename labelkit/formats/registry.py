"""Which formats there are, which one a file is in, and the one way to read a file.

``read_file`` is what workflows call: it streams tasks and traces and keeps the account of what
was read, mended, lost and broken. A new format is one file and one entry in ``READERS``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.domain.trace_text import TraceText
from labelkit.errors import FormatError
from labelkit.formats import (
    agentrx,
    anthropic_messages,
    api_call_log,
    argilla,
    bfcl,
    inspect_log,
    judge_bench,
    label_studio,
    langfuse,
    llmbar,
    mast,
    openai_chat,
    pandalm,
    provider_pairs,
    rating_table,
    spans,
    swe_agent,
    tau_bench,
    toolbench,
    toolfailbench,
    who_and_when,
)
from labelkit.formats.checks import TOO_DEEP
from labelkit.formats.nesting import too_deep
from labelkit.formats.parts import examined
from labelkit.formats.reader import (
    Finding,
    FindingKind,
    Head,
    Item,
    Rating,
    Reader,
    ReadOptions,
)
from labelkit.formats.source import read_head

_TRACE_READERS: tuple[Reader, ...] = (
    openai_chat.READER,
    anthropic_messages.READER,
    provider_pairs.READER,
    tau_bench.READER,
    tau_bench.FEW_SHOT,
    toolfailbench.TASKS,
    toolfailbench.RESULTS,
    who_and_when.READER,
    swe_agent.READER,
    toolbench.READER,
    inspect_log.JSON,
    inspect_log.EVAL,
    langfuse.READER,
    spans.READER,
    api_call_log.READER,
    bfcl.READER,
)
_LABEL_READERS: tuple[Reader, ...] = (
    rating_table.READER,
    pandalm.READER,
    mast.READER,
    judge_bench.READER,
    llmbar.READER,
    agentrx.READER,
    label_studio.READER,
    argilla.READER,
)
READERS = _TRACE_READERS + _LABEL_READERS
LABEL_FORMATS = frozenset(reader.name for reader in _LABEL_READERS)
"""Formats whose files hold ratings: they need a rubric's question to be labels of."""

_SURE = 0.5
_UNREADABLE = "the record is not valid JSON"
_EXAMPLES = 5
_DISTINCT = 200
_OTHER = "other findings of this kind"


class UnknownFormatError(FormatError):
    """A readable file that no reader knows."""


def reader_names() -> tuple[str, ...]:
    """Return what ``--format`` takes, in the order of the registry."""
    return tuple(reader.name for reader in READERS)


def reader_named(name: str) -> Reader:
    """Return the reader called ``name``.

    Raises:
        FormatError: there is none.
    """
    for reader in READERS:
        if reader.name == name:
            return reader
    raise FormatError(f"there is no format {name!r}; known formats: {', '.join(reader_names())}")


def sniff_format(path: str | Path) -> Reader:
    """Return the reader that knows the file best, from its name and first 64 kB.

    Raises:
        FormatError: the file cannot be read.
        UnknownFormatError: no reader is sure; names the nearest guesses.
    """
    return _sniff(read_head(Path(path)))


def _sniff(head: Head) -> Reader:
    scores = sorted(((r.sniff(head), r) for r in READERS), key=lambda pair: -pair[0])
    if scores[0][0] >= _SURE:
        return scores[0][1]
    hint = None
    if head.kind == "text" and head.path.suffix.lower() in {".csv", ".tsv"}:
        hint = rating_table.table_hint(head)
    if hint is not None:
        raise UnknownFormatError(f"{head.path} is in no known format: {hint}")
    if head.kind != "text":
        found = f"it is a {head.kind} file"
    elif not head.text.lstrip().startswith(("{", "[")):
        found = "it does not begin with JSON"
    elif head.keys:
        names = [key if len(key) <= 40 else f"{key[:40]}..." for key in sorted(head.keys)[:6]]
        found = f"its first record has the keys {', '.join(map(repr, names))}"
    else:
        found = "its first record has no keys"
    near = [reader.name for score, reader in scores if score > 0][:2]
    if near:
        mend = f"the nearest guess is {' or '.join(near)}; force it with --format if that is right"
    else:
        mend = "`labelkit import --help` lists what each format looks like"
    raise UnknownFormatError(f"{head.path} is in no known format ({found}); {mend}")


class NothingReadError(FormatError):
    """A file of a known format of which not one record could be read."""


@dataclass(frozen=True, slots=True)
class LossLine:
    """Equal findings counted together, with the first few records they were made in."""

    kind: FindingKind
    what: str
    count: int
    records: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LossReport:
    """The account of one file. ``broken`` counts records; ``lines`` is sorted, worst first."""

    path: Path
    format: str
    tasks: int
    traces: int
    lines: tuple[LossLine, ...]
    ratings: int = 0

    def total(self, kind: FindingKind) -> int:
        """Return how many findings of ``kind`` were made."""
        return sum(line.count for line in self.lines if line.kind == kind)

    @property
    def broken(self) -> int:
        """Records that could not be read at all."""
        return self.total("broken")

    @property
    def clean(self) -> bool:
        """Whether everything was read exactly as it was."""
        return not self.lines


class Reading(Iterator[Task | Trace]):
    """The stream of one file's tasks and traces; afterwards ``findings`` and ``report``.

    Memory is constant however many findings there are: equal ones are counted and only the first
    few of each kept as examples.
    """

    def __init__(self, path: Path, file_format: str, items: Iterator[Item]) -> None:
        self.path = path
        self.format = file_format
        self._items = self._checked(items)
        self._counts: Counter[tuple[FindingKind, str]] = Counter()
        self._examples: dict[tuple[FindingKind, str], list[Finding]] = {}
        self._tasks = 0
        self._traces = 0
        self._ratings = 0

    def __next__(self) -> Task | Trace:
        item = next(self._items)
        while isinstance(item, Rating):
            item = next(self._items)
        return item.trace() if isinstance(item, TraceText) else item

    def written(self) -> Iterator[Task | TraceText | Rating]:
        """The same stream as it is stored, ratings too; made quickly with ``texts``."""
        for item in self._items:
            yield TraceText.of(item) if isinstance(item, Trace) else item

    def _checked(self, items: Iterator[Item]) -> Iterator[Task | Trace | TraceText | Rating]:
        for item in items:
            if isinstance(item, Rating):
                self._ratings += 1
                yield item
            elif isinstance(item, TraceText):
                self._traces += 1  # checked where it was written
                yield item
            elif isinstance(item, Finding):
                self._keep(item)
            elif self._addressable(item):
                yield item
        if not (self._tasks or self._traces or self._ratings):
            raise NothingReadError(self._nothing_read())

    def _addressable(self, item: Task | Trace) -> bool:
        """Count an item, unless it is nested so deeply that it could not be read again."""
        if isinstance(item, Task):
            if too_deep(item):
                self._keep(Finding(self.path.name, 0, "broken", TOO_DEEP))
                return False
            self._tasks += 1
            return True
        found, fits = examined(item, self.path)
        for finding in found:
            self._keep(finding)
        self._traces += fits
        return fits

    def note(self, finding: Finding) -> None:
        """Add what was found out about a record after it was read."""
        self._keep(finding)

    def _keep(self, finding: Finding) -> None:
        key = (finding.kind, finding.what)
        if key not in self._counts and len(self._counts) >= _DISTINCT:
            key = (finding.kind, _OTHER)
        self._counts[key] += 1
        examples = self._examples.setdefault(key, [])
        if len(examples) < _EXAMPLES:
            examples.append(finding)

    def _nothing_read(self) -> str:
        broken = [f for f in self.findings if f.kind == "broken"]
        why = f": record {broken[0].record}: {broken[0].what}" if broken else ""
        if broken and broken[0].what.startswith(_UNREADABLE):
            mend = "mend the file there or write it again, no format can read it as it is"
        else:
            mend = "check the file or name another format with --format"
        return f"{self.path}: no record could be read as {self.format}{why}; {mend}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The first few findings of each wording, in order of first appearance."""
        return tuple(f for examples in self._examples.values() for f in examples)

    @property
    def report(self) -> LossReport:
        """The account so far; complete once the stream has ended."""
        order: dict[FindingKind, int] = {"broken": 0, "lost": 1, "odd": 2, "repaired": 3}
        lines = [
            LossLine(kind, what, n, tuple(f.record for f in self._examples[kind, what]))
            for (kind, what), n in self._counts.items()
        ]
        lines.sort(key=lambda line: (order[line.kind], -line.count, line.what))
        return LossReport(
            self.path, self.format, self._tasks, self._traces, tuple(lines), self._ratings
        )


ReadThrough = Callable[[Reader, Path, ReadOptions], Iterator[Item]]
"""Reads a file with a reader in another way than ``Reader.read``, such as in parts."""


def read_file(
    path: str | Path,
    format: str | None = None,  # noqa: A002 - the name of the command line option
    options: ReadOptions | None = None,
    *,
    through: ReadThrough | None = None,
) -> Reading:
    """Open a file for streaming; the format is sniffed unless named.

    ``through`` reads in place of the reader itself, with the same outcome.

    Raises:
        FormatError: at once for a file that cannot be read or a format that is not known; during
            iteration when the file ends and not one record could be read.
    """
    file = Path(path)
    head = read_head(file)
    reader = reader_named(format) if format is not None else _sniff(head)
    chosen = options or ReadOptions()
    items = reader.read(file, chosen) if through is None else through(reader, file, chosen)
    return Reading(file, reader.name, items)
