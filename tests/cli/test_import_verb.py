"""``labelkit import``: several files, a folder, and what is said about those that failed."""

from __future__ import annotations

import json
import os
import re
import shutil
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


def test_a_table_of_ratings_becomes_a_dossier_and_a_release_with_two_commands(
    place: Path, cli: Cli
) -> None:
    """The coefficient of the store's labels is that of the table itself."""
    rows = [(f"s{n}", *("abc"[(n * k) % 3] for k in (1, 2, 4))) for n in range(30)]
    lines = ["subject,rater1,rater2,rater3", *(",".join(row) for row in rows)]
    (place / "mine.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    imported = cli("import", "mine.csv")
    assert imported.code == 0
    assert "labels 90 new, 0 known" in imported.out
    assert "labelkit export ./mine OUT/" in imported.out
    exported = cli("export", "./mine", "out")
    assert exported.code == 0, exported.err
    results = json.loads((place / "out" / "results.json").read_text("utf-8"))
    assert "agreement" in json.dumps(results)
    assert cli("verify", "out").code == 0
    agreed = cli("agree", "--rubric", "./mine")
    alone = cli("agree", "mine.csv")
    kappa = r"Fleiss' kappa +│ +(-?[0-9.]+)"
    assert re.search(kappa, agreed.out) is not None
    assert re.findall(kappa, agreed.out)[0] == re.findall(kappa, alone.out)[0]
    assert "labels 0 new, 90 known" in cli("import", "mine.csv").out


def test_ratings_of_an_own_rubric_and_columns_by_name(place: Path, cli: Cli) -> None:
    (place / "r.csv").write_text("what,who,said\nx,ann,polite\nx,bot,rude\n", encoding="utf-8")
    outcome = cli(
        "import", "r.csv", "--rubric", "politeness", "--question", "tone", "--format", "ratings",
        "--item", "what", "--rater", "who", "--label", "said", "--judges", "bot",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert "labels 2 new" in outcome.out
    wrong = cli("import", "r.csv", "--format", "ratings", "--item", "nope")
    assert wrong.code == 2
    assert "no column 'nope'" in wrong.sentence


@pytest.mark.parametrize(
    ("labels", "more", "told"),
    [
        ("123", (), True),
        ("123", ("--ordinal",), False),
        ("101", (), False),
        ("abc", (), False),
        ("12c", (), False),
    ],
)
def test_numbers_that_were_read_without_order_are_told(
    place: Path, cli: Cli, labels: str, more: tuple[str, ...], told: bool
) -> None:
    rows = [f"s{n},{labels[n % 3]},{labels[n // 3 % 3]}" for n in range(9)]
    (place / "r.csv").write_text("\n".join(["subject,rater1,rater2", *rows]), encoding="utf-8")
    done = cli("import", "r.csv", *more)
    assert done.code == 0, done.err
    assert ("r.csv: numbers, read as unordered labels" in done.out) is told
    if told:
        shutil.rmtree(place / "r")
        assert "unordered" not in cli("import", "r.csv", "--ordinal").out


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_a_line_end_in_a_name_makes_no_line(place: Path, cli: Cli) -> None:
    write_lines(place / "a\nlabelkit: fine.jsonl", [SAID])
    done = cli("import", "a\nlabelkit: fine.jsonl")
    assert done.code == 0, done.err
    assert r"a\nlabelkit: fine.jsonl: openai-chat; traces 1 new" in done.out
    assert not any(line.startswith("labelkit") for line in (done.out + done.err).splitlines())


def test_progress_has_no_line_for_a_number_that_is_not_known(place: Path, cli: Cli) -> None:
    write_lines(place / "a.jsonl", [SAID])
    done = cli("import", "a.jsonl")
    assert "import a.jsonl: 1" in done.err
    assert "rows to do" not in done.err
