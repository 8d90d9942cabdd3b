"""Tables of ratings as people keep them (CSV, TSV, JSON Lines, JSON) as numbered columns.

A cell is turned into a number the moment it is read, and each distinct text is kept once, so a
million rows take seconds and little memory without a data frame. This module knows nothing of
raters or labels; it only says which row of which file cannot be read.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import FormatError, InputError

Ints = NDArray[np.int32]
Pick = Callable[[Sequence[str]], Sequence[str]]
"""Chooses, from the names in a file's header, the columns to read."""

DELIMITERS = (",", "\t", ";", "|")
_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
_CHUNK = 1 << 10
"""Rows held at once; more of them only make the garbage collector work."""
_HEAD = 1 << 16


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a file.

    Args:
        name: its name in the header.
        codes: which of ``values`` every row holds, shape (n_rows,).
        values: the distinct cells in order of first appearance; texts without surrounding space.
    """

    name: str
    codes: Ints
    values: Sequence[Any]


@dataclass(frozen=True, eq=False)
class Columns:
    """The chosen columns of a file, all of length ``n_rows``."""

    header: tuple[str, ...]
    n_rows: int
    chosen: Mapping[str, Column]


def read_columns(path: Path, pick: Pick, *, delimiter: str | None = None) -> Columns:
    """Read some columns of a table.

    Args:
        path: a CSV or TSV file with a header line, JSON Lines, or one JSON array of objects.
        pick: chooses the columns, given the header.
        delimiter: of a CSV file; default the one that splits the header into most columns.

    Raises:
        InputError: for a file that does not exist, or what ``pick`` raises.
        FormatError: for an empty file, text that is not UTF-8, a single column, or a row that
            does not fit the header; names the row.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if _is_json(path, file):
                return _read_json(path, file, pick)
            return _read_csv(path, file, pick, delimiter)
    except UnicodeDecodeError:
        raise FormatError(_not_utf8(path)) from None
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the name") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name a file of ratings") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; check the file") from None


class _Numbering(dict[Any, int]):
    """Numbers cells in order of first appearance; surrounding space makes no new value."""

    def __init__(self) -> None:
        super().__init__()
        self.values_seen: list[Any] = []

    def __missing__(self, cell: Any) -> int:
        plain = cell.strip() if isinstance(cell, str) else cell
        if plain is cell or plain == cell:
            self.values_seen.append(cell[1] if isinstance(cell, tuple) else cell)
            number = len(self.values_seen) - 1
        else:
            number = self[plain]
        self[cell] = number
        return number


