"""Rates with named denominators. A rate always says what was divided by what, and what was not.

For every rate: planned = scored + excluded (by reason), on every table. A row whose label is
missing is excluded and counted, or kept as a non-hit, as the rubric says for that reason; it is
never a hit and never silently gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.rates import Rate
from labelkit.stats.clusters import cluster_rate_bootstrap, cluster_t
from labelkit.stats.intervals import Interval, wilson
from labelkit.stats.linearised import spread
from labelkit.stats.undefined import Undefined
from labelkit.workflows.group_means import mean_of_groups
from labelkit.workflows.rows import REASONS, Codes, Mask, Rows, RuleFacts, satisfied


@dataclass(frozen=True)
class Clustered:
    """Intervals of a rate over clusters such as domains, which are then the real sample.

    ``low`` / ``high``: cluster-robust t with ``n_clusters`` - 1 degrees of freedom, None when
    undefined; ``bootstrap_low`` / ``bootstrap_high``: percentile bootstrap, 4,000 resamples of
    whole clusters, seed 0, None above ``MANY_CLUSTERS`` clusters, where it tells nothing new.
    """

    cluster: str
    n_clusters: int
    low: float | None
    high: float | None
    bootstrap_low: float | None
    bootstrap_high: float | None
    flags: tuple[str, ...]


MANY_CLUSTERS = 500


@dataclass(frozen=True)
class Macro:
    """Mean of the rates of the ``n_groups`` groups of ``tag``, every group counting the same.

    ``low`` / ``high``: its 95% t interval, over the clusters that the rate names if any.
    """

    tag: str
    n_groups: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class RateResult:
    """One rate in one group of rows.

    ``value``, ``low`` and ``high`` (95% Wilson) are None when the rate is undefined; ``reason``
    then says why. ``bound_low`` / ``bound_high``: what the rate would be if every excluded row
    had gone one way. ``planned`` = ``scored`` + sum of ``excluded``. ``clustered``: intervals over
    the clusters that the rate names, beside Wilson's, which takes rows as independent. ``macro``:
    the mean of the rates of groups, where the rubric asks for it.
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
    clustered: Clustered | None = None
    macro: Macro | None = None

    @property
    def coverage(self) -> float | None:
        """Share of planned rows that were scored; None when nothing was planned."""
        return self.scored / self.planned if self.planned else None


@dataclass(frozen=True)
class Groups:
    """Rows cut by one tag: ``codes`` of shape (n_rows,) index ``names``. Groups do not overlap."""

    names: tuple[str, ...]
    codes: Codes


def everything(n_rows: int) -> Groups:
    """All rows as one group."""
    return Groups(("all",), np.zeros(n_rows, dtype=np.int32))


def rates_in(
    rate: Rate,
    rows: Rows,
    codes: Codes,
    labels: Sequence[str],
    facts: RuleFacts,
    groups: Sequence[Groups],
) -> list[list[RateResult]]:
    """Compute one rate in every group of every cut.

    Args:
        rate: the rate's definition.
        rows: all rows.
        codes: shape (n_rows,), the label of each row (index into ``labels``) or a state.
        labels: the question's label names in rubric order.
        facts: what the rule recorded.
        groups: the cuts.

    Returns:
        For every cut its results, in the order of its names.
    """
    sides = _sides(rate, rows, codes, labels, facts)
    results = []
    for cut in groups:
        counts = np.bincount(cut.codes * _SIDES + sides, minlength=len(cut.names) * _SIDES)
        table = counts.reshape(len(cut.names), _SIDES).tolist()
        found = [_result(rate, *line) for line in zip(cut.names, table, strict=True)]
        clusters = rows.clusters(rate.cluster)
        if clusters is not None:
            found = [
                replace(one, clustered=_clustered(rate, sides[here], clusters[here]))
                for k, one in enumerate(found)
                for here in [cut.codes == k]
            ]
        if rate.macro is not None:
            found = [
                replace(one, macro=_macro(rate.macro, rate, rows, sides, cut.codes == k))
                for k, one in enumerate(found)
            ]
        results.append(found)
    return results


