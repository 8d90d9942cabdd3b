"""JSON Lines, one big array or one object: the same stream of records, one in memory at a time.

``json.load`` would hold a 1 GB array as text and as objects at once, and a single bad comma would
cost the whole file. This module decides which of the three a file is and yields its records one
after the other; it also streams one long list inside an object. It knows nothing about what the
records mean.
"""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from labelkit.formats.jsondecode import NOT_UTF8, Decoder, Record, decoded, line_record
from labelkit.formats.jsonwindow import SPACE, SPACE_COMMA, Window, element, elements, skip_list
from labelkit.formats.reader import Span

Quick = Callable[[bytes], Any]
"""Decodes a line in another way than the exact decoder; None where it cannot."""

READ_BYTES = 1 << 20

__all__ = [
    "Record", "json_records", "json_value", "line_spans", "lines_of", "member_records", "members",
]  # fmt: skip


def json_records(
    path: Path, *, quick: Quick | None = None, span: Span | None = None
) -> Iterator[Record]:
    """Yield the records of a JSON Lines file, of one JSON array, or one object.

    With ``quick`` the lines of a file are tried on it first; a record whose value it made can be
    asked for the exact one. With ``span`` the file
    is one of lines, of which these are read; they are numbered from 1.

    Constant memory for lines and arrays: the largest record and a window. A file that begins with
    ``[`` is an array; a file whose first line is no whole value and whose second line does not
    begin a new one is a single (pretty-printed) value; everything else is JSON Lines. Empty lines
    are skipped. Damaged records come back with ``broken`` set.
    """
    shape = _shape(path) if span is None else "lines"
    if shape == "array":
        yield from _array(path)
    elif shape == "single":
        yield _single(path)
    else:
        yield from _lines(path, quick=quick, span=span)


def line_spans(path: Path, size: int) -> Iterator[Span]:
    """Cut a file of lines into runs of whole lines, each of at least ``size`` bytes but the last.

    Nothing is yielded for a file of another shape. Only the line that a cut falls into is read.
    """
    if _shape(path) != "lines":
        return
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        start = 0
        while start < end:
            file.seek(min(start + size, end) - 1)
            file.readline()
            stop = file.tell()
            yield Span(start, stop)
            start = stop


def json_value(data: bytes, number: int = 1) -> Record:
    """Decode one whole JSON text, mended and judged like a record of a file."""
    return line_record(Decoder(), number, data.removeprefix(codecs.BOM_UTF8))


def members(path: Path, streamed: str) -> dict[str, Any]:
    """Return the members of the file's one object but for the list ``streamed``, which is skipped.

    Members that cannot be read are left out; the elements' reader says what is wrong.
    """
    return {key: record.value for key, record in _members(path, streamed)}


def member_records(path: Path, streamed: str) -> Iterator[Record]:
    """Yield the elements of the list ``streamed`` in the file's one object, in constant memory.

    Numbered from 0. Nothing is yielded where there is no such list.
    """
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        window = Window(file)
        decoder = Decoder()
        for key in _keys(decoder, window):
            if key == streamed and window.skip(SPACE) == "[":
                window.at += 1
                yield from elements(decoder, window)
                return
            element(decoder, window, 0)


def _members(path: Path, streamed: str) -> Iterator[tuple[str, Record]]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        window = Window(file)
        decoder = Decoder()
        for key in _keys(decoder, window):
            if key == streamed and window.skip(SPACE) == "[":
                window.at += 1
                if not skip_list(window):
                    return
            else:
                record = element(decoder, window, 0)
                if record.broken is None:
                    yield key, record


def _keys(decoder: Decoder, window: Window) -> Iterator[str]:
    """Yield the keys of an object; the caller moves the window past each value."""
    if window.skip(SPACE) != "{":
        return
    window.at += 1
    while window.skip(SPACE_COMMA) == '"':
        record = element(decoder, window, 0)
        if record.broken is not None or window.skip(SPACE) != ":":
            return
        window.at += 1
        window.skip(SPACE)
        yield str(record.value)


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
        Decoder().line(first.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError):
        return "single"
    return "lines"


def _next_full_line(file: IO[bytes]) -> bytes:
    """Return the next line that is not blank, or b"" at the end."""
    for line in file:
        if line.strip(b" \t\r\n\xef\xbb\xbf"):
            return line
    return b""


def _lines(path: Path, *, quick: Quick | None, span: Span | None) -> Iterator[Record]:
    decoder = Decoder()
    begins = span is None or span.start == 0
    for number, raw in enumerate(_raw_lines(path) if span is None else lines_of(path, span), 1):
        line = raw.removeprefix(codecs.BOM_UTF8) if begins and number == 1 else raw
        value = quick(line) if quick is not None else None
        if value is not None:
            yield Record(number, value, raw=line)
        elif line.strip():
            yield line_record(decoder, number, line)


def _raw_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb", buffering=READ_BYTES) as file:
        yield from file


def lines_of(path: Path, span: Span) -> Sequence[bytes]:
    """Return the lines of a span; no more is read."""
    if span.lines is not None:
        return span.lines
    with path.open("rb") as file:
        file.seek(span.start)
        return io.BytesIO(file.read(span.stop - span.start)).readlines()


def _single(path: Path) -> Record:
    try:
        text = path.read_bytes().decode("utf-8-sig", errors="surrogatepass")
    except UnicodeDecodeError:
        return Record(1, broken=NOT_UTF8)
    return decoded(Decoder(), 1, text)


def _array(path: Path) -> Iterator[Record]:
    decoder = Decoder()
    # surrogateescape: a bad byte damages the record it is in, not the rest of the file.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        window = Window(file)
        window.skip(SPACE)
        window.at += 1
        yield from elements(decoder, window)
        if window.closed is not None and window.skip(SPACE):
            yield Record(window.closed, broken="there is more text after the end of the array")
