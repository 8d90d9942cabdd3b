"""Which traces hold a text, whatever its case. It reads every body: seconds for gigabytes.

Databases know upper and lower case of ASCII alone, or of the language they were set up for. A
text of other letters is therefore compared here, so that both kinds of database give the same
answer. PostgreSQL sieves first, to send less; SQLite is in this process and would take longer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, func, or_, select

from labelkit.store.engine import Store
from labelkit.store.selection import chunks
from labelkit.store.tables import TRACE_BODY

_BODY = TRACE_BODY.c.body
_ESCAPED = "\\ud"
"""In every body that holds a lone surrogate, and so is escaped as a whole; in few others."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_STAY = re.compile("[\u212a\u0130]")
_MORE = {
    "\u03c3": "\u03c2",
    "\u00df": "\u1e9e",
    "\u00e5": "\u212b",
    "\u03b8": "\u03f4",
    "\u03c9": "\u2126",
}
"""Letters with a form that is not their capital."""

_AT_ONCE = 50
_LETTERS = 3
"""So many letters beyond ASCII are sieved by; more would cost more than they leave out."""


def traces_with_text(store: Store, text: str) -> NDArray[np.int64]:
    """Return the row ids of the traces whose JSON holds ``text``, ascending, shape (n,).

    Upper and lower case are the same, in every script (Unicode's lower case, character by
    character, so that "ß" is not "ss"). Names of JSON fields count as text of the trace. What is
    stored is JSON, so the text is sought as JSON would write it, with and without escapes.

    Raises:
        StoreError: when the store cannot be read.
    """
    sought = _folded(json.dumps(text, ensure_ascii=False)[1:-1])
    if sought.isascii():
        return _ids(store, _holds(store, sought))
    found = [key for key, body in _bodies(store, sought) if _stands_in(body, sought)]
    return np.array(found, dtype=np.int64)


def _folded(text: str) -> str:
    """Return text in lower case, letter by letter; the two small sigmas are one.

    The Kelvin sign and the dotted I stay: what they turn into holds an ASCII letter.
    """
    if _STAY.search(text):
        return "".join(c if _STAY.match(c) else _folded(c) for c in text)
    return text.lower().replace("\u03c2", "\u03c3")


def _stands_in(body: str, sought: str) -> bool:
    """Whether a body holds a folded text that is not all ASCII."""
    if body.isascii():
        if _ESCAPED not in body:
            return False
        body = json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False)
    return sought in _folded(body)


def _sieve(store: Store, sought: str) -> list[ColumnElement[bool]]:
    """Conditions of which every body with the text meets one; ``sought`` is folded.

    It holds the longest plain run of the text and some of its letters in either case; or it is
    escaped, and nothing is known of it.
    """
    conditions = [_holds(store, _ESCAPED)]
    if any(_SURROGATE.match(c) for c in sought):
        return conditions
    cased = [c for c in dict.fromkeys(sought) if not c.isascii() and len(_forms(c)) > 1]
    runs = "".join("\0" if c in cased else c for c in sought).split("\0")
    longest = max(runs, key=len)
    plain = [_holds(store, longest)] if len(longest) > 1 or not cased else []
    plain += [or_(*(_holds(store, form) for form in _forms(c))) for c in cased[:_LETTERS]]
    return [and_(*plain), *conditions]


def _forms(letter: str) -> list[str]:
    """Return the ways to write a folded letter."""
    found = dict.fromkeys((letter, letter.upper(), letter.title(), *_MORE.get(letter, "")))
    return [form for form in found if _folded(form) == letter]


def _holds(store: Store, text: str) -> ColumnElement[bool]:
    """The body holds a text, of which the ASCII letters are small; their case does not count."""
    if store.dialect == "sqlite":
        # Faster than instr(), and case does not count already.
        return _BODY.contains(text, autoescape=True)
    return func.strpos(func.lower(_BODY.collate("C")), text) > 0


def _ids(store: Store, condition: ColumnElement[bool]) -> NDArray[np.int64]:
    query = select(TRACE_BODY.c.trace_id).where(condition).order_by(TRACE_BODY.c.trace_id)
    with store.reading() as connection:
        return np.fromiter(connection.execute(query).scalars(), dtype=np.int64)


def _bodies(store: Store, sought: str) -> Iterator[tuple[int, str]]:
    """Yield row ids and bodies that may hold a folded text, ascending; a few in memory at once."""
    wanted = select(TRACE_BODY.c.trace_id, _BODY).order_by(TRACE_BODY.c.trace_id)
    if store.dialect == "sqlite":
        with store.reading() as connection:
            rows = connection.execution_options(yield_per=_AT_ONCE).execute(wanted)
            yield from ((int(key), str(body)) for key, body in rows)
        return
    sieved = _ids(store, or_(*_sieve(store, sought)))
    for chunk in chunks(sieved.tolist(), _AT_ONCE):
        with store.reading() as connection:
            some = connection.execute(wanted.where(TRACE_BODY.c.trace_id.in_(chunk))).all()
        yield from ((int(key), str(body)) for key, body in some)
