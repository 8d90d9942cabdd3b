"""The process between labelkit and a server: it sees to it that the server never outlives us.

A server such as vLLM has worker processes of its own and does not notice that the program which
started it was killed. Started as ``python -m labelkit.models.guard`` by ``labelkit.models.vllm``
and by nobody else. It reads one line of JSON from standard input (``command``), runs it in a
process group of its own with its output on our standard error, and tells on standard output, one
line of JSON each, the ``pid`` and later the ``returncode``. When standard input closes or the
parent is gone it ends the whole group. It knows nothing of models.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import Any

LOOK_S = 0.2
GRACE_S = 10.0
"""How long the server may take to leave in order; then its group is killed."""


def main() -> None:
    """Run the command until it ends, our input closes or our parent dies."""
    parent = os.getppid()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A handler and not SIG_IGN, which the server would inherit.
        signal.signal(name, lambda *_: None)
    asked = json.loads(sys.stdin.readline())
    try:
        server = subprocess.Popen(  # noqa: S603 - the user's own settings name it
            asked["command"], stdin=subprocess.DEVNULL, stdout=sys.stderr, process_group=0
        )
    except OSError as error:
        print(f"cannot run {asked['command'][0]}: {error.strerror}", file=sys.stderr)
        _tell(returncode=127)
        return
    _tell(pid=server.pid)
    while server.poll() is None and _wanted(parent):
        pass
    if server.poll() is None:
        _signal(server.pid, signal.SIGTERM)
        until = time.monotonic() + GRACE_S
        while server.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
    # Whatever the server itself did: none of its workers stays.
    _signal(server.pid, signal.SIGKILL)
    _tell(returncode=server.wait())


def _wanted(parent: int) -> bool:
    """Whether somebody still wants the server; waits a moment to find out."""
    if os.getppid() != parent:
        return False
    ready, _, _ = select.select([sys.stdin], [], [], LOOK_S)
    return not (ready and not os.read(sys.stdin.fileno(), 4096))


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _tell(**fields: Any) -> None:
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    main()
