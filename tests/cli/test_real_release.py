"""Real public data through the whole line: read, judged by a rule, released, checked."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.inprocess import Cli, cli

__all__ = ["cli"]

TAU = "real/tau_bench_airline/gpt-4o-airline.tasks-00-24.json"
TASKS = "real/toolfailbench/finance/tasks.json"


def rows_of(folder: Path, name: str) -> list[dict]:
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def made_traces(shared: Path, number: int) -> list[dict]:
    """Answers of our own to tasks of the real file: it holds no rollouts."""
    tasks = json.loads((shared / TASKS).read_text(encoding="utf-8"))["tasks"][:number]
    said = {"role": "assistant", "content": "I cannot say."}
    return [{"model": "made", "task_id": task["task_id"], "messages": [said]} for task in tasks]


def test_real_runs_and_tasks_are_released_within_their_terms(
    cli: Cli, tmp_path: Path, shared: Path
) -> None:
    """The sheet says both sets may be passed on; one is left unsaid here and stays withheld."""
    lines = "".join(json.dumps(trace) + "\n" for trace in made_traces(shared, 30))
    (tmp_path / "made.jsonl").write_text(lines, encoding="utf-8")
    for words in (
        ("import", str(shared / TAU), str(shared / TASKS)),
        ("import", "made.jsonl", "--task-set", "toolfailbench"),
        ("judge", "--rubric", "tool-failure", "--rule-only"),
        ("terms", "toolfailbench", "--licence", "Apache-2.0", "--redistributable"),
    ):
        assert cli(*words).code == 0, words
    done = cli("export", "tool-failure", "part")
    assert done.code == 0, done.err
    assert "toolfailbench: Apache-2.0, texts included" in done.out
    assert "texts withheld" in done.out
    out = tmp_path / "part"
    bare = [row for row in rows_of(out, "traces") if row["withheld"]]
    assert len(bare) == 100
    assert {row["body"] for row in bare} == {None}
    assert len(rows_of(out, "labels")) == 130
    everything = b"".join(path.read_bytes() for path in out.glob("*.*"))
    # Words of the airline's policy and of its users, which nobody said may go out.
    assert b"reservation" not in everything
    assert cli("verify", "part").code == 0
    # Both sets said: whole texts, and personal data of invented users is told before.
    name = bare[0]["task_set"]
    cli("terms", name, "--licence", "MIT", "--redistributable")
    refused = cli("export", "tool-failure", "whole")
    assert refused.code == 2
    assert "--accept-findings" in refused.sentence
    whole = cli("export", "tool-failure", "whole", "--accept-findings")
    assert whole.code == 0, whole.err
    assert len(rows_of(tmp_path / "whole", "tasks")) == 25 + 30
    assert cli("verify", "whole").code == 0
    counts = json.loads((tmp_path / "whole/privacy.json").read_text(encoding="utf-8"))["counts"]
    assert counts["e-mail"] > 0
    assert rates_of(tmp_path / "part") == rates_of(tmp_path / "whole")


def rates_of(folder: Path) -> dict[tuple[str, str, str], tuple]:
    """Every rate with its counts and limits."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    found = {
        (question["question"], rate["name"], rate["group"]): tuple(
            rate[name] for name in ("hits", "scored", "planned", "value", "low", "high")
        )
        for question in results["questions"]
        for rate in question["report"]["rates"]
    }
    assert any(rate[3] is not None for rate in found.values())
    return found
