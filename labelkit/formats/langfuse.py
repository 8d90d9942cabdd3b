"""Langfuse exports: a trace with its observations, nested as the frameworks logged them.

``{trace, observations}`` (also a trace object with ``observations`` inside, an array or lines of
either). Inputs, outputs and metadata are JSON inside text, up to three deep. Every observation of
type GENERATION is one request; requests that continue each other become one trace, other agents
of the same run become traces of their own. A run without any request is its own input and output.
Scores stay in ``Trace.extra``; plain ones are tags too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.message import Message
from labelkit.domain.task import Tag
from labelkit.domain.trace import Trace, TraceError, Usage
from labelkit.formats import rows
from labelkit.formats.dialects import read_any_usage, read_logged
from labelkit.formats.generations import Conversation, Generation, conversations
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import (
    BrokenRecordError,
    Head,
    Item,
    Notes,
    ReadOptions,
)
from labelkit.formats.records import an_object, read_each

_NESTED = 3
_TURN = re.compile(r"^(system|user|assistant|tool): ", re.MULTILINE)
_MESSAGE_KEYS = frozenset({
    "role", "messages", "contents", "message", "parts", "choices", "candidates", "output", "type",
    "additional_kwargs",
})  # fmt: skip
_KEPT = ("id", "name", "userId", "sessionId", "release", "version", "metadata", "corrections")


class Langfuse:
    """Reads Langfuse traces."""

    name = "langfuse"
    description = "Langfuse exports (objects with `trace` and `observations`)"

    def sniff(self, head: Head) -> float:
        """Sure with observations that know their parents."""
        known = '"parentObservationId"' in head.text
        if {"trace", "observations"} <= head.keys or "trace" in head.keys:
            return 0.95 if known else 0.3
        return 0.9 if "observations" in head.keys and known else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one trace per conversation of each run."""

        def build(value: Any, source: str, notes: Notes) -> list[Trace]:
            return _run(an_object(value), source, options, notes)

        return read_each(json_records(path), path, build)


def _run(raw: dict[str, Any], source: str, options: ReadOptions, notes: Notes) -> list[Trace]:
    trace = raw["trace"] if isinstance(raw.get("trace"), dict) else raw
    observations = raw.get("observations", trace.get("observations"))
    if not isinstance(observations, list):
        raise BrokenRecordError("the record has no `observations`")
    observations = [entry for entry in observations if isinstance(entry, dict)]
    generations = [g for entry in observations if (g := _generation(entry, notes)) is not None]
    found = conversations(generations)
    if any(part.unread for talk in found for part in talk.parts):
        notes.lost("an input that is no message was left out")
    left = sum(entry.get("type") not in {"GENERATION", "TOOL"} for entry in observations)
    if found and left:
        notes.lost("spans that are no requests and no tools were left out")
    if not found:
        found = [_whole(trace, notes)]
    if len(found) > 1:
        notes.odd("the run holds several conversations; each became a trace")
    return [_trace(talk, trace, source, options, notes) for talk in found]


def _whole(trace: dict[str, Any], notes: Notes) -> Conversation:
    """Return the run's own input and output as a conversation, where no request was logged."""
    notes.lost("no request was logged; the run's own input and output are the conversation")
    asked = read_logged(unwrapped(trace.get("input")), "user", notes)
    said = read_logged(unwrapped(trace.get("output")), "assistant", notes)
    whole = Generation(id=str(trace.get("id")), start="", input=asked, output=said)
    return Conversation((*asked, *said), asked, [whole])


def unwrapped(value: Any) -> Any:
    """Return what JSON inside text says, up to three deep; other text stays text."""
    for _ in range(_NESTED):
        if not isinstance(value, str) or value[:1] not in {"{", "[", '"'}:
            return value
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _generation(entry: dict[str, Any], notes: Notes) -> Generation | None:
    kind = entry.get("type")
    if kind not in {"GENERATION", "TOOL"}:
        return None
    output = unwrapped(entry.get("output"))
    made = Generation(
        id=str(entry.get("id")),
        start=str(entry.get("startTime") or ""),
        parent=rows.text_or_none(entry.get("parentObservationId")),
        name=rows.text_or_none(entry.get("name")) or "",
        model=rows.text_or_none(entry.get("model")),
    )
    if kind == "TOOL":
        made.tool = made.name.removeprefix("running tool: ").removeprefix("execute_tool ")
        made.output = (_tool_result(output, notes),)
        return made
    made.input, made.unread = logged_input(unwrapped(entry.get("input")), notes)
    made.output = read_logged(output, "assistant", notes)
    made.usage = _usage(entry)
    made.finish_reason = finish_reason_of(output)
    if entry.get("level") == "ERROR":
        made.error = rows.text_or_none(entry.get("statusMessage")) or "the request failed"
    return made


