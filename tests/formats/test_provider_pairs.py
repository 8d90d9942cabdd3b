"""Recorded exchanges of four providers: what was asked and answered, however it is written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.trace import RowState, Trace, Usage
from labelkit.errors import FormatError
from labelkit.formats.registry import read_file, sniff_format
from tests.formats.writing import read_all, write_lines


@pytest.fixture(scope="module")
def exchanges(shared: Path) -> dict[str, Trace]:
    found = {}
    for path in sorted((shared / "real/provider_payloads").rglob("*.request.json")):
        assert sniff_format(path).name == "provider"
        if list(path.parent.glob(f"{path.name[:2]}.response.*.json")):
            _, (trace,), report = read_all(path)
            assert report.clean
            found[f"{path.parent.name.split('__test_')[1]}/{path.name[:2]}"] = trace
    return found


def test_every_answered_request_is_a_trace(exchanges: dict[str, Trace], shared: Path) -> None:
    folder = shared / "real/provider_payloads"
    assert len(list(folder.rglob("*.request.json"))) == 25
    assert len(list(folder.rglob("*.response.*.json"))) == len(exchanges) == 22


def test_the_response_file_names_the_same_trace(exchanges: dict[str, Trace], shared: Path) -> None:
    folder = shared / "real/provider_payloads/test_openai__test_openai_tool_output"
    _, (trace,), _ = read_all(folder / "01.response.200.json")
    assert trace.digest == exchanges["openai_tool_output/01"].digest
    assert trace.source == "01.request.json:1"


def test_a_request_nobody_answered_is_refused(shared: Path) -> None:
    folder = shared / "real/provider_payloads/test_dbos__test_complex_agent_run_in_workflow"
    for path in folder.glob("*.json"):
        with pytest.raises(FormatError, match="there is no response file beside it"):
            list(read_file(path))


def test_parallel_calls_and_their_results(exchanges: dict[str, Trace]) -> None:
    trace = exchanges["multiple_parallel_tool_calls/01"]
    (asking,) = [m for m in trace.messages if m.tool_calls]
    results = [m for m in trace.messages if m.role == "tool"]
    assert [c.id for c in asking.tool_calls] == [m.tool_call_id for m in results]
    assert [json.loads(c.arguments)["name"] for c in asking.tool_calls] == [
        "Alice", "Bob", "Charlie", "Daisy",
    ]  # fmt: skip
    assert trace.messages[0].role == "system"
    assert trace.usage == Usage(prompt_tokens=771, completion_tokens=77, cached_tokens=0)


def test_thinking_is_kept_apart_from_the_answer(exchanges: dict[str, Trace]) -> None:
    trace = exchanges["anthropic_tool_with_thinking/01"]
    assert trace.messages[1].reasoning is not None
    assert trace.messages[1].reasoning.startswith("The user is asking")
    assert "signature" in trace.messages[1].parts[0]
    assert trace.messages[1].content is not None
    assert "thinking" not in trace.messages[1].content


def test_a_refused_request_is_an_error_and_no_answer(exchanges: dict[str, Trace]) -> None:
    trace = exchanges["tool_use_failed_error/00"]
    assert trace.state is RowState.INFRA_ERROR
    assert trace.error is not None
    assert trace.error.status == 400
    assert all(m.role != "assistant" for m in trace.messages)
    assert Counter(t.state for t in exchanges.values())[RowState.INFRA_ERROR] == 1


def test_gemini_speaks_as_assistant_with_calls_without_ids(exchanges: dict[str, Trace]) -> None:
    asking, answered = (exchanges[f"multiple_agent_tool_calls/0{n}"] for n in (0, 1))
    (call,) = asking.messages[-1].tool_calls
    assert (call.name, json.loads(call.arguments)) == ("get_capital", {"country": "France"})
    assert [m.role for m in answered.messages] == ["user", "assistant", "tool", "assistant"]
    assert json.loads(answered.messages[2].content or "") == {"return_value": "Paris"}
    assert asking.model == "gemini-2.0-flash-exp"
    assert asking.usage == Usage(prompt_tokens=23, completion_tokens=5)


def exchange(request: Any, response: Any, **fields: Any) -> dict[str, Any]:
    return {"request": request, "response": response} | fields


CONTENTS = [{"role": "user", "parts": [{"text": "q"}]}]
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}}
CASES = [
    (
        {"model": "g", "contents": CONTENTS, "systemInstruction": {"parts": [{"text": "s"}]}},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]},
                         "finishReason": "MAX_TOKENS"}]},
        ["system", "user", "assistant"],
        RowState.TRUNCATED,
    ),
    ({"model": "g", "contents": "q"}, BLOCKED, ["user"], RowState.INFRA_ERROR),
    (
        {"model": "o", "input": "q", "instructions": "s"},
        {"object": "response", "status": "completed", "error": None,
         "output": [{"type": "function_call", "name": "f", "call_id": "c", "arguments": "{}"}]},
        ["system", "user", "assistant"],
        RowState.NO_TEXT,
    ),
    (
        {"model": "o", "input": [{"role": "user", "content": "q"},
                                 {"type": "function_call", "name": "f", "call_id": "c",
                                  "arguments": "{}"},
                                 {"type": "function_call_output", "call_id": "c", "output": "7"}]},
        {"output": [{"type": "message", "role": "assistant",
                     "content": [{"type": "output_text", "text": "a"}]}],
         "incomplete_details": {"reason": "max_output_tokens"}},
        ["user", "assistant", "tool", "assistant"],
        RowState.TRUNCATED,
    ),
    (
        {"model": "c", "system": "s", "messages": [{"role": "user", "content": "q"}]},
        {"type": "error", "error": {"type": "overloaded_error", "message": "m"}},
        ["system", "user"],
        RowState.INFRA_ERROR,
    ),
    ({"model": "p", "prompt": "q"}, {"choices": [{"message": {"content": "a"}}]},
     ["user", "assistant"], RowState.OK),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "response", "roles", "state"), CASES)
def test_rows_of_any_dialect(
    tmp_path: Path, request_: Any, response: Any, roles: list[str], state: RowState
) -> None:
    path = write_lines(tmp_path / "x.jsonl", [exchange(request_, response, task_id="t")])
    _, (trace,), _ = read_all(path, "provider")
    assert [m.role for m in trace.messages] == roles
    assert (trace.state, trace.model, trace.task_id) == (state, request_["model"], "t")


def test_a_status_makes_an_error_of_any_body(tmp_path: Path) -> None:
    row = exchange({"prompt": "q"}, {"detail": "no such model"}, status=404)
    _, (trace,), _ = read_all(write_lines(tmp_path / "x.jsonl", [row]), "provider")
    assert trace.error is not None
    assert trace.error.status == 404
    assert trace.extra["response"] == {"response": {"detail": "no such model"}}


@pytest.mark.parametrize(
    "row",
    [
        exchange({"prompt": "q"}, None),
        exchange({"x": 1}, {"choices": []}),
        exchange({"prompt": "q"}, {"hm": 1}),
        exchange({"input": 3}, {"output": []}),
        exchange({"contents": [3]}, BLOCKED),
        exchange({"contents": [{}]}, BLOCKED),
        7,
    ],
)
def test_what_no_api_would_write_is_broken(tmp_path: Path, row: Any) -> None:
    good = exchange({"prompt": "q"}, {"choices": [{"message": {"content": "a"}}]})
    _, traces, report = read_all(write_lines(tmp_path / "x.jsonl", [row, good]), "provider")
    assert (len(traces), report.broken) == (1, 1)


def test_rows_are_told_from_openai_chat_by_what_they_hold(tmp_path: Path) -> None:
    gemini = write_lines(tmp_path / "g.jsonl", [exchange({"contents": CONTENTS}, BLOCKED)])
    chat = {"model": "m", "messages": [{"role": "user", "content": "q"}]}
    openai = write_lines(
        tmp_path / "o.jsonl", [exchange(chat, {"choices": [{"message": {"content": "a"}}]})]
    )
    assert sniff_format(gemini).name == "provider"
    assert sniff_format(openai).name == "openai-chat"


@pytest.mark.parametrize("broken", ["request", "response.200"])
def test_a_damaged_half_is_named(tmp_path: Path, broken: str) -> None:
    for name in ("request", "response.200"):
        text = "{" if name == broken else "{}"
        (tmp_path / f"[1].{name}.json").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="not valid JSON"):
        list(read_file(tmp_path / "[1].request.json"))
