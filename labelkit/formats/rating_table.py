"""Tables of ratings: one row per item with a column per rater, or one row per rating.

Columns are found by their names or named by the user (``rating_layout``), never guessed from what
they hold. Items are called what the table calls them; whether that is a trace the store knows is
not for a reader to say. What the layout calls missing is no rating and is counted.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.task import Tag
from labelkit.errors import InputError
from labelkit.formats import rows
from labelkit.formats.rating_files import DELIMITERS
from labelkit.formats.rating_layout import (
    MISSING_TEXTS,
    Layout,
    columns_of,
    is_item_name,
    names_raters,
    resolved,
)
from labelkit.formats.rating_rows import decimal_comma, table_header, table_rows, with_point
from labelkit.formats.reader import (
    BrokenRecordError,
    Finding,
    Head,
    Item,
    Notes,
    Rating,
    ReadOptions,
)
from labelkit.formats.records import an_object, reason

QUESTION_NAMES = ("question_id", "criterion", "dimension", "metric", "aspect")
TEXT_NAMES = ("text", "response", "output", "answer", "completion", "content")
RATIONALE_NAMES = ("rationale", "reason", "explanation", "comment", "note")
TIME_NAMES = ("created_at", "timestamp", "submitted_at", "annotated_at")
_SAMPLE = 50


class RatingTableReader:
    """Reads wide and long tables of ratings."""

    name = "ratings"
    description = "tables of ratings (CSV, TSV, JSON Lines, Parquet): a column or a row per rater"

    def sniff(self, head: Head) -> float:
        """Sure of a long table by its names, of a wide one by names and few different cells."""
        if head.kind != "text":
            return 0.6 if head.kind == "parquet" else 0.0
        if head.text.lstrip().startswith(("{", "[")):
            return 0.55 if _is_long(head.path, sorted(head.keys)) else 0.0
        header, sample = _beginning(head.text)
        if len(header) < 2 or len(set(header)) < len(header):
            return 0.0
        if sample and _is_long(head.path, header):
            return 0.8
        if sample and names_raters(header):
            return 0.8
        return 0.6 if _is_wide(header, sample) else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield one rating per filled cell, in file order.

        Raises:
            InputError: a column that the user named is not there, or none plays a needed part.
        """
        header = table_header(path, options.layout.delimiter)
        layout = resolved(path, _with_question(options.layout, header), header)
        row = _Row(layout, header, options, point=decimal_comma(path, layout.delimiter))
        for record in table_rows(path, layout.delimiter):
            if record.broken is not None:
                yield Finding(path.name, record.number, "broken", record.broken)
                continue
            try:
                found = list(row.ratings(an_object(record.value), record.number, record.notes))
            except (BrokenRecordError, ValueError) as error:
                yield Finding(path.name, record.number, "broken", reason(error))
                continue
            yield from found
            yield from record.notes.findings(path, record.number)


def table_hint(head: Head) -> str | None:
    """Say how to name the columns of a file that looks like a table; None for any other file."""
    header, sample = _beginning(head.text)
    if len(header) < 2 or not any(len(row) == len(header) for row in sample):
        return None
    if "" in header[1:] or len(set(header)) < len(header):
        return (
            f"its first line names only {len(set(header) - {''})} of {len(header)} columns; leave "
            "out what stands above or beside the table, so that it begins with one name per column"
        )
    names = ", ".join(repr(name if len(name) <= 40 else f"{name[:40]}...") for name in header[:12])
    return (
        f"it looks like a table with the columns {names}, whose names do not tell which is what; "
        "say it with --item and --raters A,B,C (a column per rater), or with --item, --rater and "
        "--label (a row per rating)"
    )


def _beginning(text: str) -> tuple[list[str], list[list[str]]]:
    """Return header and first rows of a CSV text; nothing where it cannot be one."""
    lines = text.splitlines()[: _SAMPLE + 1]
    try:
        delimiter = max(DELIMITERS, key=lambda d: len(next(csv.reader(lines, delimiter=d))))
        found = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except (csv.Error, StopIteration):
        return [], []
    return [name.strip() for name in found[0]] if found else [], found[1:]


def _is_long(path: Path, header: Sequence[str]) -> bool:
    """Whether the names of the columns tell item, rater and label."""
    try:
        return bool(header) and not resolved(path, Layout(), header).raters
    except InputError:
        return False


