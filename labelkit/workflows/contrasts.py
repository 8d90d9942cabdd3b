"""Conditions beside one another, composites and Pareto fronts: numbers made of rates and means.

Rows of two arms that share task, model and repeat are pairs: intervals are taken over pairs (or
over the clusters that the rate names), and a rate's change gets the exact McNemar test with Holm's
adjustment within the family that the rubric declares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.rates import Composite, Contrast, Front
from labelkit.domain.task import Tag
from labelkit.stats.comparison import adjust, mcnemar
from labelkit.stats.linearised import Estimate, mean, ratio, spread, weighted_sum
from labelkit.stats.ranking import pareto_front
from labelkit.stats.ratings import Floats
from labelkit.stats.undefined import Undefined, number_or_none
from labelkit.workflows.rates import Groups
from labelkit.workflows.rows import Mask, Rows


@dataclass(frozen=True, eq=False)
class Numbers:
    """One rate or measure by row: ``values`` and the mask of ``scored`` rows, both (n_rows,).

    ``share`` tells a rate (values are 0 and 1) from a mean.
    """

    values: Floats
    scored: Mask
    share: bool
    cluster: str | None = None


@dataclass(frozen=True)
class Part:
    """One number of a contrast, such as ``retention``, with its 95% interval."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    reason: str | None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pairs:
    """Matched rows of two arms: ``only_base`` (n10) and ``only_treated`` (n01) were hits.

    ``p`` is the exact two-sided McNemar p-value, ``p_holm`` adjusted within ``family``.
    """

    n: int
    only_base: int
    only_treated: int
    p: float
    p_holm: float | None = None
    family: str = ""


@dataclass(frozen=True)
class ContrastResult:
    """A contrast in one group: the arms' values and rows by name, and what follows from them."""

    id: str
    title: str
    of: str
    group: str
    arms: Mapping[str, float | None]
    n: Mapping[str, int]
    parts: tuple[Part, ...]
    pairs: Pairs | None = None


@dataclass(frozen=True)
class CompositeResult:
    """A composite in one group, with the rates and row counts it was put together from."""

    id: str
    title: str
    group: str
    value: float | None
    low: float | None
    high: float | None
    parts: Mapping[str, float | None]
    n: Mapping[str, int]
    reason: str | None = None


@dataclass(frozen=True)
class FrontResult:
    """Points by name of what is compared; ``left_out`` names those with an undefined number."""

    id: str
    title: str
    criteria: tuple[str, ...]
    points: Mapping[str, tuple[float, ...]]
    front: tuple[str, ...]
    left_out: tuple[str, ...]
    ties: str


def contrasts_in(
    contrasts: Sequence[Contrast],
    numbers: Mapping[str, Numbers],
    rows: Rows,
    groups: Sequence[Groups],
) -> list[ContrastResult]:
    """Compute every contrast in every group; p-values are adjusted within group and family."""
    results = []
    for cut in groups:
        for place, name in enumerate(cut.names):
            here = cut.codes == place
            results += _adjusted([_contrast(c, numbers[c.of], rows, name, here) for c in contrasts])
    return results


def composites_in(
    composites: Sequence[Composite],
    numbers: Mapping[str, Numbers],
    groups: Sequence[Groups],
) -> list[CompositeResult]:
    """Compute every composite in every group."""
    return [
        _composite(composite, numbers, name, cut.codes == place)
        for cut in groups
        for place, name in enumerate(cut.names)
        for composite in composites
    ]


def front_over(front: Front, numbers: Mapping[str, Numbers], rows: Rows) -> FrontResult:
    """Return which values of the front's tag (models) no other one dominates."""
    criteria = (*front.up, *front.down)
    points: dict[str, tuple[float, ...]] = {}
    left_out: list[str] = []
    column = rows.coded(front.over)
    for code, value in enumerate(column.values):
        here = column.codes == code
        found = [mean(numbers[c].values, numbers[c].scored & here).value for c in criteria]
        defined = tuple(v for v in found if not isinstance(v, Undefined))
        if len(defined) == len(criteria):
            points[str(value)] = defined
        else:
            left_out.append(str(value))
    best: tuple[str, ...] = ()
    if points:
        rises = [True] * len(front.up) + [False] * len(front.down)
        kept = pareto_front(list(points.values()), rises, ties=front.ties)
        best = tuple(name for name, on in zip(points, kept.tolist(), strict=True) if on)
    return FrontResult(front.id, front.title, criteria, points, best, tuple(left_out), front.ties)


