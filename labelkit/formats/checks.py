"""What every conversation is checked for, whatever format it came in.

A reader knows how its format writes a call; whether the call can be read, whether a result has a
call, and whether a model said anything at all is the same question everywhere, so it is asked
here, once. Nothing is changed: what is unusual is said and kept.
"""

from __future__ import annotations

from collections.abc import Container

import orjson

from labelkit.domain.trace import Trace
from labelkit.formats.nesting import too_deep
from labelkit.formats.reader import Notes
from labelkit.grounding.calls import parse_arguments

NO_TURN = "the conversation has no assistant turn: no model was rolled out, so it is no trace"
TOO_DEEP = "the record is nested too deeply"
BAD_ARGUMENTS = "the arguments of a call are no JSON object; the text was kept as it is"
FOREIGN_RESULT = "a tool result names a call that was not made before it; it was kept as it is"


def no_rollout(trace: Trace) -> bool:
    """Whether no model had its turn, though no error says why."""
    return trace.error is None and all(m.role != "assistant" for m in trace.messages)


def examine(trace: Trace, notes: Notes) -> str | None:
    """Note what is unusual about a trace, or return why it cannot be one."""
    if too_deep(trace):
        return TOO_DEEP
    if no_rollout(trace):
        return NO_TURN
    check_calls(trace, notes)
    return None


def check_calls(trace: Trace, notes: Notes) -> None:
    """Note calls whose arguments are unreadable and results that belong to no earlier call."""
    made: set[str] = set()
    for message in trace.messages:
        for call in message.tool_calls:
            check_arguments(call.arguments, notes)
            if call.id is not None:
                made.add(call.id)
        if message.role == "tool" and message.tool_call_id is not None:
            check_result(message.tool_call_id, made, notes)


def check_result(call_id: str, made: Container[str], notes: Notes) -> None:
    """Note a result whose call is not among those made so far."""
    if call_id not in made:
        notes.odd(FOREIGN_RESULT)


def check_arguments(text: str, notes: Notes) -> None:
    """Note an argument text that nobody who looks at calls later will read as an object."""
    if not _is_json_object(text):
        notes.odd(BAD_ARGUMENTS)


def _is_json_object(text: str) -> bool:
    # The quick reader says nothing about lone surrogates, missing or doubly encoded arguments.
    return quick_object(text) or parse_arguments(text) is not None


def quick_object(text: str) -> bool:
    """Whether a text is a JSON object for the strict, quick reader; no says nothing."""
    try:
        return type(orjson.loads(text)) is dict
    except ValueError:
        return False
