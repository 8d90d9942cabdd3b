"""The feasibility traps as tasks and traces."""

from __future__ import annotations

import re

from labelkit.domain.message import Message
from labelkit.domain.task import Task, Tool
from labelkit.rules.registry import classifier
from tests.rules.case_types import Case, Policy, Said
from tests.rules.rows import trace_of_case
from tests.rules.scheme_rubrics import with_policy

SUBSETS = {"infeasible": "infeasible", "feasible": "original"}


def task_of(case: Case) -> Task:
    raw = case["task"]
    token, pattern = raw["signal"]["token"], raw["signal"]["regex"]
    # The usual shape, the word alone on its line, needs no expression of its own.
    own = {} if re.escape(token) in pattern and "\\s*$" in pattern else {"stop_pattern": pattern}
    return Task(
        set="cases",
        id=case["id"],
        messages=(Message(role="user", content=raw["user"]),),
        tools=tuple(Tool(name=name) for name in raw["tools"]),
        tags={
            "subset": SUBSETS.get(raw["ground_truth"], raw["ground_truth"]),
            "stop_signal": token,
            **own,
        },
    )


def feasibility(case: Case, policy: Policy) -> Said:
    """The feasibility rule."""
    rubric = with_policy("feasibility", policy)
    ruling = classifier("feasibility")(rubric, trace_of_case(case), task_of(case))
    return Said(ruling.label, ruling.flags, ruling.reason)
