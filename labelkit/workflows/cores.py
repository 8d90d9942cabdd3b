"""How many cores this process may use, so that many rows are spread over all of them."""

from __future__ import annotations

import os


def cores() -> int:
    """Number of cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
