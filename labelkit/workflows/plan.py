"""How many rows people should label, how they spread over strata, and how sure that will make us.

It joins the formulas of ``labelkit.stats`` to one plan; it draws nothing and needs no store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, sqrt
from pathlib import Path
from typing import Literal

import numpy as np

from labelkit.errors import InputError
from labelkit.formats.rating_files import read_columns
from labelkit.stats.allocation import (
    SampleSize,
    cochran_size,
    equal_allocation,
    neyman_allocation,
    proportional_allocation,
)
from labelkit.stats.intervals import Proportion, proportion
from labelkit.stats.planning import (
    MoreLabels,
    expected_half_width,
    interval_so_far,
    kappa_sample_size,
    more_labels,
)
from labelkit.stats.undefined import Number, Reason, Undefined

Method = Literal["proportional", "equal", "neyman"]


@dataclass(frozen=True)
class Wish:
    """What the plan should reach.

    Args:
        margin: half-width of the interval, 0.05 for 5 points.
        confidence: of every interval.
        rate: anticipated rate; 0.5 is the worst case.
        population: rows there are, or None for endlessly many.
        n: rows to draw, instead of what the margin needs.
        design_effect: by how much clusters or weights inflate the variance.
    """

    margin: float = 0.05
    confidence: float = 0.95
    rate: float = 0.5
    population: int | None = None
    n: int | None = None
    design_effect: float = 1.0


@dataclass(frozen=True)
class Spread:
    """How rows are split over strata.

    Args:
        method: in proportion to size, equally, or Neyman's (size times standard deviation).
        minimum: rows every stratum gets at least (or all that it has).
        sds: standard deviation of a stratum; default sqrt(p (1 - p)) of its rate.
        rates: anticipated rate of a stratum; default the overall one.
    """

    method: Method = "proportional"
    minimum: int = 0
    sds: Mapping[str, float] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class StratumPlan:
    """One stratum of a plan; ``half_width`` is undefined where it gets no row."""

    name: str
    size: int
    n: int
    inclusion: float
    rate: float
    half_width: Number


@dataclass(frozen=True)
class Plan:
    """A sample, and how wide the Wilson interval of a rate over it will be.

    Args:
        wish: what was asked for.
        cochran: the size that the margin needs, before the design effect.
        n: rows to draw.
        half_width: expected half-width of the rate over the whole population. Undefined where a
            stratum gets no row and the strata are not drawn in proportion at one rate.
        method: how rows are split; empty without strata.
        strata: the split.
    """

    wish: Wish
    cochran: SampleSize
    n: int
    half_width: Number
    method: str
    strata: tuple[StratumPlan, ...]


@dataclass(frozen=True)
class Progress:
    """Labels there are already, and how many are missing until the interval is +-margin."""

    now: Proportion
    margin: float
    more: MoreLabels
    population: int | None = None


@dataclass(frozen=True)
class KappaWish:
    """Two raters' kappa that should be told from a lower (or higher) one, yes/no labels."""

    kappa: float
    kappa_null: float
    yes: tuple[float, float]
    power: float = 0.8


@dataclass(frozen=True)
class KappaPlan:
    """How many items tell the two kappas apart with this power."""

    wish: KappaWish
    alpha: float
    n_items: int


