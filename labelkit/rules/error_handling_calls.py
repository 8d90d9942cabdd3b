"""The calls of a run beside the author's: which were made, in which turn, and which counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from labelkit.domain.message import Message
from labelkit.domain.task import ExpectedCall, Task, Tool
from labelkit.domain.trace import Trace
from labelkit.grounding.calls import Call, pair_calls
from labelkit.rules.call_results import fault_of

Effect = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Made:
    """One call the model stated.

    ``place`` is its position among all stated calls, ``turn`` the user turn (from 0). ``effect``
    is None for a tool nobody declared. ``executed`` calls were answered; ``succeeded`` ones were
    answered without an error.
    """

    place: int
    turn: int
    call: Call
    effect: Effect | None
    executed: bool
    succeeded: bool

    @property
    def name(self) -> str:
        """Name of the called tool."""
        return self.call.name

    @property
    def changed_the_world(self) -> bool:
        """Whether it was a write that succeeded."""
        return self.effect == "write" and self.succeeded


@dataclass(frozen=True, slots=True)
class Wanted:
    """One call the author lists; ``place`` is its place in that list."""

    place: int
    call: ExpectedCall
    tool: Tool | None

    @property
    def writes(self) -> bool:
        """Whether it must have succeeded; an undeclared tool is held to that too."""
        return self.tool is None or self.tool.effect == "write"


@dataclass(frozen=True, slots=True)
class Unit:
    """What is evaluated together: one user turn, or the whole run. ``turn`` None: the whole run.

    ``unknown`` are names that were called and that no tool has.
    """

    turn: int | None
    wanted: tuple[Wanted, ...]
    made: tuple[Made, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """A trace and its task, read once: every call, and the units they are compared in."""

    made: tuple[Made, ...]
    units: tuple[Unit, ...]


def read_run(trace: Trace, task: Task) -> Run:
    """Pair the calls of a trace, put them into their turns and leave out what was only played."""
    tools = {tool.name: tool for tool in task.tools}
    first = task.reference.first_turn
    wanted = tuple(
        Wanted(place, call, tools.get(call.name))
        for place, call in enumerate(task.reference.expected_calls)
        if call.turn is None or call.turn >= first
    )
    made = tuple(m for m in _made(trace, tools) if m.turn >= first)
    known = set(tools) | {w.call.name for w in wanted} if tools else None
    return Run(made, tuple(_units(trace.messages, first, wanted, made, known)))


def _made(trace: Trace, tools: Mapping[str, Tool]) -> Iterator[Made]:
    turns = _turns(trace.messages)
    stated = (c for c in pair_calls(trace.messages, set(tools)) if not c.in_text)
    for place, call in enumerate(stated):
        tool = tools.get(call.name)
        executed = call.status == "executed"
        yield Made(
            place=place,
            turn=turns[call.call_message],
            call=call,
            effect=tool.effect if tool is not None else None,
            executed=executed,
            succeeded=executed and fault_of(call, trace.messages) is None,
        )


def _turns(messages: Sequence[Message]) -> list[int]:
    """The user turn that each message belongs to, from 0."""
    turns, turn = [], -1
    for message in messages:
        turn += message.role == "user"
        turns.append(max(turn, 0))
    return turns


def _units(
    messages: Sequence[Message],
    first: int,
    wanted: Sequence[Wanted],
    made: Sequence[Made],
    known: set[str] | None,
) -> Iterator[Unit]:
    """One unit per user turn where every wanted call names its turn, else one for the whole run."""
    if not wanted or any(w.call.turn is None for w in wanted):
        yield Unit(None, tuple(wanted), tuple(made), _unknown(made, known))
        return
    last = max([*_turns(messages), *(w.call.turn or 0 for w in wanted)])
    for turn in range(first, last + 1):
        mine = tuple(m for m in made if m.turn == turn)
        asked = tuple(w for w in wanted if w.call.turn == turn)
        yield Unit(turn, asked, mine, _unknown(mine, known))


def _unknown(made: Sequence[Made], known: set[str] | None) -> tuple[str, ...]:
    if known is None:
        return ()
    return tuple(dict.fromkeys(m.name for m in made if m.name not in known))
