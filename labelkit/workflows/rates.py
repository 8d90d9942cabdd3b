"""Rates with named denominators. A rate always says what was divided by what, and what was not.

For every rate: planned = scored + excluded (by reason), on every table. A row whose label is
missing is excluded and counted, or kept as a non-hit, as the rubric says for that reason; it is
never a hit and never silently gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from labelkit.domain.rubric import Rate
from labelkit.stats.intervals import Interval, wilson
from labelkit.workflows.rows import REASONS, Codes, Mask, Rows, RuleFacts, satisfied


@dataclass(frozen=True)
class RateResult:
    """One rate in one group of rows.

    ``value``, ``low`` and ``high`` (95% Wilson) are None when the rate is undefined; ``reason``
    then says why. ``bound_low`` / ``bound_high``: what the rate would be if every excluded row
    had gone one way. ``planned`` = ``scored`` + sum of ``excluded``.
    """

    name: str
    title: str
    group: str
    hits: int
    scored: int
    planned: int
    excluded: Mapping[str, int]
    value: float | None
    low: float | None
    high: float | None
    bound_low: float | None
    bound_high: float | None
    reason: str | None = None

    @property
    def coverage(self) -> float | None:
        """Share of planned rows that were scored; None when nothing was planned."""
        return self.scored / self.planned if self.planned else None


def rate_in(
    rate: Rate,
    rows: Rows,
    codes: Codes,
    labels: Sequence[str],
    facts: RuleFacts,
    group: tuple[str, Mask],
) -> RateResult:
    """Compute one rate in one group.

    Args:
        rate: the rate's definition.
        rows: all rows.
        codes: shape (n_rows,), the label of each row (index into ``labels``) or a state.
        labels: the question's label names in rubric order.
        facts: what the rule recorded.
        group: name of the group and mask of its rows.
    """
    name, in_group = group
    where = rate.denominator.where
    # A row without a label may still be known to lie outside: the rule saw that nothing was called.
    missing = in_group & rows.having(where.tags) & (codes < 0) & ~facts.lacking(where.rule_flags)
    inside = in_group & satisfied(where, rows, codes, labels, facts.flags) & (codes >= 0)
    kept = np.zeros(len(rows), dtype=bool)
    excluded: dict[str, int] = {}
    for state, reason in REASONS.items():
        count = int(np.count_nonzero(missing & (codes == state)))
        if not count:
            continue
        if rate.states.get(reason, "drop") == "denominator":
            kept |= missing & (codes == state)
        else:
            excluded[reason] = count
    hit = satisfied(rate.numerator, rows, codes, labels, facts.flags)
    hits = int(np.count_nonzero(inside & hit))
    scored = int(np.count_nonzero(inside | kept))
    return _result(rate, name, hits, scored, excluded)


def _result(
    rate: Rate, group: str, hits: int, scored: int, excluded: Mapping[str, int]
) -> RateResult:
    """Put the counts of one rate together, or say why it is undefined."""
    planned = scored + sum(excluded.values())
    reason = None
    if scored == 0:
        reason = "empty_denominator"
    elif scored / planned < rate.min_coverage:
        reason = "coverage_below_minimum"
    interval = wilson(hits, scored) if reason is None else None
    return RateResult(
        name=rate.full_name,
        title=rate.title,
        group=group,
        hits=hits,
        scored=scored,
        planned=planned,
        excluded=dict(excluded),
        value=None if reason else hits / scored,
        low=interval.low if isinstance(interval, Interval) else None,
        high=interval.high if isinstance(interval, Interval) else None,
        bound_low=hits / planned if planned else None,
        bound_high=(hits + planned - scored) / planned if planned else None,
        reason=reason,
    )
