"""Inspect logs: every fact stated about the real ones, archives of both packings, and damage."""

from __future__ import annotations

import json
import struct
import tracemalloc
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import zstandard

from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace, Usage
from labelkit.errors import FormatError
from labelkit.formats import inspect_log
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import ReadOptions
from labelkit.formats.registry import read_file, sniff_format
from tests.formats.writing import one_file, read_all


@pytest.fixture(scope="module")
def logs(shared: Path) -> Path:
    return shared / "real/inspect_logs"


def one(logs: Path, ending: str) -> Path:
    (path,) = logs.glob(f"*{ending}")
    return path


def test_seven_json_logs_and_two_archives(logs: Path) -> None:
    formats = Counter(sniff_format(path).name for path in logs.iterdir())
    assert formats == {"inspect-json": 7, "inspect-eval": 2}


def test_the_browser_log_has_calls_with_objects_and_empty_content(logs: Path) -> None:
    (task,), (trace,), report = read_all(one(logs, "browser.json"))
    turns = [m for m in trace.messages if m.tool_calls]
    assert [m.content for m in turns] == [""] * 4
    assert all(isinstance(json.loads(m.tool_calls[0].arguments), dict) for m in turns)
    assert [m.tool_calls[0].id for m in turns] == [
        m.tool_call_id for m in trace.messages if m.role == "tool"
    ]
    assert (trace.model, trace.task_set, trace.task_id) == ("openai/gpt-4o-mini", "browser", "1")
    assert (trace.state, trace.tags["score_includes"]) == (RowState.OK, "C")
    assert task.messages[0].content == trace.messages[0].content
    assert {(line.kind, line.count) for line in report.lines} == {("lost", 1), ("repaired", 1)}
    raw = json.loads(one(logs, "browser.json").read_text("utf-8"))["samples"][0]["messages"]
    stated = [call["arguments"] for m in raw for call in m.get("tool_calls") or ()]
    assert [json.loads(m.tool_calls[0].arguments) for m in turns] == stated


def test_a_cancelled_log_keeps_its_three_samples(logs: Path) -> None:
    path = one(logs, "00_popularity.json")
    assert json.loads(path.read_text("utf-8"))["status"] == "cancelled"
    tasks, traces, _ = read_all(path)
    assert (len(tasks), len(traces)) == (3, 3)
    assert {t.repeat for t in traces} == {0}
    assert tasks[0].reference.gold_answer == " Yes"
    assert traces[0].usage == Usage(
        prompt_tokens=64, completion_tokens=2, reasoning_tokens=0, cached_tokens=0
    )
    assert traces[0].extra["metadata"] == {"nested": {"foo": "bar"}}


def test_the_authors_fixture_of_tool_errors_has_no_model_in_it(logs: Path) -> None:
    path = one(logs, "tool_call_error.json")
    traces = [i for i in inspect_log.JSON.read(path, ReadOptions()) if isinstance(i, Trace)]
    errors = [m.extra["error"]["type"] for m in traces[0].messages]
    assert (len(errors), len(set(errors))) == (11, 10)
    assert all("..." in (m.content or "") for m in traces[0].messages)
    assert traces[0].repeat == 3
    _, kept, report = read_all(path)
    assert (kept, report.broken) == ([], 1)


def test_the_old_log_with_nan_has_no_samples(logs: Path) -> None:
    path = one(logs, "log_with_nan.json")
    (record,) = json_records(path)
    assert record.value["version"] == 1
    assert record.notes.found == [("repaired", "NaN or an infinity became null")]
    with pytest.raises(FormatError, match="the log has no samples: only the results were kept"):
        list(read_file(path))


def test_the_archive_and_the_json_log_of_one_run_are_one_trace(logs: Path) -> None:
    _, (packed,), _ = read_all(one(logs, "log_formats.eval"))
    _, (plain,), _ = read_all(one(logs, "log_formats.json"))
    assert packed.digest == plain.digest
    _, ten, _ = read_all(one(logs, "opzWr.eval"))
    assert sorted(int(t.task_id or 0) for t in ten) == list(range(1, 11))


