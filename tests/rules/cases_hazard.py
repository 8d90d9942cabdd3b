"""The hazard-recovery traps as tasks and traces."""

from __future__ import annotations

from labelkit.domain.message import Message
from labelkit.domain.task import Reference, Task, Tool
from tests.rules.case_types import Case, Policy, Said
from tests.rules.hazard_rows import rule_on
from tests.rules.rows import trace_of_case


def task_of(case: Case) -> Task:
    """The task; an expected value that is no text is written as the source paper does."""
    raw = case["task"]
    expected = raw["expected_answer"]
    exactly = str(raw.get("match", "")).startswith("exact")
    return Task(
        set="cases",
        id=case["id"],
        messages=(Message(role="user", content=raw["user"]),),
        tools=tuple(Tool(name=name) for name in raw.get("tools", ())),
        reference=Reference(
            gold_answer=None if expected is None else str(expected),
            answer_match="exact_string" if exactly else None,
        ),
    )


def hazard(case: Case, policy: Policy) -> Said:
    """The hazard-recovery rule."""
    trace = trace_of_case(case)
    ruling = rule_on(trace, task_of(case), **policy)
    dead = not trace.state.labelled and ruling.abstained
    return Said("infra_error" if dead else ruling.label, ruling.flags, ruling.reason)
