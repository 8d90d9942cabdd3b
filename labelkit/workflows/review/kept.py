"""Numbers of a sample, kept for everybody who looks until something changes.

Pages look again every few seconds and ten people may look at the same sample: what takes a tenth
of a second to a second is computed once. Rights are none of this module's: whoever asks it has
asked ``access`` before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from labelkit.store import Store

Found = TypeVar("Found")
Asked = tuple[str, str | None]
"""A sample's id and a question, None for the sample's own."""

MOST = 8


class Kept(Generic[Found]):
    """The last ``MOST`` results of a store, each with the mark of what it was computed from."""

    def __init__(self) -> None:
        self._stores: WeakKeyDictionary[Store, OrderedDict[Asked, tuple[Hashable, Found]]] = (
            WeakKeyDictionary()
        )
        self._lock = Lock()

    def find(
        self, store: Store, asked: Asked, mark: Hashable, compute: Callable[[], Found]
    ) -> Found:
        """Return the kept result if it has this mark, else compute it and keep it.

        ``mark`` must have been read before ``compute`` reads: what arrives between the two then
        changes the next mark. Two who ask at the same moment may both compute; nobody waits for
        another.
        """
        with self._lock:
            known = self._stores.setdefault(store, OrderedDict()).get(asked)
        found = compute() if known is None or known[0] != mark else known[1]
        with self._lock:
            kept = self._stores[store]
            kept[asked] = (mark, found)
            kept.move_to_end(asked)
            if len(kept) > MOST:
                kept.popitem(last=False)
        return found
