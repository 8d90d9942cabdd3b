"""Did a call succeed, as its own result tells it? One reading for every rule that asks.

A result reports a failure as an exception, as an object that says it is not ok, or as error text.
Payloads *about* errors (an error rate, zero failures, a log) are no failures. Silent faults, such
as a wrong value under ``ok``, cannot be seen here and are never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeGuard

from labelkit.domain.message import Message
from labelkit.grounding.calls import Call
from labelkit.grounding.payloads import as_json

Fault = Literal["exception", "not_ok", "error_text"]

_LOOKED_AT = 2000
_DEPTH = 3
_FALSE = frozenset({"false", "no", "0", "failed", "failure"})
_NOTHING = frozenset({"", "0", "none", "null", "no", "false", "ok", "n/a", "no error", "success"})
_OK_KEYS = ("ok", "success", "succeeded", "successful", "is_success", "isSuccess")
_BAD_KEYS = ("isError", "is_error", "failed", "failure", "has_error", "hasError")
_STATUS_KEYS = ("status", "state", "outcome", "result")
_BAD_STATUS = frozenset(
    {"error", "errored", "failed", "failure", "fail", "exception", "timeout", "timed_out"}
)
_CODE_KEYS = ("status", "status_code", "statusCode", "http_status", "httpStatus")
_ERROR_KEYS = (
    "error", "errors", "exception", "err", "error_message", "errorMessage", "error_code",
    "errorCode", "error_type", "traceback",
)  # fmt: skip
_WRAPPERS = ("result", "data", "response", "output", "content", "body")
_TEXT_KEYS = ("message", "detail", "details", "msg", "text", "result", "output", "content")
_CLIENT_ERROR, _PAST_ERRORS = 400, 600

_TRACEBACK = re.compile(r"\bTraceback \(most recent call last\)")
_EXCEPTION = re.compile(
    r"\W{0,20}(?:raised |uncaught |unhandled )?(?:\w{1,60}\.){0,6}"
    r"[A-Z]\w{0,60}(?:Error|Exception|Timeout|Interrupt)\b\s*(?:[:(\[{'\"]|-\s|$)"
)
_ERROR_TEXT = re.compile(
    r"\W{0,20}(?:"
    r"(?:fatal |internal |tool |server |api |runtime |unexpected |system |network |execution )?"
    r"(?:error|err|failure|exception)\b(?:\s(?:code|message|type|in \w{1,60}|\w{0,12}\d))?"
    r"(?:\s*(?:[:!\[\](]|-\s|$)|\s*\d{3}\b"
    r"|\s(?:calling|executing|while|during|when|fetching|processing|in|at|occurred|invoking)\b)"
    r"|an? (?:\w+ ){0,3}(?:error|exception|failure) (?:occurred|was|has|happened)\b"
    r"|(?:the )?(?:\w+ ){0,3}(?:failed|errored)(?:\s*$|\s*[:!.]|\s(?:to|with|because|due|after)\b)"
    r"|(?:http\S{0,6}\s)?(?:status\s)?(?:code\s)?[45]\d\d\b\s*[:\-]?\s*(?:$|internal|bad|not\b"
    r"|forbidden|unauthori|service|gateway|too many|request|error|conflict|unprocessable|method"
    r"|time)"
    r"|(?:the )?(?:request|call|connection|operation|server|tool|service|query) (?:has )?"
    r"(?:timed out|time-?out|refused|reset|aborted|denied)\b"
    r"|time-?out\b(?:\s*[:!]|\s(?:after|while|error|exceeded|waiting)|\s*$)|timed out\b"
    r"|(?:access|permission) denied\b|unauthori[sz]ed\b|rate limit (?:exceeded|reached|hit)\b"
    r"|rate limited\b|too many requests\b|service (?:temporarily )?unavailable\b"
    r"|internal server error\b|bad gateway\b|gateway time"
    r"|invalid (?:argument|parameter|input|request|call|json|type|arguments|parameters)\b"
    r"|missing (?:\w+ )?(?:argument|parameter|field|arguments|parameters)\b"
    r"|(?:unknown|unexpected|unsupported) (?:tool|function|parameter|argument|keyword)\b"
    r"|not implemented\b|(?:could not|cannot|can't|unable to) (?:\w+ )?(?:connect|call|complete"
    r"|execute|reach|process|parse|load|fetch|retrieve|perform|access|resolve)\b"
    r")",
    re.IGNORECASE,
)


def fault_of(call: Call, messages: Sequence[Message]) -> Fault | None:
    """Return how a call's result reports a failure; None for a success and for no result at all.

    A refusal by the runner counts as ``not_ok``: the call had no effect.
    """
    if call.result is None or call.result_message is None:
        return None
    extra = messages[call.result_message].extra
    if call.status == "rejected" or extra.get("is_error") is True or extra.get("isError") is True:
        return "not_ok"
    return fault_in(call.result) or ("error_text" if call.is_error else None)


def fault_in(text: str) -> Fault | None:
    """Return how the text of a result reports a failure, or None."""
    value = as_json(text)
    return _of_text(text) if isinstance(value, str) else _of_value(value, _DEPTH)


def _of_text(text: str) -> Fault | None:
    head = text[:_LOOKED_AT].strip()
    if _TRACEBACK.search(head) or _EXCEPTION.match(head):
        return "exception"
    return "error_text" if _ERROR_TEXT.match(head) else None


def _of_value(value: Any, depth: int) -> Fault | None:
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, list) and value and depth:
        # A list of content parts, or of one object, is that object; a longer list is data.
        return _of_value(value[0], depth - 1) if len(value) == 1 else None
    if not isinstance(value, dict):
        return None
    if _says_not_ok(value):
        return "not_ok"
    if found := _says_error(value):
        return found
    return _inside(value, depth)


def _says_not_ok(value: dict[str, Any]) -> bool:
    if any(_is_no(value[key]) for key in _OK_KEYS if key in value):
        return True
    if any(value.get(key) is True for key in _BAD_KEYS):
        return True
    if any(str(value.get(key, "")).strip().lower() in _BAD_STATUS for key in _STATUS_KEYS):
        return True
    codes = (value.get(key) for key in _CODE_KEYS)
    return any(_is_count(code) and _CLIENT_ERROR <= code < _PAST_ERRORS for code in codes)


def _is_no(value: Any) -> bool:
    return value is False or (isinstance(value, str) and value.strip().lower() in _FALSE)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _says_error(value: dict[str, Any]) -> Fault | None:
    for key in _ERROR_KEYS:
        stated = value.get(key)
        if isinstance(stated, str) and stated.strip().lower() not in _NOTHING:
            return "exception" if key in {"exception", "traceback"} else "error_text"
        if stated is True or (isinstance(stated, dict | list) and stated):
            return "error_text"
        # A measured error is a fraction or a small count; a code is not.
        if _is_count(stated) and (key.lower().endswith("code") or abs(stated) >= _CLIENT_ERROR):
            return "error_text" if stated else None
    return None


def _inside(value: dict[str, Any], depth: int) -> Fault | None:
    """What an envelope holds: one level down, and a text that stands for the whole result."""
    if not depth:
        return None
    for key in _WRAPPERS:
        if isinstance(value.get(key), dict | list) and (found := _of_value(value[key], depth - 1)):
            return found
    if len(value) <= 2:
        for key in _TEXT_KEYS:
            if isinstance(value.get(key), str) and (found := _of_text(value[key])):
                return found
    return None
