"""An import over several processes: the same store and account, and no child stays behind."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from labelkit.errors import FormatError
from labelkit.formats.reader import ReadOptions
from labelkit.formats.registry import read_file
from labelkit.store import Store
from labelkit.store.tables import TASK, TRACE, TRACE_BODY
from labelkit.workflows import children, import_parts, ingest
from labelkit.workflows.children import Child
from labelkit.workflows.import_parts import Parts
from labelkit.workflows.ingest import Imported, import_file
from tests.acceptance.inprocess import Cli, cli
from tests.formats.test_parts import LINES, row, told, tools, write

__all__ = ["cli"]

OPTIONS = ReadOptions(texts=True)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few lines, and children are waited for, as where pipes cannot be looked into."""
    monkeypatch.setattr(import_parts, "PART_BYTES", 500)
    monkeypatch.setattr(children, "ready", lambda _child: True)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    lines = [
        json.dumps(row(task_id=str(n % 7), repeat=n, tools=tools(f"f{n % 3}"))).encode()
        for n in range(80)
    ]
    return write(tmp_path / "many.jsonl", [*lines, *LINES, *lines])


def held(store: Store) -> list[list[Any]]:
    """Every row of an import but the time of it."""
    found = []
    with store.reading() as connection:
        for table in (TASK, TRACE, TRACE_BODY):
            columns = [column for column in table.c if column.name != "imported_at"]
            rows = connection.execute(select(*columns).order_by(columns[0]))
            found.append([tuple(one) for one in rows])
    return found


@pytest.mark.usefixtures("small_parts")
def test_two_processes_make_the_store_and_the_account_of_one(many: Path, tmp_path: Path) -> None:
    done: list[Imported] = []
    stores = []
    for processes in (1, 2, 3):
        with Store.open(f"sqlite:///{tmp_path / f'{processes}.db'}", create=True) as store:
            done.append(import_file(store, many, processes=processes))
            again = import_file(store, many, processes=processes)
            assert (again.traces_new, again.tasks_new) == (0, 0)
            assert again.losses == done[0].losses
            stores.append(held(store))
    assert done[1] == done[0] == done[2]
    assert stores[1] == stores[0] == stores[2]
    assert done[0].traces_new > 80
    assert done[0].losses.broken > 10


@pytest.mark.usefixtures("small_parts")
def test_children_answer(many: Path) -> None:
    with Parts(2) as parts:
        reading = read_file(many, options=OPTIONS, through=parts.read)
        (child,) = _first(reading.written(), parts)
        answered = told(reading)
        assert child.process.poll() is None
    assert child.process.poll() is not None
    assert answered[2] == _whole(many)[2]


def _first(stream: Any, parts: Parts) -> list[Child]:
    next(stream)
    return list(parts._children)


def _whole(path: Path) -> tuple[Any, ...]:
    return told(read_file(path, options=OPTIONS))


@pytest.mark.usefixtures("small_parts")
def test_a_file_without_a_record_is_refused_alike(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"messages": 1}\n' * 100)
    said = []
    for processes in (1, 2):
        with (
            Store.open(f"sqlite:///{tmp_path / f'{processes}.db'}", create=True) as store,
            pytest.raises(FormatError, match="no record could be read") as caught,
        ):
            import_file(store, path, processes=processes)
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.usefixtures("small_parts")
def test_killed_children_lose_nothing(many: Path) -> None:
    whole = _whole(many)
    with Parts(3) as parts:
        reading = read_file(many, options=OPTIONS, through=parts.read)
        stream = reading.written()
        items = [next(stream)]
        assert len(parts._children) == 2
        for child in parts._children:
            child.process.kill()
        items += stream
    assert items == whole[0]
    assert reading.report == whole[2]


@pytest.mark.usefixtures("small_parts")
def test_children_that_cannot_be_started_are_done_without(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_program: str) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(import_parts, "Child", refuse)
    with Parts(2) as parts:
        assert told(read_file(many, options=OPTIONS, through=parts.read)) == _whole(many)


@pytest.mark.usefixtures("small_parts")
def test_children_that_never_come_up_are_done_without(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_parts, "_PROGRAM", "raise SystemExit(3)")
    with Parts(3) as parts:
        assert told(read_file(many, options=OPTIONS, through=parts.read)) == _whole(many)


def test_parts_are_read_here_until_a_child_is_up(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_parts, "PART_BYTES", 500)
    monkeypatch.setattr(import_parts, "_PROGRAM", "import time; time.sleep(600)")
    with Parts(2) as parts:
        assert told(read_file(many, options=OPTIONS, through=parts.read)) == _whole(many)
        (child,) = parts._children
        assert child.process.poll() is None
    assert child.process.poll() is not None


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[str]:
    """Count the calls of a function, which still does its work."""
    calls: list[str] = []
    function = getattr(owner, name)

    def called(*arguments: Any) -> Any:
        calls.append(name)
        return function(*arguments)

    monkeypatch.setattr(owner, name, called)
    return calls


