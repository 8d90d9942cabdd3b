"""The rule of the error-handling scheme: did the run make the calls that the author lists?

A unit (a user turn, or the whole run where the author names no turns) passes when its calls match
the wanted ones; the row is a ``match`` when every unit passes. How calls match is a policy:
``strict`` (the default) or ``paper_code``. How well an error was handled is no question for a
rule: judges and people answer it on a scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace
from labelkit.errors import InputError
from labelkit.grounding.visible import visible_answer
from labelkit.rules.error_handling_calls import Run, Unit, read_run
from labelkit.rules.error_handling_paper import judge_as_released
from labelkit.rules.error_handling_strict import Finding, judge_strictly
from labelkit.rules.ruling import Ruling

POLICIES: dict[str, Callable[[Unit], Finding]] = {
    "strict": judge_strictly,
    "paper_code": judge_as_released,
}


def check(rubric: Rubric) -> None:
    """Refuse options that the rule does not know.

    Raises:
        InputError: an unknown option or policy.
    """
    for name in rubric.rule_policy.keys() - {"policy"}:
        raise InputError(
            f"rule_policy.{name} of rubric {rubric.name} is no option of the rule error_handling;"
            " it knows `policy` only"
        )
    _judge_of(rubric)


def classify(rubric: Rubric, trace: Trace, task: Task | None) -> Ruling:
    """Label one trace ``match`` or ``mismatch``, or abstain.

    Policy read from ``rubric.rule_policy``: ``policy``, ``strict`` or ``paper_code``. Counted
    facts among the flags: ``calls`` (executed), ``failed_calls``, ``extra_read_calls``,
    ``extra_writes``, and where the author names turns ``turns`` and ``turns_passed``.
    """
    if not trace.state.labelled or trace.error is not None:
        return Ruling(None, "infra_error")
    if task is None:
        return Ruling(None, "no_task")
    reference = task.reference
    if not reference.expected_calls and not reference.no_calls:
        return Ruling(None, "no_gold_calls")
    run = read_run(trace, task)
    findings = [_judge_of(rubric)(unit) for unit in run.units]
    flags = (*_facts(trace, run), *_told(run, findings))
    problems = tuple(dict.fromkeys(p for found in findings for p in found.problems))
    if problems:
        return Ruling("mismatch", problems[0], tuple(dict.fromkeys((*flags, *problems))))
    unsettled = next((found.open for found in findings if found.open), None)
    if unsettled:
        return Ruling(None, unsettled, flags)
    return Ruling("match", "calls_match", flags)


def _judge_of(rubric: Rubric) -> Callable[[Unit], Finding]:
    name = str(rubric.rule_policy.get("policy", "strict"))
    if name not in POLICIES:
        raise InputError(
            f"rule_policy.policy is {name!r}; the rule error_handling knows: {', '.join(POLICIES)}"
        )
    return POLICIES[name]


def _facts(trace: Trace, run: Run) -> tuple[str, ...]:
    """Counts and facts that hold under any policy."""
    made = run.made
    flags = [f"calls={sum(m.executed for m in made)}"]
    flags.append(f"failed_calls={sum(m.executed and not m.succeeded for m in made)}")
    if any(m.effect == "write" and m.executed and not m.succeeded for m in made):
        flags.append("failed_write")
    if any(m.effect == "read" and m.executed and not m.succeeded for m in made):
        flags.append("failed_read")
    if any(m.call.status == "attempted" for m in made):
        flags.append("unexecuted_call")
    if any(m.call.status == "rejected" for m in made):
        flags.append("rejected_call")
    if not visible_answer(trace.messages):
        flags.append("no_text")
    if trace.state is RowState.TRUNCATED or trace.finish_reason == "length":
        flags.append("truncated")
    return tuple(flags)


def _told(run: Run, findings: Sequence[Finding]) -> tuple[str, ...]:
    """What the comparison counted, over all units."""
    flags = [
        f"extra_read_calls={sum(found.extra_reads for found in findings)}",
        f"extra_writes={sum(found.extra_writes for found in findings)}",
    ]
    if all(unit.turn is not None for unit in run.units):
        passed = sum(not found.problems and found.open is None for found in findings)
        flags += [f"turns={len(findings)}", f"turns_passed={passed}"]
    return (*flags, *dict.fromkeys(flag for found in findings for flag in found.flags))
