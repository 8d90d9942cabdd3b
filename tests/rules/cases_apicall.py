"""The API-call traps as tasks and traces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from labelkit.domain.message import Message
from labelkit.domain.task import ExpectedCall, Reference, Task, Tool
from tests.rules.apicall_rows import rule_on
from tests.rules.case_types import Case, Policy, Said
from tests.rules.rows import trace_of_case

FREE = "order_independent"


def tool_of(name: str, raw: Mapping[str, Any]) -> Tool:
    """A declared function; where it is said to be free of order, so are its lists."""
    said = raw.get(FREE)
    properties = {}
    for parameter, schema in raw.get("params", {}).items():
        typed = {key: value for key, value in schema.items() if key != "required"}
        named = isinstance(said, list) and parameter in said
        if typed.get("type") == "array" and (said is True or named):
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
    gold = raw["gold_calls"]
    calls = tuple(
        ExpectedCall(
            name=call["name"],
            arguments=call["arguments"],
            after=tuple(call.get("after", [k for k in range(i) if _bound(raw, gold[k], call)])),
            supporting=bool(call.get("supporting", False)),
        )
        for i, call in enumerate(gold)
    )
    return Task(
        set="cases",
        id=case["id"],
        messages=(Message(role="user", content=raw["user"]),),
        tools=tuple(tool_of(name, schema) for name, schema in raw["schemas"].items()),
        reference=Reference(expected_calls=calls, no_calls=not calls),
    )


def _bound(raw: Mapping[str, Any], first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two listed calls keep their order, of which a case says nothing but who is free.

    Writes to one and the same thing leave it as the last of them does, so their order is part of
    what was asked for; writes to different things are independent.
    """
    schemas = [raw["schemas"].get(call["name"], {}) for call in (first, second)]
    said = [schema.get(FREE) for schema in schemas]
    if True in said or any(schema.get("effect") != "write" for schema in schemas):
        return False
    if said == [False, False]:
        return True
    things = [
        {json.dumps(value) for value in call["arguments"].values() if isinstance(value, str | list)}
        for call in (first, second)
    ]
    return bool(things[0] & things[1])


def apicall(case: Case, policy: Policy) -> Said:
    """The rule of the error-handling scheme."""
    trace = trace_of_case(case)
    ruling = rule_on(trace, task_of(case), **policy)
    dead = not trace.state.labelled and ruling.abstained
    return Said("infra_error" if dead else ruling.label, ruling.flags, ruling.reason)
