"""Coverage of the intervals of agreement: kappas, AC1 and AC2, alpha, percent agreement.

Data are drawn as counts of the distinct rows of a table, so that a run is one multinomial draw and
equal draws are computed once. The truth is the coefficient of the exact distribution of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
from coverage_rows import PREVALENCES, Cell, Tally

from labelkit.stats import ratings
from labelkit.stats.agreement import COEFFICIENTS, krippendorff_alpha
from labelkit.stats.agreement.coefficient import Coefficient
from labelkit.stats.agreement.replicates import bootstrap_agreement
from labelkit.stats.bootstrap import Method
from labelkit.stats.ratings import RatingTable

BINARY = (
    "cohen_kappa",
    "fleiss_kappa",
    "conger_kappa",
    "gwet_ac",
    "brennan_prediger",
    "percent_agreement",
    "unanimous_agreement",
    "krippendorff_alpha",
)
ACCURACIES = ((0.6, 0.99), (0.99, 0.6), (0.8, 0.8), (0.8, 0.95), (0.95, 0.9), (0.99, 0.99))
"""Sensitivity and specificity of every rater."""


METHODS: tuple[Method, ...] = ("percentile", "bca")


def binary(p: float, raters: int, sens: float, spec: float, missing: float = 0.0) -> np.ndarray:
    """Chance of every row of two labels; a rating is missing with chance ``missing``."""
    rows = rows_of(raters, 2, missing=missing > 0)
    says = np.array([[spec, 1 - spec], [1 - sens, sens]])
    return mixture(rows, np.array([1 - p, p]), says, missing)


def rows_of(raters: int, q: int, *, missing: bool = False) -> np.ndarray:
    return np.array(list(product(range(-missing, q), repeat=raters)))


def mixture(
    rows: np.ndarray, shares: np.ndarray, says: np.ndarray, missing: float = 0.0
) -> np.ndarray:
    """Chance of every row when raters err independently given the true label."""
    chance = np.zeros(len(rows))
    for truth, share in enumerate(shares):
        each = np.where(rows >= 0, (1 - missing) * says[truth, rows], missing)
        chance += share * each.prod(axis=1)
    return chance


def folded(rows: np.ndarray, chance: np.ndarray) -> tuple[RatingTable, np.ndarray]:
    """The table of all rows, and the chance of each of its distinct rows."""
    table = ratings.from_codes(rows, list(range(1, int(rows.max()) + 2)))
    order = np.empty(len(rows))
    order[table.pattern_of] = chance
    return table, order


def computed(name: str, table: RatingTable) -> Coefficient:
    """One coefficient by the name of the table of results."""
    plain, _, weights = name.partition(" ")
    if plain == "krippendorff_alpha" and weights:
        return krippendorff_alpha(table, weights)  # type: ignore[arg-type]
    return (
        COEFFICIENTS[plain].compute(table, weights)
        if weights
        else COEFFICIENTS[plain].compute(table)
    )


def sampled(
    names: tuple[str, ...],
    rows: np.ndarray,
    chance: np.ndarray,
    n: int,
    rng: np.random.Generator,
    runs: int,
) -> dict[str, Tally]:
    """Draw ``runs`` tables of n items and hold every interval against the truth."""
    table, chance = folded(rows, chance)
    # Frequencies so large that n / (n - 1) is 1.
    truth = {name: computed(name, table.with_freq(chance * 1e12)).value for name in names}
    out = {name: Tally() for name, value in truth.items() if isinstance(value, float)}
    for sample, weight in samples(table, chance, n, rng, runs):
        for name, tally in out.items():
            found = computed(name, sample)
            tally.add(found.interval, truth[name], found.flags, weight)
    return out


def samples(
    table: RatingTable, chance: np.ndarray, n: int, rng: np.random.Generator, runs: int
) -> Iterator[tuple[RatingTable, int]]:
    """Tables of n items, each with how often it was drawn."""
    drawn = rng.multinomial(n, chance / chance.sum(), size=runs)
    distinct, times = np.unique(drawn, axis=0, return_counts=True)
    for freq, weight in zip(distinct.astype(float), times.tolist(), strict=True):
        yield table.with_freq(freq), weight


def binary_cells() -> Iterator[Cell]:
    for p, n, raters, (sens, spec) in product(
        PREVALENCES, (50, 200, 1000), (2, 3, 4, 5), ACCURACIES
    ):
        names = BINARY if raters == 2 else BINARY[1:]
        chance = binary(p, raters, sens, spec)
        yield Cell(
            "agreement",
            f"p {p:.1%}, n {n}, {raters} raters, sens {sens}, spec {spec}",
            partial(sampled, names, rows_of(raters, 2), chance, n),
        )


def missing_cells() -> Iterator[Cell]:
    for p, n, (sens, spec) in product(PREVALENCES, (50, 200, 1000), ((0.8, 0.95), (0.99, 0.99))):
        chance = binary(p, 3, sens, spec, 0.3)
        yield Cell(
            "agreement, ratings missing",
            f"p {p:.1%}, n {n}, 3 raters, 30% missing, sens {sens}, spec {spec}",
            partial(sampled, BINARY[1:], rows_of(3, 2, missing=True), chance, n),
        )


SCALES = {
    "even": (0.25, 0.25, 0.25, 0.25),
    "skewed": (0.7, 0.2, 0.07, 0.03),
    "rare end": (0.9, 0.07, 0.02, 0.01),
}
ORDERED = (
    "cohen_kappa quadratic",
    "fleiss_kappa linear",
    "conger_kappa quadratic",
    "gwet_ac quadratic",
    "percent_agreement quadratic",
    "krippendorff_alpha ordinal",
    "krippendorff_alpha interval",
)


def ordered_cells() -> Iterator[Cell]:
    for (name, shares), n, raters, right in product(
        SCALES.items(), (50, 200, 1000), (2, 3), (0.6, 0.8, 0.95)
    ):
        near = np.array([[0.35 ** abs(t - k) * (t != k) for k in range(4)] for t in range(4)])
        says = np.eye(4) * right + (1 - right) * near / near.sum(axis=1, keepdims=True)
        rows = rows_of(raters, 4)
        names = ORDERED if raters == 2 else ORDERED[1:]
        yield Cell(
            "agreement, ordered",
            f"4 ordered labels, {name}, n {n}, {raters} raters, right {right:.0%}",
            partial(sampled, names, rows, mixture(rows, np.array(shares), says), n),
        )


def bootstrap_cells() -> Iterator[Cell]:
    for p, n, (sens, spec) in product(PREVALENCES, (50, 200, 1000), ((0.8, 0.95), (0.99, 0.99))):
        yield Cell(
            "agreement, bootstrap",
            f"p {p:.1%}, n {n}, 2 raters, sens {sens}, spec {spec}",
            partial(bootstrapped, binary(p, 2, sens, spec), n),
        )


def bootstrapped(
    chance: np.ndarray, n: int, rng: np.random.Generator, runs: int
) -> dict[str, Tally]:
    table, chance = folded(rows_of(2, 2), chance)
    out: dict[str, Tally] = {}
    for sample, weight in samples(table, chance, n, rng, max(1, runs // 2)):
        for name in ("cohen_kappa", "gwet_ac", "krippendorff_alpha"):
            truth = computed(name, table.with_freq(chance * 1e12)).value
            for method in METHODS:
                found = bootstrap_agreement(sample, name, replicates=600, method=method, seed=7)
                tally = out.setdefault(f"{name} {method}", Tally())
                tally.add(found.interval, truth, found.flags, weight)
    return out
