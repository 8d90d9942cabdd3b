"""Means, conditions and fronts as rubric data, from hand-made traces to ``labelkit report``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Task, Tool
from labelkit.domain.trace import RowState, Trace, Usage
from labelkit.store import Store
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces
from tests.acceptance.inprocess import Cli, cli

__all__ = ["cli"]

RUBRIC = """\
name: stopping
version: "1.0.0"
title: Whether the run stopped early
source: the tests of labelkit
questions:
  - id: ending
    type: choice
    text: How did it end?
    labels:
      - {name: stopped, title: Stopped, key: "1", include: No call was made.}
      - {name: went_on, title: Went on, key: "2", include: A call was made.}
rule: facts
rule_table:
  - {when: {calls: {max: 0}}, label: stopped}
  - {when: {calls: {min: 1}}, label: went_on}
ensemble: {tie: rule}
rates:
  - id: STOP
    title: Stopped
    question: ending
    numerator: {labels: [stopped]}
    denominator: {name: All}
    cluster: domain
measures:
  - id: TOKENS
    title: Tokens of runs that went on over those that stopped
    question: ending
    value: tokens
    within: {name: WentOn, where: {labels: [went_on]}}
    against: {name: Stopped, where: {labels: [stopped]}}
  - id: CALLS
    title: Calls per declared tool
    question: ending
    value: calls
    per: tools
    macro: domain
    definition: executed calls / declared tools
    within: {name: All}
contrasts:
  - {id: HINT, title: With a hint, of: "STOP[All]", base: plain, treated: hint, family: hints}
composites:
  - {id: MIX, title: A composite, parts: ["STOP[All]"], complement: ["STOP[All]"]}
fronts:
  - {id: BEST, title: stopping and calls, up: ["STOP[All]"], down: ["CALLS[All]"]}
