"""A fresh store per test, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from labelkit.store import Store
from labelkit.store.address import read_address

POSTGRES = os.environ.get("LABELKIT_TEST_POSTGRES", "")


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """The URL of a new empty database, dropped afterwards; safe under pytest-xdist."""
    if not POSTGRES:
        pytest.skip("needs a PostgreSQL server: set LABELKIT_TEST_POSTGRES to its URL")
    pytest.importorskip("pg8000", reason="needs the PostgreSQL driver pg8000")
    name = f"labelkit_{uuid.uuid4().hex}"
    server = create_engine(read_address(POSTGRES), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield make_url(POSTGRES).set(database=name).render_as_string(hide_password=False)
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database that holds no store yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    made: str = request.getfixturevalue("postgres_url")
    return made


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """An open, empty store."""
    with Store.open(url, create=True) as opened:
        yield opened


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.db'}"
