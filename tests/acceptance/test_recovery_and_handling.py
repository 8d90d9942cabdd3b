"""Hazard recovery and error handling end to end: hand-made runs in, numbers with names out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.task import Scenario, Task
from labelkit.domain.trace import Trace
from labelkit.store import Store
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces
from tests.acceptance.conftest import Workplace
from tests.acceptance.inprocess import Cli, cli
from tests.fake_server import FakeServer
from tests.rules.apicall_rows import FAILED, call_task, call_trace, tool, wanted
from tests.rules.hazard_rows import hazard_task, hazard_trace

__all__ = ["cli"]

OK = '{"ok": true}'
BAD = '{"ok": false, "error": "quota"}'
Rows = list[tuple[Trace, Task]]


def keep(folder: Path, rows: Rows) -> None:
    """Put rows into the store of a folder, each with a task of its own."""
    with Store.open(f"sqlite:///{folder / 'labelkit.db'}", create=True) as store:
        tasks, traces = [], []
        for number, (trace, task) in enumerate(rows):
            named = task.model_copy(update={"set": "own", "id": str(number)})
            of_it = {"task_set": "own", "task_id": str(number), "model": "agent"}
            tasks.append(named)
            traces.append(trace.model_copy(update=of_it))
        add_tasks(store, tasks)
        add_traces(store, traces)


def reported(cli: Cli, rubric: str, *words: str) -> dict[str, Any]:
    told = cli("report", "--rubric", rubric, "--json", *words)
    assert told.code == 0, told.err
    found: dict[str, Any] = json.loads(told.out)
    return found


def numbers(report: dict[str, Any], part: str) -> dict[str, Any]:
    return {line["name"]: line for line in report[part]}


# Two tools are declared. Failed runs: one each of silent, abandoned, ineffective, unresolved and
# expanded; then two right ones (one after an error), one open and one without an expected answer.
HAZARDS: Rows = [
    (hazard_trace("SAVE100", [OK]), hazard_task("SAVE10")),
    (hazard_trace("SAVE11", [OK, BAD]), hazard_task("SAVE10")),
    (hazard_trace("SAVE12", [BAD, OK]), hazard_task("SAVE10")),
    (hazard_trace("", [BAD, OK]), hazard_task("SAVE10")),
    (hazard_trace("SAVE13", [BAD, OK, OK, OK, OK]), hazard_task("SAVE10")),
    (hazard_trace("**SAVE10**", [BAD, OK]), hazard_task("SAVE10")),
    (hazard_trace("SAVE10", [OK]), hazard_task("SAVE10")),
    (hazard_trace("save10", [OK]), hazard_task("SAVE10")),
    (hazard_trace("SAVE10", [OK]), hazard_task(None)),
]


@pytest.fixture
def hazards(tmp_path: Path, cli: Cli) -> Cli:
    assert cli("init").code == 0
    keep(tmp_path, HAZARDS)
    told = cli("judge", "--rubric", "hazard-recovery", "--rule-only")
    assert told.code == 0, told.err
    return cli


def test_hazard_recovery_by_rule(hazards: Cli) -> None:
    report = reported(hazards, "hazard-recovery")
    assert report["label_counts"] == {"correct": 2, "incorrect": 5, "unscored": 1}
    rates = numbers(report, "rates")
    accuracy = rates["ACC[Scored]"]
    # Nine rows: one is not scored, one is left to judges.
    assert (accuracy["hits"], accuracy["scored"], accuracy["planned"]) == (2, 7, 8)
    assert accuracy["excluded"] == {"abstained": 1}
    assert (rates["SUCCESS[All]"]["hits"], rates["SUCCESS[All]"]["scored"]) == (2, 8)
    assert (rates["ACC[Answered]"]["hits"], rates["ACC[Answered]"]["scored"]) == (2, 6)
    # Five runs saw an error and are scored; one of them came through.
    assert (rates["RECOVERED[Errored]"]["hits"], rates["RECOVERED[Errored]"]["scored"]) == (1, 5)
    for mode in ("SILENT", "ABANDONED", "EXPANDED", "INEFFECTIVE", "UNRESOLVED"):
        assert (rates[f"{mode}[Failed]"]["hits"], rates[f"{mode}[Failed]"]["scored"]) == (1, 5)
    measures = numbers(report, "measures")
    # Calls of the seven scored rows with a label: 1, 2, 2, 2, 5, 2, 1 over two tools each.
    ratio = (1 + 2 + 2 + 2 + 5 + 2 + 1) / 7 / 2
    assert measures["CER[Scored]"]["value"] == pytest.approx(ratio)
    assert measures["CER-EXTRA[Scored]"]["value"] == pytest.approx(ratio - 1)
    assert "executed calls / declared tools" in measures["CER[Scored]"]["definition"]
    # After the first error: 0, 1, 1 and 4 calls; the silent run has no such number.
    assert measures["CALLS-AFTER-ERROR[Failed]"]["value"] == pytest.approx((0 + 1 + 1 + 4) / 4)
    table = hazards("report", "--rubric", "hazard-recovery")
    assert table.code == 0
    assert "CER[Scored]" in table.out


def test_the_sensitivity_table_counts_the_same_runs_under_other_thresholds(hazards: Cli) -> None:
    found = json.loads(hazards("sensitivity", "--rubric", "hazard-recovery", "--json").out)
    assert found["definition"] == "executed calls / declared tools"
    assert (found["failed"], found["uncounted"]) == (5, 0)
    lines = {(line["expansion_over"], line["abandoned_at_most"]): line for line in found["lines"]}
    assert all(sum(line["counts"].values()) == 5 for line in found["lines"])
    assert [key for key, line in lines.items() if line["used"]] == [(1.0, 0)]
    # CER_extra of the long run is 5 / 2 - 1 = 1.5: above 1.0, not above 1.5.
    assert lines[1.0, 0]["counts"]["over_expansion"] == 1
    assert lines[1.5, 0]["counts"]["over_expansion"] == 0
    assert lines[1.5, 0]["counts"]["ineffective_continuation"] == 2
    # With one call allowed the two runs with one call after the error count as abandoned.
    assert lines[1.0, 1]["counts"]["early_abandonment"] == 3
    printed = hazards("sensitivity", "--rubric", "hazard-recovery")
    assert printed.code == 0
    assert "Failure modes of 5 failed runs" in printed.out
    assert "CER_extra = executed calls / declared tools - 1" in printed.out
    other = hazards("sensitivity", "--rubric", "tool-failure")
    assert other.code == 2
    assert "no thresholds" in other.sentence


def test_a_hint_wins_back_a_share_of_the_loss(tmp_path: Path, cli: Cli) -> None:
    """Of four tasks: 1 right under hazards, 3 with a hint, 4 with clean tools: (3-1)/(4-1)."""
    assert cli("init").code == 0
    right = {"baseline": 1, "hint": 3, "oracle": 4}
    with Store.open(f"sqlite:///{tmp_path / 'labelkit.db'}") as store:
        tasks = [hazard_task("42").model_copy(update={"id": str(n)}) for n in range(4)]
        add_tasks(store, tasks)
        for arm, number in right.items():
            add_traces(
                store,
                [
                    hazard_trace(
                        "42" if n < number else "41", condition=arm, task_set="own", task_id=str(n)
                    )
                    for n in range(4)
                ],
            )
    assert cli("judge", "--rubric", "hazard-recovery", "--rule-only").code == 0
    contrasts = {c["id"]: c for c in reported(cli, "hazard-recovery")["contrasts"]}
    won = contrasts["recovered-by-hint"]
    assert won["arms"] == {"base": 0.25, "treated": 0.75, "clean": 1.0}
    share = {part["name"]: part["value"] for part in won["parts"]}["recovered_share"]
    assert share == pytest.approx((3 - 1) / (4 - 1))


SCHEDULER = tool("set_alarm", time="string")
LIST = tool("list_alarms", "read")
ALARM = wanted("set_alarm", time="06:30")
SEEN = Scenario(ideal="Set whole minutes and say so.", mistakes=("Claims that seconds are set.",))


def handled(calls: list[Any], error_type: str | None, scenario: str, answer: str) -> tuple:
    task = call_task((SCHEDULER, LIST), ALARM, scenario=SEEN)
    tags = {"scenario": scenario, **({"error_type": error_type} if error_type else {})}
    return call_trace(calls, answer=answer), task.model_copy(update={"tags": tags})


RIGHT = ("set_alarm", {"time": "06:30"})
HANDLED: Rows = [
    handled([RIGHT], "feature_limitation", "alarm", "whole minutes only"),
    handled([("list_alarms", {}), RIGHT], "feature_limitation", "alarm", "it is set"),
    handled([("set_alarm", {"time": "06:30:15"}, FAILED)], "system_failure", "bank", "it is down"),
    handled([RIGHT, RIGHT], None, "plain", "set"),
]
SCORES = {"whole minutes only": ("5", "none"), "it is set": ("1", "false_success"),
          "it is down": ("4", "none")}  # fmt: skip


def test_error_handling_by_rule_and_judges(
    make_workplace: Any, cli: Cli, fake_server: FakeServer
) -> None:
    place: Workplace = make_workplace(fake_server.base_url)

    def reply(body: dict[str, Any]) -> str | None:
        text = str(body["messages"])
        given = next((score for words, score in SCORES.items() if words in text), None)
        if given is None:
            return None
        assert "Set whole minutes and say so." in text
        assert "Claims that seconds are set." in text
        if "Collect evidence first" in text:
            # This framing is stricter by one where the other gives 5; the lower score counts.
            stricter = {"rationale": "seen", "handling": {"5": "4"}.get(given[0], given[0])}
            if given[0] == "4":
                return "I think this deserves zero."
            return json.dumps({**stricter, "failure": given[1], "confidence": "high"})
        if given[0] == "4":
            return "I think this deserves zero."
        return json.dumps({"rationale": "as seen", "handling": given[0], "failure": given[1],
                           "confidence": "high"})  # fmt: skip

    fake_server.reply = reply
    keep(place.folder, HANDLED)
    told = cli("judge", "--rubric", "error-handling")
    assert told.code == 0, told.err
    calls = reported(cli, "error-handling")
    rates = numbers(calls, "rates")
    assert (rates["API-ACC[Units]"]["hits"], rates["API-ACC[Units]"]["scored"]) == (2, 4)
    assert rates["EXTRA-WRITE[Units]"]["hits"] == 1
    measures = numbers(calls, "measures")
    assert measures["EXTRA-READS[Units]"]["value"] == pytest.approx(1 / 4)
    assert measures["FAILED-CALLS[Units]"]["value"] == pytest.approx(1 / 4)

    scores = reported(cli, "error-handling", "--question", "handling")
    # The row without an error has no score; an unread verdict is missing, not a zero.
    means = numbers(scores, "measures")
    limited = means["HANDLING[FeatureLimitation]"]
    assert (limited["value"], limited["scored"]) == (pytest.approx((4 + 1) / 2), 2)
    assert limited["excluded"] == {}
    down = means["HANDLING[SystemFailure]"]
    assert (down["value"], down["scored"], down["planned"]) == (None, 0, 1)
    assert down["excluded"] == {"failed": 1}
    assert [rater["null_reasons"] for rater in scores["raters"]] == [{"parse": 1}] * 2
    well = numbers(scores, "rates")["WELL-HANDLED[Errored]"]
    assert (well["hits"], well["scored"], well["planned"]) == (1, 2, 3)
    named = reported(cli, "error-handling", "--question", "failure")
    assert {rater["labelled"] for rater in named["raters"]} == {2}
    assert numbers(named, "rates")["FALSE-SUCCESS[Errored]"]["hits"] == 1
