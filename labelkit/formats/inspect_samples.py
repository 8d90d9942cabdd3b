"""One sample of an Inspect log as a trace, and its problem as a task.

Inspect writes chat messages much like OpenAI's, with the function's name and an argument object
where OpenAI nests both, reasoning as a content part, long texts as attachments by hash, and what
went wrong with a tool beside the tool's text. The transcript of events repeats the messages with
everything around them; it is left out and that is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import Message
from labelkit.domain.task import Reference, Tag, Task
from labelkit.domain.trace import RowState, Trace, TraceError, Usage
from labelkit.formats import rows
from labelkit.formats.chat import prompt_of, read_messages
from labelkit.formats.dialects import read_any_usage
from labelkit.formats.reader import BrokenRecordError, Notes, ReadOptions

_ATTACHED = "attachment://"
_EVENTS = ("events", "transcript", "attachments")
_USED = frozenset({
    "id", "epoch", "input", "choices", "target", "messages", "output", "scores", "metadata",
    "error", "limit", "model_usage", *_EVENTS,
})  # fmt: skip


def read_sample(
    sample: dict[str, Any],
    evaluation: dict[str, Any],
    source: str,
    options: ReadOptions,
    notes: Notes,
) -> tuple[Task | None, Trace]:
    """Return the problem and the rollout of one sample.

    Args:
        sample: the sample as the log has it.
        evaluation: the log's ``eval`` section: task, model, run.
        source: where it was read.
        options: what the user states.
        notes: where findings go.

    Raises:
        BrokenRecordError: the sample holds no messages.
    """
    attached = sample["attachments"] if isinstance(sample.get("attachments"), dict) else {}
    raw = sample.get("messages")
    if not isinstance(raw, list):
        raise BrokenRecordError("the sample has no `messages`")
    messages = _messages(raw, attached, notes)
    if any(sample.get(key) for key in ("events", "transcript")):
        notes.lost("the transcript of events was left out; the messages are kept")
    extra = {key: value for key, value in sample.items() if key not in _USED and value}
    extra["log"] = {k: evaluation[k] for k in ("run_id", "task_id", "created") if k in evaluation}
    output = sample["output"] if isinstance(sample.get("output"), dict) else {}
    error, finish_reason = _ending(sample, output)
    state, error = rows.row_state(messages, finish_reason, error)
    if sample.get("limit") and error is None:
        state = RowState.TRUNCATED
    task_set = options.task_set or rows.text_or_none(evaluation.get("task"))
    task_id = rows.text_field(sample, "id", extra)
    epoch = rows.count(sample.get("epoch"))
    model = rows.text_or_none(evaluation.get("model")) or rows.text_or_none(output.get("model"))
    trace = Trace(
        model=rows.model_name(options.model, model, notes),
        messages=messages,
        state=state,
        task_set=task_set,
        task_id=task_id,
        condition=options.condition or "",
        repeat=max(epoch - 1, 0) if epoch is not None else 0,
        finish_reason=finish_reason,
        error=error,
        usage=_usage(sample, output),
        tags=_tags(sample, extra),
        extra=extra,
        source=source,
    )
    if task_set is None or task_id is None:
        return None, trace
    return _task(sample, task_set, task_id, messages, attached), trace


def _messages(raw: list[Any], attached: dict[str, Any], notes: Notes) -> tuple[Message, ...]:
    return read_messages([_message(_resolved(entry, attached), notes) for entry in raw], notes)


def _resolved(value: Any, attached: dict[str, Any]) -> Any:
    """Put attachments back where the log refers to them."""
    if isinstance(value, str):
        if value.startswith(_ATTACHED):
            return attached.get(value.removeprefix(_ATTACHED), value)
        return value
    if isinstance(value, list):
        return [_resolved(entry, attached) for entry in value]
    if isinstance(value, dict):
        return {key: _resolved(entry, attached) for key, entry in value.items()}
    return value


def _message(raw: Any, notes: Notes) -> Any:
    """Write one of Inspect's messages the way OpenAI's chat has it."""
    if not isinstance(raw, dict):
        return raw
    entry = dict(raw)
    calls = entry.get("tool_calls")
    if isinstance(calls, list):
        entry["tool_calls"] = [_call(call) for call in calls]
    if entry.get("role") == "tool":
        if isinstance(entry.get("function"), str):
            entry["name"] = entry.pop("function")
        error = entry.get("error")
        if isinstance(error, dict) and not entry.get("content"):
            entry["content"] = rows.text_or_none(error.get("message"))
            notes.repaired("a tool's error became its empty result's text, as the model saw it")
    if isinstance(entry.get("content"), list):
        parts = entry["content"]
        thoughts = [p for p in parts if isinstance(p, dict) and p.get("type") == "reasoning"]
        said = [rows.text_or_none(p.get("reasoning")) or "" for p in thoughts]
        if thoughts:
            entry["reasoning"] = "\n".join(said)
            entry["content"] = [part for part in parts if part not in thoughts]
    return entry


def _call(call: Any) -> Any:
    if not isinstance(call, dict) or not isinstance(call.get("function"), str):
        return call
    known = {"id", "function", "arguments", "type"}
    rest = {key: value for key, value in call.items() if key not in known and value is not None}
    function = {"name": call["function"], "arguments": call.get("arguments")}
    return {"id": call.get("id"), "type": "function", "function": function, **rest}


def _ending(sample: dict[str, Any], output: dict[str, Any]) -> tuple[TraceError | None, str | None]:
    error = rows.read_error(sample.get("error"))
    if error is not None:
        error = TraceError(kind="sample_error", message=error.message)
    limit = sample.get("limit")
    if isinstance(limit, dict) and isinstance(limit.get("type"), str):
        return error, f"limit:{limit['type']}"
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    reason = first.get("stop_reason") if isinstance(first, dict) else None
    return error, rows.text_or_none(reason)


def _usage(sample: dict[str, Any], output: dict[str, Any]) -> Usage | None:
    """Return the tokens of the whole sample: over all its requests and models."""
    by_model = sample.get("model_usage")
    counted = [
        usage
        for raw in (by_model.values() if isinstance(by_model, dict) else ())
        if (usage := read_any_usage(raw)) is not None
    ]
    if not counted:
        return read_any_usage(output.get("usage"))
    return Usage(**{name: _total(counted, name) for name in Usage.model_fields})


def _total(counted: Sequence[Usage], name: str) -> int | None:
    values = [getattr(usage, name) for usage in counted]
    return None if None in values else sum(values)


def _tags(sample: dict[str, Any], extra: dict[str, Any]) -> dict[str, Tag]:
    """Return plain metadata and each scorer's value as tags; the rest stays in ``extra``."""
    tags = rows.read_tags({"metadata": sample.get("metadata")}, extra)
    scores = sample.get("scores")
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        if value is not None and rows.is_tag(value):
            tags[f"score_{name}"] = value
    if scores:
        extra["scores"] = scores
    return tags


def _task(
    sample: dict[str, Any],
    task_set: str,
    task_id: str,
    messages: tuple[Message, ...],
    attached: dict[str, Any],
) -> Task:
    target = _resolved(sample.get("target"), attached)
    several = isinstance(target, list)
    choices = sample.get("choices")
    return Task(
        set=task_set,
        id=task_id,
        messages=tuple(m.model_copy(update={"extra": {}}) for m in prompt_of(messages)),
        reference=Reference(
            gold_answer=target if isinstance(target, str) and target else None,
            must_contain=tuple(str(entry) for entry in target) if several else (),
            match_mode="any" if several else "all",
            note=f"choices: {canonical_json(choices)}" if choices else "",
        ),
    )
