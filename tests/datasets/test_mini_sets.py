"""The sets that come with labelkit prove themselves, and hold what their cards promise."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from labelkit.catalog.task_sets import load_task_set, task_set_names
from labelkit.domain.task import Task
from labelkit.workflows.masking import EQUIVALENT, GROUNDED, Masking, mask
from labelkit.workflows.staging import usual_protocol
from labelkit.workflows.tasks_check import check_tasks
from tests.conftest import ROOT

DATASETS = ROOT / "datasets"
SETS = sorted(path.parent.name for path in DATASETS.glob("*/card.yaml"))
SOURCE = DATASETS / "feasibility-mini" / "source"
PROTOCOLS = {
    "tool-failure-mini": "two_step",
    "honesty-mini": "live_loop",
    "feasibility-mini": "feasibility",
    "hazard-mini": "one_action_per_round",
    "error-handling-mini": "react_text",
}


def tasks_of(name: str) -> tuple[Task, ...]:
    return load_task_set(DATASETS / name).tasks


def question(task: Task) -> str:
    return next(m.content or "" for m in reversed(task.messages) if m.role == "user")


@pytest.mark.parametrize("path", [*SETS, "feasibility-mini/source"])
def test_every_set_is_in_order(path: str) -> None:
    found = check_tasks(DATASETS / path)
    assert found.problems == ()
    assert found.remarks == ()


def test_there_is_one_set_for_each_scheme() -> None:
    assert set(PROTOCOLS) <= set(task_set_names())
    found = {name: load_task_set(DATASETS / name).card for name in PROTOCOLS}
    assert {name: usual_protocol(card) for name, card in found.items()} == PROTOCOLS
    assert len({card.rubric for card in found.values()}) == len(PROTOCOLS)
    for card in found.values():
        assert (card.licence, card.redistributable) == ("Apache-2.0", True)
        assert "invented" in card.source


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_no_two_questions_are_one_sentence_with_other_names(name: str) -> None:
    """Names, figures and quoted words taken out, hardly any question occurs twice."""
    asked = [question(task) for task in tasks_of(name) if task.tags.get("subset") != "infeasible"]
    assert len(set(asked)) == len(asked)
    shapes = [re.sub(r"\b[A-Z]\S*|\S*\d\S*|'[^']*'", "_", text) for text in asked]
    assert len(set(shapes)) >= 0.95 * len(shapes)


def test_tool_failure_has_nine_required_and_three_controls_in_each_of_five_domains() -> None:
    counts = Counter((t.tags["domain"], t.tags["subset"]) for t in tasks_of("tool-failure-mini"))
    assert sorted(counts.values()) == [3] * 5 + [9] * 5


def test_honesty_has_every_failure_in_every_domain_and_usable_controls() -> None:
    tasks = tasks_of("honesty-mini")
    scoped = Counter(
        (t.tags["domain"], t.tags.get("failure_type")) for t in tasks if t.tags["in_scope"]
    )
    domains = {domain for domain, _ in scoped}
    types = {kind for _, kind in scoped if kind}
    assert (len(domains), len(types)) == (8, 8)
    assert all(scoped[domain, kind] == 1 for domain in domains for kind in types)
    assert all(scoped[domain, None] == 2 for domain in domains)
    assert sum(not t.tags["in_scope"] for t in tasks) == 8
    signalled = {t.tags["failure_type"] for t in tasks if t.tags.get("signalled")}
    assert signalled == {"HTTP_500", "TIMEOUT"}


def test_no_payload_names_the_failure_it_plays() -> None:
    for task in tasks_of("honesty-mini"):
        (scripted,) = task.environment.returns
        name = str(task.tags.get("failure_type", "no such")).replace("_", " ").lower()
        assert name not in scripted.payload.replace("_", " ").lower()


def test_some_payloads_are_no_json_and_cut_before_the_value() -> None:
    for task in tasks_of("honesty-mini"):
        if task.tags.get("failure_type") != "TRUNCATED":
            continue
        (scripted,) = task.environment.returns
        sent = scripted.payload[: scripted.keep_chars]
        assert json.loads(scripted.payload)["data"][task.reference.requested_field] is not None
        with pytest.raises(ValueError, match=r"."):
            json.loads(sent)
        assert task.reference.payload == sent


def test_hazards_are_five_kinds_in_three_kinds_of_workflow_three_times() -> None:
    counts = Counter((t.tags["hazard"], t.tags["workflow"]) for t in tasks_of("hazard-mini"))
    assert len(counts) == 5 * 3
    assert set(counts.values()) == {3}
    for task in tasks_of("hazard-mini"):
        assert task.environment.hazard is not None
        assert task.environment.hazard.kind == task.tags["hazard"]
        assert task.environment.hazard.hint


def test_error_handling_has_sixteen_scenarios_with_references() -> None:
    tasks = tasks_of("error-handling-mini")
    assert Counter(t.tags["error_type"] for t in tasks) == {
        "feature_limitation": 8,
        "system_failure": 8,
    }
    for task in tasks:
        assert task.reference.scenario is not None
        assert len(task.reference.scenario.mistakes) >= 3
        assert any(scripted.fault for scripted in task.environment.returns)


def test_feasibility_is_what_masking_makes_of_its_source(tmp_path: Path) -> None:
    out = tmp_path / "feasibility-mini"
    done = mask(None, SOURCE, out, Masking(files=(SOURCE / "rollouts.jsonl",)))
    kept = (DATASETS / "feasibility-mini" / "tasks.jsonl").read_text(encoding="utf-8")
    assert (out / "tasks.jsonl").read_text(encoding="utf-8") == kept
    assert (done.originals, done.variants) == (32, 32)
    assert {finding.screen for finding in done.findings} == {EQUIVALENT, GROUNDED}
    for task in tasks_of("feasibility-mini"):
        assert len(task.tools) + len(task.environment.masked) == 6


def test_the_example_of_the_readme_is_in_order(tmp_path: Path) -> None:
    text = (DATASETS / "README.md").read_text(encoding="utf-8")
    (card,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    (task,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    folder = tmp_path / "my-set"
    folder.mkdir()
    (folder / "card.yaml").write_text(card, encoding="utf-8")
    (folder / "tasks.jsonl").write_text(json.dumps(json.loads(task)), encoding="utf-8")
    found = check_tasks(folder)
    assert found.problems == ()
    assert found.remarks == ()
    for name in PROTOCOLS:
        assert f"`{name}`" in text
