"""What somebody reads who has not imported, labelled or configured anything yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelkit.workflows.contrasts import ContrastResult, Part
from labelkit.workflows.masking import Masked, reasons_of
from labelkit.workflows.number_rows import NumberTable, _contrasts
from tests.acceptance.conftest import TEMPLATE
from tests.acceptance.inprocess import Cli, cli

__all__ = ["cli"]

REPORT = ("report", "--rubric", "tool-failure")


@pytest.fixture
def loose(cli: Cli, tmp_path: Path) -> Cli:
    """A store with two traces of no task."""
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    lines = [json.dumps({"model": model, "messages": said}) for model in ("m", "n")]
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert cli("init").code == 0
    assert cli("import", "t.jsonl").code == 0
    return cli


def test_a_report_of_nothing_is_one_sentence(cli: Cli) -> None:
    assert cli("init").code == 0
    said = "there is no trace in the store; import traces first (`labelkit import`)"
    done = cli(*REPORT)
    assert (done.code, done.out) == (0, f"{said}\n")
    assert cli(*REPORT, "--where", "model=x").sentence == said


def test_traces_without_a_task_are_named(loose: Cli) -> None:
    said = "2 traces belong to no task, so no denominator can hold them"
    assert said in loose(*REPORT).out
    assert said in json.loads(loose(*REPORT, "--json").out)["remarks"]


def test_a_condition_that_no_trace_meets_is_told_with_what_there_is(loose: Cli) -> None:
    told = loose(*REPORT, "--where", "model=x").sentence
    assert "has model=x; `labelkit report --rubric tool-failure --by model`" in told
    assert loose(*REPORT, "--by", "model").code == 0
    unknown = loose(*REPORT, "--where", "modl=m").sentence
    assert unknown == "no trace has a tag 'modl'; known are: condition, model"


RUBRIC = """\
name: plain
version: "1.0.0"
title: Plain
source: own
guideline: guideline.md
questions:
  - id: q
    text: Is it good?
    type: choice
    labels:
      - {name: good, title: Good, key: g, include: It is.}
      - {name: bad, title: Bad, key: b, include: It is not.}
"""


def test_a_rubric_that_no_judge_can_use_asks_for_no_judge(loose: Cli, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "guideline.md").write_text("Look.\n", encoding="utf-8")
    (tmp_path / "plain" / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    done = loose("report", "--rubric", "./plain")
    assert done.code == 0, done.err
    assert "no labels yet of" not in done.out
    assert "run `labelkit judge --rubric tool-failure`" in " ".join(loose(*REPORT).out.split())


def test_rule_only_without_a_rule_is_refused(loose: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "guideline.md").write_text("Look.\n", encoding="utf-8")
    text = RUBRIC + "framings:\n  - {name: one, template: one.md, shows: [answer], asks: [q]}\n"
    (folder / "rubric.yaml").write_text(text, encoding="utf-8")
    (folder / "one.md").write_text(TEMPLATE, encoding="utf-8")
    told = loose("judge", "--rubric", "./plain", "--rule-only").sentence
    assert told == "plain has no rule; leave out --rule-only"


def test_reasons_are_counted_in_readable_words() -> None:
    made = Masked(Path())
    made.left_out.update(["fewer than two models solved it"] * 2)
    made.left_out["no tool is common to all that solved it"] = 1
    assert reasons_of(made) == [
        "2 tasks: fewer than two models solved them",
        "1 task: no tool is common to all that solved it",
    ]


def test_contrasts_without_rows_are_one_line() -> None:
    def contrast(name: str, n: int) -> ContrastResult:
        part = Part("difference", None, None, None, "no_rows")
        arms = {"base": None, "treated": None}
        return ContrastResult(name, name, "r", "all", arms, {"base": n, "treated": 0}, (part,))

    table, line = _contrasts([contrast("a", 0), contrast("b", 3), contrast("c", 0)])
    assert isinstance(table, NumberTable)
    assert [row[1] for row in table.rows] == ["b"]
    assert line == "2 contrasts have no rows: a, c"
    assert _contrasts([contrast("a", 0)]) == ["1 contrast has no rows: a"]
