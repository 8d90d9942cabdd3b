"""The one table that all agreement statistics read: who gave which label to which item.

A table of a million items by three raters and six labels has at most 343 different rows. So the
table keeps the *distinct* rows with their frequencies: every coefficient becomes arithmetic over
a few hundred rows, and a bootstrap replicate becomes a new vector of frequencies.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError
from labelkit.stats.encode import MISSING, Value, check_categories, encode, kind_of
from labelkit.stats.folding import Floats, Ints, checked_counts, count_matrix, fold

__all__ = [
    "Floats",
    "Ints",
    "RatingTable",
    "count_matrix",
    "from_codes",
    "from_columns",
    "from_contingency",
    "from_counts",
    "from_rows",
    "from_triples",
]


@dataclass(frozen=True, eq=False)
class RatingTable:
    """Ratings, folded into distinct rows.

    Args:
        categories: the label set in scale order, q labels.
        declared: whether the caller named the label set (else it is what occurs).
        raters: names of the raters, R of them; empty when raters are anonymous.
        patterns: distinct rows of codes, shape (d, R), -1 = missing; None when anonymous.
        counts: raters per category in every distinct row, shape (d, q).
        freq: how many items have that row, shape (d,).
        pattern_of: index of every item's row, shape (n,); None for tables that were given folded.
    """

    categories: tuple[Value, ...]
    declared: bool
    raters: tuple[Hashable, ...]
    patterns: NDArray[np.int32] | None
    counts: Floats
    freq: Floats
    pattern_of: Ints | None = None

    @property
    def q(self) -> int:
        """Number of categories."""
        return len(self.categories)

    @cached_property
    def ratings_per_row(self) -> Floats:
        """Ratings in every distinct row, shape (d,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def active(self) -> tuple[int, ...]:
        """Columns of the raters who rated anything; empty when raters are anonymous."""
        if self.patterns is None:
            return ()
        used = ((self.patterns >= 0) & (self.freq > 0)[:, None]).any(axis=0)
        return tuple(int(k) for k in np.flatnonzero(used))

    @property
    def n_raters(self) -> int:
        """Raters who rated anything; for anonymous raters the most ratings of one item."""
        if self.patterns is not None:
            return len(self.active)
        rated = self.ratings_per_row[self.freq > 0]
        return int(rated.max()) if len(rated) else 0

    @cached_property
    def n_items(self) -> int:
        """Items with at least one rating."""
        return int(self.freq[self.ratings_per_row >= 1].sum())

    @cached_property
    def n_pairable(self) -> int:
        """Items with at least two ratings."""
        return int(self.freq[self.ratings_per_row >= 2].sum())

    @cached_property
    def n_pairs(self) -> int:
        """Pairs of ratings of one item by two raters, over all items."""
        r = self.ratings_per_row
        return int((self.freq * r * (r - 1)).sum() / 2)

    def with_freq(self, freq: Floats) -> RatingTable:
        """Return the table with other frequencies of the same rows: a resample or a subset."""
        return RatingTable(
            self.categories, self.declared, self.raters, self.patterns, self.counts, freq
        )

    def columns(self, raters: Sequence[int]) -> RatingTable:
        """Return the table of some raters only, by column number.

        Raises:
            StatisticsError: when raters are anonymous.
        """
        if self.patterns is None:
            raise StatisticsError("raters of a count table are anonymous; none can be picked")
        patterns = self.patterns[:, list(raters)]
        return RatingTable(
            self.categories,
            self.declared,
            tuple(self.raters[k] for k in raters),
            patterns,
            count_matrix(patterns, self.q),
            self.freq,
            self.pattern_of,
        )

    def pair_counts(self, first: int, second: int) -> Floats:
        """Return the q x q table of items by the labels of two raters, given by column number."""
        if self.patterns is None:
            raise StatisticsError("raters of a count table are anonymous; none can be paired")
        a, b = self.patterns[:, first], self.patterns[:, second]
        both = (a >= 0) & (b >= 0)
        cells = a[both].astype(np.int64) * self.q + b[both]
        flat = np.bincount(cells, weights=self.freq[both], minlength=self.q * self.q)
        return np.asarray(flat, dtype=np.float64).reshape(self.q, self.q)


def from_codes(
    codes: NDArray[np.integer[Any]],
    categories: Sequence[Value],
    raters: Sequence[Hashable] | None = None,
    *,
    declared: bool = True,
) -> RatingTable:
    """Return the table of an array of codes.

    Args:
        codes: shape (n, R), position in ``categories`` or -1 for missing.
        categories: the label set in scale order.
        raters: R names; default 1..R.
        declared: whether the label set was named by the user.

    Raises:
        StatisticsError: for a code outside the label set or names that do not fit.
    """
    if codes.ndim != 2:
        raise StatisticsError(f"codes must be items x raters, not an array of {codes.ndim} axes")
    names = _rater_names(raters, codes.shape[1])
    if codes.size and not (codes.min() >= MISSING and codes.max() < len(categories)):
        row, column = np.argwhere((codes < MISSING) | (codes >= len(categories)))[0]
        raise StatisticsError(
            f"item {int(row)}, rater {names[column]!r}: code {int(codes[row, column])} is outside "
            f"the {len(categories)} categories; use their position, or -1 for missing"
        )
    patterns, freq, pattern_of = fold(codes, len(categories))
    return RatingTable(
        tuple(categories),
        declared,
        names,
        patterns,
        count_matrix(patterns, len(categories)),
        freq,
        pattern_of,
    )


def from_rows(
    values: Sequence[Sequence[Value | None]] | NDArray[Any],
    categories: Sequence[Value] | None = None,
    *,
    raters: Sequence[Hashable] | None = None,
    items: Sequence[Hashable] | None = None,
) -> RatingTable:
    """Return the table of a wide layout: one row per item, one column per rater.

    Args:
        values: shape (n, R); None or NaN is a missing rating.
        categories: the declared label set in scale order; None takes what occurs.
        raters: R names; default 1..R.
        items: n names for error messages; default 0..n-1.

    Raises:
        StatisticsError: for ragged rows, undeclared labels or mixed kinds of labels.
    """
    if isinstance(values, np.ndarray):
        if values.ndim != 2:
            raise StatisticsError("ratings must be items x raters, an array of two axes")
        n, width = values.shape
        flat: Any = values.ravel()
    else:
        values = _rows(values, items)
        n, width = len(values), _width(values, items, raters)
        flat = [value for row in values for value in row]
    names = _rater_names(raters, width)

    def place(position: int) -> str:
        row, column = divmod(position, width)
        return f"item {_name(items, row)!r}, rater {names[column]!r}"

    codes, found = encode(flat, categories, place)
    return from_codes(codes.reshape(n, width), found, names, declared=categories is not None)


def from_triples(
    triples: Iterable[tuple[Hashable, Hashable, Value | None]],
    categories: Sequence[Value] | None = None,
) -> RatingTable:
    """Return the table of a long layout: (item, rater, label) in any order.

    Raises:
        StatisticsError: when one rater labelled one item twice, besides the errors of labels.
    """
    rows = list(triples)
    for position, triple in enumerate(rows):
        if len(triple) != 3:
            raise StatisticsError(f"record {position} is {triple!r}; give (item, rater, label)")
    return from_columns(
        [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows], categories
    )


def from_columns(
    items: Sequence[Hashable],
    raters: Sequence[Hashable],
    labels: Sequence[Value | None] | NDArray[Any],
    categories: Sequence[Value] | None = None,
) -> RatingTable:
    """Return the table of a long layout given as three columns of equal length.

    Raises:
        StatisticsError: when one rater labelled one item twice (also with the same label), or a
            record names no item or rater.
    """
    if not len(items) == len(raters) == len(labels):
        raise StatisticsError(
            f"{len(items)} items, {len(raters)} raters and {len(labels)} labels do not make rows; "
            "give three columns of equal length"
        )
    for what, names_of in (("item", items), ("rater", raters)):
        nameless = next((k for k, name in enumerate(names_of) if kind_of(name) == "missing"), None)
        if nameless is not None:
            raise StatisticsError(f"record {nameless} names no {what}; name it or leave it out")
    row, row_names = _number(items)
    column, names = _number(raters)

    def place(position: int) -> str:
        return f"item {items[position]!r}, rater {raters[position]!r}"

    found_codes, found = encode(labels, categories, place)
    codes = np.full((len(row_names), len(names)), MISSING, dtype=np.int32)
    cell = row * max(1, len(names)) + column
    _, first, times = np.unique(cell, return_index=True, return_counts=True)
    if len(first) < len(cell):
        twice = np.flatnonzero(cell == cell[first[times > 1].min()])
        given = " and ".join(repr(labels[int(k)]) for k in twice[:3])
        raise StatisticsError(
            f"{place(int(twice[0]))}: rated {len(twice)} times ({given}); keep one rating per "
            "item and rater"
        )
    codes[row, column] = found_codes
    return from_codes(codes, found, names, declared=categories is not None)


def from_contingency(
    counts: Sequence[Sequence[float]] | NDArray[Any],
    categories: Sequence[Value],
    raters: Sequence[Hashable] = (1, 2),
) -> RatingTable:
    """Return the table of two raters given as a q x q cross table (rows: the first rater).

    Raises:
        StatisticsError: when the table is not q x q or holds a negative or broken count.
    """
    labels = check_categories(categories)
    table = checked_counts(counts, (len(labels), len(labels)))
    names = _rater_names(raters, 2)
    first, second = np.nonzero(table)
    patterns = np.column_stack([first, second]).astype(np.int32)
    return RatingTable(
        labels,
        declared=True,
        raters=names,
        patterns=patterns,
        counts=count_matrix(patterns, len(labels)),
        freq=table[first, second],
    )


def from_counts(
    counts: Sequence[Sequence[float]] | NDArray[Any], categories: Sequence[Value]
) -> RatingTable:
    """Return the table of anonymous raters given as items x categories counts.

    Raises:
        StatisticsError: when a row has not q entries or holds a negative or broken count.
    """
    labels = check_categories(categories)
    table = checked_counts(counts, (len(counts), len(labels)))
    n = len(table)
    return RatingTable(
        labels,
        declared=True,
        raters=(),
        patterns=None,
        counts=table,
        freq=np.ones(n),
        pattern_of=np.arange(n, dtype=np.int64),
    )


def _number(names: Sequence[Hashable]) -> tuple[Ints, tuple[Hashable, ...]]:
    """Number names in order of first appearance."""
    seen: dict[Hashable, int] = {}
    numbers = np.fromiter(
        (seen.setdefault(name, len(seen)) for name in names), dtype=np.int64, count=len(names)
    )
    return numbers, tuple(seen)


def _rows(values: Any, items: Sequence[Hashable] | None) -> Sequence[Sequence[Any]]:
    """Refuse what is no table; a text is a sequence of letters to Python and no row of labels."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise StatisticsError("ratings must be a list of rows, one row of labels per item")
    for row, entries in enumerate(values):
        if isinstance(entries, str) or not isinstance(entries, Sequence | np.ndarray):
            raise StatisticsError(
                f"item {_name(items, row)!r} is {entries!r}; give every item a list of labels, "
                "one per rater"
            )
    return values


def _width(
    values: Sequence[Sequence[Any]],
    items: Sequence[Hashable] | None,
    raters: Sequence[Hashable] | None,
) -> int:
    width = len(values[0]) if values else len(raters or ())
    for row, entries in enumerate(values):
        if len(entries) != width:
            raise StatisticsError(
                f"item {_name(items, row)!r} has {len(entries)} ratings where {width} were "
                "expected; give every item one entry per rater, None where it is missing"
            )
    return width


def _rater_names(raters: Sequence[Hashable] | None, width: int) -> tuple[Hashable, ...]:
    names = tuple(range(1, width + 1)) if raters is None else tuple(raters)
    if len(names) != width:
        raise StatisticsError(f"{len(names)} rater names for {width} columns; give one per column")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise StatisticsError(f"rater {twice!r} has two columns; merge them or rename one")
    return names


def _name(names: Sequence[Hashable] | None, position: int) -> Hashable:
    return position if names is None else names[position]