def _contrast(
    contrast: Contrast, number: Numbers, rows: Rows, group: str, here: Mask
) -> ContrastResult:
    names: dict[str, Tag] = {"base": contrast.base, "treated": contrast.treated}
    if contrast.clean is not None:
        names["clean"] = contrast.clean
    masks = {
        arm: number.scored & here & rows.having({contrast.tag: (value,)})
        for arm, value in names.items()
    }
    arms = {arm: mean(number.values, mask) for arm, mask in masks.items()}
    clusters = rows.clusters(number.cluster)
    if clusters is None:
        clusters = _units(rows)
    parts = tuple(
        _part(name, estimate, clusters)
        for name, estimate in _derived(contrast, arms, clusters).items()
    )
    pairs = None
    if number.share and contrast.kind == "change":
        pairs = _pairs(number, rows, masks["base"], masks["treated"], contrast.family)
    return ContrastResult(
        id=contrast.id,
        title=contrast.title,
        of=contrast.of,
        group=group,
        arms={arm: number_or_none(estimate.value) for arm, estimate in arms.items()},
        n={arm: int(np.count_nonzero(mask)) for arm, mask in masks.items()},
        parts=parts,
        pairs=pairs,
    )


def _derived(
    contrast: Contrast, arms: Mapping[str, Estimate], clusters: NDArray[np.int64] | None
) -> dict[str, Estimate]:
    """Every number of a contrast by its name."""
    base, treated = arms["base"], arms["treated"]
    change = weighted_sum([treated, base], [1, -1])
    if contrast.kind == "recovered_share":
        gap = weighted_sum([arms["clean"], base], [1, -1])
        return {"difference": change, "recovered_share": ratio(change, gap, clusters)}
    lost = weighted_sum([base, treated], [1, -1])
    return {
        "difference": change,
        "retention": ratio(treated, base, clusters),
        "drop": ratio(lost, base, clusters),
        "drop_over_after": ratio(lost, treated, clusters),
    }


def _part(name: str, estimate: Estimate, clusters: NDArray[np.int64] | None) -> Part:
    if isinstance(estimate.value, Undefined):
        return Part(name, None, None, None, estimate.value.reason.value)
    sure = spread(estimate, clusters)
    if isinstance(sure.interval, Undefined):
        return Part(name, estimate.value, None, None, None, sure.flags)
    return Part(name, estimate.value, sure.interval.low, sure.interval.high, None, sure.flags)


def _units(rows: Rows) -> NDArray[np.int64] | None:
    """Pairs as clusters; a row of an unknown task stands alone."""
    if rows.items is None:
        return None
    alone = -2 - np.arange(len(rows), dtype=np.int64)
    return np.where(rows.items >= 0, rows.items, alone)


def _pairs(number: Numbers, rows: Rows, base: Mask, treated: Mask, family: str) -> Pairs | None:
    """Match rows that are the only one of their item in both arms; None where no row matches."""
    if rows.items is None:
        return None
    sides = []
    for mask in (base, treated):
        mine = np.flatnonzero(mask & (rows.items >= 0))
        items, first, times = np.unique(rows.items[mine], return_index=True, return_counts=True)
        sides.append((items[times == 1], mine[first[times == 1]]))
    (items, at), (other_items, other_at) = sides
    _, left, right = np.intersect1d(items, other_items, return_indices=True)
    if len(left) == 0:
        return None
    before, after = number.values[at[left]], number.values[other_at[right]]
    only_base = int(np.count_nonzero(before > after))
    only_treated = int(np.count_nonzero(after > before))
    p = mcnemar(only_base, only_treated).p_exact
    return Pairs(len(left), only_base, only_treated, p, family=family)


def _adjusted(results: Sequence[ContrastResult]) -> list[ContrastResult]:
    """Adjust the p-values of one group within each named family."""
    adjusted = list(results)
    for family in {r.pairs.family for r in results if r.pairs and r.pairs.family}:
        p_values = {r.id: r.pairs.p for r in results if r.pairs and r.pairs.family == family}
        holm = adjust(family, p_values).adjusted
        adjusted = [
            replace(r, pairs=replace(r.pairs, p_holm=holm[r.id]))
            if r.pairs and r.pairs.family == family
            else r
            for r in adjusted
        ]
    return adjusted


def _composite(
    composite: Composite, numbers: Mapping[str, Numbers], group: str, here: Mask
) -> CompositeResult:
    counts, estimates, rates = {}, [], {}
    for name in composite.parts:
        number = numbers[name]
        inside = number.scored & here
        turned = name in composite.complement
        rates[name] = number_or_none(mean(number.values, inside).value)
        counts[name] = int(np.count_nonzero(inside))
        estimates.append(mean(1 - number.values if turned else number.values, inside))
    total = sum(counts.values())
    used = [e for e, n in zip(estimates, counts.values(), strict=True) if n]
    if not used:
        return CompositeResult(
            composite.id, composite.title, group, None, None, None, rates, counts, "no_items"
        )
    value = weighted_sum(used, [n / total for n in counts.values() if n])
    part = _part(composite.id, value, None)
    low = None if part.low is None else max(0.0, part.low)
    high = None if part.high is None else min(1.0, part.high)
    return CompositeResult(
        composite.id, composite.title, group, part.value, low, high, rates, counts, part.reason
    )
