"""What can befall a release: a changed character anywhere, a killed run, a disk that refuses."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from labelkit.domain.message import Message
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Sample
from labelkit.errors import InputError
from labelkit.store import Store
from labelkit.store.raters import add_rubric, rubrics
from labelkit.store.terms import note_terms
from labelkit.store.traces import add_traces
from labelkit.workflows.release import export as export_module
from labelkit.workflows.release import tables
from labelkit.workflows.release.checksums import files_of
from labelkit.workflows.release.export import Exported, Wanted, export
from labelkit.workflows.release.placing import whole_file, whole_folder
from labelkit.workflows.release.verify import verify
from labelkit.workflows.release.working_place import MARK, clear_leftovers
from tests.workflows.release.building import MAY, bytes_of
from tests.workflows.review import desk

Released = tuple[Exported, Rubric, Sample]


def test_one_changed_byte_is_located_in_every_file(released: Released) -> None:
    """At random places; a table names the line, and the file is named whatever is changed."""
    folder = released[0].folder
    chance = random.Random(7)
    names = files_of(folder)
    assert len(names) > 25
    for name in names:
        path = folder / name
        whole = path.read_bytes()
        at = chance.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        faults = verify(folder).faults
        assert any(fault.file == name for fault in faults), (name, at, faults)
        if name.endswith(".jsonl"):
            line = whole[:at].count(b"\n") + 1
            places = {fault.place for fault in faults if fault.file == name}
            # A line end that is changed joins a line with the next one, or ends the file early.
            assert f"line {line}" in places, (name, at, faults)
        path.write_bytes(whole)
    assert verify(folder).faults == ()


def told(folder: Path) -> bool:
    """Whether something is said: faults, or a sentence that names the file that cannot be read."""
    try:
        return bool(verify(folder).faults)
    except InputError as refused:
        return "SHA256SUMS" in str(refused)


def test_every_form_of_harm_to_the_sums_is_told(released: Released) -> None:
    folder = released[0].folder
    path = folder / "SHA256SUMS"
    whole = path.read_text(encoding="utf-8")
    chance = random.Random(11)
    for _ in range(6):
        at = chance.randrange(len(whole))
        path.write_text(whole[:at] + "~" + whole[at + 1 :], encoding="utf-8")
        assert told(folder), at


def test_a_table_cut_or_lengthened_is_located(released: Released) -> None:
    folder = released[0].folder
    path = folder / "labels.jsonl"
    whole = path.read_bytes()
    rows = whole.splitlines(keepends=True)
    for bad, line in (
        (b"".join(rows[:-1]), len(rows)),
        (whole + rows[0], len(rows) + 1),
        (whole[:-1], len(rows)),
        (b"".join([*rows[:2], rows[3], rows[2], *rows[4:]]), 3),
        (b"\xff" + whole, 1),
        (b"", 1),
    ):
        path.write_bytes(bad)
        faults = [f for f in verify(folder).faults if f.file == "labels.jsonl"]
        assert f"line {line}" in {f.place for f in faults}, (line, faults)
    path.write_bytes(whole)
    traces = folder / "traces.parquet"
    traces.write_bytes((folder / "labels.parquet").read_bytes())
    assert any(f.file == "traces.parquet" for f in verify(folder).faults)


SLOW_EXPORT = """
import sys, time
from pathlib import Path
from labelkit.store import Store
from labelkit.store.raters import add_rubric, rubrics
from labelkit.store.terms import note_terms
from labelkit.store.traces import add_traces
from labelkit.workflows.release import export as module
real = module.write_sums
def slow(folder):
    print("nearly done", flush=True)
    time.sleep(60)
    real(folder)
module.write_sums = slow
with Store.open(sys.argv[1]) as store:
    module.export(store, rubrics(store)[0], Path(sys.argv[2]))
