"""The text-action traps: which call of a reply is executed, and what stood beside it."""

from __future__ import annotations

import json

from labelkit.rollout.react_text import read_step
from tests.rules.case_types import Case, Policy, Said


def react(case: Case, policy: Policy) -> Said:
    """The parser of the protocol ``react_text``, on the last reply of the trace."""
    replies = [m["content"] for m in case["trace"]["messages"] if m["role"] == "assistant"]
    step = read_step(replies[-1] or "")
    if step.fault:
        return Said("parse_error", step.flags, step.fault)
    if step.call is None:
        return Said("no_call", step.flags)
    arguments = json.loads(step.call.arguments)
    stated = ", ".join(f"{name}={json.dumps(value)}" for name, value in arguments.items())
    return Said(f"{step.call.name}({stated})", step.flags)
