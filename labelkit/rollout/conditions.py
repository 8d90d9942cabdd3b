"""Prompt variants: how a condition's system message comes about, and whether it only adds.

A comparison of two prompts says something about the added words only if nothing else changed. So
each condition promises to be an insertion into its base or a replacement, and both promises are
checked over every system message of the tasks before a token is spent.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labelkit.domain.condition import Condition
from labelkit.domain.task import Task
from labelkit.errors import InputError
from labelkit.rollout.played import with_system_text

_TOKEN = re.compile(r"\w+|\n|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Insertion:
    """How one condition's text relates to its base, over all system messages of the tasks.

    ``kept``: every token of the base is there in order. ``append_only``: the treated text begins
    with the base. ``added``: tokens more than the base has, of the first message.
    """

    condition: str
    base: str
    kept: bool
    append_only: bool
    added: int


def tokens(text: str) -> list[str]:
    """Return words, punctuation marks and line breaks; other white space is none."""
    return _TOKEN.findall(text.strip())


def is_subsequence(base: Sequence[str], treated: Sequence[str]) -> bool:
    """Whether ``treated`` holds all of ``base`` in order: their LCS is as long as ``base``."""
    rest = iter(treated)
    return all(token in rest for token in base)


def by_name(conditions: Iterable[Condition]) -> dict[str, Condition]:
    """Return the conditions by name.

    Raises:
        InputError: a name twice, a base that is not there, or bases in a circle.
    """
    found: dict[str, Condition] = {}
    for condition in conditions:
        if condition.name in found:
            raise InputError(f"the condition {condition.name!r} is given twice; rename one of them")
        found[condition.name] = condition
    for condition in found.values():
        _check_bases(condition, found)
    return found


def _check_bases(condition: Condition, known: Mapping[str, Condition]) -> None:
    seen = {condition.name}
    while condition.base is not None:
        if condition.base not in known:
            near = difflib.get_close_matches(condition.base, known, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            raise InputError(
                f"the condition {condition.name!r} builds on {condition.base!r}, which is not"
                f" there; {guess}conditions: {', '.join(known)}"
            )
        condition = known[condition.base]
        if condition.name in seen:
            raise InputError(
                f"the condition {condition.name!r} builds on itself; take a base out of the circle"
            )
        seen.add(condition.name)


def system_text(condition: Condition, known: Mapping[str, Condition], own: str) -> str:
    """Return the system message of a condition for a task whose own one is ``own``."""
    base = own if condition.base is None else system_text(known[condition.base], known, own)
    middle = base if condition.system is None else condition.system
    return "\n".join(part for part in (condition.before, middle, condition.after) if part)


def under_condition(task: Task, condition: Condition, known: Mapping[str, Condition]) -> Task:
    """Return the task with the condition's system message."""
    text = system_text(condition, known, own_system(task))
    return task.model_copy(update={"messages": tuple(with_system_text(task.messages, text))})


def own_system(task: Task) -> str:
    """Return the text of the task's first system message; "" without one."""
    return next((m.content or "" for m in task.messages if m.role == "system"), "")


def check_conditions(
    wanted: Sequence[Condition], known: Mapping[str, Condition], tasks: Iterable[Task]
) -> list[Insertion]:
    """Check what conditions promise against every distinct system message of the tasks.

    Returns:
        One entry per condition that changes its base.

    Raises:
        InputError: an insertion that changes its base, or a replacement that does not.
    """
    systems = list(dict.fromkeys(own_system(task) for task in tasks)) or [""]
    found = []
    for condition in wanted:
        if condition.base is None and condition.system is None and not _adds(condition):
            continue
        relation = compare_with_base(condition, known, systems)
        if condition.kind == "insertion" and not relation.kept:
            raise InputError(
                f"the condition {condition.name!r} is declared an insertion but changes the text of"
                f" {relation.base}; put its words in without touching others, or declare `kind:"
                " replacement`"
            )
        if condition.kind == "replacement" and relation.kept:
            raise InputError(
                f"the condition {condition.name!r} is declared a replacement but keeps every word"
                f" of {relation.base}; declare `kind: insertion`"
            )
        found.append(relation)
    return found


def _adds(condition: Condition) -> bool:
    return bool(condition.before or condition.after)


def compare_with_base(
    condition: Condition, known: Mapping[str, Condition], systems: Sequence[str]
) -> Insertion:
    """Return how a condition relates to its base; ``kept`` only if it holds for every system."""
    kept = append_only = True
    added = None
    for own in systems:
        base = own if condition.base is None else system_text(known[condition.base], known, own)
        mine, theirs = tokens(base), tokens(system_text(condition, known, own))
        kept = kept and is_subsequence(mine, theirs)
        append_only = append_only and theirs[: len(mine)] == mine
        added = len(theirs) - len(mine) if added is None else added
    name = "the tasks' own prompt" if condition.base is None else repr(condition.base)
    return Insertion(condition.name, name, kept, kept and append_only, added or 0)
