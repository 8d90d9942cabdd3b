"""How many more labels until the intervals are narrow enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from labelkit.stats.agreement import Coefficient
from labelkit.stats.planning import MoreLabels, more_labels
from labelkit.stats.undefined import Number, Reason, Undefined, is_defined
from labelkit.stats.weighted import WeightedRate, weighted_rate
from labelkit.workflows.review.reading import PeopleLabels, agreed

KAPPAS = ("cohen_kappa", "fleiss_kappa", "gwet_ac", "krippendorff_alpha")


@dataclass(frozen=True)
class ShareNeeded:
    """One label: its share of the frame by the agreed labels, and items still to agree on."""

    label: str
    share: WeightedRate
    more: MoreLabels


@dataclass(frozen=True)
class CoefficientNeeded:
    """One coefficient: half-width now, and items (in total, still to come) for the one wanted.

    The width of an interval falls with the root of the number of items.
    """

    name: str
    half_width_now: Number
    needed: Number
    more: Number


@dataclass(frozen=True)
class Needed:
    """What is missing until every interval is +- ``half_width``; counts are items."""

    half_width: float
    shares: tuple[ShareNeeded, ...]
    coefficients: tuple[CoefficientNeeded, ...]


def needed_for(
    people: PeopleLabels, coefficients: Sequence[Coefficient], half_width: float
) -> Needed:
    """Return how many more items make shares and coefficients +- ``half_width``.

    Shares are weighted by 1 / inclusion probability; what the weights cost is the design effect.

    Raises:
        StatisticsError: a half-width outside (0, 1).
    """
    common = agreed(people)
    known = common >= 0
    shares = []
    for code, label in enumerate(people.labels):
        hits = (common == code)[known]
        rate = weighted_rate(
            hits,
            people.items.probability[known],
            strata=people.items.stratum[known],
            frame_size=people.sample.design.frame_size,
        )
        shares.append(ShareNeeded(label, rate, _more(rate, len(hits), half_width, people)))
    return Needed(
        half_width,
        tuple(shares),
        tuple(_coefficient(c, half_width) for c in coefficients if c.name in KAPPAS),
    )


def _more(rate: WeightedRate, n: int, half_width: float, people: PeopleLabels) -> MoreLabels:
    population = people.sample.design.frame_size
    if not is_defined(rate.value) or n == 0:
        return more_labels(0, 0, half_width, population=population)
    effect = 1.0
    if is_defined(rate.effective_n) and rate.effective_n > 0:
        effect = max(1.0, n / rate.effective_n)
    return more_labels(
        min(float(n), max(0.0, rate.value * n)),
        n,
        half_width,
        design_effect=effect,
        population=population,
    )


def _coefficient(found: Coefficient, half_width: float) -> CoefficientNeeded:
    if isinstance(found.interval, Undefined):
        return CoefficientNeeded(found.name, found.interval, found.interval, found.interval)
    now = (found.interval.high - found.interval.low) / 2
    if now <= 0 or not np.isfinite(now):
        why = Undefined(Reason.NO_VARIATION, "the interval has no width yet")
        return CoefficientNeeded(found.name, now, why, why)
    total = ceil(found.n_items * (now / half_width) ** 2 - 1e-9)
    return CoefficientNeeded(found.name, now, float(total), float(max(0, total - found.n_items)))
