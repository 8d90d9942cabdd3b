"""Async work from sync code, also where an event loop already runs.

A notebook has a running loop; a command line has none. The same call must work in both without
patching the loop, so where one runs the work gets a thread and a loop of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end and return its result."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="labelkit") as pool:
        return pool.submit(asyncio.run, work).result()
