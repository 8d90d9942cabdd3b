"""The world of one episode: answers a model's calls from the task's own script.

Data only: no task carries code, and nothing here reaches outside. Every episode gets a fresh
world, so that one rollout can never change what another one sees, and chance is drawn from the
task alone, so that every arm and every model meets the same faults.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry

from labelkit.digest import canonical_json, digest_text
from labelkit.domain.environment import PriorCall, ToolReturn, When
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Task, Tool
from labelkit.grounding.calls import pair_calls, parse_arguments
from labelkit.rollout.matching import argument_passes, arguments_match

_DRAW_DIGITS = 13
"""Hex digits of a digest that make one draw: 52 bits, as many as a float holds."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One call as the world took it.

    ``number`` counts the calls of this tool from 1. ``ok``: executed without an error.
    ``executed`` is False for a call that was refused. ``fault`` names the disturbance played.
    ``scripted``: a return of the script spoke, not the world's own error.
    """

    call: ToolCall
    message: Message
    number: int
    ok: bool
    executed: bool = True
    fault: str = ""
    scripted: bool = False


class Episode:
    """The tools of one task during one rollout. ``calls`` are those answered, in order.

    Args:
        task: whose script is played. Calls that its messages already hold count as made.
        repeat: number of the rollout; it only moves the draws of ``chance``.
        clean: leave out every return that plays a fault (the oracle arm).
    """

    def __init__(self, task: Task, *, repeat: int = 0, clean: bool = False) -> None:
        self._task = task
        self._world = task.environment
        self._repeat = repeat
        self._returns = [
            (place, scripted)
            for place, scripted in enumerate(self._world.returns)
            if not (clean and scripted.fault)
        ]
        self._tools = {tool.name: tool for tool in offered_tools(task)}
        self._number: Counter[str] = Counter()
        self._given: Counter[int] = Counter()
        self._done: list[tuple[str, dict[str, Any]]] = []
        self.calls: list[ToolCall] = []
        self.answered: list[Answered] = []
        for made in pair_calls(task.messages):
            if made.status == "executed" and not made.in_text:
                self._number[made.name] += 1
                if not made.is_error:
                    self._done.append((made.name, made.parsed or {}))

    @property
    def troubled(self) -> bool:
        """Whether a tool has reported an error so far; a silent fault or a refused call is none."""
        return any(not answered.ok and answered.executed for answered in self.answered)

    def answer(self, call: ToolCall) -> Message:
        """Return the tool message for one call; the call counts as executed.

        A call that the script has no answer for gets an error that names it, never an exception.
        """
        self._number[call.name] += 1
        self.calls.append(call)
        parsed = parse_arguments(call.arguments)
        if call.name in self._world.masked:
            return self._unknown(call)
        if fault := self._breaks_schema(call, parsed):
            return self._say(call, canonical_json({"error": fault}), ok=False)
        for place, scripted in self._candidates(call.name):
            if self._speaks(place, scripted, call.name, parsed):
                self._given[place] += 1
                return self._give(call, parsed or {}, scripted)
        if call.name not in self._tools:
            return self._unknown(call)
        return self._say(call, canonical_json({"error": "no data for these arguments"}), ok=False)

    def refuse(self, call: ToolCall, why: str) -> Message:
        """Return the message for a call that the protocol does not run."""
        return self._say(call, canonical_json({"error": why}), ok=False, executed=False)

    # -- which return speaks -------------------------------------------------------------------

    def _candidates(self, name: str) -> list[tuple[int, ToolReturn]]:
        """Returns of this tool in their order, then those for every tool."""
        own = [entry for entry in self._returns if entry[1].tool == name]
        return own + [entry for entry in self._returns if entry[1].tool is None]

    def _speaks(
        self, place: int, scripted: ToolReturn, name: str, parsed: dict[str, Any] | None
    ) -> bool:
        when, number = scripted.when, self._number[name]
        counted = when.from_call <= number <= (when.to_call or number)
        used_up = scripted.times is not None and self._given[place] >= scripted.times
        if used_up or not counted or not _arguments_fit(when, parsed):
            return False
        if not all(self._was_done(prior) for prior in when.after):
            return False
        return scripted.chance >= 1 or self._draw(place, number) < scripted.chance

    def _was_done(self, prior: PriorCall) -> bool:
        return any(
            name == prior.tool and arguments_match(prior.arguments, given)
            for name, given in self._done
        )

    def _draw(self, place: int, number: int) -> float:
        key = [self._world.seed, self._task.set, self._task.id, self._repeat, place, number]
        return float(int(digest_text(canonical_json(key))[:_DRAW_DIGITS], 16) / 16**_DRAW_DIGITS)

    def _breaks_schema(self, call: ToolCall, parsed: dict[str, Any] | None) -> str:
        """What a call does wrong against the declaration; "" when nothing or nobody checks."""
        tool = self._tools.get(call.name)
        if not self._world.check_arguments or tool is None:
            return ""
        return schema_fault(tool, parsed)

    # -- what is sent --------------------------------------------------------------------------

    def _give(self, call: ToolCall, given: dict[str, Any], scripted: ToolReturn) -> Message:
        limit = self._world.timeout_s
        if limit is not None and scripted.latency_s > limit:
            text = canonical_json({"status": "error", "error": f"timed out after {limit:g} s"})
            return self._say(
                call, text, ok=False, fault=scripted.fault, latency_s=limit, scripted=True
            )
        text = wire_payload(scripted)
        ok = not (scripted.error or scripted.status == "error" or is_error_text(text))
        if ok:
            self._done.append((call.name, given))
        fault, latency_s = scripted.fault, scripted.latency_s
        return self._say(call, text, ok=ok, fault=fault, latency_s=latency_s, scripted=True)

    def _unknown(self, call: ToolCall) -> Message:
        text = canonical_json({"error": f"unknown tool: {call.name}"})
        return self._say(call, text, ok=False, executed=False)

    def _say(
        self,
        call: ToolCall,
        text: str,
        *,
        ok: bool,
        executed: bool = True,
        fault: str = "",
        latency_s: float = 0.0,
        scripted: bool = False,
    ) -> Message:
        extra: dict[str, Any] = {} if executed else {"executed": False}
        if fault:
            extra["fault"] = fault
        if latency_s:
            extra["latency_s"] = latency_s
        message = Message(
            role="tool", name=call.name, tool_call_id=call.id, content=text, extra=extra
        )
        number = self._number[call.name]
        self.answered.append(Answered(call, message, number, ok, executed, fault, scripted))
        return message


def _arguments_fit(when: When, parsed: dict[str, Any] | None) -> bool:
    """Whether the arguments of a call are those a return speaks for; None: they are no object."""
    if when.readable is not None and when.readable is (parsed is None):
        return False
    given = parsed or {}
    return arguments_match(when.arguments, given, exactly=when.exactly) and all(
        argument_passes(test, name, given) for name, test in when.tests.items()
    )


def offered_tools(task: Task) -> tuple[Tool, ...]:
    """Return the tools that a model is offered: all but the masked ones."""
    masked = task.environment.masked
    return tuple(tool for tool in task.tools if tool.name not in masked) if masked else task.tools


def wire_payload(scripted: ToolReturn) -> str:
    """Return the text that the model sees: the payload, cut and put into its envelope."""
    text = scripted.payload
    if scripted.keep_chars is not None and len(text) > scripted.keep_chars:
        text = text[: scripted.keep_chars] + scripted.cut_mark
    if scripted.status is None:
        return text
    key = "data" if scripted.status == "ok" else "error"
    return canonical_json({"status": scripted.status, key: _value_or_text(text)})


def is_error_text(text: str) -> bool:
    """Whether a result reports an error by itself: as everybody else reads it."""
    call = ToolCall(name="tool", id="1")
    messages = (
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", tool_call_id="1", content=text),
    )
    return any(paired.is_error for paired in pair_calls(messages))


def schema_fault(tool: Tool, arguments: Mapping[str, Any] | None) -> str:
    """Return what arguments do wrong against a tool's declared schema; "" when nothing.

    A schema that is broken itself asks for nothing: one task must not stop a run, and the check
    of task sets names it.
    """
    if arguments is None:
        return "the arguments are no JSON object"
    validator = _validator(canonical_json(tool.parameters))
    try:
        fault = next(validator.iter_errors(dict(arguments)), None)
    except Exception:
        return ""
    if fault is None:
        return ""
    place = ".".join(str(part) for part in fault.absolute_path)
    return f"invalid arguments: {place + ': ' if place else ''}{fault.message[:200]}"


@lru_cache(maxsize=256)
def _validator(schema: str) -> Draft202012Validator:
    # An empty registry: a reference in a task's schema is never fetched from anywhere.
    return Draft202012Validator(json.loads(schema), registry=Registry())


def _value_or_text(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_keep_text)
    except (ValueError, RecursionError):
        return text


def _keep_text(name: str) -> Any:
    raise ValueError(name)