def logged_input(value: Any, notes: Notes) -> tuple[tuple[Message, ...], bool]:
    """Return the messages of a logged input, and whether it was something else."""
    if isinstance(value, str) and _TURN.match(value):
        notes.repaired("a transcript flattened to one text was taken apart again")
        pieces = _TURN.split(value)
        return tuple(
            Message(role=role, content=said.removesuffix("\n"))
            for role, said in zip(pieces[1::2], pieces[2::2], strict=True)
        ), False
    if isinstance(value, dict) and not value.keys() & _MESSAGE_KEYS:
        return (), True
    return read_logged(value, "user", notes), False


def finish_reason_of(output: Any) -> str | None:
    """Return why a logged reply ended, wherever a framework writes it."""
    entry = output[-1] if isinstance(output, list) and output else output
    for key in ("choices", "candidates"):
        if isinstance(entry, dict) and isinstance(entry.get(key), list) and entry[key]:
            entry = entry[key][0]
    if not isinstance(entry, dict):
        return None
    for key in ("finish_reason", "stop_reason", "finishReason"):
        if isinstance(entry.get(key), str):
            return str(entry[key])
    return None


def _tool_result(output: Any, notes: Notes) -> Message:
    """Return what a tool gave back as one tool message."""
    if isinstance(output, dict) and isinstance(output.get("content"), list):
        output = output["content"]
    if isinstance(output, list) and all(
        isinstance(part, dict) and isinstance(part.get("text"), str) for part in output
    ):
        return Message(role="tool", content="\n".join(part["text"] for part in output))
    said = read_logged(output, "tool", notes) if not isinstance(output, dict) else ()
    if said:
        return said[0].model_copy(update={"role": "tool"})
    return Message(role="tool", content=None if output is None else json.dumps(output))


def _usage(entry: dict[str, Any]) -> Usage | None:
    """Return the tokens; Langfuse names them input and output, and 0 where it knows nothing."""
    details = entry.get("usageDetails")
    if isinstance(details, dict) and details:
        return Usage(
            prompt_tokens=rows.count(details.get("input")),
            completion_tokens=rows.count(details.get("output")),
            reasoning_tokens=rows.count(details.get("output_reasoning")),
            cached_tokens=rows.count(details.get("input_cache_read")),
        )
    return read_any_usage(entry.get("usage"))


def _trace(
    talk: Conversation,
    trace: dict[str, Any],
    source: str,
    options: ReadOptions,
    notes: Notes,
) -> Trace:
    failed = talk.last.error if not talk.last.output else None
    error = TraceError(kind="other_error", message=failed) if failed else None
    state, error = rows.row_state(talk.messages, talk.last.finish_reason, error)
    extra = {key: unwrapped(trace[key]) for key in _KEPT if trace.get(key)}
    if trace.get("scores"):
        extra["scores"] = trace["scores"]
    extra["observations"] = [part.id for part in talk.parts]
    return Trace(
        model=rows.model_name(options.model, talk.last.model, notes),
        messages=talk.messages,
        state=state,
        task_set=options.task_set,
        condition=options.condition or "",
        finish_reason=talk.last.finish_reason,
        error=error,
        usage=talk.usage,
        tags=_tags(trace, talk),
        extra=extra,
        source=source,
    )


def _tags(trace: dict[str, Any], talk: Conversation) -> dict[str, Tag]:
    listed = trace.get("tags")
    names = listed if isinstance(listed, list) else []
    tags: dict[str, Tag] = {name: True for name in names if isinstance(name, str)}
    if talk.last.name:
        tags["observation"] = talk.last.name
    scores = trace.get("scores")
    for score in scores if isinstance(scores, list) else ():
        if isinstance(score, dict) and isinstance(score.get("name"), str):
            value = score.get("stringValue", None) or score.get("value")
            if value is not None and rows.is_tag(value):
                tags[f"score_{score['name']}"] = value
    return tags


READER = Langfuse()
