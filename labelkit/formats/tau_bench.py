"""tau-bench runs: an array of ``{task_id, trial, reward, info, traj}``; and its few-shot texts.

The user in a tau-bench run is simulated: ``info.task.instruction`` is what the *simulator* was
told and the agent never saw. It becomes the note of the task's reference, never a message.
AgentRx ships runs in the same shape with ``index``, ``annotations`` and ``refusal`` fields in the
messages; they stay in ``Message.extra``.

Row states. ``info.error`` -> ``infra_error``. No reward was computed (``reward_info`` null) ->
the step limit cut the run -> ``truncated``, finish reason ``max_steps``. Otherwise ``ok`` when
the last assistant message says something visible, else ``no_text``: a run that ends with a bare
transfer to a human is complete but has no last word. The reward is a tag, never a state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.message import Message
from labelkit.domain.task import ExpectedCall, Reference, Tag, Task
from labelkit.domain.trace import RowState, Trace, TraceError
from labelkit.formats import rows
from labelkit.formats.chat import read_messages
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import (
    BrokenRecordError,
    Finding,
    Head,
    Item,
    Notes,
    ReadOptions,
    TaskBook,
)
from labelkit.formats.records import an_object, read_each

_DOMAINS = ("airline", "retail")
_POLICY = re.compile(r"\b(airline|retail) agent\b", re.IGNORECASE)
_FILE_MODEL = re.compile(
    r"((?:gpt|claude|sonnet|opus|haiku|gemini|llama|qwen|mistral|deepseek|o\d)[\w.+-]*?)"
    r"[-_](?:airline|retail)\b",
    re.IGNORECASE,
)
_TOOL_DOMAIN = {
    "airline": {"get_reservation_details", "book_reservation", "search_direct_flight"},
    "retail": {"get_order_details", "get_product_details", "list_all_product_types"},
}
_USED = frozenset({"task_id", "trial", "reward", "info", "traj"})
_TURN = re.compile(r"^(system|user|assistant|tool): ?", re.MULTILINE)


class TauBench:
    """Reads tau-bench runs."""

    name = "tau-bench"
    description = "tau-bench runs (array of objects with `traj`, `reward`, `info`); also AgentRx"

    def sniff(self, head: Head) -> float:
        """Sure with ``traj``; it may lie beyond the head, so reward and info nearly suffice."""
        if "traj" in head.keys:
            return 0.95
        return 0.8 if {"task_id", "reward", "info"} <= head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one trace per run, before it the task where it is new."""
        book = TaskBook()
        named = _FILE_MODEL.search(path.stem)
        model = named.group(1) if named else None

        def build(value: Any, source: str, notes: Notes) -> Iterator[Task | Trace]:
            task, trace = _run(value, source, model, options, notes)
            if task is not None and book.is_new(task, notes):
                yield task
            yield trace

        return read_each(json_records(path, span=options.span), path, build)


def _run(
    run: Any, source: str, file_model: str | None, options: ReadOptions, notes: Notes
) -> tuple[Task | None, Trace]:
    run = an_object(run)
    if "traj" not in run:
        raise BrokenRecordError("the record has no `traj`")
    info = run.get("info")
    if not isinstance(info, dict):
        notes.lost("the run has no `info`: its task and reward details are unknown")
        info = {}
    messages = read_messages(run["traj"], notes)
    error = rows.read_error(info.get("error"))
    if not messages and error is None:
        raise BrokenRecordError("`traj` is empty")
    domain = _domain(messages)
    task_set = options.task_set or (f"tau-bench-{domain}" if domain else "tau-bench")
    extra = {key: value for key, value in run.items() if key not in _USED}
    extra |= {key: value for key, value in info.items() if key not in {"task", "error"}}
    task_id = rows.text_field(run, "task_id", extra)
    task = None
    if task_id is not None:
        task = _task(info.get("task"), task_set, task_id, domain, messages, notes)
    else:
        notes.lost("the run has no task id: it belongs to no task")
    finish_reason, state, error = _ending(info, messages, error)
    trace = Trace(
        model=rows.model_name(options.model, file_model, notes),
        messages=messages,
        state=state,
        task_set=task_set,
        task_id=task_id,
        condition=options.condition or "",
        repeat=rows.repeat_of(run.get("trial"), extra, "trial", notes),
        finish_reason=finish_reason,
        error=error,
        tags=_tags(run, domain),
        extra=extra,
        source=source,
    )
    return task, trace


