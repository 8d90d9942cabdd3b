"""Opening a store and its transactions: SQLite by file, PostgreSQL by URL.

``Store`` is deliberately thin: an engine, the store's secret and two kinds of transaction. What is
read and written lives in the modules beside it as functions that take a store, so that no class
has to know every query. Every database error leaves here as a StoreError.
"""

from __future__ import annotations

import importlib
import secrets
import sqlite3
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, select, text

from labelkit.errors import StoreError
from labelkit.store.address import place_of, read_address, refuse_missing
from labelkit.store.faults import BUSY_SECONDS, as_store_errors
from labelkit.store.inserting import insert_new
from labelkit.store.journal import set_up, written_once
from labelkit.store.schema import HEAD, schema_version
from labelkit.store.tables import META

_SCHEMA_LOCK = 0x6C61_6265_6C00
_WRITING = "labelkit_writing"


class Store:
    """An open store; a context manager. Safe to use from several threads and processes.

    Attributes:
        url: the URL with its password hidden, for messages.
        place: the file, or the URL without its password.
        id: identity of the store (UUID text), made at creation.
        secret: 32 random bytes made at creation, the key of judge delimiters; never print it.
        rater_ids: rater digest -> row id, a cache; raters are never removed.
    """

    def __init__(self, engine: Engine, store_id: str, secret: bytes) -> None:
        self._engine = engine
        self._writer = engine.execution_options(**{_WRITING: True})
        self.url = engine.url.render_as_string(hide_password=True)
        self.place = place_of(engine.url)
        self.id = store_id
        self.secret = secret
        self.rater_ids: dict[str, int] = {}
        self._behind: ThreadPoolExecutor | None = None
        self._unsettled: Future[None] | None = None

    @classmethod
    def open(cls, url: str, *, create: bool = False) -> Store:
        """Open the store at ``url`` and migrate its schema when it is older.

        Args:
            url: ``sqlite:///FILE`` (relative to the working folder), ``sqlite:////ABSOLUTE`` or
                ``postgresql://USER:PASSWORD@HOST/DATABASE`` (driver pg8000).
            create: make the store where there is none; an existing store is opened as it is.

        Raises:
            StoreError: no such store, not a store, read-only, full, newer schema, unreachable or
                refused database, missing driver, unknown scheme, locked for too long.
        """
        address = read_address(url)
        refuse_missing(address, create=create)
        place = place_of(address)
        engine = _engine(address, place)
        try:
            with as_store_errors(place):
                return cls(engine, *_prepare(engine, place, create=create))
        except BaseException:
            engine.dispose()
            raise

    def close(self) -> None:
        """Close every connection. The store cannot be used afterwards."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def address(self) -> str:
        """The URL with its password, for a child process that opens the same store. Keep it secret.

        Hand it over a pipe, never as an argument, which other users can see.
        """
        return self._engine.url.render_as_string(hide_password=False)

    @property
    def dialect(self) -> str:
        """``sqlite`` or ``postgresql``."""
        return self._engine.dialect.name

    @contextmanager
    def reading(self, *, steady: bool = False) -> Iterator[Connection]:
        """A transaction for reading. Keep it short: it must not span a yield.

        With ``steady`` all its statements see one state of the store. SQLite gives that anyway;
        PostgreSQL has to be asked, which costs a round trip.

        Raises:
            StoreError: for every database error inside the block.
        """
        with as_store_errors(self.place):
            self._settle()
        with as_store_errors(self.place), self._engine.connect() as connection:
            if steady and self.dialect == "postgresql":
                connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self, lock: int | None = None) -> Iterator[Connection]:
        """A transaction that is committed when the block ends and undone when it raises.

        SQLite takes the write lock at once (BEGIN IMMEDIATE), so that a writer waits for its turn
        instead of failing half way. PostgreSQL writes side by side; ``lock`` makes the writers
        that name the same number take turns there too.

        Raises:
            StoreError: for every database error inside the block, and after 30 s of waiting.
        """
        with as_store_errors(self.place):
            self._settle()
            with ExitStack() as stack:
                connection = stack.enter_context(self._writer.begin())
                take_turns(connection, lock)
                yield connection
                if self._behind is not None:
                    self._unsettled = self._behind.submit(stack.pop_all().close)

    @contextmanager
    def filling(self) -> Iterator[None]:
        """For the time of a large import: commits go on while the next step is prepared.

        A commit that fails is told by the next transaction, or at the end of the block. SQLite
        also writes what is appended once and not twice, if nobody else has the store open; others
        may open, read and write it at any time (see ``labelkit.store.journal``).
        """
        with self._written_once(), ThreadPoolExecutor(1, "labelkit-commit") as behind:
            self._behind = behind
            try:
                yield
            finally:
                self._behind = None
                with as_store_errors(self.place):
                    self._settle()

    @contextmanager
    def _written_once(self) -> Iterator[None]:
        if self.dialect != "sqlite":
            yield
            return
        with as_store_errors(self.place):
            pooled = self._engine.raw_connection()
            connection: Any = pooled.driver_connection
            pooled.close()  # back into the pool, which gives it to whoever writes
        with written_once(connection):
            yield

    def _settle(self) -> None:
        """Wait for a commit that was left behind, and raise what became of it."""
        unsettled, self._unsettled = self._unsettled, None
        if unsettled is not None:
            unsettled.result()


def take_turns(connection: Connection, lock: int | None) -> None:
    """Wait for the advisory lock of this transaction (PostgreSQL; SQLite has one writer anyway)."""
    if lock is not None and connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": lock})


def _engine(address: URL, place: str) -> Engine:
    """Make the engine with the settings of its kind of database."""
    if address.drivername.startswith("sqlite"):
        engine = create_engine(
            address, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        return create_engine(address, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise StoreError(
            f"{place} needs the PostgreSQL driver pg8000, which is not installed; run"
            " `pip install 'labelkit[postgres]'`"
        ) from error


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    """Set up a new SQLite connection; transactions are begun by ``_begin_sqlite`` alone."""
    set_up(connection)


def _begin_sqlite(connection: Connection) -> None:
    """Begin explicitly: at once with the write lock, or as a reader."""
    writing = connection.get_execution_options().get(_WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _prepare(engine: Engine, place: str, *, create: bool) -> tuple[str, bytes]:
    """Return id and secret of the store, made or migrated first where needed."""
    with engine.connect() as connection:
        version = schema_version(connection)
        if version == HEAD and (found := _meta(connection)):
            return found
        if version is None and not create:
            raise StoreError(
                f"{place} holds no labelkit store; run `labelkit init` to make one, or correct"
                " `store:` in labelkit.yaml"
            )
    with engine.execution_options(**{_WRITING: True}).begin() as connection:
        take_turns(connection, _SCHEMA_LOCK)
        _bring_to_head(connection, place)
        fresh = {
            "id": 1,
            "store_id": str(uuid.uuid4()),
            "secret": secrets.token_hex(32),
            "created_at": datetime.now(UTC),
        }
        insert_new(connection, META, [fresh])
        found = _meta(connection)
    if found is None:
        raise StoreError(f"the store {place} has lost its identity; restore a copy of it")
    return found


def _bring_to_head(connection: Connection, place: str) -> None:
    """Create or migrate the schema; another process may have done so while this one waited."""
    version = schema_version(connection)
    if version == HEAD:
        return
    # By name, so that only an opening that migrates pays for Alembic.
    migrating: Any = importlib.import_module("labelkit.store.migrating")
    if version is None:
        taken = sorted(set(inspect(connection).get_table_names()) & {"task", "trace", "label"})
        if taken:
            raise StoreError(
                f"{place} already holds tables of another program ({', '.join(taken)}); choose"
                " another file or database for the store"
            )
    else:
        migrating.check_version(version, place)
    migrating.migrate(connection)


def _meta(connection: Connection) -> tuple[str, bytes] | None:
    """Return id and secret, or None before the row was made."""
    row = connection.execute(select(META.c.store_id, META.c.secret)).first()
    return None if row is None else (row.store_id, bytes.fromhex(row.secret))
