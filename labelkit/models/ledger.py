"""What an endpoint was asked and what it cost, added up as the replies arrive.

The sums count every reply, also those that could not be read afterwards, so that they equal what
the endpoint itself reported. What nobody reported is unknown and counted as such: never zero.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from labelkit.domain.endpoint import Price
from labelkit.domain.trace import Usage


def cost_of(price: Price | None, usage: Usage | None) -> float | None:
    """Return the cost in the price's currency, or None when price or usage is unknown."""
    if price is None or usage is None:
        return None
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    return (usage.prompt_tokens * price.input + usage.completion_tokens * price.output) / 1e6


def add_usage(one: Usage | None, other: Usage | None) -> Usage | None:
    """Return the sum over two replies; a field that only one of them has keeps its value."""
    if one is None or other is None:
        return one or other
    sums = {}
    for name in Usage.model_fields:
        values = [v for v in (getattr(one, name), getattr(other, name)) if v is not None]
        sums[name] = sum(values) if values else None
    return Usage(**sums)


@dataclass(slots=True)
class Ledger:
    """Running sums for one endpoint.

    ``requests`` are finished rows, ``attempts`` HTTP requests sent, ``replies`` chat completions
    received; ``replies_without_usage`` of them did not report tokens. ``cost`` sums the replies
    whose cost is known; ``replies_without_cost`` counts the others. ``waited_s`` is the time
    that rows waited before resends.
    """

    price: Price | None = None
    requests: int = 0
    attempts: int = 0
    replies: int = 0
    replies_without_usage: int = 0
    replies_without_cost: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    known_cost: float = 0.0
    waits: int = 0
    waited_s: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)

    def add_reply(self, usage: Usage | None) -> None:
        """Count one chat completion with the tokens that it reported."""
        self.replies += 1
        if usage is None:
            self.replies_without_usage += 1
        else:
            self.prompt_tokens += usage.prompt_tokens or 0
            self.completion_tokens += usage.completion_tokens or 0
            self.reasoning_tokens += usage.reasoning_tokens or 0
            self.cached_tokens += usage.cached_tokens or 0
        cost = cost_of(self.price, usage)
        if cost is None:
            self.replies_without_cost += 1
        else:
            self.known_cost += cost

    def add_wait(self, seconds: float) -> None:
        """Count one wait before a resend."""
        self.waits += 1
        self.waited_s += seconds

    @property
    def cost(self) -> float | None:
        """The whole cost, or None as long as any part of it is unknown."""
        return None if self.replies_without_cost or self.price is None else self.known_cost

    def snapshot(self) -> dict[str, Any]:
        """The sums as JSON. Tokens are None where no reply reported any."""
        reported = self.replies > self.replies_without_usage
        return {
            "requests": self.requests,
            "attempts": self.attempts,
            "replies": self.replies,
            "replies_without_usage": self.replies_without_usage,
            "replies_without_cost": self.replies_without_cost,
            "prompt_tokens": self.prompt_tokens if reported else None,
            "completion_tokens": self.completion_tokens if reported else None,
            "reasoning_tokens": self.reasoning_tokens if reported else None,
            "cached_tokens": self.cached_tokens if reported else None,
            "cost": self.cost,
            "known_cost": self.known_cost if self.price is not None else None,
            "currency": self.price.currency if self.price is not None else None,
            "waits": self.waits,
            "waited_s": self.waited_s,
            "failures": dict(sorted(self.failures.items())),
        }
