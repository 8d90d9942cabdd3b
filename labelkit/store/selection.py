"""Which traces are meant, and in which order: one filter for judging, reports and the app."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select

from labelkit.store.tables import TASK, TRACE

Order = Literal["prefix", "id"]
"""``prefix``: (subset, domain, task set, task id, id), so that prompts that share their beginning
follow each other and stay cached; ``id``: order of import."""

TRACE_TASK = TRACE.outerjoin(TASK, (TASK.c.task_key == TRACE.c.task_key) & TASK.c.current)
"""Traces with their current task, where there is one."""
DOMAIN: ColumnElement[str] = func.coalesce(TRACE.c.domain, TASK.c.domain)
SUBSET: ColumnElement[str] = func.coalesce(TRACE.c.subset, TASK.c.subset)
_BLANK = ""
_LOOKUP = 500


@dataclass(frozen=True)
class Selection:
    """A filter over traces; None does not filter, an empty sequence selects nothing.

    ``domains`` and ``subsets`` test the trace's own tag, else its current task's; None among them
    means "has none". ``limit`` keeps the first traces in the order asked for.
    """

    digests: Sequence[str] | None = None
    models: Sequence[str] | None = None
    domains: Sequence[str | None] | None = None
    subsets: Sequence[str | None] | None = None
    task_sets: Sequence[str | None] | None = None
    conditions: Sequence[str] | None = None
    states: Sequence[str] | None = None
    limit: int | None = None


EVERYTHING = Selection()


def chunks(values: Iterable[Any], size: int = _LOOKUP) -> Iterator[list[Any]]:
    """Cut an iterable into lists of at most ``size``."""
    stream = iter(values)
    while chunk := list(islice(stream, size)):
        yield chunk


def conditions(selection: Selection) -> list[ColumnElement[bool]]:
    """Return the WHERE conditions over ``TRACE_TASK``; ``digests`` and ``limit`` are not in it."""
    wanted: list[tuple[Any, Sequence[str | None] | None]] = [
        (TRACE.c.model, selection.models),
        (DOMAIN, selection.domains),
        (SUBSET, selection.subsets),
        (TRACE.c.task_set, selection.task_sets),
        (TRACE.c.condition, selection.conditions),
        (TRACE.c.state, selection.states),
    ]
    return [_one_of(column, values) for column, values in wanted if values is not None]


def _one_of(column: Any, values: Sequence[str | None]) -> ColumnElement[bool]:
    """Return ``column in values`` where None in ``values`` means NULL."""
    named = [value for value in values if value is not None]
    inside: ColumnElement[bool] = column.in_(named)
    return or_(inside, column.is_(None)) if len(named) < len(values) else inside


def ordered(selection: Selection, order: Order, *columns: Any) -> Select[Any]:
    """Return the query of the selected traces in order; ``digests`` and ``limit`` are not in it."""
    query = select(*columns).select_from(TRACE_TASK).where(*conditions(selection))
    if order == "prefix":
        keys = (SUBSET, DOMAIN, TRACE.c.task_set, TRACE.c.task_id)
        query = query.order_by(*(func.coalesce(key, _BLANK) for key in keys))
    return query.order_by(TRACE.c.id)


def selected(
    connection: Connection, selection: Selection, order: Order
) -> tuple[array[int], array[int]]:
    """Return the ids of the selected traces in order, and the size of each body in characters.

    16 bytes per trace: the whole order is fixed at once, so that a long judge run neither sorts
    again for every page nor trips over rows that arrive meanwhile.
    """
    query = ordered(selection, order, TRACE.c.id, TRACE.c.body_chars)
    only = None if selection.digests is None else _ids_of(connection, selection.digests)
    if only is None and selection.limit is not None:
        query = query.limit(selection.limit)
    ids, sizes = array("q"), array("q")
    for trace_id, size in connection.execution_options(yield_per=2000).execute(query):
        if selection.limit is not None and len(ids) >= selection.limit:
            break
        if only is None or trace_id in only:
            ids.append(trace_id)
            sizes.append(size)
    return ids, sizes


def _ids_of(connection: Connection, digests: Sequence[str]) -> set[int]:
    """Return the ids of the traces with these digests; unknown ones are left out."""
    found: set[int] = set()
    for chunk in chunks(digests):
        found.update(
            connection.execute(select(TRACE.c.id).where(TRACE.c.digest.in_(chunk))).scalars()
        )
    return found
