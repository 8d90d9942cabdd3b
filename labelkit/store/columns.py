"""Column types that keep hostile text exactly, on SQLite and PostgreSQL alike.

PostgreSQL cannot hold NUL, UTF-8 cannot hold a lone surrogate, and traces hold both. Text that a
database could not give back exactly is kept as marked JSON; everything else stays plain, so that
the store can be read and searched by hand. This module knows types only, no table.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator

from labelkit.digest import canonical_json

MARK = "json:"
_ENCODE = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def encode_text(text: str) -> str:
    """Return what is stored for ``text``: the text itself, or marked JSON where it must be.

    The coding is one to one: a text that begins with the mark is escaped too, so equal columns
    mean equal texts and an encoded text can be compared, joined and grouped in SQL.
    """
    if text.startswith(MARK) or "\x00" in text:
        return MARK + canonical_json(text)
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return MARK + canonical_json(text)
    return text


def decode_text(stored: str) -> str:
    """Return the text that ``encode_text`` stored."""
    if stored.startswith(MARK):
        decoded: str = json.loads(stored[len(MARK) :])
        return decoded
    return stored


class SafeText(TypeDecorator[str]):
    """A string of any characters, NUL and lone surrogates included."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - signature of SQLAlchemy
        """Encode on the way in."""
        return None if value is None else encode_text(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - signature of SQLAlchemy
        """Decode on the way out."""
        return None if value is None else decode_text(value)


class JsonText(TypeDecorator[Any]):
    """A JSON value as ASCII text with sorted keys: escapes hold what a database could not."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - signature of SQLAlchemy
        """Write the JSON text; None is NULL."""
        if value == {}:
            return "{}"
        return None if value is None else _ENCODE(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Any | None:  # noqa: ARG002 - signature of SQLAlchemy
        """Read the JSON back."""
        return None if value is None else json.loads(value)


class UtcTime(TypeDecorator[datetime]):
    """A moment in UTC with microseconds. A time without a zone is taken as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - signature of SQLAlchemy
        """Turn every zone into UTC."""
        if value is None or value.tzinfo is UTC:
            return value
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - signature of SQLAlchemy
        """Put the zone back: SQLite keeps none, PostgreSQL answers in the session's."""
        if value is None:
            return None
        moment: datetime = value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
