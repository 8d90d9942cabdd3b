"""Spans of every convention: the same conversation, whichever way it was written down."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.domain.trace import RowState, Trace, Usage
from labelkit.formats.langfuse import unwrapped
from labelkit.formats.registry import LossReport, read_file, sniff_format
from labelkit.formats.span_messages import nested
from tests.formats.writing import one_file, read_all, write_lines

ARGUMENTS = '{"city": "Berlin"}'
CALL = {"id": "c1", "name": "weather", "arguments": ARGUMENTS}

PARTS = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "s"}]),
    "gen_ai.input.messages": json.dumps([
        {"role": "user", "parts": [{"type": "text", "content": "q"}]},
        {"role": "assistant", "parts": [{"type": "tool_call"} | CALL]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "wet"}]},
    ]),
    "gen_ai.output.messages": json.dumps([
        {"role": "assistant", "finish_reason": "stop",
         "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "a"}]},
    ]),
    "gen_ai.usage.input_tokens": 7,
    "gen_ai.usage.output_tokens": "2",
    "gen_ai.response.finish_reasons": ["stop"],
}  # fmt: skip
INDEXED = {
    "gen_ai.request.model": "m",
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "s",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": "q",
    "gen_ai.prompt.2.role": "assistant",
    **{f"gen_ai.prompt.2.tool_calls.0.{key}": value for key, value in CALL.items()},
    "gen_ai.prompt.3.role": "tool",
    "gen_ai.prompt.3.tool_call_id": "c1",
    "gen_ai.prompt.3.content": "wet",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "a",
    "gen_ai.completion.0.finish_reason": "stop",
    "gen_ai.usage.prompt_tokens": 7,
    "gen_ai.usage.completion_tokens": 2,
    "gen_ai.response.finish_reasons": '["stop"]',
}
_IN, _OUT = "llm.input_messages", "llm.output_messages"
OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "m",
    f"{_IN}.0.message.role": "system",
    f"{_IN}.0.message.content": "s",
    f"{_IN}.1.message.role": "user",
    f"{_IN}.1.message.contents.0.message_content.type": "text",
    f"{_IN}.1.message.contents.0.message_content.text": "q",
    f"{_IN}.2.message.role": "assistant",
    f"{_IN}.2.message.tool_calls.0.tool_call.id": "c1",
    f"{_IN}.2.message.tool_calls.0.tool_call.function.name": "weather",
    f"{_IN}.2.message.tool_calls.0.tool_call.function.arguments": ARGUMENTS,
    f"{_IN}.3.message.role": "tool",
    f"{_IN}.3.message.tool_call_id": "c1",
    f"{_IN}.3.message.content": "wet",
    f"{_OUT}.0.message.role": "assistant",
    f"{_OUT}.0.message.content": "a",
    "llm.token_count.prompt": 7,
    "llm.token_count.completion": 2,
    "output.value": json.dumps({"choices": [{"finish_reason": "stop", "message": {}}]}),
}
FUNCTION = {"name": "weather", "arguments": ARGUMENTS}
EVENTS = [
    {"name": "gen_ai.system.message", "attributes": {"content": "s"}},
    {"name": "gen_ai.user.message", "attributes": {"content": "q"}},
    {"name": "gen_ai.assistant.message", "attributes": {
        "tool_calls": json.dumps([{"id": "c1", "type": "function", "function": FUNCTION}])}},
    {"name": "gen_ai.tool.message", "attributes": {"id": "c1", "content": "wet"}},
    {"name": "gen_ai.choice", "attributes": {
        "index": 0, "finish_reason": "stop", "message": json.dumps({"content": "a"})}},
]  # fmt: skip
TOLD = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.usage.input_tokens": 7,
    "gen_ai.usage.output_tokens": 2,
    "gen_ai.response.finish_reasons": ["stop"],
}


def span(
    attributes: dict[str, Any], number: int = 1, trace: str = "t", **fields: Any
) -> dict[str, Any]:
    return {
        "name": "chat m",
        "context": {"trace_id": trace, "span_id": f"s{number}"},
        "parent_id": "p",
        "start_time": f"2025-01-01T00:00:{number:02}Z",
        "attributes": attributes,
    } | fields


def value_of(raw: Any) -> dict[str, Any]:
    if isinstance(raw, list):
        return {"arrayValue": {"values": [value_of(entry) for entry in raw]}}
    return {"intValue": str(raw)} if isinstance(raw, int) else {"stringValue": raw}


def listed(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value_of(raw)} for key, raw in attributes.items()]


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """The same spans the way OTLP writes them."""
    made = [
        {
            "traceId": one["context"]["trace_id"],
            "spanId": one["context"]["span_id"],
            "parentSpanId": one["parent_id"],
            "name": one["name"],
            "startTimeUnixNano": str(int(one["context"]["span_id"][1:]) * 1000),
            "attributes": listed(one["attributes"]),
            "events": [e | {"attributes": listed(e["attributes"])} for e in one.get("events", [])],
            "status": one.get("status", {}),
        }
        for one in spans
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": made}]}]}


CONVENTIONS = [
    span(PARTS), span(INDEXED), span(OPENINFERENCE), span(TOLD, events=EVENTS),
]  # fmt: skip


def read(path: Path) -> tuple[list[Trace], LossReport]:
    assert sniff_format(path).name == "spans"
    _, traces, report = read_all(path)
    return traces, report


@pytest.mark.parametrize("written", ["line", "array", "otlp", "otlp lines", "nested", "columns"])
@pytest.mark.parametrize("one", CONVENTIONS, ids=["parts", "indexed", "openinference", "events"])
def test_one_conversation_in_every_convention(
    tmp_path: Path, one: dict[str, Any], written: str
) -> None:
    path = tmp_path / "spans.jsonl"
    if written == "otlp":
        one_file(path, otlp(one))
    elif written == "otlp lines":
        write_lines(path, [otlp(one), otlp(span({"x": 1}, 9))])
    elif written == "array":
        one_file(path, [one])
    elif written == "nested":
        write_lines(path, [one | {"attributes": nested(one["attributes"])}])
    elif written == "columns":
        flat = {k: v for k, v in one.items() if k not in {"attributes", "context"}}
        flat |= {f"context.{k}": v for k, v in one["context"].items()}
        flat |= {f"attributes.{k}": v for k, v in one["attributes"].items()}
        write_lines(path, [flat])
    else:
        write_lines(path, [one])
    (trace,), report = read(path)
    assert report.broken == 0
    assert [(m.role, m.content, m.tool_call_id) for m in trace.messages] == [
        ("system", "s", None),
        ("user", "q", None),
        ("assistant", None, None),
        ("tool", "wet", "c1"),
        ("assistant", "a", None),
    ]
    (call,) = trace.messages[2].tool_calls
    assert (call.id, call.name, json.loads(call.arguments)) == ("c1", "weather", {"city": "Berlin"})
    assert (trace.model, trace.finish_reason, trace.state) == ("m", "stop", RowState.OK)
    assert trace.usage == Usage(prompt_tokens=7, completion_tokens=2)
    assert trace.extra == {"trace_id": "t", "spans": ["s1"]}


def asked(text: str, said: str | None) -> dict[str, Any]:
    reply = {} if said is None else {"gen_ai.completion.0.content": said,
                                     "gen_ai.completion.0.role": "assistant"}  # fmt: skip
    question = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": text}
    return {"gen_ai.request.model": "m"} | question | reply


def test_runs_that_lie_between_each_other_are_told_apart(tmp_path: Path) -> None:
    goes_on = asked("one", None) | {
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.content": "a",
        "gen_ai.prompt.2.role": "user",
        "gen_ai.prompt.2.content": "more",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "b",
    }
    rows = [
        span(goes_on, 3),
        span(asked("two", "x"), 2, "u"),
        span({"openinference.span.kind": "CHAIN", "input.value": "q"}, 4),
        span(asked("one", "a"), 1),
    ]
    traces, _ = read(write_lines(tmp_path / "x.jsonl", rows))
    assert [t.extra["trace_id"] for t in traces] == ["t", "u"]
    assert [m.content for m in traces[0].messages] == ["one", "a", "more", "b"]
    assert traces[0].extra["spans"] == ["s1", "s3"]


def test_a_tools_own_span_gives_the_result_of_an_open_call(tmp_path: Path) -> None:
    calling = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "m",
        f"{_IN}.0.message.role": "user",
        f"{_IN}.0.message.content": "q",
        f"{_OUT}.0.message.role": "assistant",
        f"{_OUT}.0.message.tool_calls.0.tool_call.function.name": "f",
        f"{_OUT}.0.message.tool_calls.0.tool_call.function.arguments": "{}",
    }
    tool = {"openinference.span.kind": "TOOL", "tool.name": "f", "output.value": '"7"'}
    (trace,), _ = read(write_lines(tmp_path / "x.jsonl", [span(calling), span(tool, 2)]))
    assert [(m.role, m.name, m.content) for m in trace.messages][-1] == ("tool", "f", "7")


def test_a_failed_request_is_an_error(tmp_path: Path) -> None:
    status = {"status_code": "ERROR", "description": "429"}
    (trace,), _ = read(write_lines(tmp_path / "x.jsonl", [span(asked("q", None), status=status)]))
    assert trace.state is RowState.INFRA_ERROR
    assert trace.error is not None
    assert trace.error.message == "429"
    (trace,), _ = read(
        one_file(tmp_path / "o.json", otlp(span(asked("q", None), status={"code": 2})))
    )
    assert trace.state is RowState.INFRA_ERROR


def test_damaged_spans_are_told_and_the_others_read(tmp_path: Path) -> None:
    bad = asked("q", "a") | {"gen_ai.prompt.0.role": ""}
    rows = [span(asked("q", "a")), {"name": "no ids", "attributes": {}}, 3, span(bad, 2, "u")]
    path = write_lines(tmp_path / "x.jsonl", rows)
    path.write_text(path.read_text("utf-8") + "{broken\n", encoding="utf-8")
    traces, report = read(path)
    assert len(traces) == 1
    assert sorted(r for line in report.lines if line.kind == "broken" for r in line.records) == [
        2, 3, 4, 5,
    ]  # fmt: skip


def test_the_attributes_of_real_runs_say_what_their_logged_input_says(
    shared: Path, tmp_path: Path
) -> None:
    """Langfuse keeps the span attributes it was sent; four frameworks put the messages there."""
    compared = 0
    for path in sorted((shared / "real/langfuse_traces").glob("*.trace.json")):
        _, whole, _ = read_all(path)
        rows = []
        for entry in json.loads(path.read_text("utf-8"))["observations"]:
            attributes = unwrapped(entry.get("metadata") or {}).get("attributes")
            if entry["type"] == "GENERATION" and isinstance(attributes, dict):
                rows.append(
                    span(attributes, name=entry["name"], parent_id=entry["parentObservationId"])
                    | {"context": {"trace_id": "t", "span_id": entry["id"]},
                       "start_time": entry["startTime"]}
                )  # fmt: skip
        known = ("gen_ai.prompt", "llm.input_messages", "gen_ai.input", "events")
        if not any(key.startswith(known) for row in rows for key in row["attributes"]):
            continue
        _, traces, _ = read_all(write_lines(tmp_path / path.name, rows), "spans")
        for ours, logged in zip(traces, whole, strict=True):
            spoken = said(ours)
            if spoken[0][0] == "system" and logged.messages[0].role != "system":
                del spoken[0]  # the attributes hold a system prompt that the input leaves out
            assert spoken == said(logged), path.name
        compared += 1
    assert compared >= 4


def said(trace: Trace) -> list[tuple[str, Any]]:
    """Roles and contents; a content that is JSON counts without its spaces."""
    return [(m.role, unwrapped(m.content)) for m in trace.messages]


def test_memory_does_not_grow_with_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(300):
            row = span(asked("x" * 60_000, "a"), 1, f"t{number}")
            file.write(json.dumps(row) + "\n")
    tracemalloc.start()
    count = sum(isinstance(item, Trace) for item in read_file(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 300
    assert peak < 4_000_000


PART = st.sampled_from(["a", "b", "0", "1", "01"])
DOTTED = st.lists(PART, min_size=1, max_size=4).map(".".join)


@settings(deadline=None)
@given(keys=st.dictionaries(DOTTED, st.integers(), max_size=6))
def test_dotted_keys_nest_whatever_they_are(keys: dict[str, int]) -> None:
    def leaves(value: Any) -> list[int]:
        if isinstance(value, dict):
            return [leaf for entry in value.values() for leaf in leaves(entry)]
        if isinstance(value, list):
            return [leaf for entry in value for leaf in leaves(entry)]
        return [value]

    assert sorted(leaves(nested(keys))) == sorted(keys.values())
