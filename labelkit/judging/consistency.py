"""Repeats of one judge on one trace: what it mostly says and how firmly.

Repeatability is measured here, never assumed: even at temperature 0 a judge does not always agree
with itself. Repeats without a label are counted, and never count as disagreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """The repeats of one judge as one outcome.

    ``value`` is the most frequent label, or None with ``reason``: ``tie`` when the top count is
    shared, ``no_label`` when no repeat was read. ``share`` is the top count over ``n`` (the
    repeats that were read), None when n is 0. ``n_null`` counts the repeats without a label.
    """

    value: str | None
    share: float | None
    n: int
    n_null: int
    reason: Literal["tie", "no_label"] | None = None


def self_consistency(values: Sequence[str | None]) -> SelfConsistency:
    """Return the majority among repeats; None stands for a repeat without a label.

    Ties are not broken: with an even split the judge has not decided.
    """
    read = [value for value in values if value is not None]
    n_null = len(values) - len(read)
    if not read:
        return SelfConsistency(None, None, 0, n_null, "no_label")
    (first, count), *others = Counter(read).most_common(2)
    share = count / len(read)
    if others and others[0][1] == count:
        return SelfConsistency(None, share, len(read), n_null, "tie")
    return SelfConsistency(first, share, len(read), n_null)
