"""``labelkit import`` of folders of exchanges: whatever lies there is read or told, with its code.

Exit code 2 is for what whoever imports can mend and what kept the work from being done; a broken
record, also one that is a file of its own, is told in the account and the code is 0.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from labelkit.formats.reader import ReadOptions
from labelkit.store import Store
from labelkit.store.reports import counts
from labelkit.workflows.ingest import import_file
from tests.acceptance.inprocess import Cli, cli
from tests.formats.writing import write_lines

__all__ = ["cli"]

ANSWER = {
    "choices": [{"message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1},
}
LINE = {"model": "m", "messages": [{"role": "assistant", "content": "a"}]}
posix = pytest.mark.skipif(os.name == "nt", reason="no such files there")


@pytest.fixture
def folder(tmp_path: Path, cli: Cli) -> Path:
    """Three exchanges in two files each, in a place whose store is ready."""
    assert cli("init").code == 0
    made = tmp_path / "runs"
    made.mkdir()
    for number in range(3):
        pair(made, number)
    return made


def pair(folder: Path, number: int, answer: Any = ANSWER, status: int = 200) -> None:
    said = [{"role": "user", "content": f"question {number}"}]
    asked = {"model": "m", "messages": said}
    (folder / f"{number:02}.request.json").write_text(json.dumps(asked), encoding="utf-8")
    name = f"{number:02}.response.{status}.json"
    (folder / name).write_text(json.dumps(answer), encoding="utf-8")


def traces_in(place: Path) -> int:
    with Store.open(f"sqlite:///{place / 'labelkit.db'}") as store:
        return counts(store).traces


def test_a_good_folder_is_one_line_per_exchange(folder: Path, cli: Cli, tmp_path: Path) -> None:
    done = cli("import", "runs")
    assert (done.code, traces_in(tmp_path)) == (0, 3)
    lines = done.out.splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        os.path.join("runs", f"0{n}.request.json")  # noqa: PTH118 - as it is shown
        for n in range(3)
    ]
    again = cli("import", "runs")
    assert "traces 0 new, 1 known" in again.out
    assert traces_in(tmp_path) == 3
    # Named itself, a response is read with its request as ever.
    assert "traces 0 new, 1 known" in cli("import", "runs/01.response.200.json").out


def test_a_broken_exchange_is_told_and_no_error(folder: Path, cli: Cli, tmp_path: Path) -> None:
    (folder / "01.response.200.json").write_text('{"choices": [', encoding="utf-8")
    done = cli("import", "runs")
    assert (done.code, traces_in(tmp_path)) == (0, 2)
    (told,) = [line for line in done.out.splitlines() if line.startswith("left out")]
    assert "01.request.json" in told
    assert "not valid JSON" in told
    assert "in the response file" in told
    named = cli("import", "runs/01.request.json")
    assert named.code == 2
    assert "in the response file" in named.sentence


@pytest.mark.parametrize(("gone", "said"), [("response.200", "response"), ("request", "request")])
def test_half_an_exchange_is_told(
    folder: Path, cli: Cli, tmp_path: Path, gone: str, said: str
) -> None:
    (folder / f"01.{gone}.json").unlink()
    done = cli("import", "runs")
    assert (done.code, traces_in(tmp_path)) == (0, 2)
    assert f"there is no {said} file beside it" in done.out


def test_several_responses_to_one_request_are_told(folder: Path, cli: Cli) -> None:
    pair(folder, 1, {"error": {"message": "slow down"}}, status=429)
    done = cli("import", "runs")
    assert done.code == 0
    assert "of several responses only 01.response.200.json was read" in " ".join(done.out.split())


def test_nothing_good_in_a_folder_is_an_error(folder: Path, cli: Cli, tmp_path: Path) -> None:
    for path in folder.iterdir():
        path.write_text("{", encoding="utf-8")
    (folder / "notes.txt").write_text("hello", encoding="utf-8")
    done = cli("import", "runs")
    assert (done.code, traces_in(tmp_path)) == (2, 0)
    assert done.sentence.startswith("no file in the folder could be read (tried")
    assert done.err.count("not valid JSON") == 3


def test_empty_and_foreign_folders(folder: Path, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    empty = cli("import", "empty")
    assert (empty.code, "empty is a folder without files" in empty.sentence) == (2, True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").write_text("hello", encoding="utf-8")
    write_lines(tmp_path / "other" / "b.json", [{"x": 1}])
    other = cli("import", "other")
    assert other.code == 2
    assert "no file in the folder is in a known format (tried other" in other.sentence


@posix
def test_links_are_followed_once_and_dead_ones_told(folder: Path, cli: Cli, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    pair(elsewhere, 7)
    (folder / "more").symlink_to(elsewhere)
    (folder / "again").symlink_to(elsewhere)
    (folder / "up").symlink_to(folder)
    (elsewhere / "back").symlink_to(tmp_path / "runs")
    done = cli("import", "runs")
    assert (done.code, traces_in(tmp_path)) == (0, 4), done.err
    assert done.out.count("07.request.json") == 1
    (folder / "dead.json").symlink_to(tmp_path / "nothing")
    (folder / "self.json").symlink_to("self.json")
    dead = cli("import", "runs")
    assert (dead.code, traces_in(tmp_path)) == (2, 4)
    assert "2 of 6 files could not be read" in dead.sentence
    assert dead.err.count("leads to no file") == 2


@posix
def test_a_pipe_is_refused_and_never_waited_for(folder: Path, cli: Cli, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe.jsonl")
    os.mkfifo(folder / "09.response.200.json")
    (folder / "09.request.json").write_text('{"messages": []}', encoding="utf-8")
    done = cli("import", "runs")
    assert (done.code, traces_in(tmp_path)) == (2, 3)
    assert "pipe.jsonl is a pipe or a device" in done.err
    assert "there is no response file beside it" in done.out
    named = cli("import", "runs/pipe.jsonl")
    assert named.code == 2
    assert "write what comes out of it to a file" in named.sentence


def test_packed_traces_are_refused_with_how_to_unpack(
    folder: Path, cli: Cli, tmp_path: Path
) -> None:
    line = json.dumps(LINE) + "\n"
    (folder / "t.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    with zipfile.ZipFile(folder / "t.zip", "w") as archive:
        archive.writestr("t.jsonl", line)
    done = cli("import", "runs")
    assert (done.code, traces_in(tmp_path)) == (2, 3)
    assert "unpack it with `gunzip` first" in done.err
    assert "unpack it first and name a file inside" in done.err
    assert "2 of 5 files could not be read" in done.sentence


AS_NOBODY = """
import os, sys
from pathlib import Path
from labelkit.workflows.import_paths import files_below
from labelkit.formats.registry import sniff_format
from labelkit.errors import FormatError
os.setuid(65534)
for found in files_below([Path(sys.argv[1])], None):
    try:
        print(found.error or sniff_format(found.path).name)
    except FormatError as error:
        print(error)
