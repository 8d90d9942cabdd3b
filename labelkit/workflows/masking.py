"""``labelkit tasks mask``: infeasible variants of tasks that several models solved.

A tool is critical when every successful rollout ran it without an error: then nobody is known to
get by without it. Taking it away makes a task that should be declined. Two things can make such a
variant solvable after all, and both are looked for: another tool that does the same, and a
request that already holds what the tool would have told. Findings are reported, and only
applied when asked for, because both screens can be wrong.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from labelkit.catalog.task_sets import Card, TaskSet, load_task_set
from labelkit.digest import canonical_json
from labelkit.domain.task import Task, Tool
from labelkit.domain.trace import Trace, tags_of
from labelkit.errors import InputError
from labelkit.formats.registry import read_file
from labelkit.grounding.calls import Call, pair_calls
from labelkit.grounding.visible import visible_answer
from labelkit.rules.feasibility_outcome import succeeded
from labelkit.store import Selection, Store
from labelkit.store.traces import rows

EQUIVALENT, GROUNDED = "equivalent-tool", "query-grounded"
SCREENS = (EQUIVALENT, GROUNDED)

_MODELS = 2
_TRACES = 2
_ALIKE = 0.5
_SHORTEST = 3
_WORD = re.compile(r"[a-z0-9]+")
_FILLERS = frozenset(_WORD.findall("a an and as at by for from get given in is it of on or the to"))
"""Words that every tool's description has."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a variant may be solvable after all, in the words of one screen."""

    variant: str
    screen: str
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rollouts of one task say: its critical tools, or why it has none."""

    critical: tuple[str, ...]
    traces: tuple[Trace, ...]
    why_not: str = ""


@dataclass(slots=True)
class Masked:
    """What a masking made. ``left_out``: tasks without a variant by reason."""

    folder: Path
    originals: int = 0
    variants: int = 0
    dropped: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Masking:
    """How tasks are masked.

    ``condition``: only rollouts of this arm. ``each``: one variant per critical tool instead of
    one without all of them. ``screens``: drop variants that these find. ``files``: trace files
    instead of a store.
    """

    condition: str | None = None
    each: bool = False
    screens: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()


def mask(store: Store | None, source: str | Path, out: Path, how: Masking | None = None) -> Masked:
    """Make a task set of the source's solved tasks and their infeasible variants.

    Args:
        store: holds the rollouts; None when ``how.files`` do.
        source: the task set, by name or folder.
        out: folder of the new set; what it holds of an earlier masking is replaced.
        how: arms, variants and screens.

    Raises:
        InputError: no rollouts, no task that can be masked, or a folder that cannot be written.
    """
    how = how or Masking()
    found = load_task_set(source)
    traces = _by_task(_traces(store, how), found.card.name)
    if not traces:
        raise InputError(
            f"there are no rollouts of task set {found.card.name}; run it with at least two models"
            " first, or name files of traces"
        )
    made = Masked(out)
    tasks: list[Task] = []
    for task in found.tasks:
        evidence = critical_tools(task, traces.get(task.id, ()))
        if evidence.why_not:
            made.left_out[evidence.why_not] += 1
            continue
        variants = list(_screened(task, evidence, how, made))
        if variants:
            tasks += [_original(task, evidence.critical), *variants]
            made.originals += 1
            made.variants += len(variants)
    if not tasks:
        reasons = "; ".join(reasons_of(made)) or "all dropped"
        raise InputError(f"no task of {found.card.name} can be masked ({reasons})")
    _write(out, found, tasks)
    return made


def reasons_of(made: Masked) -> list[str]:
    """Why tasks were left out, each reason with its number of tasks, as readable words."""
    told = []
    for why, count in sorted(made.left_out.items()):
        several = f"{count} tasks: {why.removesuffix('it')}them"
        told.append(several if count > 1 else f"1 task: {why}")
    return told


def critical_tools(task: Task, traces: Iterable[Trace]) -> Evidence:
    """Return the tools that every successful rollout ran without an error.

    At least two successful rollouts by at least two models are needed; a rollout whose success is
    not known is none.
    """
    solved = [trace for trace in traces if _solved(task, trace)]
    if len(solved) < _TRACES or len({trace.model for trace in solved}) < _MODELS:
        return Evidence((), (), "fewer than two models solved it")
    run = [{call.name for call in _clean_calls(trace)} for trace in solved]
    common = set.intersection(*run)
    critical = tuple(tool.name for tool in task.tools if tool.name in common)
    if not critical:
        return Evidence((), tuple(solved), "no tool is common to all that solved it")
    return Evidence(critical, tuple(solved))


def _solved(task: Task, trace: Trace) -> bool:
    if not trace.state.labelled or trace.error is not None:
        return False
    calls = pair_calls(trace.messages, {tool.name for tool in task.tools})
    answer = visible_answer(trace.messages)
    return succeeded(trace, task, tags_of(trace, task), calls, answer) is True


def _clean_calls(trace: Trace) -> list[Call]:
    return [c for c in pair_calls(trace.messages) if c.status == "executed" and not c.is_error]


# -- variants --------------------------------------------------------------------------------------


def _screened(task: Task, evidence: Evidence, how: Masking, made: Masked) -> Iterator[Task]:
    """The variants of a task that are kept; findings and dropped ones are noted."""
    groups = [(name,) for name in evidence.critical] if how.each else [evidence.critical]
    for names in groups:
        variant = masked_variant(task, names, one_of_several=how.each)
        findings = list(screen(task, variant, names, evidence.traces))
        made.findings += findings
        if any(finding.screen in how.screens for finding in findings):
            made.dropped += 1
        else:
            yield variant


def _original(task: Task, critical: Sequence[str]) -> Task:
    tags = {**task.tags, "subset": "original", "critical": ",".join(critical)}
    return task.model_copy(update={"tags": tags})


def masked_variant(task: Task, names: Sequence[str], *, one_of_several: bool = False) -> Task:
    """Return the task without some of its tools.

    The reference stays: a rollout that reaches the answer all the same shows that the variant is
    not infeasible.
    """
    suffix = f"without-{names[0]}" if one_of_several else "masked"
    note = f"Made from {task.id} by taking away {', '.join(names)}."
    reference = task.reference.model_copy(update={"note": note})
    masked = (*task.environment.masked, *names)
    tags = {**task.tags, "subset": "infeasible", "masked_from": task.id, "masked": ",".join(names)}
    return task.model_copy(
        update={
            "id": f"{task.id}.{suffix}",
            "tools": tuple(tool for tool in task.tools if tool.name not in names),
            "environment": task.environment.model_copy(update={"masked": masked}),
            "reference": reference,
            "tags": tags,
        }
    )


# -- screens ---------------------------------------------------------------------------------------


def screen(
    task: Task, variant: Task, names: Sequence[str], traces: Sequence[Trace]
) -> Iterator[Finding]:
    """Yield why a variant may be solvable although its tools are gone."""
    tools = {tool.name: tool for tool in task.tools}
    query = " ".join(m.content or "" for m in task.messages if m.role == "user")
    for name in names:
        for left in variant.tools:
            score = likeness(tools[name], left)
            if score >= _ALIKE:
                text = f"{left.name} reads like {name} (likeness {score:.2f})"
                yield Finding(variant.id, EQUIVALENT, text)
        for value in sorted(told_by(name, traces)):
            if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", query, re.IGNORECASE):
                yield Finding(variant.id, GROUNDED, f"the request holds {value!r}, as {name} does")


def likeness(one: Tool, other: Tool) -> float:
    """Return how alike two tools read: shared words of name and description, 0 to 1 (Jaccard)."""
    mine, theirs = _words(one), _words(other)
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 0.0


def _words(tool: Tool) -> set[str]:
    text = f"{tool.name} {tool.description}".lower().replace("_", " ")
    words = (word.rstrip("s") for word in _WORD.findall(text))
    return {word for word in words if word and word not in _FILLERS}


def told_by(name: str, traces: Sequence[Trace]) -> set[str]:
    """Return values that a tool told and that later calls were made with.

    What the tool was asked with is no news of it.
    """
    found: set[str] = set()
    for trace in traces:
        calls = _clean_calls(trace)
        for place, call in enumerate(calls):
            if call.name == name:
                told = _leaves(_json(call.result or "")) - _leaves(call.parsed)
                used = set[str]().union(*(_leaves(later.parsed) for later in calls[place + 1 :]))
                found |= {value for value in told & used if len(value) >= _SHORTEST}
    return found


def _leaves(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return set[str]().union(*map(_leaves, value.values()))
    if isinstance(value, list | tuple):
        return set[str]().union(*map(_leaves, value))
    if value is None or isinstance(value, bool):
        return set()
    return {str(value)}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# -- reading and writing ---------------------------------------------------------------------------


def _traces(store: Store | None, how: Masking) -> Iterator[Trace]:
    for path in how.files:
        for item in read_file(path):
            if isinstance(item, Trace) and how.condition in {None, item.condition}:
                yield item
    if store is not None and not how.files:
        wanted = None if how.condition is None else (how.condition,)
        for trace, _ in rows(store, Selection(conditions=wanted)):
            yield trace


def _by_task(traces: Iterable[Trace], set_name: str) -> dict[str, list[Trace]]:
    found: dict[str, list[Trace]] = defaultdict(list)
    for trace in traces:
        if trace.task_id is not None and trace.task_set == set_name:
            found[trace.task_id].append(trace)
    return dict(found)


def _write(out: Path, source: TaskSet, tasks: Sequence[Task]) -> None:
    """Write card and tasks; the same traces give the same files."""
    lines = [
        canonical_json(task.model_dump(mode="json", exclude_defaults=True, exclude={"set"}))
        for task in tasks
    ]
    card = _card(out.name, source.card)
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "card.yaml").write_text(card, encoding="utf-8")
        text = "".join(f"{line}\n" for line in lines)
        (out / "tasks.jsonl").write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot write {out} ({error.strerror}); name another folder with --out"
        ) from error


def _card(name: str, source: Card) -> str:
    fields = source.model_dump(mode="json", exclude_defaults=True)
    fields |= {
        "name": name,
        "title": f"{source.title}, with tools taken away",
        "rubric": "feasibility",
        "protocol": "feasibility",
        "gold": {"original": ["continue"], "infeasible": ["stop"]},
    }
    return yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=100)
