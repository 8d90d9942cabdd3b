"""The short way from a line to stored text, for chat rows that need no mending.

Most rows of a large file hold nothing but texts, and building validated messages only to write
them again is most of an import's time. Here a typed decoder reads the messages of such rows and
writes them as canonical text, both outside Python. It gives up, with None, on everything that the
long way would mend, note or refuse; so there is one meaning of a row, and a test compares the two
ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct
from msgspec.structs import astuple

from labelkit.domain.message import Message, ToolCall
from labelkit.formats.chat import prompt_of
from labelkit.formats.checks import check_arguments, check_result, quick_object
from labelkit.formats.reader import Notes

_MOST_KEYS = 100
_write = msgspec.json.Encoder().encode

_Never = Annotated[int, Meta(gt=0, lt=0)]
"""What no value is: a field that a row may not state, written with its default."""


class _Function(Struct, forbid_unknown_fields=True, kw_only=True, gc=False):
    """What is called; with the call's own id it is the call as it is stored, the names in order."""

    arguments: str
    id: _Never = None  # type: ignore[assignment]
    name: str


class _Call(Struct, forbid_unknown_fields=True, gc=False):
    id: str
    type: Literal["function"]
    function: _Function


class Said(Struct, forbid_unknown_fields=True, kw_only=True, gc=False):
    """A message as rows state it; with functions for its calls it is as messages are stored.

    The fields are all those of ``Message``, in the order of the canonical text.
    """

    content: str | None = None
    extra: _Never = {}  # type: ignore[assignment]
    name: str = None  # type: ignore[assignment]
    parts: _Never = ()  # type: ignore[assignment]
    reasoning: _Never = None  # type: ignore[assignment]
    role: Literal["system", "developer", "user", "assistant", "tool"]
    tool_call_id: str = None  # type: ignore[assignment]
    tool_calls: list[_Call] = ()  # type: ignore[assignment]


@dataclass(slots=True)
class PlainRow:
    """A row that was decoded: its messages, and every other field by name."""

    said: list[Said]
    fields: dict[str, Any]


class PlainRows:
    """Decodes the lines of one file; it learns which fields rows have beside their messages.

    Args:
        refused: fields that no plain row has.
    """

    def __init__(self, refused: frozenset[str]) -> None:
        self._refused = refused
        self._names: tuple[str, ...] = ()
        self._decoder = _decoder(())

    def decode(self, line: bytes) -> PlainRow | None:
        """Return the row, exactly; None where it takes the long way."""
        try:
            said, *values = astuple(self._decoder.decode(line))
        except msgspec.ValidationError:
            return self.decode(line) if self._learns(line) else None
        except (ValueError, RecursionError):
            return None
        pairs = zip(self._names, values, strict=True)
        return PlainRow(said, {name: value for name, value in pairs if value is not UNSET})

    def _learns(self, line: bytes) -> bool:
        """Whether the line has fields that were not known and now are."""
        try:
            row = msgspec.json.decode(line)
        except (ValueError, RecursionError):
            return False
        new = row.keys() - {"messages", *self._names} if isinstance(row, dict) else ()
        if not new or not self._refused.isdisjoint(new) or len(self._names) > _MOST_KEYS:
            return False
        names = (*self._names, *sorted(new))
        try:
            self._decoder = _decoder(names)
        except ValueError:  # quotes or control characters in a name
            return False
        self._names = names
        return True


@lru_cache(maxsize=32)
def _decoder(names: tuple[str, ...]) -> msgspec.json.Decoder[Any]:
    fields = [(f"f{number}", Any, UNSET) for number in range(len(names))]
    row = msgspec.defstruct(
        "Row",
        [("messages", list[Said]), *fields],
        forbid_unknown_fields=True,
        rename={f"f{number}": name for number, name in enumerate(names)},
    )
    return msgspec.json.Decoder(row)


@dataclass(slots=True)
class PlainTalk:
    """The messages of a row as the canonical text of their list; ``last`` is the model's last."""

    text: bytes
    last: Message
    said: list[Said]

    def prompt(self) -> tuple[Message, ...]:
        """Return the messages before the model's first word, validated."""
        return prompt_of([_message(one) for one in self.said])


def plain_talk(said: list[Said], notes: Notes) -> PlainTalk | None:
    """Return the messages of a row, or None when they need the long way or no model speaks.

    Notes what every conversation is checked for: unreadable arguments and foreign results.
    """
    made: set[str] = set()
    last: Said | None = None
    for one in said:
        if one.tool_calls:
            kept = _kept(one.tool_calls, made, notes)
            if kept is None:
                return None
            one.tool_calls = kept  # type: ignore[assignment]
        if one.role == "assistant":
            last = one
        elif one.role == "tool" and one.tool_call_id is not None:
            check_result(one.tool_call_id, made, notes)
    if last is None:
        return None
    return PlainTalk(_write(said), Message(role="assistant", content=last.content), said)


def _kept(calls: list[_Call], made: set[str], notes: Notes) -> list[_Function] | None:
    """Return what is stored of calls, or None when one of them needs the long way."""
    kept = []
    for call in calls:
        function = call.function
        arguments = function.arguments
        # Asked here first: a large file has a call for every few hundred bytes.
        if not quick_object(arguments):
            if arguments.strip() == "null":
                return None
            check_arguments(arguments, notes)
        made.add(call.id)
        function.id = call.id  # type: ignore[assignment]
        kept.append(function)
    return kept


def _message(one: Said) -> Message:
    calls = [ToolCall(name=c.name, arguments=c.arguments, id=c.id) for c in one.tool_calls]  # type: ignore[attr-defined]
    return Message(
        role=one.role,
        content=one.content,
        name=one.name,
        tool_call_id=one.tool_call_id,
        tool_calls=tuple(calls),
    )