def plan_sample(
    wish: Wish, strata: Mapping[str, int] | None = None, spread: Spread | None = None
) -> Plan:
    """Return how many rows to draw, from which strata, and the intervals to expect.

    Args:
        wish: margin, confidence, rate, population; or n.
        strata: rows per stratum; their sum is the population.
        spread: how to split.

    Raises:
        InputError: for strata that do not add up to the population, or names that are none.
        StatisticsError: for numbers that no sample can have.
    """
    if not 1.0 <= wish.design_effect < inf:
        raise InputError(f"a design effect of {wish.design_effect} is none; give 1 or more")
    population = _population(wish, strata)
    if spread is not None and not strata:
        _refuse_spread(spread)
    size = cochran_size(wish.margin, p=wish.rate, level=wish.confidence, population=population)
    n = wish.n if wish.n is not None else _inflated(wish, population, size)
    if population is not None and n > population:
        raise InputError(f"{n} rows cannot be drawn from a population of {population}")
    if n < 1:
        raise InputError(f"a plan for {n} rows is none; ask for 1 or more")
    parts = _split(wish, strata, spread or Spread(), n) if strata else ()
    method = (spread or Spread()).method if strata else ""
    half_width: Number = expected_half_width(
        wish.rate,
        n,
        level=wish.confidence,
        design_effect=wish.design_effect,
        population=population,
    )
    if method not in {"", "proportional"} or (spread is not None and spread.rates):
        half_width = _stratified(parts)
    return Plan(wish, size, n, half_width, method, parts)


def _refuse_spread(spread: Spread) -> None:
    """What is said of strata needs strata: an option that changes nothing is a mistake."""
    given = {
        "--rates": spread.rates,
        "--sds": spread.sds,
        "--minimum": spread.minimum,
        f"--allocation {spread.method}": spread.method != "proportional",
    }
    for option, value in given.items():
        if value:
            raise InputError(
                f"{option} is about strata, and none are given; add --strata NAME=SIZE,... or "
                "--strata-from FILE --by COL"
            )


def _population(wish: Wish, strata: Mapping[str, int] | None) -> int | None:
    if not strata:
        return wish.population
    total = sum(strata.values())
    if wish.population is not None and wish.population != total:
        raise InputError(
            f"the strata have {total} rows together, not the population of {wish.population}; "
            "leave --population out, or mend the sizes"
        )
    if total == 0:
        raise InputError("all strata are empty; nothing can be drawn")
    return total


def _inflated(wish: Wish, population: int | None, size: SampleSize) -> int:
    """Cochran's size; with a design effect it is inflated before the population corrects it."""
    if wish.design_effect == 1.0:
        return size.n
    n0 = size.n0 * wish.design_effect
    if population is None:
        return max(1, int(np.ceil(n0 - 1e-9)))
    return min(population, max(1, int(np.ceil(n0 / (1 + (n0 - 1) / population) - 1e-9))))


def _split(
    wish: Wish, strata: Mapping[str, int], spread: Spread, n: int
) -> tuple[StratumPlan, ...]:
    for what, named in (("standard deviation", spread.sds), ("rate", spread.rates)):
        stray = next((name for name in named if name not in strata), None)
        if stray is not None:
            raise InputError(
                f"there is no stratum {stray!r} for a {what}; strata are: {', '.join(strata)}"
            )
    rates = [spread.rates.get(name, wish.rate) for name in strata]
    bad = next((r for r in rates if not 0 <= r <= 1), None)
    if bad is not None:
        raise InputError(f"a rate of {bad} is no share; write 0.1 for 10%")
    if spread.sds and spread.method != "neyman":
        raise InputError("--sds decides a split by --allocation neyman only; leave it out")
    rows = _rows(strata, rates, spread, n)
    return tuple(
        _stratum(wish, name, size, drawn, rate)
        for (name, size), drawn, rate in zip(strata.items(), rows, rates, strict=True)
    )


def _rows(
    strata: Mapping[str, int], rates: Sequence[float], spread: Spread, n: int
) -> tuple[int, ...]:
    sizes = list(strata.values())
    if spread.method == "equal":
        if spread.minimum:
            raise InputError("--minimum has no meaning for an equal split; leave it out")
        return equal_allocation(sizes, n).rows
    if spread.method == "proportional":
        return proportional_allocation(sizes, n, minimum=spread.minimum).rows
    if not spread.sds and not spread.rates:
        raise InputError(
            "Neyman's allocation needs to know how the strata differ: give --sds NAME=SD,... or "
            "--rates NAME=RATE,..."
        )
    without = next((name for name in strata if spread.sds and name not in spread.sds), None)
    if without is not None:
        raise InputError(f"stratum {without!r} has no standard deviation; give one per stratum")
    sds = [
        spread.sds.get(name, sqrt(rate * (1 - rate)))
        for name, rate in zip(strata, rates, strict=True)
    ]
    return neyman_allocation(sizes, sds, n, minimum=spread.minimum).rows


