"""How can this endpoint be made to answer in JSON? Asked once before a run, never per row.

The ladder goes from the strongest means to none: json_schema (strict), json_object, a forced
tool call, plain text. An endpoint that accepts a response format need not obey it, so a rung
counts only when the reply to the *real* schema follows it (field reports C2, C4). The schema is
restated in every prompt anyway; this module only decides what is sent beside it.
"""

from __future__ import annotations

import json
from typing import Any

from labelkit.domain.completion import Completion, FailureKind
from labelkit.errors import EndpointError
from labelkit.models.capabilities import Capabilities, Rung
from labelkit.models.client import Client
from labelkit.models.follows import follows
from labelkit.models.request import ChatRequest
from labelkit.models.transport import Unanswered

PROBE_TOKENS = 1024
THINKING_PROBE_TOKENS = 4096
_FENCE = "```"


def probe_messages(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a probe: a system and a user message, as judges send them."""
    told = json.dumps(schema, ensure_ascii=False)
    return [
        {
            "role": "system",
            "content": "You fill in one JSON object that follows this JSON schema and write"
            f" nothing else:\n{told}",
        },
        {
            "role": "user",
            "content": "This only tests the connection. Fill in every field with any value that"
            " the schema allows; keep texts to a few words.",
        },
    ]


async def probe(
    client: Client,
    schema: dict[str, Any],
    *,
    schema_name: str = "reply",
    messages: list[dict[str, Any]] | None = None,
    max_tokens: int | None = None,
    temperature: float | None = 0.0,
    seed: int | None = None,
) -> Capabilities:
    """Find out what the client's endpoint takes; sets and returns ``client.capabilities``.

    Args:
        client: its ledger counts the probe's requests too, one to a dozen.
        schema: the schema that the run will ask for.
        schema_name: its name.
        messages: the role pattern of the run, where it is not a system and a user message.
        max_tokens: limit of the probe's reply; None: 1,024, with thinking 4,096.
        temperature: as in the run, so that a refusal of it is learnt here.
        seed: the same.

    Raises:
        EndpointError: when the endpoint cannot be used at all, or refuses the messages.
    """
    if max_tokens is None:
        max_tokens = THINKING_PROBE_TOKENS if client.endpoint.thinking else PROBE_TOKENS
    listed = await model_listed(client)
    client.capabilities = client.capabilities.changed(model_listed=listed)
    request = ChatRequest(
        messages=messages or probe_messages(schema),
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
        schema=schema,
        schema_name=schema_name,
        parser_version="probe",
    )
    accepted: Rung | None = None
    while True:
        completion = await client.complete(request)
        if client.fatal is not None:
            raise client.fatal
        if completion.failure is None:
            if _followed(client, completion, schema):
                return client.capabilities
            accepted = accepted or client.capabilities.rung
        elif completion.failure.kind not in _REFUSALS:
            break
        lower = client.capabilities.stepped_down()
        if lower is None:
            break
        client.capabilities = lower
    if accepted is None:
        raise _unusable(client, completion)
    client.capabilities = client.capabilities.changed(rung=accepted, verified=False)
    return client.capabilities


_FOLLOWS = "the reply followed the schema"


_REFUSALS = (FailureKind.REJECTED, FailureKind.PROTOCOL)
"""Failures of the rung rather than of the network or the prompt: the next rung may do."""


def _followed(client: Client, completion: Completion, schema: dict[str, Any]) -> bool:
    """Whether the reply followed the schema; notes what it did on the rung it was asked on."""
    found = _verdict(completion, schema)
    followed = found == _FOLLOWS
    known = client.capabilities  # a 400 may have stepped it down while the request was made
    notes = (*known.notes, f"{known.rung}: {found}")
    client.capabilities = known.changed(notes=notes, verified=followed)
    return followed


def _verdict(completion: Completion, schema: dict[str, Any]) -> str:
    if completion.finish_reason == "length":
        return "the reply was cut off"
    text = completion.text
    if text is None:
        return "the reply had no text"
    value = _json_in(text)
    if value is None:
        return "the reply was no JSON"
    return _FOLLOWS if follows(schema, value) else "the reply did not follow the schema"


def _json_in(text: str) -> Any:
    """The JSON value that the text is, with or without a fence and closed reasoning."""
    bare = text.rpartition("</think>")[2].strip()
    if bare.startswith(_FENCE):
        bare = bare.removeprefix(_FENCE).removeprefix("json").strip().removesuffix(_FENCE)
    try:
        return json.loads(bare)
    except (ValueError, RecursionError):
        return None


def _unusable(client: Client, completion: Completion) -> EndpointError:
    failure = completion.failure
    said = failure.message.rstrip(".") if failure else "no reply"
    status = f" (HTTP {failure.status})" if failure and failure.status else ""
    mend = "mend the endpoint or its settings and run again"
    if failure and failure.kind is FailureKind.PROTOCOL:
        mend = "check that its base_url is that of an OpenAI-compatible API, and run again"
    return EndpointError(
        f"endpoint {client.endpoint.name!r} did not get through its test request{status}: {said};"
        f" {mend}"
    )


async def model_listed(client: Client) -> bool | None:
    """Whether the endpoint lists the model; None where it has no readable list."""
    try:
        models = await client.model_names()
    except Unanswered:
        return None
    return None if models is None else client.endpoint.model in models
