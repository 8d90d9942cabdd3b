"""What starting a model server in a child process takes, whichever server it is.

It knows processes, ports and health checks, and nothing of models or requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, Self

STOP_PATIENCE_S = 5.0
_TAIL_CHARS = 8000


class ChildServer(ABC):
    """A server in a child process; runs while the ``with`` or ``async with`` block is open."""

    @abstractmethod
    def start(self) -> Self:
        """Start the child and return when it can be used; a no-op when it runs."""

    @abstractmethod
    def stop(self) -> None:
        """End the child; safe to call twice."""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.stop)


def healthy(address: str) -> bool:
    """Whether the server answers its health check with 200. Loopback: never through a proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}/health", timeout=5) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def free_port() -> int:
    """Return a port of loopback that nobody listens on now; somebody may take it meanwhile."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def last_lines(log: Any, count: int) -> list[str]:
    """Return the last ``count`` lines of an open log file that hold anything."""
    size = os.fstat(log.fileno()).st_size
    start = max(0, size - _TAIL_CHARS)
    text = os.pread(log.fileno(), _TAIL_CHARS, start).decode("utf-8", "replace")
    return [line.strip() for line in text.splitlines() if line.strip()][-count:]


def how_it_ended(returncode: int | None) -> str:
    """Say how a child ended, in words."""
    if returncode is None:
        return "gave no address"
    if returncode >= 0:
        return f"stopped with exit code {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    hint = ""
    if name == "SIGILL":
        hint = " (this CPU lacks an instruction that it was built for)"
    elif name == "SIGKILL":
        hint = " (was memory short?)"
    return f"was ended by {name}{hint}"


def end(process: subprocess.Popen[bytes], patience_s: float = STOP_PATIENCE_S) -> None:
    """Close the child's input, which it takes as the order to leave; insist if it does not."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    for insist in (None, process.terminate, process.kill):
        if insist is not None:
            insist()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
            return
