"""People in the store: who they are, and how often a name was tried in vain.

It keeps hashes and decides nothing: who may do what, and whether a passphrase is right, is the
business of ``labelkit.workflows.review``.
"""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Row, delete, func, select, update

from labelkit.digest import digest_text
from labelkit.domain.person import Person, Role
from labelkit.errors import StoreError
from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.review_tables import PERSON, SIGN_IN


def folded(text: str) -> str:
    """Return the digest that tells names apart: case, spaces around and unicode form do not."""
    return digest_text(unicodedata.normalize("NFKC", text).casefold().strip())


def add_person(
    store: Store,
    name: str,
    role: Role,
    *,
    passphrase_hash: str | None = None,
    subject: str | None = None,
) -> Person | None:
    """Add a person; None when the name or the external identity is taken.

    Raises:
        StoreError: when the store cannot be written.
    """
    row = {
        "name": name,
        "name_key": folded(name),
        "role": role.value,
        "passphrase": passphrase_hash,
        "subject": subject,
        "subject_key": None if subject is None else digest_text(subject),
        "epoch": 0,
        "added_at": datetime.now(UTC),
        "retired_at": None,
    }
    with store.writing() as connection:
        if not insert_new(connection, PERSON, [row]):
            return None
        found = connection.execute(select(PERSON).where(PERSON.c.name_key == row["name_key"]))
        return _read(found.one())


def people(store: Store) -> list[Person]:
    """Return everybody, retired people included, in the order they were added."""
    with store.reading() as connection:
        return [_read(row) for row in connection.execute(select(PERSON).order_by(PERSON.c.id))]


def person(store: Store, key: int) -> Person | None:
    """Return the person with this id, or None."""
    with store.reading() as connection:
        row = connection.execute(select(PERSON).where(PERSON.c.id == key)).first()
    return None if row is None else _read(row)


def person_named(store: Store, name: str) -> tuple[Person, str | None] | None:
    """Return the person of this name with the stored hash of the passphrase, or None."""
    with store.reading() as connection:
        row = connection.execute(select(PERSON).where(PERSON.c.name_key == folded(name))).first()
    return None if row is None else (_read(row), row.passphrase)


def person_of_subject(store: Store, subject: str) -> Person | None:
    """Return the person with this external identity, or None."""
    wanted = PERSON.c.subject_key == digest_text(subject)
    with store.reading() as connection:
        row = connection.execute(select(PERSON).where(wanted)).first()
    return None if row is None else _read(row)


def change_person(
    store: Store,
    key: int,
    *,
    role: Role | None = None,
    passphrase_hash: str | None = None,
    retired: bool | None = None,
) -> Person:
    """Change what is given; a new passphrase and retirement void sessions made before.

    The last admin who is not retired can be neither retired nor given another role.

    Raises:
        StoreError: there is no such person, or it is the last admin.
    """
    values: dict[str, Any] = {}
    if role is not None:
        values["role"] = role.value
    if passphrase_hash is not None:
        values |= {"passphrase": passphrase_hash, "epoch": PERSON.c.epoch + 1}
    if retired is not None:
        values |= {
            "retired_at": datetime.now(UTC) if retired else None,
            "epoch": PERSON.c.epoch + 1,
        }
    with store.writing(_PEOPLE_LOCK) as connection:
        if values:
            connection.execute(update(PERSON).where(PERSON.c.id == key).values(**values))
        row = connection.execute(select(PERSON).where(PERSON.c.id == key)).first()
        if row is None:
            raise StoreError(f"the store {store.place} has no person {key}")
        admins = select(func.count()).where(
            PERSON.c.role == Role.ADMIN.value, PERSON.c.retired_at.is_(None)
        )
        loses = retired or (role is not None and role is not Role.ADMIN)
        if loses and not connection.execute(admins).scalar_one():
            raise StoreError(
                f"{row.name!r} is the last admin; make somebody else an admin first"
                " (`labelkit people role NAME admin`)"
            )
        return _read(row)


_PEOPLE_LOCK = 0x6C61_6265_6C02
_REMEMBERED = timedelta(days=1)


def failures(store: Store, name: str) -> tuple[int, datetime | None]:
    """Return how often a name was tried in vain since the last success, and when last."""
    query = select(func.count(), func.max(SIGN_IN.c.at)).where(SIGN_IN.c.name_key == folded(name))
    with store.reading() as connection:
        count, last = connection.execute(query).one()
    return count, last


def note_attempt(store: Store, name: str, at: datetime) -> None:
    """Note an attempt before it is checked, so that attempts side by side count as well.

    What is older than a day is forgotten, so that guessing cannot fill the store.
    """
    with store.writing() as connection:
        connection.execute(delete(SIGN_IN).where(SIGN_IN.c.at < at - _REMEMBERED))
        connection.execute(SIGN_IN.insert().values(name_key=folded(name), at=at))


def forget_attempts(store: Store, name: str) -> None:
    """Forget the attempts of a name: it has signed in."""
    with store.writing() as connection:
        connection.execute(delete(SIGN_IN).where(SIGN_IN.c.name_key == folded(name)))


def _read(row: Row[Any]) -> Person:
    return Person(
        id=row.id,
        name=row.name,
        role=Role(row.role),
        subject=row.subject,
        has_passphrase=row.passphrase is not None,
        epoch=row.epoch,
        added_at=row.added_at,
        retired_at=row.retired_at,
    )
