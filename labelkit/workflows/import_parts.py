"""A large file of lines read by several processes, with the outcome of reading it in one.

Children read and write down; this process joins the parts in the order of the file and alone
writes to the store. It reads parts too, when the next one in order is still being read elsewhere.
What a child does not answer, because it is not up yet, was killed or met something unusual, is
read here: children can only make an import faster, never end it.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from labelkit.formats.parts import Part, join, part_spans, read_part
from labelkit.formats.reader import Item, Reader, ReadOptions, Span
from labelkit.workflows import children
from labelkit.workflows.children import Child
from labelkit.workflows.cores import cores
from labelkit.workflows.import_worker import Setup

LARGE_BYTES = 48_000_000
"""From this size on children pay: each needs a quarter of a second to come up."""

PART_BYTES = 250_000
"""Several answers fit into a pipe, so that a child need not wait while this process writes."""

MOST_CHILDREN = 4
"""One process writes, and it cannot write more than so many others read."""

_AHEAD = 5
"""Parts in the hands of a child: the one it reads, some in the pipe, and the next."""
_AHEAD_HERE = 6
"""Parts that were read here while earlier ones were read elsewhere."""
_PROGRAM = "from labelkit.workflows.import_worker import work; work()"


def is_large(path: Path) -> bool:
    """Whether a file is so large that ways pay which cost something to begin with."""
    try:
        return path.stat().st_size >= LARGE_BYTES
    except (OSError, ValueError):  # the reader says what is wrong
        return False


class Parts:
    """Reads files in parts; a context manager that leaves no child behind.

    Args:
        processes: processes at work, this one included; None takes one per core for a large file
            and one for any other. 1 starts no child.
    """

    def __init__(self, processes: int | None = None) -> None:
        self._processes = processes
        self._children: list[Child] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        children.end(self._children)
        self._children.clear()

    def read(self, reader: Reader, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield what ``reader.read`` yields; traces are written down already where parts are read.

        For one file: enter anew for the next.
        """
        count = self._count(path)
        spans = part_spans(reader, path, PART_BYTES) if count else iter(())
        first = list(itertools.islice(spans, 2))
        if len(first) < 2:
            return reader.read(path, options)
        setup = Setup(reader, path, options)
        self._start(setup, count)
        return join(self._parts(setup, itertools.chain(first, spans)), path)

    def _count(self, path: Path) -> int:
        """Return the number of children."""
        if self._processes is not None:
            return self._processes - 1
        return min(cores() - 1, MOST_CHILDREN) if is_large(path) else 0

    def _start(self, setup: Setup, count: int) -> None:
        """Start children; what cannot be started is done without."""
        with contextlib.suppress(OSError):
            for _ in range(count):
                child = Child(_PROGRAM)
                self._children.append(child)
                child.ask(setup)

    def _parts(self, setup: Setup, spans: Iterator[Span]) -> Iterator[Part]:
        """Yield the parts in order; few are read ahead."""
        up: list[Child] = []
        waiting: deque[_Wanted] = deque()
        while True:
            up += [child for child in self._children if child not in up and _is_up(child)]
            waiting.extend(_handed_out(up, spans))
            here = sum(wanted.part is not None for wanted in waiting)
            if waiting and (waiting[0].ready() or here >= _AHEAD_HERE):
                yield waiting.popleft().get(setup)
            elif (span := next(spans, None)) is not None:
                waiting.append(_Wanted(span, part=_here(setup, span)))
            elif waiting:
                yield waiting.popleft().get(setup)
            else:
                return


@dataclass(slots=True)
class _Wanted:
    """A part that is wanted: read here, or by a child."""

    span: Span
    child: Child | None = None
    part: Part | None = None

    def ready(self) -> bool:
        """Whether it is there."""
        return self.child is None or children.ready(self.child)

    def get(self, setup: Setup) -> Part:
        """Return it; what a child cannot answer is read here."""
        if self.child is not None:
            with contextlib.suppress(*children.LOST):
                self.part = self.child.answer()
        return _here(setup, self.span) if self.part is None else self.part


def _is_up(child: Child) -> bool:
    """Whether a child has said that it is ready for parts."""
    if child.lost or not children.ready(child):
        return False
    with contextlib.suppress(*children.LOST):
        child.answer()
    return not child.lost


def _handed_out(up: list[Child], spans: Iterator[Span]) -> Iterator[_Wanted]:
    """Give parts to children that have room, one each in turn."""
    for room in range(1, _AHEAD + 1):
        for child in up:
            if child.owed < room and not child.lost:
                span = next(spans, None)
                if span is None:
                    return
                child.ask(span)
                yield _Wanted(span, child)


def _here(setup: Setup, span: Span) -> Part:
    return read_part(setup.reader, setup.path, setup.options, span)
