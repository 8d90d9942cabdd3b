"""Files into the store: streamed, idempotent, with an account of every record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from labelkit.catalog.task_sets import load_task_set
from labelkit.domain.task import Task
from labelkit.domain.trace_text import TraceText
from labelkit.errors import FormatError, InputError
from labelkit.formats.rating_layout import columns_of
from labelkit.formats.reader import Finding, Rating, ReadOptions
from labelkit.formats.registry import LABEL_FORMATS, LossReport, read_file
from labelkit.printable import printable
from labelkit.store import Store
from labelkit.store.inserting import Added
from labelkit.store.siblings import siblings
from labelkit.store.tasks import add_tasks
from labelkit.store.terms import note_terms
from labelkit.store.traces import add_traces
from labelkit.workflows.collecting import seldom_collecting
from labelkit.workflows.import_parts import Parts, is_large
from labelkit.workflows.import_paths import files_below, is_folder, task_set_at
from labelkit.workflows.ingest_ratings import RatingBook
from labelkit.workflows.progress import Progress, Silent
from labelkit.workflows.rating_target import RatingTarget
from labelkit.workflows.release.load import is_release, load_release

Chunk = list[Task | TraceText | Rating]

FindTarget = Callable[[Path, str, ReadOptions], RatingTarget]
"""(path, format, options) of a file of ratings -> what they are labels of."""

CHUNK = 250
CHUNK_BYTES = 3_900_000
"""Just under what the store commits at once, so that a chunk is one transaction."""

_SAMPLE = 20
_TABLES = frozenset({".csv", ".tsv", ".parquet"})
_CHANGED = "the file changed while it was read; import it again once it is complete"


@dataclass(frozen=True)
class Imported:
    """What one file brought: new rows, rows that were known already, and the reader's account."""

    path: str
    format: str
    tasks_new: int
    tasks_known: int
    traces_new: int
    traces_known: int
    losses: LossReport
    labels_new: int = 0
    labels_known: int = 0


def import_file(
    store: Store,
    file: Path | str,
    *,
    file_format: str | None = None,
    options: ReadOptions | None = None,
    progress: Progress | None = None,
    again: bool = False,
    target: FindTarget | None = None,
    processes: int | None = None,
) -> Imported:
    """Read one file of traces, tasks or ratings into the store; a second time changes nothing.

    A task set of labelkit (a folder with ``card.yaml``, or its ``tasks.jsonl``) is read as such,
    and a release (a folder with ``release.json``) is restored whole: rubrics, samples, everybody's
    labels and decisions.
    Ratings become labels of what ``target`` finds for the file (see ``rating_target.Targets``).
    A file whose rollouts the store has already under another model, task set or condition is
    refused unless ``again`` says that they are to be kept twice. A large file of lines is read by
    one process per core, or by as many ``processes``; that changes nothing but the time.

    Raises:
        FormatError: when the file cannot be read or no record of it could.
        SecondNameError: when it was imported before under other names.
        InputError: it holds ratings and nothing says what they are labels of.
        StoreError: when the store cannot be written; records before that are kept.
    """
    listener = progress or Silent()
    path = Path(file)
    if file_format is None and (folder := task_set_at(path)) is not None:
        return _import_set(store, path, folder)
    if file_format is None and is_folder(path) and is_release(path):
        return _import_release(store, path)
    chosen = replace(options or ReadOptions(), texts=True)
    if file_format is None and path.suffix.lower() in _TABLES and columns_of(chosen.layout):
        file_format = "ratings"  # whoever names columns says that it is a table
    before = _stamp(path)
    with _filling(store, path), Parts(processes) as parts:
        reading = read_file(path, file_format, chosen, through=parts.read)
        book = _book(store, path, reading.format, chosen, target)
        stage = f"import {printable(path.name)}"
        listener.begin(stage, None)
        writer = _Writer(store, book, reading.note)
        with seldom_collecting():
            for number, chunk in enumerate(_chunks(reading.written())):
                if number == 0 and not again:
                    _refuse_second_names(store, path, chunk)
                writer.write(chunk)
                listener.advance(stage, len(chunk))
        listener.end(stage)
    if _stamp(path) != before:
        reading.note(Finding(path.name, 0, "odd", _CHANGED))
    added = writer.added
    return Imported(
        path=str(path),
        format=reading.format,
        tasks_new=added.tasks.new,
        tasks_known=added.tasks.known,
        traces_new=added.traces.new,
        traces_known=added.traces.known,
        losses=reading.report,
        labels_new=added.labels.new,
        labels_known=added.labels.known,
    )


def _filling(store: Store, path: Path) -> AbstractContextManager[Any]:
    """How the store is written to: a large file makes it worth to write what it brings once."""
    return store.filling() if is_large(path) else nullcontext()


