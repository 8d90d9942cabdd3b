"""Database errors turned into one sentence that a user can act on.

The drivers speak in codes and half sentences; a user needs the store's name, what was expected
and the next step. This module only translates: it never retries and never hides.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from labelkit.errors import StoreError

BUSY_SECONDS = 30

_SQLITE = (
    (
        ("file is not a database",),
        (
            "{place} is not a labelkit store: its content is no SQLite database; give the path of a"
            " store, or choose another path and run `labelkit init`"
        ),
    ),
    (
        ("malformed",),
        (
            "the store {place} is damaged ({detail}); restore a copy of it, or save what is"
            " readable with `sqlite3 FILE .recover`"
        ),
    ),
    (
        ("readonly", "read-only"),
        (
            "the store {place} is read-only; writing needs permission on the file and on its"
            " folder, so change the permissions or copy the store to a folder of your own"
        ),
    ),
    (
        ("unable to open",),
        (
            "the store {place} cannot be opened; SQLite needs to read and write the file and its"
            " folder, so check that the folder exists and its permissions"
        ),
    ),
    (
        ("is full", "disk i/o error", "no space left"),
        (
            "the disk that holds the store {place} is full or failing ({detail}); nothing of this"
            " step was written, so free some space and run the same command again"
        ),
    ),
    (
        ("is locked", "is busy"),
        (
            "the store {place} was locked by another process for more than {busy} seconds; wait for"
            " that process or stop it, then run the same command again"
        ),
    ),
    (
        ("no such table", "no such column"),
        (
            "the store {place} lacks a part of its schema ({detail}); it is no complete labelkit"
            " store, so restore a copy of it or make a new one with `labelkit init`"
        ),
    ),
)

_POSTGRES = {
    "28": "{place} refused the user or password; check both in the store URL",
    "3D": "{place} has no such database; create it (`createdb NAME`) or correct the store URL",
    "42501": "{place} does not allow this user to write; ask for CREATE and INSERT rights on the"
    " schema",
    "25006": "{place} is read-only (a standby, or default_transaction_read_only); use the primary"
    " server",
    "53100": "the disk of {place} is full; nothing of this step was written, so free some space"
    " and run the same command again",
    "53": "{place} has no connection or memory left ({detail}); close other clients and run the"
    " same command again",
    "57": "{place} closed the connection ({detail}); wait until the server is up and run the same"
    " command again",
    "55P03": "a table of {place} stayed locked by another session; end that session and run the"
    " same command again",
    "3F": "{place} has no such schema ({detail}); correct the search_path of the store URL",
    "42P01": "{place} lacks a part of its schema ({detail}); it is no complete labelkit store, so"
    " make one with `labelkit init`",
}
_POSTGRES_AWAY = (
    "{place} cannot be reached ({detail}); check host and port in the store URL and that the"
    " server is running"
)
_UNKNOWN = (
    "the store {place} refused the operation ({detail}); nothing of this step was written, so run"
    " the same command again and report the sentence if it stays"
)


@contextmanager
def as_store_errors(place: str) -> Iterator[None]:
    """Turn every database error of the block into a StoreError about ``place``.

    Raises:
        StoreError: one sentence with the place, the cause and the next step.
    """
    try:
        yield
    except DBAPIError as error:
        raise StoreError(sentence(place, error.orig or error)) from error
    except sqlite3.Error as error:
        raise StoreError(sentence(place, error)) from error
    except PoolTimeoutError as error:
        raise StoreError(
            f"all connections to {place} stayed busy; run fewer workers in this process"
        ) from error


def sentence(place: str, error: BaseException) -> str:
    """Return the sentence for a driver's error."""
    if isinstance(error, sqlite3.Error):
        detail = " ".join(str(error).split())
        lowered = detail.lower()
        pattern = next((s for words, s in _SQLITE if any(w in lowered for w in words)), _UNKNOWN)
    else:
        code, detail = _postgres_report(error)
        pattern = _postgres_pattern(code)
    return pattern.format(place=place, detail=detail[:300], busy=BUSY_SECONDS)


def _postgres_report(error: BaseException) -> tuple[str | None, str]:
    """Return SQLSTATE (None when the server was not reached) and the message of pg8000's error."""
    report: Any = error.args[0] if error.args else ""
    if isinstance(report, dict):
        return str(report.get("C", "")), " ".join(str(report.get("M", "")).split())
    # The driver adds its own arguments to the cause; they mean nothing to a user.
    return None, " ".join(str(report).partition(" (timeout is")[0].split())


def _postgres_pattern(code: str | None) -> str:
    """Return the sentence of the longest known prefix of ``code``."""
    if code is None:
        return _POSTGRES_AWAY
    for length in (5, 2):
        if code[:length] in _POSTGRES:
            return _POSTGRES[code[:length]]
    return _UNKNOWN
