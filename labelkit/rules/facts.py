"""A rule without code: labels from counted facts of a trace, by a table in the rubric.

Many schemes need no reading of values at all: did the agent call this tool, did a call fail, was
the run cut off, what did the benchmark's own checker say. Such a rule is data in ``rubric.yaml``
and this module is its only interpreter. It looks at nothing inside an answer's text; a scheme
that must do so deserves a rule of its own. The numbers that the measures of the rubric ask for are
recorded with the label (flags such as ``calls=7``).

Facts (numbers unless said otherwise):

    calls, attempted, rejected   calls by status
    calls:NAME                   executed calls of one tool
    errors, empty_results        executed calls whose result is an error, is empty
    repeated_calls               executed calls equal to an earlier one in name and arguments
    assistant_turns, user_turns  messages by role
    answer_chars                 length of the visible answer
    last_call                    text: name of the last executed call, "" without one
    tools                        tools that the task declares
    prompt_tokens, completion_tokens, tokens (their sum)
                                 absent where the endpoint did not say: unknown is no 0
    state, finish_reason         text
    tag:NAME                     a tag of the trace or its task
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping

from labelkit.domain.rubric import FactRange, Rubric, RuleCase
from labelkit.domain.task import Tag, Task
from labelkit.domain.trace import RowState, Trace, tags_of
from labelkit.errors import InputError
from labelkit.grounding.calls import Call, pair_calls
from labelkit.grounding.visible import visible_answer
from labelkit.rules.ruling import Ruling

Facts = Mapping[str, Tag]
_TOKENS = ("prompt_tokens", "completion_tokens", "tokens")
_NOTHING = Trace(model="", messages=(), state=RowState.NO_TEXT)


def classify(rubric: Rubric, trace: Trace, task: Task | None) -> Ruling:
    """Label a trace by the first row of ``rubric.rule_table`` whose conditions all hold."""
    tags = tags_of(trace, task)
    facts = count_facts(trace, tags, task)
    counted = counted_flags(rubric, facts)
    subset = rubric.subset_of(tags)
    for number, case in enumerate(rubric.rule_table, start=1):
        if case.subsets and subset not in case.subsets:
            continue
        if all(_holds(facts, name, wanted) for name, wanted in case.when.items()):
            reason = f"row {number} of the rule table"
            return Ruling(label=case.label, reason=reason, flags=_flags(case) + counted)
    return Ruling(label=None, reason="no row of the rule table matches", flags=counted)


def counted_flags(rubric: Rubric, facts: Facts) -> tuple[str, ...]:
    """Return the numbers that the rubric's measures are made of, as flags ``name=value``."""
    wanted = {name for m in rubric.measures for name in (m.value, m.per) if name is not None}
    return tuple(
        f"{name}={value}"
        for name in sorted(wanted - {"label"})
        if isinstance(
            value := facts.get(name, 0 if name.startswith("calls:") else None), int | float
        )
        and not isinstance(value, bool)
    )


def check(rubric: Rubric) -> None:
    """Refuse a table or a measure that asks for a fact nobody counts: it would never match.

    Raises:
        InputError: names the fact, the known ones and the nearest guess.
    """
    asked = [
        (f"row {number} of the rule table", name)
        for number, case in enumerate(rubric.rule_table, start=1)
        for name in case.when
    ]
    asked += [
        (f"measure {measure.id!r}", name)
        for measure in rubric.measures
        for name in (measure.value, measure.per)
        if name is not None and name != "label"
    ]
    known = {*count_facts(_NOTHING, {}), *_TOKENS, "tools"}
    for who, name in asked:
        if name not in known and not name.startswith(("calls:", "tag:")):
            near = difflib.get_close_matches(name, known, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            listed = ", ".join(sorted(known))
            raise InputError(
                f"{who} of rubric {rubric.name} asks for {name!r}, "
                f"which is no fact; {guess}facts are {listed}, calls:NAME, tag:NAME"
            )


def count_facts(trace: Trace, tags: Mapping[str, Tag], task: Task | None = None) -> dict[str, Tag]:
    """Return every fact of a trace that a table can ask for."""
    calls = pair_calls(trace.messages)
    executed = [call for call in calls if call.status == "executed"]
    roles = Counter(message.role for message in trace.messages)
    facts: dict[str, Tag] = {
        "calls": len(executed),
        "attempted": sum(call.status == "attempted" for call in calls),
        "rejected": sum(call.status == "rejected" for call in calls),
        "errors": sum(call.is_error for call in executed),
        "empty_results": sum(not (call.result or "").strip() for call in executed),
        "repeated_calls": _repeated(executed),
        "assistant_turns": roles["assistant"],
        "user_turns": roles["user"],
        "answer_chars": len(visible_answer(trace.messages)),
        "last_call": executed[-1].name if executed else "",
        "state": trace.state.value,
        "finish_reason": trace.finish_reason or "",
    }
    if task is not None:
        facts["tools"] = len(task.tools)
    facts.update(_tokens(trace))
    facts.update({f"calls:{name}": n for name, n in Counter(c.name for c in executed).items()})
    facts.update({f"tag:{name}": value for name, value in tags.items()})
    return facts


def _tokens(trace: Trace) -> dict[str, int]:
    """Token counts as far as the endpoint said them."""
    usage = trace.usage
    if usage is None:
        return {}
    sides = (usage.prompt_tokens, usage.completion_tokens)
    both = None if None in sides else sum(side or 0 for side in sides)
    found = dict(zip(_TOKENS, (*sides, both), strict=True))
    return {name: count for name, count in found.items() if count is not None}


def _repeated(executed: list[Call]) -> int:
    """Number of calls that equal an earlier one."""
    distinct = {(call.name, call.arguments) for call in executed}
    return len(executed) - len(distinct)


def _holds(facts: Facts, name: str, wanted: FactRange | tuple[Tag, ...]) -> bool:
    """Whether one condition holds; a tool that was never called counts 0."""
    value = facts.get(name, 0 if name.startswith("calls:") else None)
    if isinstance(wanted, tuple):
        return any(type(value) is type(option) and value == option for option in wanted)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    low = wanted.min is None or value >= wanted.min
    return low and (wanted.max is None or value <= wanted.max)


def _flags(case: RuleCase) -> tuple[str, ...]:
    """Which facts decided, so that a reader of the label sees why."""
    return tuple(f"fact:{name}" for name in case.when)
