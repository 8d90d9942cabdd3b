"""Before any task is played: does this endpoint turn a tool question into a tool call?

A server without a tool parser takes the tools and lets the model write its call as text. Every
rollout would then look like a model that never calls a tool. One trivial question tells.
"""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.domain.completion import FailureKind
from labelkit.errors import EndpointError
from labelkit.models.client import Client
from labelkit.models.request import ChatRequest
from labelkit.rollout.protocol import ToolMode

_TOOL = {
    "type": "function",
    "function": {
        "name": "get_clock",
        "description": "Returns the current time in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
_MESSAGES = [
    {"role": "system", "content": "Use the tools you are given."},
    {"role": "user", "content": "What time is it in Oslo now? Call the tool get_clock."},
]
_MAX_TOKENS = 256
_NO_TOOLS = frozenset({FailureKind.REJECTED, FailureKind.PROTOCOL})


@dataclass(frozen=True, slots=True)
class Preflight:
    """How tools will be called, and why in one sentence for the reader of the run."""

    tool_mode: ToolMode
    note: str


async def preflight(client: Client, *, max_tokens: int = _MAX_TOKENS) -> Preflight:
    """Ask one trivial tool question and choose native or emulated tool calls from the reply.

    Raises:
        EndpointError: when the endpoint cannot be used at all.
    """
    completion = await client.complete(
        ChatRequest(
            messages=_MESSAGES,
            tools=[_TOOL],
            tool_choice="auto",
            temperature=0.0,
            max_tokens=max_tokens,
            parser_version="preflight/1",
        )
    )
    if client.fatal is not None:
        raise client.fatal
    failure = completion.failure
    if failure is not None and failure.kind not in _NO_TOOLS:
        raise EndpointError(
            f"the endpoint {client.endpoint.name} did not answer a trivial tool question "
            f"({failure.kind.value}: {failure.message}); check it before starting a run"
        )
    if failure is not None:
        return Preflight("emulated", f"tool calls are emulated: tools refused ({failure.message})")
    if completion.tool_calls:
        return Preflight("native", "tool calls are native: a trivial tool question got one")
    return Preflight(
        "emulated",
        "tool calls are emulated: a trivial tool question got text instead of a call "
        "(a server that should call tools probably lacks its tool parser)",
    )
