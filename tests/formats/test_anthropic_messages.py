"""Content blocks: one message of theirs may be several of ours, and nothing in it is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.trace import Trace, Usage
from labelkit.formats.registry import LossReport, sniff_format
from tests.formats.writing import read_all, write_lines

USE = {"type": "tool_use", "id": "t1", "name": "f", "input": {"b": 1, "a": "é"}}
ASKED = {"role": "user", "content": "q"}


def result(content: Any, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": content} | fields
    return {"role": "user", "content": [block]}


def read(tmp_path: Path, *messages: Any, **fields: Any) -> tuple[Trace, LossReport]:
    row = {"model": "m", "messages": list(messages)} | fields
    path = write_lines(tmp_path / "x.jsonl", [row])
    assert sniff_format(path).name == "anthropic"
    _, (trace,), report = read_all(path)
    return trace, report


def test_a_conversation_with_a_call(tmp_path: Path) -> None:
    said = {"role": "assistant", "content": [{"type": "text", "text": "let me look"}, USE]}
    answer = {"role": "assistant", "content": "seven"}
    trace, report = read(tmp_path, ASKED, said, result("7"), answer, system="be brief", id="t")
    assert report.clean
    assert [(m.role, m.content) for m in trace.messages] == [
        ("system", "be brief"),
        ("user", "q"),
        ("assistant", "let me look"),
        ("tool", "7"),
        ("assistant", "seven"),
    ]
    (call,) = trace.messages[2].tool_calls
    assert (call.id, call.name, call.arguments) == ("t1", "f", '{"a":"é","b":1}')
    assert trace.messages[3].tool_call_id == "t1"
    assert trace.task_id == "t"


def test_results_and_words_in_one_user_message_are_two(tmp_path: Path) -> None:
    both = {"role": "user", "content": [*result("7")["content"], {"type": "text", "text": "go on"}]}
    said = {"role": "assistant", "content": [USE]}
    trace, _ = read(tmp_path, ASKED, said, both, {"role": "assistant", "content": "a"})
    assert [m.role for m in trace.messages] == ["user", "assistant", "tool", "user", "assistant"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("7", "7"),
        ([{"type": "text", "text": "7"}, {"type": "text", "text": "8"}], "7\n8"),
        ({"n": 7}, '{"n":7}'),
        (None, None),
    ],
)
def test_a_result_may_be_written_in_many_ways(
    tmp_path: Path, content: Any, text: str | None
) -> None:
    said = {"role": "assistant", "content": [USE]}
    trace, _ = read(tmp_path, ASKED, said, result(content, is_error=True), said)
    assert trace.messages[2].content == text
    assert trace.messages[2].extra == {"is_error": True}


def test_images_and_signatures_stay_in_parts(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    image = {"type": "image", "source": {"type": "url", "url": "u"}}
    said = {"role": "assistant", "content": [thought, {"type": "text", "text": "a"}]}
    trace, _ = read(tmp_path, {"role": "user", "content": [image]}, said, system="s")
    assert trace.messages[1].parts == (image,)
    assert trace.messages[1].content is None
    assert (trace.messages[2].reasoning, trace.messages[2].content) == ("hm", "a")
    assert trace.messages[2].parts[0] == thought


def test_the_response_is_the_reply(tmp_path: Path) -> None:
    response = {
        "id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "max_tokens",
        "content": [{"type": "text", "text": "a"}],
        "usage": {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 5},
    }  # fmt: skip
    tools = [{"name": "f", "description": "d", "input_schema": {"type": "object"}}]
    request = {"model": "m", "messages": [ASKED], "tools": tools}
    row = {"request": request, "response": response, "task_set": "s", "task_id": "t"}
    path = write_lines(tmp_path / "x.jsonl", [row])
    assert sniff_format(path).name == "anthropic"
    (task,), (trace,), _ = read_all(path)
    assert [m.content for m in trace.messages] == ["q", "a"]
    assert (trace.finish_reason, trace.state.value) == ("max_tokens", "truncated")
    assert trace.usage == Usage(prompt_tokens=8, completion_tokens=2, cached_tokens=5)
    assert trace.extra["message_id"] == "msg_1"
    assert task.tools[0].name == "f"


def test_a_bare_response_is_only_a_reply(tmp_path: Path) -> None:
    row = {"model": "m", "content": [USE], "stop_reason": "tool_use", "role": "assistant"}
    path = write_lines(tmp_path / "x.jsonl", [row])
    assert sniff_format(path).name == "anthropic"
    _, (trace,), _ = read_all(path)
    assert [c.name for c in trace.messages[0].tool_calls] == ["f"]


def test_openai_rows_are_not_taken_for_anthropic(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    row = {"messages": [ASKED, {"role": "assistant", "tool_calls": [call]}], "system": "s"}
    assert sniff_format(write_lines(tmp_path / "x.jsonl", [row])).name == "openai-chat"


@pytest.mark.parametrize(
    "messages", [3, [3], [{"content": "x"}], [{"role": "user", "content": 3}], []]
)
def test_damaged_rows_are_broken(tmp_path: Path, messages: Any) -> None:
    good = {"messages": [ASKED, {"role": "assistant", "content": [USE]}]}
    path = write_lines(tmp_path / "x.jsonl", [{"messages": messages}, {"a": 1}, good])
    _, traces, report = read_all(path, "anthropic")
    assert (len(traces), report.broken) == (1, 2)


def test_a_call_with_text_for_arguments_or_no_name_is_told(tmp_path: Path) -> None:
    odd = {"type": "tool_use", "id": "t1", "input": "{}"}
    trace, report = read(tmp_path, ASKED, {"role": "assistant", "content": [odd]}, system="s")
    assert json.loads(trace.messages[2].tool_calls[0].arguments) == {}
    assert report.total("repaired") == 2


CALLED = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "tool_calls": [CALLED]},
        {"role": "assistant", "content": None, "function_call": CALLED["function"]},
        {"role": "tool", "tool_call_id": "c", "content": "7"},
        {"role": "function", "name": "f", "content": "7"},
    ],
)
def test_calls_of_openai_are_refused_where_this_format_is_forced(
    tmp_path: Path, message: dict[str, Any]
) -> None:
    plain = {"model": "m", "messages": [ASKED, {"role": "assistant", "content": "a"}]}
    rows = [plain, {"model": "m", "messages": [ASKED, message]}]
    path = write_lines(tmp_path / "x.jsonl", rows)
    _, traces, report = read_all(path, "anthropic")
    assert len(traces) == 1
    (line,) = report.lines
    assert (line.kind, line.records) == ("broken", (2,))
    assert "--format openai-chat" in line.what


def test_empty_calls_of_openai_are_no_calls(tmp_path: Path) -> None:
    row = {"model": "m", "messages": [ASKED, {"role": "assistant", "content": "a"}]}
    row["messages"][1]["tool_calls"] = []  # type: ignore[index]
    _, traces, _ = read_all(write_lines(tmp_path / "x.jsonl", [row]), "anthropic")
    assert len(traces) == 1