class _Growing:
    """A column that is being read, chunk by chunk."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._numbering = _Numbering()
        self._chunks: list[Ints] = []

    def add(self, cells: Sequence[Any]) -> None:
        """Number the cells of the next rows."""
        numbers = map(self._numbering.__getitem__, cells)
        self._chunks.append(np.fromiter(numbers, dtype=np.int32, count=len(cells)))

    def done(self) -> Column:
        """The finished column."""
        codes = np.concatenate(self._chunks) if self._chunks else np.empty(0, dtype=np.int32)
        return Column(self.name, codes, self._numbering.values_seen)


def _is_json(path: Path, file: TextIO) -> bool:
    """Tell JSON from CSV by the name of the file, else by its first character."""
    head = file.read(_HEAD)
    file.seek(0)
    if not head.strip():
        raise FormatError(f"{path} is empty; expected a header line and one row per item or rating")
    if path.suffix.lower() in _JSON_SUFFIXES:
        return True
    return path.suffix.lower() not in {".csv", ".tsv"} and head.lstrip()[0] in "[{"


def _read_csv(path: Path, file: TextIO, pick: Pick, delimiter: str | None) -> Columns:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.reader(file, delimiter=delimiter or delimiter_of(path, file))
    try:
        header = tuple(name.strip() for name in next(filter(None, reader)))
        check_header(path, header)
        chosen = list(pick(header))
        places = [header.index(name) for name in chosen]
        columns = [_Growing(name) for name in chosen]
        n_rows = 0
        for rows in _chunks(filter(None, reader)):
            if set(map(len, rows)) != {len(header)}:
                raise FormatError(_ragged(path, rows, header, n_rows))
            cells = list(zip(*rows, strict=True))
            for column, place in zip(columns, places, strict=True):
                column.add(cells[place])
            n_rows += len(rows)
    except csv.Error as error:
        raise FormatError(
            f"{path}, line {reader.line_num}: {error}; check the quotes around there"
        ) from None
    return _finished(path, header, n_rows, columns)


def delimiter_of(path: Path, file: TextIO) -> str:
    """The character that splits the header line into most columns; ties go to the usual one."""
    head = file.read(_HEAD)
    file.seek(0)
    usual = sorted(DELIMITERS, key=lambda d: path.suffix.lower() == ".tsv" and d != "\t")

    def width(delimiter: str) -> int:
        lines = csv.reader(head.splitlines(keepends=True), delimiter=delimiter)
        try:
            return len(next((row for row in lines if row), []))
        except csv.Error:
            return 0

    return max(usual, key=width)


def check_header(path: Path, header: Sequence[str]) -> None:
    """Refuse a header that names one column only, or one twice.

    Raises:
        FormatError: it does.
    """
    if len(header) < 2:
        raise FormatError(
            f"{path} has one column only, {header[0]!r}; expected an item column and one column "
            "per rater, or the columns item, rater and label"
        )
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise FormatError(f"{path} has two columns {twice!r}; rename one")


def _ragged(path: Path, rows: Sequence[Sequence[str]], header: Sequence[str], before: int) -> str:
    place = next(k for k, row in enumerate(rows) if len(row) != len(header))
    row = rows[place]
    return (
        f"{path}, row {before + place + 1} (begins with {row[0]!r}) has {len(row)} cells where the "
        f"header names {len(header)} columns; mend the row, or quote cells that hold the delimiter"
    )


def _chunks(rows: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk


def _read_json(path: Path, file: TextIO, pick: Pick) -> Columns:
    first = file.read(_HEAD).lstrip()[:1]
    file.seek(0)
    records = _array(path, file) if first == "[" else _lines(path, file)
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            raise FormatError(
                f"{path}, record {number} is no JSON object; expected one object per item or rating"
            )
    header = tuple(dict.fromkeys(name for record in records for name in record))
    if not records:
        raise FormatError(f"{path} holds no record; expected one JSON object per item or rating")
    check_header(path, header or ("",))
    columns = []
    for name in pick(header):
        column = _Growing(name)
        column.add([_cell(path, k, name, r.get(name)) for k, r in enumerate(records, 1)])
        columns.append(column)
    return _finished(path, header, len(records), columns)


def _array(path: Path, file: TextIO) -> list[Any]:
    try:
        return list(json.load(file))
    except (json.JSONDecodeError, RecursionError) as error:
        raise FormatError(f"{path} is not valid JSON: {error}; mend it there") from None


def _lines(path: Path, file: TextIO) -> list[Any]:
    records = []
    for number, line in enumerate(file, 1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except (json.JSONDecodeError, RecursionError) as error:
                raise FormatError(
                    f"{path}, line {number} is not valid JSON: {error}; mend the line"
                ) from None
    return records


def _cell(path: Path, record: int, name: str, value: Any) -> Any:
    """A key that keeps ``1``, ``1.0``, ``true`` and ``"1"`` apart; texts are their own keys."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise FormatError(
            f"{path}, record {record}: {name!r} holds a {type(value).__name__}; expected a text, "
            "a number, true, false or null"
        )
    return (type(value).__name__, None if value != value else value)  # noqa: PLR0124 - NaN


def _finished(
    path: Path, header: tuple[str, ...], n_rows: int, columns: Sequence[_Growing]
) -> Columns:
    if n_rows == 0:
        raise FormatError(f"{path} has a header but no row; add one row per item or rating")
    return Columns(header, n_rows, {column.name: column.done() for column in columns})


def _not_utf8(path: Path) -> str:
    """Say where the first byte is that no UTF-8 text can hold."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1 and line[:2] in {b"\xff\xfe", b"\xfe\xff"}:
                return f"{path} is UTF-16 text; save it as UTF-8"
            if number == 1 and line[:4] == b"PK\x03\x04":
                return f"{path} is a zip archive or spreadsheet; save the sheet as CSV (UTF-8)"
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = line[error.start]
                return f"{path}, line {number}: byte 0x{byte:02x} is not UTF-8; save it as UTF-8"
    return f"{path} is not UTF-8 text; save it as UTF-8"