def _clustered(
    rate: Rate, sides: NDArray[np.int64], clusters: NDArray[np.int64]
) -> Clustered | None:
    """Return the intervals over clusters, or None where no row is scored."""
    scored = (sides == _HIT) | (sides == _MISS)
    if not scored.any():
        return None
    _, place = np.unique(clusters[scored], return_inverse=True)
    size = np.bincount(place).astype(np.float64)
    hits = np.bincount(place, weights=sides[scored] == _HIT).astype(np.float64)
    robust = cluster_t(hits, size)
    flags, drawn = robust.flags, None
    if 1 < len(size) <= MANY_CLUSTERS:
        bootstrapped = cluster_rate_bootstrap(hits, size)
        drawn = bootstrapped.interval
        flags = tuple(dict.fromkeys((*flags, *bootstrapped.flags)))
    t_low, t_high = _ends(robust.interval)
    low, high = _ends(drawn)
    return Clustered(str(rate.cluster), len(size), t_low, t_high, low, high, flags)


def _macro(tag: str, rate: Rate, rows: Rows, sides: NDArray[np.int64], here: Mask) -> Macro:
    scored = here & ((sides == _HIT) | (sides == _MISS))
    hits = (sides == _HIT).astype(np.float64)
    estimate, n_groups = mean_of_groups(tag, rows, hits, scored)
    if estimate is None or isinstance(estimate.value, Undefined):
        return Macro(tag, 0, None, None, None)
    low, high = _ends(spread(estimate, rows.clusters(rate.cluster)).interval)
    if low is not None and high is not None:
        low, high = max(0.0, low), min(1.0, high)
    return Macro(tag, n_groups, estimate.value, low, high)


def _ends(interval: Interval | Undefined | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if isinstance(interval, Interval) else (None, None)


# What a row is to one rate: outside its denominator, scored without or with a hit, or excluded
# for the reason REASONS has at that place.
_OUTSIDE, _MISS, _HIT = range(3)
_EXCLUDED = 3
_SIDES = _EXCLUDED + len(REASONS)


def row_hits(
    rate: Rate, rows: Rows, codes: Codes, labels: Sequence[str], facts: RuleFacts
) -> tuple[NDArray[np.float64], Mask]:
    """Return 1 or 0 for every row, and which rows are scored; both of shape (n_rows,)."""
    sides = _sides(rate, rows, codes, labels, facts)
    return (sides == _HIT).astype(np.float64), (sides == _HIT) | (sides == _MISS)


def _sides(
    rate: Rate, rows: Rows, codes: Codes, labels: Sequence[str], facts: RuleFacts
) -> NDArray[np.int64]:
    """Tell for each row what it is to the rate; every row is exactly one thing."""
    where = rate.denominator.where
    sides = np.full(len(rows), _OUTSIDE, dtype=np.int64)
    # A row without a label may still be known to lie outside: the rule saw that nothing was called.
    missing = (codes < 0) & rows.having(where.tags) & ~facts.lacking(where.rule_flags)
    for place, (state, reason) in enumerate(REASONS.items()):
        kept = rate.states.get(reason, "drop") == "denominator"
        sides[missing & (codes == state)] = _MISS if kept else _EXCLUDED + place
    inside = satisfied(where, rows, codes, labels, facts.flags) & (codes >= 0)
    sides[inside] = _MISS
    sides[inside & satisfied(rate.numerator, rows, codes, labels, facts.flags)] = _HIT
    return sides


def _result(rate: Rate, group: str, counts: Sequence[int]) -> RateResult:
    """Put the counts of one rate together, or say why it is undefined."""
    hits = counts[_HIT]
    scored = counts[_MISS] + hits
    excluded = {
        reason: count
        for reason, count in zip(REASONS.values(), counts[_EXCLUDED:], strict=True)
        if count
    }
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
        excluded=excluded,
        value=None if reason else hits / scored,
        low=interval.low if isinstance(interval, Interval) else None,
        high=interval.high if isinstance(interval, Interval) else None,
        bound_low=hits / planned if planned else None,
        bound_high=(hits + planned - scored) / planned if planned else None,
        reason=reason,
    )
