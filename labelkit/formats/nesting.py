"""A bound on nesting: what is read here must be written, digested and read again anywhere.

Python's JSON stops at a depth that depends on how deep the caller stands, so a record near that
limit could be imported in one place and end a run in another.
"""

from __future__ import annotations

from typing import Any

from labelkit.domain.task import Task
from labelkit.domain.trace import Trace

MAX_DEPTH = 200


def too_deep(item: Task | Trace) -> bool:
    """Whether a field of free form in the item is nested deeper than ``MAX_DEPTH``."""
    free: list[Any] = []
    for message in item.messages:
        free += [message.extra, message.parts]
    if isinstance(item, Trace):
        free.append(item.extra)
    else:
        free.append(item.reference.payload)
        free += [call.arguments for call in item.reference.expected_calls]
        free += [tool.parameters for tool in item.tools]
    return any(deeper(value) for value in free if value)


def deeper(value: Any) -> bool:
    """Whether a value is nested too deeply; walks level by level, so that it cannot overflow."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list | tuple)
        ]
        if not level:
            return False
    return True
