r"""Texts of strangers made safe to print: a model's name may hold what a terminal would obey.

Escape sequences recolour, rename or clear a terminal, bidirectional marks reorder what is read,
and a lone surrogate cannot be written at all. Such characters are shown as escapes (``\x1b``);
everything a person can read stays as it is. Data in the store is never changed by this.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any


def printable(text: str, *, keep: str = "") -> str:
    """Return ``text`` with every character that is not printed shown as an escape.

    ``keep`` are characters that stay, such as the line ends of our own texts.
    """
    if text.isprintable():
        return text
    return "".join(c if _is_shown(c) or c in keep else _escape(c) for c in text)


def printable_json(value: Any) -> str:
    """Return indented JSON that can be printed; it reads back as the same value."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return "\n".join(_json_line(line) for line in text.split("\n"))


def _json_line(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(c if _is_shown(c) else json.dumps(c)[1:-1] for c in line)


def _is_shown(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
