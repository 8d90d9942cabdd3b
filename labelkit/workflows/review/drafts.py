"""What a person has begun to say about an item, as it is kept between key strokes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labelkit.errors import InputError

LONGEST = 200_000
"""Characters of note and quotes together."""
MOST_QUOTES = 50


@dataclass(frozen=True)
class Quote:
    """A piece of the trace that a person points at; ``part`` as in ``Step.part``, or None."""

    text: str
    part: str | None = None


@dataclass(frozen=True)
class Draft:
    """Answers by question (any that there are yet), note, flag, confidence, quotes, active time."""

    answers: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    flagged: bool = False
    confidence: str | None = None
    quotes: Sequence[Quote] = field(default=())
    active_ms: int = 0

    def body(self) -> dict[str, Any]:
        """Return the draft as plain JSON.

        Raises:
            InputError: it is too long to be kept.
        """
        size = len(self.note) + sum(len(quote.text) for quote in self.quotes)
        if size > LONGEST or len(self.quotes) > MOST_QUOTES:
            raise InputError(
                f"a note with quotes of {size} characters is too long; {LONGEST} characters and"
                f" {MOST_QUOTES} quotes can be kept"
            )
        return {
            "answers": dict(self.answers),
            "note": self.note,
            "flagged": self.flagged,
            "confidence": self.confidence,
            "quotes": [[quote.text, quote.part] for quote in self.quotes],
            "active_ms": self.active_ms,
        }


def read_draft(body: Mapping[str, Any]) -> Draft:
    """Return the draft of a body."""
    return Draft(
        answers=dict(body["answers"]),
        note=body["note"],
        flagged=body["flagged"],
        confidence=body["confidence"],
        quotes=tuple(Quote(text, part) for text, part in body["quotes"]),
        active_ms=body["active_ms"],
    )
