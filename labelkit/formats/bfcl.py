"""BFCL task files: JSON Lines under a ``.json`` name, the accepted answers in a folder beside.

``{id, question: [[message]], function: [tool]}``; ``possible_answer/`` beside the file holds
``{id, ground_truth: [{name: {argument: [accepted values]}}]}``, where an accepted ``""`` means
that the argument may be left out. Schemas say ``dict``, ``float`` and the types of Java or
JavaScript where JSON Schema has ``object`` and ``number``; they are translated and that is told.

An expected call keeps one accepted value per argument and no argument that may be left out, so
that a correct call is never counted wrong for what it may do; every accepted value stands in the
reference's note. Tasks of an irrelevance category expect no call at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.task import ExpectedCall, Reference, Task, Tool
from labelkit.formats.chat import read_messages
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import (
    BrokenRecordError,
    Finding,
    Head,
    Item,
    Notes,
    ReadOptions,
)
from labelkit.formats.records import an_object, read_each

TASK_SET = "bfcl"

_CATEGORY = re.compile(r"^(?P<category>[a-zA-Z_]+?)_\d")
_TYPES = {
    "dict": "object", "hashmap": "object", "hashtable": "object", "map": "object",
    "float": "number", "double": "number",
    "long": "integer", "short": "integer", "byte": "integer", "bigint": "integer",
    "tuple": "array", "list": "array", "arraylist": "array", "set": "array", "queue": "array",
    "stack": "array", "char": "string",
    "object": "object", "number": "number", "integer": "integer", "array": "array",
    "string": "string", "boolean": "boolean", "null": "null",
}  # fmt: skip
_ANSWERS = "possible_answer"


class Bfcl:
    """Reads BFCL task files."""

    name = "bfcl"
    description = "BFCL task files (lines with `question`, `function`; `possible_answer/` beside)"

    def sniff(self, head: Head) -> float:
        """Sure with turns of messages and functions; answers alone are told apart."""
        if {"id", "question", "function"} <= head.keys:
            return 0.95
        return 0.8 if {"id", "ground_truth"} == head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one task per line."""
        if path.parent.name == _ANSWERS:
            text = "these are the accepted answers; import the task file in the folder above"
            yield Finding(path.name, 1, "broken", text)
            return
        answers = _answers(path.parent / _ANSWERS / path.name)
        if not answers and "irrelevance" not in path.name:
            yield Finding(path.name, 0, "lost", f"there are no accepted answers in {_ANSWERS}/")

        def build(value: Any, source: str, notes: Notes) -> list[Task]:  # noqa: ARG001
            return [_task(an_object(value), answers, options, notes)]

        yield from read_each(json_records(path), path, build)


def _answers(path: Path) -> dict[str, list[Any]]:
    """Return the accepted calls by task id; a task file has at most some thousand lines."""
    if not path.is_file():
        return {}
    found = {}
    for record in json_records(path):
        row = record.value
        if isinstance(row, dict) and isinstance(row.get("ground_truth"), list):
            found[str(row.get("id"))] = row["ground_truth"]
    return found


def _task(
    row: dict[str, Any], answers: dict[str, list[Any]], options: ReadOptions, notes: Notes
) -> Task:
    task_id, turns, declared = row.get("id"), row.get("question"), row.get("function")
    if not isinstance(task_id, str) or not isinstance(turns, list) or not turns:
        raise BrokenRecordError("the task has no `id` or no `question`")
    if not isinstance(declared, list):
        declared = [declared] if isinstance(declared, dict) else []
    if set(row) - {"id", "question", "function"}:
        notes.lost("the task has fields this format does not know")
    first = turns[0] if isinstance(turns[0], list) else turns
    if first is not turns and len(turns) > 1:
        notes.lost("later user turns stand in the reference's note; the task is the first turn")
    named = _CATEGORY.match(task_id)
    category = named.group("category") if named else ""
    return Task(
        set=options.task_set or TASK_SET,
        id=task_id,
        messages=read_messages(first, notes),
        tools=tuple(_tool(tool, notes) for tool in declared),
        reference=_reference(answers.get(task_id), turns if first is not turns else [], category),
        tags={"category": category, "subset": category} if category else {},
    )


def _reference(accepted: list[Any] | None, turns: list[Any], category: str) -> Reference:
    no_calls = accepted is None and category.endswith("irrelevance")
    kept: dict[str, Any] = {}
    if accepted is not None:
        kept["accepted_calls"] = accepted
    if len(turns) > 1:
        kept["later_turns"] = turns[1:]
    calls = [
        ExpectedCall(name=name, arguments=_required(arguments))
        for call in accepted or ()
        if isinstance(call, dict)
        for name, arguments in call.items()
        if isinstance(arguments, dict)
    ]
    return Reference(
        expected_calls=tuple(calls),
        no_calls=no_calls,
        note=canonical_json(kept) if kept else "",
    )


def _required(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the first accepted value of every argument that may not be left out."""
    return {
        name: _value(accepted[0])
        for name, accepted in arguments.items()
        if isinstance(accepted, list) and accepted and "" not in accepted
    }


def _value(accepted: Any) -> Any:
    """Return one accepted value; inside an object every member lists its accepted values again."""
    if isinstance(accepted, dict):
        return _required(accepted)
    if isinstance(accepted, list):
        return [_value(entry) for entry in accepted]
    return accepted


def _tool(raw: Any, notes: Notes) -> Tool:
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        raise BrokenRecordError("a function has no name")
    if set(raw) - {"name", "description", "parameters"}:
        notes.lost("a function says more than name, description and parameters")
    description, parameters = raw.get("description"), raw.get("parameters")
    return Tool(
        name=raw["name"],
        description=description if isinstance(description, str) else "",
        parameters=_schema(parameters, notes) if isinstance(parameters, dict) else {},
    )


def _schema(value: Any, notes: Notes) -> Any:
    """Translate type names at every depth; a property that is called ``type`` is left alone."""
    if isinstance(value, list):
        return [_schema(entry, notes) for entry in value]
    if not isinstance(value, dict):
        return value
    made: dict[str, Any] = {}
    for key, entry in value.items():
        if key == "type" and isinstance(entry, str):
            known = _type(entry, notes)
            made |= {} if known is None else {key: known}
        elif key == "properties" and isinstance(entry, dict):
            made[key] = {name: _schema(inner, notes) for name, inner in entry.items()}
        elif key in {"items", "additionalProperties", "anyOf", "oneOf", "allOf"}:
            made[key] = _schema(entry, notes)
        else:
            made[key] = entry
    return made


def _type(name: str, notes: Notes) -> str | None:
    """Return JSON Schema's name of a type; None, which allows all, where there is none."""
    known = "array" if name.endswith("[]") else _TYPES.get(name.lower())
    if known != name:
        notes.repaired("a schema's types of another language became JSON Schema's")
    return known


READER = Bfcl()
