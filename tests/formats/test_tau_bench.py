"""Every fact that the reference notes state about the two tau-bench files."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from math import comb
from pathlib import Path

import pytest

from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace
from labelkit.formats.registry import LossReport, sniff_format
from tests.formats.writing import read_all, write_lines

Read = tuple[list[Task], list[Trace], LossReport]


@pytest.fixture(scope="module")
def airline(shared: Path) -> Read:
    return read_all(shared / "real/tau_bench_airline/gpt-4o-airline.tasks-00-24.json")


@pytest.fixture(scope="module")
def retail(shared: Path) -> Read:
    return read_all(shared / "real/agentrx_tau_retail/tau_dataset_failed.json")


def roles(traces: list[Trace]) -> Counter[str]:
    return Counter(m.role for t in traces for m in t.messages)


def calls(trace: Trace) -> list[tuple[str, str]]:
    return [(c.name, c.arguments) for m in trace.messages for c in m.tool_calls]


def test_airline_runs_messages_and_roles(airline: Read) -> None:
    _, traces, report = airline
    assert len(traces) == 100
    assert roles(traces) == {"system": 100, "user": 860, "assistant": 1381, "tool": 621}
    assert sum(roles(traces).values()) == 2962
    assert report.clean
    assert {t.model for t in traces} == {"gpt-4o"}
    assert {t.task_set for t in traces} == {"tau-bench-airline"}


def test_airline_calls_are_one_per_turn_with_valid_argument_text(airline: Read) -> None:
    _, traces, _ = airline
    turns = [m for t in traces for m in t.messages if m.tool_calls]
    assert len(turns) == 621
    assert {len(m.tool_calls) for m in turns} == {1}
    assert all(isinstance(json.loads(m.tool_calls[0].arguments), dict) for m in turns)
    assert sum(m.content is None for m in turns) == 576
    assert sum(bool(m.content) for m in turns) == 45


def test_airline_argument_text_is_untouched(airline: Read, shared: Path) -> None:
    raw = json.loads(
        (shared / "real/tau_bench_airline/gpt-4o-airline.tasks-00-24.json").read_text("utf-8")
    )
    stated = [
        c["function"]["arguments"]
        for run in raw
        for m in run["traj"]
        for c in m.get("tool_calls") or ()
    ]
    assert [text for t in airline[1] for _, text in calls(t)] == stated
    order = [[(m["role"], m["content"]) for m in run["traj"]] for run in raw]
    assert [[(m.role, m.content) for m in t.messages] for t in airline[1]] == order


def test_airline_calls_by_name(airline: Read) -> None:
    stated = {
        "get_reservation_details": 134,
        "search_direct_flight": 92,
        "update_reservation_flights": 90,
        "calculate": 76,
        "get_user_details": 63,
        "think": 58,
        "book_reservation": 38,
        "transfer_to_human_agents": 18,
    }
    found = Counter(name for t in airline[1] for name, _ in calls(t))
    assert {name: found[name] for name in stated} == stated
    assert found.total() == 621
    assert sum(not calls(t) for t in airline[1]) == 15
    assert sum(any(n > 1 for n in Counter(calls(t)).values()) for t in airline[1]) == 13


def test_airline_outputs(airline: Read) -> None:
    outputs = [
        (m.name, m.content or "") for t in airline[1] for m in t.messages if m.role == "tool"
    ]
    assert sum(text.startswith("Error") for _, text in outputs) == 63
    assert [name for name, text in outputs if not text] == ["think"] * 58


def test_airline_rewards_and_pass_hat_k(airline: Read) -> None:
    assert sum(t.tags["reward"] == 1 for t in airline[1]) == 31
    won: dict[str | None, int] = defaultdict(int)
    for trace in airline[1]:
        won[trace.task_id] += int(trace.tags["reward"])
    assert len(won) == 25
    for k, published in ((1, 0.31), (2, 0.1933), (3, 0.17), (4, 0.16)):
        assert sum(comb(c, k) / comb(4, k) for c in won.values()) / 25 == pytest.approx(
            published, abs=5e-5
        )


def test_airline_trials_are_repeats(airline: Read) -> None:
    identities = {(t.task_id, t.repeat) for t in airline[1]}
    assert identities == {(str(task), trial) for task in range(25) for trial in range(4)}
    assert len({t.digest for t in airline[1]}) == 100


def test_airline_cut_runs_survive(airline: Read) -> None:
    traces = airline[1]
    cut = [i for i, t in enumerate(traces) if t.state is RowState.TRUNCATED]
    assert cut == [27, 59, 84]
    assert {len(traces[i].messages) for i in cut} == {62}
    assert {traces[i].finish_reason for i in cut} == {"max_steps"}
    assert [i for i, t in enumerate(traces) if t.extra["reward_info"] is None] == cut


def test_airline_runs_that_end_in_a_tool_message(airline: Read) -> None:
    traces = airline[1]
    ending = [i for i, t in enumerate(traces) if t.messages[-1].role == "tool"]
    assert len(ending) == 20
    no_text = {i for i, t in enumerate(traces) if t.state is RowState.NO_TEXT}
    # 27 and 59 were cut; 68 speaks beside its transfer call, so the user saw a last word.
    assert no_text == set(ending) - {27, 59, 68}
    assert traces[68].state is RowState.OK


def test_airline_reused_call_ids_stay_as_they_are(airline: Read) -> None:
    reusing = 0
    for trace in airline[1]:
        ids = [c.id for m in trace.messages for c in m.tool_calls]
        reusing += len(set(ids)) < len(ids)
    assert reusing == 25
    assert len({c.id for t in airline[1] for m in t.messages for c in m.tool_calls}) == 117
    first = airline[1][0].messages
    assert first[8].tool_calls[0].name == "search_direct_flight"
    assert first[12].tool_calls[0].name == "search_onestop_flight"
    assert first[8].tool_calls[0].id == first[12].tool_calls[0].id


def test_airline_tasks(airline: Read) -> None:
    tasks = airline[0]
    assert sorted(int(t.id) for t in tasks) == list(range(25))
    assert all(t.messages[0].role == "system" for t in tasks)
    assert all(len(t.messages) == 1 for t in tasks)
    first = tasks[0]
    assert first.reference.note.startswith("You are mia_li_3668.")
    assert first.reference.expected_calls[0].name == "book_reservation"
    assert first.reference.expected_calls[0].arguments["origin"] == "JFK"


def test_the_simulators_instruction_is_never_a_message(airline: Read) -> None:
    notes = {t.id: t.reference.note for t in airline[0]}
    for trace in airline[1]:
        assert all(m.content != notes[trace.task_id or ""] for m in trace.messages)


def test_agentrx_runs(retail: Read) -> None:
    tasks, traces, report = retail
    assert len(traces) == 29
    assert len(tasks) == 29
    assert sum(len(t.messages) for t in traces) == 1064
    assert sum(len(calls(t)) for t in traces) == 284
    assert len({c.id for t in traces for m in t.messages for c in m.tool_calls}) == 284
    assert {t.tags["reward"] for t in traces} == {0.0}
    assert all(str(t.repeat) == t.task_id for t in traces)
    assert {t.task_set for t in traces} == {"tau-bench-retail"}
    assert [line.what.split(",")[0] for line in report.lines] == ["no model is named"]


def test_agentrx_message_fields_are_kept(retail: Read) -> None:
    for trace in retail[1]:
        assert [m.extra["index"] for m in trace.messages] == list(range(1, len(trace.messages) + 1))
    assistants = [m for t in retail[1] for m in t.messages if m.role == "assistant"]
    assert all(m.extra["refusal"] is None and m.extra["annotations"] == [] for m in assistants)
    assert [t.task_id for t in retail[1] if t.state is RowState.TRUNCATED] == ["20"]


def test_options_win(shared: Path) -> None:
    path = shared / "real/agentrx_tau_retail/tau_dataset_failed.json"
    tasks, traces, report = read_all(path, model="m", task_set="mine", condition="hint")
    assert {(t.model, t.task_set, t.condition) for t in traces} == {("m", "mine", "hint")}
    assert {t.set for t in tasks} == {"mine"}
    assert report.clean


def test_few_shot_keeps_what_is_left(shared: Path) -> None:
    path = shared / "real/tau_bench_few_shot/MockAirlineDomainEnv-few_shot.jsonl"
    tasks, traces, report = read_all(path, model="gpt-4o")
    assert (len(tasks), len(traces)) == (0, 19)
    lost = [any(m.role == "assistant" and m.content is None for m in t.messages) for t in traces]
    assert sum(lost) == 16
    (line,) = report.lines
    raw = path.read_text(encoding="utf-8")
    assert line.kind == "lost"
    assert line.count == raw.count("\\nassistant: None\\n") + raw.count('\\nassistant: None"')
    assert not any(m.tool_calls for t in traces for m in t.messages)


def run(**changes: object) -> dict[str, object]:
    info = {"task": {"user_id": "u", "actions": [], "instruction": "x", "outputs": ["7"]},
            "source": "user", "user_cost": 0.1, "reward_info": {"reward": 1.0}}  # fmt: skip
    traj = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    return {"task_id": 0, "trial": 0, "reward": 1.0, "info": info, "traj": traj} | changes


def test_a_crashed_run_is_an_infra_error(tmp_path: Path) -> None:
    info = {"error": "RateLimitError: 429", "traceback": "..."}
    path = write_lines(tmp_path / "o3-retail.jsonl", [run(info=info, traj=[]), run(trial=1)])
    _, (crashed, fine), _ = read_all(path)
    assert crashed.state is RowState.INFRA_ERROR
    assert crashed.error is not None
    assert crashed.error.message == "RateLimitError: 429"
    assert crashed.extra["traceback"] == "..."
    assert fine.state is RowState.OK
    assert fine.model == "o3"


def test_outputs_become_the_string_key(tmp_path: Path) -> None:
    (task,), _, _ = read_all(write_lines(tmp_path / "a.jsonl", [run()]))
    assert task.reference.must_contain == ("7",)
    assert task.set == "tau-bench"


def test_a_changed_task_is_told(tmp_path: Path) -> None:
    other = run(trial=1)
    other["info"] = {"task": {"instruction": "y"}, "reward_info": {}}
    tasks, _, report = read_all(write_lines(tmp_path / "a.jsonl", [run(), other]), model="m")
    assert [t.reference.note for t in tasks] == ["x", "y"]
    assert report.lines[0].what.startswith("the task is described differently")


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ([1], "the record is not an object"),
        ({"task_id": 1}, "the record has no `traj`"),
        (run(traj=[]), "`traj` is empty"),
        (run(traj="text"), "`messages` is not a list"),
        (run(traj=[{"content": "x"}]), "a message has no role"),
    ],
)
def test_broken_runs_are_named_and_do_not_stop_the_file(
    tmp_path: Path, row: object, what: str
) -> None:
    path = write_lines(tmp_path / "a.jsonl", [run(), row, run(trial=1)])
    _, traces, report = read_all(path, "tau-bench", model="m")
    assert [t.repeat for t in traces] == [0, 1]
    (line,) = report.lines
    assert (line.kind, line.what, line.records) == ("broken", what, (2,))


def test_both_files_are_recognised(shared: Path) -> None:
    for name in ("tau_bench_airline/gpt-4o-airline.tasks-00-24.json",
                 "agentrx_tau_retail/tau_dataset_failed.json"):  # fmt: skip
        assert sniff_format(shared / "real" / name).name == "tau-bench"
