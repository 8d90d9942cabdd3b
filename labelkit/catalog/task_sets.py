"""Task sets: a folder with a card that says where the tasks come from, and the tasks."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pydantic import Field, ValidationError

from labelkit.catalog.located_errors import dotted, fields_at, validated
from labelkit.catalog.places import find, names
from labelkit.catalog.yaml_nodes import read_yaml
from labelkit.domain.condition import Condition
from labelkit.domain.frozen import Frozen
from labelkit.domain.task import Task
from labelkit.domain.terms import Terms
from labelkit.errors import FormatError, LocatedError


class TaskSetError(LocatedError, FormatError):
    """A mistake in a task set's folder; knows file and line."""


class Card(Frozen):
    """What a task set is, who may pass it on, which domains it covers, and how it is played.

    ``rubric`` names the scheme that labels its traces; ``protocol`` and ``max_turns`` how they are
    made, where that differs from the rubric's and the protocol's own. ``conditions`` are prompt
    variants; the first one is played when none is asked for. ``gold`` are the labels that the
    rubric's rule may give a task's gold answer, by subset (``*``: any other; default: correct).
    """

    name: str
    title: str
    version: str = Field(min_length=1)
    licence: str
    redistributable: bool
    source: str
    description: str
    domains: tuple[str, ...]
    rubric: str = ""
    protocol: str = ""
    max_turns: int | None = Field(default=None, ge=1, le=1000)
    conditions: tuple[Condition, ...] = ()
    gold: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    @property
    def terms(self) -> Terms:
        """What a release asks: may the texts be passed on, and under which licence."""
        return Terms(
            name=self.name,
            licence=self.licence,
            redistributable=self.redistributable,
            title=self.title,
            source=self.source,
        )


class _Conditions(Frozen):
    """A file of prompt variants."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class TaskSet:
    """A card and its tasks in file order."""

    card: Card
    tasks: tuple[Task, ...]


def task_set_names() -> tuple[str, ...]:
    """Return the names that ``load_task_set`` knows here, sorted."""
    return names("datasets")


def load_task_set(name_or_path: str | Path) -> TaskSet:
    """Read a task set given by name, folder or path of its ``card.yaml``.

    Raises:
        InputError: no such task set.
        TaskSetError: a mistake in it; names file, line and mend.
    """
    folder, card = load_card(name_or_path)
    return TaskSet(card=card, tasks=_tasks(folder, card.name))


def load_card(name_or_path: str | Path) -> tuple[Path, Card]:
    """Read the card of a task set; returns its folder and the card.

    Raises:
        InputError: no such task set.
        TaskSetError: a mistake in the card; names file, line and mend.
    """
    folder = find("datasets", name_or_path)
    located = read_yaml(folder / "card.yaml", TaskSetError)
    card = validated(located, Card)
    if card.name != folder.resolve().name:
        problem = f"the name {card.name!r} differs from the folder's name"
        raise located.mistake(("name",), problem, "make them equal")
    return folder, card


def load_conditions(path: Path) -> tuple[Condition, ...]:
    """Read prompt variants from a YAML or JSON file: a list under ``conditions``.

    Raises:
        TaskSetError: a mistake in it; names file, line and mend.
    """
    return validated(read_yaml(path, TaskSetError), _Conditions).conditions


def task_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of ``tasks.jsonl``, for editors.

    The set's name is not in it: the card gives it.
    """
    schema = Task.model_json_schema()
    schema["properties"].pop("set")
    schema["required"].remove("set")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def read_lines(folder: Path, set_name: str) -> Iterator[Task | TaskSetError]:
    """Read ``tasks.jsonl`` line by line; a wrong line is handed over, not raised.

    Raises:
        TaskSetError: the file cannot be read.
    """
    path = folder / "tasks.jsonl"
    seen: set[str] = set()
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError:
        raise TaskSetError(path, None, "the file cannot be read", "add the tasks file") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            task = _task(line, path, number, set_name)
        except TaskSetError as fault:
            yield fault
            continue
        if task.id in seen:
            problem = f"the task id {task.id!r} is given twice"
            yield TaskSetError(path, number, problem, "give each task its own id")
            continue
        seen.add(task.id)
        yield task


def _tasks(folder: Path, set_name: str) -> tuple[Task, ...]:
    found = []
    for entry in read_lines(folder, set_name):
        if isinstance(entry, TaskSetError):
            raise entry
        found.append(entry)
    if not found:
        path = folder / "tasks.jsonl"
        raise TaskSetError(path, None, "there are no tasks", "write one JSON object per line")
    return tuple(found)


def _task(line: bytes, path: Path, number: int, set_name: str) -> Task:
    try:
        record: Any = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as fault:
        problem = f"not a line of UTF-8 JSON ({fault})"
        raise TaskSetError(path, number, problem, "write one object per line") from None
    if not isinstance(record, dict):
        raise TaskSetError(path, number, "the line is not an object", "write {...}")
    if "set" in record:
        raise TaskSetError(path, number, "the key 'set' is given", "remove it: the card names it")
    try:
        return Task.model_validate({**record, "set": set_name})
    except ValidationError as fault:
        raise TaskSetError(path, number, *_wrong(fault)) from None


def _wrong(fault: ValidationError) -> tuple[str, str]:
    """Problem and mend of the first mistake in a line, a misspelt field before others."""
    errors = fault.errors(include_url=False)
    first = min(errors, key=lambda error: error["type"] != "extra_forbidden")
    loc, name = first["loc"], dotted(first["loc"])
    if first["type"] != "extra_forbidden":
        return f"{name!r} is wrong: {first['msg'].lower()}", "see `labelkit tasks schema`"
    near = difflib.get_close_matches(str(loc[-1]), sorted(fields_at(Task, loc[:-1])), n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown field {name!r}", f"{guess}see `labelkit tasks schema`"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
