"""From the texts of a file to labels: what is missing, what is a number, what is a word.

Files have no types. The rules here are few and said aloud, because "1" read as a number in one
column and as text in another would make raters disagree who do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from labelkit.errors import StatisticsError
from labelkit.formats.rating_layout import Layout
from labelkit.stats.encode import Place, Value

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def label_values(
    cells: Sequence[Any], layout: Layout, place: Place
) -> tuple[list[Value | None], list[Value] | None, list[str]]:
    """Return the labels that cells stand for (None: missing), the declared labels, and remarks.

    Labels are text unless all of them are numbers; a declared set that is all numbers makes them
    numbers. Values of JSON keep their own kind.

    Args:
        cells: the distinct cells of one question.
        layout: the declared labels, the kind asked for, and what means missing.
        place: names the first place of a cell, for messages.

    Raises:
        StatisticsError: where numbers were asked for and a label is none.
    """
    missing = layout.no_rating
    plain = [None if isinstance(c, str) and c in missing else c for c in cells]
    texts = [c for c in plain if c is not None]
    declared: list[Value] | None = list(layout.labels) or None
    if declared and any(isinstance(c, bool) for c in texts):
        truths = {"true": True, "false": False}
        return plain, [truths.get(str(d).lower(), d) for d in declared], []
    numeric = layout.kind == "number"
    if layout.kind == "auto":
        asked = list(layout.labels) or texts
        numeric = bool(asked) and all(isinstance(c, str) and _is_number(c) for c in asked)
    if numeric:
        plain = [_number(c) if isinstance(c, str) else c for c in plain]
        word = next((k for k, c in enumerate(plain) if isinstance(c, str)), None)
        if word is not None and layout.kind == "number":
            raise StatisticsError(
                f"{place(word)}: label {plain[word]!r} is no number; mend it, or drop --numeric"
            )
        return plain, [_number(d) for d in layout.labels] or None, []
    strays = [c for c in texts if isinstance(c, str) and not _is_number(c)]
    if layout.kind == "auto" and not declared and 0 < len(strays) < len(texts) / 2:
        few = ", ".join(repr(s) for s in strays[:3])
        return (
            plain,
            declared,
            [f"labels are read as text, because {few} is no number; --numeric refuses such labels"],
        )
    return plain, declared, []


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _number(text: str) -> Value:
    """Return a number where the text is one, else the text (which is then refused by its kind)."""
    if not _is_number(text):
        return text
    return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else float(text)
