"""The same rollout under another name: what tells a corrected import from a second rollout.

Model, task set and condition are part of a trace's address, so a file that is imported again with
``--model`` makes new traces of old rollouts, and every count would be doubled. Content addresses
cannot see that; the place a trace was read from, together with its messages, can.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from labelkit.domain.trace import Trace
from labelkit.store.engine import Store
from labelkit.store.tables import TRACE
from labelkit.store.traces import PageReader

_MOST = 200


def siblings(store: Store, traces: Sequence[Trace]) -> list[Trace | None]:
    """Return for each trace a stored one of the same source and messages but another digest.

    None where there is no such trace, or where the store has the trace itself. Reads the narrow
    table once and at most 200 bodies: meant for a sample of a file, not for all of it.
    """
    sources = {trace.source for trace in traces}
    found: dict[str, list[Trace]] = {}
    with store.reading() as connection:
        rows = connection.execute(
            select(TRACE.c.id).where(TRACE.c.source.in_(sources)).limit(_MOST)
        ).scalars()
        ids = list(rows)
    for known, _ in PageReader(store).read(ids) if ids else ():
        found.setdefault(known.source, []).append(known)
    return [_sibling(trace, found.get(trace.source, [])) for trace in traces]


def _sibling(trace: Trace, known: Sequence[Trace]) -> Trace | None:
    if any(other.digest == trace.digest for other in known):
        return None
    return next((other for other in known if other.messages == trace.messages), None)