def _stratum(wish: Wish, name: str, size: int, n: int, rate: float) -> StratumPlan:
    half_width: Number = Undefined(Reason.NO_ITEMS, "no row is drawn from this stratum")
    if n:
        half_width = expected_half_width(
            rate, n, level=wish.confidence, design_effect=wish.design_effect, population=size
        )
    return StratumPlan(name, size, n, n / size if size else 0.0, rate, half_width)


def _stratified(parts: Sequence[StratumPlan]) -> Number:
    """Expected half-width of the weighted rate, from the strata's own.

    Half-widths add in squares by share of the population (Cochran 1977, eq. 5.6, with Wilson's
    half-width in place of z times the standard error).
    """
    total = sum(part.size for part in parts)
    squares = 0.0
    for part in parts:
        if isinstance(part.half_width, Undefined):
            if part.size:
                return Undefined(
                    Reason.OUT_OF_DESIGN, f"stratum {part.name} gets no row, so no overall rate"
                )
            continue
        squares += (part.size / total * part.half_width) ** 2
    return sqrt(squares)


def plan_more(hits: int, n: int, wish: Wish, strata: Mapping[str, int] | None = None) -> Progress:
    """Return how many more labels make the interval of hits / n as narrow as wished.

    The interval now and the one wished for are on the same terms: both with the population's
    correction (of the strata together, where they are given) and with the design effect.

    Raises:
        StatisticsError: for more hits than rows, or more rows than the population.
    """
    population = _population(wish, strata)
    more = more_labels(
        hits,
        n,
        wish.margin,
        level=wish.confidence,
        design_effect=wish.design_effect,
        population=population,
    )
    interval = interval_so_far(
        hits,
        n,
        level=wish.confidence,
        design_effect=wish.design_effect,
        population=population,
    )
    now = replace(proportion(hits, n, wish.confidence), interval=interval)
    return Progress(now, wish.margin, more, population)


def plan_kappa(wish: KappaWish, confidence: float) -> KappaPlan:
    """Return how many items tell a kappa from another one.

    Raises:
        InputError: for shares, kappas or a power that are none.
        StatisticsError: for kappas that raters with these shares cannot have.
    """
    if not all(0 < share < 1 for share in wish.yes):
        raise InputError(f"shares of yes {wish.yes} must lie between 0 and 1, for example 0.3,0.3")
    if not (0 < wish.power < 1 and -1 < wish.kappa <= 1 and -1 < wish.kappa_null < 1):
        raise InputError(
            f"kappa {wish.kappa}, kappa-null {wish.kappa_null} and power {wish.power} do not fit; "
            "for example 0.8, 0.6 and 0.8"
        )
    alpha = 1 - confidence
    n = kappa_sample_size(*wish.yes, wish.kappa, wish.kappa_null, alpha=alpha, power=wish.power)
    return KappaPlan(wish, round(alpha, 12), n)


def strata_of_file(path: Path, column: str, *, delimiter: str | None = None) -> dict[str, int]:
    """Count the rows of a table by one of its columns, in order of first appearance.

    Raises:
        InputError: for a missing column, or a file that cannot be read (``FormatError``).
    """

    def pick(header: Sequence[str]) -> list[str]:
        if column not in header:
            raise InputError(
                f"{path} has no column {column!r}; its columns are: {', '.join(map(repr, header))}"
            )
        return [column]

    found = read_columns(path, pick, delimiter=delimiter).chosen[column]
    times = np.bincount(found.codes, minlength=len(found.values)).tolist()
    names = ["(none)" if v is None or v == "" else str(v) for v in found.values]
    return dict(zip(names, times, strict=True))
