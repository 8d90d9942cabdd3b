"""Claims: which worker has which row in hands, so that workers on one database share the work.

Only PostgreSQL has several workers on several machines; on SQLite nothing is claimed and workers
share by chance (``pending_pages``). A claim is taken with SKIP LOCKED, so no worker ever waits for
another, and it runs out: the rows of a worker that was killed return. A claim only saves work. A
row is never wrong because two workers did it: what enters the store enters once.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text

from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.selection import chunks
from labelkit.store.tables import CLAIM

LEASE_S = 60.0
"""A claim that is not renewed for this long is anybody's."""

RENEW_S = 15.0
"""How often a worker renews; a few renewals may come late before others take its rows."""

_FREE = datetime(1970, 1, 1, tzinfo=UTC)


class Claims:
    """What one worker has claimed of one piece of work.

    Args:
        store: the store.
        work: 64 hex digits that name the work, the same for every worker that shares it.
        lease_s: seconds until a claim that is not renewed runs out.
    """

    def __init__(self, store: Store, work: str, *, lease_s: float = LEASE_S) -> None:
        self._store = store
        self._work = work
        self._lease_s = lease_s
        self.owner = str(uuid.uuid4())

    def take(self, items: Sequence[str]) -> set[str]:
        """Claim items (at most 64 characters each); returns those that are ours now.

        An item that another worker holds, or is taking at this moment, is not among them.

        Raises:
            StoreError: when the store cannot be written.
        """
        mine: set[str] = set()
        for chunk in chunks(sorted(set(items))):
            rows = [
                {"work": self._work, "item": item, "owner": "", "expires_at": _FREE}
                for item in chunk
            ]
            with self._store.writing() as connection:
                insert_new(connection, CLAIM, rows)
            values = self._values(chunk)
            with self._store.writing() as connection:
                mine.update(connection.execute(_TAKE, values).scalars())
        return mine

    def renew(self) -> int:
        """Lengthen every claim that is held; returns how many are."""
        with self._store.writing() as connection:
            return connection.execute(_RENEW, self._values(())).rowcount

    def release(self, items: Iterable[str]) -> None:
        """Give items back: they are done, or will not be done."""
        for chunk in chunks(items):
            with self._store.writing() as connection:
                connection.execute(_RELEASE, self._values(chunk))

    def release_all(self) -> None:
        """Give everything back, and clear away what workers left that are long gone."""
        with self._store.writing() as connection:
            connection.execute(_RELEASE_ALL, {"owner": self.owner})

    def _values(self, items: Sequence[str]) -> dict[str, Any]:
        return {
            "work": self._work,
            "items": list(items),
            "owner": self.owner,
            "lease": self._lease_s,
        }


def claims_for(store: Store, work: str) -> Claims | None:
    """Return claims on a piece of work, or None where the database has one writer at a time."""
    return Claims(store, work) if store.dialect == "postgresql" else None


# The database's own clock decides, so that workers' clocks may differ.
_TAKE = text(
    """
    UPDATE claim SET owner = :owner, expires_at = now() + make_interval(secs => :lease)
    WHERE id IN (
        SELECT id FROM claim
        WHERE work = :work AND item = ANY(:items) AND (expires_at < now() OR owner = :owner)
        ORDER BY id
        FOR UPDATE SKIP LOCKED
    )
    RETURNING item
    """
)
_RENEW = text(
    """
    UPDATE claim SET expires_at = now() + make_interval(secs => :lease)
    WHERE id IN (SELECT id FROM claim WHERE owner = :owner ORDER BY id FOR UPDATE SKIP LOCKED)
    """
)
_RELEASE = text(
    """
    DELETE FROM claim
    WHERE id IN (
        SELECT id FROM claim
        WHERE work = :work AND item = ANY(:items) AND owner = :owner
        ORDER BY id
        FOR UPDATE
    )
    """
)
_RELEASE_ALL = text(
    """
    DELETE FROM claim
    WHERE id IN (
        SELECT id FROM claim
        WHERE owner = :owner OR expires_at < now() - interval '1 day'
        ORDER BY id
        FOR UPDATE SKIP LOCKED
    )
    """
)
