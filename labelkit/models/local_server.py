"""The child process that runs the embedded model: llama.cpp's own server, nothing of labelkit's.

It is a process of its own because llama.cpp runs inside it: a crash, an out-of-memory kill or its
log must not reach the program that labels. Started as ``python -m labelkit.models.local_server``
by ``labelkit.models.local`` and by nobody else. It reads one line of JSON from standard input
(``path``, ``alias``, ``api_key``, ``n_ctx``, ``threads``; the key never stands in the process
list), answers with one line of JSON on standard output (``address``), and leaves as soon as
standard input closes or its parent is gone: a parent that was killed leaves no server behind.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from typing import Any

import xllamacpp

PROMPT_CACHE_MIB = 512
"""Prompts kept beside the one in the slot, so that a few alternating prefixes stay cheap."""

PARENT_CHECK_S = 1.0


def main() -> None:
    """Serve until the parent closes our standard input or dies."""
    parent = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked = json.loads(sys.stdin.readline())
    try:
        server = xllamacpp.Server(parameters(asked))
    except RuntimeError as error:
        sys.exit(f"llama.cpp: {error}")  # its own log above says more than our stack would
    print(json.dumps({"address": server.listening_address}), flush=True)
    _wait_for_parent(parent)
    # llama.cpp's threads would be joined at a normal exit; nothing here needs saving.
    os._exit(0)


def parameters(asked: dict[str, Any]) -> xllamacpp.CommonParams:
    """Return llama.cpp's parameters: loopback only, random port, one slot, one key, no pages.

    One slot: with several, each slot computes the shared prompt prefix for itself.
    """
    wanted = xllamacpp.CommonParams()
    wanted.model.path = asked["path"]
    wanted.model_alias = {asked["alias"]}
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0
    wanted.api_keys = [asked["api_key"]]
    wanted.cors_origins = ""
    wanted.n_ctx = asked["n_ctx"]
    wanted.n_parallel = 1
    wanted.cache_prompt = True
    wanted.cache_ram_mib = PROMPT_CACHE_MIB
    for cpu in (wanted.cpuparams, wanted.cpuparams_batch):
        cpu.n_threads = asked["threads"]
        # Sleep between two computations instead of spinning: on a machine that has other work
        # to do, spinning threads take the cores from the thread they wait for.
        cpu.poll = 0
    wanted.ui = False
    wanted.endpoint_slots = False
    wanted.endpoint_props = False
    return wanted


def _wait_for_parent(parent: int) -> None:
    """Return when standard input ends, or (another process holding it open) the parent is gone."""
    while os.getppid() == parent:
        ready, _, _ = select.select([sys.stdin], [], [], PARENT_CHECK_S)
        if ready and not os.read(sys.stdin.fileno(), 4096):
            return


if __name__ == "__main__":
    main()
