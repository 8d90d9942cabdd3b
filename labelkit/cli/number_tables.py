"""The published numbers of a report as terminal tables: rates, means, conditions, fronts."""

from __future__ import annotations

from rich.console import RenderableType

from labelkit.cli import console
from labelkit.workflows.number_rows import NumberTable, counted, number_tables
from labelkit.workflows.report import Report

__all__ = ["counted", "numbers"]


def numbers(result: Report) -> list[RenderableType]:
    """Every table of published numbers that has a line, in reading order."""
    return [_drawn(part) for part in number_tables(result)]


def _drawn(part: NumberTable | str) -> RenderableType:
    if isinstance(part, str):
        return console.plain(part)
    return console.table(part.title, part.columns, part.rows, text_columns=part.text_columns)
