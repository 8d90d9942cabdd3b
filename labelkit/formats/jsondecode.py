"""Decoding one JSON text: strict first, mended where people's files are not quite JSON.

Python's own decoder lets NaN through and chokes on raw control characters and endless integers.
Here each is read and noted, so that no record is lost for a small fault and none is changed
silently.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from labelkit.formats.reader import Notes

_MAX_DIGITS = 4300
NOT_UTF8 = "the record holds bytes that are not UTF-8"


@dataclass(slots=True)
class Record:
    """One decoded record: 1-based line or 0-based array index, and its value or its fault.

    ``raw`` is its text where ``value`` was decoded in a reader's own, quick way.
    """

    number: int
    value: Any = None
    broken: str | None = None
    notes: Notes = field(default_factory=Notes)
    raw: bytes | None = None

    def exactly(self) -> Record:
        """Return the record as the exact decoder reads it."""
        return self if self.raw is None else line_record(Decoder(), self.number, self.raw)


class Decoder:
    """A JSON decoder that mends what Python's own would let through or choke on."""

    def __init__(self) -> None:
        self._notes = Notes()
        self._strict = json.JSONDecoder(parse_constant=self._constant, parse_float=self._float)
        self._lenient = json.JSONDecoder(
            parse_constant=self._constant,
            parse_float=self._float,
            parse_int=self._int,
            strict=False,
        )

    def line(self, text: str) -> tuple[Any, Notes]:
        """Decode the whole of ``text``; raises ValueError or RecursionError."""
        return self._run(self._strict.decode, self._lenient.decode, text)

    def at(self, text: str, start: int) -> tuple[tuple[Any, int], Notes]:
        """Decode one value at ``start``: ((value, end), notes); raises like ``line``."""
        return self._run(
            lambda t: self._strict.raw_decode(t, start),
            lambda t: self._lenient.raw_decode(t, start),
            text,
        )

    def _run(
        self, strict: Callable[[str], Any], lenient: Callable[[str], Any], text: str
    ) -> tuple[Any, Notes]:
        self._notes = notes = Notes()
        try:
            return strict(text), notes
        except json.JSONDecodeError as error:
            if "control character" not in error.msg:
                raise
            self._notes = notes = Notes()
            value = lenient(text)
            notes.repaired("raw control characters inside a string were accepted")
            return value, notes
        except ValueError:
            # An integer beyond Python's limit of digits.
            self._notes = notes = Notes()
            return lenient(text), notes

    def _constant(self, _name: str) -> None:
        self._notes.repaired("NaN or an infinity became null")

    def _float(self, text: str) -> float | None:
        value = float(text)
        if math.isinf(value):
            self._notes.repaired("a number too large for JSON arithmetic became null")
            return None
        return value

    def _int(self, text: str) -> int | str:
        if len(text) > _MAX_DIGITS:
            self._notes.repaired(f"an integer of more than {_MAX_DIGITS} digits was kept as text")
            return text
        return int(text)


def line_record(decoder: Decoder, number: int, line: bytes) -> Record:
    """Decode the bytes of one record; lone surrogates written as bytes are let through."""
    try:
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            text = line.decode("utf-8", errors="surrogatepass")
    except UnicodeDecodeError:
        return Record(number, broken=NOT_UTF8)
    return decoded(decoder, number, text)


def decoded(decoder: Decoder, number: int, text: str) -> Record:
    """Decode the text of one record."""
    try:
        value, notes = decoder.line(text)
    except (ValueError, RecursionError) as error:
        return Record(number, broken=fault(error))
    return Record(number, value, notes=notes)


def fault(error: Exception) -> str:
    """Return why a text could not be decoded, in one sentence without its values."""
    if isinstance(error, RecursionError):
        return "the record is nested too deeply"
    message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return f"the record is not valid JSON ({message})"
