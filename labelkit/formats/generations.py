"""From logged model calls to conversations: what a run's telemetry says was one exchange.

Telemetry records every request of an agent with the whole history so far. Counting each as a
rollout would count one conversation many times, so requests that continue each other are put
together: a request continues an earlier one when its input begins with the earlier input, or when
both belong to the same agent and the later one only says what is new. Requests of other agents
are conversations of their own. This module knows nothing about where the requests were logged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from labelkit.domain.message import Message
from labelkit.domain.trace import Usage


@dataclass
class Generation:
    """One request and its reply, or one tool's run (``tool`` set, ``output`` its result).

    ``unread`` says that the logged input was no message; ``input`` is empty then.
    """

    id: str
    start: str
    parent: str | None = None
    name: str = ""
    model: str | None = None
    input: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    usage: Usage | None = None
    finish_reason: str | None = None
    error: str | None = None
    tool: str | None = None
    unread: bool = False


@dataclass
class Conversation:
    """Requests that continue each other; ``messages`` is what the last one saw and said."""

    messages: tuple[Message, ...]
    first_input: tuple[Message, ...]
    parts: list[Generation] = field(default_factory=list)

    @property
    def last(self) -> Generation:
        """The last request."""
        return self.parts[-1]

    @property
    def usage(self) -> Usage | None:
        """Tokens of all requests; a count that one of them lacks is unknown."""
        counted = [part.usage for part in self.parts]
        if not counted or any(usage is None for usage in counted):
            return None
        sums = {name: _total(counted, name) for name in Usage.model_fields}
        return Usage(**sums) if any(value is not None for value in sums.values()) else None


def _total(counted: Iterable[Usage | None], name: str) -> int | None:
    values = [getattr(usage, name) for usage in counted]
    return None if None in values else sum(values)


def conversations(generations: Iterable[Generation]) -> list[Conversation]:
    """Return the conversations of one run, in the order they began."""
    found: list[Conversation] = []
    tools: list[Generation] = []
    for generation in sorted(generations, key=lambda g: (g.start, g.id)):
        if generation.tool is not None:
            tools.append(generation)
            continue
        known = next((c for c in reversed(found) if _extends(generation, c)), None)
        if known is not None:
            known.messages = (*generation.input, *generation.output)
            known.parts.append(generation)
            continue
        known = next((c for c in reversed(found) if _goes_on(generation, c)), None)
        if known is not None:
            _append(known, generation, tools)
            continue
        messages = (*generation.input, *generation.output)
        found.append(Conversation(messages, generation.input, [generation]))
    for conversation in found:
        _results(conversation, tools)
    return found


def _said(message: Message) -> tuple[object, ...]:
    return message.role, message.content or "", tuple(c.name for c in message.tool_calls)


def _extends(generation: Generation, known: Conversation) -> bool:
    """Whether the input begins with the earlier one and goes on from there."""
    before = known.last.input
    if not before or len(generation.input) <= len(before):
        return False
    begun = generation.input[: len(before)]
    return [_said(m) for m in begun] == [_said(m) for m in before]


def _goes_on(generation: Generation, known: Conversation) -> bool:
    """Whether the same agent speaks on without repeating what was said before."""
    if generation.parent is None or generation.parent != known.last.parent:
        return False
    return generation.unread or not generation.input


def _append(known: Conversation, generation: Generation, tools: list[Generation]) -> None:
    """Add results that came before this reply, then the reply."""
    _results(known, tools, before=generation.start)
    known.messages = (*known.messages, *generation.output)
    known.parts.append(generation)


def _results(known: Conversation, tools: list[Generation], before: str | None = None) -> None:
    """Add the results that tools logged apart for calls which the messages leave open."""
    open_calls = _open_calls(known.messages)
    for call_id, name in open_calls:
        match = next(
            (
                tool
                for tool in tools
                if tool.tool == name
                and tool.parent == known.last.parent
                and (before is None or tool.start <= before)
            ),
            None,
        )
        if match is not None:
            tools.remove(match)
            result = match.output[0].model_copy(update={"tool_call_id": call_id, "name": name})
            known.messages = (*known.messages, result)


def _open_calls(messages: Sequence[Message]) -> list[tuple[str | None, str]]:
    """Return (id, name) of the calls at the end that no tool message answers."""
    calls: list[tuple[str | None, str]] = []
    for message in messages:
        if message.role == "tool" and calls:
            own = next((c for c in calls if c[0] == message.tool_call_id), calls[0])
            calls.remove(own)
        calls += [(call.id, call.name) for call in message.tool_calls]
    return calls
