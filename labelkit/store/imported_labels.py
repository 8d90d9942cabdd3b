"""The labels in force of some raters on some traces: what an import compares itself with."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from labelkit.store.engine import Store
from labelkit.store.selection import chunks
from labelkit.store.tables import LABEL, RATER, TRACE

Key = tuple[str, str, str]
"""(trace digest, rater digest, question)."""
InForce = tuple[int, str | None, str | None, str | None]
"""(version, value, reason, rationale)."""


def labels_in_force(
    store: Store, traces: Collection[str], raters: Collection[str]
) -> dict[Key, InForce]:
    """Return the highest version of every label of these raters on these traces (repeat 0).

    Raises:
        StoreError: when the store cannot be read.
    """
    found: dict[Key, InForce] = {}
    joined = LABEL.join(TRACE, TRACE.c.id == LABEL.c.trace_id).join(
        RATER, RATER.c.id == LABEL.c.rater_id
    )
    columns = (
        TRACE.c.digest.label("trace"), RATER.c.digest.label("rater"), LABEL.c.question,
        LABEL.c.version, LABEL.c.value, LABEL.c.reason, LABEL.c.rationale,
    )  # fmt: skip
    with store.reading() as connection:
        for part in chunks(traces):
            query = (
                select(*columns)
                .select_from(joined)
                .where(TRACE.c.digest.in_(part), LABEL.c.repeat == 0)
                .where(RATER.c.digest.in_(list(raters)))
                .order_by(LABEL.c.version)
            )
            for row in connection.execute(query):
                key = (row.trace, row.rater, row.question)
                found[key] = (row.version, row.value, row.reason, row.rationale)
    return found