def test_parts_read_here_and_there_are_in_order(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is ready when: every third look finds an answer."""
    looks = itertools.cycle([False, True, False])
    monkeypatch.setattr(import_parts, "PART_BYTES", 500)
    monkeypatch.setattr(children, "ready", lambda _child: next(looks))
    here = counted(monkeypatch, import_parts, "_here")
    with Parts(3) as parts:
        assert told(read_file(many, options=OPTIONS, through=parts.read)) == _whole(many)
    assert 0 < len(here) < many.stat().st_size // 500


def test_a_large_file_is_written_once_and_is_the_same(
    many: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = counted(monkeypatch, Store, "filling")
    monkeypatch.setattr(ingest, "CHUNK", 10)
    stores = []
    for large, place in ((10**9, f"sqlite:///{tmp_path / 'small.db'}"), (100, url)):
        monkeypatch.setattr(import_parts, "LARGE_BYTES", large)
        with Store.open(place, create=True) as store:
            import_file(store, many, processes=1)
            # PostgreSQL uses up ids for what is known.
            stores.append([[row[1:] for row in table] for table in held(store)])
    assert len(filled) == 1
    assert stores[0] == stores[1]


@pytest.mark.usefixtures("small_parts")
def test_a_bug_is_met_here_and_not_in_a_child(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that cannot answer says so; this process then reads the part itself."""
    program = (
        "from labelkit.workflows import import_worker as w\n"
        "def broken(*_): raise RuntimeError('a bug')\n"
        "w.read_part = broken\n"
        "w.work()"
    )
    monkeypatch.setattr(import_parts, "_PROGRAM", program)
    with Parts(2) as parts:
        assert told(read_file(many, options=OPTIONS, through=parts.read)) == _whole(many)


@pytest.mark.usefixtures("small_parts")
def test_leaving_early_ends_every_child(many: Path) -> None:
    parts = Parts(3)

    def interrupted() -> None:
        with parts:
            next(read_file(many, options=OPTIONS, through=parts.read).written())
            started.extend(parts._children)
            raise KeyboardInterrupt

    started: list[Child] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert len(started) == 2
    assert all(child.process.poll() is not None for child in started)


def test_small_files_and_one_process_start_no_child(
    many: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_program: str) -> None:
        pytest.fail("a child was started")

    monkeypatch.setattr(import_parts, "Child", refuse)
    monkeypatch.setattr(import_parts, "cores", lambda: 8)
    assert many.stat().st_size < import_parts.LARGE_BYTES
    assert import_file(store, many).traces_new > 80
    monkeypatch.setattr(import_parts, "PART_BYTES", 500)
    import_file(store, many)
    import_file(store, many, processes=1)


def test_large_files_take_every_core(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_parts, "LARGE_BYTES", 100)
    for cores, children_of in ((1, 0), (2, 1), (3, 2), (64, import_parts.MOST_CHILDREN)):
        monkeypatch.setattr(import_parts, "cores", lambda cores=cores: cores)
        assert Parts()._count(many) == children_of
    assert Parts()._count(many.with_name("missing")) == 0


def test_the_command_says_how_many_processes(
    many: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int | None] = []

    class Seen(Parts):
        def __init__(self, processes: int | None = None) -> None:
            asked.append(processes)
            super().__init__(processes)

    monkeypatch.setattr(ingest, "Parts", Seen)
    first = cli("import", str(many), "--processes", "2")
    again = cli("import", str(many))
    assert (first.code, again.code) == (0, 0)
    assert asked == [2, None]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_import_leaves_no_child_and_is_completed_by_a_second_one(
    many: Path, tmp_path: Path, how: signal.Signals
) -> None:
    root = Path(__file__).resolve().parents[2]
    script = textwrap.dedent(
        """
        import signal, sys, time
        from labelkit.store import Store
        from labelkit.workflows import children, import_parts, ingest
        import_parts.PART_BYTES, ingest.CHUNK = 500, 10
        children.ready = lambda child: True

        # What a shell runs in the background ignores Ctrl-C, and so would what we start.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        class Slow:
            def begin(self, *_): pass
            def end(self, *_): pass
            def advance(self, *_):
                for child in parts[0]._children:
                    print(child.process.pid, flush=True)
                time.sleep(600)

        parts = []
        class Seen(import_parts.Parts):
            def __init__(self, *rest):
                super().__init__(*rest)
                parts.append(self)

        ingest.Parts = Seen
        with Store.open("sqlite:///s.db", create=True) as store:
            ingest.import_file(store, sys.argv[1], processes=2, progress=Slow())
        """
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(many)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(how)
        try:
            parent.wait(30)
        finally:
            parent.kill()
    for _ in range(300):
        if not _alive(child):
            break
        time.sleep(0.1)
    assert not _alive(child)
    with (
        Store.open(f"sqlite:///{tmp_path / 's.db'}") as stopped,
        Store.open(f"sqlite:///{tmp_path / 'whole.db'}", create=True) as whole,
    ):
        import_file(stopped, many)
        import_file(whole, many)
        assert held(stopped) == held(whole)


def _alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
