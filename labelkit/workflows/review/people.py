"""Who works here: adding people, signing in, and sessions that survive a reload.

Passphrases are kept as argon2id hashes only. A session is a signed token, so several servers on
one store know each other's sessions. Every comparison of secrets takes the same time.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from datetime import UTC, datetime, timedelta
from functools import cache
from struct import Struct

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from labelkit.domain.person import Person, Role
from labelkit.errors import InputError, LabelkitError
from labelkit.store import Store
from labelkit.store import people as kept
from labelkit.workflows.review.access import Right, require

SHORTEST = 8
LONGEST = 1024
SESSION_AGE = timedelta(hours=12)
_FREE_TRIES = 5
_LONGEST_WAIT_S = 300
_BODY = Struct(">QIQ")


class SignInError(LabelkitError):
    """Signing in failed; the message never says whether the name exists."""


def add_person(
    store: Store,
    who: Person | None,
    name: str,
    role: Role | str,
    *,
    passphrase: str | None = None,
    subject: str | None = None,
) -> Person:
    """Add a person with a passphrase, an external identity, or both.

    Args:
        store: an open store.
        who: the admin who adds; None from the command line, whose user owns the store anyway.
        name: shown to others; case and spaces around do not make another name.
        role: annotator, adjudicator or admin.
        passphrase: at least 8 characters.
        subject: the subject of an OIDC token, or the name a trusted proxy sends.

    Raises:
        NotAllowedError: ``who`` is no admin.
        InputError: a bad or taken name, a short passphrase, neither of the two identities.
    """
    if who is not None:
        require(who, Right.MANAGE_PEOPLE)
    wanted = _name(name)
    if passphrase is None and subject is None:
        raise InputError(f"{wanted!r} could never sign in; give a passphrase or an identity")
    made = kept.add_person(
        store,
        wanted,
        _role(role),
        passphrase_hash=None if passphrase is None else _hash(passphrase),
        subject=subject or None,
    )
    if made is None:
        taken = f"the name {wanted!r}" + (f" or the identity {subject!r}" if subject else "")
        raise InputError(f"{taken} is taken; see `labelkit people list`")
    return made


def everybody(store: Store, who: Person | None) -> list[Person]:
    """Return everybody, retired people included (admins; None from the command line)."""
    if who is not None:
        require(who, Right.MANAGE_PEOPLE)
    return kept.people(store)


def person_named(store: Store, name: str) -> Person:
    """Return the person of this name.

    Raises:
        InputError: nobody has it.
    """
    found = kept.person_named(store, name)
    if found is None:
        raise InputError(f"there is no person {name!r}; see `labelkit people list`")
    return found[0]


def set_role(store: Store, who: Person | None, name: str, role: Role | str) -> Person:
    """Give a person another role; the last admin stays one (StoreError)."""
    if who is not None:
        require(who, Right.MANAGE_PEOPLE)
    return kept.change_person(store, person_named(store, name).id, role=_role(role))


def set_retired(store: Store, who: Person | None, name: str, *, retired: bool = True) -> Person:
    """Retire a person, or take it back: sessions end, labels stay. Not the last admin."""
    if who is not None:
        require(who, Right.MANAGE_PEOPLE)
    return kept.change_person(store, person_named(store, name).id, retired=retired)


def set_passphrase(store: Store, who: Person | None, name: str, passphrase: str) -> Person:
    """Set a new passphrase, one's own or (admins) another's; older sessions end."""
    person = person_named(store, name)
    if who is not None and who.id != person.id:
        require(who, Right.MANAGE_PEOPLE)
    return kept.change_person(store, person.id, passphrase_hash=_hash(passphrase))


def sign_in(store: Store, name: str, passphrase: str, *, now: datetime | None = None) -> Person:
    """Return the person when the passphrase is right. Slow on purpose (argon2, some 50 ms).

    After five failures for a name each further try has to wait, doubling up to 5 minutes. An
    unknown name takes as long as a wrong passphrase.

    Raises:
        SignInError: wrong, unknown, retired, or too many tries.
    """
    moment = now or datetime.now(UTC)
    wait = _wait(store, name, moment)
    if wait > 0:
        raise SignInError(f"too many tries for this name; wait {wait} s and try again")
    kept.note_attempt(store, name, moment)
    found = kept.person_named(store, name)
    good = _verified(found[1] if found else None, passphrase)
    if found is None or not good or found[0].retired:
        raise SignInError("name or passphrase is wrong; try again, or ask an admin for a new one")
    kept.forget_attempts(store, name)
    return found[0]


def person_of_subject(store: Store, subject: str) -> Person:
    """Return the person of an external identity that Streamlit's login or a proxy vouches for.

    Raises:
        SignInError: nobody here has this identity, or the person is retired.
    """
    person = kept.person_of_subject(store, subject)
    if person is None or person.retired:
        raise SignInError(
            f"nobody here has the identity {subject!r}; an admin adds it with"
            " `labelkit people add NAME --subject IDENTITY`"
        )
    return person


def issue_token(store: Store, person: Person, *, now: datetime | None = None) -> str:
    """Return a signed session token for a cookie; it holds no secret and no name."""
    moment = int((now or datetime.now(UTC)).timestamp())
    body = _BODY.pack(person.id, person.epoch, moment)
    return urlsafe_b64encode(body + _signature(store, body)).decode("ascii")


def person_of_token(
    store: Store,
    token: str,
    *,
    max_age: timedelta = SESSION_AGE,
    now: datetime | None = None,
) -> Person | None:
    """Return the person of a session as the store has it now.

    None when the token is forged, too old, from before a new passphrase, or the person retired.
    """
    try:
        raw = b64decode(token.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, Base64Error):
        return None
    body, signature = raw[: _BODY.size], raw[_BODY.size :]
    if len(body) != _BODY.size or not hmac.compare_digest(signature, _signature(store, body)):
        return None
    key, epoch, issued = _BODY.unpack(body)
    age = (now or datetime.now(UTC)).timestamp() - issued
    if not -60 <= age <= max_age.total_seconds():
        return None
    person = kept.person(store, key)
    return person if person and not person.retired and person.epoch == epoch else None


def _signature(store: Store, body: bytes) -> bytes:
    key = hmac.digest(store.secret, b"labelkit session", hashlib.sha256)
    return hmac.digest(key, body, hashlib.sha256)


def _wait(store: Store, name: str, now: datetime) -> int:
    """Seconds until the name may be tried again."""
    failed, last = kept.failures(store, name)
    if failed < _FREE_TRIES or last is None:
        return 0
    pause = min(_LONGEST_WAIT_S, 2 ** min(failed - _FREE_TRIES + 1, 16))
    return max(0, int(pause - (now - last).total_seconds()))


def _name(name: str) -> str:
    wanted = name.strip()
    if not wanted or len(wanted) > 80 or not wanted.isprintable():
        raise InputError(f"{name!r} is no name; use 1 to 80 printable characters")
    return wanted


def _role(role: Role | str) -> Role:
    try:
        return Role(role)
    except ValueError:
        known = ", ".join(r.value for r in Role)
        raise InputError(f"there is no role {role!r}; choose one of: {known}") from None


@cache
def _hasher() -> PasswordHasher:
    """Argon2id with the library's parameters, which follow RFC 9106."""
    return PasswordHasher()


@cache
def _nobody() -> str:
    """A hash that nothing matches, so that an unknown name costs the same time."""
    return _hasher().hash("nobody has this passphrase")


def _hash(passphrase: str) -> str:
    if not SHORTEST <= len(passphrase) <= LONGEST:
        raise InputError(f"a passphrase has {SHORTEST} to {LONGEST} characters")
    return _hasher().hash(passphrase.encode("utf-8", "surrogatepass"))


def _verified(stored: str | None, passphrase: str) -> bool:
    given = passphrase[:LONGEST].encode("utf-8", "surrogatepass")
    try:
        good = _hasher().verify(stored or _nobody(), given)
    except (VerificationError, InvalidHashError):
        return False
    return good and stored is not None
