"""How far the store has grown, so that a reader knows whether what it has read is still all.

Everything in the store is append-only, so the highest row ids say it. This reads four index ends
and computes nothing.
"""

from __future__ import annotations

from sqlalchemy import func, select

from labelkit.store.engine import Store
from labelkit.store.tables import LABEL, RATER, TASK, TRACE


def growth(store: Store) -> tuple[int, int, int, int]:
    """Return the highest row ids of tasks, traces, raters and labels; 0 where there is none.

    Equal marks mean that nothing was added in between. One change stays unseen: an older version
    of a task that is imported again becomes current without a new row.

    Raises:
        StoreError: when the store cannot be read.
    """
    ends = [
        select(func.coalesce(func.max(table.c.id), 0)).scalar_subquery()
        for table in (TASK, TRACE, RATER, LABEL)
    ]
    with store.reading() as connection:
        tasks, traces, raters, labels = connection.execute(select(*ends)).one()
    return tasks, traces, raters, labels