"""


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
def test_what_may_not_be_read_is_told() -> None:
    with TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)  # the folders of the tests are closed to other users
        write_lines(folder / "secret.jsonl", [LINE]).chmod(0)
        (folder / "closed").mkdir(mode=0)
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, made],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        )
    told = done.stdout
    assert "secret.jsonl cannot be read (Permission denied); check its name and rights" in told
    assert "closed cannot be listed (Permission denied); check its rights" in told


def test_a_file_that_grows_or_shrinks_while_it_is_read_is_told(tmp_path: Path) -> None:
    """What was whole when it was read is kept; a second import brings the rest."""
    path = tmp_path / "live.jsonl"
    said = [{"role": "assistant", "content": "x" * 9000}]
    write_lines(path, [{"model": "m", "messages": said, "repeat": n} for n in range(900)])

    class Growing:
        """Hears of the first chunk, and writes to the file then."""

        def begin(self, stage: str, total: int | None) -> None: ...

        def advance(self, stage: str, done: int = 1) -> None:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(LINE | {"repeat": 900 + self.added}) + "\n")
            self.added += 1

        def end(self, stage: str) -> None: ...

        added = 0

    with Store.open(f"sqlite:///{tmp_path / 'a.db'}", create=True) as store:
        done = import_file(
            store,
            path,
            options=ReadOptions(),
            progress=Growing(),
            processes=1,  # type: ignore[arg-type]
        )
        assert "the file changed while it was read" in done.losses.lines[-1].what
        assert done.traces_new >= 900
        calm = import_file(store, path)
        assert calm.losses.clean
        assert counts(store).traces == len(path.read_text(encoding="utf-8").splitlines())
