"""Recorded exchanges with a model's API: what was sent and what came back, of any provider.

Two shapes. Two files per exchange, ``NAME.request.json`` and ``NAME.response.STATUS.json``:
naming either reads both, and both name one trace. Or rows ``{"request": ..., "response": ...}``
with an optional ``status``. The dialect (OpenAI chat and Responses, Anthropic, Gemini) is told by
the fields. A request without its response is no trace: nobody knows what the model said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.trace import Trace
from labelkit.formats import rows
from labelkit.formats.dialects import Reply, Request, read_reply, read_request
from labelkit.formats.jsonstream import Record, json_records
from labelkit.formats.reader import (
    BrokenRecordError,
    Finding,
    Head,
    Item,
    Notes,
    ReadOptions,
)
from labelkit.formats.records import an_object, read_each

_FILE = re.compile(r"^(?P<stem>.+)\.(?:request|response\.(?P<status>\d{3}))\.json$")
_NATIVE = ('"contents"', '"candidates"', '"input_schema"', '"stop_reason"', '"usageMetadata"')
_ROW = frozenset({"request", "response", "status", "task_id", "task_set", "repeat", "model"})


class ProviderPairs:
    """Reads exchanges with a provider's API."""

    name = "provider"
    description = "API exchanges (`X.request.json` + `X.response.200.json`, or rows with both)"

    def sniff(self, head: Head) -> float:
        """Sure by the files' names; rows are left to OpenAI chat unless another API wrote them."""
        if _FILE.match(head.path.name):
            return 0.97
        if {"request", "response"} <= head.keys:
            return 0.65 if any(mark in head.text for mark in _NATIVE) else 0.4
        return 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one trace per exchange."""
        named = _FILE.match(path.name)
        if named:
            yield from _pair(path, named.group("stem"), options)
            return

        def build(value: Any, source: str, notes: Notes) -> list[Trace]:
            row = an_object(value)
            return [_trace(row, rows.count(row.get("status")), source, options, notes)]

        yield from read_each(json_records(path), path, build)


def request_of(path: Path) -> Path | None:
    """Return the request file whose reading brings this response along; None for other files."""
    named = _FILE.match(path.name)
    if named is None or named.group("status") is None:
        return None
    request = path.with_name(f"{named.group('stem')}.request.json")
    return request if request.is_file() else None


def _pair(path: Path, stem: str, options: ReadOptions) -> Iterator[Item]:
    request = path.with_name(f"{stem}.request.json")
    answers = sorted(path.parent.glob(f"{_escaped(stem)}.response.*.json"))
    answers = [file for file in answers if _FILE.match(file.name) and file.is_file()]
    if not answers or not request.is_file():
        missing = "response" if request.is_file() else "request"
        yield Finding(path.name, 1, "broken", f"there is no {missing} file beside it")
        return
    named = _FILE.match(answers[0].name)
    status = int(named.group("status")) if named else None
    asked, answered = _whole(request), _whole(answers[0])
    for file, record in ((request, asked), (answers[0], answered)):
        if record.broken is not None:
            half = "request" if file == request else "response"
            yield Finding(path.name, 1, "broken", f"{record.broken} in the {half} file")
            return
    if len(answers) > 1:
        yield Finding(path.name, 1, "lost", f"of several responses only {answers[0].name} was read")

    def build(value: Any, source: str, notes: Notes) -> list[Trace]:
        return [_trace(value, status, source, options, notes)]

    both = Record(1, {"request": asked.value, "response": answered.value}, notes=asked.notes)
    both.notes.found += answered.notes.found
    yield from read_each([both], request, build)


def _escaped(stem: str) -> str:
    return re.sub(r"([\[*?])", r"[\1]", stem)


def _whole(path: Path) -> Record:
    return next(json_records(path), Record(1, broken="the file is empty"))


def _trace(
    row: dict[str, Any], status: int | None, source: str, options: ReadOptions, notes: Notes
) -> Trace:
    if not isinstance(row.get("request"), dict) or not isinstance(row.get("response"), dict):
        raise BrokenRecordError("the record has no `request` or no `response`")
    request = read_request(row["request"], notes)
    reply = read_reply(row["response"], notes, status)
    messages = (*request.messages, *reply.messages)
    state, error = rows.row_state(messages, reply.finish_reason, reply.error)
    extra = {key: value for key, value in row.items() if key not in _ROW} | _settings(
        request, reply
    )
    model = reply.model or request.model or rows.text_or_none(row.get("model"))
    return Trace(
        model=rows.model_name(options.model, model, notes),
        messages=messages,
        state=state,
        task_set=options.task_set or rows.text_field(row, "task_set", extra),
        task_id=rows.text_field(row, "task_id", extra),
        condition=options.condition or "",
        repeat=rows.repeat_of(row.get("repeat"), extra, "repeat", notes),
        finish_reason=reply.finish_reason,
        error=error,
        usage=reply.usage,
        extra=extra,
        source=source,
    )


def _settings(request: Request, reply: Reply) -> dict[str, Any]:
    """Return what both sides say beside the conversation."""
    sent = dict(request.settings)
    if request.model is not None:
        sent["model"] = request.model
    if request.tools is not None:
        sent["tools"] = [tool.model_dump() for tool in request.tools]
    elif request.raw_tools is not None:
        sent["tools"] = request.raw_tools
    return {"request": sent, "response": reply.extra}


READER = ProviderPairs()
