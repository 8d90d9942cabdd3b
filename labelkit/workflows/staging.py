"""How tasks are to be played: protocol, prompt variant and arm, settled before a token is spent.

A flag wins over the task set's card, the card over its rubric, and the two-step protocol is left.
Whatever cannot be played (an unknown name, a task without a hint, a prompt variant that breaks
its promise) is refused here.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from labelkit.catalog.rubrics import load_rubric
from labelkit.catalog.task_sets import Card, load_task_set
from labelkit.domain.condition import Condition
from labelkit.domain.message import Message
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Task
from labelkit.errors import FormatError, InputError
from labelkit.formats.registry import read_file
from labelkit.rollout.arms import BASELINE, RERUN, arm_name, known_arm, stage
from labelkit.rollout.conditions import by_name, check_conditions, under_condition
from labelkit.rollout.protocol import Staged
from labelkit.rollout.protocols import USUAL, known_protocol
from labelkit.rules.registry import rule_of
from labelkit.store import Selection, Store
from labelkit.store.reports import trace_table
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import rows


@dataclass(frozen=True, slots=True)
class TaskSource:
    """Tasks that were asked for by name or path; ``card`` None: the file is no task set."""

    tasks: tuple[Task, ...]
    card: Card | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """A second attempt at what failed: rows of the arm ``of`` that the rule labels ``failed``."""

    of: str
    rubric: Rubric
    failed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How tasks are played.

    ``usual`` is the protocol that the tasks are made for; ``conditions`` are the known variants.
    ``name`` is what the traces carry as their condition. ``remarks`` are worth telling.
    """

    protocol: str = USUAL
    usual: str = USUAL
    condition: str = ""
    arm: str | None = None
    conditions: tuple[Condition, ...] = ()
    rerun: Rerun | None = None
    max_turns: int | None = None

    @property
    def name(self) -> str:
        """The arm's name, as traces carry it."""
        return arm_name(self.condition, self.arm, self.protocol, self.usual)


def load_tasks(store: Store, name: str) -> TaskSource:
    """Read a task set, or the tasks of a file in any known format, into the store.

    Raises:
        InputError: no such task set and no such file.
        FormatError: a file without tasks, or one that cannot be read.
    """
    path = Path(name)
    if path.is_file() and path.name not in {"card.yaml", "tasks.jsonl"}:
        tasks = tuple(item for item in read_file(path) if isinstance(item, Task))
        if not tasks:
            raise FormatError(f"{path} holds no tasks; name a task set or a file of tasks")
        add_tasks(store, tasks)
        return TaskSource(tasks)
    found = load_task_set(path.parent if path.name == "tasks.jsonl" else name)
    add_tasks(store, found.tasks)
    return TaskSource(found.tasks, found.card)


def other_sets(store: Store, source: TaskSource) -> list[str]:
    """Return task sets other than the source's that the store holds traces of, sorted."""
    mine = {task.set for task in source.tasks}
    return sorted({name or "(none)" for name in trace_table(store).task_set} - mine)


def manner_of(
    source: TaskSource,
    *,
    protocol: str | None = None,
    condition: str | None = None,
    conditions: Sequence[Condition] | None = None,
    arm: str | None = None,
    rerun: Rerun | None = None,
    max_turns: int | None = None,
) -> Manner:
    """Return how these tasks are played: what is given, else what their card or rubric says.

    Without an arm, tasks with a hazard are played as ``baseline``; without a condition the first
    known one is played.

    Raises:
        InputError: an unknown protocol, arm or condition.
    """
    card = source.card
    usual = usual_protocol(card)
    known = tuple(conditions if conditions is not None else card.conditions if card else ())
    if arm is None and any(task.environment.hazard for task in source.tasks):
        arm = BASELINE
    own_turns = card.max_turns if card and protocol is None else None
    return Manner(
        protocol=known_protocol(protocol) if protocol else usual,
        usual=usual,
        condition=_chosen(condition, known),
        arm=known_arm(arm) if arm is not None else None,
        conditions=known,
        rerun=rerun,
        max_turns=max_turns if max_turns is not None else own_turns,
    )