def test_an_image_stays_a_part(logs: Path) -> None:
    _, (trace,), _ = read_all(one(logs, "images_tc.json"))
    kinds = [part["type"] for part in trace.messages[1].parts]
    assert kinds == ["text", "image"]
    assert trace.messages[1].content == "What is this a picture of?"


def sample(number: int = 1, **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    return {"id": number, "epoch": 1, "messages": messages, "target": "t"} | fields


def log(*samples: Any, **fields: Any) -> dict[str, Any]:
    evaluation = {"task": "t", "model": "m", "run_id": "r"}
    head = {"version": 2, "status": "success", "eval": evaluation}
    return head | fields | {"samples": list(samples)}


def read(tmp_path: Path, *samples: Any) -> tuple[list[Task], list[Trace], Any]:
    return read_all(one_file(tmp_path / "log.json", log(*samples)))


ENDINGS: list[tuple[dict[str, Any], RowState, str | None]] = [
    ({}, RowState.OK, None),
    ({"error": {"message": "boom", "traceback": "..."}}, RowState.INFRA_ERROR, None),
    ({"limit": {"type": "token", "limit": 9}}, RowState.TRUNCATED, "limit:token"),
    ({"output": {"choices": [{"stop_reason": "max_tokens"}]}}, RowState.TRUNCATED, "max_tokens"),
    ({"output": {"choices": []}}, RowState.OK, None),
]


@pytest.mark.parametrize(("fields", "state", "finish"), ENDINGS)
def test_how_a_sample_may_end(
    tmp_path: Path, fields: dict[str, Any], state: RowState, finish: str | None
) -> None:
    _, (trace,), _ = read(tmp_path, sample(epoch=3, **fields))
    assert (trace.state, trace.finish_reason, trace.repeat) == (state, finish, 2)
    assert (trace.error is not None) == (state is RowState.INFRA_ERROR)


def test_attachments_reasoning_and_tool_errors_are_put_in_place(tmp_path: Path) -> None:
    thought = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "a"}]
    messages = [
        {"role": "user", "content": "attachment://h1"},
        {"role": "assistant", "content": thought, "tool_calls": [
            {"id": "c", "function": "f", "arguments": {"x": "attachment://h2"}, "type": "function",
             "parse_error": "no"}]},
        {"role": "tool", "content": "", "function": "f", "tool_call_id": "c",
         "error": {"type": "timeout", "message": "too slow"}},
    ]  # fmt: skip
    attached = {"h1": "long text", "h2": "é"}
    _, (trace,), report = read(tmp_path, sample(messages=messages, attachments=attached))
    user, asked, result = trace.messages
    assert user.content == "long text"
    assert (asked.reasoning, asked.content) == ("hm", "a")
    assert json.loads(asked.tool_calls[0].arguments) == {"x": "é"}
    assert asked.extra["tool_calls"]["0"] == {"parse_error": "no"}
    assert (result.name, result.content) == ("f", "too slow")
    assert result.extra["error"]["type"] == "timeout"
    assert report.total("repaired") == 2


def test_targets_and_choices_become_the_reference(tmp_path: Path) -> None:
    tasks, traces, _ = read(
        tmp_path, sample(1, target=["a", "b"], choices=["x", "y"]), sample(2), sample(2, epoch=2)
    )
    assert [t.id for t in tasks] == ["1", "2"]
    assert (tasks[0].reference.must_contain, tasks[0].reference.match_mode) == (("a", "b"), "any")
    assert tasks[0].reference.note == 'choices: ["x","y"]'
    assert tasks[1].reference.gold_answer == "t"
    assert [t.repeat for t in traces] == [0, 0, 1]


def test_tokens_are_those_of_all_models_or_unknown(tmp_path: Path) -> None:
    usage = {"m": {"input_tokens": 3, "output_tokens": 1}, "n": {"input_tokens": 4}}
    _, (trace,), _ = read(tmp_path, sample(model_usage=usage))
    assert trace.usage == Usage(prompt_tokens=7, completion_tokens=None)


