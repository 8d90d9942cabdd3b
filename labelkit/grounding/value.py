"""One typed value with its place in a text: what the finders of the neighbouring modules yield."""

from __future__ import annotations

from typing import Literal, NamedTuple

from labelkit.grounding.numbers import Reading
from labelkit.grounding.times import When

ValueKind = Literal["number", "datetime", "duration", "identifier", "citation"]


class Value(NamedTuple):
    """One value and where it stands (character offsets, end exclusive).

    ``readings`` for numbers and one-unit durations (likely one first), ``unscaled`` the same
    without a magnitude word, ``seconds`` a duration (``unit`` ``mo`` or ``yr``: months), ``whens``
    a date's readings, ``canonical`` the comparable form of an identifier or citation.
    """

    kind: ValueKind
    start: int
    end: int
    text: str
    readings: tuple[Reading, ...] = ()
    unscaled: tuple[Reading, ...] = ()
    unit: str | None = None
    currency: str | None = None
    seconds: Reading | None = None
    whens: tuple[When, ...] = ()
    canonical: str = ""
    written_unit: str = ""

    def moved(self, by: int) -> Value:
        """The same value so many characters later; ``_replace`` costs three times as much."""
        return Value(
            self.kind, self.start + by, self.end + by, self.text, self.readings, self.unscaled,
            self.unit, self.currency, self.seconds, self.whens, self.canonical, self.written_unit,
        )  # fmt: skip

    @property
    def shown(self) -> tuple[Reading, ...]:
        """The readings with and without the magnitude word; ``readings`` where there is none."""
        if self.unscaled is self.readings or self.unscaled == self.readings:
            return self.readings
        return (*self.readings, *self.unscaled)


class Claims:
    """Ranges already taken by an earlier pass."""

    def __init__(self, length: int) -> None:
        self._taken = bytearray(length)

    def end_of(self, place: int) -> int:
        """End of the taken range that ``place`` lies in; ``place`` itself where it is free."""
        if not self._taken[place]:
            return place
        end = self._taken.find(0, place)
        return len(self._taken) if end < 0 else end

    def take(self, start: int, end: int) -> bool:
        """Take a range; False, and nothing taken, where a part of it is taken already."""
        if self._taken.find(1, start, end) >= 0:
            return False
        self._taken[start:end] = b"\x01" * (end - start)
        return True
