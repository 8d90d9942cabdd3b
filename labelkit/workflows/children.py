"""Child processes that are plain programs with a pipe, as rules and imports use them.

They start alike on every system, never run the caller's script again, do not hear a Ctrl-C that is
meant for the parent, and leave when it is gone. What goes over a pipe is pickled and has its length
before it, so that a reader waits for bytes outside Python's lock. Only our own children are on the
other end.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Iterable
from typing import IO, Any, BinaryIO

try:
    import fcntl
except ImportError:  # pipes stay as they are on Windows
    fcntl = None  # type: ignore[assignment]

Child = subprocess.Popen[bytes]

LOST = (EOFError, OSError, ValueError, pickle.UnpicklingError)
"""What ``send`` and ``receive`` raise when the other side is gone."""

_LENGTH = 8
_PATIENCE_S = 5
_PIPE_BYTES = 1 << 20


def start(program: str) -> Child:
    """Start ``program``, a line of Python, with this process's import path.

    It is apart from this process's terminal signals.
    """
    # Not ``-m``: what a main module defines would go over the pipe under another name.
    paths = os.pathsep.join(path for path in sys.path if path)
    child = subprocess.Popen(  # noqa: S603 (our own program, no word of it from outside)
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"},
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    _widen(child.stdout)
    return child


def _widen(pipe: IO[bytes] | None) -> None:
    """Let a whole reply fit into the pipe, where the system can: Linux.

    With the usual 64 kB a child waits for its reader again and again, and a thread that reads
    takes Python's lock for every such piece.
    """
    resize = getattr(fcntl, "F_SETPIPE_SZ", None)
    if pipe is not None and resize is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, resize, _PIPE_BYTES)


def ask(child: Child, value: Any) -> None:
    """Send a value to a child.

    Raises:
        LOST: the child is gone.
    """
    if child.stdin is None:
        raise EOFError
    send(child.stdin, value)


def answer(child: Child) -> Any:
    """Return what the child sends next.

    Raises:
        LOST: the child is gone.
    """
    if child.stdout is None:
        raise EOFError
    return receive(child.stdout)


def end(children: Iterable[Child]) -> None:
    """Tell children to leave; see ``bury``. A thread that waits for one is free then."""
    for child in children:
        child.terminate()


def bury(children: Iterable[Child]) -> None:
    """Close the pipes of children that were told to leave, and wait until they are gone."""
    for child in children:
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            child.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """In a child: what the parent sends, and where replies go.

    Whatever prints in this process goes to its errors, never between the replies.
    """
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    return sys.stdin.buffer, replies


def send(stream: IO[bytes], value: Any) -> None:
    """Write one value, whole."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(_LENGTH, "big"))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one value.

    Raises:
        LOST: the stream ends before it does.
    """
    length = int.from_bytes(_exactly(stream, _LENGTH), "big")
    return pickle.loads(_exactly(stream, length))  # noqa: S301 (our own parent or child)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data
