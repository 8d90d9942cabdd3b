"""Child processes that are plain programs with a pipe, as rules and imports use them.

They start alike on every system, never run the caller's script again, do not hear a Ctrl-C that is
meant for the parent, and leave when it is gone. What goes over a pipe is pickled and has its length
before it; only our own children are on the other end. A parent needs no thread: a child answers in
the order of its questions, into a pipe that holds an answer, and goes on with the next question
while the parent is busy.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import subprocess
import sys
from collections.abc import Iterable
from itertools import accumulate, pairwise
from struct import Struct
from typing import IO, Any, BinaryIO

try:
    import fcntl
except ImportError:  # pipes stay as they are on Windows
    fcntl = None  # type: ignore[assignment]

LOST = (EOFError, OSError, ValueError, pickle.UnpicklingError)
"""What ``answer``, ``send`` and ``receive`` raise when the other side is gone."""

_COUNT = Struct(">Q")
_PATIENCE_S = 5
_PIPE_BYTES = 1 << 20
_MEMORY = {"MALLOC_TRIM_THRESHOLD_": f"{64 << 20}", "MALLOC_MMAP_THRESHOLD_": f"{16 << 20}"}
"""For glibc: else a child gives its memory back after each answer and asks for it at the next."""


class Child:
    """A child at work.

    Attributes:
        process: the process itself.
        owed: how many answers it owes.
        lost: whether it is known to be gone, or to say what nobody understands.
    """

    def __init__(self, program: str) -> None:
        """Start ``program``, a line of Python, with this process's import path.

        Raises:
            OSError: the system starts no further process.
        """
        # Not ``-m``: what a main module defines would go over the pipe under another name.
        paths = os.pathsep.join(path for path in sys.path if path)
        self.process = subprocess.Popen(  # noqa: S603 (our own program, no word of it from outside)
            [sys.executable, "-c", program],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_MEMORY, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"},
            start_new_session=True,  # apart from the signals of this process's terminal
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self.owed = 0
        self.lost = False
        self._space = bytearray()
        _widen(self.process.stdout)

    def ask(self, question: Any) -> None:
        """Send a question. Where the child is gone, ``answer`` says so."""
        self.owed += 1
        self.tell(question)

    def tell(self, value: Any) -> None:
        """Send what has no answer."""
        try:
            send(_open(self.process.stdin), value)
        except LOST:
            self.lost = True

    def answer(self) -> Any:
        """Return the answer to the oldest question that it owes one to.

        Raises:
            LOST: the child is gone.
        """
        self.owed -= 1
        if self.lost:
            raise EOFError
        try:
            return receive(_open(self.process.stdout), self._space)
        except LOST:
            self.lost = True
            raise


def ready(child: Child) -> bool:
    """Whether a child has begun to answer, or is gone, so that nobody waits for its answer long.

    On Windows nobody can tell: the answer is yes, and whoever asks for it waits.
    """
    if sys.platform == "win32" or child.lost:
        return True
    return bool(select.select([_open(child.process.stdout)], [], [], 0)[0])


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise EOFError
    return pipe


def _widen(pipe: IO[bytes] | None) -> None:
    """Let a whole answer fit into the pipe, where the system can: Linux.

    With the usual 64 kB a child waits for its reader again and again.
    """
    resize = getattr(fcntl, "F_SETPIPE_SZ", None)
    if pipe is not None and resize is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, resize, _PIPE_BYTES)


def end(children: Iterable[Child]) -> None:
    """End children, close their pipes and wait until they are gone."""
    children = list(children)
    for child in children:
        child.process.terminate()
    for child in children:
        for stream in (child.process.stdin, child.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            child.process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.process.wait()


def own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """In a child: what the parent sends, and where answers go.

    Whatever prints in this process goes to its errors, never between the answers.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    return sys.stdin.buffer, answers


def send(stream: IO[bytes], value: Any) -> None:
    """Write one value, whole. What is a ``pickle.PickleBuffer`` in it arrives as bytes.

    Long texts go so: the pickler itself would copy each of them several times.
    """
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    pieces = [memoryview(data), *(buffer.raw() for buffer in buffers)]
    sizes = Struct(f">{len(pieces) + 1}Q").pack(len(pieces), *map(len, pieces))
    _write(stream, b"".join([sizes, *pieces]))
    stream.flush()


def _write(stream: IO[bytes], data: bytes) -> None:
    """Write everything; a pipe without a buffer may take a part of it at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) :]


def receive(stream: IO[bytes], space: bytearray | None = None) -> Any:
    """Read one value; ``space`` is used again by whoever reads many, and grows with the largest.

    Raises:
        LOST: the stream ends before it does.
    """
    space = bytearray() if space is None else space
    (count,) = _COUNT.unpack(_exactly(stream, _COUNT.size, space))
    sizes = Struct(f">{count}Q").unpack(_exactly(stream, count * _COUNT.size, space))
    whole = _exactly(stream, sum(sizes), space)
    data, *buffers = (whole[a:b] for a, b in pairwise(accumulate(sizes, initial=0)))
    return pickle.loads(data, buffers=[bytes(one) for one in buffers])  # noqa: S301 (our own parent or child)


def _exactly(stream: IO[bytes], size: int, space: bytearray) -> memoryview:
    """Read so many bytes into ``space``, in place of what was there."""
    if len(space) < size:
        space.extend(bytes(size - len(space)))
    whole = rest = memoryview(space)[:size]
    while rest:
        got = stream.readinto(rest)  # type: ignore[attr-defined]
        if not got:
            raise EOFError
        rest = rest[got:]
    return whole
