"""The demo runs every station once, twice does nothing twice, and says how good its judge is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labelkit.catalog.task_sets import load_task_set
from labelkit.cli.demo_verb import closing
from labelkit.errors import InputError
from labelkit.settings import load_settings
from labelkit.workflows.demo import N_TASKS, SETTINGS, TASKS, Demo, demo
from labelkit.workflows.progress import Silent
from tests.fake_server import FakeServer
from tests.fake_server.samples import asked_schema

JUDGES = ("small:decision-tree", "small:evidence-attribution")
N = 24


@pytest.fixture
def folder(tmp_path: Path, fake_server: FakeServer) -> Path:
    """A demo folder whose model is the fake server: all else is as the demo writes it."""
    # Four at once, so that a run can be stopped between two commits.
    place = f"engine: api\n    base_url: {fake_server.base_url}\n    max_concurrency: 4"
    settings = SETTINGS.replace("engine: local", place)
    assert settings != SETTINGS
    (tmp_path / "labelkit.yaml").write_text(settings, encoding="utf-8")
    fake_server.reply = answer
    return tmp_path


def answer(request: dict[str, Any]) -> str | None:
    """Call no tool, say something, and leave verdicts to the server's first allowed label."""
    return None if asked_schema(request) else "I do not know."


class Heard(Silent):
    """Every stage with its rows, planned and done."""

    def __init__(self) -> None:
        self.stages: dict[str, list[int]] = {}

    def begin(self, stage: str, total: int | None) -> None:
        self.stages[stage] = [total or 0, 0]

    def advance(self, stage: str, count: int = 1) -> None:
        self.stages[stage][1] += count


def labelled(done: Demo) -> dict[str, int]:
    return {tally.rater: tally.labelled for tally in done.labels.tallies}


def verdicts(server: FakeServer) -> int:
    """Number of requests that asked for a verdict."""
    return sum("outcome" in json.dumps(request.json) for request in server.requests)


def test_the_set_is_what_the_demo_promises() -> None:
    tasks = load_task_set(TASKS).tasks[:N_TASKS]
    assert len(tasks) == N
    assert len({task.tags["domain"] for task in tasks}) == 3
    assert {task.tags["subset"] for task in tasks} == {"required", "control"}


def test_every_station_runs_and_the_counts_add_up(folder: Path, fake_server: FakeServer) -> None:
    heard = Heard()
    done = demo(folder, heard)
    assert sum(done.rollouts.states.values()) == done.n_tasks == done.report.n_traces == N
    assert [stage[0] for stage in heard.stages.values()] == [N] * 4
    assert [stage[1] for stage in heard.stages.values()] == [N] * 4
    for tally in done.labels.tallies:
        failed = sum(tally.failed.values())
        assert tally.labelled + tally.abstained + failed + tally.skipped == tally.planned == N
    assert {name: labelled(done)[name] for name in JUDGES} == dict.fromkeys(JUDGES, N)
    for rate in done.report.rates:
        assert rate.scored + sum(rate.excluded.values()) == rate.planned
    # One test request tells how the endpoint takes schemas; then one request per row and judge.
    assert verdicts(fake_server) == 2 * N + 1


def test_judges_of_the_demo_are_asked_for_short_replies(
    folder: Path, fake_server: FakeServer
) -> None:
    demo(folder, Silent())
    small = load_settings(folder / "labelkit.yaml").judges["small"]
    schemas = [asked_schema(r.json) or {} for r in fake_server.requests]
    forms = [s["properties"] for s in schemas if "outcome" in s.get("properties", {})]
    assert {form["rationale"]["maxLength"] for form in forms} == {small.rationale_chars}
    quotes = [form["evidence"] for form in forms if "evidence" in form]
    assert len(quotes) == N
    assert {q["maxItems"] for q in quotes} == {1}
    assert {q["items"]["properties"]["quote"]["maxLength"] for q in quotes} == {small.quote_chars}


def test_a_second_run_asks_nothing_and_reports_the_same(
    folder: Path, fake_server: FakeServer
) -> None:
    first = demo(folder, Silent())
    asked = fake_server.count
    second = demo(folder, Silent())
    assert fake_server.count == asked
    assert second.rollouts.known == N
    assert all(tally.planned == 0 for tally in second.labels.tallies)
    assert second.report == first.report


def test_an_interrupted_run_is_finished_without_asking_twice(
    folder: Path, fake_server: FakeServer
) -> None:
    class Stop(Heard):
        def advance(self, stage: str, count: int = 1) -> None:
            super().advance(stage, count)
            if stage == JUDGES[0] and self.stages[stage][1] >= N // 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        demo(folder, Stop())
    done = demo(folder, Silent())
    assert done.rollouts.known == N
    assert 0 < labelled(done)[JUDGES[0]] < N
    # Only what was in flight at the stop is asked again.
    in_flight = load_settings(folder / "labelkit.yaml").endpoints["embedded"].max_concurrency
    assert verdicts(fake_server) <= 2 * N + 1 + in_flight
    assert [rater.labelled for rater in done.report.raters if rater.name in JUDGES] == [N, N]


def test_the_closing_words_hold_what_was_measured(folder: Path) -> None:
    done = demo(folder, Silent())
    words = closing(done)
    (agreement, *_) = done.report.agreement
    with_rule = [pair for pair in agreement.pairs if pair.first == "tool-failure"]
    assert [pair.second for pair in with_rule] == list(JUDGES)
    for pair in with_rule:
        assert f"{pair.second}: kappa" in words
        assert f"{pair.result.n_items} rows" in words
    assert "not to judge" in words
    assert str(folder / "labelkit.yaml") in words


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="--in"):
        demo(tmp_path / "file" / "demo", Silent())
