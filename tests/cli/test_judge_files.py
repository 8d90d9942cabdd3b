"""``labelkit judge --batch-in`` with a file that is not the right one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import Workplace, make_workplace
from tests.acceptance.inprocess import Cli, cli
from tests.formats.writing import write_lines

__all__ = ["cli", "make_workplace"]


@pytest.fixture
def place(make_workplace: object, cli: Cli) -> Path:
    work: Workplace = make_workplace("http://127.0.0.1:9/v1")  # type: ignore[operator]
    work.write_traces(2)
    assert cli("init").code == 0
    assert cli("import", "traces.jsonl").code == 0
    return work.folder


def requests(place: Path, cli: Cli) -> list[dict[str, object]]:
    done = cli("judge", "--rubric", "./politeness", "--batch-out", "asked.jsonl")
    assert done.code == 0, done.err
    text = (place / "asked.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("text", ["", "no json\n", '{"messages": []}\n[]\n'])
def test_a_file_without_results_is_told(place: Path, cli: Cli, text: str) -> None:
    (place / "other.jsonl").write_text(text, encoding="utf-8")
    refused = cli("judge", "--rubric", "./politeness", "--batch-in", "other.jsonl")
    assert refused.code == 2
    assert "other.jsonl holds no result lines" in refused.sentence


def test_results_of_something_else_are_told(place: Path, cli: Cli) -> None:
    lines = [{"custom_id": "mine-1", "response": {"status_code": 200, "body": {}}}, 7]
    write_lines(place / "other.jsonl", lines)
    refused = cli("judge", "--rubric", "./politeness", "--batch-in", "other.jsonl")
    assert refused.code == 2
    assert "none of the 2 lines of other.jsonl belongs to a judge of ./politeness" in (
        refused.sentence
    )


def test_one_line_that_belongs_is_enough(place: Path, cli: Cli) -> None:
    asked = requests(place, cli)
    write_lines(place / "mixed.jsonl", [7, {"custom_id": asked[0]["custom_id"], "error": "late"}])
    done = cli("judge", "--rubric", "./politeness", "--batch-in", "mixed.jsonl")
    assert done.code == 0, done.err
    assert "1 were not answered and stay owed (1 late)" in done.out
