"""How many rows to draw: Cochran's size, and its split over strata.

Every allocation sums to n exactly and never asks a stratum for more rows than it has. A stratum
that gets nothing is the caller's to report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isfinite

from labelkit.errors import StatisticsError
from labelkit.stats.quantiles import normal_quantile

_NOISE = 1e-9
"""Rounding up tolerates this much floating noise: 9603.999999999998 is 9604, not 9605."""


@dataclass(frozen=True)
class SampleSize:
    """Cochran's sample size.

    Args:
        n0: size for an infinite population.
        n_exact: after the finite-population correction, before rounding up.
        n: rows to draw.
    """

    n0: float
    n_exact: float
    n: int


@dataclass(frozen=True)
class Allocation:
    """A split of n rows over strata, in the order given.

    Args:
        rows: rows per stratum.
        quota: the split before rounding.
    """

    rows: tuple[int, ...]
    quota: tuple[float, ...]

    @property
    def empty(self) -> tuple[int, ...]:
        """Positions of strata that get no row."""
        return tuple(k for k, rows in enumerate(self.rows) if rows == 0)


def cochran_size(
    margin: float,
    *,
    p: float = 0.5,
    level: float = 0.95,
    z: float | None = None,
    population: int | None = None,
) -> SampleSize:
    """Return how many rows give a rate to within +- ``margin``.

    Cochran (1977), Sampling Techniques, eqs. 4.1-4.3: n0 = z^2 p (1 - p) / margin^2, then
    n0 / (1 + (n0 - 1) / N), rounded up. Krejcie and Morgan's table rounds to nearest instead and
    can miss the margin by a row.

    Args:
        margin: half-width, for example 0.05.
        p: anticipated rate; 0.5 is the worst case.
        level: confidence level, used when ``z`` is not given.
        z: quantile; the textbooks' 1.96 instead of 1.959964.
        population: N, or None for infinite.

    Raises:
        StatisticsError: for a rate or margin outside (0, 1), or a negative population.
    """
    if not 0 < p < 1 or not 0 < margin < 1:
        raise StatisticsError(
            f"rate {p!r} and margin {margin!r} must lie between 0 and 1, for example 0.5 and 0.05"
        )
    quantile = normal_quantile(level) if z is None else z
    if not (quantile > 0 and isfinite(quantile)):
        raise StatisticsError(f"z = {z!r} is no quantile; use 1.96 for 95%")
    n0 = quantile**2 * p * (1 - p) / margin**2
    if population is None:
        return SampleSize(n0, n0, max(1, ceil(n0 - _NOISE)))
    if population < 0 or population != int(population):
        raise StatisticsError(f"a population of {population!r} is impossible; count the rows")
    if population == 0:
        return SampleSize(n0, 0.0, 0)
    exact = n0 / (1 + (n0 - 1) / population)
    return SampleSize(n0, exact, min(int(population), max(1, ceil(exact - _NOISE))))


def proportional_allocation(sizes: Sequence[int], n: int, *, minimum: int = 0) -> Allocation:
    """Split n over strata in proportion to their sizes, by the largest remainder.

    Hamilton's method; equal remainders go to the stratum listed first. ``minimum`` rows (or the
    whole stratum, where it is smaller) go to every stratum first.
    """
    return _allocate(sizes, [Fraction(s) for s in _checked(sizes, n)], n, minimum)


def equal_allocation(sizes: Sequence[int], n: int) -> Allocation:
    """Split n equally; strata smaller than their share are taken whole, the rest re-split."""
    whole = _checked(sizes, n)
    return _allocate(sizes, [Fraction(1 if s else 0) for s in whole], n, 0)


def neyman_allocation(
    sizes: Sequence[int], sds: Sequence[float], n: int, *, minimum: int = 0
) -> Allocation:
    """Split n in proportion to size times standard deviation, which minimises the variance.

    Neyman (1934), J. R. Stat. Soc. 97:558; Cochran (1977), eq. 5.26. A stratum whose quota
    exceeds its size is taken whole and the rest re-allocated (Cochran 5.8). Strata without any
    spread get rows only when all others are exhausted, and then by size.

    Raises:
        StatisticsError: for standard deviations that do not fit, besides wrong sizes.
    """
    whole = _checked(sizes, n)
    if len(sds) != len(whole) or not all(isfinite(s) and s >= 0 for s in sds):
        raise StatisticsError("give one finite standard deviation >= 0 per stratum")
    # limit_denominator makes 0.1 + 0.2 style noise harmless when remainders are compared.
    spread = [Fraction(s).limit_denominator(10**12) for s in sds]
    return _allocate(
        sizes, [Fraction(s) * d for s, d in zip(whole, spread, strict=True)], n, minimum
    )


def _checked(sizes: Sequence[int], n: int) -> list[int]:
    whole = [int(s) for s in sizes]
    if any(s < 0 or s != size for s, size in zip(whole, sizes, strict=True)):
        raise StatisticsError(f"stratum sizes {list(sizes)!r} must be whole numbers >= 0")
    if n < 0 or n != int(n) or n > sum(whole):
        raise StatisticsError(
            f"{n!r} rows cannot be drawn from {sum(whole)}; ask for 0 to {sum(whole)}"
        )
    return whole


def _allocate(sizes: Sequence[int], shares: list[Fraction], n: int, minimum: int) -> Allocation:
    """Fix strata at their floor or their size until all others lie between, then round."""
    floors = [min(minimum, int(size)) for size in sizes]
    if sum(floors) > n:
        raise StatisticsError(
            f"{n} rows are too few for {minimum} in every stratum; ask for {sum(floors)} or more"
        )
    quota = _quotas([int(s) for s in sizes], shares, Fraction(n), floors)
    rows = [floor(x) for x in quota]
    rest = n - sum(rows)
    order = sorted(range(len(rows)), key=lambda k: (rows[k] - quota[k], k))
    for k in order[:rest]:
        rows[k] += 1
    return Allocation(tuple(rows), tuple(float(x) for x in quota))


def _quotas(
    sizes: list[int], shares: list[Fraction], n: Fraction, floors: list[int]
) -> list[Fraction]:
    """Return quotas within [floor, size] that sum to n and are otherwise proportional."""
    quota = [Fraction(0)] * len(sizes)
    free = set(range(len(sizes)))
    left = n
    while free:
        total = sum((shares[k] for k in free), Fraction(0))
        if total == 0:
            weights = {k: Fraction(sizes[k]) for k in free}
            total = sum(weights.values(), Fraction(0))
        else:
            weights = {k: shares[k] for k in free}
        wanted = {k: left * weights[k] / total if total else Fraction(0) for k in free}
        over = {k for k in free if wanted[k] > sizes[k]}
        under = {k for k in free if wanted[k] < floors[k]} if not over else set()
        fixed = over or under
        if not fixed:
            for k in free:
                quota[k] = wanted[k]
            break
        for k in fixed:
            quota[k] = Fraction(sizes[k] if k in over else floors[k])
            left -= quota[k]
        free -= fixed
    return quota
