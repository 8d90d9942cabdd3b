"""A moving window over one JSON file: values are decoded one by one and then dropped.

What is damaged is skipped by its brackets, so that one bad comma does not cost a whole file, and
what is skipped is never kept, so that memory is that of the largest value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO

from labelkit.formats.jsondecode import Decoder, Record, fault, line_record

WINDOW_CHARS = 262_144

SPACE = re.compile(r"[ \t\r\n]*")
SPACE_COMMA = re.compile(r"[ \t\r\n,]*")
STRUCTURE = re.compile(r'"|[\[\]{},]')
_STRING_END = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_RAW_BYTES = re.compile("[\udc80-\udcff]")


class Window:
    """A moving piece of a text file: what is consumed is dropped, more is read on demand.

    ``lost`` says that the rest could not be told apart; ``closed`` how many elements the list had
    that was read to its bracket.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.text = ""
        self.at = 0
        self.ended = False
        self.lost = False
        self.closed: int | None = None

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


def elements(decoder: Decoder, window: Window) -> Iterator[Record]:
    """Yield the elements of a list whose bracket is open; a list that never ends is told."""
    number = 0
    while True:
        character = window.skip(SPACE_COMMA)
        if character == "]":
            window.at += 1
            window.closed = number
            return
        if not character:
            yield Record(number, broken="the file ends before the array does")
            return
        yield element(decoder, window, number)
        if window.lost:
            return
        number += 1


def element(decoder: Decoder, window: Window, number: int) -> Record:
    """Decode the value that begins at the window; a damaged one is skipped and told."""
    while True:
        start = window.at
        try:
            (value, end), notes = decoder.at(window.text, start)
        except (ValueError, RecursionError) as error:
            if not window.ended and _maybe_cut(error, len(window.text)):
                window.grow()
                continue
            return _skip_element(window, number, fault(error))
        number_cut = not isinstance(value, dict | list | str) and end >= len(window.text) - 2
        if number_cut and not window.ended:
            window.grow()  # a number may go on: `12` as `123`, or `1.` and `1e-` as `1`
            continue
        window.at = end
        raw = window.text[start:end]
        if not raw.isascii() and _RAW_BYTES.search(raw):
            return _undecodable(decoder, number, raw)
        return Record(number, value, notes=notes)


def _undecodable(decoder: Decoder, number: int, raw: str) -> Record:
    """Read a record with surrogates written as raw bytes; any other bad byte breaks it."""
    return line_record(decoder, number, raw.encode("utf-8", errors="surrogateescape"))


def _maybe_cut(error: Exception, length: int) -> bool:
    """Whether the fault may only be that the window ends here."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos >= length - 12


def _skip_element(window: Window, number: int, why: str) -> Record:
    """Find the end of a damaged element by its brackets, without keeping what is skipped.

    A closing bracket that does not fit closes what was left open inside it.
    """
    open_brackets: list[str] = []
    while True:
        match = STRUCTURE.search(window.text, window.at)
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
            if not skip_string(window):
                return _rest_lost(window, number, why)
        elif mark in "[{":
            open_brackets.append(mark)
        elif mark in "]}":
            opener = "[" if mark == "]" else "{"
            while opener in open_brackets and open_brackets.pop() != opener:
                pass


def _rest_lost(window: Window, number: int, why: str) -> Record:
    window.lost = True
    return Record(number, broken=f"{why}; the rest of the file could not be told apart")


def skip_string(window: Window) -> bool:
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


def skip_list(window: Window) -> bool:
    """Move past the end of a list whose bracket is open; False when the file ends first."""
    depth = 1
    while depth:
        match = STRUCTURE.search(window.text, window.at)
        if match is None:
            window.at = len(window.text)
            if window.ended:
                return False
            window.grow()
            continue
        window.at = match.end()
        mark = match.group()
        if mark == '"':
            if not skip_string(window):
                return False
        elif mark != ",":
            depth += 1 if mark in "[{" else -1
    return True
