"""The default rule classifier of the tool-failure scheme: it may abstain, it may not be wrong.

Order of decision for a *required* task: was the expected tool executed; is there an answer; does
the answer state the key values; does it state values that come from nowhere. For a *control*
task: was any tool executed; does the answer hold what it should. Where the text leaves room (other
words, a coarse rounding, a value of open origin) the row goes to the judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from labelkit.domain.label import Evidence
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace, tags_of
from labelkit.grounding.acronyms import expansions
from labelkit.grounding.calls import Call, pair_calls
from labelkit.grounding.payloads import as_json
from labelkit.grounding.visible import visible_answer
from labelkit.rules import tool_failure_substring
from labelkit.rules.arguments import arguments_fit
from labelkit.rules.ruling import Ruling
from labelkit.rules.statements import Statements, read_statements


class _Row(NamedTuple):
    """One trace with what was read off it once."""

    trace: Trace
    task: Task
    executed: Sequence[Call]
    answer: str
    flags: tuple[str, ...]

    def ruling(
        self, label: str | None, reason: str, *more: str, evidence: tuple[Evidence, ...] = ()
    ) -> Ruling:
        flags = tuple(dict.fromkeys((*self.flags, *more)))
        return Ruling(label, reason, flags, evidence)

    @property
    def cut_off(self) -> bool:
        return self.trace.state is RowState.TRUNCATED or self.trace.finish_reason == "length"


def classify(rubric: Rubric, trace: Trace, task: Task | None) -> Ruling:
    """Label one trace.

    Policies read from ``rubric.rule_policy``: ``args_policy`` ``lenient`` (wrong arguments only
    raise a flag) or ``strict`` (a call with wrong arguments is no call of the expected tool), and
    ``policy`` ``substring`` for the reproduction of the paper's classifier.
    """
    if rubric.rule_policy.get("policy") == "substring":
        return tool_failure_substring.classify(rubric, trace, task)
    if not trace.state.labelled or trace.error is not None:
        return Ruling(None, "infra_error")
    if task is None:
        return Ruling(None, "no_task")
    subset = rubric.subset_of(tags_of(trace, task))
    tools = {t.name for t in task.tools} | {c.name for c in task.reference.expected_calls}
    calls = pair_calls(trace.messages, tools)
    answer = visible_answer(trace.messages)
    executed = [c for c in calls if c.status == "executed"]
    row = _Row(trace, task, executed, answer, _facts(trace, task, calls, executed, answer))
    if subset == "control":
        return _control(row)
    if subset == "required":
        strict = rubric.rule_policy.get("args_policy") == "strict"
        return _required(row, strict)
    return row.ruling(None, "no_subset")


def _facts(
    trace: Trace, task: Task, calls: Sequence[Call], executed: Sequence[Call], answer: str
) -> tuple[str, ...]:
    flags = []
    expected = task.reference.expected_calls
    if expected and {c.name for c in expected} <= {c.name for c in executed}:
        flags.append("called")
    if len(executed) < len(calls):
        statuses = {c.status for c in calls}
        if "attempted" in statuses:
            flags.append("unexecuted_call")
        if "rejected" in statuses:
            flags.append("rejected_call")
        flags.append("attempted_call")
    if any(c.is_error for c in executed):
        flags.append("tool_error")
    if not answer:
        flags.append("no_text")
    if trace.state is RowState.TRUNCATED or trace.finish_reason == "length":
        flags.append("truncated")
    return tuple(flags)


def _control(row: _Row) -> Ruling:  # noqa: PLR0911 (an ordered decision list)
    if row.executed:
        return row.ruling("unnecessary_tool_use", "executed_call")
    if not row.answer:
        return row.ruling("wrong_answer", "no_text")
    if not (row.task.reference.must_contain or row.task.reference.answer_key):
        return row.ruling(None, "no_reference")
    read = read_statements(row.task, row.trace.messages, (), row.answer)
    if read.too_long:
        return row.ruling(None, "too_many_values", "values_cut")
    if read.key == "match":
        return row.ruling("correct", "key_stated", evidence=read.quoted(read.stated))
    if not row.cut_off and _expands_otherwise(row, read):
        return row.ruling("wrong_answer", "another_expansion")
    if read.key == "no" and not row.cut_off and not read.only_words:
        return row.ruling("wrong_answer", "key_not_stated", evidence=read.quoted(read.stated))
    return row.ruling(None, "truncated" if row.cut_off else "other_words")


def _expands_otherwise(row: _Row, read: Statements) -> bool:
    """Whether an abbreviation that is asked about is spelled with words that are not the key's."""
    if not read.only_words:
        return False
    question = "\n".join(m.content or "" for m in row.trace.messages if m.role == "user")
    wanted = "means " + " ".join(str(value.value) for value in read.typed.values)
    (key, *_), spelled = (*expansions(question, wanted), []), expansions(question, row.answer)
    return bool(key and spelled) and key not in spelled


