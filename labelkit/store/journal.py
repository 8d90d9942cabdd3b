"""How an SQLite store survives a crash: a write-ahead log, but for the time of a large import.

With the log readers and a writer never wait for each other, and small commits are cheap; but what
is appended is written twice, into the log and again into the file. An import appends most of what
it writes. With SQLite's older rollback journal that is written once, in half the time, and readers
wait for commits. So an import that has the store to itself takes the journal, and whoever opens
the store meanwhile brings the log back, under which the import goes on. A process that is killed
leaves a journal; the next one that opens the store undoes the unfinished step and brings the log
back too.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from labelkit.store.faults import BUSY_SECONDS

_GAP_S = 0.02
_CACHE_KB = 16_000


def set_up(connection: sqlite3.Connection) -> None:
    """Make a new connection as all of a store are; transactions are begun by the engine alone."""
    connection.isolation_level = None
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        take_log(connection, BUSY_SECONDS)
    connection.execute("PRAGMA foreign_keys = ON")
    # With a write-ahead log NORMAL survives a killed process; only a power cut may lose the tail.
    connection.execute("PRAGMA synchronous = NORMAL")
    # Folding the log back costs a third of a judge run at the default of 4 MB; 40 MB is no burden.
    connection.execute("PRAGMA wal_autocheckpoint = 10000")


def take_log(connection: sqlite3.Connection, patience_s: float) -> None:
    """Turn on the write-ahead log; a store that cannot be written to stays as it is.

    Needs a moment in which nobody else reads or writes; SQLite does not wait for one itself.

    Raises:
        sqlite3.OperationalError: there was none for so many seconds.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "readonly" in str(error):
                return
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_GAP_S)
        else:
            return


@contextmanager
def written_once(connection: sqlite3.Connection) -> Iterator[None]:
    """Take the rollback journal while the block lasts, if nobody else has the store open.

    Nothing waits: another connection, also one of this process, keeps the log. ``connection`` is
    outside a transaction, here and at the end of the block.
    """
    (cache,) = connection.execute("PRAGMA cache_size").fetchone()
    taken = _take_journal(connection)
    try:
        yield
    finally:
        if taken:
            # What cannot be done now the next opening does.
            with contextlib.suppress(sqlite3.Error):
                take_log(connection, 1)
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(f"PRAGMA cache_size = {cache}")


def _take_journal(connection: sqlite3.Connection) -> bool:
    """Change the journal and what goes with it; say whether that could be had."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        if connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] != "delete":
            return False
    except sqlite3.OperationalError:  # somebody else has it open, or it cannot be written to
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
    # With this journal NORMAL can lose the file to a power cut on some file systems; FULL costs
    # nothing that could be measured where a step is 4 MB.
    connection.execute("PRAGMA synchronous = FULL")
    # A step that does not fit into the cache is synced more than once.
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
    return True
