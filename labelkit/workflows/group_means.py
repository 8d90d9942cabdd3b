"""Means of group means: what papers print as the average over data sets or scenarios.

It stands beside the pooled number and never replaces it: a small group counts as much as a large
one here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelkit.stats.linearised import Estimate, mean, weighted_sum
from labelkit.stats.ratings import Floats
from labelkit.workflows.rows import Mask, Rows


def mean_of_groups(
    tag: str | None, rows: Rows, numbers: Floats, inside: Mask
) -> tuple[Estimate | None, int]:
    """Mean of the means of the groups that have a row inside, and how many groups have one.

    Args:
        tag: what the groups are; None gives no mean. Where no row has the tag all are one group.
        rows: all rows.
        numbers: shape (n_rows,), read only where ``inside``.
        inside: shape (n_rows,), the rows that count.
    """
    if tag is None:
        return None, 0
    column = rows.coded(tag).codes if tag in rows.tags else None
    if column is None or not inside.any():
        return mean(numbers, inside), int(inside.any())
    present: NDArray[np.int64] = np.unique(column[inside])
    means = [mean(numbers, inside & (column == code)) for code in present]
    return weighted_sum(means, [1 / len(means)] * len(means)), len(means)
