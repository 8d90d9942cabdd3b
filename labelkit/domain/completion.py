"""One exchange with a model endpoint: what was asked for, what came back, what it cost."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from labelkit.domain.frozen import Frozen
from labelkit.domain.message import ToolCall
from labelkit.domain.trace import Usage


class FailureKind(StrEnum):
    """Why a request brought no usable reply. None of these is ever a label.

    ``transport`` covers timeouts, connection errors, 429 and 5xx after the last retry;
    ``overflow`` a prompt longer than the context; ``filtered`` a content filter; ``rejected``
    any other 4xx (billing, moderation, malformed request), which is never resent unchanged;
    ``protocol`` a 200 whose body is not a chat completion.
    """

    TRANSPORT = "transport"
    OVERFLOW = "overflow"
    FILTERED = "filtered"
    REJECTED = "rejected"
    PROTOCOL = "protocol"


class Failure(Frozen):
    """A request that brought no usable reply."""

    kind: FailureKind
    message: str
    status: int | None = None


class Completion(Frozen):
    """One finished exchange, successful or not.

    ``request`` is the cache key: the digest of the whole request as *intended*, base URL, repeat
    and parser version included. ``sent`` records what was really sent beside the messages (rung
    of the structured-output ladder, parameters dropped after a 400). ``cost`` is None when the
    price or the usage is unknown. ``accepted`` says that the reply was read into a verdict: only
    accepted completions serve as cache. ``attempts`` counts the HTTP requests made.
    """

    request: str
    endpoint: str
    model: str
    repeat: int = 0
    text: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    failure: Failure | None = None
    usage: Usage | None = None
    cost: float | None = None
    currency: str | None = None
    served_model: str | None = None
    fingerprint: str | None = None
    sent: dict[str, Any] = Field(default_factory=dict)
    attempts: int = 1
    latency_s: float = 0.0
    accepted: bool = False
    created_at: datetime
