"""SWE-agent trajectories: the four real kinds, and how a run may end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.trace import RowState, Trace, Usage
from labelkit.formats.registry import LossReport, sniff_format
from tests.formats.writing import read_all, write_lines


@pytest.fixture(scope="module")
def real(shared: Path) -> dict[str, tuple[Trace, LossReport]]:
    found = {}
    for path in (shared / "real/swe_agent_traj").glob("*.traj"):
        assert sniff_format(path).name == "swe-agent"
        _, (trace,), report = read_all(path)
        found[path.name[:12] + ("f" if "function_calling" in path.name else "")] = (trace, report)
    assert len(found) == 4
    return found


def test_function_calling_runs_have_calls_with_valid_text_and_results_by_id(
    real: dict[str, tuple[Trace, LossReport]],
) -> None:
    for name in ("demonstratiof", "gpt4__swe-ag", "replay__marsf"):
        trace, report = real[name]
        calls = [c for m in trace.messages for c in m.tool_calls]
        assert calls
        assert all(isinstance(json.loads(c.arguments), dict) for c in calls)
        results = [m.tool_call_id for m in trace.messages if m.role == "tool"]
        assert set(results) <= {c.id for c in calls}
        assert report.total("odd") == 0


def test_a_thought_and_action_run_says_that_its_commands_are_text(
    real: dict[str, tuple[Trace, LossReport]],
) -> None:
    trace, report = real["replay__mars"]
    assert not any(m.tool_calls for m in trace.messages)
    assert len(trace.extra["trajectory"]) == 11
    assert report.total("odd") == 1


def test_the_demonstration_has_only_a_history(
    real: dict[str, tuple[Trace, LossReport]],
) -> None:
    trace, _ = real["demonstratiof"]
    assert len(trace.messages) == 12
    assert (trace.model, trace.task_id, trace.finish_reason) == ("unknown", None, None)
    assert trace.extra == {}


def test_what_the_run_says_about_itself(real: dict[str, tuple[Trace, LossReport]]) -> None:
    trace, _ = real["gpt4__swe-ag"]
    assert (trace.model, trace.task_id) == ("gpt-4o", "SWE-agent__test-repo-i1")
    assert trace.finish_reason == "submitted"
    assert trace.usage == Usage(prompt_tokens=7141, completion_tokens=243)
    replayed, report = real["replay__marsf"]
    assert replayed.usage is None
    assert report.total("lost") == 1


SAID = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("submitted", RowState.OK),
        ("submitted (exit_cost)", RowState.TRUNCATED),
        ("exit_context", RowState.TRUNCATED),
        ("exit_api", RowState.INFRA_ERROR),
        ("exit_environment_error", RowState.INFRA_ERROR),
        ("exit_format", RowState.OK),
        (None, RowState.OK),
    ],
)
def test_how_a_run_may_end(tmp_path: Path, status: str | None, state: RowState) -> None:
    row = {"history": SAID, "trajectory": [], "info": {"exit_status": status}}
    _, (trace,), _ = read_all(write_lines(tmp_path / "x.traj", [row]))
    assert trace.state is state
    assert (trace.error is not None) == (state is RowState.INFRA_ERROR)


def test_a_replay_configuration_may_be_text(tmp_path: Path) -> None:
    config: Any = {"agent": {"model": {"name": "m"}}, "problem_statement": {"id": "p"}}
    row = {"history": SAID, "replay_config": json.dumps(config)}
    _, (trace,), _ = read_all(write_lines(tmp_path / "x.traj", [row]))
    assert (trace.model, trace.task_id) == ("m", "p")
    row["replay_config"] = "{broken"
    _, (trace,), report = read_all(write_lines(tmp_path / "y.traj", [row]))
    assert (trace.model, report.total("lost")) == ("unknown", 1)


def test_several_results_in_one_message_keep_their_ids(tmp_path: Path) -> None:
    tool = {"role": "tool", "content": "x", "tool_call_ids": ["a", "b"]}
    _, (trace,), _ = read_all(write_lines(tmp_path / "x.traj", [{"history": [*SAID, tool]}]))
    assert trace.messages[2].extra == {"tool_call_ids": ["a", "b"]}
