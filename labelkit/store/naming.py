"""Which trace people mean: by digest, by the beginning of one, or by the task's id.

A table of ratings calls its items what its authors called them. Only an unambiguous name is a
trace; several traces of one name are never guessed between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlalchemy import select

from labelkit.store.engine import Store
from labelkit.store.selection import chunks
from labelkit.store.tables import TRACE

_DIGEST = re.compile(r"[0-9a-f]{64}")
_PREFIX = re.compile(r"[0-9a-f]{8,63}")
_FEW = 2


def traces_named(
    store: Store, names: Iterable[str], task_set: str | None = None
) -> dict[str, list[str]]:
    """Return the digests that each name may mean: none, one, or (at most) two to be ambiguous.

    Args:
        store: the store.
        names: a digest of 64 digits, the first 8 or more of one, or a task id.
        task_set: only task ids of this set.

    Raises:
        StoreError: when the store cannot be read.
    """
    wanted = list(dict.fromkeys(names))
    found: dict[str, list[str]] = {name: [] for name in wanted}
    with store.reading() as connection:
        whole = [name for name in wanted if _DIGEST.fullmatch(name)]
        for part in chunks(whole):
            query = select(TRACE.c.digest).where(TRACE.c.digest.in_(part))
            for digest in connection.execute(query).scalars():
                found[digest].append(digest)
        for part in chunks(name for name in wanted if not _DIGEST.fullmatch(name)):
            query = select(TRACE.c.task_id, TRACE.c.digest).where(TRACE.c.task_id.in_(part))
            if task_set is not None:
                query = query.where(TRACE.c.task_set == task_set)
            for row in connection.execute(query):
                if len(found[row.task_id]) < _FEW:
                    found[row.task_id].append(row.digest)
        for name in (n for n in wanted if not found[n] and _PREFIX.fullmatch(n)):
            query = select(TRACE.c.digest).where(TRACE.c.digest.startswith(name)).limit(_FEW)
            found[name] = list(connection.execute(query).scalars())
    return found
