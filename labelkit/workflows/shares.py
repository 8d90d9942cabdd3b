"""Rollouts shared by several workers: who plays which row (PostgreSQL; elsewhere one plays all)."""

from __future__ import annotations

from collections.abc import Sequence

from labelkit.digest import digest
from labelkit.domain.trace import Trace
from labelkit.rollout.protocol import Row
from labelkit.rollout.runner import RowKey
from labelkit.store import Store
from labelkit.store.claims import claims_for
from labelkit.store.traces import has_rollout


class Share:
    """One worker's part of the rows of a model and condition.

    Attributes:
        claims: what is claimed, or None where nothing is shared.
        elsewhere: whether rows were left to other workers since ``again`` was called.
        played: keys of the rows that this worker has played, whatever came of them.
    """

    def __init__(self, store: Store, model: str, condition: str) -> None:
        self._store = store
        self.claims = claims_for(store, digest(["run", model, condition]))
        self.elsewhere = False
        self.played: set[RowKey] = set()

    def again(self) -> None:
        """Begin another look at the rows."""
        self.elsewhere = False

    def take(self, row: Row) -> bool:
        """Whether this worker is to play the row now."""
        if self.claims is None:
            return True
        item = _item(row.task.set, row.task.id, row.repeat)
        if not self.claims.take([item]):
            self.elsewhere = True
            return False
        # Whoever held the row wrote its trace before letting go.
        if has_rollout(
            self._store, row.task.set, row.task.id, row.model, row.condition, row.repeat
        ):
            self.claims.release([item])
            return False
        return True

    def finished(self, traces: Sequence[Trace]) -> None:
        """Let go of rows whose traces are in the store."""
        self.played.update((str(t.task_set), str(t.task_id), t.repeat) for t in traces)
        if self.claims is not None:
            self.claims.release([_item(t.task_set, t.task_id, t.repeat) for t in traces])


def _item(task_set: str | None, task_id: str | None, repeat: int) -> str:
    """The name of a row among claims."""
    return digest([task_set, task_id, repeat])
