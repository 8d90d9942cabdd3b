"""Text logs with ``<API_CALL>``: who speaks, what was called, and what only looks like a call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelkit.domain.trace import RowState, Trace
from labelkit.errors import FormatError
from labelkit.formats.registry import LossReport, read_file, sniff_format
from labelkit.grounding.calls import pair_calls
from tests.formats.writing import read_all, write_lines

CALL = '<API_CALL>{"api": "lock_door", "params": {"door": "front"}}</API_CALL>'
LOG = f"""\
You control a smart home.
Answer briefly.
H: Lock the front door.
A: I will do that.
{CALL}
API: <API_RESPONSE>{{"ok": true,
"door": "front"}}</API_RESPONSE>
A: It is locked. <End of Turn>
"""


def read(tmp_path: Path, text: str) -> tuple[list[Trace], LossReport]:
    path = tmp_path / "run.log"
    path.write_text(text, encoding="utf-8")
    assert sniff_format(path).name == "api-call-log"
    _, traces, report = read_all(path, model="m")
    return traces, report


def test_a_conversation(tmp_path: Path) -> None:
    (trace,), report = read(tmp_path, LOG)
    assert [(m.role, m.content) for m in trace.messages] == [
        ("system", "You control a smart home.\nAnswer briefly."),
        ("user", "Lock the front door."),
        ("assistant", "I will do that."),
        ("tool", '{"ok": true,\n"door": "front"}'),
        ("assistant", "It is locked."),
    ]
    (call,) = pair_calls(trace.messages)
    assert (call.name, call.parsed, call.status) == ("lock_door", {"door": "front"}, "executed")
    assert (trace.state, report.clean) == (RowState.OK, True)


def test_several_conversations_are_numbered_by_their_first_line(tmp_path: Path) -> None:
    text = f"=== home_1 ===\n{LOG}\n=== home_2 ===\n{LOG}====\n"
    traces, _ = read(tmp_path, text)
    assert [t.task_id for t in traces] == ["home_1", "home_2"]
    assert [t.source for t in traces] == ["run.log:1", "run.log:11"]


@pytest.mark.parametrize("speaker", ["A", "AI", "Assistant", "agent", "ASSISTANT "])
def test_speakers_in_their_longer_forms(tmp_path: Path, speaker: str) -> None:
    (trace,), _ = read(tmp_path, f"Human: q\n{speaker}: {CALL}\nObservation: 7\n{speaker}: done")
    assert [m.role for m in trace.messages] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize(
    "body",
    ['{"api": "f", "params": ', "lock it", '["f"]', '{"params": {}}', "[" * 3000],
)
def test_a_call_that_cannot_be_read_stays_text(tmp_path: Path, body: str) -> None:
    (trace,), report = read(tmp_path, f"H: q\nA: <API_CALL>{body}</API_CALL>\n")
    assert trace.messages[1].tool_calls == ()
    assert trace.messages[1].content == f"<API_CALL>{body}</API_CALL>"
    assert report.total("odd") == 1


def test_a_call_cut_by_a_stop_string_is_read(tmp_path: Path) -> None:
    (trace,), _ = read(tmp_path, 'H: q\nA: <API_CALL>{"name": "f", "args": "x"}')
    (call,) = trace.messages[1].tool_calls
    assert (call.name, call.arguments) == ("f", "x")


def test_a_call_beside_the_end_of_the_turn_is_told(tmp_path: Path) -> None:
    (trace,), report = read(tmp_path, f"H: q\nA: done <End of Turn>\n{CALL}")
    assert len(trace.messages[1].tool_calls) == 1
    assert report.total("odd") == 1


def test_an_endpoints_error_is_no_answer(tmp_path: Path) -> None:
    (trace,), report = read(tmp_path, f"H: q\nA: {CALL}\nAPI: 7\nA: ERROR: 429 too many requests")
    assert trace.state is RowState.INFRA_ERROR
    assert trace.error is not None
    assert trace.error.message == "ERROR: 429 too many requests"
    assert trace.messages[-1].role == "tool"
    assert report.total("repaired") == 1


def test_rows_hold_the_text_in_a_field(tmp_path: Path) -> None:
    row = {"id": "c1", "model": "m", "log": LOG, "score": 1}
    path = write_lines(tmp_path / "x.jsonl", [row, {"id": "c2"}, row | {"repeat": 1}])
    assert sniff_format(path).name == "api-call-log"
    _, traces, report = read_all(path)
    assert [(t.task_id, t.repeat, t.model) for t in traces] == [("c1", 0, "m"), ("c1", 1, "m")]
    assert traces[0].extra == {"score": 1}
    assert report.broken == 1


def test_bytes_that_are_no_text_break_one_conversation(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_bytes("é\nH: ".encode() + b"\xff\n=== b ===\n" + LOG.encode())
    _, traces, report = read_all(path, "api-call-log", model="m")
    assert ([t.task_id for t in traces], report.broken) == (["b"], 1)


def test_a_chat_about_such_calls_stays_a_chat(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": CALL}, {"role": "assistant", "content": "a"}]
    path = write_lines(tmp_path / "x.jsonl", [{"model": "m", "messages": messages}])
    assert sniff_format(path).name == "openai-chat"


def test_a_log_in_which_no_model_speaks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text(f"H: write {json.dumps(CALL)}\n", encoding="utf-8")
    with pytest.raises(FormatError, match="no assistant turn"):
        list(read_file(path))
