"""``labelkit tasks check``: a task set proves itself before any model is asked.

Every promise of a set is played or computed: tools have valid schemas, gold calls run in their own
world, the hazard strikes and can be overcome, the rubric's rule agrees with the gold answer, and
the prompt does not give that answer away. All problems are listed, by task.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from labelkit.catalog.rubrics import load_rubric
from labelkit.catalog.task_sets import Card, TaskSetError, load_card, read_lines
from labelkit.domain.environment import ToolReturn
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Task
from labelkit.errors import InputError
from labelkit.grounding.match import match_value, read_answer
from labelkit.rollout.arms import stage
from labelkit.rollout.conditions import by_name, check_conditions, under_condition
from labelkit.rollout.gold import gold_trace, world_problems
from labelkit.rules.registry import rule_of
from labelkit.rules.ruling import Classifier
from labelkit.workflows.staging import usual_protocol

WHOLE_SET = ""
"""Stands for the task of a problem that concerns the card or a line that is no task."""

_LEAK_TYPES = frozenset({"number", "datetime", "duration", "identifier", "citation"})
_TOO_COMMON = frozenset({"yes", "no", "true", "false"})
_BARE_ANSWER_CHARS = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one task (``WHOLE_SET``: with the set itself)."""

    task: str
    text: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found. ``remarks`` are no problems: what could not be checked, and why."""

    card: Card
    tasks: int
    problems: tuple[Problem, ...]
    remarks: tuple[str, ...]


def check_tasks(name_or_path: str | Path) -> Checked:
    """Check a task set given by name or folder.

    Raises:
        InputError: no such task set, or a card that cannot be read.
    """
    folder, card = load_card(name_or_path)
    problems: list[Problem] = []
    tasks: list[Task] = []
    for entry in read_lines(folder, card.name):
        if isinstance(entry, TaskSetError):
            problems.append(Problem(WHOLE_SET, str(entry)))
        else:
            tasks.append(entry)
    if not tasks:
        problems.append(Problem(WHOLE_SET, "there are no tasks"))
    rubric, remarks = _rubric(card, problems)
    problems += _card_problems(card, tasks)
    rule = rule_of(rubric) if rubric else None
    for task in tasks:
        texts = [*declaration_problems(task)]
        if not texts:
            texts += world_problems(task)
            texts += leak_problems(task, card)
        if not texts and rubric and rule:
            texts += gold_problems(task, card, rubric, rule)
        problems += [Problem(task.id, text) for text in texts]
    return Checked(card, len(tasks), tuple(problems), tuple(remarks))


def _rubric(card: Card, problems: list[Problem]) -> tuple[Rubric | None, list[str]]:
    """The set's rubric; without one, or without its rule, gold answers cannot be checked."""
    if not card.rubric:
        return None, ["the card names no rubric, so no rule has seen the gold answers"]
    try:
        rubric = load_rubric(card.rubric)
        rule = rule_of(rubric)
    except InputError as fault:
        problems.append(Problem(WHOLE_SET, str(fault)))
        return None, []
    if rule is None:
        return rubric, [f"rubric {rubric.name} has no rule, so no rule has seen the gold answers"]
    return rubric, []


def _card_problems(card: Card, tasks: Sequence[Task]) -> Iterator[Problem]:
    """Domains, protocol and prompt variants of the card."""
    domains = {str(task.tags["domain"]) for task in tasks if "domain" in task.tags}
    for name in sorted(domains - set(card.domains)):
        yield Problem(WHOLE_SET, f"the card does not list the domain {name!r}")
    for name in sorted(set(card.domains) - domains):
        yield Problem(WHOLE_SET, f"the card lists the domain {name!r}, of which there is no task")
    try:
        usual_protocol(card)
        known = by_name(card.conditions)
        check_conditions(list(known.values()), known, tasks)
    except InputError as fault:
        yield Problem(WHOLE_SET, str(fault))


def declaration_problems(task: Task) -> Iterator[str]:
    """Yield what is wrong with tools and script as they are written."""
    if not any(message.role == "user" for message in task.messages):
        yield "there is no user message"
    names = [tool.name for tool in task.tools]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"the tool {name} is declared twice"
    for tool in task.tools:
        try:
            Draft202012Validator.check_schema(tool.parameters)
        except SchemaError as fault:
            yield f"the parameters of {tool.name} are no JSON Schema: {fault.message[:120]}"
    known = {*names, *task.environment.masked}
    for place, scripted in enumerate(task.environment.returns, start=1):
        for text in _return_problems(scripted, known):
            yield f"return {place} {text}"


def _return_problems(scripted: ToolReturn, known: Collection[str]) -> Iterator[str]:
    when = scripted.when
    if scripted.tool is not None and scripted.tool not in known:
        yield f"speaks for {scripted.tool}, which is no tool of the task"
    if when.to_call is not None and when.to_call < when.from_call:
        yield f"ends at call {when.to_call}, before it begins"
    for prior in when.after:
        if prior.tool not in known:
            yield f"waits for {prior.tool}, which is no tool of the task"


def leak_problems(task: Task, card: Card | None = None) -> Iterator[str]:
    """Yield where a prompt of the task holds what only a tool can tell.

    A prompt is what a model reads before it acts: the task's own, under each condition of the
    card, and with its hint. Only tasks that expect a call have something to give away.
    """
    if not task.reference.expected_calls or task.environment.masked:
        return
    seen: set[str] = set()
    for where, text in _prompts(task, card):
        for leaked in _leaked(task, text):
            if leaked not in seen:
                seen.add(leaked)
                yield f"{where} gives the answer away ({leaked})"


def _prompts(task: Task, card: Card | None) -> Iterator[tuple[str, str]]:
    yield "the prompt", _text(task)
    if card is not None:
        try:
            known = by_name(card.conditions)
        except InputError:
            return
        for condition in known.values():
            yield f"the condition {condition.name}", _text(under_condition(task, condition, known))
    hazard = task.environment.hazard
    if hazard is not None and hazard.hint:
        yield "the hint", _text(stage(task, "hint").task)


def _text(task: Task) -> str:
    """What a model reads before it acts; results of replayed calls are no part of it."""
    return "\n".join(m.content or "" for m in task.messages if m.role in {"system", "user"})


def _leaked(task: Task, text: str) -> Iterator[str]:
    reference = task.reference
    words = [word for word in reference.must_contain if word.lower() not in _TOO_COMMON]
    gold = reference.gold_answer
    if not reference.must_contain and reference.answer_key is None and gold is not None:
        words += [gold] if len(gold) <= _BARE_ANSWER_CHARS else []
    for word in words:
        if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE):
            yield repr(word)
    if reference.answer_key is not None:
        answer = read_answer(text)
        for value in reference.answer_key.values:
            leaks = value.type in _LEAK_TYPES and match_value(value, answer).verdict == "match"
            if leaks:
                yield repr(value.value)


def gold_problems(task: Task, card: Card, rubric: Rubric, rule: Classifier) -> Iterator[str]:
    """Yield where the rubric's rule does not give the gold rollout a label of the card."""
    trace = gold_trace(task)
    if trace is None:
        yield "there is no gold answer"
        return
    subset = rubric.subset_of(task.tags)
    wanted = card.gold.get(subset or "*") or card.gold.get("*") or ("correct",)
    ruling = rule(rubric, trace, task)
    if ruling.label is None:
        yield f"the rule abstains on the gold answer ({ruling.reason})"
    elif ruling.label not in wanted:
        yield f"the rule calls the gold answer {ruling.label} ({ruling.reason}), not {wanted[0]}"
