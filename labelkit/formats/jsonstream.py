"""JSON Lines, one big array or one object: the same stream of records, one in memory at a time.

``json.load`` would hold a 1 GB array as text and as objects at once, and a single bad comma would
cost the whole file. This module decodes one record after the other from a window that is read
piece by piece, finds its feet again after a damaged record, and says what it mended. It knows
nothing about what the records mean.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from labelkit.formats.reader import Notes

WINDOW_CHARS = 262_144

_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_COMMA = re.compile(r"[ \t\r\n,]*")
_STRUCTURE = re.compile(r'"|[\[\]{},]')
_STRING_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_RAW_BYTES = re.compile("[\udc80-\udcff]")
_MAX_DIGITS = 4300
_NOT_UTF8 = "the record holds bytes that are not UTF-8"


@dataclass(slots=True)
class Record:
    """One decoded record: 1-based line or 0-based array index, and its value or its fault."""

    number: int
    value: Any = None
    broken: str | None = None
    notes: Notes = field(default_factory=Notes)


class _Decoder:
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


def json_records(path: Path) -> Iterator[Record]:
    """Yield the records of a JSON Lines file, of one JSON array, or one object.

    Constant memory for lines and arrays: the largest record and a window. A file that begins with
    ``[`` is an array; a file whose first line is no whole value and whose second line does not
    begin a new one is a single (pretty-printed) value; everything else is JSON Lines. Empty lines
    are skipped. Damaged records come back with ``broken`` set.
    """
    shape = _shape(path)
    if shape == "array":
        yield from _array(path)
    elif shape == "single":
        yield _single(path)
    else:
        yield from _lines(path)


def _shape(path: Path) -> str:
    with path.open("rb") as file:
        first = _next_full_line(file).removeprefix(codecs.BOM_UTF8).lstrip()
        if not first.startswith(b"["):
            second = _next_full_line(file)
    if first.startswith(b"["):
        return "array"
    if not second or not first.startswith(b"{") or second.lstrip()[:1] == b"{":
        return "lines"
    try:
        _Decoder().line(first.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError):
        return "single"
    return "lines"


def _next_full_line(file: IO[bytes]) -> bytes:
    """Return the next line that is not blank, or b"" at the end."""
    for line in file:
        if line.strip(b" \t\r\n\xef\xbb\xbf"):
            return line
    return b""


def _lines(path: Path) -> Iterator[Record]:
    decoder = _Decoder()
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
            if line.strip():
                yield _line_record(decoder, number, line)


def _line_record(decoder: _Decoder, number: int, line: bytes) -> Record:
    try:
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            text = line.decode("utf-8", errors="surrogatepass")
    except UnicodeDecodeError:
        return Record(number, broken=_NOT_UTF8)
    return _decoded(decoder, number, text)


def _single(path: Path) -> Record:
    try:
        text = path.read_bytes().decode("utf-8-sig", errors="surrogatepass")
    except UnicodeDecodeError:
        return Record(1, broken=_NOT_UTF8)
    return _decoded(_Decoder(), 1, text)


def _decoded(decoder: _Decoder, number: int, text: str) -> Record:
    try:
        value, notes = decoder.line(text)
    except (ValueError, RecursionError) as error:
        return Record(number, broken=_why(error))
    return Record(number, value, notes=notes)


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "the record is nested too deeply"
    message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return f"the record is not valid JSON ({message})"


class _Window:
    """A moving piece of a text file: what is consumed is dropped, more is read on demand."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.text = ""
        self.at = 0
        self.ended = False
        self.lost = False

    def grow(self) -> None:
        """Read on; doubling keeps the work linear for a record of any size."""
        wanted = max(WINDOW_CHARS, len(self.text) - self.at)
        piece = self._file.read(wanted)
        self.ended = len(piece) < wanted
        self.text = self.text[self.at :] + piece
        self.at = 0

    def skip(self, pattern: re.Pattern[str]) -> str:
        """Move past ``pattern`` and return the next character, or "" at the end of the file."""
        while True:
            match = pattern.match(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.text) or self.ended:
                return self.text[self.at : self.at + 1]
            self.grow()


def _array(path: Path) -> Iterator[Record]:
    decoder = _Decoder()
    # surrogateescape: a bad byte damages the record it is in, not the rest of the file.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        window = _Window(file)
        window.skip(_SPACE)
        window.at += 1
        number = 0
        while True:
            character = window.skip(_SPACE_COMMA)
            if character == "]":
                break
            if not character:
                yield Record(number, broken="the file ends before the array does")
                return
            yield _element(decoder, window, number)
            if window.lost:
                return
            number += 1
        window.at += 1
        if window.skip(_SPACE):
            yield Record(number, broken="there is more text after the end of the array")


def _element(decoder: _Decoder, window: _Window, number: int) -> Record:
    while True:
        start = window.at
        try:
            (value, end), notes = decoder.at(window.text, start)
        except (ValueError, RecursionError) as error:
            if not window.ended and _maybe_cut(error, len(window.text)):
                window.grow()
                continue
            return _skip_element(window, number, _why(error))
        number_cut = not isinstance(value, dict | list | str) and end >= len(window.text) - 2
        if number_cut and not window.ended:
            window.grow()  # a number may go on: `12` as `123`, or `1.` and `1e-` as `1`
            continue
        window.at = end
        raw = window.text[start:end]
        if not raw.isascii() and _RAW_BYTES.search(raw):
            return _undecodable(decoder, number, raw)
        return Record(number, value, notes=notes)


def _undecodable(decoder: _Decoder, number: int, raw: str) -> Record:
    """Read a record with surrogates written as raw bytes; any other bad byte breaks it."""
    return _line_record(decoder, number, raw.encode("utf-8", errors="surrogateescape"))


def _maybe_cut(error: Exception, length: int) -> bool:
    """Whether the fault may only be that the window ends here."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos >= length - 12


def _skip_element(window: _Window, number: int, why: str) -> Record:
    """Find the end of a damaged element by its brackets, without keeping what is skipped.

    A closing bracket that does not fit closes what was left open inside it.
    """
    open_brackets: list[str] = []
    while True:
        match = _STRUCTURE.search(window.text, window.at)
        if match is None:
            window.at = len(window.text)
            if window.ended:
                return _rest_lost(window, number, why)
            window.grow()
            continue
        mark = match.group()
        if not open_brackets and mark in {",", "]"}:
            window.at = match.start()
            return Record(number, broken=why)
        window.at = match.end()
        if mark == '"':
            if not _skip_string(window):
                return _rest_lost(window, number, why)
        elif mark in "[{":
            open_brackets.append(mark)
        elif mark in "]}":
            opener = "[" if mark == "]" else "{"
            while opener in open_brackets and open_brackets.pop() != opener:
                pass


def _rest_lost(window: _Window, number: int, why: str) -> Record:
    window.lost = True
    return Record(number, broken=f"{why}; the rest of the file could not be told apart")


def _skip_string(window: _Window) -> bool:
    """Move past the end of a string; False when the file ends first."""
    while True:
        match = _STRING_END.match(window.text, window.at)
        if match:
            window.at = match.end()
            return True
        if window.ended:
            window.at = len(window.text)
            return False
        window.grow()
