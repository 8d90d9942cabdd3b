"""Which traces hold a text, word for word. It reads every body: seconds for gigabytes."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, or_, select

from labelkit.store.engine import Store
from labelkit.store.tables import TRACE_BODY


def traces_with_text(store: Store, text: str) -> NDArray[np.int64]:
    """Return the row ids of the traces whose JSON holds ``text``, ascending, shape (n,).

    Upper and lower case differ. Names of JSON fields count as text of the trace. What is stored
    is JSON, so the text is sought as JSON would write it, with and without escapes.

    Raises:
        StoreError: when the store cannot be read.
    """
    # A lone surrogate can only stand in a body that is escaped as a whole.
    spellings = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    writable = [s for s in spellings if s.isascii() or s.encode("utf-8", "ignore").decode() == s]
    find = func.instr if store.dialect == "sqlite" else func.strpos
    query = (
        select(TRACE_BODY.c.trace_id)
        .where(or_(*(find(TRACE_BODY.c.body, spelling) > 0 for spelling in writable)))
        .order_by(TRACE_BODY.c.trace_id)
    )
    with store.reading() as connection:
        return np.fromiter(connection.execute(query).scalars(), dtype=np.int64)
