"""People leave a store under pseudonyms, the same ones every time.

A pseudonym is a keyed hash of the name under the store's secret: it tells nothing about the name
or about who began first, and two groups' annotators never share one. Somebody who came in under a
pseudonym (from another release) keeps it, so that an export of an import is the same export.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable

from labelkit.domain.label import Rater

_FORM = re.compile(r"annotator-[0-9a-f]{10}")


def pseudonyms(names: Iterable[str], secret: bytes) -> dict[str, str]:
    """Return a pseudonym ``annotator-`` and ten hex digits for every name."""
    return {name: name if _FORM.fullmatch(name) else _pseudonym(name, secret) for name in names}


def masked(rater: Rater, names: dict[str, str]) -> Rater:
    """Return a person as a rater under the pseudonym; rules and judges as they are.

    The number of the person in the store is left out: it would tell who came first.
    """
    if rater.kind != "person":
        return rater
    spec = {key: value for key, value in rater.spec.items() if key != "person"}
    return Rater(kind="person", name=names[rater.name], version=rater.version, spec=spec)


def _pseudonym(name: str, secret: bytes) -> str:
    hashed = hmac.digest(secret, name.encode("utf-8", "surrogatepass"), hashlib.sha256)
    return f"annotator-{hashed.hex()[:10]}"
