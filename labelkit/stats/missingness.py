"""What a rate could be if every unscored row went one way.

A rate over the scored rows alone assumes that the others are like them. These bounds assume
nothing; where they are far apart, the missing rows decide the result.
"""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.errors import StatisticsError
from labelkit.stats.intervals import Interval, proportion, wilson
from labelkit.stats.undefined import Number, Reason, Undefined


@dataclass(frozen=True)
class MissingBounds:
    """A rate with its bounds over the unscored rows.

    Args:
        value: hits / scored rows.
        low: every unscored row a miss.
        high: every unscored row a hit.
        interval: from the lower Wilson limit of ``low`` to the upper one of ``high``.
        n_scored: rows with a label.
        n_missing: rows without one.
    """

    value: Number
    low: Number
    high: Number
    interval: Interval | Undefined
    n_scored: int
    n_missing: int


def missing_bounds(hits: int, n_scored: int, n_missing: int, level: float = 0.95) -> MissingBounds:
    """Return the worst and the best that a rate could be.

    Manski (1989), J. Hum. Resour. 24:343: no assumption on the missing rows; the interval covers
    the bounds, not only the point (Horowitz & Manski 2000, J. Am. Stat. Assoc. 95:77). For a rate
    over part of the rows (``Called``), count as missing every unscored row that could belong to
    the denominator.
    """
    if n_missing < 0 or not 0 <= hits <= n_scored:
        raise StatisticsError(
            f"{hits!r} hits of {n_scored!r} scored and {n_missing!r} missing rows is impossible"
        )
    planned = n_scored + n_missing
    lowest, highest = wilson(hits, planned, level), wilson(hits + n_missing, planned, level)
    if isinstance(lowest, Undefined) or isinstance(highest, Undefined):
        why = Undefined(Reason.NO_ITEMS, "a rate over no rows has no value")
        return MissingBounds(why, why, why, why, n_scored, n_missing)
    return MissingBounds(
        proportion(hits, n_scored, level).value,
        hits / planned,
        (hits + n_missing) / planned,
        Interval(lowest.low, highest.high, level, "missing_bounds"),
        n_scored,
        n_missing,
    )