def _is_wide(header: list[str], sample: list[list[str]]) -> bool:
    """Whether one column names items and every other one repeats its few labels."""
    items = [place for place, name in enumerate(header) if is_item_name(name)]
    rows_ = [row for row in sample if len(row) == len(header)]
    if len(items) != 1 or len(rows_) < 3 or len(header) < 3:
        return False
    others = [place for place in range(len(header)) if place != items[0]]
    said = [{row[place].strip() for row in rows_} - set(MISSING_TEXTS) for place in others]
    return all(len(values) <= max(2, len(rows_) // 2) for values in said)


def _with_question(layout: Layout, header: Sequence[str]) -> Layout:
    """Take a column that is called like a question's id for one, unless another is named."""
    found = _first(header, QUESTION_NAMES)
    if layout.question is not None or found is None or found in columns_of(layout):
        return layout
    if layout.item is None and names_raters(header) and not any(map(is_item_name, header)):
        # A column per rater and nothing else that names an item: the questions are the items.
        return Layout(**{**layout.__dict__, "item": found})
    return Layout(**{**layout.__dict__, "question": found})


def _first(header: Sequence[str], names: Sequence[str]) -> str | None:
    plain = {re.sub(r"\W+", "_", name.lower()).strip("_"): name for name in reversed(header)}
    return next((plain[name] for name in names if name in plain), None)


class _Row:
    """How one row is read; settled once for the whole file."""

    def __init__(
        self, layout: Layout, header: Sequence[str], options: ReadOptions, *, point: bool
    ) -> None:
        self.layout = layout
        self.point = point
        self.judges = options.judges
        self.missing = layout.no_rating
        used = {layout.item, layout.rater, layout.label, layout.question, *layout.raters}
        free = [name for name in header if name not in used]
        self.text = options.text or _first(free, TEXT_NAMES)
        self.rationale = None if layout.raters else _first(free, RATIONALE_NAMES)
        self.time = None if layout.raters else _first(free, TIME_NAMES)
        self.tags = layout.by or (free if layout.raters else ())

    def ratings(self, row: dict[str, Any], number: int, notes: Notes) -> Iterator[Rating]:
        item = str(number) if self.layout.item is None else self._name(row, self.layout.item)
        question = None
        if self.layout.question is not None:
            question = self._name(row, self.layout.question)
        if self.layout.raters:
            cells = [(rater, row.get(rater)) for rater in self.layout.raters]
        else:
            cells = [(self._name(row, self.layout.rater or ""), row.get(self.layout.label or ""))]
        for rater, cell in cells:
            value = self._value(cell, notes)
            if value is None:
                notes.lost("a cell without a rating")
                continue
            yield Rating(
                item=item,
                rater=rater,
                question=question,
                value=value,
                record=number,
                kind="judge" if rater in self.judges else "person",
                rationale=self._text(row, self.rationale),
                given_at=self._text(row, self.time),
                text=self._text(row, self.text),
                tags=self._tags(row),
            )

    def _name(self, row: dict[str, Any], column: str) -> str:
        value = _plain(row.get(column))
        if value is None or value == "":
            raise BrokenRecordError("the row does not name its item, rater or question")
        return value

    def _value(self, cell: Any, notes: Notes) -> str | None:
        value = _plain(cell)
        if value is None or value in self.missing:
            return None
        if self.point and (pointed := with_point(value)) != value:
            notes.repaired("a decimal comma became a point")
            return pointed
        return value

    def _text(self, row: dict[str, Any], column: str | None) -> str | None:
        value = _plain(row.get(column)) if column is not None else None
        return value or None

    def _tags(self, row: dict[str, Any]) -> dict[str, Tag]:
        return {
            name: value
            for name in self.tags
            if name != self.text
            and (value := row.get(name)) is not None
            and value != ""
            and rows.is_tag(value)
        }


def _plain(cell: Any) -> str | None:
    """Return a cell as the text of a label or a name: 1.0 is ``1``, true is ``true``."""
    if cell is None or isinstance(cell, str):
        return None if cell is None else cell.strip()
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        if cell != cell:  # noqa: PLR0124 - NaN
            return None
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    return str(cell) if isinstance(cell, int) else canonical_json(cell)


READER = RatingTableReader()