guideline: guideline.md
"""


def run_of(
    task: str, condition: str, calls: int, tokens: int | None, protocol: str | None = None
) -> Trace:
    """A run that makes so many calls; the model's name is its condition's first letter."""
    called = [
        message
        for n in range(calls)
        for message in (
            Message(role="assistant", tool_calls=(ToolCall(name="t", arguments="{}", id=f"{n}"),)),
            Message(role="tool", content="ok", tool_call_id=f"{n}"),
        )
    ]
    usage = None if tokens is None else Usage(prompt_tokens=tokens - 1, completion_tokens=1)
    return Trace(
        model="m",
        messages=(
            Message(role="user", content="go"),
            *called,
            Message(role="assistant", content="done"),
        ),
        state=RowState.OK,
        task_set="s",
        task_id=task,
        condition=condition,
        usage=usage,
        tags={} if protocol is None else {"protocol": protocol},
    )


@pytest.fixture
def report(cli: Cli, tmp_path: Path) -> tuple[dict, str]:
    """Four tasks with two tools each, two domains, both conditions; and what is printed."""
    folder = tmp_path / "stopping"
    folder.mkdir()
    (folder / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    (folder / "guideline.md").write_text("Count.\n", encoding="utf-8")
    assert cli("init").code == 0
    tools = (Tool(name="t"), Tool(name="u"))
    tasks = [
        Task(set="s", id=f"{n}", tools=tools, tags={"domain": "law" if n < 2 else "health"})
        for n in range(4)
    ]
    plain = [run_of("0", "plain", 2, 900), run_of("1", "plain", 4, 700)]
    plain += [run_of("2", "plain", 1, None), run_of("3", "plain", 0, 100)]
    hint = [run_of("0", "hint", 0, 100), run_of("1", "hint", 0, 100)]
    hint += [run_of("2", "hint", 0, 100), run_of("3", "hint", 1, 800)]
    with Store.open(f"sqlite:///{tmp_path / 'labelkit.db'}") as store:
        add_tasks(store, tasks)
        add_traces(store, plain + hint)
    assert cli("rubric", "check", "stopping").code == 0
    judged = cli("judge", "--rubric", "stopping", "--rule-only")
    assert judged.code == 0, judged.err
    found = cli("report", "--rubric", "stopping", "--json")
    assert found.code == 0, found.err
    shown = cli("report", "--rubric", "stopping")
    assert shown.code == 0, shown.err
    return json.loads(found.out), shown.out


def test_every_number_follows_from_the_runs(report: tuple[dict, str]) -> None:
    numbers, _ = report
    assert numbers["label_counts"] == {"stopped": 4, "went_on": 4}
    (stop,) = numbers["rates"]
    assert (stop["hits"], stop["scored"]) == (4, 8)
    # Domains: law 2 of 4 stopped, health 2 of 4: no variation between the two clusters.
    assert stop["clustered"]["n_clusters"] == 2
    assert {"few_clusters", "no_variation_between_clusters"} <= set(stop["clustered"]["flags"])
    tokens, calls = numbers["measures"]
    # Went on: 900, 700, 800, one unknown; stopped: 100 four times.
    assert tokens["name"] == "TOKENS[WentOn/Stopped]"
    assert tokens["value"] == pytest.approx(800 / 100)
    assert (tokens["scored"], tokens["scored_against"]) == (3, 4)
    assert tokens["excluded"] == {"no_number": 1}
    # Calls per tool: law (2 + 4 + 0 + 0) / 2 / 4 rows = 0.75; health (1 + 0 + 0 + 1) / 2 / 4.
    assert calls["value"] == pytest.approx((0.75 + 0.25) / 2)
    assert calls["macro"] == pytest.approx((0.75 + 0.25) / 2)
    assert (calls["n_groups"], calls["definition"]) == (2, "executed calls / declared tools")
    (hint,) = numbers["contrasts"]
    assert hint["arms"] == {"base": 0.25, "treated": 0.75}
    # Tasks 0, 1, 2 stopped only with the hint, task 3 only without: exact p of 1 in 4 = 10/16.
    pairs = hint["pairs"]
    assert (pairs["n"], pairs["only_base"], pairs["only_treated"]) == (4, 1, 3)
    assert pairs["p"] == pairs["p_holm"] == pytest.approx(10 / 16)
    (mix,) = numbers["composites"]
    assert mix["value"] == pytest.approx(0.5)
    (front,) = numbers["fronts"]
    assert front["front"] == ["m"]


def test_the_tables_say_the_same(report: tuple[dict, str]) -> None:
    _, shown = report
    flat = " ".join(shown.split())
    for words in (
        "ensemble: 4 stopped, 4 went_on",
        "STOP[All] 50.0%",
        "2 x domain",
        "TOKENS[WentOn/Stopped]",
        "CALLS[All]: executed calls / declared tools.",
        "retention",
        "(hints)",
        "Tie rule: as good everywhere and better somewhere dominates.",
    ):
        assert words in flat, words


@pytest.fixture
def two_protocols(cli: Cli, tmp_path: Path) -> Cli:
    """Three runs by replay, of which two stopped, and two by a live loop, of which none did."""
    folder = tmp_path / "stopping"
    folder.mkdir()
    (folder / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    (folder / "guideline.md").write_text("Count.\n", encoding="utf-8")
    assert cli("init").code == 0
    replays = [run_of(f"{n}", "plain", int(n == 2), 10, "replay") for n in range(3)]
    live = [run_of(f"{n}", "hint", 1, 10, "live_loop") for n in range(2)]
    with Store.open(f"sqlite:///{tmp_path / 'labelkit.db'}") as store:
        add_traces(store, replays + live)
    assert cli("judge", "--rubric", "stopping", "--rule-only").code == 0
    return cli


def rates_of(cli: Cli, *words: str) -> dict[str, tuple[int, int]]:
    done = cli("report", "--rubric", "stopping", "--json", *words)
    assert done.code == 0, done.err
    rates = json.loads(done.out)["rates"]
    return {rate["group"]: (rate["hits"], rate["scored"]) for rate in rates}


def test_protocols_are_never_pooled(two_protocols: Cli) -> None:
    assert rates_of(two_protocols) == {"protocol=live_loop": (0, 2), "protocol=replay": (2, 3)}
    assert rates_of(two_protocols, "--by", "condition") == {
        "protocol=live_loop": (0, 2),
        "protocol=replay": (2, 3),
        "protocol=live_loop, condition=hint": (0, 2),
        "protocol=replay, condition=plain": (2, 3),
    }


def test_a_report_of_some_rows_only(two_protocols: Cli) -> None:
    assert rates_of(two_protocols, "--where", "protocol=replay") == {"all": (2, 3)}
    several = ("--where", "condition=plain", "--where", "condition=hint")
    assert set(rates_of(two_protocols, *several)) == {"protocol=live_loop", "protocol=replay"}
    nothing = two_protocols("report", "--rubric", "stopping", "--where", "condition=none")
    assert nothing.code == 2
    assert "no trace that the rubric applies to has condition=none" in nothing.sentence
    wrong = two_protocols("report", "--rubric", "stopping", "--where", "condition")
    assert "write --where condition=neutral" in wrong.sentence


def test_a_measure_of_a_fact_that_nobody_counts_is_refused(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "stopping"
    folder.mkdir()
    text = RUBRIC.replace("value: tokens", "value: tokns")
    (folder / "rubric.yaml").write_text(text, encoding="utf-8")
    (folder / "guideline.md").write_text("Count.\n", encoding="utf-8")
    refused = cli("rubric", "check", "stopping")
    assert refused.code == 2
    assert "asks for 'tokns', which is no fact; did you mean 'tokens'?" in refused.sentence
