"""The tables of a release: their columns, and how rows become files and come back.

Every table is written twice with the same rows in the same order: as JSON Lines, one canonical
object per line, and as Parquet. Open-ended values (tags, bodies) are JSON text, so that every
loader infers one type per column. A text that a file could not hold (a lone surrogate, NUL) is
marked JSON, as in the store (``labelkit.store.columns``). Rows stream: memory does not grow.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from labelkit.digest import canonical_json
from labelkit.store.columns import decode_text, encode_text

Row = Mapping[str, Any]

_BATCH = 500
_TEXT = pa.string()
_LABEL_NAME = pa.struct(
    [("rater", _TEXT), ("question", _TEXT), ("repeat", pa.int64()), ("version", pa.int64())]
)
_ACT = pa.struct(
    [
        ("version", pa.int64()),
        ("round", pa.int64()),
        ("act", _TEXT),
        ("active_ms", pa.int64()),
        ("guideline", _TEXT),
        ("created_at", _TEXT),
        ("labels", pa.list_(_LABEL_NAME)),
    ]
)
_EVIDENCE = pa.struct(
    [("part", _TEXT), ("quote", _TEXT), ("start", pa.int64()), ("end", pa.int64())]
)


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(list(columns.items()))


TABLES: dict[str, pa.Schema] = {
    "tasks": _schema(
        digest=_TEXT,
        task_set=_TEXT,
        task_id=_TEXT,
        domain=_TEXT,
        subset=_TEXT,
        tags=_TEXT,
        licence=_TEXT,
        withheld=pa.bool_(),
        body=_TEXT,
    ),
    "traces": _schema(
        digest=_TEXT,
        task_set=_TEXT,
        task_id=_TEXT,
        model=_TEXT,
        condition=_TEXT,
        repeat=pa.int64(),
        state=_TEXT,
        tags=_TEXT,
        withheld=pa.bool_(),
        body=_TEXT,
    ),
    "raters": _schema(digest=_TEXT, kind=_TEXT, name=_TEXT, version=_TEXT, spec=_TEXT),
    "labels": _schema(
        trace=_TEXT,
        rater=_TEXT,
        question=_TEXT,
        repeat=pa.int64(),
        version=pa.int64(),
        outcome=_TEXT,
        value=_TEXT,
        reason=_TEXT,
        rationale=_TEXT,
        confidence=_TEXT,
        flags=pa.list_(_TEXT),
        evidence=pa.list_(_EVIDENCE),
        view=_TEXT,
        completion=_TEXT,
        cached=pa.bool_(),
        created_at=_TEXT,
    ),
    "reviews": _schema(
        sample=_TEXT,
        trace=_TEXT,
        person=_TEXT,
        repeat=pa.int64(),
        slot=pa.int64(),
        state=_TEXT,
        round=pa.int64(),
        leased_at=_TEXT,
        done_at=_TEXT,
        acts=pa.list_(_ACT),
    ),
    "decisions": _schema(
        sample=_TEXT,
        trace=_TEXT,
        question=_TEXT,
        version=pa.int64(),
        person=_TEXT,
        value=_TEXT,
        reason=_TEXT,
        tags=pa.list_(_TEXT),
        guideline_gap=pa.bool_(),
        labels=pa.list_(_LABEL_NAME),
        seen=pa.list_(_TEXT),
        created_at=_TEXT,
    ),
    "gold": _schema(
        sample=_TEXT,
        trace=_TEXT,
        question=_TEXT,
        value=_TEXT,
        source=_TEXT,
        probability=pa.float64(),
    ),
    "disagreements": _schema(
        sample=_TEXT,
        trace=_TEXT,
        question=_TEXT,
        values=pa.list_(_TEXT),
        decided=pa.bool_(),
        decision=_TEXT,
    ),
}
"""Column types by table, in the order of the columns."""

EMPTY_ALLOWED = ("tasks", "reviews", "decisions", "gold", "disagreements")
"""Tables that a release without tasks or people does not have: an empty file loads nowhere."""


def write_table(folder: Path, name: str, rows: Iterable[Row]) -> int:
    """Write ``NAME.jsonl`` and ``NAME.parquet``; return the number of rows.

    A table without rows that may be empty is not written: loaders refuse empty files.
    """
    schema = TABLES[name]
    stream = iter(rows)
    first = list(islice(stream, _BATCH))
    if not first and name in EMPTY_ALLOWED:
        return 0
    written = 0
    with (
        (folder / f"{name}.jsonl").open("w", encoding="utf-8", newline="\n") as lines,
        pq.ParquetWriter(folder / f"{name}.parquet", schema, compression="zstd") as columns,
    ):
        batch = first
        while batch or written == 0:
            coded = [_coded({key: row[key] for key in schema.names}) for row in batch]
            lines.writelines(canonical_json(row) + "\n" for row in coded)
            columns.write_table(pa.Table.from_pylist(coded, schema=schema))
            written += len(batch)
            batch = list(islice(stream, _BATCH))
            if not batch:
                break
    return written


def read_table(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table from its JSON Lines; none when the release has no such table."""
    path = folder / f"{name}.jsonl"
    if not path.exists():
        return
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield _decoded(json.loads(line))


def parquet_rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table from its Parquet file, coded as in the file."""
    path = folder / f"{name}.parquet"
    if not path.exists():
        return
    with pq.ParquetFile(path) as columns:
        for batch in columns.iter_batches(batch_size=_BATCH):
            yield from batch.to_pylist()


def _coded(value: Any) -> Any:
    """Every text of a row as a file can hold it."""
    if isinstance(value, str):
        return encode_text(value)
    if isinstance(value, Mapping):
        return {key: _coded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_coded(item) for item in value]
    return value


def _decoded(value: Any) -> Any:
    if isinstance(value, str):
        return decode_text(value)
    if isinstance(value, dict):
        return {key: _decoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    return value
