"""Langfuse exports: ten frameworks, against Langfuse's own normalised messages where it has any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.trace import RowState, Trace, Usage
from labelkit.errors import FormatError
from labelkit.formats.dialects import read_logged
from labelkit.formats.langfuse import logged_input, unwrapped
from labelkit.formats.reader import Notes
from labelkit.formats.registry import LossReport, read_file, sniff_format
from tests.formats.writing import one_file, read_all

FRAMEWORKS = {
    "autogen-2025-06-06": "SUA",
    "claude-agent-2025-12-22": "UACCTTA",
    "crewai-2025-07-11": "SUA",
    "google-adk-2025-08-28": "SUCTA",
    "koog-2025-08-26": "SUCTCTA",
    "langgraph-python-2025-08-22": "UUCTA",
    "openai-agents-2025-09-30": "UCTA",
    "pydantic-ai-2025-06-06": "SUA",
    "pydantic-ai-tools-2025-12-04": "SUCTTTAUA",
    "vertex-ai-2025-08-01": "UA",
}
"""The conversation of each run: S system, U user, A assistant, C assistant with calls, T tool."""


@pytest.fixture(scope="module")
def runs(shared: Path) -> dict[str, tuple[list[Trace], LossReport]]:
    found = {}
    for path in (shared / "real/langfuse_traces").glob("*.trace.json"):
        assert sniff_format(path).name == "langfuse"
        _, traces, report = read_all(path)
        found[path.name.removesuffix(".trace.json")] = (traces, report)
    return found


def shape(trace: Trace) -> str:
    return "".join(
        "C" if m.tool_calls else m.role[0].upper() if m.role != "tool" else "T"
        for m in trace.messages
    )


def test_ten_frameworks(runs: dict[str, tuple[list[Trace], LossReport]]) -> None:
    assert sorted(runs) == sorted(FRAMEWORKS)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_run_is_one_conversation(
    name: str, runs: dict[str, tuple[list[Trace], LossReport]]
) -> None:
    traces, report = runs[name]
    assert report.broken == 0
    assert shape(traces[0]) == FRAMEWORKS[name]
    assert len(traces) == (2 if name == "pydantic-ai-tools-2025-12-04" else 1)
    assert report.total("odd") == len(traces) - 1
    for trace in traces:
        assert trace.model != "unknown"
        assert trace.usage is not None
        assert [c.name for m in trace.messages for c in m.tool_calls].count("") == 0


def test_the_critic_of_the_joke_is_a_conversation_of_its_own(
    runs: dict[str, tuple[list[Trace], LossReport]],
) -> None:
    writer, critic = runs["pydantic-ai-tools-2025-12-04"][0]
    assert shape(critic) == "SUC"
    assert len(writer.extra["observations"]) == 3
    assert len(critic.extra["observations"]) == 1


def test_results_logged_apart_are_put_behind_their_calls(
    runs: dict[str, tuple[list[Trace], LossReport]],
) -> None:
    ((trace,), _) = runs["claude-agent-2025-12-22"]
    calls = [(c.id, json.loads(c.arguments)["city"]) for m in trace.messages for c in m.tool_calls]
    results = [(m.tool_call_id, m.content) for m in trace.messages if m.role == "tool"]
    assert [city for _, city in calls] == ["Berlin", "New York"]
    for (made, city), (answered, text) in zip(calls, results, strict=True):
        assert made == answered
        assert city in (text or "")
    assert trace.usage == Usage(prompt_tokens=34, completion_tokens=232)


def test_scores_are_kept_and_tagged(runs: dict[str, tuple[list[Trace], LossReport]]) -> None:
    ((trace,), _) = runs["vertex-ai-2025-08-01"]
    assert trace.tags["score_hallucination"] == 0.1
    assert {s["name"] for s in trace.extra["scores"]} == {"hallucination", "toxicity"}


def normalised(data: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Langfuse's own messages, as far as they are plain text with a role."""
    return [
        ({"model": "assistant"}.get(m["role"], m["role"]), m["content"])
        for m in data
        if isinstance(m.get("content"), str) and m["content"] and "role" in m
    ]


