"""Spans of OpenTelemetry and OpenInference, as exporters write them to files.

Read are OTLP JSON (``resourceSpans``, one object or one per line) and flat spans as lines or an
array (``{name, context: {trace_id, span_id}, parent_id, start_time, attributes}``, attributes
nested or dotted; also Phoenix's columns ``attributes.llm.model_name``). A trace id groups spans,
and spans of one run may stand anywhere in a file; so requests and tool runs are put aside into a
temporary database first, and memory stays flat however many there are.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from labelkit.domain.trace import Trace, TraceError
from labelkit.formats import rows
from labelkit.formats.generations import Conversation, Generation, conversations
from labelkit.formats.jsonstream import Record, json_records, member_records
from labelkit.formats.reader import (
    BrokenRecordError,
    Finding,
    Head,
    Item,
    Notes,
    ReadOptions,
)
from labelkit.formats.records import reason
from labelkit.formats.span_messages import (
    is_model_call,
    is_tool_run,
    nested,
    read_model_call,
    read_tool_run,
)

_OTLP = "resourceSpans"
_MARKS = ('"gen_ai', ".gen_ai.", "openinference", '"llm', ".llm.")
_NESTED_KEYS = frozenset({"attributes", "context"})


class Spans:
    """Reads telemetry spans."""

    name = "spans"
    description = "OpenTelemetry GenAI or OpenInference spans (OTLP JSON, or one span per line)"

    def sniff(self, head: Head) -> float:
        """Sure with OTLP's frame, or with a span's context beside attributes of a model call."""
        if _OTLP in head.keys:
            return 0.95
        spoken = any(mark in head.text for mark in _MARKS)
        flat = {"attributes", "name"} <= head.keys and head.keys & {
            "context",
            "trace_id",
            "traceId",
        }
        columns = "context.trace_id" in head.keys
        return 0.9 if spoken and (flat or columns) else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one trace per conversation, in the order in which the runs begin in the file."""
        with closing(sqlite3.connect("")) as aside:
            aside.execute("CREATE TABLE span (run INTEGER, record INTEGER, body TEXT)")
            runs: dict[str, int] = {}
            for record in _records(path):
                if record.broken is not None:
                    yield Finding(path.name, record.number, "broken", record.broken)
                    continue
                yield from record.notes.findings(path, record.number)
                found = list(_spans(record.value))
                if not found:
                    yield Finding(path.name, record.number, "broken", "the record holds no span")
                for span in found:
                    if is_model_call(span["attributes"]) or is_tool_run(span["attributes"]):
                        run = runs.setdefault(span["trace"], len(runs))
                        row = (run, record.number, json.dumps(span))
                        aside.execute("INSERT INTO span VALUES (?, ?, ?)", row)
            aside.execute("CREATE INDEX by_run ON span (run)")
            for trace_id, run in runs.items():
                yield from _run(aside, run, trace_id, path, options)


def _records(path: Path) -> Iterator[Record]:
    """Yield lines or elements; the frames of one OTLP object one by one."""
    first = next(iter(member_records(path, _OTLP)), None)
    if first is None:
        yield from json_records(path)
        return
    lines = json_records(path)
    head, second = next(lines, None), next(lines, None)
    if second is None or head is None:
        for record in member_records(path, _OTLP):
            record.value = {_OTLP: [record.value]}
            yield record
        return
    yield head
    yield second
    yield from lines


