"""Means as rubric data: scores on an ordinal scale, and numbers that the rule recorded.

As with rates, planned = scored + excluded by reason on every line; a row without a number is
never a zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from labelkit.domain.rates import Denominator, Measure
from labelkit.domain.rubric import Question
from labelkit.stats.linearised import Spread, mean, ratio, spread
from labelkit.stats.ratings import Floats
from labelkit.stats.undefined import Undefined, number_or_none
from labelkit.workflows.group_means import mean_of_groups
from labelkit.workflows.rates import Groups
from labelkit.workflows.rows import REASONS, Codes, Mask, Rows, RuleFacts, satisfied

NO_NUMBER = "no_number"


@dataclass(frozen=True)
class MeasureResult:
    """One measure in one group of rows.

    ``value``: the pooled mean, or the ratio of two; ``low`` / ``high`` its 95% t interval by
    linearisation over ``n_clusters`` units. ``macro``: mean of the ``n_groups`` group means, with
    its own interval, where the measure asks for it. ``planned`` = ``scored`` + excluded counts
    the rows of ``within`` and of ``against`` together; ``scored_against`` those of ``against``.
    Undefined numbers are None and ``reason`` says why.
    """

    name: str
    title: str
    group: str
    definition: str
    value: float | None
    low: float | None
    high: float | None
    macro: float | None
    macro_low: float | None
    macro_high: float | None
    n_groups: int
    n_clusters: int
    scored: int
    scored_against: int
    planned: int
    excluded: Mapping[str, int]
    flags: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True)
class Scored:
    """Which rows of a named set have a number, and why the others have none."""

    rows: Mask
    missing: Mapping[str, Mask]

    def within(self, mask: Mask) -> Scored:
        """The same of some rows only."""
        missing = {why: rows & mask for why, rows in self.missing.items()}
        return Scored(self.rows & mask, missing)


def measures_in(
    measure: Measure,
    rows: Rows,
    codes: Codes,
    question: Question,
    facts: RuleFacts,
    groups: Sequence[Groups],
) -> list[list[MeasureResult]]:
    """Compute one measure in every group of every cut, as ``rates.rates_in`` does for rates."""
    numbers = row_numbers(measure, codes, question, facts)
    labels = [definition.name for definition in question.labels]
    sides = [
        scored_rows(measure, denominator, rows, codes, labels, facts, numbers)
        for denominator in (measure.within, measure.against)
        if denominator is not None
    ]
    return [
        [
            _result(measure, name, rows, numbers, [side.within(cut.codes == k) for side in sides])
            for k, name in enumerate(cut.names)
        ]
        for cut in groups
    ]


def row_numbers(measure: Measure, codes: Codes, question: Question, facts: RuleFacts) -> Floats:
    """Return every row's number, shape (n_rows,); NaN where it has none."""
    if measure.value == "label":
        scale = np.array([*scale_of(question), np.nan])
        values: Floats = scale[np.where(codes >= 0, codes, len(scale) - 1)]
    else:
        values = facts.number(measure.value)
    if measure.per is not None:
        divisor = facts.number(measure.per)
        values = np.divide(values, divisor, out=np.full(len(codes), np.nan), where=divisor != 0)
    return values + measure.offset


def scale_of(question: Question) -> list[float]:
    """Return the numbers of an ordinal question's labels: their names, else places from 1."""
    try:
        return [float(label.name) for label in question.labels]
    except ValueError:
        return [float(place) for place in range(1, len(question.labels) + 1)]


def scored_rows(
    measure: Measure,
    denominator: Denominator,
    rows: Rows,
    codes: Codes,
    labels: Sequence[str],
    facts: RuleFacts,
    numbers: Floats,
) -> Scored:
    """Return the rows of a denominator that have a number, and the others by reason."""
    where = denominator.where
    needs_label = bool(measure.value == "label" or where.labels or where.not_labels)
    inside = satisfied(where, rows, codes, labels, facts.flags) & (~np.isnan(numbers))
    if needs_label:
        inside &= codes >= 0
    possible = rows.having(where.tags) & ~facts.lacking(where.rule_flags) & ~inside
    missing = {reason: possible & (codes == state) for state, reason in REASONS.items()}
    lost = satisfied(where, rows, codes, labels, facts.flags) & (codes >= 0) & possible
    missing[NO_NUMBER] = lost
    return Scored(inside, missing)


def _result(
    measure: Measure,
    group: str,
    rows: Rows,
    numbers: Floats,
    sides: Sequence[Scored],
) -> MeasureResult:
    clusters = rows.clusters(measure.cluster)
    means = [mean(numbers, side.rows) for side in sides]
    pooled = means[0] if len(means) == 1 else ratio(means[0], means[1], clusters)
    macro, n_groups = mean_of_groups(measure.macro, rows, numbers, sides[0].rows)
    sure = spread(pooled, clusters)
    low, high = _ends(sure)
    macro_low, macro_high = (None, None) if macro is None else _ends(spread(macro, clusters))
    excluded = {
        why: count
        for why in (*REASONS.values(), NO_NUMBER)
        if (count := sum(int(np.count_nonzero(side.missing[why])) for side in sides))
    }
    scored = [int(np.count_nonzero(side.rows)) for side in sides]
    return MeasureResult(
        name=measure.full_name,
        title=measure.title,
        group=group,
        definition=measure.definition,
        value=number_or_none(pooled.value),
        low=low,
        high=high,
        macro=None if macro is None else number_or_none(macro.value),
        macro_low=macro_low,
        macro_high=macro_high,
        n_groups=n_groups,
        n_clusters=sure.n_clusters,
        scored=scored[0],
        scored_against=sum(scored[1:]),
        planned=sum(scored) + sum(excluded.values()),
        excluded=excluded,
        flags=sure.flags,
        reason=pooled.value.reason.value if isinstance(pooled.value, Undefined) else None,
    )


def _ends(sure: Spread) -> tuple[float | None, float | None]:
    if isinstance(sure.interval, Undefined):
        return None, None
    return sure.interval.low, sure.interval.high
