"""The one client for every OpenAI-compatible endpoint.

One call of ``complete`` is one row: it waits for a place, sends, resends what may work later
(the only retry layer there is), adapts to what the endpoint refuses, and comes back with a
``Completion`` whatever happened. A failed row is a value, never an exception; an endpoint that
can serve no row at all is remembered in ``fatal``. The client never judges what a reply says.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

from labelkit.domain.completion import Completion, Failure, FailureKind
from labelkit.domain.endpoint import Endpoint
from labelkit.domain.trace import Usage
from labelkit.errors import EndpointError
from labelkit.models.body import REASONING_FIELDS, encode, wire_body
from labelkit.models.capabilities import Capabilities
from labelkit.models.faults import Fault, classify, clip
from labelkit.models.ledger import Ledger, add_usage, cost_of
from labelkit.models.limiter import Limiter
from labelkit.models.reply import (
    ErrorInside,
    NotACompletion,
    Reply,
    answer_text,
    read_model_names,
    read_reply,
    with_flags,
)
from labelkit.models.request import ChatRequest, request_digest
from labelkit.models.transport import Answer, Transport, Unanswered
from labelkit.models.waiting import Patience, Wait, backoff_s, retry_after_s

_MAX_ADAPTATIONS = 12
"""More than an endpoint has parameters to refuse; a bound, not a policy."""

_LIST_TIMEOUT_S = 20.0


@dataclass(slots=True)
class _Row:
    """The state of one row while it is being completed."""

    digest: str
    started: float
    known: Capabilities
    attempts: int = 0
    replies: int = 0
    limited: int = 0
    adaptations: int = 0
    usage: Usage | None = None
    usage_complete: bool = True
    waited_s: float = 0.0
    sent: dict[str, Any] = field(default_factory=dict)


class Client:
    """Completes chat requests at one endpoint. Belongs to the event loop it is first used in.

    Args:
        endpoint: where and how.
        api_key: the key; None takes it from the variable named by ``endpoint.api_key_env``.
        capabilities: what an earlier probe found out (``structured.probe``).
        patience: limits of the retry layer.
        on_wait: called before every wait, so that no wait is silent.

    Attributes:
        capabilities: what is known by now; store it to resume without a probe.
        ledger: running sums over everything sent.
        limiter: requests in flight now, at most, and the window.
        fatal: why no request can work (wrong key, unknown model, dead host, no money), or None.
            A run should stop and show it; ``complete`` sends nothing any more.

    Raises:
        EndpointError: for a missing or malformed base URL or key, before anything is sent.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        api_key: str | None = None,
        capabilities: Capabilities | None = None,
        patience: Patience | None = None,
        on_wait: Callable[[Wait], None] | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.capabilities = capabilities or Capabilities()
        self.ledger = Ledger(price=endpoint.price)
        self.limiter = Limiter(endpoint.max_concurrency)
        self.fatal: EndpointError | None = None
        self._fatal_failure: Failure | None = None
        self._patience = patience or Patience()
        self._on_wait = on_wait
        self._transport = Transport(endpoint, api_key)
        self._draw = random.Random()  # noqa: S311 - jitter, not a secret
        self._answered = False
        self._stopped = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    async def model_names(self) -> list[str] | None:
        """Return the models that the endpoint lists, or None when it has no readable list.

        Raises:
            Unanswered: when nothing came back.
        """
        timeout_s = min(self.endpoint.request_timeout_s, _LIST_TIMEOUT_S)
        answer = await self._transport.get_models(timeout_s)
        return read_model_names(answer.body) if answer.status == 200 else None

    # -- one row -------------------------------------------------------------------------------

    async def complete(self, request: ChatRequest, digest: str | None = None) -> Completion:
        """Return what came of ``request``; see ``Completion.failure`` when nothing did.

        ``digest`` is its ``request_digest``, where the caller has computed it already.

        All waiting after the first send is bounded by ``endpoint.row_budget_s``. Waiting for the
        first place in the queue is not: a long queue is no fault of the row.

        Raises:
            TypeError, ValueError: when the request itself is no JSON.
        """
        row = _Row(
            digest or request_digest(self.endpoint, request), time.monotonic(), self.capabilities
        )
        while True:
            fault_or_reply, asked_s = await self._attempt(request, row)
            if isinstance(fault_or_reply, Reply):
                return self._finish(request, row, fault_or_reply, None)
            fault = fault_or_reply
            if fault.fatal:
                self._give_up_on_endpoint(fault)
            if self._adapts(fault, request, row):
                continue
            wait_s = self._wait_s(fault, row, asked_s)
            if wait_s is None:
                return self._finish(request, row, None, fault)
            await self._wait(fault, row, wait_s, asked_s)

    async def _attempt(self, request: ChatRequest, row: _Row) -> tuple[Reply | Fault, float | None]:
        """Send once; returns the reply or its fault, and the wait that the endpoint asked for."""
        ticket = await self.limiter.acquire(returning=row.attempts > 0)
        overloaded = succeeded = False
        try:
            if self._fatal_failure is not None:
                known = self._fatal_failure
                return Fault(known.kind, known.message, known.status), None
            if row.attempts == 0:
                row.started = time.monotonic()
            row.known = self.capabilities
            body, row.sent = wire_body(self.endpoint, request, row.known)
            content = encode(body, row.sent)
            outcome, asked_s = await self._exchange(content, body, row)
            succeeded = isinstance(outcome, Reply)
            overloaded = isinstance(outcome, Fault) and outcome.overloaded
            if overloaded and asked_s:
                self.limiter.pause(min(asked_s, self._patience.retry_after_cap_s))
            return outcome, asked_s
        finally:
            self.limiter.release(ticket, overloaded=overloaded, succeeded=succeeded)

    async def _exchange(
        self, content: bytes, body: dict[str, Any], row: _Row
    ) -> tuple[Reply | Fault, float | None]:
        timeout_s = min(self.endpoint.request_timeout_s, max(self._left_s(row), 0.001))
        row.attempts += 1
        self.ledger.attempts += 1
        try:
            answer = await self._transport.post(content, timeout_s)
        except Unanswered as silence:
            return self._fault_of(silence, row), None
        self._answered = True
        if answer.status != 200:
            return self._fault(answer.status, answer.body, body), retry_after_s(answer.headers)
        return self._read(answer, body, row), retry_after_s(answer.headers)

    def _read(self, answer: Answer, body: dict[str, Any], row: _Row) -> Reply | Fault:
        try:
            reply = read_reply(answer.body)
        except ErrorInside as inside:
            return self._fault(inside.status, answer.body, body)
        except NotACompletion as odd:
            if odd.counts:
                self._count(row, odd.usage)
            message = self._transport.redact(str(odd))
            return Fault(FailureKind.PROTOCOL, clip(message), 200, retry=True, limited=True)
        self._count(row, reply.usage)
        return reply

    def _count(self, row: _Row, usage: Usage | None) -> None:
        self.ledger.add_reply(usage)
        row.replies += 1
        row.usage = add_usage(row.usage, usage)
        row.usage_complete = row.usage_complete and usage is not None

    # -- faults --------------------------------------------------------------------------------

    def _fault(self, status: int, body: bytes, sent: dict[str, Any]) -> Fault:
        return classify(status, self._transport.redact_body(body), sent)

    def _fault_of(self, silence: Unanswered, row: _Row) -> Fault:
        """A dead host is given up after a few attempts; a host that has answered is waited for."""
        dead = (
            silence.refused
            and not self._answered
            and row.attempts >= self._patience.unreachable_attempts
        )
        return Fault(
            FailureKind.TRANSPORT,
            clip(str(silence)),
            retry=not dead,
            overloaded=silence.timed_out,
            fatal=dead,
        )

    def _give_up_on_endpoint(self, fault: Fault) -> None:
        if self.fatal is not None:
            return
        status = f" (HTTP {fault.status})" if fault.status is not None else ""
        self._fatal_failure = Failure(kind=fault.kind, message=fault.message, status=fault.status)
        self.fatal = EndpointError(
            f"endpoint {self.endpoint.name!r} at {self._transport.shown_url} cannot be used"
            f"{status}: {fault.message.rstrip('.')}; {self._mend(fault)}"
        )
        self._stopped.set()
        self.limiter.close()

    def _mend(self, fault: Fault) -> str:
        if fault.status in (401, 403):
            variable = self.endpoint.api_key_env
            return f"check the key in {variable}" if variable else "give it a key (api_key_env)"
        if fault.status == 404:
            return f"check its base_url and the model name {self.endpoint.model!r}"
        if fault.status is None:
            return "start the server or correct its base_url"
        if 300 <= fault.status < 400:
            return "write the final address as its base_url"
        return "mend that and run again; finished rows are kept"

    def _adapts(self, fault: Fault, request: ChatRequest, row: _Row) -> bool:
        """Learn from a 400 what the endpoint does not take; True when a changed request follows."""
        if fault.rejected is None and fault.echo is None:
            return False
        if row.adaptations >= _MAX_ADAPTATIONS or self._left_s(row) <= 0:
            return False
        if row.known is self.capabilities:  # else another row has learnt something meanwhile
            changed = self._without(fault, request, row)
            if changed is None:
                return False
            self.capabilities = changed
        row.adaptations += 1
        return True

    def _without(self, fault: Fault, request: ChatRequest, row: _Row) -> Capabilities | None:
        known = self.capabilities
        if fault.echo is not None:
            demanded = fault.echo and self.endpoint.echo_reasoning == "auto"
            has_any = any(name in m for m in request.messages for name in REASONING_FIELDS)
            if demanded and has_any and known.echo_reasoning is None:
                return known.changed(echo_reasoning=True)
            return None
        if fault.rejected in _FILLED_BY.get(row.sent.get("rung", ""), ()):
            return known.stepped_down()
        return known.without(str(fault.rejected))

    # -- waiting -------------------------------------------------------------------------------

    def _left_s(self, row: _Row) -> float:
        return self.endpoint.row_budget_s - (time.monotonic() - row.started)

    def _wait_s(self, fault: Fault, row: _Row, asked_s: float | None) -> float | None:
        """Seconds until the resend, or None when the row is given up."""
        if not fault.retry or row.attempts - row.adaptations >= self._patience.attempts:
            return None
        if fault.limited:
            row.limited += 1
            if row.limited >= self._patience.limited_attempts:
                return None
        if asked_s is None:
            seconds = backoff_s(self._patience, row.attempts, self._draw)
        else:
            seconds = min(asked_s, self._patience.retry_after_cap_s)
        return seconds if seconds < self._left_s(row) else None

    async def _wait(self, fault: Fault, row: _Row, seconds: float, asked_s: float | None) -> None:
        row.waited_s += seconds
        self.ledger.add_wait(seconds)
        if self._on_wait is not None:
            name = self.endpoint.name
            self._on_wait(Wait(name, seconds, row.attempts, fault.message, fault.status, asked_s))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()

    # -- the result ----------------------------------------------------------------------------

    def _finish(
        self, request: ChatRequest, row: _Row, reply: Reply | None, fault: Fault | None
    ) -> Completion:
        failure = None
        if fault is not None:
            failure = Failure(kind=fault.kind, message=fault.message, status=fault.status)
        elif reply is not None and reply.finish_reason == "content_filter":
            said = "the reply was withheld by a content filter"
            failure = Failure(kind=FailureKind.FILTERED, message=said, status=200)
        self.ledger.requests += 1
        if failure is not None:
            self.ledger.failures[failure.kind.value] += 1
        price = self.endpoint.price
        sent = row.sent
        if reply is not None:
            sent = with_flags(sent, reply)
        return Completion(
            request=row.digest,
            endpoint=self.endpoint.name,
            model=self.endpoint.model,
            repeat=request.repeat,
            text=answer_text(reply, row.sent.get("rung"), request.schema_name) if reply else None,
            reasoning=reply.reasoning if reply else None,
            tool_calls=reply.tool_calls if reply else (),
            finish_reason=reply.finish_reason if reply else None,
            failure=failure,
            usage=row.usage,
            cost=cost_of(price, row.usage) if row.usage_complete else None,
            currency=price.currency if price else None,
            served_model=reply.served_model if reply else None,
            fingerprint=reply.fingerprint if reply else None,
            sent=sent,
            attempts=row.attempts,
            latency_s=time.monotonic() - row.started,
            created_at=datetime.now(UTC),
        )


_FILLED_BY = {
    "json_schema": ("response_format",),
    "json_object": ("response_format",),
    "tool": ("tools", "tool_choice"),
}
"""The body fields that a rung of the ladder fills."""
