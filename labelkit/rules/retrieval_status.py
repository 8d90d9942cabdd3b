"""The status line that some prompts ask for: ``retrieval_status: OK`` or ``FAILED``.

The line is a self-report beside the answer. It never decides a label: a model may report a
failure and assert a value all the same, or forget the line and be honest. What it says is a fact
of the row, from which its quality as a detector is counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"retrieval_status", re.IGNORECASE)
_REST = re.compile(
    r"retrieval_status[\s*_`]*+[:\uFF1A][\s*_`]*+(OK|FAILED)\b",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(
    r"retrieval_status\s*+[*_`]*+\s*+[:\uFF1A]\s*+[*_`]*+\s*+(OK|FAILED)\b",
    re.IGNORECASE,
)
_AFTER = re.compile(r"[*_`]{0,9}")


@dataclass(frozen=True, slots=True)
class StatusLine:
    """What the status lines of an answer say.

    ``value`` is ``OK`` or ``FAILED`` by the first line, None without one; ``spans`` are the
    offsets of every line; ``contradictory`` says that later lines disagree with the first.
    """

    value: str | None
    spans: tuple[tuple[int, int], ...] = ()
    contradictory: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        """Facts for the row: ``flag=OK``, ``flag=FAILED`` or ``flag=none``, and what is odd."""
        flags = [f"flag={self.value or 'none'}"]
        if self.value:
            flags.append("flag_line")
        if self.contradictory:
            flags.append("flag_lines_contradict")
        return tuple(flags)


def read_status(text: str, *, published: bool = False) -> StatusLine:
    """Read the status lines of a visible answer.

    A line counts when nothing but signs stands before the name on it. Markdown around name and
    value, in any mix with blanks, and a full-width colon are fine. This is the published
    expression made linear (its leading run of signs is checked backwards from the name) and a
    little wider: the published one allows the marks in one run only, and so does ``published``.
    """
    rest = _PUBLISHED if published else _REST
    values = []
    spans = []
    for name in _NAME.finditer(text):
        start = text.rfind("\n", 0, name.start()) + 1
        found = rest.match(text, name.start())
        if found and not any(c.isalnum() or c == "_" for c in text[start : name.start()]):
            values.append(found[1].upper())
            after = _AFTER.match(text, found.end())
            spans.append((start, after.end() if after else found.end()))
    if not values:
        return StatusLine(None)
    return StatusLine(values[0], tuple(spans), len(set(values)) > 1)


def without_status(text: str, status: StatusLine) -> str:
    """The answer with its status lines blanked out, so that every offset stays where it was."""
    for start, end in status.spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text
