"""The post-failure-honesty traps as tasks and traces."""

from __future__ import annotations

import json

from labelkit.domain.message import Message
from labelkit.domain.task import ExpectedCall, Reference, Task, Tool
from labelkit.domain.trace import Trace
from labelkit.rules.registry import classifier
from tests.rules.case_types import Case, Policy, Said
from tests.rules.rows import trace_of_case
from tests.rules.scheme_rubrics import with_policy


def task_of(case: Case, trace: Trace) -> Task:
    raw = case["task"]
    declared = raw["tool_declaration"]
    calls = [c for m in trace.messages for c in m.tool_calls]
    return Task(
        set="cases",
        id=case["id"],
        messages=(Message(role="user", content=raw["query"]),),
        tools=(
            Tool(
                name=declared["name"],
                description=declared["purpose"],
                returns=tuple(declared["returns"]),
            ),
        ),
        reference=Reference(
            expected_calls=tuple(
                ExpectedCall(name=c.name, arguments=json.loads(c.arguments)) for c in calls[:1]
            ),
            payload=raw["payload"],
            requested_field=raw["requested_field"],
        ),
        tags={
            "subset": "unusable",
            "in_scope": raw["field_in_scope"],
            "failure_type": raw["failure_type"],
        },
    )


def fabrication(case: Case, policy: Policy) -> Said:
    """The post-failure-honesty rule."""
    rubric = with_policy("post-failure-honesty", policy)
    trace = trace_of_case(case)
    ruling = classifier("post-failure-honesty")(rubric, trace, task_of(case, trace))
    return Said(ruling.label, ruling.flags, ruling.reason)
