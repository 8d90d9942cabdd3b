"""The README's "your own rubric in ten minutes", followed to the letter on real traces."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from labelkit.store import Store
from labelkit.store.traces import rows
from tests.acceptance.conftest import Workplace
from tests.conftest import ROOT
from tests.fake_server import FakeServer

FENCE = re.compile(r"^```\w+\n(?:# file: |<!-- file: )(\S+)(?: -->)?\n(.*?)^```", re.M | re.S)
RUNS = 100
# Facts of the data's own README.
CUT_OFF = 3
TRANSFERS = 18


@pytest.fixture
def walked(make_workplace, shared: Path, fake_server: FakeServer) -> Workplace:
    """A folder with the README's rubric and the real tau-bench file."""
    place = make_workplace(fake_server.base_url)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    files = dict(FENCE.findall(readme))
    assert set(files) == {f"run-ending/{n}" for n in ("rubric.yaml", "plain.md", "guideline.md")}
    for name, text in files.items():
        path = place.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    source = shared / "real" / "tau_bench_airline" / "gpt-4o-airline.tasks-00-24.json"
    shutil.copy(source, place.folder / "gpt-4o-airline.json")
    return place


def test_a_hundred_real_runs_are_labelled_by_rule_and_endpoint(
    walked: Workplace, fake_server: FakeServer
) -> None:
    assert "in order" in walked.done("rubric", "check", "run-ending")
    walked.done("init")
    assert f"traces {RUNS} new" in walked.done("import", "gpt-4o-airline.json")
    assert f"traces 0 new, {RUNS} known" in walked.done("import", "gpt-4o-airline.json")
    walked.done("judge", "--rubric", "run-ending")
    # One request per trace and one probe; the fake judge takes the first label it may give.
    assert fake_server.count == RUNS + 1
    report = json.loads(walked.done("report", "--rubric", "run-ending", "--json"))
    assert report["n_traces"] == RUNS

    rule, judge = report["raters"]
    assert judge["labelled"] == RUNS
    assert rule["label_counts"]["cut_off"] == CUT_OFF
    # Every transfer ends its own run, and none of those runs was cut off.
    assert rule["label_counts"]["handed_over"] == TRANSFERS
    assert rule["labelled"] + rule["without"].get("abstained", 0) == RUNS
    rates = {rate["name"]: rate for rate in report["rates"]}
    assert rates["HANDOVER[All]"]["planned"] == RUNS
    assert rates["IDLE[Ended]"]["planned"] <= RUNS


def test_the_traces_in_the_store_are_those_of_the_file(walked: Workplace) -> None:
    walked.done("init")
    walked.done("import", "gpt-4o-airline.json")
    from_store = _facts(walked.folder)
    source = json.loads((walked.folder / "gpt-4o-airline.json").read_text(encoding="utf-8"))
    messages = [message for run in source for message in run["traj"]]
    roles = Counter(message["role"] for message in messages)
    assert from_store["roles"] == roles
    assert sum(roles.values()) == 2962
    assert from_store["calls"] == 621
    assert from_store["runs_with_reused_ids"] == 25


def _facts(folder: Path) -> dict:
    """Counts over every trace of the store."""
    roles: Counter = Counter()
    calls = reused = 0
    with Store.open(f"sqlite:///{folder / 'labelkit.db'}") as store:
        for trace, task in rows(store):
            assert task is not None
            roles.update(message.role for message in trace.messages)
            ids = [call.id for message in trace.messages for call in message.tool_calls]
            calls += len(ids)
            reused += len(set(ids)) < len(ids)
    return {"roles": roles, "calls": calls, "runs_with_reused_ids": reused}
