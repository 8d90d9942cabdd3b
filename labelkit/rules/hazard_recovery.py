"""The rule of the hazard-recovery scheme: did the run reach the expected answer, and if not, why?

The scored answer is the model's own text, never a value that a harness picked from tool results.
A task without an expected answer is ``unscored``: it is in no denominator and never a success.
Beside the label the rule counts calls, calls after the first error, and answers how a failed run
failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Tag, Task
from labelkit.domain.trace import RowState, Trace
from labelkit.errors import InputError
from labelkit.grounding.calls import Call, pair_calls
from labelkit.grounding.match import Verdict, match_value, read_answer
from labelkit.grounding.visible import visible_answer
from labelkit.rules.call_results import fault_of
from labelkit.rules.hazard_recovery_failures import (
    CER_DEFINITION,
    MODES,
    NO_FAILURE,
    FailureFacts,
    failure_mode,
    thresholds_of,
)
from labelkit.rules.hazard_recovery_match import exact, typed
from labelkit.rules.hazard_recovery_values import apologises, right_surface
from labelkit.rules.ruling import Answer, Answerable, Ruling

POLICIES = ("typed", "exact_string")
_CLOSING = frozenset({"finish", "final_answer", "submit", "submit_answer"})
_CLOSING_KEYS = ("answer", "final_answer", "value", "result", "output")
_HARNESS_ANSWER = "harness_answer"
_OPTIONS = frozenset({"policy", "expansion_over", "abandoned_at_most", "cer"})


MODE = "failure_mode"


def answers(_rubric: Rubric) -> Answerable:
    """Further questions that the rule answers, under every policy."""
    return {MODE: (NO_FAILURE, *MODES)}


def check(rubric: Rubric) -> None:
    """Refuse options that the rule does not know.

    Raises:
        InputError: an unknown option or value.
    """
    policy = rubric.rule_policy
    for name in policy.keys() - _OPTIONS:
        raise InputError(
            f"rule_policy.{name} of rubric {rubric.name} is no option of the rule hazard_recovery;"
            f" known are: {', '.join(sorted(_OPTIONS))}"
        )
    _matching(policy)
    thresholds_of(policy)
    if policy.get("cer", CER_DEFINITION) != CER_DEFINITION:
        raise InputError(
            f"rule_policy.cer is {policy['cer']!r}; the rule counts {CER_DEFINITION!r} only"
        )


def classify(  # noqa: PLR0911 (an ordered decision list)
    rubric: Rubric, trace: Trace, task: Task | None
) -> Ruling:
    """Label one trace ``correct``, ``incorrect`` or ``unscored``, or abstain.

    Policies read from ``rubric.rule_policy``: ``policy`` ``typed`` compares values unless the
    task itself asks for exact text; ``exact_string`` is string equality for every task, as the
    paper scores. ``expansion_over`` and ``abandoned_at_most`` bound failure modes; ``cer`` keeps
    the definition of the call expansion ratio with the identity of the rule.
    """
    if not trace.state.labelled or trace.error is not None:
        return Ruling(None, "infra_error")
    if task is None:
        return Ruling(None, "no_task")
    calls = pair_calls(trace.messages, {tool.name for tool in task.tools})
    text = final_text(trace, task, calls)
    facts = _facts(trace, task, calls, text)
    flags = [*facts.flags(), *_row_flags(trace, task, calls, text)]
    if not _is_scored(task):
        return _ruling("unscored", "no_expected_answer", flags)
    how = _matching(rubric.rule_policy)
    verdict = _verdict(task, text, how)
    edited = trace.extra.get(_HARNESS_ANSWER)
    if edited is not None and _verdict(task, str(edited), how) != verdict:
        flags.append("harness_answer_differs")
    mode = failure_mode(facts, thresholds_of(rubric.rule_policy))
    if verdict != "match":
        # Also where judges decide: should they say that it failed, this is how.
        flags.append(mode)
    if verdict == "no":
        return _ruling("incorrect", "answer_differs" if text else "no_text", flags, mode)
    if verdict == "match" and "truncated" in flags and not _wants_text(task, how):
        # What was cut off may have made it another value.
        return _ruling(None, "truncated", flags)
    if verdict == "match":
        return _ruling("correct", "answer_matches", flags)
    return _ruling(None, "answer_open", flags)


def _ruling(label: str | None, reason: str, flags: Sequence[str], mode: str = NO_FAILURE) -> Ruling:
    """The ruling; whether a run failed at all is open where its label is."""
    told = Answer(None if label is None else mode, reason)
    return Ruling(label, reason, tuple(flags), answers={MODE: told})


def final_text(trace: Trace, task: Task, calls: Sequence[Call]) -> str:
    """Return the model's own final answer: what it closed the run with, else its visible text.

    A closing call (``finish``, ``submit`` ...) is one in the last message that is no tool of the
    task; its answer is written as the source benchmark does, by Python's ``str``.
    """
    text = visible_answer(trace.messages)
    if not calls:
        return text
    last = calls[-1]
    said_last = all(m.role != "assistant" for m in trace.messages[last.call_message + 1 :])
    if last.in_text or not said_last or not _closes(last, task) or last.parsed is None:
        return text
    given = [last.parsed[key] for key in _CLOSING_KEYS if last.parsed.get(key) is not None]
    return str(given[0]).strip() if given else text


def _closes(call: Call, task: Task) -> bool:
    return call.name in _CLOSING and all(tool.name != call.name for tool in task.tools)


def _is_scored(task: Task) -> bool:
    reference = task.reference
    typed_key = reference.answer_key is not None and bool(reference.answer_key.values)
    return typed_key or bool((reference.gold_answer or "").strip())


def _matching(policy: Mapping[str, Tag]) -> str:
    how = policy.get("policy", "typed")
    if how not in POLICIES:
        raise InputError(
            f"rule_policy.policy is {how!r}; the rule hazard_recovery knows: {', '.join(POLICIES)}"
        )
    return str(how)


def _wants_text(task: Task, how: str) -> bool:
    """Whether strings are compared; a task with nothing but a typed key has no string."""
    return task.reference.gold_answer is not None and (
        "exact_string" in {how, task.reference.answer_match}
    )


def _verdict(task: Task, text: str, how: str) -> Verdict:
    reference = task.reference
    gold = reference.gold_answer
    if _wants_text(task, how) and gold is not None:
        return "match" if exact(gold, text) else "no"
    if not text:
        return "no"
    if reference.answer_key is not None and reference.answer_key.values:
        return _by_key(task, text)
    return typed(gold or "", text)


def _by_key(task: Task, text: str) -> Verdict:
    """Compare with the author's typed key: all of its values, or any."""
    key = task.reference.answer_key
    if key is None:
        return "unsure"
    answer = read_answer(text)
    found = {match_value(value, answer).verdict for value in key.values}
    if key.mode == "any":
        return "match" if "match" in found else "unsure" if "unsure" in found else "no"
    return "no" if "no" in found else "unsure" if "unsure" in found else "match"


def _facts(trace: Trace, task: Task, calls: Sequence[Call], text: str) -> FailureFacts:
    """Count what the failure modes are made of."""
    stated = [call for call in calls if not call.in_text and not _closes(call, task)]
    executed = sum(call.status == "executed" for call in stated)
    faulty = [i for i, call in enumerate(stated) if fault_of(call, trace.messages)]
    gold = task.reference.gold_answer
    valid = bool(text) and not apologises(text) and (gold is None or right_surface(gold, text))
    masked = task.environment.masked
    return FailureFacts(
        calls=executed,
        tools=sum(tool.name not in masked for tool in task.tools) or None,
        after_error=len(stated) - faulty[0] - 1 if faulty else None,
        valid=valid,
    )


def _row_flags(trace: Trace, task: Task, calls: Sequence[Call], text: str) -> list[str]:
    flags = []
    faults = [fault for call in calls if (fault := fault_of(call, trace.messages))]
    if faults:
        flags += ["error_seen", f"first_error_{faults[0]}"]
    if task.reference.answer_match == "exact_string":
        flags.append("exact_string")
    flags.append("answered" if text else "no_text")
    if trace.state is RowState.TRUNCATED or trace.finish_reason == "length":
        flags.append("truncated")
    return flags