def _stamp(path: Path) -> tuple[int, int] | None:
    """What tells whether a file was written to: its size and time of change."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def _book(
    store: Store, path: Path, file_format: str, options: ReadOptions, target: FindTarget | None
) -> RatingBook | None:
    """Return what writes the ratings of a file; None for a file without any."""
    if file_format not in LABEL_FORMATS:
        return None
    if target is None:
        raise InputError(
            f"{path} holds ratings ({file_format}); say which question they answer with --rubric, "
            "and --question where the rubric asks several"
        )
    return RatingBook(store, target(path, file_format, options), options, path.name)


@dataclass(frozen=True)
class _Written:
    """What some chunks brought, and what was found out about their ratings."""

    tasks: Added = field(default_factory=Added)
    traces: Added = field(default_factory=Added)
    labels: Added = field(default_factory=Added)
    findings: tuple[Finding, ...] = ()

    def __add__(self, other: _Written) -> _Written:
        return _Written(
            self.tasks + other.tasks, self.traces + other.traces, self.labels + other.labels
        )


class _Writer:
    """Writes chunk after chunk. A thread of its own would wait for Python's lock most of the time.

    ``added`` is what was brought so far.
    """

    def __init__(
        self, store: Store, book: RatingBook | None, note: Callable[[Finding], None]
    ) -> None:
        self.added = _Written()
        self._store = store
        self._book = book
        self._note = note

    def write(self, chunk: Chunk) -> None:
        """Write a chunk, and tell what was found out about its ratings."""
        written = self._add(chunk)
        self.added += written
        for finding in written.findings:
            self._note(finding)

    def _add(self, chunk: Chunk) -> _Written:
        tasks = add_tasks(self._store, (item for item in chunk if isinstance(item, Task)))
        texts = (item for item in chunk if isinstance(item, TraceText))
        traces = add_traces(self._store, texts)
        ratings = [item for item in chunk if isinstance(item, Rating)]
        if self._book is None or not ratings:
            return _Written(tasks, traces)
        labels, items, findings = self._book.add(ratings)
        return _Written(tasks, traces + items, labels, tuple(findings))


@dataclass(frozen=True)
class Refused:
    """A file that brought nothing: why, and whether it was named or only lay in a named folder."""

    path: str
    error: FormatError
    named: bool


def import_files(
    store: Store,
    paths: Iterable[Path],
    *,
    file_format: str | None = None,
    options: ReadOptions | None = None,
    progress: Progress | None = None,
    again: bool = False,
    target: FindTarget | None = None,
    processes: int | None = None,
) -> Iterator[Imported | Refused]:
    """Import every path, a folder with all files below it; go on past what cannot be read.

    Raises:
        StoreError: when the store cannot be written; files before that are kept.
    """
    for found in files_below(paths, file_format):
        if found.error is not None:
            yield Refused(str(found.path), found.error, found.named)
            continue
        try:
            yield import_file(
                store,
                found.path,
                file_format=file_format,
                options=options,
                progress=progress,
                again=again,
                target=target,
                processes=processes,
            )
        except FormatError as error:
            yield Refused(str(found.path), error, found.named)


class SecondNameError(FormatError):
    """A file whose rollouts are in the store under another model, task set or condition."""


def _refuse_second_names(store: Store, path: Path, chunk: Chunk) -> None:
    """Refuse a file whose first traces are all known by source and messages, but not by digest."""
    sample = [item.trace() for item in chunk if isinstance(item, TraceText)][:_SAMPLE]
    if not sample:
        return
    known = siblings(store, sample)
    twins = [(new, old) for new, old in zip(sample, known, strict=True) if old is not None]
    if len(twins) < len(sample):
        return
    new, old = twins[0]
    differs = [
        f"{name.replace('_', ' ')} {getattr(old, name)!r}, now {getattr(new, name)!r}"
        for name in ("model", "task_set", "task_id", "condition", "repeat")
        if getattr(old, name) != getattr(new, name)
    ]
    raise SecondNameError(
        f"{path} is in the store already under other names ({'; '.join(differs) or 'other tags'}); "
        "importing it would count every rollout twice; use a new store for the corrected names, or "
        "--again to keep both"
    )


def import_task_set(store: Store, name: str) -> tuple[Task, ...]:
    """Read a packaged or own task set into the store and return its tasks."""
    tasks = tuple(load_task_set(name).tasks)
    add_tasks(store, tasks)
    return tasks


def _import_set(store: Store, path: Path, folder: Path) -> Imported:
    """Read a task set; a mistake in it is an error with file and line, so nothing is lost."""
    found = load_task_set(folder)
    added = add_tasks(store, found.tasks)
    note_terms(store, found.card.terms)
    losses = LossReport(path, "task-set", added.new + added.known, 0, ())
    return Imported(str(path), "task-set", added.new, added.known, 0, 0, losses)


def _import_release(store: Store, path: Path) -> Imported:
    """Restore a release; one that was changed is an error, so nothing is lost."""
    found = load_release(path, store)
    tasks, traces, labels = found.tasks, found.traces, found.labels
    losses = LossReport(path, "release", tasks.new + tasks.known, traces.new + traces.known, ())
    return Imported(
        path=str(path),
        format="release",
        tasks_new=tasks.new,
        tasks_known=tasks.known,
        traces_new=traces.new,
        traces_known=traces.known,
        losses=losses,
        labels_new=labels.new,
        labels_known=labels.known,
    )


def _chunks(items: Iterable[Task | TraceText | Rating]) -> Iterator[Chunk]:
    """Batches in file order, bounded in number and in size."""
    chunk: Chunk = []
    size = 0
    for item in items:
        chunk.append(item)
        size += len(item.text) if isinstance(item, TraceText) else 0
        if len(chunk) >= CHUNK or size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
