from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from labelkit.domain.task import Task
from labelkit.errors import StoreError
from labelkit.store import Store, labels, migrating, raters, reports, schema, tasks, traces
from labelkit.store.address import read_address
from labelkit.store.tables import METADATA
from tests.conftest import ROOT
from tests.store.values import RULE, make_label, make_task, make_trace

WRITER = """
import sys
from labelkit.store import Store, labels, raters, traces
from tests.store.values import RULE, make_completion, make_label, make_trace
url, who = sys.argv[1], sys.argv[2]
with Store.open(url, create=True) as store:
    made = [make_trace(i) for i in range(24)]
    traces.add_traces(store, made)
    raters.add_rater(store, RULE)
    print("ready", flush=True)
    for i, trace in enumerate(made):
        pair = [make_label(trace), make_label(trace, question=who)]
        labels.commit_labels(store, pair, [make_completion(str(i), accepted=True)])
        print(i, flush=True)
    sys.stdin.read()
"""


def start(url: str, who: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, url, who],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_two_processes_create_and_write_at_once(url: str) -> None:
    both = [start(url, "a"), start(url, "b")]
    for process in both:
        _, said = process.communicate("", timeout=60)
        assert process.returncode == 0, said
    with Store.open(url) as store:
        counts = reports.counts(store)
        assert (counts.traces, counts.raters, counts.completions) == (24, 1, 24)
        assert labels.label_counts(store) == {
            (RULE.digest, question, "labelled"): 24 for question in ("q", "a", "b")
        }


def test_what_was_acknowledged_survives_kill_9(url: str) -> None:
    process = start(url, "a")
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == "7":
            os.kill(process.pid, signal.SIGKILL)
            break
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with Store.open(url) as store:
        kept = len(reports.label_table(store, "q"))
        assert kept >= 8
        assert kept == len(reports.label_table(store, "a")) == reports.counts(store).completions


@pytest.mark.parametrize("revision", migrating.revisions())
def test_every_older_schema_is_upgraded_with_its_content(url: str, revision: str) -> None:
    engine = create_engine(read_address(url))
    with engine.begin() as connection:
        migrating.migrate(connection, revision)
        connection.execute(
            text(
                "INSERT INTO task (digest, task_key, task_set, task_id, current, tags, imported_at,"
                " body) VALUES (:d, :k, 'demo', 't0', true, '{}', '2026-01-01 00:00:00.000000', :b)"
            ),
            {"d": "d" * 64, "k": tasks.task_key("demo", "t0"), "b": '{"set":"demo","id":"t0"}'},
        )
    engine.dispose()
    with Store.open(url) as store, store.reading() as connection:
        assert schema.schema_version(connection) == schema.HEAD == migrating.revisions()[-1]
        assert list(tasks.tasks(store)) == [Task(set="demo", id="t0")]
        assert len(store.secret) == 32


def test_the_tables_are_what_the_migrations_make(store: Store) -> None:
    with store.reading() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, METADATA) == []


def test_secret_and_identity_stay(url: str) -> None:
    with Store.open(url, create=True) as one, Store.open(url, create=True) as two:
        assert (one.id, one.secret) == (two.id, two.secret)


def test_a_newer_schema_is_refused(url: str) -> None:
    with Store.open(url, create=True) as store, store.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=rf"version 9999.*up to {schema.HEAD}.*upgrade labelkit"):
        Store.open(url)


def test_foreign_keys_are_enforced(store: Store) -> None:
    with pytest.raises(StoreError, match="refused the operation"), store.writing() as connection:
        connection.execute(text("INSERT INTO trace_body (trace_id, body) VALUES (99, '{}')"))


