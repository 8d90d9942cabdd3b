"""Requests and replies as lines of OpenAI batch files: the same request, sent by somebody else.

A request line is what the client would send; a result line is read into the same ``Completion``
that the client would make. What is in a result file came from outside: a line that cannot be
read is counted and never guessed at. This module sends nothing and knows no store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from labelkit.domain.completion import Completion, Failure, FailureKind
from labelkit.domain.endpoint import Endpoint
from labelkit.errors import InputError
from labelkit.models.body import encode, wire_body
from labelkit.models.capabilities import Capabilities
from labelkit.models.faults import Fault, classify, clip
from labelkit.models.ledger import Ledger, cost_of
from labelkit.models.reply import (
    ErrorInside,
    NotACompletion,
    Reply,
    answer_text,
    read_reply,
    with_flags,
)
from labelkit.models.request import ChatRequest

URL: Final = "/v1/chat/completions"
MAX_LINE_CHARS = 64 * 1024 * 1024
"""A longer line is no reply of a model; it is skipped without being kept in memory."""


def request_line(
    endpoint: Endpoint, request: ChatRequest, capabilities: Capabilities, custom_id: str
) -> bytes:
    """Return one line of a request file, with its line end.

    Raises:
        TypeError, ValueError: when the request itself is no JSON.
    """
    body, sent = wire_body(endpoint, request, capabilities)
    head = json.dumps({"custom_id": custom_id, "method": "POST", "url": URL})[:-1]
    return head.encode() + b', "body": ' + encode(body, sent) + b"}\n"


@dataclass(frozen=True, slots=True)
class ResultLine:
    """One line of a result file. ``status`` None: nobody was asked, and ``error`` says why.

    ``body`` is the body of the HTTP reply as JSON text.
    """

    custom_id: str
    status: int | None
    body: bytes
    error: str = ""

    @property
    def good(self) -> bool:
        """Whether it holds the reply of a model."""
        return self.status == 200 and not self.error


def read_results(path: Path) -> Iterator[ResultLine | None]:
    """Yield the lines of a result file in their order; None for one that is no result.

    Raises:
        InputError: when the file cannot be opened.
    """
    try:
        file = path.open(encoding="utf-8", errors="replace", newline="\n")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; name a result file") from error
    with file:
        while line := file.readline(MAX_LINE_CHARS):
            if not line.endswith("\n") and len(line) == MAX_LINE_CHARS:
                while (rest := file.readline(MAX_LINE_CHARS)) and not rest.endswith("\n"):
                    pass
                yield None
            elif line.strip():
                yield _result(line)


def _result(line: str) -> ResultLine | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("custom_id"), str):
        return None
    response, error = value.get("response"), value.get("error")
    said = "" if not error else clip(json.dumps(error) if isinstance(error, dict) else str(error))
    if not isinstance(response, dict):
        return ResultLine(value["custom_id"], None, b"", said or "no response")
    status = response.get("status_code")
    body = response.get("body")
    if not isinstance(status, int):
        status = None if said else 200
    text = body if isinstance(body, str) else json.dumps(body)
    return ResultLine(
        value["custom_id"], status, text.encode("utf-8", "replace"), said if status != 200 else ""
    )


def completion_of(
    endpoint: Endpoint,
    request: ChatRequest,
    digest: str,
    line: ResultLine,
    capabilities: Capabilities,
    ledger: Ledger,
) -> Completion | None:
    """Return the completion that a result line holds; None where the row was not really asked.

    A batch that ran out of time, a rate limit or a dead server say nothing about the row: it stays
    owed. A refusal that would come again (too long, filtered, malformed) is a failure.

    Args:
        endpoint: gives the names and the price.
        request: what was asked.
        digest: its digest.
        line: the result.
        capabilities: those under which the request was written.
        ledger: hears of the reply's tokens.
    """
    body, sent = wire_body(endpoint, request, capabilities)
    sent["batch"] = True
    if line.status is None:
        return None
    found = _read(line, body)
    usage = None
    if isinstance(found, Reply):
        usage = found.usage
        ledger.add_reply(usage)
        sent = with_flags(sent, found)
    elif found.retry or found.fatal:
        return None
    failure = _failure(found)
    ledger.requests += 1
    if failure is not None:
        ledger.failures[failure.kind.value] += 1
    reply = found if isinstance(found, Reply) else None
    price = endpoint.price
    return Completion(
        request=digest,
        endpoint=endpoint.name,
        model=endpoint.model,
        repeat=request.repeat,
        text=answer_text(reply, sent.get("rung"), request.schema_name) if reply else None,
        reasoning=reply.reasoning if reply else None,
        tool_calls=reply.tool_calls if reply else (),
        finish_reason=reply.finish_reason if reply else None,
        failure=failure,
        usage=usage,
        cost=cost_of(price, usage),
        currency=price.currency if price else None,
        served_model=reply.served_model if reply else None,
        fingerprint=reply.fingerprint if reply else None,
        sent=sent,
        created_at=datetime.now(UTC),
    )


def _read(line: ResultLine, body: dict[str, Any]) -> Reply | Fault:
    if line.status != 200:
        told = line.body if line.body not in (b"", b"null") else line.error.encode()
        return classify(line.status or 500, told, body)
    try:
        return read_reply(line.body)
    except ErrorInside as inside:
        return classify(inside.status, line.body, body)
    except NotACompletion as odd:
        # Nobody resends it for us, so it is the row's failure; it can be tried again on purpose.
        return Fault(FailureKind.PROTOCOL, clip(str(odd)), 200)


def _failure(found: Reply | Fault) -> Failure | None:
    if isinstance(found, Fault):
        return Failure(kind=found.kind, message=found.message, status=found.status)
    if found.finish_reason == "content_filter":
        said = "the reply was withheld by a content filter"
        return Failure(kind=FailureKind.FILTERED, message=said, status=200)
    return None
