"""A large file of lines read by several processes, with the outcome of reading it in one.

Children read and write down; this process joins the parts in the order of the file and alone
writes to the store. What a child does not answer, because it is not up yet, was killed or met
something unusual, is read here: children can only make an import faster, never end it.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Self

from labelkit.formats.parts import Part, join, part_spans, read_part
from labelkit.formats.reader import Item, Reader, ReadOptions, Span
from labelkit.workflows import children
from labelkit.workflows.cores import cores
from labelkit.workflows.import_worker import Setup

LARGE_BYTES = 48_000_000
"""From this size on children pay: each needs half a second of CPU to come up."""

PART_BYTES = 1_000_000
MOST_CHILDREN = 4
"""One process writes, and it cannot write more than so many others read."""

HURRY = True
"""Whether parts are read here until the first child is up, rather than wait for it."""

_AHEAD = 4
"""Parts per child, so that children go on while the store's log is folded back."""
_PROGRAM = "from labelkit.workflows.import_worker import work; work()"


class Parts:
    """Reads files in parts; a context manager that leaves no child behind.

    Args:
        processes: processes at work, this one included; None takes one per core for a large file
            and one for any other. 1 starts no child.
    """

    def __init__(self, processes: int | None = None) -> None:
        self._processes = processes
        self._children: list[children.Child] = []
        self._idle: queue.SimpleQueue[children.Child] = queue.SimpleQueue()
        self._up = Event()
        self._threads: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End children first: a thread that waits for one is free then."""
        children.end(self._children)
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)
        children.bury(self._children)
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
        return join(self._parts(setup, count, itertools.chain(first, spans)), path)

    def _count(self, path: Path) -> int:
        """Return the number of children."""
        if self._processes is not None:
            return self._processes - 1
        try:
            large = path.stat().st_size >= LARGE_BYTES
        except OSError:  # the reader says what is wrong
            return 0
        return min(cores() - 1, MOST_CHILDREN) if large else 0

    def _parts(self, setup: Setup, count: int, spans: Iterator[Span]) -> Iterator[Part]:
        """Yield the parts in order; few are read ahead."""
        threads = self._start(setup, count)
        if not self._children:
            yield from (_here(setup, span) for span in spans)
            return
        if not HURRY:
            self._up.wait()
        waiting: deque[tuple[Span, Future[Part | None]]] = deque()
        for span in spans:
            if not self._up.is_set():
                yield _here(setup, span)
                continue
            waiting.append((span, threads.submit(self._ask, span)))
            if len(waiting) > _AHEAD * count:
                yield _answered(setup, *waiting.popleft())
        while waiting:
            yield _answered(setup, *waiting.popleft())

    def _start(self, setup: Setup, count: int) -> ThreadPoolExecutor:
        """Start children; what cannot be started is done without."""
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="labelkit-import")
        with contextlib.suppress(OSError):
            for _ in range(count):
                child = children.start(_PROGRAM)
                self._children.append(child)
                self._threads.submit(self._greet, child, setup)
        return self._threads

    def _greet(self, child: children.Child, setup: Setup) -> None:
        """Wait until a child is up; one that never is up is asked and does not answer."""
        with contextlib.suppress(*children.LOST):
            children.ask(child, setup)
            children.answer(child)
        self._idle.put(child)
        self._up.set()

    def _ask(self, span: Span) -> Part | None:
        child = self._idle.get()
        try:
            children.ask(child, span)
            answered: Part | None = children.answer(child)
        except children.LOST:
            return None
        finally:
            self._idle.put(child)
        return answered


def _answered(setup: Setup, span: Span, reply: Future[Part | None]) -> Part:
    part = reply.result()
    return _here(setup, span) if part is None else part


def _here(setup: Setup, span: Span) -> Part:
    return read_part(setup.reader, setup.path, setup.options, span)
