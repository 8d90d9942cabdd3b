"""The store's URL: which database is meant, and what to call it without its password."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from labelkit.errors import StoreError

_EXPECTED = "expected sqlite:///FILE or postgresql://USER@HOST/DATABASE"
_POSTGRES_NAMES = {"postgresql", "postgres", "postgresql+pg8000"}


def read_address(url: str) -> URL:
    """Return the parsed store URL with the driver that labelkit uses.

    Raises:
        StoreError: for anything but a SQLite file or PostgreSQL through pg8000.
    """
    try:
        address = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise StoreError(
            f"the store URL {url!r} cannot be read; {_EXPECTED} in `store:` of labelkit.yaml"
        ) from error
    if address.drivername in {"sqlite", "sqlite+pysqlite"}:
        if not address.database or address.database == ":memory:":
            raise StoreError(
                f"the store URL {url!r} names no file; {_EXPECTED}, for example"
                " sqlite:///labelkit.db"
            )
        return address.set(drivername="sqlite+pysqlite")
    if address.drivername in _POSTGRES_NAMES:
        return address.set(drivername="postgresql+pg8000")
    raise StoreError(
        f"the store URL {address.render_as_string(hide_password=True)!r} has the unknown scheme"
        f" {address.drivername!r}; {_EXPECTED}"
    )


def place_of(address: URL) -> str:
    """Return what messages call the store: the file, or the URL without its password."""
    if address.drivername.startswith("sqlite"):
        return str(address.database)
    return address.set(drivername="postgresql").render_as_string(hide_password=True)


def sqlite_file(address: URL) -> Path | None:
    """Return the SQLite file, or None for PostgreSQL and for SQLite ``file:`` URIs."""
    if not address.drivername.startswith("sqlite"):
        return None
    name = str(address.database)
    return None if name.startswith("file:") else Path(name)


def refuse_missing(address: URL, *, create: bool) -> None:
    """Refuse a SQLite file that is not there, before SQLite would silently make an empty one.

    Raises:
        StoreError: no such store, no such folder, or a folder in place of a file.
    """
    path = sqlite_file(address)
    if path is None:
        return
    if path.is_dir():
        raise StoreError(f"{path} is a folder; expected the file of a labelkit store")
    if create and not path.parent.is_dir():
        raise StoreError(
            f"the folder {path.parent} does not exist; create it, or choose another path for the"
            " store"
        )
    if not create and not path.exists():
        raise StoreError(
            f"there is no store at {path}; run `labelkit init` to make one, or correct `store:` in"
            " labelkit.yaml"
        )
