"""Answers generated for the 600 real tasks: the default policy beside the published one."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from labelkit.domain.task import Task
from labelkit.grounding.keys import derive_key

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "generated_answers.py"


@pytest.fixture(scope="module")
def experiment() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generated_answers", BENCHMARK)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tasks(shared: Path, experiment: ModuleType) -> list[Task]:
    found: list[Task] = experiment.read_tasks(shared / "real" / "toolfailbench")
    assert len(found) == 600
    return found


def test_confusion_of_both_policies(
    tasks: list[Task], experiment: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    found = experiment.tally(tasks, seed=0)
    ours, theirs = found["tool_failure"], found["tool_failure_substring"]
    with capsys.disabled():
        print()
        for name, one in found.items():
            print(f"{name}: {one.right} of {one.total} generated answers right")
    assert ours.total > 4000
    assert not [m for m in ours.missed if m[3] != "abstain"]
    assert ours.right / ours.total >= 0.99
    assert theirs.right < 0.7 * ours.right
    # Where the published policy fails, ours does not: by kind of answer.
    for kind in ("a call nobody answered", "the digits inside a longer number"):
        assert theirs.kinds[kind]["wrong"] > ours.kinds[kind].total() / 2
        assert ours.kinds[kind]["right"] == ours.kinds[kind].total()


def test_every_label_is_generated(tasks: list[Task], experiment: ModuleType) -> None:
    found = experiment.tally(tasks[:250], seed=1)["tool_failure"]
    assert {wanted for wanted, _ in found.confusion} == {
        "correct", "tool_skip", "result_ignore", "output_fabrication", "unnecessary_tool_use",
    }  # fmt: skip
    lines = list(experiment.report(dict.fromkeys(experiment.POLICIES, found)))
    assert sum(line.startswith("| faithful") for line in lines) == 5


def test_the_derived_keys_are_typed(tasks: list[Task]) -> None:
    kinds: Counter[str] = Counter()
    for task in tasks:
        for key, text in zip(
            derive_key(task.reference).values, task.reference.must_contain, strict=True
        ):
            kinds[key.type] += 1
            if task.reference.payload is not None and re.fullmatch(r"\d[\d,]*(?:\.\d+)?", text):
                assert key.type == "number", (task.id, text)
    assert kinds["number"] > 250
    assert kinds["text"] > kinds["enum"] > 0


def test_without_the_tasks_the_script_says_so(
    experiment: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["generated_answers.py", str(tmp_path)])
    experiment.main()
    assert capsys.readouterr().out.startswith("Skipped: ")