def _ending(
    info: dict[str, Any], messages: tuple[Message, ...], error: TraceError | None
) -> tuple[str | None, RowState, TraceError | None]:
    unrewarded = "reward_info" in info and info["reward_info"] is None
    finish_reason = "max_steps" if unrewarded and error is None else None
    state, error = rows.row_state(messages, finish_reason, error)
    return finish_reason, state, error


def _tags(run: dict[str, Any], domain: str | None) -> dict[str, Tag]:
    tags: dict[str, Tag] = {k: run[k] for k in ("reward", "trial") if rows.is_tag(run.get(k))}
    if domain:
        tags["domain"] = domain
    return tags


def _domain(messages: tuple[Message, ...]) -> str | None:
    """Decide the domain from the policy, else from the tools that were called."""
    if messages and messages[0].role == "system":
        policy = _POLICY.search(messages[0].content or "")
        if policy:
            return policy.group(1).lower()
    called = {call.name for message in messages for call in message.tool_calls}
    for domain in _DOMAINS:
        if called & _TOOL_DOMAIN[domain]:
            return domain
    return None


def _task(
    raw: Any,
    task_set: str,
    task_id: str,
    domain: str | None,
    messages: tuple[Message, ...],
    notes: Notes,
) -> Task | None:
    """Build the task: the policy is its prompt, the gold actions are its expected calls."""
    if not isinstance(raw, dict):
        notes.lost("the run does not describe its task")
        return None
    actions = raw.get("actions") or []
    if not isinstance(actions, list) or not all(
        isinstance(a, dict) and isinstance(a.get("name"), str) for a in actions
    ):
        notes.lost("the task's `actions` are not a list of named calls")
        actions = []
    outputs = raw.get("outputs") or []
    if not isinstance(outputs, list):
        notes.lost("the task's `outputs` are not a list")
        outputs = []
    if set(raw) - {"actions", "outputs", "instruction", "user_id"}:
        notes.lost("the task has fields beside user_id, instruction, actions and outputs")
    tags: dict[str, Tag] = {"user_id": raw["user_id"]} if rows.is_tag(raw.get("user_id")) else {}
    if domain:
        tags["domain"] = domain
    policy = messages[:1] if messages and messages[0].role == "system" else ()
    return Task(
        set=task_set,
        id=task_id,
        messages=tuple(m.model_copy(update={"extra": {}}) for m in policy),
        reference=Reference(
            expected_calls=tuple(
                ExpectedCall(name=a["name"], arguments=a.get("kwargs") or a.get("arguments") or {})
                for a in actions
            ),
            must_contain=tuple(str(output) for output in outputs),
            note=str(raw.get("instruction") or ""),
        ),
        tags=tags,
    )


class TauFewShot:
    """Reads tau-bench's few-shot file: transcripts flattened to one text, tool calls lost.

    ``assistant: None`` is a null made text: the turn held a tool call that the file no longer
    has. The turn is kept with null content and the loss is a finding; the tool's output stays. A
    line inside a message that looks like a turn would be read as one: the flattened form cannot
    tell them apart.
    """

    name = "tau-bench-few-shot"
    description = "tau-bench few-shot transcripts (JSON Lines with `messages_display`)"

    def sniff(self, head: Head) -> float:
        """Sure with ``messages_display``."""
        return 0.95 if "messages_display" in head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one trace per line; each lost call is a finding."""
        for record in json_records(path):
            if record.broken is not None:
                yield Finding(path.name, record.number, "broken", record.broken)
                continue
            row = record.value
            text = row.get("messages_display") if isinstance(row, dict) else None
            messages = _turns(text) if isinstance(text, str) else ()
            if not messages:
                yield Finding(path.name, record.number, "broken", "no turns in `messages_display`")
                continue
            state, _ = rows.row_state(messages, None, None)
            model = rows.model_name(options.model, None, record.notes)
            yield Trace(
                model=model,
                messages=messages,
                state=state,
                task_set=options.task_set,
                condition=options.condition or "",
                extra={k: v for k, v in row.items() if k != "messages_display"},
                source=f"{path.name}:{record.number}",
            )
            yield from record.notes.findings(path, record.number)
            for message in messages:
                if message.role == "assistant" and message.content is None:
                    yield Finding(
                        path.name,
                        record.number,
                        "lost",
                        "an assistant turn is the text None: its tool call was lost upstream",
                    )


def _turns(text: str) -> tuple[Message, ...]:
    pieces = _TURN.split(text)
    turns = []
    for role, said in zip(pieces[1::2], pieces[2::2], strict=True):
        content: str | None = said.removesuffix("\n")
        if role == "assistant" and content == "None":
            content = None
        turns.append(Message(role=role, content=content))
    return tuple(turns)


READER = TauBench()
FEW_SHOT = TauFewShot()
