"""Before any task is played: what does this endpoint do with tools, roles and parameters?

A server without a tool parser takes the tools and lets the model write its call as text. Every
rollout would then look like a model that never calls a tool. A few trivial questions tell; what
they told is kept with the endpoint's capabilities, printed, and not asked again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labelkit.domain.completion import Completion, FailureKind
from labelkit.errors import EndpointError
from labelkit.models.capabilities import Capabilities
from labelkit.models.client import Client
from labelkit.models.request import ChatRequest
from labelkit.models.structured import model_listed, probe
from labelkit.rollout.dialogue import Forcing
from labelkit.rollout.protocol import Decoding, ToolMode

PARSER = "preflight/2"
_CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
_TOOL = {
    "type": "function",
    "function": {
        "name": "get_clock",
        "description": "Returns the current time in a city.",
        "parameters": _CITY,
    },
}
_NAMED = {"type": "function", "function": {"name": "get_clock"}}
_SYSTEM = {"role": "system", "content": "Use the tools you are given."}
_ASKED = {"role": "user", "content": "What time is it in Oslo now? Call the tool get_clock."}
_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_clock", "arguments": '{"city": "Oslo"}'},
}
_ANSWERED: list[dict[str, Any]] = [
    _SYSTEM,
    _ASKED,
    {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": '{"time": "10:30"}'},
]
_MAX_TOKENS = 256
_REFUSED = frozenset({FailureKind.REJECTED, FailureKind.PROTOCOL})


@dataclass(frozen=True, slots=True)
class Preflight:
    """How tools will be called, and why in one sentence for the reader of the run.

    ``forcing``: how a call can be demanded. ``remarks`` are further sentences: what is not sent,
    what the endpoint does otherwise than asked.
    """

    tool_mode: ToolMode
    note: str
    forcing: Forcing = "required"
    remarks: tuple[str, ...] = ()


async def preflight(
    client: Client, *, decoding: Decoding | None = None, max_tokens: int = _MAX_TOKENS
) -> Preflight:
    """Ask a few trivial questions and choose how to play; sets ``client.capabilities``.

    An endpoint that is known to call tools is asked nothing. One that is known not to is asked
    again, because somebody may have given its server a tool parser.

    Args:
        client: the endpoint's client.
        decoding: that of the run, so that a refusal of it is learnt here.
        max_tokens: bound of each reply.

    Raises:
        EndpointError: when the endpoint cannot be used at all.
    """
    known = client.capabilities
    if known.tool_calls:
        return _native(known)
    await _look_up(client)
    asked = _Questions(client, decoding or Decoding(), max_tokens)
    first = await asked.ask([_SYSTEM, _ASKED], tool_choice="auto", parallel=False)
    mode, note = _tool_mode(client, first)
    found: dict[str, Any] = {"tool_calls": mode == "native"}
    if mode == "native":
        found |= await _choices(asked)
    else:
        # Emulated calls are JSON; whether a run's own schemas are followed is not known by this.
        await probe(client, _CITY, max_tokens=max_tokens, seed=asked.decoding.seed)
        found["verified"] = None
    twice = [_SYSTEM, {"role": "user", "content": "I have a question."}, _ASKED]
    found["user_twice"] = (await asked.ask(twice)).failure is None
    if client.fatal is not None:
        raise client.fatal
    client.capabilities = client.capabilities.changed(**found)
    if mode == "native":
        return _native(client.capabilities)
    return Preflight(mode, note, remarks=_remarks(client.capabilities))


@dataclass(frozen=True, slots=True)
class _Questions:
    """Trivial requests in the run's own decoding."""

    client: Client
    decoding: Decoding
    max_tokens: int

    async def ask(
        self,
        messages: list[dict[str, Any]],
        *,
        tool_choice: str | dict[str, Any] | None = None,
        parallel: bool | None = None,
    ) -> Completion:
        """Send one request; with a tool where a choice is given."""
        return await self.client.complete(
            ChatRequest(
                messages=messages,
                tools=None if tool_choice is None else [_TOOL],
                tool_choice=tool_choice,
                parallel_tool_calls=parallel,
                temperature=self.decoding.temperature,
                seed=self.decoding.seed,
                max_tokens=self.max_tokens,
                parser_version=PARSER,
            )
        )


async def _look_up(client: Client) -> None:
    """Note whether the endpoint lists the model; many have no list, so it decides nothing."""
    listed = await model_listed(client)
    client.capabilities = client.capabilities.changed(model_listed=listed)


def _tool_mode(client: Client, reply: Completion) -> tuple[ToolMode, str]:
    """Native or emulated, by the reply to a trivial tool question."""
    if client.fatal is not None:
        raise client.fatal
    failure = reply.failure
    if failure is not None and failure.kind not in _REFUSED:
        raise EndpointError(
            f"the endpoint {client.endpoint.name} did not answer a trivial tool question "
            f"({failure.kind.value}: {failure.message}); check it before starting a run"
        )
    if failure is not None:
        return "emulated", f"tool calls are emulated: tools refused ({failure.message})"
    if reply.tool_calls:
        return "native", ""
    note = (
        "tool calls are emulated: a trivial tool question got text instead of a call "
        "(a server that should call tools probably lacks its tool parser)"
    )
    return "emulated", note


async def _choices(asked: _Questions) -> dict[str, Any]:
    """What the endpoint makes of ``required``, of a named tool and of ``none``."""
    forced: Forcing | None = None
    for name, choice in (("required", "required"), ("named", _NAMED)):
        reply = await asked.ask([_SYSTEM, _ASKED], tool_choice=choice)
        if reply.failure is None and reply.tool_calls:
            forced = "required" if name == "required" else "named"
            break
    quiet = await asked.ask(_ANSWERED, tool_choice="none")
    held = None if quiet.failure is not None else not quiet.tool_calls
    return {"forced_calls": forced, "keeps_none": held}


def _native(known: Capabilities) -> Preflight:
    return Preflight(
        "native",
        "tool calls are native: a trivial tool question got one",
        known.forced_calls or "required",
        _remarks(known),
    )


def _remarks(known: Capabilities) -> tuple[str, ...]:
    """Sentences about what is not sent and what is not done as asked."""
    told = []
    if known.dropped:
        told.append(f"not sent, because the endpoint refuses it: {', '.join(known.dropped)}")
    if known.max_tokens != "max_tokens":
        told.append(f"the limit of a reply is sent as {known.max_tokens or 'nothing'}")
    if known.model_listed is False:
        told.append("the endpoint's list of models does not name this model")
    if known.tool_calls and known.forced_calls is None:
        told.append("a call that is demanded does not come: protocols that force one will fail")
    if known.forced_calls == "named":
        told.append("a call is demanded by naming the tool: `required` is not followed")
    if known.keeps_none is False:
        told.append("it calls tools although none is allowed: no tools are declared then")
    if known.user_twice is False:
        told.append("two user messages in a row are refused: tasks that have them will fail")
    return tuple(told)