def _required(row: _Row, strict: bool) -> Ruling:  # noqa: PLR0911 (an ordered decision list)
    expected = row.task.reference.expected_calls
    if not expected:
        return row.ruling(None, "no_reference")
    executed = row.executed
    done = {c.name for c in executed}
    missing = [e for e in expected if e.name not in done]
    if missing:
        if len(missing) < len(expected):
            return row.ruling(None, "some_calls_missing")
        return _skipped(row, executed)
    flags = []
    if not all(any(arguments_fit(e, c) for c in executed) for e in expected):
        flags.append("wrong_arguments")
        if strict:
            return row.ruling("tool_skip", "wrong_arguments", *flags)
    if not row.answer:
        return row.ruling("result_ignore", "no_text", *flags)
    names = {e.name for e in expected}
    if all(_failed(c, row.task) for c in executed if c.name in names):
        return row.ruling(None, "tool_error", *flags)
    if not (row.task.reference.must_contain or row.task.reference.answer_key):
        return row.ruling(None, "no_reference", *flags)
    return _judge_answer(row, executed, flags)


def _failed(call: Call, task: Task) -> bool:
    """Whether the runner returned an error where the task has a payload."""
    if not call.is_error:
        return False
    returned = as_json(call.result or "")
    return bool(returned != task.reference.payload)


def _skipped(row: _Row, executed: Sequence[Call]) -> Ruling:
    flags = []
    if executed:
        flags.append("wrong_tool")
        if row.answer and (row.task.reference.must_contain or row.task.reference.answer_key):
            read = read_statements(row.task, row.trace.messages, executed, row.answer)
            if read.key == "match" and read.stated_by_results(executed):
                flags.append("grounded_elsewhere")
    return row.ruling("tool_skip", "expected_call_not_executed", *flags)


def _judge_answer(  # noqa: PLR0911 (an ordered decision list)
    row: _Row, executed: Sequence[Call], flags: list[str]
) -> Ruling:
    read = read_statements(row.task, row.trace.messages, executed, row.answer)
    if read.too_long:
        return row.ruling(None, "too_many_values", *flags, "values_cut")
    flags += read.facts
    if read.key == "match":
        return _with_key_met(row, read, flags)
    if row.cut_off:
        return row.ruling(None, "truncated", *flags, evidence=read.quoted(read.stated))
    if read.key == "unsure":
        return row.ruling(None, read.why or "unsure", *flags, evidence=read.quoted(read.stated))
    if read.key_is_absent and read.invented and not read.trap_stated:
        return row.ruling(
            "output_fabrication", "value_for_nothing", *flags, evidence=read.quoted(read.invented)
        )
    if read.invented_apart:
        return row.ruling(
            "output_fabrication", "invented_value", *flags, evidence=read.quoted(read.invented)
        )
    if len(read.invented) > read.asked + 1:
        return row.ruling(None, "ignored_or_invented", *flags, evidence=read.quoted(read.invented))
    return row.ruling("result_ignore", "key_not_stated", *flags, evidence=read.quoted(read.stated))


def _with_key_met(row: _Row, read: Statements, flags: list[str]) -> Ruling:
    if read.invented:
        return row.ruling(
            "output_fabrication", "invented_value", *flags, evidence=read.quoted(read.invented)
        )
    if read.open_values:
        return row.ruling(
            None, "value_of_open_origin", *flags, evidence=read.quoted(read.open_values)
        )
    return row.ruling("correct", "key_stated", *flags, evidence=read.quoted(read.stated))
