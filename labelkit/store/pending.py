"""What is left to label: the work list of a rater, read page by page while labels arrive."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, bindparam, case, exists, func, select

from labelkit.domain.label import Outcome
from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.store.claims import Claims
from labelkit.store.engine import Store
from labelkit.store.raters import rater_ids
from labelkit.store.selection import EVERYTHING, Order, Selection, chunks, ordered, selected
from labelkit.store.tables import LABEL, TRACE
from labelkit.store.traces import PageReader, pages

_SHARED_ROWS = 64
_SHARED_PAGES = 32
"""With fewer or longer pages two processes would meet in the same one too often."""


@dataclass(frozen=True)
class Pending:
    """One (trace, repeat) that a rater still owes; its labels get ``version``.

    The version is 0, or one above the highest in force when a failed row is tried again. ``item``
    names the row where workers claim it; it is set where traces are read.
    """

    trace: str
    repeat: int
    version: int
    item: str = ""


def pending(
    store: Store,
    rater: str,
    questions: Sequence[str],
    repeats: int = 1,
    selection: Selection = EVERYTHING,
    *,
    retry_failed: bool = False,
    order: Order = "prefix",
) -> Iterator[Pending]:
    """Yield every (trace, repeat) without a label in force for the rater and any of the questions.

    Args:
        store: the store.
        rater: rater digest; one the store does not know owes everything.
        questions: question ids; a row is done when all of them have a label of any outcome.
        repeats: repeats 0 .. repeats - 1 are owed for every trace.
        selection: which traces; its limit counts traces, not pairs.
        retry_failed: also yield pairs where a label in force has the outcome ``failed``.
        order: see ``Order``.

    Each page (500 traces) looks at the labels when it is reached, so work that another process
    finished meanwhile is not yielded. A pair is yielded at most once.
    """
    with store.reading() as connection:
        ids, _ = selected(connection, selection, order)
    debt = _Debt(tuple(questions), repeats, retry_failed)
    for page in chunks(ids):
        with store.reading() as connection:
            owed = debt.of_page(store, connection, rater, page)
            found = connection.execute(_DIGESTS, {"ids": [trace_id for trace_id, _, _ in owed]})
            digests = {row.id: row.digest for row in found}
        for trace_id, repeat, version in owed:
            yield Pending(digests[trace_id], repeat, version, _item(trace_id, repeat))


def count_pending(
    store: Store,
    rater: str,
    questions: Sequence[str],
    repeats: int = 1,
    selection: Selection = EVERYTHING,
    *,
    retry_failed: bool = False,
    order: Order = "prefix",
) -> int:
    """Return how many pairs ``pending`` would yield now, counted by the database.

    The order matters where the selection has a limit. A selection by digests is counted by
    ``pending`` itself, because a statement cannot hold any number of them.
    """
    asked = set(questions)
    if selection.digests is not None:
        owed = pending(
            store, rater, questions, repeats, selection, retry_failed=retry_failed, order=order
        )
        return sum(1 for _ in owed)
    chosen = ordered(selection, order, TRACE.c.id)
    if selection.limit is not None:
        chosen = chosen.limit(selection.limit)
    ids = chosen.subquery()
    done = _done(asked, repeats, retry_failed=retry_failed).subquery()
    with store.reading() as connection:
        total = connection.execute(select(func.count()).select_from(ids)).scalar_one() * repeats
        known = rater_ids(store, connection, {rater})
        if rater not in known or not asked:
            return int(total) if asked else 0
        finished = select(func.count()).select_from(done.join(ids, ids.c.id == done.c.trace_id))
        return int(total - connection.execute(finished, {"rater": known[rater]}).scalar_one())


def _done(questions: set[str], repeats: int, *, retry_failed: bool) -> Select[Any]:
    """Return the query of the (trace, repeat) of one rater that are done; see ``_Debt``."""
    query = (
        select(LABEL.c.trace_id, LABEL.c.repeat)
        .where(
            LABEL.c.rater_id == bindparam("rater"),
            LABEL.c.question.in_(questions),
            LABEL.c.repeat < repeats,
        )
        .group_by(LABEL.c.trace_id, LABEL.c.repeat)
        .having(func.count(LABEL.c.question.distinct()) == len(questions))
    )
    if not retry_failed:
        return query
    newer = LABEL.alias("newer")
    key = ("trace_id", "rater_id", "question", "repeat")
    replaced = exists().where(
        *(newer.c[name] == LABEL.c[name] for name in key), newer.c.version > LABEL.c.version
    )
    failed = (LABEL.c.outcome == Outcome.FAILED.value) & ~replaced
    return query.having(func.sum(case((failed, 1), else_=0)) == 0)


def pending_rows(
    store: Store,
    rater: str,
    questions: Sequence[str],
    repeats: int = 1,
    selection: Selection = EVERYTHING,
    *,
    retry_failed: bool = False,
    order: Order = "prefix",
) -> Iterator[tuple[Pending, Trace, Task | None]]:
    """Yield like ``pending``, each with its trace and current task; memory stays constant.

    Only traces that owe something are read; repeats of one trace share one parsed value.
    """
    with store.reading() as connection:
        ids, sizes = selected(connection, selection, order)
    debt = _Debt(tuple(questions), repeats, retry_failed)
    reader = PageReader(store)
    for page in pages(ids, sizes):
        yield from debt.rows_of(store, reader, rater, page)


def pending_ids(
    store: Store,
    rater: str,
    questions: Sequence[str],
    selection: Selection = EVERYTHING,
    *,
    retry_failed: bool = False,
) -> Iterator[list[tuple[int, int]]]:
    """Yield what ``pending_rows`` does for one repeat, page by page and unread.

    A page holds (row id of the trace, version) for at most 256 rows or about 4 million characters,
    in the order ``prefix``. Another process can read it with a ``PageReader`` of its own. Pages
    without anything owed are left out.
    """
    with store.reading() as connection:
        ids, sizes = selected(connection, selection, "prefix")
    debt = _Debt(tuple(questions), 1, retry_failed)
    for page in pages(ids, sizes):
        with store.reading() as connection:
            owed = debt.of_page(store, connection, rater, page)
        if owed:
            yield [(trace_id, version) for trace_id, _, version in owed]


def pending_pages(
    store: Store,
    rater: str,
    questions: Sequence[str],
    repeats: int = 1,
    selection: Selection = EVERYTHING,
    *,
    retry_failed: bool = False,
    claims: Claims | None = None,
) -> Iterator[list[tuple[Pending, Trace, Task | None]]]:
    """Yield what ``pending_rows`` does in small pages that come in a random order.

    With ``claims`` only rows that could be claimed are yielded, and each must be released when it
    is done. Rows that other workers hold are asked for again after all others; while they are
    held, empty pages come, at once: the caller should wait a moment at each.

    Inside a page the order is ``prefix``. Each page looks at the labels when it is reached, so
    processes that work on one store at once take different pages and share the work; wherever
    they start, an order that both follow would let one trail the other and do it all twice. A
    selection of one page keeps its order. Pages without anything owed are left out.
    """
    with store.reading() as connection:
        ids, sizes = selected(connection, selection, "prefix")
    debt = _Debt(tuple(questions), repeats, retry_failed)
    reader = PageReader(store)
    size = min(_SHARED_ROWS, max(_SHARED_ROWS // 8, len(ids) // _SHARED_PAGES))
    drawn = [array("q", page) for page in pages(ids, sizes, size)]
    if len(ids) > _SHARED_ROWS:
        random.shuffle(drawn)
    while drawn:
        elsewhere = []
        for page in drawn:
            rows, held = debt.claimed_rows_of(store, reader, rater, page, claims)
            if held:
                elsewhere.append(held)
            if rows:
                yield rows
        drawn = elsewhere
        if drawn:
            yield []


_DIGESTS = select(TRACE.c.id, TRACE.c.digest).where(
    TRACE.c.id.in_(bindparam("ids", expanding=True))
)
_STANDING = select(
    LABEL.c.trace_id, LABEL.c.repeat, LABEL.c.question, LABEL.c.version, LABEL.c.outcome
).where(
    LABEL.c.trace_id.in_(bindparam("ids", expanding=True)),
    LABEL.c.rater_id == bindparam("rater"),
    LABEL.c.question.in_(bindparam("questions", expanding=True)),
    LABEL.c.repeat < bindparam("repeats"),
)


def _item(trace_id: int, repeat: int) -> str:
    """The name of a row among claims."""
    return f"{trace_id}:{repeat}"


@dataclass(frozen=True)
class _Debt:
    """What a rater owes per trace."""

    questions: tuple[str, ...]
    repeats: int
    retry_failed: bool

    def of_page(
        self, store: Store, connection: Connection, rater: str, page: Sequence[int]
    ) -> list[tuple[int, int, int]]:
        """Return (trace id, repeat, version) of what is owed for one page, in its order."""
        known = rater_ids(store, connection, {rater})
        standing: dict[tuple[int, int], dict[str, tuple[int, str]]] = {}
        if known:
            values = {
                "ids": list(page),
                "rater": known[rater],
                "questions": list(self.questions),
                "repeats": self.repeats,
            }
            for row in connection.execute(_STANDING, values):
                labels = standing.setdefault((row.trace_id, row.repeat), {})
                in_force = labels.get(row.question)
                if in_force is None or row.version > in_force[0]:
                    labels[row.question] = (row.version, row.outcome)
        return [
            (trace_id, repeat, version)
            for trace_id in page
            for repeat in range(self.repeats)
            if (version := self._owed(standing.get((trace_id, repeat), {}))) is not None
        ]

    def rows_of(
        self, store: Store, reader: PageReader, rater: str, page: Sequence[int]
    ) -> Iterator[tuple[Pending, Trace, Task | None]]:
        """Yield what is owed for one page, with its traces and tasks."""
        with store.reading() as connection:
            owed = self.of_page(store, connection, rater, page)
        wanted = list(dict.fromkeys(trace_id for trace_id, _, _ in owed))
        values = dict(zip(wanted, reader.read(wanted), strict=True))
        for trace_id, repeat, version in owed:
            trace, task = values[trace_id]
            yield Pending(trace.digest, repeat, version, _item(trace_id, repeat)), trace, task

    def claimed_rows_of(
        self,
        store: Store,
        reader: PageReader,
        rater: str,
        page: Sequence[int],
        claims: Claims | None,
    ) -> tuple[list[tuple[Pending, Trace, Task | None]], array[int]]:
        """Return what is owed for one page and could be claimed, and the traces others hold."""
        if claims is None:
            return list(self.rows_of(store, reader, rater, page)), array("q")
        with store.reading() as connection:
            owed = self.of_page(store, connection, rater, page)
        names = {_item(trace_id, repeat): trace_id for trace_id, repeat, _ in owed}
        mine = claims.take(list(names))
        held = dict.fromkeys(names[name] for name in names if name not in mine)
        wanted = {names[name] for name in mine}
        # Whoever held a row committed it before letting go, so what is owed is looked up again.
        read = self.rows_of(store, reader, rater, [t for t in page if t in wanted])
        rows = [found for found in read if found[0].item in mine]
        claims.release(mine - {found[0].item for found in rows})
        return rows, array("q", held)

    def _owed(self, labels: dict[str, tuple[int, str]]) -> int | None:
        """Return the version that is owed, or None when the row is done."""
        failed = any(outcome == Outcome.FAILED.value for _, outcome in labels.values())
        if failed and self.retry_failed:
            return 1 + max(version for version, _ in labels.values())
        return 0 if len(labels) < len(set(self.questions)) else None
