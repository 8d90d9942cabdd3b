"""Looking through a store: which traces match, what each rater said, and one trace in full.

The pages of the app call this module and nothing of the store. Columns are read once and kept
until the store has grown, so that filtering and paging 100,000 traces costs milliseconds; traces
themselves are never kept. It only reads: no label, no trace and no setting is ever written here.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.rubric import Question, Rubric
from labelkit.errors import InputError, LabelkitError
from labelkit.stats.agreement import Coefficient
from labelkit.stats.intervals import Interval
from labelkit.stats.undefined import Number, Undefined
from labelkit.store import Store
from labelkit.store.growth import growth
from labelkit.store.raters import rubrics
from labelkit.store.reports import TraceTable, trace_table
from labelkit.store.search import traces_with_text
from labelkit.workflows.columns import read_votes
from labelkit.workflows.ensemble import combine
from labelkit.workflows.one_trace import TraceView, read_trace
from labelkit.workflows.report import ENSEMBLE, Report, report
from labelkit.workflows.rows import REASONS, Codes, Mask

Fault = LabelkitError
"""What a page shows instead of itself; its message may quote hostile text."""

PAGE = 50

__all__ = [
    "PAGE",
    "Browser",
    "Choices",
    "Coefficient",
    "Fault",
    "Filters",
    "Found",
    "Interval",
    "Line",
    "Neighbours",
    "Number",
    "Scheme",
    "Store",
    "Undefined",
    "limits",
    "number_or_reason",
]


@dataclass(frozen=True)
class Scheme:
    """One question of one frozen rubric of the store."""

    rubric: Rubric
    question: Question

    @property
    def name(self) -> str:
        """How people tell schemes apart."""
        return f"{self.rubric.name} {self.rubric.version}: {self.question.id}"

    @property
    def key(self) -> tuple[str, str]:
        """How programs do: rubric digest and question."""
        return self.rubric.digest, self.question.id


@dataclass(frozen=True)
class Filters:
    """Which traces are meant. An empty tuple does not filter; None inside one means "has none".

    ``rater`` and ``code`` together ask for one rater's label (an index of the question's labels)
    or state (``labelkit.workflows.rows.REASONS``); one without the other does not filter.
    ``disagreement`` keeps traces to which at least two raters gave different labels; missing labels
    are no disagreement. ``text`` keeps traces that hold it word for word, in upper or lower case.
    """

    models: tuple[str, ...] = ()
    domains: tuple[str | None, ...] = ()
    subsets: tuple[str | None, ...] = ()
    states: tuple[str, ...] = ()
    rater: str | None = None
    code: int | None = None
    disagreement: bool = False
    text: str = ""


@dataclass(frozen=True)
class Choices:
    """What the filters offer: the values that occur, sorted, and the raters in report order.

    ``codes`` maps the code of each label and state to its name.
    """

    models: tuple[str, ...]
    domains: tuple[str | None, ...]
    subsets: tuple[str | None, ...]
    states: tuple[str, ...]
    raters: tuple[str, ...]
    codes: dict[int, str]


@dataclass(frozen=True)
class Line:
    """One trace in the list; ``labels`` in the order of ``Choices.raters``."""

    digest: str
    model: str
    task: str
    domain: str | None
    subset: str | None
    state: str
    labels: tuple[str, ...]
    disagree: bool


@dataclass(frozen=True)
class Found:
    """One page of the traces that match. ``total`` of ``stored`` match; pages count from 0."""

    lines: tuple[Line, ...]
    total: int
    stored: int
    page: int
    pages: int


@dataclass(frozen=True)
class Neighbours:
    """Where a trace stands among those that match; None: it does not, or there is no such."""

    place: int | None
    total: int
    before: str | None
    after: str | None


@dataclass(frozen=True)
class _Votes:
    """Codes of all raters, shape (n_rows, n_raters), the ensemble first where there is one."""

    names: tuple[str, ...]
    codes: Codes
    disagree: Mask


class Browser:
    """An open store and the columns read from it. Safe for several threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._growth: tuple[int, ...] | None = None
        self._table: TraceTable | None = None
        self._votes: dict[tuple[str, str], _Votes] = {}
        self._reports: dict[tuple[str, ...], Report] = {}
        self._texts: dict[str, NDArray[np.int64]] = {}

    @classmethod
    def open(cls, url: str) -> Self:
        """Open the store at ``url``.

        Raises:
            StoreError: there is none, or it cannot be read.
        """
        return cls(Store.open(url))

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    @property
    def store(self) -> Store:
        """The open store, which pages hand to the functions of ``review`` and never look into."""
        return self._store

    @property
    def place(self) -> str:
        """The file, or the URL without its password."""
        return self._store.place

    def schemes(self) -> tuple[Scheme, ...]:
        """Every question of every rubric that has judged here, newest rubric and primary first."""
        newest = reversed(rubrics(self._store))
        return tuple(Scheme(r, question) for r in newest for question in reversed(r.questions))

    def choices(self, scheme: Scheme | None) -> Choices:
        """Return what can be filtered by."""
        table, votes = self._columns(scheme)
        return Choices(
            models=_values(table.model),
            domains=_values(table.domain),
            subsets=_values(table.subset),
            states=_values(table.state),
            raters=votes.names,
            codes=_code_names(scheme),
        )

    def find(self, scheme: Scheme | None, filters: Filters, page: int = 0) -> Found:
        """Return one page of the matching traces in order of import; a page too far is the last.

        Raises:
            InputError: a label of a rater is asked for who has none for this scheme.
        """
        table, votes = self._columns(scheme)
        rows = self._matching(table, votes, filters)
        pages = max(1, -(-len(rows) // PAGE))
        page = min(max(page, 0), pages - 1)
        names = _code_names(scheme)
        shown = rows[page * PAGE : (page + 1) * PAGE]
        lines = tuple(_line(table, votes, names, int(place)) for place in shown)
        return Found(lines, total=len(rows), stored=len(table), page=page, pages=pages)

    def neighbours(self, scheme: Scheme | None, filters: Filters, digest: str) -> Neighbours:
        """Return the traces before and after this one among those that match; see ``find``."""
        table, votes = self._columns(scheme)
        rows = self._matching(table, votes, filters)
        digests = _digests(table)[rows]
        at = np.flatnonzero(digests == digest)
        if len(at) == 0:
            return Neighbours(None, len(rows), None, None)
        place = int(at[0])
        before = str(digests[place - 1]) if place else None
        after = str(digests[place + 1]) if place + 1 < len(rows) else None
        return Neighbours(place, len(rows), before, after)

    def trace(self, digest: str) -> TraceView:
        """Return one trace in full, by digest or unique prefix.

        Raises:
            StoreError: no trace, or several traces, begin like this.
        """
        return read_trace(self._store, digest)

    def report(self, scheme: Scheme, *, by: Sequence[str] = (), rater: str | None = None) -> Report:
        """Return the very report of ``labelkit report``, computed anew when the store has grown.

        Raises:
            InputError: for an unknown rater or tag.
        """
        key = (*scheme.key, rater or "", *by)
        with self._lock:
            self._refresh()
            if key not in self._reports:
                self._reports[key] = report(
                    self._store, scheme.rubric, by=by, rater=rater, question=scheme.question.id
                )
            return self._reports[key]

    def _refresh(self) -> None:
        """Forget what was read before the store grew."""
        now = growth(self._store)
        if now != self._growth:
            self._growth, self._table = now, None
            self._votes.clear()
            self._reports.clear()
            self._texts.clear()

    def _matching(self, table: TraceTable, votes: _Votes, filters: Filters) -> NDArray[np.int64]:
        """Places of the matching rows; which ones hold a text is read once per text."""
        rows = _matching(table, votes, filters)
        if not filters.text:
            return rows
        with self._lock:
            if filters.text not in self._texts:
                self._texts[filters.text] = traces_with_text(self._store, filters.text)
            return rows[np.isin(table.id[rows], self._texts[filters.text])]

    def _columns(self, scheme: Scheme | None) -> tuple[TraceTable, _Votes]:
        """Return columns and votes of one and the same state of the store."""
        with self._lock:
            self._refresh()
            if self._table is None:
                self._table = trace_table(self._store, digests=True)
            if scheme is None:
                return self._table, _no_votes(self._table)
            if scheme.key not in self._votes:
                self._votes[scheme.key] = _read(self._store, scheme, self._table)
            return self._table, self._votes[scheme.key]


def _matching(table: TraceTable, votes: _Votes, filters: Filters) -> NDArray[np.int64]:
    """Places of the matching rows, ascending."""
    mask: Mask = np.ones(len(table), dtype=bool)
    for column, wanted in (
        (table.model, filters.models),
        (table.domain, filters.domains),
        (table.subset, filters.subsets),
        (table.state, filters.states),
    ):
        if wanted:
            allowed = set(wanted)
            mask &= np.fromiter((cell in allowed for cell in column), bool, len(table))
    if filters.rater is not None and filters.code is not None:
        if filters.rater not in votes.names:
            known = ", ".join(votes.names) or "nobody yet"
            raise InputError(
                f"no rater {filters.rater!r} has labelled for this question; choose one of: {known}"
            )
        mask &= votes.codes[:, votes.names.index(filters.rater)] == filters.code
    if filters.disagreement:
        mask &= votes.disagree
    return np.flatnonzero(mask)


def number_or_reason(value: Number) -> float | str:
    """Return a number of a report, or the reason why it does not exist."""
    return value.reason.value if isinstance(value, Undefined) else value


def limits(interval: Interval | Undefined) -> tuple[float, float] | None:
    """Return the ends of an interval of a report, or None where it does not exist."""
    return None if isinstance(interval, Undefined) else (interval.low, interval.high)


def _read(store: Store, scheme: Scheme, table: TraceTable) -> _Votes:
    """Read every rater's votes and combine them as the rubric says."""
    votes, _ = read_votes(store, scheme.rubric, scheme.question, table.id)
    if not votes:
        return _no_votes(table)
    matrix = np.stack([column.codes for column in votes], axis=1)
    labelled = matrix >= 0
    high = np.where(labelled, matrix, -1).max(axis=1)
    low = np.where(labelled, matrix, np.iinfo(np.int32).max).min(axis=1)
    policy = scheme.rubric.ensemble_of(scheme.question)
    infra = table.state == "infra_error"
    together = combine(policy, votes, len(scheme.question.labels), infra).codes
    return _Votes(
        names=(ENSEMBLE, *(column.name for column in votes)),
        codes=np.column_stack([together, matrix]),
        disagree=(labelled.sum(axis=1) > 1) & (high != low),
    )


def _no_votes(table: TraceTable) -> _Votes:
    empty = np.empty((len(table), 0), dtype=np.int32)
    return _Votes((), empty, np.zeros(len(table), dtype=bool))


def _code_names(scheme: Scheme | None) -> dict[int, str]:
    """Labels by index; states in brackets, since a label may have the name of a state."""
    labels = enumerate(d.name for d in scheme.question.labels) if scheme else ()
    return {**dict(labels), **{code: f"({name})" for code, name in REASONS.items()}}


def _line(table: TraceTable, votes: _Votes, names: dict[int, str], place: int) -> Line:
    task = table.task_id[place]
    return Line(
        digest=str(_digests(table)[place]),
        model=table.model[place],
        task="" if task is None else str(task),
        domain=table.domain[place],
        subset=table.subset[place],
        state=table.state[place],
        labels=tuple(names[int(code)] for code in votes.codes[place]),
        disagree=bool(votes.disagree[place]),
    )


def _digests(table: TraceTable) -> NDArray[np.object_]:
    """The digests of a table that was read with them."""
    if table.digest is None:
        raise ValueError("the trace table was read without digests")
    return table.digest


def _values(column: NDArray[np.object_]) -> tuple[Any, ...]:
    """The distinct values of a column in order, None last."""
    found = set(column.tolist())
    named = sorted(value for value in found if value is not None)
    return (*named, None) if None in found else tuple(named)
