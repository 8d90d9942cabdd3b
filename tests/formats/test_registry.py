"""Files nobody could read: each ends in one clear sentence; broken records end in a finding."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from labelkit.domain.trace import Trace
from labelkit.errors import FormatError
from labelkit.formats.registry import READERS, Reading, read_file
from tests.formats.writing import write_lines

SAID = {"role": "assistant", "content": "a"}
GOOD = {"model": "m", "messages": [{"role": "user", "content": "grüße"}, SAID]}
LINE = json.dumps(GOOD, ensure_ascii=False)


def made(content: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "x.jsonl").write_bytes(content)
        return folder / "x.jsonl"

    return write


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda folder: folder / "missing.jsonl", "does not exist"),
        (lambda folder: folder, "is a folder"),
        (lambda folder: folder / "a\x00b", "cannot be read"),
        (made(b""), "is empty"),
        (made(b" \r\n\n"), "is empty"),
        (made(b"\xef\xbb\xbf\n"), "is empty"),
        (made(gzip.compress(LINE.encode())), "is gzip"),
        (made(b"PK\x03\x04abc"), "is a zip archive"),
        (made(b"SQLite format 3\x00..."), "is an SQLite database"),
        (made(b"PAR1...."), "is a damaged Parquet file"),
        (made(LINE.encode("utf-16")), "is UTF-16"),
        (made(LINE.encode("utf-16-le")), "is UTF-16"),
        (made(LINE.encode("utf-16-be")), "is UTF-16"),
        (made(LINE.encode("utf-32")), "is UTF-32"),
        (made(LINE.encode("latin-1")), "is not UTF-8 (byte 0xfc"),
        (made(b"\x00\x01\x02\x03 \x7fELF"), "is a binary file"),
        (made(b"role,content\nuser,hi\n"), "does not begin with JSON"),
        (made(b"hello"), "does not begin with JSON"),
        (made(b"3"), "does not begin with JSON"),
        (made(b"{}"), "has no keys"),
        (made(b"[]"), "has no keys"),
        (made(b'{"a": 1}'), "has the keys 'a'"),
        (made(b'[{"role": "user", "content": "x"}]'), "nearest guess is openai-chat"),
        (made(b'{"messages": []}'), "`messages` is empty"),
        (made(b'{"messages": "x"}'), "`messages` is not a list"),
        (made(b'{"messages": [1]}'), "a message is not an object"),
        (made(b'{"messages": [{"role": 1}]}'), "a message has no role"),
        (made(b'{"messages": ['), "not valid JSON"),
        (made(b'{"messages": [}\n'), "not valid JSON"),
        (made(b'[{"messages": ['), "not valid JSON"),
        (made(b'{"messages": [{"role": "user", "content": "x"}]}'), "has no assistant turn"),
        (made(b'{"messages": [{"role": "assistant", "tool_calls": 3}]}'), "is not a list"),
        (made(b'{"messages": [{"role": "assistant", "tool_calls": [3]}]}'), "not an object"),
        (made(b'{"messages": [], "choices": [{}]}'), "`choices` holds no message"),
        (made(b'{"messages": ' + b"[" * 100000), "nested too deeply"),
    ],
)
def test_unreadable_files(tmp_path: Path, make: Callable[[Path], Path], says: str) -> None:
    path = make(tmp_path)
    with pytest.raises(FormatError) as caught:
        list(read_file(path))
    message = str(caught.value)
    assert says in message
    assert str(path) in message
    assert "\n" not in message


def test_an_unknown_format_name_lists_the_known(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "x.jsonl", [GOOD])
    with pytest.raises(
        FormatError, match="no format 'nope'; known formats: openai-chat, anthropic"
    ):
        read_file(path, "nope")


@pytest.mark.parametrize(
    ("content", "says", "never"),
    [
        (b"role,content\nuser,hi\n", "--help", "--format"),
        (b'{"a": 1}', "--help", "--format"),
        (b'[{"role": "user", "content": "x"}]', "force it with --format", "--help"),
        (b'{"messages": [', "no format can read it", "--format"),
        (b'{"messages": []}', "another format with --format", "no format can"),
    ],
)
def test_a_format_is_only_advised_where_one_could_help(
    tmp_path: Path, content: bytes, says: str, never: str
) -> None:
    with pytest.raises(FormatError) as caught:
        list(read_file(made(content)(tmp_path)))
    assert says in str(caught.value)
    assert never not in str(caught.value)


def test_a_conversation_without_the_model_is_broken_unless_an_error_says_why(
    tmp_path: Path,
) -> None:
    alone = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    reading = read_file(write_lines(tmp_path / "x.jsonl", [GOOD, alone, alone | {"error": "down"}]))
    assert [item.state.value for item in reading if isinstance(item, Trace)] == [
        "ok",
        "infra_error",
    ]
    assert [(line.kind, line.records) for line in reading.report.lines] == [("broken", (2,))]


def test_the_wrong_format_reads_nothing_and_says_so(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "x.jsonl", [GOOD | {"id": "\ud800"}])
    readable = {"openai-chat", "anthropic", "ratings"}  # plain messages, and any table
    for reader in READERS:
        if reader.name not in readable:
            with pytest.raises(FormatError, match=r"no record could be read|is a damaged zip"):
                list(read_file(path, reader.name))


def texts(reading: Reading) -> list[str | None]:
    return [item.messages[0].content for item in reading]


def test_broken_lines_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    bad = b'{"messages": [{"role": "user", "content": "\xff"}]}'
    path = made(b"\n".join([LINE.encode(), bad, b"{oops", b"", b"3", LINE.encode()]))(tmp_path)
    reading = read_file(path)
    assert texts(reading) == ["grüße"] * 2
    report = reading.report
    assert (report.traces, report.broken) == (2, 3)
    assert sorted(r for line in report.lines for r in line.records) == [2, 3, 5]
    assert {f.file for f in reading.findings} == {"x.jsonl"}


@pytest.mark.parametrize(
    "bad",
    [b"{oops}", b'{"a": [1, }', b'{"messages": [{"role": "user", "content": "\xff"}]}', b"nul",
     b'{"messages": [{"role": "user" "content": "}, {"}]}', b"[" * 100000 + b"]" * 100000],
)  # fmt: skip
def test_a_broken_element_does_not_end_an_array(tmp_path: Path, bad: bytes) -> None:
    good = LINE.encode()
    path = made(b"[" + good + b",\n" + bad + b",\n" + good + b"]")(tmp_path)
    reading = read_file(path)
    assert texts(reading) == ["grüße"] * 2
    assert reading.report.broken == 1
    assert reading.report.lines[0].records == (1,)


def test_a_quote_that_never_closes_costs_the_rest_and_says_so(tmp_path: Path) -> None:
    good = LINE.encode()
    reading = read_file(made(b"[" + good + b', {"a: 1}, ' + good + b"]")(tmp_path))
    assert texts(reading) == ["grüße"]
    (line,) = reading.report.lines
    assert line.what.endswith("the rest of the file could not be told apart")


def test_a_cut_off_array_keeps_what_is_whole(tmp_path: Path) -> None:
    good = LINE.encode()
    reading = read_file(made(b"[" + good + b"," + good[:-9])(tmp_path))
    assert texts(reading) == ["grüße"]
    assert reading.report.broken == 1
    reading = read_file(made(b"[" + good + b"]x")(tmp_path))
    assert texts(reading) == ["grüße"]
    assert reading.report.lines[0].what == "there is more text after the end of the array"


def test_nesting_that_has_no_digest_is_broken(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "x.jsonl", [GOOD | {"deep": "HERE"}, GOOD])
    nested = "[" * 900 + "]" * 900
    path.write_text(path.read_text(encoding="utf-8").replace('"HERE"', nested), encoding="utf-8")
    reading = read_file(path)
    assert texts(reading) == ["grüße"]
    assert [(f.kind, f.record) for f in reading.findings] == [("broken", 1)]


def test_findings_stay_few_however_many_there_are(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "x.jsonl", [{"messages": GOOD["messages"]}] * 500)
    reading = read_file(path)
    assert len(texts(reading)) == 500
    assert len(reading.findings) == 5
    assert [line.count for line in reading.report.lines] == [500]


@pytest.mark.parametrize("array", [False, True])
def test_memory_stays_flat(tmp_path: Path, array: bool) -> None:
    path = tmp_path / "big.json"
    payload = "x" * 100_000
    with path.open("w", encoding="utf-8") as file:
        file.write("[\n" if array else "")
        for number in range(500):
            message = {"role": "assistant", "content": f"{number} {payload}"}
            end = "," if array and number < 499 else ""
            file.write(json.dumps({"model": "m", "messages": [message]}) + end + "\n")
        file.write("]" if array else "")
    assert path.stat().st_size > 50_000_000
    tracemalloc.start()
    count = sum(1 for _ in read_file(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 500
    # The window, one record as text and as values, and the digest's copies of it.
    assert peak < 4_000_000


def test_an_element_larger_than_the_window(tmp_path: Path) -> None:
    rows = [{"model": "m", "messages": [{"role": "user", "content": 'é\\"' * 400_000}, SAID]}, GOOD]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    assert texts(read_file(path)) == ['é\\"' * 400_000, "grüße"]
