"""ToolFailBench: its task files, and the result files its runner writes.

Task files are ``{domain, tasks: [...]}`` with the tools in ``tools.json`` beside them. ``subset``
is what the labels depend on: ``control`` for tasks without an expected call, else ``required``;
the target failure mode is a design tag, not an expected label. The traps are the priors the
authors name (``memorized_prior_estimate``, ``user_anchored_prior``). Their ``trap_value`` is
mostly the *true* value out of the mock return, so it is a tag and no trap.

Result files. The released results are not public, so the shape was rebuilt from the description
of the runner and is read tolerantly: an array, JSON Lines, ``{"results": [rows]}`` or
``{"results": {task_id: row}}`` (fields beside ``results`` hold for every row). Row fields, first
name found wins:

    task_id | id                                             required
    model | model_name | model_id
    user_message | prompt | question,  system_prompt
    tool_calls | actual_tool_calls | calls | tool_calls_made  [{name, arguments}] or OpenAI shape
    tool_returns | tool_results (one per call), else mock_tool_return | tool_return (for all)
    final_answer | answer | final_response | response | model_response | output
    error;  an answer that begins with "ERROR:" is an error too (kind ``other_error``)

What a row leaves out (user message, mock return) is taken from ``tasks.json`` beside it. Their
runner answers *every* call with the one mock return, so every call gets a tool message; where the
return is not known its content is null and that is a finding. Published labels (rule, judges) and
all other fields stay in ``Trace.extra``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import Message
from labelkit.domain.task import (
    AnswerKey,
    Environment,
    ExpectedCall,
    Reference,
    Tag,
    Task,
    Tool,
    ToolReturn,
)
from labelkit.domain.trace import Trace, TraceError
from labelkit.formats import rows
from labelkit.formats.chat import read_message, read_tools
from labelkit.formats.jsonstream import Record, json_records
from labelkit.formats.reader import BrokenRecordError, Finding, Head, Item, Notes, ReadOptions
from labelkit.formats.records import reason

TASK_SET = "toolfailbench"

_TRAPS = ("memorized_prior_estimate", "user_anchored_prior")
_TAGS = ("domain", "conflict_type", "turn_type")
_TASK_KEYS = frozenset({
    "task_id", "target_failure_mode", "user_message", "expected_tool_call", "mock_tool_return",
    "ground_truth", "parametric_trap_note", "metadata", *_TAGS,
})  # fmt: skip
_ID = ("task_id", "id")
_MODEL = ("model", "model_name", "model_id")
_QUESTION = ("user_message", "prompt", "question")
_CALLS = ("tool_calls", "actual_tool_calls", "calls", "tool_calls_made")
_RETURNS = ("tool_returns", "tool_results")
_MOCK = ("mock_tool_return", "tool_return")
_ANSWER = ("final_answer", "answer", "final_response", "response", "model_response", "output")
_LABELS = (
    "rule_label", "rule_based_label", "failure_mode", "judge_labels", "judges", "judge_label",
    "ensemble_label", "label",
)  # fmt: skip
_MARKER = "target_failure_mode"


class ToolFailBenchTasks:
    """Reads ToolFailBench task files."""

    name = "toolfailbench-tasks"
    description = "ToolFailBench task files (`tasks.json`, tools in `tools.json` beside it)"

    def sniff(self, head: Head) -> float:
        """Sure when the tasks' own field names are there."""
        if "tasks" in head.keys and f'"{_MARKER}"' in head.text:
            return 0.95
        if {_MARKER, "ground_truth"} <= head.keys and not set(_ANSWER) & head.keys:
            return 0.9
        return 0.2 if "tasks" in head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield the tasks; ``Finding.record`` is the 0-based place in ``tasks``."""
        for record in json_records(path):
            if record.broken is not None:
                yield Finding(path.name, record.number, "broken", record.broken)
                continue
            yield from record.notes.findings(path, record.number)
            value = record.value
            if isinstance(value, dict) and isinstance(value.get("tasks"), list):
                yield from _task_list(value, path, options)
            else:
                yield from _one_task(value, {}, path, record.number, options)


def _task_list(file: dict[str, Any], path: Path, options: ReadOptions) -> Iterator[Item]:
    shared = {"tools": _tools_beside(path), "system": _system_prompt(file, path)}
    if shared["tools"] is None:
        yield Finding(path.name, 0, "lost", "there is no readable tools.json beside the tasks")
    if file.get("system_prompt_ref") and shared["system"] is None:
        yield Finding(path.name, 0, "lost", "the system prompt the file refers to is not there")
    for index, raw in enumerate(file["tasks"]):
        yield from _one_task(raw, shared, path, index, options)


def _one_task(
    raw: Any, shared: dict[str, Any], path: Path, record: int, options: ReadOptions
) -> Iterator[Item]:
    notes = Notes()
    try:
        task = _task(raw, shared, options.task_set or TASK_SET, notes)
    except (BrokenRecordError, ValueError, RecursionError) as error:
        yield Finding(path.name, record, "broken", reason(error))
        return
    yield task
    yield from notes.findings(path, record)


def _tools_beside(path: Path) -> tuple[Tool, ...] | None:
    try:
        raw = json.loads((path.parent / "tools.json").read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    return read_tools(raw.get("tools") if isinstance(raw, dict) else raw)


def _system_prompt(file: dict[str, Any], path: Path) -> str | None:
    """Return the prompt a file refers to, looked for in the folders above it and only there."""
    ref = file.get("system_prompt_ref")
    if not isinstance(ref, str) or Path(ref).is_absolute() or ".." in Path(ref).parts:
        return None
    for folder in list(path.resolve().parents)[:4]:
        try:
            return (folder / ref).read_text(encoding="utf-8-sig")
        except (OSError, ValueError):
            continue
    return None


def _task(raw: Any, shared: dict[str, Any], task_set: str, notes: Notes) -> Task:
    if not isinstance(raw, dict):
        raise BrokenRecordError("the task is not an object")
    if not isinstance(raw.get("task_id"), str) or not isinstance(raw.get("user_message"), str):
        raise BrokenRecordError("the task has no `task_id` or no `user_message`")
    if set(raw) - _TASK_KEYS:
        notes.lost("the task has fields this format does not know")
    prompt = [Message(role="user", content=raw["user_message"])]
    if shared.get("system"):
        prompt.insert(0, Message(role="system", content=shared["system"]))
    payload = json.dumps(raw.get("mock_tool_return"), ensure_ascii=False)
    return Task(
        set=task_set,
        id=raw["task_id"],
        messages=tuple(prompt),
        tools=shared.get("tools") or (),
        environment=Environment(returns=(ToolReturn(payload=payload),)),
        reference=_reference(raw, notes),
        tags=_task_tags(raw, notes),
    )


def _reference(raw: dict[str, Any], notes: Notes) -> Reference:
    truth = raw.get("ground_truth") or {}
    if not isinstance(truth, dict):
        raise BrokenRecordError("`ground_truth` is not an object")
    strings = truth.get("answer_must_contain") or []
    mode = truth.get("match_mode", "all")
    if not isinstance(strings, list) or mode not in {"all", "any"}:
        raise BrokenRecordError("`ground_truth` holds no list of strings or an unknown match mode")
    if set(truth) - {"answer_must_contain", "match_mode"}:
        notes.lost("the ground truth has fields this format does not know")
    expected = raw.get("expected_tool_call")
    calls: tuple[ExpectedCall, ...] = ()
    if expected is not None:
        if not isinstance(expected, dict) or not isinstance(expected.get("name"), str):
            raise BrokenRecordError("`expected_tool_call` has no name")
        calls = (ExpectedCall(name=expected["name"], arguments=expected.get("arguments") or {}),)
    metadata = raw.get("metadata") if isinstance(raw.get("metadata"), dict) else {}
    traps = tuple(str(metadata[key]) for key in _TRAPS if metadata and metadata.get(key))
    return Reference(
        expected_calls=calls,
        payload=raw.get("mock_tool_return"),
        answer_key=AnswerKey(mode=mode, traps=traps) if traps else None,
        must_contain=tuple(s if isinstance(s, str) else canonical_json(s) for s in strings),
        match_mode=mode,
        note=str(raw.get("parametric_trap_note") or ""),
    )


def _task_tags(raw: dict[str, Any], notes: Notes) -> dict[str, Tag]:
    tags: dict[str, Tag] = {
        "subset": "control" if raw.get("expected_tool_call") is None else "required"
    }
    if isinstance(raw.get(_MARKER), str):
        tags["target_mode"] = raw[_MARKER]
    tags |= {key: raw[key] for key in _TAGS if rows.is_tag(raw.get(key))}
    metadata = raw.get("metadata")
    for key, value in metadata.items() if isinstance(metadata, dict) else ():
        if key in tags or not rows.is_tag(value):
            notes.lost("metadata that is no plain value, or named like a tag, was left out")
        else:
            tags[key] = value
    return tags


class ToolFailBenchResults:
    """Reads the result files of the ToolFailBench runner; see the module's text for the shape."""

    name = "toolfailbench-results"
    description = "ToolFailBench result files (rows with task_id, calls, answer and labels)"

    def sniff(self, head: Head) -> float:
        """Sure when a row has a task id and an answer; ``messages`` or ``traj`` speak against."""
        keys = head.keys
        if keys & {"messages", "traj", "choices", "tasks", "samples", "eval"}:
            return 0.0
        names = ("task_id", *_ANSWER, *_CALLS, *_LABELS)
        quoted = {name for name in names if f'"{name}"' in head.text}
        if "results" in keys and quoted & set(_LABELS):
            quoted.add("task_id")
        known = quoted if "results" in keys else keys
        if "task_id" in known and set(_ANSWER) & known:
            return 0.85 if set(_CALLS) & known or set(_LABELS) & known else 0.6
        return 0.3 if "task_id" in known and set(_CALLS) & known else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one trace per row."""
        known = _tasks_beside(path)
        for record in json_records(path):
            if record.broken is not None:
                yield Finding(path.name, record.number, "broken", record.broken)
                continue
            for number, row in _result_rows(record):
                notes = Notes(list(record.notes.found))
                try:
                    trace = _trace(row, known, f"{path.name}:{number}", options, notes)
                except (BrokenRecordError, ValueError, RecursionError) as error:
                    yield Finding(path.name, number, "broken", reason(error))
                    continue
                yield trace
                yield from notes.findings(path, number)


def _tasks_beside(path: Path) -> dict[str, dict[str, Any]]:
    """Return the raw tasks of ``tasks.json`` beside the results, or nothing."""
    try:
        raw = json.loads((path.parent / "tasks.json").read_text(encoding="utf-8-sig"))
        return {task["task_id"]: task for task in raw["tasks"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _result_rows(record: Record) -> Iterator[tuple[int, Any]]:
    value = record.value
    if not isinstance(value, dict) or "results" not in value:
        yield record.number, value
        return
    shared = {k: v for k, v in value.items() if k != "results" and not isinstance(v, dict | list)}
    results = value["results"]
    if isinstance(results, dict):
        results = [
            {"task_id": task_id} | row if isinstance(row, dict) else row
            for task_id, row in results.items()
        ]
    for number, row in enumerate(results if isinstance(results, list) else [results]):
        yield number, shared | row if isinstance(row, dict) else row


def _take(row: dict[str, Any], names: tuple[str, ...]) -> Any:
    """Remove and return the first field of these names that is not null."""
    for name in names:
        if row.get(name) is not None:
            return row.pop(name)
    return None


def _trace(
    row: Any,
    known: dict[str, dict[str, Any]],
    source: str,
    options: ReadOptions,
    notes: Notes,
) -> Trace:
    if not isinstance(row, dict):
        raise BrokenRecordError("the row is not an object")
    extra = dict(row)
    task_id = _take(extra, _ID)
    if not isinstance(task_id, str):
        raise BrokenRecordError("the row has no `task_id`")
    model = _take(extra, _MODEL)
    answer = _take(extra, _ANSWER)
    if answer is not None and not isinstance(answer, str):
        notes.repaired("the answer was no text, now its JSON text")
        answer = canonical_json(answer)
    error = rows.read_error(extra.pop("error", None))
    if error is None and answer is not None and answer.startswith("ERROR:"):
        error, answer = TraceError(kind="other_error", message=answer), None
    messages = _conversation(extra, known.get(task_id), answer, notes)
    finish_reason = rows.text_field(extra, "finish_reason", extra)
    state, error = rows.row_state(messages, finish_reason, error)
    usage = extra.pop("usage", None)
    tags = {k: extra.pop(k) for k in ("domain", _MARKER) if rows.is_tag(extra.get(k))}
    if _MARKER in tags:
        tags["target_mode"] = tags.pop(_MARKER)
    repeat = rows.repeat_of(extra.pop("repeat", None), extra, "repeat", notes)
    if finish_reason is not None:
        extra.pop("finish_reason", None)
    return Trace(
        model=rows.model_name(options.model, model if isinstance(model, str) else None, notes),
        messages=messages,
        state=state,
        task_set=options.task_set or TASK_SET,
        task_id=task_id,
        condition=options.condition or "",
        repeat=repeat,
        finish_reason=finish_reason,
        error=error,
        usage=rows.read_usage(usage, extra),
        tags=tags,
        extra=extra,
        source=source,
    )


def _conversation(
    extra: dict[str, Any], task: dict[str, Any] | None, answer: str | None, notes: Notes
) -> tuple[Message, ...]:
    messages: list[Message] = []
    system = _take(extra, ("system_prompt",))
    question = _take(extra, _QUESTION) or (task or {}).get("user_message")
    for role, text in (("system", system), ("user", question)):
        if isinstance(text, str):
            messages.append(Message(role=role, content=text))
    if not isinstance(question, str):
        notes.lost("the user's message is neither in the row nor in a tasks.json beside it")
    raw_calls = _take(extra, _CALLS)
    if raw_calls:
        raw = {"role": "assistant", "content": None, "tool_calls": raw_calls}
        asking = read_message(raw, notes)
        messages.append(asking)
        messages.extend(_tool_messages(extra, task, asking, notes))
    if answer is not None:
        messages.append(Message(role="assistant", content=answer))
    return tuple(messages)


def _tool_messages(
    extra: dict[str, Any], task: dict[str, Any] | None, asking: Message, notes: Notes
) -> Iterator[Message]:
    returns = _take(extra, _RETURNS)
    mock = _take(extra, _MOCK)
    if mock is None and task is not None:
        mock = task.get("mock_tool_return")
    each = isinstance(returns, list) and len(returns) == len(asking.tool_calls)
    if returns is not None and not each:
        extra["tool_returns"] = returns
    for index, call in enumerate(asking.tool_calls):
        value = returns[index] if each else mock
        text = value if isinstance(value, str) else None
        if value is None:
            if task is None:
                notes.lost("what the tool returned is not known: the tool message is empty")
            else:
                text = "null"
        elif text is None:
            text = json.dumps(value, ensure_ascii=False)
        yield Message(role="tool", content=text, tool_call_id=call.id, name=call.name)


TASKS = ToolFailBenchTasks()
RESULTS = ToolFailBenchResults()