def test_messages_agree_with_langfuses_own(shared: Path) -> None:
    compared = 0
    for name in FRAMEWORKS:
        folder = shared / "real/langfuse_traces"
        twin = json.loads((folder / f"{name}.chatml.json").read_text("utf-8"))
        raw = json.loads((folder / f"{name}.trace.json").read_text("utf-8"))
        for entry in raw["observations"]:
            if entry["type"] != "GENERATION" or name.startswith("koog"):
                continue  # Langfuse leaves koog's calls as text; here they are calls
            theirs = twin.get(entry["id"], {})
            said, _ = logged_input(unwrapped(entry["input"]), Notes())
            ours = {"input": said}
            ours["output"] = read_logged(unwrapped(entry["output"]), "assistant", Notes())
            for side, messages in ours.items():
                if theirs.get(side, {}).get("success"):
                    # Langfuse leaves a result without an id with the user.
                    unnamed = [m.role == "tool" and not m.tool_call_id for m in messages]
                    texts = [
                        ("user" if no_id else m.role, m.content)
                        for m, no_id in zip(messages, unnamed, strict=True)
                        if m.content
                    ]
                    wanted = normalised(theirs[side]["data"])
                    assert texts[-len(wanted) :] == wanted or not wanted
                    compared += bool(wanted)
    assert compared >= 12


def test_some_inputs_langfuse_could_not_read(shared: Path) -> None:
    failed = 0
    for path in (shared / "real/langfuse_traces").glob("*.chatml.json"):
        for sides in json.loads(path.read_text("utf-8")).values():
            for side in sides.values():
                if not side["success"]:
                    assert side["error"]["name"] == "ZodError"
                    failed += 1
        with pytest.raises(FormatError, match="no known format"):
            sniff_format(path)
    assert failed > 10


def seen(number: int, messages: Any, said: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"{number:016x}",
        "type": "GENERATION",
        "name": "chat",
        "startTime": f"2025-01-01T00:00:{number:02}.000Z",
        "parentObservationId": "p",
        "model": "m",
        "input": messages,
        "output": said,
    } | fields


def run(*observations: Any, **fields: Any) -> dict[str, Any]:
    return {"trace": {"id": "t", "name": "n"} | fields, "observations": list(observations)}


Q = {"role": "user", "content": "q"}
A = {"role": "assistant", "content": "a"}


def test_a_run_without_requests_is_its_input_and_output(tmp_path: Path) -> None:
    span = seen(1, None, None, type="SPAN")
    path = one_file(tmp_path / "x.json", run(span, input='"\\"q\\""', output='"a"'))
    _, (trace,), report = read_all(path, model="m")
    assert [(m.role, m.content) for m in trace.messages] == [("user", "q"), ("assistant", "a")]
    assert report.total("lost") == 1


def test_requests_in_any_order_continue_each_other(tmp_path: Path) -> None:
    second = seen(2, [Q, A, Q], "b", usageDetails={"input": 5, "output": 1})
    first = seen(1, json.dumps([Q]), json.dumps(A), usageDetails={"input": 3, "output": 1})
    _, (trace,), _ = read_all(one_file(tmp_path / "x.json", run(second, first)))
    assert [m.content for m in trace.messages] == ["q", "a", "q", "b"]
    assert trace.usage == Usage(prompt_tokens=8, completion_tokens=2)


def test_a_request_without_counted_tokens_makes_the_sum_unknown(tmp_path: Path) -> None:
    second = seen(2, [Q, A, Q], "b")
    first = seen(1, [Q], A, usageDetails={"input": 3, "output": 1})
    _, (trace,), _ = read_all(one_file(tmp_path / "x.json", run(first, second)))
    assert trace.usage is None


def test_a_failed_request_is_an_error(tmp_path: Path) -> None:
    failed = seen(1, [Q], None, level="ERROR", statusMessage="429")
    _, (trace,), _ = read_all(one_file(tmp_path / "x.json", run(failed)))
    assert trace.state is RowState.INFRA_ERROR
    assert trace.error is not None
    assert trace.error.message == "429"


def test_other_questions_are_other_conversations(tmp_path: Path) -> None:
    other = seen(2, [{"role": "user", "content": "other"}], "b")
    _, traces, report = read_all(one_file(tmp_path / "x.json", run(seen(1, [Q], A), other)))
    assert [t.messages[0].content for t in traces] == ["q", "other"]
    assert report.total("odd") == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"a": 1}', {"a": 1}), ('"\\"x\\""', "x"), ("{broken", "{broken"), ("plain", "plain"),
     ('"' * 3, '"' * 3), (7, 7), ("[" * 5000, "[" * 5000)],
)  # fmt: skip
def test_text_is_unwrapped_only_where_it_is_json(text: Any, value: Any) -> None:
    assert unwrapped(text) == value


def test_a_record_without_observations_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    rows = [{"trace": {}}, run(seen(1, [Q], A)), 3]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    _, traces, report = read_all(path, "langfuse")
    assert (len(traces), report.broken) == (1, 2)


def test_the_trace_may_hold_its_observations(tmp_path: Path) -> None:
    row = {"id": "t", "name": "n", "observations": [seen(1, [Q], A)]}
    path = one_file(tmp_path / "x.json", row)
    assert sniff_format(path).name == "langfuse"
    assert len(list(read_file(path))) == 1
