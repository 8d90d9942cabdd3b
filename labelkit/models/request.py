"""What is asked of a model, and the digest under which its reply may be reused.

A request is built once per judged row, thousands of times per second, so it is a plain frozen
dataclass and not a validated model. It says what is *intended*; what was really sent (a rung of
the structured-output ladder, a renamed or dropped parameter) is recorded in
``Completion.sent``. This module sends nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from labelkit.digest import digest, digest_text

if TYPE_CHECKING:
    from labelkit.domain.endpoint import Endpoint

REQUEST_VERSION = 2
"""Part of every cache key. Raise it when the meaning of a request changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One chat completion to be made.

    ``messages`` are in the OpenAI chat shape and must not be changed afterwards. ``schema`` is
    the JSON schema that the reply should follow, or None for free text; the caller restates it in
    the prompt, because forwarding a schema is not enforcing it. ``parser_version`` names prompt
    and parser: it is never sent, but a reply read by another parser is another reply. ``repeat``
    tells equal requests apart. ``extra`` is sent as it is and wins over the endpoint's
    ``extra_body``. Parameters that are None or empty are not sent at all.
    """

    messages: list[dict[str, Any]]
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    schema: dict[str, Any] | None = None
    schema_name: str = "reply"
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    stop: list[str] | None = None
    repeat: int = 0
    parser_version: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


def request_digest(endpoint: Endpoint, request: ChatRequest) -> str:
    """Return the cache key of ``request`` at ``endpoint`` as 64 hex digits.

    It covers everything that could change the reply or the way it is read: base URL, model,
    endpoint body, every field of the request, repeat and parser version. The address of a server
    that labelkit starts is a random port, so it is known by its weights instead
    (``Endpoint.place``).
    The name, price and limits of an endpoint change no reply and are left out.

    Raises:
        TypeError: when the request holds something that is not JSON.
        ValueError: when it holds NaN or an infinity.
    """
    return digest(
        [
            REQUEST_VERSION,
            endpoint.place,
            endpoint.model,
            endpoint.thinking,
            endpoint.extra_body,
            endpoint.echo_reasoning,
            [_message_key(message) for message in request.messages],
            request.max_tokens,
            request.temperature,
            request.seed,
            request.schema,
            request.schema_name,
            request.tools,
            request.tool_choice,
            request.parallel_tool_calls,
            request.stop,
            request.repeat,
            request.parser_version,
            request.extra,
        ]
    )


def _message_key(message: dict[str, Any]) -> Any:
    """Stand for a message: long texts by their own digest, everything else as it is.

    All rows of a framing share one system message; its digest is computed once.
    """
    content = message.get("content")
    if not isinstance(content, str) or len(message) != 2 or "role" not in message:
        return message
    role = message["role"]
    known = _shared_digest(content) if role == "system" else digest_text(content)
    return [role, "sha256", known]


@lru_cache(maxsize=16)
def _shared_digest(text: str) -> str:
    return digest_text(text)
