"""Which tool calls really happened: executed, only attempted, or rejected by the runner.

Call ids cannot be trusted alone: real traces reuse one id for different calls, leave ids out, or
answer parallel calls in another order. Pairing therefore follows the order of the conversation
and takes ids and names as help. A call is *executed* only when a tool message answers it; text
that looks like a call never is, whatever the answer claims afterwards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

from labelkit.domain.message import Message, ToolCall
from labelkit.grounding.payloads import as_json
from labelkit.grounding.textcalls import calls_in_text

CallStatus = Literal["executed", "attempted", "rejected"]

_REFUSAL = re.compile(
    r"\b(?:unknown|unsupported|unrecogni[sz]ed|undefined|invalid|no such|non-?existent)\s+"
    r"(?:tool|function|api)\b"
    r"|\b(?:tool|function|api)\b.{0,80}?\b(?:not found|does not exist|doesn't exist|is not defined"
    r"|not (?:a )?(?:valid|known|recogni[sz]ed|registered)|is not available|is unavailable"
    r"|was not executed|not executed)",
    re.IGNORECASE | re.DOTALL,
)
_ERROR_WORDS = frozenset({"error", "failed", "failure", "fail"})
_LOOKED_AT = 400


class Call(NamedTuple):
    """One call as it went.

    ``arguments`` is the argument text, ``parsed`` its object (None when it is no JSON object).
    ``call_message`` and ``result_message`` index into the messages. ``in_text`` marks a call that
    stood in the text instead of the call field. ``is_error`` says that the result reports an
    error; it is False where there is no result.
    """

    name: str
    arguments: str
    parsed: dict[str, Any] | None
    status: CallStatus
    call_message: int
    result: str | None = None
    result_message: int | None = None
    is_error: bool = False
    in_text: bool = False


_Made = tuple[str, str, int, bool]
"""Name and arguments of a call, the message it stands in, and whether it stands in the text."""


class _Open(NamedTuple):
    place: int
    call: ToolCall


def parse_arguments(text: str) -> dict[str, Any] | None:
    """Return the arguments as an object; {} for missing ones; None when they are no object.

    A string that holds the JSON text of an object (double encoding) is read through once.
    """
    if not text or text.isspace() or text.strip() == "null":
        return {}
    value = _json(text)
    if isinstance(value, str):
        value = _json(value) if value else {}
    return value if isinstance(value, dict) else None


def pair_calls(
    messages: Sequence[Message], tools: Collection[str] | None = None
) -> tuple[Call, ...]:
    """Return every call of the conversation in the order it was made.

    Args:
        messages: the conversation.
        tools: names of the declared tools; only these are looked for as ``name(arg="x")`` in text.

    A result takes, in this order: the latest unanswered call with its id; without a known id the
    unanswered call of the latest calling turn with its name; and when the result carries no id at
    all, the first unanswered call of that turn. A result whose id belongs to no open call and
    whose name does not help answers nothing.
    """
    made: list[_Made] = []
    answers: dict[int, tuple[Message, int]] = {}
    open_turns: list[list[_Open]] = []
    for index, message in enumerate(messages):
        if message.role == "assistant":
            stated = message.tool_calls or _legacy_call(message)
            if stated:
                open_turns.append([_Open(len(made) + n, call) for n, call in enumerate(stated)])
                made.extend((call.name, call.arguments, index, False) for call in stated)
            elif message.content:
                found = calls_in_text(message.content, tools or ())
                made.extend((name, arguments, index, True) for name, arguments in found)
        elif message.role in {"tool", "function"}:
            opened = _take(open_turns, message)
            if opened is not None:
                answers[opened.place] = message, index
    return tuple([_call_of(one, answers.get(place)) for place, one in enumerate(made)])


def executed_calls(
    messages: Sequence[Message], tools: Collection[str] | None = None
) -> tuple[Call, ...]:
    """Return only the calls that a tool message answered and the runner did not refuse."""
    return tuple(c for c in pair_calls(messages, tools) if c.status == "executed")


def _legacy_call(message: Message) -> Sequence[ToolCall]:
    """The call of a message in the older form that holds one only."""
    legacy = message.extra.get("function_call")
    if isinstance(legacy, dict) and isinstance(legacy.get("name"), str):
        given = legacy.get("arguments")
        text = given if isinstance(given, str) else json.dumps(given or {})
        return (ToolCall(name=legacy["name"], arguments=text),)
    return ()


def _take(open_turns: list[list[_Open]], message: Message) -> _Open | None:
    """Remove and return the open call that this result answers."""
    given = message.tool_call_id
    if given is not None:
        for turn in reversed(open_turns):
            for place, opened in enumerate(turn):
                if opened.call.id == given:
                    return turn.pop(place)
    if not open_turns:
        return None
    turn = open_turns[-1]
    by_name = [p for p, o in enumerate(turn) if o.call.name == message.name]
    by_order = [p for p, o in enumerate(turn) if given is None or o.call.id is None]
    for place in (*by_name, *by_order):
        return turn.pop(place)
    return None


def _call_of(made: _Made, answer: tuple[Message, int] | None) -> Call:
    """The call as it went: attempted only, unless a result answers it."""
    name, arguments, place, in_text = made
    parsed = parse_arguments(arguments)
    if answer is None:
        return Call(name, arguments, parsed, "attempted", place, in_text=in_text)
    message, index = answer
    result = message.content or ""
    head = result[:_LOOKED_AT].lstrip()
    value = as_json(result) if head[:1] == "{" else None
    status: CallStatus = "rejected" if _refused(message, value, head) else "executed"
    failed = _reports_error(value, head)
    return Call(name, arguments, parsed, status, place, result, index, failed, in_text)


def _refused(message: Message, value: Any, head: str) -> bool:
    """Whether the runner says that it did not run the call."""
    if message.extra.get("executed") is False:
        return True
    if isinstance(value, dict):
        if "executed" in value:
            return value["executed"] is False
        stated = value.get("error") or (value.get("message") if len(value) <= 3 else None)
        return isinstance(stated, str) and bool(_REFUSAL.search(stated[:_LOOKED_AT]))
    starts = head[:10].lower()
    if starts.startswith(("error", "unknown", "no such", "tool", "function", "invalid")):
        return bool(_REFUSAL.search(head.split("\n", 1)[0]))
    return False


def _reports_error(value: Any, head: str) -> bool:
    if head[:5].lower() == "error":
        return True
    if not isinstance(value, dict):
        return False
    if value.get("error") or value.get("errors") or value.get("isError") is True:
        return True
    status = value.get("status")
    return isinstance(status, str) and status.lower() in _ERROR_WORDS


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
