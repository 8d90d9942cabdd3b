"""Small ways of writing a file and reading it whole, for the tests of the readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.formats.reader import ReadOptions
from labelkit.formats.registry import LossReport, read_file


def write_lines(path: Path, rows: list[Any]) -> Path:
    """Write JSON Lines; lone surrogates go as escapes."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_all(
    path: Path, forced: str | None = None, **options: str
) -> tuple[list[Task], list[Trace], LossReport]:
    """Read a file to its end."""
    reading = read_file(path, forced, ReadOptions(**options))
    items = list(reading)
    tasks = [item for item in items if isinstance(item, Task)]
    traces = [item for item in items if isinstance(item, Trace)]
    return tasks, traces, reading.report


def one_trace(tmp_path: Path, row: Any, **options: str) -> tuple[Trace, dict[str, str]]:
    """Write one row, read one trace; findings as {what: kind}."""
    path = write_lines(tmp_path / "rows.jsonl", [row])
    _, traces, report = read_all(path, "openai-chat", **options)
    (trace,) = traces
    return trace, {line.what: line.kind for line in report.lines}


def one_file(path: Path, value: Any) -> Path:
    """Write one JSON value."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
