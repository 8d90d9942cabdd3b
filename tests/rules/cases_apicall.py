"""The API-call traps as tasks and traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labelkit.domain.message import Message
from labelkit.domain.task import ExpectedCall, Reference, Task, Tool
from tests.rules.apicall_rows import rule_on
from tests.rules.case_types import Case, Policy, Said
from tests.rules.rows import trace_of_case

FREE = "order_independent"


def tool_of(name: str, raw: Mapping[str, Any]) -> Tool:
    """A declared function; one that is free of order takes its lists in any order too."""
    properties = {}
    for parameter, schema in raw.get("params", {}).items():
        typed = {key: value for key, value in schema.items() if key != "required"}
        if raw.get(FREE) is True and typed.get("type") == "array":
            typed.setdefault(FREE, True)
        properties[parameter] = typed
    required = [p for p, schema in raw.get("params", {}).items() if schema.get("required")]
    return Tool(
        name=name,
        effect=raw.get("effect", "read"),
        parameters={"type": "object", "properties": properties, "required": required},
        key_parameters=tuple(raw.get("key_params", raw.get("key_parameters", ()))),
        ad_hoc=bool(raw.get("ad_hoc", False)),
    )


def task_of(case: Case) -> Task:
    raw = case["task"]
    bound = [i for i, c in enumerate(raw["gold_calls"]) if _bound(raw["schemas"], c["name"])]
    calls = tuple(
        ExpectedCall(
            name=call["name"],
            arguments=call["arguments"],
            after=tuple(call.get("after", [b for b in bound if b < i and i in bound])),
            supporting=bool(call.get("supporting", False)),
        )
        for i, call in enumerate(raw["gold_calls"])
    )
    return Task(
        set="cases",
        id=case["id"],
        messages=(Message(role="user", content=raw["user"]),),
        tools=tuple(tool_of(name, schema) for name, schema in raw["schemas"].items()),
        reference=Reference(expected_calls=calls, no_calls=not calls),
    )


def _bound(schemas: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    """Whether a function's calls keep the author's order: only where that is said."""
    return schemas.get(name, {}).get(FREE) is False


def apicall(case: Case, policy: Policy) -> Said:
    """The rule of the error-handling scheme."""
    trace = trace_of_case(case)
    ruling = rule_on(trace, task_of(case), **policy)
    dead = not trace.state.labelled and ruling.abstained
    return Said("infra_error" if dead else ruling.label, ruling.flags, ruling.reason)