def _spans(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the spans of a record in one form."""
    if not isinstance(value, dict):
        return
    frames = value.get(_OTLP)
    if not isinstance(frames, list):
        span = _flat_span(value)
        if span is not None:
            yield span
        return
    for frame in _dicts(frames):
        for scope in _dicts(frame.get("scopeSpans", frame.get("instrumentationLibrarySpans"))):
            for raw in _dicts(scope.get("spans")):
                span = _flat_span(raw | {"attributes": _otlp_attributes(raw.get("attributes"))})
                if span is not None:
                    yield span


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _otlp_attributes(raw: Any) -> dict[str, Any]:
    return {str(entry.get("key")): _otlp_value(entry.get("value")) for entry in _dicts(raw)}


def _otlp_value(raw: Any) -> Any:
    if not isinstance(raw, dict) or len(raw) != 1:
        return raw
    ((kind, value),) = raw.items()
    if kind == "intValue" and isinstance(value, str) and value.lstrip("-").isdecimal():
        return int(value)
    if kind == "arrayValue" and isinstance(value, dict):
        return [_otlp_value(entry) for entry in value.get("values") or []]
    if kind == "kvlistValue" and isinstance(value, dict):
        return _otlp_attributes(value.get("values"))
    return value


def _flat_span(raw: dict[str, Any]) -> dict[str, Any] | None:
    """Return a span with flat attributes, wherever an exporter puts its ids; None without any."""
    tree = nested({k: v for k, v in raw.items() if k not in _NESTED_KEYS})
    for key in _NESTED_KEYS:
        if isinstance(raw.get(key), dict):
            inner = tree.get(key)
            tree[key] = (inner if isinstance(inner, dict) else {}) | raw[key]
    context = tree["context"] if isinstance(tree.get("context"), dict) else {}
    trace = context.get("trace_id") or raw.get("traceId") or raw.get("trace_id")
    span = context.get("span_id") or raw.get("spanId") or raw.get("span_id")
    if not isinstance(trace, str) or not isinstance(span, str):
        return None
    parent = raw.get("parent_id") or raw.get("parentSpanId") or raw.get("parent_span_id")
    attributes = tree["attributes"] if isinstance(tree.get("attributes"), dict) else {}
    start = raw.get("start_time", raw.get("startTimeUnixNano", raw.get("startTime")))
    return {
        "trace": trace,
        "id": span,
        "parent": parent if isinstance(parent, str) and parent else None,
        "name": rows.text_or_none(raw.get("name")) or "",
        "start": f"{start:>24}" if isinstance(start, int | str) else "",
        "attributes": _flattened(attributes),
        "events": [_event(event) for event in _dicts(raw.get("events"))],
        "error": _error(raw),
    }


def _flattened(value: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested attributes with dotted keys; lists stay values."""
    flat: dict[str, Any] = {}
    for key, entry in value.items():
        name = f"{before}{key}"
        if isinstance(entry, dict):
            flat |= _flattened(entry, f"{name}.")
        else:
            flat[name] = entry
    return flat


def _event(raw: dict[str, Any]) -> dict[str, Any]:
    attributes = raw.get("attributes")
    if isinstance(attributes, list):
        return raw | {"attributes": _otlp_attributes(attributes)}
    return raw


def _error(raw: dict[str, Any]) -> str | None:
    """Return what went wrong, where the span's status says that something did."""
    status = raw.get("status")
    if isinstance(status, dict):
        code = status.get("code", status.get("status_code"))
        text = status.get("message", status.get("description"))
    else:
        code, text = raw.get("status_code"), raw.get("status_message")
    if code in {2, "2", "ERROR", "STATUS_CODE_ERROR"}:
        return text if isinstance(text, str) and text else "the request failed"
    return None


def _run(
    aside: sqlite3.Connection, run: int, trace_id: str, path: Path, options: ReadOptions
) -> Iterator[Item]:
    """Yield the conversations of one run."""
    notes = Notes()
    generations: list[Generation] = []
    number = 0
    query = "SELECT record, body FROM span WHERE run = ? ORDER BY rowid"
    for record, body in aside.execute(query, (run,)):
        span = json.loads(body)
        number = number or record
        try:
            read = read_tool_run if is_tool_run(span["attributes"]) else read_model_call
            generations.append(read(span, notes))
        except (BrokenRecordError, ValueError, RecursionError) as error:
            yield Finding(path.name, record, "broken", reason(error))
    found = conversations(generations)
    if any(part.unread for talk in found for part in talk.parts):
        notes.lost("an input that is no message was left out")
    if len(found) > 1:
        notes.odd("the run holds several conversations; each became a trace")
    for talk in found:
        yield _trace(talk, trace_id, f"{path.name}:{number}", options, notes)
    yield from notes.findings(path, number)


def _trace(
    talk: Conversation, trace_id: str, source: str, options: ReadOptions, notes: Notes
) -> Trace:
    failed = talk.last.error if not talk.last.output else None
    error = TraceError(kind="other_error", message=failed) if failed else None
    state, error = rows.row_state(talk.messages, talk.last.finish_reason, error)
    return Trace(
        model=rows.model_name(options.model, talk.last.model, notes),
        messages=talk.messages,
        state=state,
        task_set=options.task_set,
        condition=options.condition or "",
        finish_reason=talk.last.finish_reason,
        error=error,
        usage=talk.usage,
        tags={"span": talk.last.name} if talk.last.name else {},
        extra={"trace_id": trace_id, "spans": [part.id for part in talk.parts]},
        source=source,
    )


READER = Spans()
