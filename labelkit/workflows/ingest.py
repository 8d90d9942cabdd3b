"""Files into the store: streamed, idempotent, with an account of every record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from labelkit.catalog.task_sets import load_task_set
from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.formats.reader import ReadOptions
from labelkit.formats.registry import LossReport, read_file
from labelkit.store import Store
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces
from labelkit.workflows.progress import Progress, Silent

CHUNK = 200


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


def import_file(
    store: Store,
    file: Path | str,
    *,
    file_format: str | None = None,
    options: ReadOptions | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Read one file of traces or tasks into the store; a second time changes nothing.

    A task set of labelkit (a folder with ``card.yaml``, or its ``tasks.jsonl``) is read as such.

    Raises:
        FormatError: when the file cannot be read or no record of it could.
        StoreError: when the store cannot be written; records before that are kept.
    """
    listener = progress or Silent()
    path = Path(file)
    if file_format is None and (folder := _task_set_at(path)) is not None:
        return _import_set(store, path, folder)
    reading = read_file(path, file_format, options)
    stage = f"import {path.name}"
    listener.begin(stage, None)
    counts = {"tasks_new": 0, "tasks_known": 0, "traces_new": 0, "traces_known": 0}
    for chunk in _chunks(reading):
        tasks = add_tasks(store, (item for item in chunk if isinstance(item, Task)))
        traces = add_traces(store, (item for item in chunk if isinstance(item, Trace)))
        counts["tasks_new"] += tasks.new
        counts["tasks_known"] += tasks.known
        counts["traces_new"] += traces.new
        counts["traces_known"] += traces.known
        listener.advance(stage, len(chunk))
    listener.end(stage)
    return Imported(path=str(path), format=reading.format, losses=reading.report, **counts)


def import_task_set(store: Store, name: str) -> tuple[Task, ...]:
    """Read a packaged or own task set into the store and return its tasks."""
    tasks = tuple(load_task_set(name).tasks)
    add_tasks(store, tasks)
    return tasks


def _task_set_at(path: Path) -> Path | None:
    """The folder of a task set that a path means, or None."""
    folder = path.parent if path.name == "tasks.jsonl" else path
    try:
        return folder if (folder / "card.yaml").is_file() else None
    except OSError:  # a name that no file can have; the reader says so
        return None


def _import_set(store: Store, path: Path, folder: Path) -> Imported:
    """Read a task set; a mistake in it is an error with file and line, so nothing is lost."""
    added = add_tasks(store, load_task_set(folder).tasks)
    losses = LossReport(path, "task-set", added.new + added.known, 0, ())
    return Imported(str(path), "task-set", added.new, added.known, 0, 0, losses)


def _chunks(items: Iterable[Task | Trace]) -> Iterator[list[Task | Trace]]:
    """Batches in file order; the last may be short."""
    stream = iter(items)
    while chunk := list(islice(stream, CHUNK)):
        yield chunk
