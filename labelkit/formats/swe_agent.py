"""SWE-agent trajectories (``.traj``): one object per file, the conversation in ``history``.

With a function-calling parser the history holds tool calls and tool messages; with the older
thought-and-action parser the command stands in the assistant's text and the observation is a user
message. The second kind is kept as it was said: the steps that were really executed stay in
``Trace.extra["trajectory"]``, and a finding says so. A demonstration has only a history.

Row states. ``info.exit_status`` is the finish reason. A status that names a limit (cost, context,
calls) is ``truncated``; one that names an error of the environment or the API is ``infra_error``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.message import Message
from labelkit.domain.task import Tag
from labelkit.domain.trace import RowState, Trace, TraceError, Usage
from labelkit.formats import rows
from labelkit.formats.chat import read_messages
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import BrokenRecordError, Head, Item, Notes, ReadOptions
from labelkit.formats.records import an_object, read_each

TASK_SET = "swe-agent"

_LIMITS = ("exit_cost", "exit_context", "exit_total_execution_time", "exit_command_timeout")
_FAULTS = ("exit_api", "exit_environment_error", "exit_error", "environment_error")
_USED = frozenset({"history", "trajectory", "info"})


class SweAgent:
    """Reads SWE-agent trajectories."""

    name = "swe-agent"
    description = "SWE-agent trajectories (`.traj`: objects with `history` and `trajectory`)"

    def sniff(self, head: Head) -> float:
        """Sure by the file's name or by its steps; a huge first step may hide the history."""
        if "trajectory" in head.keys and '"observation"' in head.text:
            return 0.95
        if head.path.suffix == ".traj":
            return 0.9
        return 0.7 if {"history", "info"} <= head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one trace per object."""

        def build(value: Any, source: str, notes: Notes) -> list[Trace]:
            return [_trace(an_object(value), source, options, notes)]

        return read_each(json_records(path), path, build)


def _trace(run: dict[str, Any], source: str, options: ReadOptions, notes: Notes) -> Trace:
    raw = run.get("history")
    if not isinstance(raw, list) or not raw:
        raise BrokenRecordError("the trajectory has no `history`")
    messages = tuple(_result_id(message) for message in read_messages(raw, notes))
    info = run["info"] if isinstance(run.get("info"), dict) else {}
    extra = {key: value for key, value in run.items() if key not in _USED}
    extra |= {key: value for key, value in info.items() if key != "exit_status"}
    steps = run.get("trajectory")
    if steps:
        extra["trajectory"] = steps
    if isinstance(steps, list) and steps and not any(m.tool_calls for m in messages):
        notes.odd("commands stand in the text and are no tool calls; `extra` holds the steps run")
    config = _config(run.get("replay_config"))
    exit_status = rows.text_field(info, "exit_status", extra)
    state, error = _ending(exit_status, messages)
    problem = _inside(config, "problem_statement")
    tags: dict[str, Tag] = {"submitted": "submitted" in exit_status} if exit_status else {}
    return Trace(
        model=rows.model_name(
            options.model, _text(_inside(_inside(config, "agent"), "model"), "name"), notes
        ),
        messages=messages,
        state=state,
        task_set=options.task_set or TASK_SET,
        task_id=_text(problem, "id") or _text(run, "instance_id"),
        condition=options.condition or "",
        finish_reason=exit_status,
        error=error,
        usage=_usage(info.get("model_stats"), notes),
        tags=tags,
        extra=extra,
        source=source,
    )


def _result_id(message: Message) -> Message:
    """Take the one id of a tool message out of ``tool_call_ids``."""
    ids = message.extra.get("tool_call_ids")
    if not (isinstance(ids, list) and len(ids) == 1 and isinstance(ids[0], str)):
        return message
    rest = {key: value for key, value in message.extra.items() if key != "tool_call_ids"}
    return message.model_copy(update={"tool_call_id": ids[0], "extra": rest})


def _ending(
    status: str | None, messages: tuple[Message, ...]
) -> tuple[RowState, TraceError | None]:
    name = status or ""
    if any(word in name for word in _FAULTS):
        return RowState.INFRA_ERROR, TraceError(kind="other_error", message=name)
    if any(word in name for word in _LIMITS):
        return RowState.TRUNCATED, None
    return rows.row_state(messages, None, None)


def _config(raw: Any) -> dict[str, Any]:
    """Return the replay configuration; newer versions write it as JSON text."""
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            return {}
    return raw if isinstance(raw, dict) else {}


def _inside(value: dict[str, Any], key: str) -> dict[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}


def _text(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None


def _usage(stats: Any, notes: Notes) -> Usage | None:
    """Return the tokens; a replay sends nothing and counts zeros, which is not knowing."""
    if not isinstance(stats, dict):
        return None
    sent, received = rows.count(stats.get("tokens_sent")), rows.count(stats.get("tokens_received"))
    if not sent and not received:
        notes.lost("no tokens were counted: the usage is unknown, not zero")
        return None
    return Usage(prompt_tokens=sent, completion_tokens=received)


READER = SweAgent()
