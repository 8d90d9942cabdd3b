"""A benchmark problem: what the model sees, how its tools behave, and what the author knows."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from labelkit.digest import digest
from labelkit.domain.environment import Environment, ToolReturn
from labelkit.domain.frozen import Frozen
from labelkit.domain.message import Message

__all__ = [
    "AnswerKey",
    "Environment",
    "ExpectedCall",
    "KeyValue",
    "Reference",
    "Scenario",
    "Tag",
    "Task",
    "Tool",
    "ToolReturn",
    "ValueType",
]

Tag = str | bool | int | float
"""A tag's value. Well-known tags: ``subset``, ``domain``, ``failure_type``, ``in_scope``."""

ValueType = Literal[
    "number",
    "datetime",
    "duration",
    "boolean",
    "enum",
    "citation",
    "identifier",
    "text",
    "set",
    "list",
    "null",
    "error",
]


class Tool(Frozen):
    """A declared tool. ``returns`` is its declared capability: the fields it says it delivers.

    ``key_parameters`` are those that tell two calls of it apart for benchmarks whose checker looks
    at nothing else; ``ad_hoc`` marks a tool that breaks the format of its siblings on purpose.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    returns: tuple[str, ...] = ()
    effect: Literal["read", "write"] = "read"
    key_parameters: tuple[str, ...] = ()
    ad_hoc: bool = False


class ExpectedCall(Frozen):
    """A call that a correct rollout makes.

    ``supporting`` calls help but may be left out. ``turn`` is the user turn it belongs to (from
    0; None: any). ``after`` lists the expected calls (by place, from 0) that must come before it.
    """

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    supporting: bool = False
    turn: int | None = Field(default=None, ge=0)
    after: tuple[int, ...] = ()


class KeyValue(Frozen):
    """One value that a correct answer states.

    ``path`` is its place in the payload (``$.items[0].price``), ``entity`` the thing it belongs
    to, ``ask_tz`` the zone (IANA name) in which a time was asked for. ``tolerance`` is
    ``round_half_at_shown_digits`` or an absolute number.
    """

    type: ValueType
    value: Any = None
    path: str | None = None
    unit: str | None = None
    entity: str | None = None
    tolerance: str | float | None = None
    ask_tz: str | None = None


class AnswerKey(Frozen):
    """What a correct answer contains. ``traps`` are the priors a model may recall instead."""

    mode: Literal["all", "any"] = "all"
    values: tuple[KeyValue, ...] = ()
    traps: tuple[str, ...] = ()


class Scenario(Frozen):
    """What an expert does in a situation, and the mistakes that are seen in it.

    Shown to judges and people who rate the handling; ``ideal`` is prose, one mistake a line.
    """

    ideal: str
    mistakes: tuple[str, ...] = ()


class Reference(Frozen):
    """What the benchmark author knows and the model does not.

    ``payload`` is what the expected call returns, as JSON or (when it is no JSON) as raw text.
    ``must_contain`` / ``match_mode`` is the string key of task sets that have no typed one.
    ``answer_match`` says how ``gold_answer`` is compared where the task's author wants one way
    only. ``no_calls``: no call that changes the world belongs here, and ``expected_calls`` is
    empty for that reason. ``first_turn``: calls of earlier user turns were played, not made.
    """

    expected_calls: tuple[ExpectedCall, ...] = ()
    payload: Any = None
    answer_key: AnswerKey | None = None
    must_contain: tuple[str, ...] = ()
    match_mode: Literal["all", "any"] = "all"
    requested_field: str | None = None
    gold_answer: str | None = None
    answer_match: Literal["typed", "exact_string"] | None = None
    no_calls: bool = False
    first_turn: int = Field(default=0, ge=0)
    scenario: Scenario | None = None
    note: str = ""


class Task(Frozen):
    """One benchmark problem, identified by (set, id) and versioned by its digest.

    ``later_turns`` are what the user says after the model has answered, one message at a time;
    only protocols with a conversation (``agent``, ``react_text``) play them.
    """

    set: str
    id: str
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    environment: Environment = Environment()
    reference: Reference = Reference()
    tags: dict[str, Tag] = Field(default_factory=dict)
    later_turns: tuple[Message, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Content address over every field."""
        return digest(self.beyond_defaults())
