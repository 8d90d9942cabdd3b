"""``labelkit import``: several files, a folder, and what is said about those that failed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.acceptance.conftest import Workplace, make_workplace
from tests.acceptance.inprocess import Cli, cli
from tests.formats.writing import write_lines

__all__ = ["cli", "make_workplace"]

SAID = {"model": "m", "messages": [{"role": "assistant", "content": "a"}]}


@pytest.fixture
def place(make_workplace: object, cli: Cli, tmp_path: Path) -> Path:
    work: Workplace = make_workplace("http://127.0.0.1:9/v1")  # type: ignore[operator]
    assert cli("init").code == 0
    return work.folder


def test_one_unreadable_file_is_the_error_and_the_others_are_read(place: Path, cli: Cli) -> None:
    write_lines(place / "a.jsonl", [SAID])
    write_lines(place / "c.jsonl", [SAID | {"repeat": 1}])
    outcome = cli("import", "a.jsonl", "b.jsonl", "c.jsonl")
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].startswith("labelkit: b.jsonl does not exist")
    assert "c.jsonl: openai-chat; traces 1 new" in outcome.out


def test_several_unreadable_files_are_all_named_with_their_reasons(place: Path, cli: Cli) -> None:
    write_lines(place / "a.jsonl", [SAID])
    (place / "e.jsonl").write_bytes(b"")
    outcome = cli("import", "b.jsonl", "a.jsonl", "e.jsonl")
    assert outcome.code == 2
    lines = outcome.err.splitlines()
    assert lines[-1].startswith("labelkit: 2 of 3 files could not be read: b.jsonl, e.jsonl;")
    assert any("b.jsonl does not exist" in line for line in lines)
    assert any("e.jsonl is empty" in line for line in lines)


def test_foreign_files_of_a_folder_are_named_in_passing(place: Path, cli: Cli) -> None:
    (place / "runs").mkdir()
    write_lines(place / "runs" / "a.jsonl", [SAID])
    (place / "runs" / "notes.txt").write_text("x", encoding="utf-8")
    outcome = cli("import", "runs")
    assert outcome.code == 0
    assert f"left out, in no known format: runs{os.sep}notes.txt" in outcome.out
    (place / "runs" / "a.jsonl").unlink()
    nothing = cli("import", "runs")
    assert nothing.code == 2
    assert "no file in the folder is in a known format" in nothing.sentence


def test_a_wrong_format_name_is_said_once_and_before_anything(place: Path, cli: Cli) -> None:
    outcome = cli("import", "a.jsonl", "b.jsonl", "--format", "nope")
    assert outcome.code == 2
    assert "there is no format 'nope'" in outcome.err.splitlines()[-1]


def test_again_keeps_both_names(place: Path, cli: Cli) -> None:
    write_lines(place / "a.jsonl", [SAID])
    assert cli("import", "a.jsonl").code == 0
    refused = cli("import", "a.jsonl", "--model", "n")
    assert refused.code == 2
    assert "model 'm', now 'n'" in refused.err
    assert "traces 1 new" in cli("import", "a.jsonl", "--model", "n", "--again").out
