"""A file in parts says what the whole file says: items, numbers, tasks, the account of losses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.errors import FormatError
from labelkit.formats.jsonstream import line_spans
from labelkit.formats.nesting import MAX_DEPTH
from labelkit.formats.parts import join, part_spans, read_part
from labelkit.formats.reader import Item, Reader, ReadOptions
from labelkit.formats.registry import READERS, Reading, read_file, reader_named

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


def row(**fields: Any) -> dict[str, Any]:
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    return {"model": "m", "task_set": "s", "messages": said, **fields}


def tools(name: str) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}]


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def calling(arguments: str, result_of: str) -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": result_of, "content": "x"},
        {"role": "assistant", "content": "done"},
    ]


DEEP = {"type": "object", "x": nested(MAX_DEPTH + 5)}
ROWS = [
    row(task_id="plain"),
    row(task_id="a", tools=tools("look")),
    row(task_id="a", tools=tools("see")),
    row(task_id="b", tools=tools("look")),
    row(task_id="a", tools=tools("see"), reward=1.0, messages=calling("{", "other")),
    row(
        task_id="deep", tools=[{"type": "function", "function": {"name": "f", "parameters": DEEP}}]
    ),
    row(extra=nested(MAX_DEPTH + 5)),
    row(messages=[{"role": "user", "content": "nobody answers"}]),
    row(messages=[], task_id="c", tools=tools("look")),
    row(messages=[{"role": "function", "name": "f", "content": "old"}, *row()["messages"]]),
    row(messages=[{"role": "assistant", "content": "\ud800 alone"}]),
    row(state="odd", repeat="many"),
    {"choices": []},
    ["no object"],
]
BAD = [
    b"",
    b"   ",
    b"{",
    b"\xff\xfe{}",
    b'{"messages": NaN}',
    b"[" * 3000,
    b"\xef\xbb\xbf{}",
    b"\x00",
]
LINES = [json.dumps(value).encode() for value in ROWS] + BAD


def in_parts(size: int) -> Any:
    def through(reader: Reader, path: Path, options: ReadOptions) -> Iterator[Item]:
        spans = list(part_spans(reader, path, size))
        assert spans or not path.stat().st_size
        return join((read_part(reader, path, options, span) for span in spans), path)

    return through


def told(reading: Reading) -> tuple[Any, ...]:
    """Everything a reading says, or its error."""
    try:
        items = list(reading.written())
    except FormatError as error:
        return str(error), reading.findings, reading.report
    return items, reading.findings, reading.report


def write(path: Path, lines: list[bytes], end: bytes = b"\n", last: bytes = b"\n") -> Path:
    # The first line decides what a file is: one of lines has one whole value there.
    path.write_bytes(end.join([json.dumps(row(task_id="first")).encode(), *lines]) + last)
    return path


@pytest.mark.parametrize("size", [1, 400, 10**9])
@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize("name", ["openai-chat", "anthropic"])
def test_every_kind_of_line_in_parts(name: str, texts: bool, size: int, tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [*LINES, *reversed(LINES)])
    options = ReadOptions(texts=texts)
    whole = told(read_file(path, name, options))
    assert told(read_file(path, name, options, through=in_parts(size))) == whole
    kinds = {line.kind for line in whole[2].lines}
    assert kinds >= {"broken", "lost"}


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(st.sampled_from(LINES), max_size=12),
    size=st.integers(1, 900),
    end=st.sampled_from([b"\n", b"\r\n", b"\n\n"]),
    last=st.sampled_from([b"", b"\n", b"\n\n"]),
    texts=st.booleans(),
)
def test_any_lines_in_any_parts(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[bytes],
    size: int,
    end: bytes,
    last: bytes,
    texts: bool,
) -> None:
    path = write(tmp_path_factory.mktemp("p") / "t.jsonl", lines, end, last)
    options = ReadOptions(texts=texts)
    try:
        reading = read_file(path, "openai-chat", options)
    except FormatError:  # nothing but bytes that are not UTF-8: refused before any part is read
        return
    whole = told(reading)
    assert told(read_file(path, "openai-chat", options, through=in_parts(size))) == whole


def test_a_task_that_changes_between_parts_is_told_once_in_its_record(tmp_path: Path) -> None:
    lines = [
        json.dumps(row(task_id="a", tools=tools(n))).encode() for n in ("f", "f", "g", "g", "f")
    ]
    path = write(tmp_path / "t.jsonl", lines)
    (whole, _, account) = told(read_file(path, through=in_parts(1)))
    assert account.tasks == 3
    assert [
        (line.what[:36], line.records) for line in account.lines if line.kind == "repaired"
    ] == [("the task is described differently fr", (4, 6))]
    assert len(whole) == 3 + 6


@given(st.binary(max_size=60).map(lambda b: b.replace(b"[", b"\n")), st.integers(1, 20))
def test_spans_are_the_lines(
    tmp_path_factory: pytest.TempPathFactory, rest: bytes, size: int
) -> None:
    path = write(tmp_path_factory.mktemp("p") / "t.jsonl", [rest], last=b"")
    data = path.read_bytes()
    pieces = [data[span.start : span.stop] for span in line_spans(path, size)]
    assert b"".join(pieces) == data
    assert all(piece.endswith(b"\n") for piece in pieces[:-1])
    assert all(len(piece) >= size for piece in pieces[:-1])


def test_what_is_no_file_of_lines_is_read_whole(tmp_path: Path) -> None:
    reader = reader_named("openai-chat")
    for text in ("[" + json.dumps(row()) + "]", json.dumps(row(), indent=1)):
        path = tmp_path / "t.json"
        path.write_text(text, encoding="utf-8")
        assert list(part_spans(reader, path, 1)) == []
    lines = write(tmp_path / "t.jsonl", [])
    cut = {reader.name for reader in READERS if list(part_spans(reader, lines, 1))}
    assert cut == {"openai-chat", "anthropic", "tau-bench"}