"""


def started(source: Path, out: Path) -> subprocess.Popen[bytes]:
    """An export in a process of its own that waits before its last step."""
    running = subprocess.Popen(
        [sys.executable, "-c", SLOW_EXPORT, f"sqlite:///{source}", str(out)],
        cwd=Path(__file__).resolve().parents[3],
        stdout=subprocess.PIPE,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"nearly done\n"
    return running


def killed(running: subprocess.Popen[bytes]) -> None:
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert running.stdout is not None
    running.stdout.close()


def test_a_running_export_s_folder_and_strangers_folders_are_left_alone(
    source: Store, tmp_path: Path
) -> None:
    out = tmp_path / "rel"
    running = started(tmp_path / "source.db", out)
    (own,) = tmp_path.glob(".rel-*")
    said = json.loads((own / MARK).read_text(encoding="utf-8"))
    strangers = {
        "no mark": None,
        "other-ho": {**said, "host": "elsewhere"},
        "othr out": {**said, "out": b"rel2".hex()},
        "damaged_": "{",
    }
    for name, mark in strangers.items():
        folder = tmp_path / f".rel-{name.replace(' ', '_').ljust(8, '_')}"
        folder.mkdir()
        (folder / "precious").write_text("x", encoding="utf-8")
        if mark is not None:
            text = mark if isinstance(mark, str) else json.dumps(mark)
            (folder / MARK).write_text(text, encoding="utf-8")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / MARK).write_text(json.dumps(said), encoding="utf-8")
    (tmp_path / ".rel-a_link__").symlink_to(tmp_path / "linked")
    there = set(tmp_path.glob(".rel-*"))
    assert len(there) == 6
    assert clear_leftovers(out) == ()
    assert set(tmp_path.glob(".rel-*")) == there
    killed(running)
    assert clear_leftovers(out) == (own.name,)
    assert set(tmp_path.glob(".rel-*")) == there - {own}
    assert (tmp_path / "linked" / MARK).exists()


def test_a_killed_export_leaves_nothing_under_the_asked_name(source: Store, tmp_path: Path) -> None:
    out = tmp_path / "rel"
    killed(started(tmp_path / "source.db", out))
    assert not out.exists()
    (left,) = tmp_path.glob(".rel-*")
    again = export(source, rubrics(source)[0], out)
    assert again.cleared == (left.name,)
    assert not left.exists()
    assert verify(again.folder).faults == ()


def half(path: Path, fails: Callable[[], None]) -> None:
    with whole_file(path) as file:
        file.write("half")
        fails()


def test_a_disk_that_refuses_is_told_and_leaves_nothing(
    made: tuple[Path, Exported, Rubric, Sample],
    source: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = set(tmp_path.iterdir())
    monkeypatch.setattr(export_module, "write_sums", full)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        export(source, made[2], tmp_path / "deep" / "rel")
    assert list((tmp_path / "deep").iterdir()) == []
    with pytest.raises(InputError, match="cannot be written"):
        export(source, made[2], Path("/proc/rel"))
    with pytest.raises(InputError, match="cannot be written"):
        half(tmp_path / "f", full)
    assert set(tmp_path.iterdir()) == {*before, tmp_path / "deep"}


def test_an_empty_folder_may_be_the_target_and_a_file_may_not(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with whole_folder(tmp_path / "empty") as folder:
        (folder / "x").write_text("x", encoding="utf-8")
    assert (tmp_path / "empty" / "x").read_text(encoding="utf-8") == "x"
    for name in ("empty", "empty/x"):
        with pytest.raises(InputError, match="exists already"), whole_folder(tmp_path / name):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_a_payload_of_5_mb_goes_out_and_comes_in_whole(tmp_path: Path) -> None:
    """Also where an address lies across the place at which a long text is cut."""
    filler = "word " * 1_000_000
    payload = filler[:19_990] + " jane.doe@example.org " + filler
    rubric = desk.rubric()
    with Store.open(f"sqlite:///{tmp_path / 'a.db'}", create=True) as store:
        add_rubric(store, rubric)
        said = (Message(role="tool", content=payload), Message(role="assistant", content="ok"))
        traces = [desk.trace(1, messages=said)]
        add_traces(store, traces)
        desk.judge(store, traces, ["good"])
        note_terms(store, MAY)
        wanted = Wanted(accept_findings=True)
        done = export(store, rubric, tmp_path / "out", wanted=wanted)
    assert done.scan.counts == {"e-mail": 1}
    assert verify(done.folder).faults == ()
    (row,) = tables.read_table(done.folder, "traces")
    assert json.loads(row["body"])["messages"][0]["content"] == payload


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="no time zones to set there")
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/St_Johns"])
def test_the_time_zone_of_the_machine_changes_no_byte(
    made: tuple[Path, Exported, Rubric, Sample],
    source: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    zone: str,
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        there = export(source, made[2], tmp_path / "there")
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    assert bytes_of(there.folder) == bytes_of(made[1].folder)
