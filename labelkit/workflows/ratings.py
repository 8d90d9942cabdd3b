"""Whose label is in which cell: a wide or long table of ratings becomes tables for statistics.

Anyone who only wants the statistics needs no store: a file of ratings is enough. Columns are
found by their names, or named by the caller; a column is never guessed from its content. What is
missing stays missing and is counted, and every refusal names the item, the rater and the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import InputError, StatisticsError
from labelkit.formats.rating_files import Column, Columns, Ints, read_columns
from labelkit.formats.rating_layout import Layout, columns_of, is_item_name, resolved
from labelkit.formats.rating_rows import decimal_comma, with_point
from labelkit.stats.encode import MISSING, Place, encode
from labelkit.stats.ratings import RatingTable, from_codes
from labelkit.workflows.rating_labels import label_values

_MOST_LABELS = 1000
_MOST_CELLS = 2 * 10**8


@dataclass(frozen=True, eq=False)
class Stratum:
    """Some of the items of a question, for example ``domain=finance``."""

    name: str
    table: RatingTable


@dataclass(frozen=True, eq=False)
class Rated:
    """The ratings of one question.

    Args:
        question: its name, or None where a file holds one question.
        table: all ratings.
        items: names of the items, one per row of the table.
        strata: the same ratings, split.
        missing: cells that say that there is no rating, by what they say.
        remarks: sentences about how the ratings were read.
        ordered: whether the labels are steps of a scale, by the question's own word.
    """

    question: str | None
    table: RatingTable
    items: Sequence[str]
    strata: tuple[Stratum, ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    ordered: bool = False


@dataclass(frozen=True, eq=False)
class RatingFile:
    """A file of ratings as it was understood; ``columns`` says which column plays which part."""

    path: Path
    layout: Literal["wide", "long"]
    columns: Mapping[str, Any]
    n_rows: int
    rated: tuple[Rated, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Sheet:
    """All cells of a file: ``held`` is items x raters, a position in ``cells`` or -1."""

    items: Sequence[str]
    raters: tuple[str, ...]
    held: Ints
    cells: Sequence[Any]
    question: Column | None
    strata: tuple[Column, ...]


def read_ratings(path: Path, layout: Layout | None = None) -> RatingFile:
    """Read a table of ratings.

    Args:
        path: CSV, TSV, JSON Lines or a JSON array of objects; one row per item with one column
            per rater (wide), or one row per rating (long).
        layout: which column is what.

    Raises:
        InputError: for a missing column, or a file that cannot be read (``FormatError``).
        StatisticsError: for two ratings of one item by one rater, an undeclared label, or labels
            of mixed kinds; names the item, the rater and the value.
    """
    wanted = layout or Layout()
    found: list[Layout] = []

    def pick(header: Sequence[str]) -> list[str]:
        found.append(resolved(path, wanted, header))
        return columns_of(found[0])

    columns = read_columns(path, pick, delimiter=wanted.delimiter)
    settled = found[0]
    guessed = settled.raters and not wanted.raters
    remarks = _strangers(columns, settled) if guessed else ()
    sheet = _wide(columns, settled) if settled.raters else _long(columns, settled)
    if decimal_comma(path, wanted.delimiter):
        sheet, commas = _pointed(sheet)
        remarks += commas
    names: dict[str, Any] = {"item": settled.item, "question": settled.question}
    if settled.raters:
        names["raters"] = list(settled.raters)
    else:
        names |= {"rater": settled.rater, "label": settled.label}
    return RatingFile(
        path,
        "wide" if settled.raters else "long",
        {**names, "by": list(settled.by)},
        columns.n_rows,
        _questions(sheet, settled),
        remarks,
    )


def _pointed(sheet: _Sheet) -> tuple[_Sheet, tuple[str, ...]]:
    """Read ``3,5`` as 3.5, and say so. Only for a file whose cells are not apart by commas."""
    cells = [with_point(c) if isinstance(c, str) else c for c in sheet.cells]
    changed = [old for old, new in zip(sheet.cells, cells, strict=True) if old != new]
    if not changed:
        return sheet, ()
    few = ", ".join(map(repr, changed[:3]))
    return replace(sheet, cells=cells), (f"decimal commas are read as points: {few}",)


def _wide(columns: Columns, layout: Layout) -> _Sheet:
    numbering: dict[Any, int] = {}
    held = np.empty((columns.n_rows, len(layout.raters)), dtype=np.int32)
    for place, rater in enumerate(layout.raters):
        column = columns.chosen[rater]
        numbers = [numbering.setdefault(_key(v), len(numbering)) for v in column.values]
        held[:, place] = np.asarray(numbers, dtype=np.int32)[column.codes]
    question = columns.chosen[layout.question] if layout.question else None
    if layout.item is None:
        items: Sequence[str] = [str(k) for k in range(1, columns.n_rows + 1)]
    else:
        column = _complete(columns.chosen[layout.item])
        names = _texts(column.values)
        items = [names[code] for code in column.codes.tolist()]
    cells = [key[1] for key in numbering]
    strata = tuple(columns.chosen[name] for name in layout.by)
    sheet = _Sheet(items, layout.raters, held, cells, question, strata)
    if layout.item is not None:
        _refuse_item_twice(sheet, columns.chosen[layout.item])
    return sheet


def _strangers(columns: Columns, layout: Layout) -> tuple[str, ...]:
    """Refuse a column that is no rater, and remark on one that may be none.

    Only where nobody named the rater columns: an id or a comment read as a rater would spoil
    every number without a word.
    """
    remarks = []
    for name in layout.raters:
        mine = set(columns.chosen[name].values) - layout.no_rating
        others = {v for n in layout.raters if n != name for v in columns.chosen[n].values}
        alone = mine.isdisjoint(others)
        if len(mine) == columns.n_rows > 2 and (alone or is_item_name(name) or len(mine) > 20):
            beside = "name the rater columns with --raters"
            if layout.item is None:
                beside = f"if it names the items add --item {name!r}, else {beside}"
            raise InputError(
                f"column {name!r} holds another value in every row (such as "
                f"{columns.chosen[name].values[0]!r}), as no rater does; {beside}"
            )
        if mine and alone and len(layout.raters) > 1:
            remarks.append(
                f"{name!r} shares no label with any other column; if it is no rater, name the "
                "rater columns with --raters"
            )
    return tuple(remarks)


def _key(value: Any) -> tuple[str, Any]:
    return (type(value).__name__, value)


def _texts(values: Sequence[Any]) -> list[str]:
    return [v if isinstance(v, str) else str(v) for v in values]


def _complete(column: Column) -> Column:
    """Refuse an item or a rater without a name."""
    for code, value in enumerate(column.values):
        if value is None or value == "":
            row = int((column.codes == code).argmax()) + 1
            raise InputError(f"row {row} has no {column.name!r}; name it, or remove the row")
    return column


def _refuse_item_twice(sheet: _Sheet, item: Column) -> None:
    key = item.codes.astype(np.int64)
    if sheet.question is not None:
        key = sheet.question.codes * np.int64(len(item.values)) + key
    first, second = _repeat(key)
    if second < 0:
        return
    given = [sheet.cells[sheet.held[row, 0]] for row in (first, second)]
    raise StatisticsError(
        f"item {sheet.items[first]!r} has two rows, {first + 1} and {second + 1} (rater "
        f"{sheet.raters[0]!r}: {given[0]!r} and {given[1]!r}); keep one row per item"
        + ("" if sheet.question else ", or name the column that tells questions apart (--question)")
    )


def _repeat(key: NDArray[np.int64]) -> tuple[int, int]:
    """Return the first two positions with an equal key, or (-1, -1)."""
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    if not len(same):
        return -1, -1
    at = same[np.argmin(order[same])]
    return int(order[at]), int(order[at + 1])


def _long(columns: Columns, layout: Layout) -> _Sheet:
    item, rater, label = (
        columns.chosen[name or ""] for name in (layout.item, layout.rater, layout.label)
    )
    raters = tuple(_texts(_complete(rater).values))
    names = _texts(_complete(item).values)
    question = columns.chosen[layout.question] if layout.question else None
    rows, first = item.codes.astype(np.int64), np.empty(0, dtype=np.int64)
    if question is not None or layout.by:
        key = rows if question is None else question.codes * np.int64(len(names)) + rows
        _, first, rows = np.unique(key, return_index=True, return_inverse=True)
    n = len(first) if len(first) else len(names)
    if n * len(raters) > _MOST_CELLS:
        raise InputError(
            f"{n:,} items x {len(raters):,} raters are more cells than fit in memory; split the "
            "file"
        )
    items = [names[k] for k in item.codes[first].tolist()] if len(first) else names
    cell = rows * len(raters) + rater.codes
    last = np.full(n * len(raters), -1, dtype=np.int64)
    last[cell] = np.arange(len(cell))
    if int((last >= 0).sum()) < len(cell):
        _refuse_rated_twice(cell, items, raters, label)
    held = np.full(n * len(raters), -1, dtype=np.int32)
    held[cell] = label.codes
    return _Sheet(
        items,
        raters,
        held.reshape(n, len(raters)),
        label.values,
        None if question is None else _of_items(question, first),
        tuple(_stratum_column(columns.chosen[name], rows, first, items) for name in layout.by),
    )


def _refuse_rated_twice(
    cell: NDArray[np.int64], items: Sequence[str], raters: Sequence[str], label: Column
) -> None:
    first, _ = _repeat(cell)
    times = np.flatnonzero(cell == cell[first])
    row, place = divmod(int(cell[first]), len(raters))
    given = " and ".join(repr(label.values[label.codes[k]]) for k in times[:3])
    raise StatisticsError(
        f"item {items[row]!r}, rater {raters[place]!r}: rated {len(times)} times ({given}); keep "
        "one rating per item and rater, or name the column that tells questions apart (--question)"
    )


def _of_items(column: Column, first: NDArray[np.int64]) -> Column:
    return Column(column.name, column.codes[first], column.values)


def _stratum_column(
    column: Column, rows: NDArray[np.int64], first: NDArray[np.int64], items: Sequence[str]
) -> Column:
    """One value per item; an item that lies in two strata is refused."""
    settled = _of_items(column, first)
    differs = column.codes != settled.codes[rows]
    if differs.any():
        at = int(differs.argmax())
        row = int(rows[at])
        both = (column.values[settled.codes[row]], column.values[column.codes[at]])
        raise InputError(
            f"item {items[row]!r} has two values of {column.name!r}, {both[0]!r} and {both[1]!r}; "
            "a stratum must be the same for all ratings of an item"
        )
    return settled


def _questions(sheet: _Sheet, layout: Layout) -> tuple[Rated, ...]:
    everything = np.ones(len(sheet.items), dtype=bool)
    if sheet.question is None:
        return (_rated(None, sheet, everything, layout),)
    return tuple(
        _rated(str(name), sheet, sheet.question.codes == code, layout)
        for code, name in enumerate(sheet.question.values)
    )


def _rated(question: str | None, sheet: _Sheet, chosen: NDArray[np.bool_], layout: Layout) -> Rated:
    """Turn the cells of one question into codes of labels."""
    every = bool(chosen.all())
    held = sheet.held if every else sheet.held[chosen]
    items = sheet.items if every else [n for n, c in zip(sheet.items, chosen, strict=True) if c]
    times = np.bincount(held.ravel() + 1, minlength=len(sheet.cells) + 1)[1:]
    used = np.flatnonzero(times).tolist()
    about = f"question {question!r}, " if question is not None else ""

    def place(position: int) -> str:
        row, column = np.argwhere(held == used[position])[0]
        return f"{about}item {items[row]!r}, rater {sheet.raters[column]!r}"

    values, declared, remarks = label_values([sheet.cells[k] for k in used], layout, place)
    codes, categories = encode(values, declared, place)
    _refuse_continuous(len(categories), held.shape, sheet.cells, place)
    label_of = np.full(len(sheet.cells) + 1, MISSING, dtype=np.int32)
    label_of[used] = codes
    absent = [k for k, code in zip(used, codes, strict=True) if code == MISSING]
    table = from_codes(label_of[held], categories, sheet.raters, declared=declared is not None)
    return Rated(
        question,
        table,
        items,
        _strata(table, [_chosen(c, chosen) for c in sheet.strata]),
        {str(sheet.cells[k]): int(times[k]) for k in absent},
        tuple(remarks) + idle(table),
    )


def _chosen(column: Column, chosen: NDArray[np.bool_]) -> Column:
    return Column(column.name, column.codes[chosen], column.values)


def _strata(table: RatingTable, columns: Sequence[Column]) -> tuple[Stratum, ...]:
    """The table with only the frequencies of one stratum; the label set stays the same."""
    if table.pattern_of is None:
        return ()
    out = []
    for column in columns:
        for code in sorted(set(column.codes.tolist()), key=lambda k: str(column.values[k])):
            rows = table.pattern_of[column.codes == code]
            freq = np.bincount(rows, minlength=len(table.freq)).astype(np.float64)
            value = column.values[code]
            name = "(none)" if value is None or value == "" else value
            out.append(Stratum(f"{column.name}={name}", table.with_freq(freq)))
    return tuple(out)


def _refuse_continuous(q: int, shape: tuple[int, ...], cells: Sequence[Any], place: Place) -> None:
    n_rows = min(shape[0], (q + 1) ** min(shape[1], 20))
    if q > _MOST_LABELS or q * n_rows > _MOST_CELLS:
        raise InputError(
            f"{q:,} different labels (such as {cells[0]!r}, {place(0)}) are no label set; name the "
            "item and rater columns with --item and --raters, or round the scores"
        )


def idle(table: RatingTable) -> tuple[str, ...]:
    """Name raters who rated nothing, or nothing that others rated: they add no agreement."""
    if table.patterns is None or not table.active:
        return ()
    shared = (table.ratings_per_row >= 2) & (table.freq > 0)
    together = np.flatnonzero((table.patterns[shared] >= 0).any(axis=0))
    none = [str(r) for k, r in enumerate(table.raters) if k not in table.active]
    alone = [str(table.raters[k]) for k in table.active if k not in together]
    out = [f"without any rating: {_names(none)}"] if none else []
    if alone and len(table.active) > 1:
        out.append(f"shares no item with any other rater: {_names(alone)}")
    return tuple(out)


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
