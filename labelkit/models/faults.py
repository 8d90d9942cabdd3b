"""What an HTTP error means: wait and resend, drop a parameter, give up on the row, or stop.

Endpoints say the same thing in many words (field reports C2, C3, E8, E11). A test that is too
narrow fails every row, one that is too broad swallows errors that must surface; so each meaning
needs a fitting status *and* one of several phrasings. Every body here is hostile text: it is
clipped before anybody sees it, and it never decides anything but these meanings. Nothing is sent
or slept from this module.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from labelkit.domain.completion import FailureKind

MESSAGE_LIMIT = 500
"""Characters kept of what an endpoint says about an error."""

READ_LIMIT = 65_536
"""Bytes of an error body that are looked at."""

_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_OVERLOADED = frozenset({408, 429, 503, 529})

_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|context[ _]size|context window"
    r"|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context|prompt is too long|input is too long"
    r"|maximum model length|max_model_len|input token count|too many (?:input )?tokens"
    r"|max_new_tokens. must be|exceeds the maximum number of tokens|string_above_max_length",
)
_TOO_LARGE_FOR_THE_RATE = re.compile(r"request too large")
_FILTERED = re.compile(
    r"content[ _]filter|content management policy|content_policy|safety system"
    r"|data_inspection_failed|inappropriate content|input was flagged|responsible ?ai"
    r"|prohibited_content",
)
_NO_MONEY = re.compile(
    r"insufficient_quota|insufficient (?:balance|credits?|funds)|credit balance|arrearage"
)
_BILLING = re.compile(r"billing|payment required|spending limit|exceeded your current quota")
"""Not on a 429: ordinary rate limits advertise the billing page in the same words."""

_DEGENERATED = re.compile(
    r"tool_use_failed|failed_generation|json_validate_failed|failed to (?:call a function"
    r"|generate json|parse tool call)|could not parse tool call",
)
_MODERATED = re.compile(r"moderation")
_REFUSES = re.compile(
    r"un-?supported|n[o']t support|cannot support|unrecognized|unknown (?:name|parameter|field|arg)"
    r"|unexpected (?:keyword|field|param|arg)|extra[ _](?:inputs|forbidden|fields)|not permitted"
    r"|not allowed|deprecated|unavailable|is not enabled|are not enabled|not implemented"
    r"|does not accept|n't accept|only \S+ (?:is|are) (?:allowed|supported)|incompatible"
    r"|input should be '|\.type' must be|invalid schema|invalid json schema|invalid parameter",
)
_SYNONYMS: dict[str, str] = {
    "response_format": r"response[ _]format|json[ _]schema|json_object|json mode"
    r"|structured[ _]outputs?|guided_json|grammar",
    "tool_choice": r"tool_choice|forced tool|function_call\b",
    "tools": r"\btools\b|tool (?:use|calling)|function calling",
    "logprobs": r"logprobs?",
}
_ECHO_FORBIDDEN = re.compile(r"not allowed|not permitted|forbidden|unsupported|not support|remove")
_ECHO_REQUIRED = re.compile(r"missing|required|must|pass(?:ed)? back|expected")


@dataclass(frozen=True, slots=True)
class Fault:
    """The meaning of one bad reply.

    ``retry``: the same request may work later. ``limited``: but only a few times, because the
    model or a proxy is at fault rather than the load. ``overloaded``: send less. ``fatal``: no
    request to this endpoint can work. ``rejected``: the body field to be dropped or renamed;
    ``echo`` True or False: reasoning must or must not be sent back.
    """

    kind: FailureKind
    message: str
    status: int | None = None
    retry: bool = False
    limited: bool = False
    overloaded: bool = False
    fatal: bool = False
    rejected: str | None = None
    echo: bool | None = None


def classify(status: int, body: bytes, sent: dict[str, Any]) -> Fault:
    """Return what a reply with ``status`` and ``body`` to the request body ``sent`` means."""
    said = ErrorText.read(body[:READ_LIMIT])
    message = said.message or f"HTTP status {status} without an explanation"
    fault = _by_words(status, message, said.words)
    if fault is None and status in (400, 422):
        fault = _classify_bad_request(status, message, said, sent)
    return fault or _by_status(status, message, said.words)


def _by_words(status: int, message: str, words: str) -> Fault | None:
    """The meanings that endpoints give under any status."""
    overflow = _TOO_LARGE_FOR_THE_RATE if status == 429 else _OVERFLOW
    if status == 413 or overflow.search(words):
        return Fault(FailureKind.OVERFLOW, message, status)
    if status == 402 or _NO_MONEY.search(words):
        return Fault(FailureKind.REJECTED, message, status, fatal=True)
    if 400 <= status < 500 and status != 429:
        if _FILTERED.search(words):
            return Fault(FailureKind.FILTERED, message, status)
        if _BILLING.search(words):
            return Fault(FailureKind.REJECTED, message, status, fatal=True)
    return None


def _by_status(status: int, message: str, words: str) -> Fault:
    if status in _RETRIED:
        overloaded = status in _OVERLOADED
        return Fault(FailureKind.TRANSPORT, message, status, retry=True, overloaded=overloaded)
    if 300 <= status < 400:
        return Fault(FailureKind.REJECTED, "the address redirects elsewhere", status, fatal=True)
    fatal = status in (401, 404) or (status == 403 and not _MODERATED.search(words))
    return Fault(FailureKind.REJECTED, message, status, fatal=fatal)


def _classify_bad_request(
    status: int, message: str, said: ErrorText, sent: dict[str, Any]
) -> Fault:
    words = said.words
    if _DEGENERATED.search(words):
        return Fault(FailureKind.PROTOCOL, message, status, retry=True, limited=True)
    if "reasoning_content" in words or "reasoning content" in words:
        forbidden = _ECHO_FORBIDDEN.search(words) is not None
        if forbidden or _ECHO_REQUIRED.search(words):
            return Fault(FailureKind.REJECTED, message, status, echo=not forbidden)
    if _MODERATED.search(words):
        return Fault(FailureKind.REJECTED, message, status)
    return Fault(FailureKind.REJECTED, message, status, rejected=_rejected(said, sent))


def _rejected(said: ErrorText, sent: dict[str, Any]) -> str | None:
    """The top-level field of ``sent`` that the endpoint does not take, or None.

    ``messages`` and ``model`` cannot be dropped, and a field that was not sent cannot be meant.
    """
    if not _REFUSES.search(said.words):
        return None
    named = re.split(r"[.\[]", said.param)[0] if said.param else None
    droppable = [name for name in sent if name not in ("messages", "model")]
    if named is not None and named in sent:
        return named if named in droppable else None
    first: tuple[int, str] | None = None
    for name in droppable:
        pattern = _SYNONYMS.get(name) or rf"(?<![a-z_]){re.escape(name)}(?![a-z_])"
        found = re.search(pattern, said.words)
        if found and (first is None or found.start() < first[0]):
            first = (found.start(), name)
    return first[1] if first else None


@dataclass(frozen=True, slots=True)
class ErrorText:
    """The readable part of an error body: one line, clipped, and the same for matching."""

    message: str
    words: str
    param: str | None

    @classmethod
    def read(cls, body: bytes) -> ErrorText:
        """Read any vendor's error body; never raises."""
        text = body.decode("utf-8", errors="replace")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        error = _error_object(value)
        if not error:
            shown = clip(_without_markup(text))
            return cls(shown, text[: 8 * MESSAGE_LIMIT].lower(), None)
        message = _first_text(error, "message", "msg", "detail", "error", "error_description")
        param = error.get("param")
        tags = [str(error.get(key) or "") for key in ("code", "type", "status", "param")]
        words = " ".join([message[: 8 * MESSAGE_LIMIT], *tags]).lower()
        return cls(clip(message or text), words, param if isinstance(param, str) else None)


def _error_object(value: Any) -> dict[str, Any]:
    """The innermost object that describes the error, whatever wraps it."""
    if isinstance(value, list) and value:
        return _error_object(value[0])
    if not isinstance(value, dict):
        return {"message": value} if isinstance(value, str) else {}
    inner = value.get("error")
    if isinstance(inner, dict):
        return inner
    details = value.get("detail")
    if isinstance(details, list) and details and isinstance(details[0], dict):
        first = details[0]
        place = first.get("loc")
        path = [str(part) for part in place if part != "body"] if isinstance(place, list) else []
        message = f"{'.'.join(path)}: {first.get('msg', '')}"
        return {
            "message": message,
            "type": first.get("type"),
            "param": ".".join(path) or None,
        }
    return value


def _first_text(error: dict[str, Any], *keys: str) -> str:
    for key in keys:
        value = error.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def _without_markup(text: str) -> str:
    return re.sub(r"<[^<>]{0,1000}>", " ", text[:READ_LIMIT])


def clip(text: str) -> str:
    """One line of at most ``MESSAGE_LIMIT`` characters, without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:4096]).split())
    return line if len(line) <= MESSAGE_LIMIT else line[: MESSAGE_LIMIT - 1] + "…"
