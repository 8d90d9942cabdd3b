"""The short way of an import and the long way of a reader give the same traces, or it gives up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.domain.trace_text import TraceText
from labelkit.formats.plain_chat import PlainRows, PlainTalk, plain_talk
from labelkit.formats.reader import Notes, ReadOptions
from labelkit.formats.registry import LossReport, read_file
from tests.formats.writing import write_lines

TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = TEXT | st.sampled_from(["{}", "null", " null\n", '{"a": 1}', "[1]", '"{}"', ""])
CALL = st.fixed_dictionaries(
    {"id": TEXT, "type": st.just("function"),
     "function": st.fixed_dictionaries({"name": TEXT, "arguments": ARGUMENTS})},
    optional={"index": st.integers()},
)  # fmt: skip
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool", "developer", "function"])},
    optional={"content": st.none() | TEXT | VALUE, "name": TEXT | st.none(),
              "tool_call_id": TEXT, "tool_calls": st.lists(CALL, max_size=2),
              "refusal": st.none() | TEXT, "reasoning_content": TEXT},
)  # fmt: skip
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
ROW = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGE, min_size=1, max_size=5)},
    optional={
        "model": TEXT,
        "id": TEXT | st.integers(),
        "task_id": TEXT | st.floats(allow_nan=False, allow_infinity=False),
        "task_set": TEXT,
        "repeat": st.integers(min_value=-1, max_value=9) | st.just(1e300),
        "state": st.sampled_from(["ok", "infra_error", "hm"]),
        "finish_reason": st.sampled_from(["stop", "length", "content_filter"]),
        "error": st.none() | TEXT | st.just({"kind": "x", "status": 500, "message": "m"}),
        "usage": st.just({"prompt_tokens": 3, "total_tokens": 9}) | VALUE,
        "tags": st.dictionaries(TEXT, TEXT | NUMBER | st.booleans(), max_size=3),
        "metadata": VALUE,
        "tools": st.just(TOOLS) | VALUE,
        "tool_mode": st.sampled_from(["native", "other"]),
        "seed": VALUE,
    },
)


def both_ways(path: Path, **options: Any) -> tuple[list[Any], LossReport, list[Any], LossReport]:
    """Read built traces, and traces as an import stores them."""
    built = read_file(path, "openai-chat", ReadOptions(**options))
    written = read_file(path, "openai-chat", ReadOptions(texts=True, **options))
    return list(built), built.report, list(written.written()), written.report


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=st.lists(ROW, min_size=1, max_size=3))
def test_both_ways_give_the_same(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    spoken = {"messages": [{"role": "assistant", "content": "a"}]}
    path = write_lines(tmp_path / "h.jsonl", [*rows, spoken])
    built, report, written, quick_report = both_ways(path)
    assert quick_report == report
    assert len(written) == len(built)
    for long, short in zip(built, written, strict=True):
        if isinstance(long, Task):
            assert short == long
            continue
        assert isinstance(short, TraceText)
        assert (short.digest, short.canonical()) == (long.digest, long.canonical())
        again = short.trace()
        assert again == long
        assert again.digest == long.digest
        assert (short.source, short.tags, short.state) == (long.source, long.tags, long.state)


def row(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages)} | fields


SAID = {"role": "assistant", "content": "a"}


def short_way(messages: Any, notes: Notes) -> PlainTalk | None:
    row = PlainRows(frozenset()).decode(json.dumps({"messages": messages}).encode())
    return None if row is None else plain_talk(row.said, notes)


def test_plain_rows_do_take_the_short_way() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c", "content": "7", "name": "f"}
    notes = Notes()
    talk = short_way([{"role": "user", "content": "q"}, asked, result, SAID], notes)
    assert talk is not None
    assert talk.last.content == "a"
    assert [m.role for m in talk.prompt()] == ["user"]
    assert notes.found == []


@pytest.mark.parametrize(
    "messages",
    [
        3,
        [],
        [3],
        [{"content": "x"}],
        [{"role": "user", "content": "x"}],
        [SAID | {"content": [{"type": "text", "text": "a"}]}],
        [SAID | {"refusal": None}],
        [SAID | {"content": "\ud800"}],
        [SAID | {"name": None}],
        [SAID | {"tool_calls": {}}],
        [SAID | {"tool_calls": [3]}],
        [SAID | {"tool_calls": [{"id": "c", "type": "function", "custom": {}}]}],
        [SAID | {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}]}],
        [SAID | {"tool_calls": [{"id": "c", "type": "function",
                                 "function": {"name": "f", "input": "{}"}}]}],
        [SAID | {"tool_calls": [{"id": 1, "type": "function",
                                 "function": {"name": "f", "arguments": "{}"}}]}],
        [SAID | {"tool_calls": [{"id": "c", "type": "function",
                                 "function": {"name": "f", "arguments": {}}}]}],
    ],
)  # fmt: skip
def test_everything_else_is_left_to_the_long_way(messages: Any) -> None:
    assert short_way(messages, Notes()) is None


@settings(deadline=None)
@given(rows=st.lists(st.dictionaries(TEXT, VALUE, max_size=4), min_size=1, max_size=4))
def test_fields_beside_the_messages_are_decoded_exactly(rows: list[dict[str, Any]]) -> None:
    """Integers keep every digit; what the decoder knew before plays no part."""
    plain = PlainRows(frozenset({"request"}))
    for number, fields in enumerate(rows):
        whole = fields | {"messages": [SAID], "known": number}
        line = json.dumps(whole).encode()
        row = plain.decode(line)
        if row is None:  # a lone surrogate, or a name that the decoder cannot take
            names = "".join(whole)
            assert "\\ud" in line.decode() or "request" in whole or set(names) & _HARD
            continue
        assert repr(dict(sorted(row.fields.items()))) == repr(
            dict(sorted((k, v) for k, v in json.loads(line).items() if k != "messages"))
        )


_HARD = {'"', "\\", *map(chr, range(32))}


def test_rows_with_ever_new_fields_take_the_long_way_in_the_end() -> None:
    plain = PlainRows(frozenset())
    lines = [json.dumps({"messages": [SAID], f"k{n}": n}).encode() for n in range(500)]
    taken = [plain.decode(line) is not None for line in lines]
    assert all(taken[:100])
    assert not any(taken[200:])
    assert plain.decode(lines[0]) is not None
    assert plain.decode(b'{"messages": [{"role": "assistant", "content": "a"}]}') is not None


@pytest.mark.parametrize(
    "line", [b"", b" ", b"3", b"[]", b"{}", b'{"messages": 1e400}', b"[" * 9000]
)
def test_lines_that_are_no_rows(line: bytes) -> None:
    assert PlainRows(frozenset()).decode(line) is None


def test_a_huge_integer_keeps_every_digit(tmp_path: Path) -> None:
    huge = 10**40 + 1
    path = write_lines(tmp_path / "x.jsonl", [row(SAID, seed=huge)])
    _, _, (trace,), _ = both_ways(path)
    assert trace.trace().extra["seed"] == huge


def test_a_deep_field_is_broken_either_way(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "x.jsonl", [row(SAID, deep="HERE"), row(SAID)])
    nested = "[" * 300 + "]" * 300
    path.write_text(path.read_text("utf-8").replace('"HERE"', nested), encoding="utf-8")
    built, report, written, quick_report = both_ways(path)
    assert len(built) == len(written) == 1
    assert report == quick_report
    assert report.broken == 1


def test_a_trace_can_be_written_and_read_back() -> None:
    trace = Trace.model_validate(
        row(SAID | {"content": "\ud800\x00"}, state="ok", tags={"x": 1.5}, source="f:1")
    )
    text = TraceText.of(trace)
    assert text.digest == trace.digest
    assert text.trace() == trace
    assert json.loads(text.text)["tags"] == {"x": 1.5}
