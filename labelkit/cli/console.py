"""What a terminal shows: progress while work runs, tables when it is done.

On a terminal the progress is drawn (rich); elsewhere (a log file, a notebook, CI) it is plain
lines at most every few seconds, so that nothing ever looks stuck. Texts that come from traces or
endpoints are never read as markup.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from labelkit.printable import printable
from labelkit.workflows.progress import Progress as ProgressListener

PLAIN_INTERVAL_S = 5.0


class ResultConsole(Console):
    """Rich ends the program with code 1 when the reader went away; the entry point decides that."""

    def on_broken_pipe(self) -> None:
        """Let the BrokenPipeError through."""
        raise BrokenPipeError


def out() -> Console:
    """The console for results (standard output); wide enough for tables when piped."""
    return ResultConsole(width=None if sys.stdout.isatty() else 120, highlight=False)


def err() -> Console:
    """The console for progress and remarks (standard error)."""
    return Console(stderr=True, highlight=False)


class DrawnProgress:
    """Bars on a terminal."""

    def __init__(self, drawing: Progress) -> None:
        self._drawing = drawing
        self._tasks: dict[str, TaskID] = {}

    def begin(self, stage: str, total: int | None) -> None:
        """Add a bar."""
        self._tasks[stage] = self._drawing.add_task(_safe(stage), total=total, facts="")

    def advance(self, stage: str, count: int = 1) -> None:
        """Move a bar."""
        self._drawing.advance(self._tasks[stage], count)

    def facts(self, stage: str, text: str) -> None:
        """Write beside a bar."""
        self._drawing.update(self._tasks[stage], facts=_safe(text))

    def end(self, stage: str) -> None:
        """Fill a bar whose total was not known; leave an unfinished one as it is."""
        task = self._drawing.tasks[self._tasks[stage]]
        if task.total is None:
            self._drawing.update(task.id, total=task.completed)

    def say(self, text: str) -> None:
        """Print above the bars."""
        self._drawing.console.print(_safe(text))


class PlainProgress:
    """Lines where bars cannot be drawn."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._done: dict[str, int] = {}
        self._total: dict[str, int | None] = {}
        self._facts: dict[str, str] = {}
        self._last = 0.0

    def begin(self, stage: str, total: int | None) -> None:
        """Say that a stage starts, where there is a number to say."""
        self._done[stage], self._total[stage], self._facts[stage] = 0, total, ""
        self._last = time.monotonic()
        if total is not None:
            self.say(f"{stage}: {total} rows to do")

    def advance(self, stage: str, count: int = 1) -> None:
        """Count, and print now and then."""
        self._done[stage] += count
        if time.monotonic() - self._last >= PLAIN_INTERVAL_S:
            self._line(stage)

    def facts(self, stage: str, text: str) -> None:
        """Keep for the next line."""
        self._facts[stage] = text

    def end(self, stage: str) -> None:
        """Print the last state of a stage."""
        self._line(stage)

    def say(self, text: str) -> None:
        """Print one line."""
        self._console.print(_safe(text), soft_wrap=True)

    def _line(self, stage: str) -> None:
        total = self._total[stage]
        count = f"{self._done[stage]}/{total}" if total is not None else str(self._done[stage])
        self.say("  ".join(part for part in (f"{stage}: {count}", self._facts[stage]) if part))
        self._last = time.monotonic()


@contextmanager
def progress() -> Iterator[ProgressListener]:
    """Yield a listener that suits standard error."""
    console = err()
    if not console.is_terminal:
        yield PlainProgress(console)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[facts]}"),
    )
    with Progress(*columns, console=console) as drawing:
        yield DrawnProgress(drawing)


def plain(text: str) -> Text:
    """A line that is printed as it is."""
    return Text(printable(text, keep="\n"))


def _safe(text: str) -> str:
    """Text for where rich reads markup: neither markup nor escape sequences are left in it."""
    return escape(printable(text, keep="\n"))


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int = 1
) -> Table:
    """A table whose first ``text_columns`` columns are text and whose others are numbers.

    Cells are printed as they are: no markup is read from them.
    """
    drawn = Table(title=_safe(title), title_justify="left", title_style="bold")
    for index, name in enumerate(columns):
        drawn.add_column(escape(name), justify="left" if index < text_columns else "right")
    for row in rows:
        drawn.add_row(*(Text(printable(cell)) for cell in row))
    return drawn
