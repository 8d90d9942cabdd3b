"""The scripted world of a task: how its tools behave, as data that anybody can read and check.

No task file carries code. A world is an ordered list of returns; each says for which calls it
speaks and what it sends back. Together they express fixed mock returns, failures that announce
themselves and failures that do not, tools taken away on purpose, and the five recoverable
hazards with the path that leads out of them. Playing a world is ``labelkit.rollout.environment``.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, field_validator

from labelkit.domain.frozen import Frozen

JsonType = Literal["string", "number", "integer", "boolean", "object", "array", "null"]
"""JSON's types; an integer is a number too."""

HazardKind = Literal[
    "specification_drift",
    "invocation_error",
    "execution_failure",
    "output_drift",
    "cross_source_conflict",
]
"""The recoverable hazards of tool worlds.

``specification_drift``: the tool no longer takes what its declaration says.
``invocation_error``: it takes the declared arguments only in a form it does not declare.
``execution_failure``: it fails although the call is right, for a while or for good.
``output_drift``: it answers in another shape, unit or name than declared.
``cross_source_conflict``: two sources disagree and one of them is to be believed.
"""


class ArgumentTest(Frozen):
    """What one argument of a call must be; every given part must hold.

    ``one_of``: equal to one of these. ``pattern``: a regular expression that the whole text
    matches. ``type``: its JSON type. ``missing``: it is left out (false: it is there). ``min`` and
    ``max`` bound a number, both inclusive. ``negate`` turns the outcome of all that around.
    """

    one_of: tuple[Any, ...] = ()
    pattern: str | None = Field(default=None, max_length=300)
    type: JsonType | None = None
    missing: bool | None = None
    min: float | None = None
    max: float | None = None
    negate: bool = False

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        """A pattern that cannot be compiled would stop a run at its first call."""
        try:
            re.compile(pattern or "")
        except re.error as fault:
            raise ValueError(f"no regular expression ({fault})") from None
        return pattern


class PriorCall(Frozen):
    """A call that must have been answered without an error before: how a write changes reads."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class When(Frozen):
    """For which calls of its tool a return speaks; every given part must hold.

    ``arguments`` are values that the call must give; with ``exactly`` it may give no others.
    Values are equal as JSON values; texts without case and outer white space, numbers by value.
    ``tests`` ask more of single arguments. ``readable`` false: the argument text is no JSON
    object. ``from_call`` and ``to_call`` count the calls of this tool in the episode, from 1,
    both inclusive. ``after``: calls that were answered without an error before.
    """

    arguments: dict[str, Any] = Field(default_factory=dict)
    exactly: bool = False
    tests: dict[str, ArgumentTest] = Field(default_factory=dict)
    readable: bool | None = None
    from_call: int = Field(default=1, ge=1)
    to_call: int | None = Field(default=None, ge=1)
    after: tuple[PriorCall, ...] = ()


class ToolReturn(Frozen):
    """Scripted tool behaviour: what a call gets back.

    ``tool`` None speaks for every tool. ``payload`` is raw text, so that invalid JSON can be
    played. ``status`` puts it into an envelope (``{"status": "ok", "data": ...}`` or
    ``{"status": "error", "error": ...}``); without it the model sees the payload itself. ``error``
    marks a payload without an envelope as an error that is signalled. ``fault`` names the
    disturbance that this return plays; clean tools (the oracle arm) leave such returns out.
    ``times``: it is given so often, then the next one that fits speaks. ``latency_s`` is told and
    never slept: it is recorded, and a world with ``timeout_s`` turns longer ones into timeouts.
    ``keep_chars`` cuts the payload, ``cut_mark`` follows the cut. ``chance``: share of the calls
    for which it speaks, drawn from the world's seed, the task and the count of the call.
    """

    payload: str
    tool: str | None = None
    when: When = When()
    status: Literal["ok", "error"] | None = None
    error: bool = False
    fault: str = ""
    times: int | None = Field(default=None, ge=1)
    latency_s: float = Field(default=0.0, ge=0)
    keep_chars: int | None = Field(default=None, ge=0)
    cut_mark: str = ""
    chance: float = Field(default=1.0, gt=0, le=1)


class ScriptedCall(Frozen):
    """A call the author makes to prove a path; ``gives`` are texts its result must hold."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    gives: tuple[str, ...] = ()


class Hazard(Frozen):
    """A disturbance that can be overcome.

    ``recovery`` are calls that lead a fresh world to what the gold answer needs; the check plays
    them. ``hint`` is what the hint arms tell the model: how to go on, never the answer.
    """

    kind: HazardKind
    recovery: tuple[ScriptedCall, ...]
    hint: str = ""


class Environment(Frozen):
    """The scripted world of a task. Data only.

    The first return that fits a call answers it: those of the called tool in their order, then
    those for every tool. ``masked`` are tools that were taken away on purpose: they are not
    offered and never answer. ``check_arguments`` refuses calls that break the tool's declared
    schema. ``timeout_s`` bounds ``latency_s``. ``seed`` draws every ``chance``; model and arm are
    no part of the draw, so that every arm meets the same faults.
    """

    returns: tuple[ToolReturn, ...] = ()
    masked: tuple[str, ...] = ()
    check_arguments: bool = False
    timeout_s: float | None = Field(default=None, gt=0)
    seed: int = 0
    hazard: Hazard | None = None
