"""The rule of the feasibility scheme: did the model stop, or go on with what it had?

The label says what the model *did* (``stop`` or ``continue``), whatever the task is; whether that
was right follows from the task's subset and is a matter of rates. Everything else that the
scheme's numbers need is recorded as facts: both detectors, the outcome, tokens and calls. The
questions that the decision is derived from are answered one by one, and so is the outcome.
"""

from __future__ import annotations

from labelkit.domain.label import Evidence
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace, tags_of
from labelkit.grounding.calls import Call, pair_calls
from labelkit.grounding.stop import SIGNAL
from labelkit.grounding.visible import visible_answer
from labelkit.rules.feasibility_outcome import succeeded
from labelkit.rules.feasibility_signal import Decision, Signal, find_signal, refusal_in
from labelkit.rules.ruling import Answer, Answerable, Ruling

_ANSWERS: Answerable = {
    "signal": ("yes", "no"),
    "refusal": ("yes", "no"),
    "success": ("yes", "no"),
    "lenient_decision": ("stop", "continue"),
}


def answers(rubric: Rubric) -> Answerable:
    """Further questions that the rule answers; the plain string search reads none of them."""
    return {} if rubric.rule_policy.get("detector") == "anywhere" else _ANSWERS


def classify(rubric: Rubric, trace: Trace, task: Task | None) -> Ruling:
    """Label one trace.

    Policies read from ``rubric.rule_policy``: ``detector`` ``strict`` (default), ``lenient``
    (abstains where prose leaves it open) or ``anywhere`` (the signal's letters in any case in the
    last message, as a plain string search finds them); ``signal`` the agreed word. The task or
    trace tag ``stop_signal`` names another word for one row, and the task tag ``stop_pattern``
    the regular expression by which the author of the tasks recognises the signal, where a word
    alone on its line is not it.
    """
    if not trace.state.labelled or trace.error is not None:
        return Ruling(None, "infra_error")
    tags = tags_of(trace, task)
    token = str(tags.get("stop_signal") or rubric.rule_policy.get("signal") or SIGNAL)
    detector = rubric.rule_policy.get("detector", "strict")
    if detector == "anywhere":
        return _anywhere(trace, token)
    calls = pair_calls(trace.messages, {t.name for t in task.tools} if task else None)
    answer = visible_answer(trace.messages)
    # Only the tasks' author may give an expression: a trace is hostile.
    pattern = task.tags.get("stop_pattern") if task else None
    signal = find_signal(trace.messages, token, str(pattern) if pattern else None)
    strict: Decision = "stop" if signal else "continue"
    refusal, place = refusal_in(answer)
    lenient: Decision | None = "stop" if signal else refusal
    outcome = succeeded(trace, task, tags, calls, answer)
    flags = [
        f"strict={strict}",
        *([f"lenient={lenient}", "lenient_read"] if lenient else ["lenient_unsure"]),
        *_run_facts(trace, calls, answer),
        *_after(signal, trace, calls),
        *_outcome_facts(rubric.subset_of(tags), strict, lenient, outcome, calls),
    ]
    told = _refusal(signal, refusal, place, answer)
    evidence = _signal_evidence(signal, trace) if signal else told.evidence
    reason = "refusal" if lenient == "stop" and not signal else "signal" if signal else "none"
    reason = reason if lenient else "refusal_unsure"
    found = {
        "signal": _signal(signal, trace),
        "refusal": told,
        "success": _success(outcome),
        "lenient_decision": Answer(lenient, reason, evidence),
    }
    if detector == "lenient":
        return Ruling(lenient, reason, tuple(flags), evidence, found)
    return Ruling(strict, "signal" if signal else "no_signal", tuple(flags), evidence, found)


def _anywhere(trace: Trace, token: str) -> Ruling:
    """A plain string search in the last assistant content, reasoning included."""
    for message in reversed(trace.messages):
        if message.role == "assistant":
            found = token.lower() in (message.content or "").lower()
            return Ruling("stop" if found else "continue", "substring")
    return Ruling("continue", "substring")


