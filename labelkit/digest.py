"""Content addresses: the same value has the same digest on every machine and in every release.

A digest is the SHA-256 of the value's canonical JSON. Canonical means: keys sorted, no spaces,
non-ASCII kept as it is. A lone surrogate cannot be written as UTF-8, so a text that holds one is
escaped as a whole; that keeps the function total over every string a trace can contain.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """Return the one JSON text of ``value``; always encodable as UTF-8 and free of raw NUL.

    Raises:
        ValueError: for NaN and infinities, which JSON cannot hold.
        TypeError: for values that are not JSON (sets, objects).
    """
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of ``value`` as 64 hex digits."""
    return digest_text(canonical_json(value))


def digest_text(text: str) -> str:
    """Return the SHA-256 of ``text`` in UTF-8 (lone surrogates kept) as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
