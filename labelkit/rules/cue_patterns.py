"""Long lists of wordings as one expression that is searched quickly.

Python tries every alternative at every character. Nearly all wordings begin at the beginning of a
word, so that test is made once, before the alternatives, and most characters cost nothing more.
"""

from __future__ import annotations

import re

_WORD_BEGINS = r"\b"


def any_of(*wordings: str) -> re.Pattern[str]:
    """One expression that finds any of the wordings; each may hold alternatives of its own."""
    pieces = [piece for wording in wordings for piece in _alternatives(wording)]
    begins = [p.removeprefix(_WORD_BEGINS) for p in pieces if p.startswith(_WORD_BEGINS)]
    others = [p for p in pieces if not p.startswith(_WORD_BEGINS)]
    if begins:
        others.insert(0, rf"\b(?=\w)(?:{'|'.join(begins)})")
    return re.compile("|".join(others))


def _alternatives(pattern: str) -> list[str]:
    """Split a pattern at its outermost bars."""
    pieces = [""]
    depth = 0
    escaped = in_class = False
    for letter in pattern:
        if escaped:
            escaped = False
        elif letter == "\\":
            escaped = True
        elif in_class:
            in_class = letter != "]"
        elif letter == "[":
            in_class = True
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "|" and depth == 0:
            pieces.append("")
            continue
        pieces[-1] += letter
    return pieces
