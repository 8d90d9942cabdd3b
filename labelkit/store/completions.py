"""Completions in the store: every exchange is kept, and an accepted one is never paid for twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from labelkit.digest import digest_text
from labelkit.domain.completion import Completion, Failure
from labelkit.domain.trace import Usage
from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.selection import chunks
from labelkit.store.tables import COMPLETION

_TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")


def insert_completions(connection: Connection, completions: Sequence[Completion]) -> int:
    """Insert within the caller's transaction; return how many were new.

    The same exchange, and a second accepted one of a request, are left out. Sorted, so that two
    writers never wait for each other in a ring.
    """
    ordered = sorted(completions, key=lambda c: (c.request, c.created_at))
    return insert_new(connection, COMPLETION, [_completion_row(c) for c in ordered])


def _completion_row(completion: Completion) -> dict[str, Any]:
    """Return the row of a completion; its digest tells exchanges of one request apart."""
    failure = completion.failure
    usage = completion.usage
    row = {
        "request": completion.request,
        "endpoint": completion.endpoint,
        "model": completion.model,
        "repeat": completion.repeat,
        "accepted": completion.accepted,
        "finish_reason": completion.finish_reason,
        "failure_kind": None if failure is None else failure.kind.value,
        "failure_message": None if failure is None else failure.message,
        "failure_status": None if failure is None else failure.status,
        "has_usage": usage is not None,
        **{name: None if usage is None else getattr(usage, name) for name in _TOKENS},
        "cost": completion.cost,
        "currency": completion.currency,
        "served_model": completion.served_model,
        "fingerprint": completion.fingerprint,
        "sent": completion.sent,
        "attempts": completion.attempts,
        "latency_s": completion.latency_s,
        "created_at": completion.created_at,
        "text": completion.text,
        "reasoning": completion.reasoning,
        "tool_calls": [call.model_dump(mode="json") for call in completion.tool_calls] or None,
    }
    # Not a content address for others: only a repeated commit has to give the same one, cheaply.
    return row | {"digest": digest_text(repr(tuple(row.values())))}


def _read_completion(row: Row[Any]) -> Completion:
    """Return the completion of a row."""
    kind = row.failure_kind
    failure = (
        None
        if kind is None
        else Failure(kind=kind, message=row.failure_message, status=row.failure_status)
    )
    usage = Usage(**{name: getattr(row, name) for name in _TOKENS}) if row.has_usage else None
    return Completion(
        request=row.request,
        endpoint=row.endpoint,
        model=row.model,
        repeat=row.repeat,
        text=row.text,
        reasoning=row.reasoning,
        tool_calls=row.tool_calls or (),
        finish_reason=row.finish_reason,
        failure=failure,
        usage=usage,
        cost=row.cost,
        currency=row.currency,
        served_model=row.served_model,
        fingerprint=row.fingerprint,
        sent=row.sent,
        attempts=row.attempts,
        latency_s=row.latency_s,
        accepted=row.accepted,
        created_at=row.created_at,
    )


def completions(store: Store, requests: Iterable[str]) -> dict[str, Completion]:
    """Return the accepted completion of each request digest that has one: the cache."""
    found: dict[str, Completion] = {}
    for chunk in chunks(dict.fromkeys(requests)):
        query = select(COMPLETION).where(COMPLETION.c.request.in_(chunk), COMPLETION.c.accepted)
        with store.reading() as connection:
            page = connection.execute(query).all()
        found.update({row.request: _read_completion(row) for row in page})
    return found


def exchanges(store: Store, request: str) -> list[Completion]:
    """Return every exchange of one request in order of time, failed and truncated ones included."""
    query = (
        select(COMPLETION)
        .where(COMPLETION.c.request == request)
        .order_by(COMPLETION.c.created_at, COMPLETION.c.id)
    )
    with store.reading() as connection:
        page = connection.execute(query).all()
    return [_read_completion(row) for row in page]


@dataclass
class UsageLine:
    """What one model at one endpoint has used.

    ``exchanges`` are completions, ``attempts`` HTTP requests. Token sums are over the exchanges
    that reported them (``known_usage`` of them did); None when none did. ``cost`` is None as soon
    as one exchange's cost is unknown (``unknown_cost`` counts those) or currencies are mixed;
    ``known_cost`` has the known part by currency. ``failures`` counts failed exchanges by kind.
    """

    endpoint: str
    model: str
    exchanges: int = 0
    attempts: int = 0
    accepted: int = 0
    known_usage: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    known_cost: dict[str, float] = field(default_factory=dict)
    unknown_cost: int = 0
    failures: dict[str, int] = field(default_factory=dict)

    @property
    def cost(self) -> float | None:
        """The whole cost in the one currency, or None when any part is unknown."""
        if self.unknown_cost or len(self.known_cost) != 1:
            return None
        return next(iter(self.known_cost.values()))

    @property
    def currency(self) -> str | None:
        """The currency of ``cost``, or None when there is none or more than one."""
        return next(iter(self.known_cost)) if len(self.known_cost) == 1 else None


def usage(store: Store, requests: Iterable[str] | None = None) -> list[UsageLine]:
    """Return the ledger by endpoint and model, of the whole store or of some requests only."""
    parts: list[list[ColumnElement[bool]]] = (
        [[]]
        if requests is None
        else [[COMPLETION.c.request.in_(chunk)] for chunk in chunks(dict.fromkeys(requests))]
    )
    lines: dict[tuple[str, str], UsageLine] = {}
    for part in parts:
        with store.reading() as connection:
            groups = connection.execute(_LEDGER.where(*part)).all()
        for group in groups:
            key = (group.endpoint, group.model)
            _add_group(lines.setdefault(key, UsageLine(*key)), group)
    return [lines[key] for key in sorted(lines)]


_LEDGER = select(
    COMPLETION.c.endpoint,
    COMPLETION.c.model,
    COMPLETION.c.failure_kind,
    COMPLETION.c.currency,
    COMPLETION.c.accepted,
    func.count().label("exchanges"),
    func.sum(COMPLETION.c.attempts).label("attempts"),
    func.count(COMPLETION.c.prompt_tokens).label("known_usage"),
    *(func.sum(COMPLETION.c[name]).label(name) for name in _TOKENS),
    func.sum(COMPLETION.c.cost).label("cost"),
    func.count(COMPLETION.c.cost).label("known_cost"),
).group_by(
    COMPLETION.c.endpoint,
    COMPLETION.c.model,
    COMPLETION.c.failure_kind,
    COMPLETION.c.currency,
    COMPLETION.c.accepted,
)


def _add_group(line: UsageLine, group: Row[Any]) -> None:
    """Add one group of exchanges to its line."""
    line.exchanges += group.exchanges
    line.attempts += int(group.attempts)
    line.accepted += group.exchanges if group.accepted else 0
    line.known_usage += group.known_usage
    for name in _TOKENS:
        tokens = getattr(group, name)
        if tokens is not None:
            setattr(line, name, (getattr(line, name) or 0) + int(tokens))
    line.unknown_cost += group.exchanges - group.known_cost
    if group.known_cost:
        currency = group.currency or ""
        line.known_cost[currency] = line.known_cost.get(currency, 0.0) + float(group.cost)
    if group.failure_kind is not None:
        kind = group.failure_kind
        line.failures[kind] = line.failures.get(kind, 0) + group.exchanges