def test_damaged_samples_are_told_and_the_others_read(tmp_path: Path) -> None:
    text = json.dumps(log(3, sample(messages=None), "HERE", sample()))
    path = tmp_path / "log.json"
    path.write_text(text.replace('"HERE"', '{"id": }'), encoding="utf-8")
    _, traces, report = read_all(path)
    assert (len(traces), report.broken) == (1, 3)
    assert sorted(r for line in report.lines for r in line.records) == [0, 1, 2]


def test_a_log_is_never_in_memory_whole(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    with path.open("w", encoding="utf-8") as file:
        head = json.dumps(log())
        file.write(head[: head.index("[") + 1])
        for number in range(60):
            row = sample(number, events=["x" * 200_000])
            file.write(("," if number else "") + json.dumps(row))
        file.write('], "reductions": [1]}')
    assert path.stat().st_size > 12_000_000
    tracemalloc.start()
    count = sum(isinstance(item, Trace) for item in read_file(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 60
    assert peak < 4_000_000


def packed(path: Path, members: dict[str, bytes], *, zstd: bool = False) -> Path:
    """Write an archive; with ``zstd`` its members are packed the way newer Inspect packs them."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED if zstd else zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, zstandard.compress(data) if zstd else data)
    if zstd:
        data = bytearray(path.read_bytes())
        for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            at = data.find(mark)
            while at >= 0:
                struct.pack_into("<H", data, at + offset, 93)
                at = data.find(mark, at + 4)
        path.write_bytes(data)
    return path


def members(*samples: Any, **more: bytes) -> dict[str, bytes]:
    head = {key: value for key, value in log().items() if key != "samples"}
    found = {"_journal/start.json": b"{}", "header.json": json.dumps(head).encode()}
    found |= {f"samples/{n}_epoch_1.json": json.dumps(s).encode() for n, s in enumerate(samples)}
    return found | more


@pytest.mark.parametrize("zstd", [False, True])
def test_archives_of_both_packings(tmp_path: Path, zstd: bool) -> None:
    path = packed(tmp_path / "x.eval", members(sample(1), sample(2)), zstd=zstd)
    assert sniff_format(path).name == "inspect-eval"
    _, traces, report = read_all(path)
    assert [t.task_id for t in traces] == ["1", "2"]
    assert [t.model for t in traces] == ["m", "m"]
    assert [t.source for t in traces] == ["x.eval:0", "x.eval:1"]
    assert report.clean


@pytest.mark.parametrize("zstd", [False, True])
def test_a_damaged_member_is_broken_and_the_next_one_read(tmp_path: Path, zstd: bool) -> None:
    path = packed(tmp_path / "x.eval", members(sample(1, x="y" * 300), sample(2)), zstd=zstd)
    data = bytearray(path.read_bytes())
    at = data.index(b"samples/0_epoch_1.json") + 22
    data[at : at + 20] = bytes(20)
    path.write_bytes(data)
    _, traces, report = read_all(path)
    assert [t.task_id for t in traces] == ["2"]
    assert report.broken == 1


def test_an_archive_that_was_cut_off_while_running(tmp_path: Path) -> None:
    found = members(sample(1))
    head = found.pop("header.json")
    found["_journal/start.json"] = head
    _, (trace,), _ = read_all(packed(tmp_path / "x.eval", found))
    assert (trace.model, trace.task_set) == ("m", "t")


def test_an_archive_without_samples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="the log has no samples"):
        list(read_file(packed(tmp_path / "x.eval", members())))


def test_another_archive_is_not_taken_for_a_log(tmp_path: Path) -> None:
    path = packed(tmp_path / "x.eval", {"notes.txt": b"x"})
    with pytest.raises(FormatError, match="zip archive"):
        read_file(path)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = packed(tmp_path / "x.eval", members(sample(1)))
    data = bytearray(path.read_bytes())
    at = data.rindex(b"samples/0_epoch_1.json") - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    struct.pack_into("<I", data, at + 24, 3 << 30)
    path.write_bytes(data)
    with pytest.raises(FormatError, match="larger than 1 GiB"):
        list(read_file(path))
