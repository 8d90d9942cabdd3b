"""The cycle collector while rows stream; apart, so that a child need not load an event loop."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Let the cycle collector look less often, and not at what was there before.

    Every row makes some hundred objects that die by reference count alone. At Python's default
    the collector runs for every few rows over all of them, a fifth of a row's CPU. It still runs,
    so memory stays flat.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
