"""Which keys the first object of a file has, read from a possibly cut-off beginning.

Sniffing must work on the first 64 kB of a file whose first record may be far larger, so the text
cannot be parsed; a walk over its structural characters is enough.
"""

from __future__ import annotations

import re

# A string that the cut left open runs to the end: without that the walk would be quadratic.
_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]:]', re.DOTALL)


def first_keys(text: str) -> frozenset[str]:
    """Return the keys at depth one of the first ``{...}`` in ``text``; lenient, total."""
    keys: set[str] = set()
    depth = 0
    last_string: str | None = None
    start = text.find("{")
    if start < 0:
        return frozenset()
    for match in _MARK.finditer(text, start):
        mark = match.group()
        if mark in {"{", "["}:
            depth += 1
        elif mark in {"}", "]"}:
            depth -= 1
            if depth == 0:
                break
        elif mark == ":":
            if depth == 1 and last_string is not None:
                keys.add(last_string)
        elif depth == 1:
            last_string = mark[1:-1]
            continue
        last_string = None
    return frozenset(keys)
