"""Short ways to ask the fake server something."""

from __future__ import annotations

import asyncio
from typing import Any

from labelkit.domain.completion import Completion
from labelkit.domain.endpoint import Endpoint
from labelkit.models.client import Client
from labelkit.models.request import ChatRequest
from labelkit.models.waiting import Patience

QUICK = Patience(base_s=0.001, cap_s=0.002)
"""The same number of attempts as by default, but waits of at most 2 ms."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"label": {"enum": ["right", "wrong"]}, "reason": {"type": "string"}},
    "required": ["label", "reason"],
    "additionalProperties": False,
}
VERDICT = {"label": "wrong", "reason": "the payload says otherwise"}


def asking(words: str = "hi", **fields: Any) -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": words}], **fields)


def complete(
    endpoint: Endpoint, *requests: ChatRequest, at_once: bool = False, **client_fields: Any
) -> tuple[Client, list[Completion]]:
    """Complete the requests one after the other, or all at once; the client comes back closed."""
    client_fields.setdefault("patience", QUICK)

    async def work() -> tuple[Client, list[Completion]]:
        async with Client(endpoint, **client_fields) as client:
            if at_once:
                done = await asyncio.gather(*(client.complete(one) for one in requests))
                return client, list(done)
            return client, [await client.complete(one) for one in requests]

    return asyncio.run(work())