def test_a_failing_block_writes_nothing(store: Store) -> None:
    def lose() -> None:
        with store.writing() as connection:
            connection.execute(text("UPDATE meta SET secret = 'lost'"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lose()
    with store.reading() as connection:
        assert connection.execute(text("SELECT secret FROM meta")).scalar() == store.secret.hex()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("labelkit.db", "cannot be read"),
        ("mysql://u:geheim@h/d", "unknown scheme"),
        ("sqlite://", "names no file"),
        ("sqlite:////nowhere/at/all.db", "no store at"),
        ("sqlite:////", "is a folder"),
    ],
)
def test_unusable_urls(url: str, said: str) -> None:
    with pytest.raises(StoreError, match=said) as caught:
        Store.open(url)
    assert "geheim" not in str(caught.value)


def test_files_that_are_no_store(tmp_path: Path) -> None:
    text_file, empty, foreign = (tmp_path / name for name in ("a.txt", "empty.db", "foreign.db"))
    text_file.write_text("not a database " * 100, encoding="utf-8")
    empty.touch()
    with pytest.raises(StoreError, match="is not a labelkit store"):
        Store.open(f"sqlite:///{text_file}")
    with pytest.raises(StoreError, match="labelkit init"):
        Store.open(f"sqlite:///{empty}")
    engine = create_engine(f"sqlite:///{foreign}")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE trace (id INTEGER)"))
    engine.dispose()
    with pytest.raises(StoreError, match="another program"):
        Store.open(f"sqlite:///{foreign}", create=True)
    with pytest.raises(StoreError, match="does not exist"):
        Store.open(f"sqlite:///{tmp_path / 'no' / 'x.db'}", create=True)


def test_a_read_only_store_can_be_read_and_says_so(sqlite_url: str, tmp_path: Path) -> None:
    with Store.open(sqlite_url, create=True) as store:
        traces.add_traces(store, [make_trace()])
    read_only = f"sqlite:///file:{tmp_path / 'store.db'}?mode=ro&uri=true"
    with Store.open(read_only) as store:
        assert len(reports.trace_table(store)) == 1
        with pytest.raises(StoreError, match="read-only"):
            traces.add_traces(store, [make_trace(1)])


def test_a_full_disk_undoes_the_step(sqlite_url: str) -> None:
    with Store.open(sqlite_url, create=True) as store:
        raters.add_rater(store, RULE)
        traces.add_traces(store, [make_trace()])
        with store.reading() as connection:  # the pool gives this connection to the writer again
            pages = connection.execute(text("PRAGMA page_count")).scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(StoreError, match="full or failing"):
            tasks.add_tasks(store, (make_task(i, tags={"x": "y" * 9000}) for i in range(50)))
        assert list(tasks.tasks(store)) == []
        assert labels.commit_labels(store, [make_label(make_trace())]) == 1


def test_a_store_locked_for_too_long(sqlite_url: str) -> None:
    with Store.open(sqlite_url, create=True) as store, Store.open(sqlite_url) as other:
        with other.reading() as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout = 10")
        with (
            store.writing(),
            pytest.raises(StoreError, match="locked by another process"),
            other.writing(),
        ):
            pass


def test_a_server_that_is_not_there() -> None:
    pytest.importorskip("pg8000", reason="needs the PostgreSQL driver pg8000")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: nobody else answers on this port
        url = f"postgresql://user:geheim@127.0.0.1:{taken.getsockname()[1]}/db"
        with pytest.raises(StoreError, match="cannot be reached") as caught:
            Store.open(url)
    assert "geheim" not in str(caught.value)


@pytest.mark.postgres
def test_postgres_refusals(postgres_url: str) -> None:
    with pytest.raises(StoreError, match="no such database"):
        Store.open(postgres_url + "_missing")
    nobody = read_address(postgres_url).set(username="nobody_here", password="geheim")
    with pytest.raises(StoreError, match="refused the user") as caught:
        Store.open(nobody.render_as_string(hide_password=False))
    assert "geheim" not in str(caught.value)
    with pytest.raises(StoreError, match="labelkit init"):
        Store.open(postgres_url)
