"""The rows of a table of ratings one after the other, whatever it is written in.

CSV and TSV with a header, JSON Lines or one array of objects, Parquet. A row that does not fit is
a broken record and ends nothing. ``rating_files`` reads the same tables as numbered columns for
statistics; here each row is wanted whole and none is kept.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from labelkit.errors import FormatError
from labelkit.formats.jsonstream import Record, json_records
from labelkit.formats.rating_files import check_header, delimiter_of

_JSON_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
_LOOKED_AT = 200
_BATCH = 1000
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def table_header(path: Path, delimiter: str | None = None) -> tuple[str, ...]:
    """Return the names of the columns; of JSON, the keys of the first 200 records.

    Raises:
        FormatError: the file is no table: one column, a name twice, no row, damaged.
    """
    if is_parquet(path):
        with _parquet(path) as file:
            return tuple(str(name) for name in file.schema_arrow.names)
    if _is_json(path):
        records = islice(json_records(path), _LOOKED_AT)
        rows = [r.value for r in records if isinstance(r.value, dict)]
        header = tuple(dict.fromkeys(str(key) for row in rows for key in row))
    else:
        header = _csv_header(path, delimiter)
    check_header(path, header or ("",))
    return header


def table_rows(path: Path, delimiter: str | None = None) -> Iterator[Record]:
    """Yield the rows as objects; numbered by line (CSV, JSON Lines) or from 0 (array, Parquet)."""
    if is_parquet(path):
        yield from _parquet_rows(path)
    elif _is_json(path):
        yield from json_records(path)
    else:
        yield from _csv_rows(path, delimiter)


def decimal_comma(path: Path, delimiter: str | None = None) -> bool:
    """Whether numbers of a table may have a comma before their decimals: one with semicolons."""
    if is_parquet(path) or _is_json(path):
        return False
    if delimiter is not None:
        return delimiter == ";"
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        return delimiter_of(path, file) == ";"


def with_point(cell: str) -> str:
    """Return a number with a comma before its decimals as one with a point, other text as it is."""
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell


def is_parquet(path: Path) -> bool:
    """Whether the file begins as Parquet does."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _is_json(path: Path) -> bool:
    if path.suffix.lower() in _JSON_SUFFIXES:
        return True
    with path.open("rb") as file:
        head = file.read(256).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return path.suffix.lower() not in {".csv", ".tsv"} and head in {b"{", b"["}


def _parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise FormatError(
            f"{path} is a damaged Parquet file ({_first_sentence(error)}); write it again"
        ) from None


def _first_sentence(error: Exception) -> str:
    return str(error).splitlines()[0].split(". ")[0].rstrip(".")


def _parquet_rows(path: Path) -> Iterator[Record]:
    number = 0
    with _parquet(path) as file:
        names = _class_names(file.schema_arrow.metadata)
        try:
            for batch in file.iter_batches(batch_size=_BATCH):
                for row in batch.to_pylist():
                    yield Record(number, {**row, **_named(row, names)} if names else row)
                    number += 1
        except (pa.ArrowException, OSError) as error:
            why = _first_sentence(error)
            yield Record(number, broken=f"the rest of the file cannot be read ({why})")


def _class_names(metadata: dict[bytes, bytes] | None) -> dict[str, list[str]]:
    """Return the names behind the codes of each class column, as the `datasets` library notes."""
    try:
        features = json.loads((metadata or {})[b"huggingface"])["info"]["features"]
        return {
            column: [str(name) for name in found["names"]]
            for column, found in features.items()
            if isinstance(found, dict) and found.get("_type") == "ClassLabel"
        }
    except (KeyError, TypeError, AttributeError, ValueError):
        return {}


def _named(row: dict[str, Any], names: dict[str, list[str]]) -> dict[str, Any]:
    """The cells of class columns by name; -1 is how that library writes that there is none."""
    found: dict[str, Any] = {}
    for column, known in names.items():
        code = row.get(column)
        if isinstance(code, int):
            found[column] = None if code == -1 else known[code] if 0 <= code < len(known) else code
    return found


def _csv_header(path: Path, delimiter: str | None) -> tuple[str, ...]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter or delimiter_of(path, file))
        try:
            return tuple(name.strip() for name in next(filter(None, reader), []))
        except csv.Error as error:
            raise FormatError(f"{path}: its header cannot be read ({error}); mend it") from None


def _csv_rows(path: Path, delimiter: str | None) -> Iterator[Record]:
    header = _csv_header(path, delimiter)
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter or delimiter_of(path, file))
        seen_header = False
        while True:
            number = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                yield Record(number, broken=f"the row cannot be read ({error})")
                continue
            if row is None:
                return
            if not row:
                continue
            if not seen_header:
                seen_header = True
            elif len(row) != len(header):
                yield Record(number, broken="the row has another number of cells than the header")
            elif any("\udc80" <= c <= "\udcff" for cell in row for c in cell):
                yield Record(number, broken="the record holds bytes that are not UTF-8")
            else:
                values: dict[str, Any] = dict(zip(header, row, strict=True))
                yield Record(number, values)
