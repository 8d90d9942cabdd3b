"""A large import takes SQLite's older journal; whoever comes meanwhile, and after a crash, is fine.

Other programs are real processes here: locks of one process do not show between its connections.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from labelkit.errors import StoreError
from labelkit.store import Store, reports, traces
from tests.conftest import ROOT
from tests.store.values import make_trace

VISITOR = """
import sys
from labelkit.store import Store, reports, traces
from tests.store.values import make_trace
for turn in range(int(sys.argv[2])):
    with Store.open(sys.argv[1]) as store:
        known = reports.counts(store).traces
        traces.add_traces(store, [make_trace(100_000 + turn)])
        assert reports.counts(store).traces > known
print(known, flush=True)
"""
KILLED = """
import sys
from sqlalchemy import text
from labelkit.store import Store, traces
from tests.store.values import make_trace
with Store.open(sys.argv[1]) as store, store.filling():
    traces.add_traces(store, [make_trace(n) for n in range(5)])
    with store.writing() as connection:
        connection.exec_driver_sql("PRAGMA cache_size = 10")  # the file is written to at once
        connection.execute(text("UPDATE meta SET secret = 'lost'"))
        for n in range(300):
            connection.execute(
                text("INSERT INTO task_set VALUES (NULL, :n, '', '', '')"),
                {"n": f"{n}" * 3000},
            )
        print("ready", flush=True)
        sys.stdin.read()
"""


def python(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        text=True,
        encoding="utf-8",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def pragma(store: Store, name: str) -> object:
    with store.reading() as connection:
        return connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()


def has_log(path: Path) -> bool:
    """Whether a file says that it has a write-ahead log: byte 18 of the format of SQLite."""
    with path.open("rb") as file:
        return file.read(19)[18] == 2


@pytest.fixture
def lite(sqlite_url: str) -> Iterator[Store]:
    with Store.open(sqlite_url, create=True) as opened:
        yield opened


def test_the_journal_is_taken_for_the_block_and_given_back(lite: Store) -> None:
    before = [pragma(lite, name) for name in ("journal_mode", "synchronous", "cache_size")]
    assert before[:2] == ["wal", 1]
    with lite.filling():
        assert [pragma(lite, name) for name in ("journal_mode", "synchronous")] == ["delete", 2]
        traces.add_traces(lite, [make_trace()])
        assert traces.trace(lite, make_trace().digest) == make_trace()
    assert before == [pragma(lite, name) for name in ("journal_mode", "synchronous", "cache_size")]
    assert pragma(lite, "busy_timeout") == 30_000


def test_it_is_given_back_after_an_error(lite: Store) -> None:
    def fail() -> None:
        with lite.filling():
            traces.add_traces(lite, [make_trace()])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert pragma(lite, "journal_mode") == "wal"
    assert reports.counts(lite).traces == 1


def test_a_block_works_on_every_database(store: Store) -> None:
    with store.filling():
        for number in range(5):
            assert traces.add_traces(store, [make_trace(number)]).new == 1
            assert reports.counts(store).traces == number + 1
    assert traces.add_traces(store, [make_trace(number) for number in range(6)]).known == 5


def test_a_store_that_others_have_open_keeps_the_log(lite: Store, sqlite_url: str) -> None:
    with Store.open(sqlite_url) as other:
        assert reports.counts(other).traces == 0
        with lite.filling():
            assert pragma(lite, "journal_mode") == "wal"
            traces.add_traces(lite, [make_trace()])
            assert pragma(lite, "synchronous") == 1  # and the commit is done
            assert reports.counts(other).traces == 1


def test_who_opens_the_store_meanwhile_brings_the_log_back(
    lite: Store, sqlite_url: str, tmp_path: Path
) -> None:
    with lite.filling():
        assert not has_log(tmp_path / "store.db")
        traces.add_traces(lite, [make_trace()])
        assert reports.counts(lite).traces == 1
        visitor = python(VISITOR, sqlite_url, "1")
        said, errors = visitor.communicate(timeout=60)
        assert (said, errors) == ("1\n", "")
        assert has_log(tmp_path / "store.db")
        traces.add_traces(lite, [make_trace(1)])
    assert reports.counts(lite).traces == 3
    assert pragma(lite, "journal_mode") == "wal"


def test_many_visitors_while_an_import_writes(lite: Store, sqlite_url: str) -> None:
    """The import takes the journal again and again, each visit takes it away."""
    visitor = python(VISITOR, sqlite_url, "12")
    number = 0
    while visitor.poll() is None:
        with lite.filling():
            for _ in range(20):
                traces.add_traces(lite, [make_trace(number)])
                number += 1
    said, errors = visitor.communicate()
    assert errors == ""
    assert int(said) >= 11
    assert reports.counts(lite).traces == number + 12
    assert pragma(lite, "journal_mode") == "wal"
    assert pragma(lite, "integrity_check") == "ok"


def test_a_reader_without_the_right_to_write_reads_meanwhile(lite: Store, tmp_path: Path) -> None:
    read_only = f"sqlite:///file:{tmp_path / 'store.db'}?mode=ro&uri=true"
    with lite.filling():
        traces.add_traces(lite, [make_trace()])
        assert reports.counts(lite).traces == 1
        assert not has_log(tmp_path / "store.db")
        with Store.open(read_only) as reader:
            assert reports.counts(reader).traces == 1
            assert traces.add_traces(lite, [make_trace(1)]).new == 1
            assert reports.counts(lite).traces == 2  # waits for the commit
            assert reports.counts(reader).traces == 2


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 of POSIX")
def test_kill_9_in_the_middle_leaves_what_was_committed(sqlite_url: str, tmp_path: Path) -> None:
    with Store.open(sqlite_url, create=True) as store:
        secret = store.secret
    process = python(KILLED, sqlite_url)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    journal = tmp_path / "store.db-journal"
    assert journal.stat().st_size > 0
    with Store.open(sqlite_url) as store:
        assert store.secret == secret
        assert pragma(store, "journal_mode") == "wal"
        assert pragma(store, "integrity_check") == "ok"
        assert reports.counts(store).traces == 5
        assert traces.add_traces(store, [make_trace(n) for n in range(7)]).new == 2
    assert not journal.exists()


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another program in the middle of reading."""
    reader = sqlite3.connect(path)
    try:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM trace").fetchone()
        yield
    finally:
        reader.close()


def test_a_commit_that_fails_is_told_by_the_next_step_and_undone(
    lite: Store, tmp_path: Path
) -> None:
    with lite.filling():
        pragma(lite, "busy_timeout = 10")
        with held(tmp_path / "store.db"):
            traces.add_traces(lite, [make_trace()])
            with pytest.raises(StoreError, match="locked by another process"):
                traces.add_traces(lite, [make_trace(1)])
        traces.add_traces(lite, [make_trace(2)])
    assert [trace for trace, _ in traces.rows(lite)] == [make_trace(2)]


def test_a_last_commit_that_fails_is_told_at_the_end(lite: Store, tmp_path: Path) -> None:
    def fill() -> None:
        with lite.filling():
            pragma(lite, "busy_timeout = 10")
            stack.enter_context(held(tmp_path / "store.db"))
            traces.add_traces(lite, [make_trace()])

    with ExitStack() as stack, pytest.raises(StoreError, match="locked by another process"):
        fill()
    assert reports.counts(lite).traces == 0
    assert traces.add_traces(lite, [make_trace()]).new == 1
    with Store.open(lite.address):
        assert has_log(tmp_path / "store.db")