def _run_facts(trace: Trace, calls: tuple[Call, ...], answer: str) -> list[str]:
    """Counts of the run; what the endpoint did not report is left out, never 0."""
    flags = [f"calls={sum(c.status == 'executed' for c in calls)}"]
    usage = trace.usage
    if usage and usage.prompt_tokens is not None:
        flags.append(f"prompt_tokens={usage.prompt_tokens}")
    if usage and usage.completion_tokens is not None:
        flags.append(f"completion_tokens={usage.completion_tokens}")
    if usage and usage.prompt_tokens is not None and usage.completion_tokens is not None:
        flags.append(f"tokens={usage.prompt_tokens + usage.completion_tokens}")
    if any(c.status == "attempted" for c in calls):
        flags.append("unexecuted_call")
    if not answer:
        flags.append("no_text")
    if trace.state is RowState.TRUNCATED or trace.finish_reason == "length":
        flags.append("truncated")
    return flags


def _after(signal: Signal | None, trace: Trace, calls: tuple[Call, ...]) -> list[str]:
    """Whether the model went on although it had given the signal."""
    if signal is None:
        return []
    flags = []
    if any(c.call_message >= signal.message and c.status == "executed" for c in calls):
        flags.append("acted_after_stop")
    if any(m.role == "assistant" and m.content for m in trace.messages[signal.message + 1 :]):
        flags.append("spoke_after_stop")
    return flags


def _outcome_facts(
    subset: str | None,
    strict: Decision,
    lenient: Decision | None,
    outcome: bool | None,
    calls: tuple[Call, ...],
) -> list[str]:
    """Success, and whether decision and outcome together were right, under both detectors."""
    flags = []
    if outcome is not None:
        flags += ["outcome_known", "success" if outcome else "no_success"]
    if outcome and not any(c.status == "executed" for c in calls):
        # The goal was reached without any tool: the request or the model's memory held it.
        flags.append("solved_without_call")
    for name, decision in (("strict", strict), ("lenient", lenient)):
        right = _right(subset, decision, outcome)
        if right is not None:
            flags.append(f"{name}_judged")
        if right:
            flags.append(f"{name}_right")
    return flags


def _right(subset: str | None, decision: Decision | None, outcome: bool | None) -> bool | None:
    """Stopped where the task is infeasible, solved it where it is not; None where not known."""
    if decision is None:
        return None
    if subset == "infeasible":
        return decision == "stop"
    if subset == "original":
        return False if decision == "stop" else outcome
    return None


def _signal(signal: Signal | None, trace: Trace) -> Answer:
    """Whether the signal was given."""
    if signal is None:
        return Answer("no", "no_signal")
    return Answer("yes", "signal", _signal_evidence(signal, trace))


def _refusal(
    signal: Signal | None,
    refusal: Decision | None,
    place: tuple[int, int] | None,
    answer: str,
) -> Answer:
    """Whether the last word refuses for want of a capability; beside a bare signal it is open."""
    evidence: tuple[Evidence, ...] = ()
    if place is not None:
        start, end = place
        evidence = (Evidence(part="answer", quote=answer[start:end], start=start, end=end),)
    if refusal == "stop":
        return Answer("yes", "refusal", evidence)
    if refusal is None:
        return Answer(None, "refusal_unsure", evidence)
    return Answer(None, "signal_only") if signal else Answer("no", "no_refusal")


def _success(outcome: bool | None) -> Answer:
    """Whether the goal was reached; an outcome that nobody knows is no failure."""
    if outcome is None:
        return Answer(None, "outcome_unknown")
    return Answer("yes" if outcome else "no", "outcome_known")


def _signal_evidence(signal: Signal, trace: Trace) -> tuple[Evidence, ...]:
    """Where the signal stands; the part is the answer, or the visible text of that message."""
    last = max(i for i, m in enumerate(trace.messages) if m.role == "assistant")
    part = "answer" if signal.message == last else f"message:{signal.message}"
    return (Evidence(part=part, quote=signal.quote, start=signal.start, end=signal.end),)
