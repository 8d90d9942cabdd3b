"""The request body as it goes over the wire, and the record of how it differs from what was meant.

Whatever an endpoint refuses is left out or renamed here and nowhere else; ``sent`` says so, so
that a release can state what was really asked. Prompts are never changed, with one exception
that is recorded: a lone surrogate cannot be written in UTF-8 and is replaced.
"""

from __future__ import annotations

import json
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.endpoint import Endpoint
from labelkit.models.capabilities import Capabilities
from labelkit.models.request import ChatRequest

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")


def echoes(endpoint: Endpoint, capabilities: Capabilities) -> bool:
    """Whether earlier reasoning is sent back; ``auto`` keeps it back until a 400 demands it."""
    if endpoint.echo_reasoning == "auto":
        return capabilities.echo_reasoning is True
    return endpoint.echo_reasoning == "always"


def wire_body(
    endpoint: Endpoint, request: ChatRequest, capabilities: Capabilities
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (body, sent): the JSON body and the record for ``Completion.sent``.

    ``sent`` has ``rung`` when a schema was asked for, ``dropped`` and ``renamed`` when the body
    lacks or renames something that the request asks for.
    """
    echo = echoes(endpoint, capabilities)
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [_wire_message(message, echo) for message in request.messages],
        **endpoint.extra_body,
    }
    sent: dict[str, Any] = {}
    _apply_limit(body, sent, request, capabilities)
    for name in ("temperature", "seed", "stop"):
        value = getattr(request, name)
        if value is not None:
            body[name] = value
    if request.tools:  # without tools, servers refuse the other two even as "none" and false
        body["tools"] = request.tools
        for name in ("tool_choice", "parallel_tool_calls"):
            value = getattr(request, name)
            if value is not None:
                body[name] = value
    if request.schema is not None:
        sent["rung"] = _apply_rung(body, request, capabilities)
    body.update(request.extra)
    for name in capabilities.dropped:
        if name in body:
            del body[name]
            sent.setdefault("dropped", []).append(name)
    return body, sent


def _apply_limit(
    body: dict[str, Any], sent: dict[str, Any], request: ChatRequest, capabilities: Capabilities
) -> None:
    """Set the token limit under the name that the endpoint knows."""
    if request.max_tokens is None:
        return
    if capabilities.max_tokens is None:
        sent["dropped"] = ["max_tokens"]
        return
    body[capabilities.max_tokens] = request.max_tokens
    if capabilities.max_tokens != "max_tokens":
        sent["renamed"] = {"max_tokens": capabilities.max_tokens}


def _apply_rung(body: dict[str, Any], request: ChatRequest, capabilities: Capabilities) -> str:
    """Ask for the schema in the way that the endpoint takes; returns the rung used.

    A request that brings tools of its own cannot also be forced into a call of ours.
    """
    rung = capabilities.rung
    if rung == "json_schema":
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": request.schema_name, "schema": request.schema, "strict": True},
        }
    elif rung == "json_object":
        body["response_format"] = {"type": "json_object"}
    elif rung == "tool" and not request.tools:
        function = {"name": request.schema_name, "parameters": request.schema}
        body["tools"] = [{"type": "function", "function": function}]
        body["tool_choice"] = {"type": "function", "function": {"name": request.schema_name}}
    else:
        return "text"
    return rung


def _wire_message(message: dict[str, Any], echo: bool) -> dict[str, Any]:
    """One message as servers take it: argument texts, and reasoning only where it belongs."""
    calls = message.get("tool_calls")
    hidden = [] if echo else [name for name in REASONING_FIELDS if name in message]
    if not calls and not hidden:
        return message
    wired = {name: value for name, value in message.items() if name not in hidden}
    if calls:
        wired["tool_calls"] = [_wire_call(call) for call in calls]
    return wired


def _wire_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    if not isinstance(function, dict) or isinstance(function.get("arguments"), str):
        return call
    arguments = function.get("arguments")
    text = "{}" if arguments is None else canonical_json(arguments)
    return {**call, "function": {**function, "arguments": text}}


def encode(body: dict[str, Any], sent: dict[str, Any]) -> bytes:
    """Return the body as UTF-8 JSON; notes a replaced lone surrogate in ``sent``."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        sent["replaced"] = "lone surrogates"
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole.encode("utf-8")
