"""Small tasks and ways to play them against the fake server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from labelkit.domain.endpoint import Endpoint
from labelkit.domain.environment import Environment, ToolReturn
from labelkit.domain.message import Message
from labelkit.domain.task import ExpectedCall, Reference, Task, Tool
from labelkit.domain.trace import Trace
from labelkit.models.client import Client
from labelkit.rollout.protocol import Decoding, Row
from labelkit.rollout.protocols import protocol
from tests.fake_server import replies
from tests.fake_server.replies import Reply

MakeEndpoint = Callable[..., Endpoint]

DEPTH = Tool(
    name="get_depth",
    description="Depth of a berth.",
    parameters={"type": "object", "properties": {"berth": {"type": "string"}}},
)
TIDE = Tool(name="get_tide", description="The tide now.")


def berth(*returns: ToolReturn, tools: tuple[Tool, ...] = (DEPTH, TIDE), **fields: Any) -> Task:
    """A question about a berth; by default every call gets the same payload."""
    return Task(
        set="demo",
        id="t1",
        messages=(
            Message(role="system", content="You help."),
            Message(role="user", content="How deep is berth B7?"),
        ),
        tools=tools,
        environment=Environment(returns=returns or (ToolReturn(payload='{"depth_m": 11.3}'),)),
        reference=Reference(
            expected_calls=(ExpectedCall(name="get_depth", arguments={"berth": "B7"}),)
        ),
        **fields,
    )


def calls(*names: str, content: str | None = None, **keywords: Any) -> Reply:
    """A reply that calls tools, all with the same id."""
    made = [replies.call(name, '{"berth":"B7"}', "c1") for name in names]
    return replies.tool_calls(*made, content=content, **keywords)


def play(endpoint: Endpoint, name: str, task: Task | None = None, **fields: Any) -> Trace:
    """Play one task; fields of ``Row`` go there, all others to the protocol."""
    of_row = {k: fields.pop(k) for k in ("clean", "late_hint", "repeat") if k in fields}

    async def once() -> Trace:
        how = protocol(name, decoding=Decoding(max_tokens=64), **fields)
        async with Client(endpoint) as client:
            return await how.play(client, Row(task=task or berth(), model="m", **of_row))

    return asyncio.run(once())


def said(trace: Trace) -> list[tuple[str, str | None]]:
    """Role and content of every message after the task's own two."""
    return [(message.role, message.content) for message in trace.messages[2:]]
