"""OpenAI chat rows: every dialect in, nothing lost, the same digest each time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelkit.domain.trace import RowState, Usage
from labelkit.domain.trace_text import TraceText
from labelkit.formats.reader import ReadOptions
from labelkit.formats.registry import read_file
from tests.formats.writing import one_trace, read_all, write_lines

USER = {"role": "user", "content": "q"}
ANSWER = {"role": "assistant", "content": "a"}


def row(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages)} | fields


def call(arguments: Any, **fields: Any) -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    entry = {"id": "c1", "type": "function", "function": function} | fields
    return {"role": "assistant", "content": None, "tool_calls": [entry]}


def test_a_plain_row_is_clean(tmp_path: Path) -> None:
    trace, found = one_trace(tmp_path, row(USER, ANSWER, id="t1", task_set="s", repeat=2,
                                           condition="c", finish_reason="stop"))  # fmt: skip
    assert found == {}
    assert (trace.model, trace.task_id, trace.task_set) == ("m", "t1", "s")
    assert (trace.repeat, trace.condition, trace.state) == (2, "c", RowState.OK)
    assert trace.extra == {}
    assert trace.source == "rows.jsonl:1"


@pytest.mark.parametrize(
    ("given_arguments", "text", "kinds"),
    [
        ('{"a": 1}', '{"a": 1}', []),
        ('{"a": ', '{"a": ', ["odd"]),
        ("find the cheapest", "find the cheapest", ["odd"]),
        ('"{}"', '"{}"', []),
        ('{"a": "\\ud800"}', '{"a": "\\ud800"}', []),
        ("", "", []),
        ({"b": 1, "a": "é"}, '{"a":"é","b":1}', ["repaired"]),
        (None, "{}", ["repaired"]),
        ("null", "{}", ["repaired"]),
        ([1], "[1]", ["repaired", "odd"]),
    ],
)
def test_arguments(tmp_path: Path, given_arguments: Any, text: str, kinds: list[str]) -> None:
    trace, found = one_trace(tmp_path, row(USER, call(given_arguments)))
    assert trace.messages[1].tool_calls[0].arguments == text
    assert sorted(found.values()) == sorted(kinds)
    if given_arguments in {None, "null"} if not isinstance(given_arguments, dict | list) else False:
        assert trace.messages[1].extra["tool_calls"]["0"] == {"raw_arguments": given_arguments}
    else:
        assert trace.messages[1].extra == {}


@pytest.mark.parametrize(
    ("named", "odd"),
    [("c1", 0), (None, 0), ("c2", 1), ("", 1)],
    ids=["own", "none", "other", "empty"],
)
def test_a_result_for_a_call_nobody_made_is_told(
    tmp_path: Path, named: str | None, odd: int
) -> None:
    tool = {"role": "tool", "content": "7"} | ({} if named is None else {"tool_call_id": named})
    trace, found = one_trace(tmp_path, row(USER, call("{}"), tool, ANSWER))
    assert trace.messages[2].tool_call_id == named
    assert list(found.values()) == ["odd"] * odd


def test_a_result_before_its_call_is_told(tmp_path: Path) -> None:
    tool = {"role": "tool", "content": "7", "tool_call_id": "c1"}
    _, found = one_trace(tmp_path, row(USER, tool, call("{}"), ANSWER))
    assert list(found.values()) == ["odd"]


def test_null_content_beside_calls_survives(tmp_path: Path) -> None:
    tool = {"role": "tool", "tool_call_id": "c1", "content": ""}
    trace, found = one_trace(tmp_path, row(USER, call("{}"), tool))
    assert found == {}
    assert [m.content for m in trace.messages] == ["q", None, ""]
    assert trace.state is RowState.NO_TEXT


def test_legacy_function_calls_are_paired(tmp_path: Path) -> None:
    asked = {"role": "assistant", "content": None,
             "function_call": {"name": "f", "arguments": "{}"}}  # fmt: skip
    reply = {"role": "function", "name": "f", "content": "7"}
    trace, found = one_trace(tmp_path, row(USER, asked, reply, asked, reply, ANSWER))
    pairs = [(m.tool_calls[0].id if m.tool_calls else m.tool_call_id) for m in trace.messages[1:5]]
    assert pairs == ["function_call_1"] * 2 + ["function_call_3"] * 2
    assert [m.role for m in trace.messages[1:5]] == ["assistant", "tool"] * 2
    assert set(found.values()) == {"repaired"}
    assert len(found) == 2


def test_parts_are_joined_and_kept(tmp_path: Path) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    parts = [{"type": "text", "text": "one"}, image, {"type": "text", "text": "two"}]
    trace, _ = one_trace(tmp_path, row({"role": "user", "content": parts}, ANSWER))
    assert trace.messages[0].content == "one\ntwo"
    assert list(trace.messages[0].parts) == parts


def test_foreign_calls_in_parts_are_told(tmp_path: Path) -> None:
    parts = [{"type": "tool_use", "name": "f", "input": {}}]
    _, found = one_trace(tmp_path, row(USER, {"role": "assistant", "content": parts}))
    assert list(found.values()) == ["lost"]


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content", "thinking"])
def test_reasoning_is_kept_apart(tmp_path: Path, key: str) -> None:
    trace, _ = one_trace(tmp_path, row(USER, ANSWER | {key: "hm"}))
    assert trace.messages[1].reasoning == "hm"
    assert trace.messages[1].content == "a"
    assert trace.messages[1].extra == {}


def test_unknown_fields_stay(tmp_path: Path) -> None:
    trace, _ = one_trace(tmp_path, row(USER, ANSWER | {"audio": None, "x": [1]}, seed=7))
    assert trace.messages[1].extra == {"audio": None, "x": [1]}
    assert trace.extra == {"seed": 7}


def test_refusal_is_what_the_user_sees(tmp_path: Path) -> None:
    refusing = {"role": "assistant", "content": None, "refusal": "I can't."}
    trace, found = one_trace(tmp_path, row(USER, refusing))
    assert trace.messages[1].content == "I can't."
    assert trace.state is RowState.OK
    assert list(found.values()) == ["repaired"]


@pytest.mark.parametrize(
    ("fields", "state", "kind"),
    [
        ({"finish_reason": "length"}, RowState.TRUNCATED, None),
        ({"finish_reason": "content_filter"}, RowState.INFRA_ERROR, "filtered"),
        ({"finish_reason": "error"}, RowState.INFRA_ERROR, "other_error"),
        ({"error": "boom"}, RowState.INFRA_ERROR, "other_error"),
        ({"error": {"kind": "transport", "status": 503, "message": "x", "attempts": 3}},
         RowState.INFRA_ERROR, "transport"),
        ({"error": None}, RowState.OK, None),
        ({"state": "no_text"}, RowState.NO_TEXT, None),
    ],
)  # fmt: skip
def test_states(tmp_path: Path, fields: dict[str, Any], state: RowState, kind: str | None) -> None:
    trace, _ = one_trace(tmp_path, row(USER, ANSWER, **fields))
    assert trace.state is state
    assert (trace.error.kind if trace.error else None) == kind


def test_an_unclosed_think_block_is_no_text(tmp_path: Path) -> None:
    trace, _ = one_trace(tmp_path, row(USER, {"role": "assistant", "content": "<think>so"}))
    assert trace.state is RowState.NO_TEXT


def test_a_raw_response_is_appended(tmp_path: Path) -> None:
    response = {
        "id": "chatcmpl-1",
        "choices": [{"index": 0, "message": ANSWER, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }
    for shape in (row(USER, **response), {"request": row(USER), "response": response}):
        trace, found = one_trace(tmp_path, shape)
        assert [m.content for m in trace.messages] == ["q", "a"]
        assert trace.task_id is None
        assert trace.usage == Usage(prompt_tokens=3, completion_tokens=2)
        assert trace.extra == {"id": "chatcmpl-1"}
        assert found == {}


def test_usage_that_says_more_is_kept(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 9}}
    trace, _ = one_trace(tmp_path, row(USER, ANSWER, usage=usage))
    assert trace.usage == Usage(prompt_tokens=3, reasoning_tokens=9)
    assert trace.extra["usage"] == usage


METADATA = {"a": 2, "b": [1], "c": True}


def test_tags_and_metadata(tmp_path: Path) -> None:
    trace, _ = one_trace(tmp_path, row(USER, ANSWER, tags={"a": 1}, metadata=METADATA))
    assert trace.tags == {"a": 1, "c": True}
    assert trace.extra == {"metadata": {"a": 2, "b": [1]}}


def test_tools_make_a_task_only_with_an_identity(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": "f", "description": "d",
              "parameters": {"type": "object"}}}]  # fmt: skip
    named = row(USER, ANSWER, tools=tools, id="t", task_set="s")
    path = write_lines(
        tmp_path / "a.jsonl", [named, named | {"repeat": 1}, row(USER, ANSWER, tools=tools)]
    )
    tasks, traces, _ = read_all(path)
    assert [(t.set, t.id, t.tools[0].name, t.messages[0].content) for t in tasks] == [
        ("s", "t", "f", "q")
    ]
    assert [t.extra.get("tools") for t in traces] == [None, None, tools]


def test_tools_that_say_more_stay_raw(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": "f", "strict": True}}]
    trace, _ = one_trace(tmp_path, row(USER, ANSWER, tools=tools, id="t", task_set="s"))
    assert trace.extra["tools"] == tools


def test_missing_model_is_told_and_can_be_stated(tmp_path: Path) -> None:
    trace, found = one_trace(tmp_path, {"messages": [USER, ANSWER]})
    assert trace.model == "unknown"
    assert list(found.values()) == ["lost"]
    trace, found = one_trace(tmp_path, {"messages": [USER, ANSWER]}, model="x")
    assert (trace.model, found) == ("x", {})


def test_nan_huge_numbers_and_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    big = "9" * 5000
    start = '{"model":"m","messages":[{"role":"assistant","content":'
    lines = f'{start}"q"}}],"x":NaN,"y":1e999,"n":{big}}}\n{start}"a\tb"}}],"n":{big[:400]}}}\n'
    path.write_text(lines, encoding="utf-8")
    _, (first, second), report = read_all(path)
    assert (first.extra["x"], first.extra["y"], first.extra["n"]) == (None, None, big)
    assert second.messages[0].content == "a\tb"
    assert second.extra["n"] == int("9" * 400)
    assert report.total("repaired") == 4


TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool"]),
     "content": st.none() | TEXT},
    optional={
        "name": TEXT,
        "tool_call_id": TEXT,
        "note": st.recursive(st.none() | TEXT | st.integers(), lambda c: st.lists(c, max_size=3)),
        "tool_calls": st.lists(
            st.fixed_dictionaries(
                {"id": TEXT, "type": st.just("function"),
                 "function": st.fixed_dictionaries(
                     {"name": TEXT, "arguments": TEXT.filter(lambda t: t.strip() != "null")})}
            ),
            max_size=3,
        ),
    },
)  # fmt: skip


SPOKEN = st.lists(MESSAGE, min_size=1, max_size=6).filter(
    lambda conversation: any(m["role"] == "assistant" for m in conversation)
)


def rebuilt(message: Any) -> dict[str, Any]:
    """The raw message again, from what was kept."""
    raw: dict[str, Any] = {"role": message.role, "content": message.content} | message.extra
    if message.tool_calls:
        raw["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in message.tool_calls
        ]
    for key in ("name", "tool_call_id"):
        if getattr(message, key) is not None:
            raw[key] = getattr(message, key)
    return raw


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(conversation=SPOKEN, ascii_only=st.booleans())
def test_hostile_conversations_round_trip(
    tmp_path: Path, conversation: list[dict[str, Any]], ascii_only: bool
) -> None:
    path = tmp_path / "h.jsonl"
    text = json.dumps(row(*conversation), ensure_ascii=ascii_only)
    path.write_bytes(text.encode("utf-8", errors="surrogatepass") + b"\r\n")
    _, (trace,), report = read_all(path, "openai-chat")
    expected = [
        {k: v for k, v in message.items() if (k, v) != ("tool_calls", [])}
        for message in conversation
    ]
    assert [rebuilt(message) for message in trace.messages] == expected
    assert {line.kind for line in report.lines} <= {"odd"}
    array = tmp_path / "h.json"
    array.write_bytes(b"[" + text.encode("utf-8", errors="surrogatepass") + b"]")
    _, (again,), _ = read_all(array, "openai-chat")
    assert again.digest == trace.digest


def test_array_object_and_lines_give_the_same_traces(tmp_path: Path) -> None:
    rows = [row(USER, ANSWER, id=str(n)) for n in range(3)]
    lines = write_lines(tmp_path / "a.jsonl", rows)
    array = tmp_path / "a.json"
    array.write_text("\ufeff" + json.dumps(rows, indent=2).replace("\n", "\r\n"), encoding="utf-8")
    digests = [t.digest for t in read_all(lines)[1]]
    assert [t.digest for t in read_all(array)[1]] == digests
    single = tmp_path / "one.json"
    single.write_text(json.dumps(rows[0], indent=2), encoding="utf-8")
    assert [t.digest for t in read_all(single)[1]] == digests[:1]


@pytest.mark.parametrize("value", ["law", True, 3, 0.5])
@pytest.mark.parametrize("texts", [True, False])
def test_a_plain_fact_beside_the_messages_is_told_to_be_no_tag(
    tmp_path: Path, value: Any, texts: bool
) -> None:
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    plain = row(*said, domain=value, tags={"level": 1})
    noise = {"seed": 7, "created": 1, "passage": "long " * 40, "more": {"a": 1}, "none": None}
    path = write_lines(tmp_path / "x.jsonl", [plain | noise, plain])
    reading = read_file(path, None, ReadOptions(texts=texts))
    traces = [one.trace() for one in reading.written() if isinstance(one, TraceText)]
    assert [(t.tags, t.extra["domain"]) for t in traces] == [({"level": 1}, value)] * 2
    (line,) = reading.report.lines
    assert (line.kind, line.records, line.count) == ("odd", (1, 2), 2)
    assert line.what.startswith("`domain` is kept, but is no tag")