def usual_protocol(card: Card | None) -> str:
    """Return the protocol that a set's tasks are made for."""
    if card is None:
        return USUAL
    if card.protocol:
        return known_protocol(card.protocol)
    named = load_rubric(card.rubric).protocol if card.rubric else ""
    return known_protocol(named or USUAL)


def _chosen(condition: str | None, known: Sequence[Condition]) -> str:
    """The condition's name; a plain name where no variants are known."""
    if not known:
        return condition or ""
    names = [variant.name for variant in known]
    if condition is None:
        return names[0]
    if condition not in names:
        near = difflib.get_close_matches(condition, names, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(
            f"there is no condition {condition!r}; {guess}conditions: {', '.join(names)}"
        )
    return condition


def stage_tasks(
    store: Store, tasks: Sequence[Task], model: str, manner: Manner
) -> tuple[list[Staged], list[str]]:
    """Return the tasks as the arm plays them, and remarks on its prompt.

    Raises:
        InputError: a condition that breaks its promise, or tasks that lack what the arm needs.
    """
    known = by_name(manner.conditions)
    remarks = []
    if manner.condition in known:
        chain = [known[manner.condition]]
        while chain[-1].base is not None:
            chain.append(known[chain[-1].base])
        for relation in check_conditions(chain, known, tasks):
            how = "replaces" if not relation.kept else "adds to"
            tail = " at its end only" if relation.append_only else ""
            remarks.append(
                f"condition {relation.condition} {how} {relation.base}{tail}"
                f" ({relation.added:+d} words, marks and line breaks)"
            )
        tasks = [under_condition(task, known[manner.condition], known) for task in tasks]
    if manner.arm == RERUN:
        return _reruns(store, tasks, model, manner), remarks
    return _staged(tasks, manner.arm), remarks


def _staged(tasks: Sequence[Task], arm: str | None) -> list[Staged]:
    """Every task as the arm plays it; those that cannot be played are counted in one sentence."""
    found, faults = [], []
    for task in tasks:
        try:
            found.append(stage(task, arm))
        except InputError as fault:
            faults.append(str(fault))
    if faults:
        others = f" ({len(faults) - 1} more tasks like it)" if len(faults) > 1 else ""
        raise InputError(faults[0] + others)
    return found


def _reruns(store: Store, tasks: Sequence[Task], model: str, manner: Manner) -> list[Staged]:
    """The tasks whose earlier attempt failed, each with that attempt's course."""
    if manner.rerun is None:
        raise InputError("the arm 'rerun' needs an earlier arm (--rerun-of) and its rubric")
    attempts = failed_attempts(store, model, manner.rerun)
    by_key = {(task.set, task.id): task for task in tasks}
    staged = []
    for (task_set, task_id, repeat), messages in attempts.items():
        task = by_key.get((task_set, task_id))
        if task is not None:
            again = stage(task, RERUN, messages)
            staged.append(Staged(again.task, repeats=(repeat,)))
    return staged


def failed_attempts(
    store: Store, model: str, rerun: Rerun
) -> Mapping[tuple[str, str, int], Sequence[Message]]:
    """Return (set, id, repeat) -> messages of the rows that the rubric's rule calls failed.

    Raises:
        InputError: a rubric without a rule, a label it does not list, or an arm without traces.
    """
    rule = rule_of(rerun.rubric)
    if rule is None:
        raise InputError(f"rubric {rerun.rubric.name} has no rule that could tell what failed")
    allowed = {label.name for label in rerun.rubric.primary.labels}
    for name in rerun.failed:
        if name not in allowed:
            raise InputError(
                f"rubric {rerun.rubric.name} has no label {name!r}; labels:"
                f" {', '.join(sorted(allowed))}"
            )
    found: dict[tuple[str, str, int], Sequence[Message]] = {}
    seen = 0
    for trace, task in rows(store, Selection(models=(model,), conditions=(rerun.of,))):
        seen += 1
        ruling = rule(rerun.rubric, trace, task)
        if ruling.label in rerun.failed and trace.task_set and trace.task_id:
            found[trace.task_set, trace.task_id, trace.repeat] = trace.messages
    if not seen:
        raise InputError(
            f"there are no traces of {model} under {rerun.of!r} to run again; run that arm first"
        )
    return found
