"""From codes of ratings to distinct rows with frequencies, and from rows to counts per label.

Apart from ``ratings`` because it knows arrays only: no labels, no raters, no items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_KEY_LIMIT = 1 << 22
"""Rows are counted through ``bincount`` while there are at most this many possible rows."""


def count_matrix(patterns: NDArray[np.int32], q: int) -> Floats:
    """Return how many raters chose every category in every row, shape (d, q)."""
    d, raters = patterns.shape
    out = np.zeros((d, q))
    rows = np.arange(d)
    for k in range(raters):
        rated = patterns[:, k] >= 0
        out[rows[rated], patterns[rated, k]] += 1.0
    return out


def fold(codes: NDArray[np.integer[Any]], q: int) -> tuple[NDArray[np.int32], Floats, Ints]:
    """Return distinct rows, their frequencies, and the row of every item."""
    n, raters = codes.shape
    if n == 0 or raters == 0:
        return codes.astype(np.int32), np.ones(n), np.arange(n, dtype=np.int64)
    base = q + 1
    if base**raters > 2**62:
        return codes.astype(np.int32), np.ones(n), np.arange(n, dtype=np.int64)
    keys = codes[:, 0].astype(np.int64) + 1
    for k in range(1, raters):
        keys *= base
        keys += codes[:, k]
        keys += 1
    if base**raters <= max(_KEY_LIMIT, n):
        times = np.bincount(keys)
        found = np.flatnonzero(times)
        slot = np.zeros(len(times), dtype=np.int64)
        slot[found] = np.arange(len(found))
        freq, pattern_of = times[found].astype(np.float64), slot[keys]
    else:
        found, pattern_of, times = np.unique(keys, return_inverse=True, return_counts=True)
        freq = times.astype(np.float64)
    patterns = np.empty((len(found), raters), dtype=np.int32)
    rest = found
    for k in range(raters - 1, -1, -1):
        rest, digit = np.divmod(rest, base)
        patterns[:, k] = digit - 1
    return patterns, freq, pattern_of


def checked_counts(counts: Any, shape: tuple[int, int]) -> Floats:
    """Return a table of counts as floats.

    Raises:
        StatisticsError: for another shape, or what is no whole number >= 0.
    """
    try:
        table = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"counts must be a table of numbers: {error}") from error
    if table.size == 0:
        table = table.reshape(0, shape[1])
    if table.shape != shape:
        raise StatisticsError(
            f"counts have shape {table.shape} where {shape} was expected; give one column per "
            "declared label"
        )
    bad = ~(np.isfinite(table) & (table >= 0) & (table == np.floor(table)))
    if bad.any():
        row, column = (int(k) for k in np.argwhere(bad)[0])
        raise StatisticsError(
            f"count {table[row, column]} in row {row}, column {column} is not a whole number >= 0"
        )
    return table
