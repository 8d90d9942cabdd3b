"""ToolBench search trees: the facts stated about them, and which path is the conversation."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.formats.registry import LossReport, sniff_format
from tests.formats.writing import read_all, write_lines

Read = tuple[Task, Trace, LossReport]


@pytest.fixture(scope="module")
def answers(shared: Path) -> dict[str, Read]:
    found = {}
    for path in (shared / "real/toolbench_answers").glob("*.json"):
        assert sniff_format(path).name == "toolbench"
        (task,), (trace,), report = read_all(path)
        found[task.id] = (task, trace, report)
    return found


def test_eight_answers_by_chatgpt(answers: dict[str, Read]) -> None:
    assert sorted(answers) == [
        "G1_11", "G1_57", "G1_69", "G2_102", "G2_119", "G2_127", "G3_21", "G3_3",
    ]  # fmt: skip
    for task, trace, _ in answers.values():
        assert (trace.model, trace.condition) == ("ChatGPT", "DFS_woFilter_w2")
        assert trace.task_id == task.id
        assert task.tools


def nodes(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree, *(below for child in tree["children"] for below in nodes(child))]


def test_codes_are_counted_over_the_whole_tree(answers: dict[str, Read]) -> None:
    _, trace, _ = answers["G1_69"]
    assert trace.tags["code_1"] == 13
    seen: Counter[int] = Counter()
    for _, trace, _ in answers.values():
        codes = Counter(
            node["observation_code"]
            for node in nodes(trace.extra["tree"]["tree"])
            if "observation_code" in node
        )
        assert {f"code_{c}": n for c, n in codes.items()} == {
            key: value for key, value in trace.tags.items() if key.startswith("code_")
        }
        seen += codes
    assert set(seen) <= {0, 1, 3, 4, 5, 11, 12}


def test_only_the_chosen_path_is_the_conversation(answers: dict[str, Read], shared: Path) -> None:
    for task, trace, report in answers.values():
        raw = json.loads(
            (shared / f"real/toolbench_answers/{task.id}_ChatGPT_DFS_woFilter_w2.json").read_text(
                "utf-8"
            )
        )
        chosen = raw["answer_generation"].get("train_messages")
        assert (chosen is None) == (task.id == "G1_69")
        if chosen:
            said = [m["content"] for m in chosen[-1]]
            assert [m.content for m in trace.messages][: len(said)] == said
        branches = sum(not node["children"] for node in nodes(raw["tree"]["tree"]))
        assert report.total("odd") == (branches > 1)


def test_the_answer_handed_to_finish_is_the_last_word(answers: dict[str, Read]) -> None:
    for _, trace, _ in answers.values():
        finish = [c for m in trace.messages for c in m.tool_calls if c.name == "Finish"]
        gave = [json.loads(c.arguments).get("final_answer") for c in finish]
        if any(gave):
            assert trace.messages[-1].content == gave[-1]
            assert trace.tags["finish_type"] == "give_answer"


def test_without_a_chosen_path_the_last_branch_is_told(answers: dict[str, Read]) -> None:
    _, trace, report = answers["G1_69"]
    assert report.total("lost") == 1
    assert trace.tags["win"] is False
    calls = [c.id for m in trace.messages for c in m.tool_calls]
    results = [m.tool_call_id for m in trace.messages if m.role == "tool"]
    assert calls == results
    assert len(set(calls)) == len(calls) == 4


def test_two_files_have_carriage_returns(shared: Path) -> None:
    folder = shared / "real/toolbench_answers"
    with_cr = {p.name.split("_Chat")[0] for p in folder.glob("*.json") if b"\r\n" in p.read_bytes()}
    assert with_cr == {"G1_57", "G1_69"}


def node(kind: str, said: str, *children: Any, **fields: Any) -> dict[str, Any]:
    return {"node_type": kind, "description": said, "children": list(children)} | fields


def made(**fields: Any) -> dict[str, Any]:
    first = node("Action", "old", node("Action Input", "{}", observation="no", observation_code=12))
    last = node(
        "Thought",
        "again",
        node(
            "Action", "new", node("Action Input", '{"a": 1}', observation="7", observation_code=0)
        ),
    )
    tree = node("Action Input", "", first, last)
    return {"win": True, "tree": {"tree": tree}, "answer_generation": {"query": "q"}} | fields


def test_a_tree_without_messages_gives_its_last_branch(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.json", [made()])
    _, (trace,), report = read_all(path)
    assert [(m.role, m.content, [c.name for c in m.tool_calls]) for m in trace.messages] == [
        ("user", "q", []),
        ("assistant", "again", ["new"]),
        ("tool", "7", []),
    ]
    assert trace.tags == {"code_0": 1, "code_12": 1, "win": True}
    assert {line.kind for line in report.lines} == {"lost", "odd"}
    assert (trace.model, trace.task_id) == ("unknown", None)


@pytest.mark.parametrize("arguments", ["not json", '{"return_type": "give_up"}', "[1]"])
def test_a_finish_without_an_answer_adds_no_message(tmp_path: Path, arguments: str) -> None:
    call = {"name": "Finish", "arguments": arguments}
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "function_call": call},
    ]
    path = write_lines(
        tmp_path / "a.json", [made(answer_generation={"train_messages": [messages]})]
    )
    _, (trace,), _ = read_all(path)
    assert len(trace.messages) == 2


def test_a_record_without_a_tree_is_broken(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [made(tree=None), made(answer_generation=1), made()])
    _, traces, report = read_all(path, "toolbench")
    assert (len(traces), report.broken) == (1, 2)
