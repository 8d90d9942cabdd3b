"""Text logs of agents that call by writing ``<API_CALL>{"api": ..., "params": ...}</API_CALL>``.

This is how WildAgtEval's runner talks: one flattened text, a turn begins with a speaker at the
start of a line (``H:``, ``A:``, ``API:`` and their longer forms below), ``<End of Turn>`` ends
one. Read are plain text files, in which a line such as ``=== name ===`` begins the next
conversation, and JSON rows that hold the text in one field. What stands before the first speaker is
the system prompt.

A call whose JSON cannot be read stays text: nobody ran it. A reply that begins with ``ERROR:`` is
an endpoint's error that the runner wrote down as the model's words; it is no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.trace import Trace, TraceError
from labelkit.formats import rows
from labelkit.formats.jsonstream import Record, json_records
from labelkit.formats.reader import BrokenRecordError, Head, Item, Notes, ReadOptions
from labelkit.formats.records import an_object, read_each

_SPEAKERS = {
    "h": "user", "human": "user", "user": "user", "u": "user",
    "a": "assistant", "ai": "assistant", "assistant": "assistant", "agent": "assistant",
    "api": "tool", "api response": "tool", "api result": "tool", "observation": "tool",
    "tool": "tool", "function": "tool", "system": "system",
}  # fmt: skip
_SPEAKER = re.compile(
    rf"^(?P<name>{'|'.join(sorted(_SPEAKERS, key=len, reverse=True))}) ?: ?", re.IGNORECASE
)
_NEXT = re.compile(r"^={3,}\s*(?P<name>.*?)\s*=*$")
_CALL = re.compile(
    r"<API_CALL>(?P<body>.*?)(?:</API_CALL>|(?=<End of Turn>)|\Z)", re.DOTALL | re.IGNORECASE
)
_RESULT = re.compile(r"</?API_(?:RESPONSE|RESULT|OUTPUT)>", re.IGNORECASE)
_END = re.compile(r"<End of Turn>", re.IGNORECASE)
_NAMES = ("api", "name", "function", "api_name", "tool")
_PARAMETERS = ("params", "parameters", "arguments", "args", "input")
_TEXTS = ("log", "conversation", "transcript", "text", "trajectory", "output")
_FIELDS = frozenset({"model", "task_id", "id", "task_set", "repeat", "condition"})


class ApiCallLog:
    """Reads text logs with ``<API_CALL>``."""

    name = "api-call-log"
    description = "text logs with `<API_CALL>{...}</API_CALL>` (WildAgtEval), plain or in JSON rows"

    def sniff(self, head: Head) -> float:
        """Sure with a call and a speaker; JSON rows must hold the text in a field of their own."""
        if "<API_CALL>" not in head.text and "<api_call>" not in head.text:
            return 0.0
        if head.text.lstrip().startswith(("{", "[")):
            return 0.8 if head.keys & set(_TEXTS) and "messages" not in head.keys else 0.0
        return 0.9 if any(map(_SPEAKER.match, head.text.splitlines())) else 0.4

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one trace per conversation; text is numbered by the line it begins in."""
        with path.open("rb") as file:
            as_json = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in {b"{", b"["}
        records = json_records(path) if as_json else _texts(path)

        def build(value: Any, source: str, notes: Notes) -> list[Trace]:
            return [_trace(an_object(value), source, options, notes)]

        return read_each(records, path, build)


def _texts(path: Path) -> Iterator[Record]:
    """Yield the conversations of a text file, one in memory at a time."""
    lines: list[str] = []
    name, began = "", 1
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
        for number, line in enumerate(file, start=1):
            begins = _NEXT.match(line)
            if begins is None:
                lines.append(line)
                continue
            yield from _conversation(name, began, lines)
            name, began, lines = begins.group("name"), number, []
    yield from _conversation(name, began, lines)


def _conversation(name: str, began: int, lines: list[str]) -> Iterator[Record]:
    text = "".join(lines)
    if not text.strip():
        return
    if any("\udc80" <= character <= "\udcff" for character in text):
        yield Record(began, broken="the record holds bytes that are not UTF-8")
        return
    yield Record(began, {"text": text} | ({"task_id": name} if name else {}))


@dataclass
class _Turn:
    role: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


def _turns(text: str) -> list[_Turn]:
    turns = [_Turn("system")]
    for line in text.splitlines():
        speaker = _SPEAKER.match(line)
        if speaker is None:
            turns[-1].lines.append(line)
        else:
            role = _SPEAKERS[speaker.group("name").lower()]
            turns.append(_Turn(role, [line[speaker.end() :]]))
    return [turn for turn in turns if turn.text or turn.role != "system"]


def _messages(text: str, notes: Notes) -> list[Message]:
    messages: list[Message] = []
    for turn in _turns(text):
        if turn.role == "assistant":
            messages.append(_spoken(turn.text, len(messages), notes))
        elif turn.role == "tool":
            messages.append(Message(role="tool", content=_RESULT.sub("", turn.text).strip()))
        else:
            messages.append(Message(role=turn.role, content=turn.text))
    return messages


def _spoken(text: str, index: int, notes: Notes) -> Message:
    """Take the calls out of the model's words; what cannot be read stays where it was."""
    calls: list[ToolCall] = []

    def taken(match: re.Match[str]) -> str:
        call = _read_call(match.group("body"), f"call_{index}_{len(calls)}")
        if call is None:
            notes.odd("an <API_CALL> that cannot be read stays text; nobody ran it")
            return match.group()
        calls.append(call)
        return ""

    said = _CALL.sub(taken, text)
    if calls and _END.search(text):
        notes.odd("a turn holds a call and <End of Turn>; which of them counted is not known")
    said = _END.sub("", said).strip()
    return Message(role="assistant", content=said or None, tool_calls=tuple(calls))


def _read_call(body: str, call_id: str) -> ToolCall | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    if name is None:
        return None
    stated: Any = next((value[key] for key in _PARAMETERS if key in value), {})
    arguments = stated if isinstance(stated, str) else canonical_json(stated)
    return ToolCall(name=name, arguments=arguments, id=call_id)


def _trace(row: dict[str, Any], source: str, options: ReadOptions, notes: Notes) -> Trace:
    key = next((key for key in _TEXTS if isinstance(row.get(key), str)), None)
    if key is None:
        raise BrokenRecordError("the record holds no text of a conversation")
    messages = _messages(row[key], notes)
    extra = {name: value for name, value in row.items() if name not in {key, *_FIELDS}}
    error = None
    last = messages[-1] if messages else None
    if last is not None and last.role == "assistant" and (last.content or "").startswith("ERROR:"):
        error = TraceError(kind="other_error", message=last.content or "")
        messages = messages[:-1]
        notes.repaired("a reply that begins with ERROR: is an endpoint's error, no answer")
    state, error = rows.row_state(messages, None, error)
    condition = options.condition
    if condition is None:
        condition = rows.text_field(row, "condition", extra)
    return Trace(
        model=rows.model_name(options.model, rows.text_field(row, "model", extra), notes),
        messages=tuple(messages),
        state=state,
        task_set=options.task_set or rows.text_field(row, "task_set", extra),
        task_id=rows.text_field(row, "task_id", extra) or rows.text_field(row, "id", extra),
        condition=condition or "",
        repeat=rows.repeat_of(row.get("repeat"), extra, "repeat", notes),
        error=error,
        extra=extra,
        source=source,
    )


READER = ApiCallLog()
