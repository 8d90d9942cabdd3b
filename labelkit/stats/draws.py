"""Seeded draws of rows for people to check, with the inclusion probability of every row.

A draw that follows uncertainty is efficient and biased; with its probabilities stored, every rate
can be weighted back. So a draw without probabilities does not exist here, and no row of the frame
has probability 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError
from labelkit.stats.ratings import Floats, Ints


@dataclass(frozen=True, eq=False)
class Draw:
    """A frozen draw.

    Args:
        rows: positions of the drawn rows in the frame, ascending, shape (n,).
        probabilities: inclusion probability of every row of the frame, shape (N,).
        strata: stratum of every row of the frame, shape (N,); all 0 without strata.
        design: what was done, in words, with the seed.
    """

    rows: Ints
    probabilities: Floats
    strata: Ints
    design: str

    @property
    def drawn_probabilities(self) -> Floats:
        """Inclusion probabilities of the drawn rows, shape (n,)."""
        return self.probabilities[self.rows]

    @property
    def weights(self) -> Floats:
        """How many rows of the frame every drawn row stands for, shape (n,)."""
        return 1.0 / self.probabilities[self.rows]


def stratified_draw(
    strata: Sequence[int] | NDArray[Any], allocation: Sequence[int], *, seed: int
) -> Draw:
    """Draw without replacement, ``allocation[h]`` rows of every stratum h.

    Cochran (1977), ch. 5: the probability of a row is n_h / N_h. A stratum without drawn rows
    would have probability 0, so it must be left out of the frame instead.

    Args:
        strata: stratum 0..H-1 of every row of the frame, shape (N,).
        allocation: rows to draw per stratum.
        seed: of the generator.

    Raises:
        StatisticsError: when a stratum is asked for more rows than it has, or for none.
    """
    group = np.asarray(strata, dtype=np.int64)
    sizes = np.bincount(group, minlength=len(allocation)) if len(group) else np.zeros(0, int)
    if len(sizes) > len(allocation):
        raise StatisticsError(
            f"stratum {len(sizes) - 1} has no allocation; give one number per stratum"
        )
    rng = np.random.default_rng(seed)
    probabilities = np.zeros(len(group))
    drawn = []
    for h, (size, rows) in enumerate(zip(sizes.tolist(), allocation, strict=True)):
        if not 0 <= rows <= size:
            raise StatisticsError(f"stratum {h} has {size} rows, so {rows} cannot be drawn")
        if size and not rows:
            raise StatisticsError(
                f"stratum {h} gets no row, so its {size} rows could not be weighted; give it one "
                "or take it out of the frame"
            )
        members = np.flatnonzero(group == h)
        drawn.append(rng.choice(members, size=rows, replace=False))
        probabilities[members] = rows / size if size else 0.0
    rows_drawn = np.sort(np.concatenate(drawn)) if drawn else np.zeros(0, dtype=np.int64)
    design = f"stratified without replacement, {len(allocation)} strata, seed {seed}"
    return Draw(rows_drawn.astype(np.int64), probabilities, group, design)


def simple_draw(population: int, n: int, *, seed: int) -> Draw:
    """Draw n of N rows without replacement, every row with probability n / N."""
    draw = stratified_draw(np.zeros(population, dtype=np.int64), [n], seed=seed)
    return Draw(
        draw.rows, draw.probabilities, draw.strata, f"simple without replacement, seed {seed}"
    )


def mixed_probabilities(
    uncertainty: Sequence[float] | Floats, n: int, *, uniform: float = 0.5
) -> Floats:
    """Return inclusion probabilities that mix uncertainty with a uniform draw and sum to n.

    Active inference (Zrnic & Candes 2024, arXiv 2403.03208, sec. 3.2): probability proportional
    to ``uniform / N + (1 - uniform) * u_i / sum u``. Values above 1 are set to 1 and the rest
    scaled up (Saerndal, Swensson & Wretman 1992, sec. 3.6.2). The uniform part keeps every
    weight below N / (n * uniform).

    Args:
        uncertainty: finite and >= 0 per row, for example the entropy of the raters' votes.
        n: rows to draw.
        uniform: share of the draw that ignores uncertainty, above 0 and at most 1.
    """
    u = np.asarray(uncertainty, dtype=np.float64)
    if not (np.isfinite(u) & (u >= 0)).all():
        bad = int(np.flatnonzero(~(np.isfinite(u) & (u >= 0)))[0])
        raise StatisticsError(f"uncertainty of row {bad} is {u[bad]}; it must be finite and >= 0")
    if not 0 < uniform <= 1:
        raise StatisticsError(
            f"a uniform share of {uniform!r} would leave rows without a chance; use 0.1 to 1"
        )
    if not 0 < n <= len(u):
        raise StatisticsError(f"{n} rows cannot be drawn from {len(u)}; ask for 1 to {len(u)}")
    flat = np.full(len(u), 1.0 / len(u))
    share = flat if u.sum() == 0 else uniform * flat + (1 - uniform) * u / u.sum()
    certain = np.zeros(len(u), dtype=bool)
    while True:
        left = n - int(certain.sum())
        rest = float(share[~certain].sum())
        out = np.where(certain, 1.0, share * left / rest if rest > 0 else 1.0)
        grown = out > 1.0 + 1e-12
        if not grown.any():
            return np.minimum(out, 1.0)
        certain |= grown


def mixed_draw(
    uncertainty: Sequence[float] | Floats, n: int, *, uniform: float = 0.5, seed: int
) -> Draw:
    """Draw exactly n rows with the probabilities of ``mixed_probabilities``.

    Systematic sampling over a random order (Madow 1949, Ann. Math. Stat. 20:333), which realises
    any probabilities exactly.
    """
    probabilities = mixed_probabilities(uncertainty, n, uniform=uniform)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(probabilities))
    marks = np.cumsum(probabilities[order])
    marks[-1] = n
    points = rng.random() + np.arange(n)
    rows = np.sort(order[np.searchsorted(marks, points, side="right").clip(0, len(order) - 1)])
    design = f"uncertainty with {uniform:.0%} uniform, systematic over a random order, seed {seed}"
    return Draw(rows.astype(np.int64), probabilities, np.zeros(len(order), np.int64), design)


def stratified_mixed_draw(
    uncertainty: Sequence[float] | Floats,
    strata: Sequence[int] | NDArray[Any],
    allocation: Sequence[int],
    *,
    uniform: float = 0.5,
    seed: int,
) -> Draw:
    """Draw ``allocation[h]`` rows of every stratum h, within it as ``mixed_draw`` does.

    Uncertainty counts among the rows of one stratum only; between strata the allocation decides.

    Args:
        uncertainty: finite and >= 0 per row of the frame, shape (N,).
        strata: stratum 0..H-1 of every row of the frame, shape (N,).
        allocation: rows to draw per stratum, 1 to all that it has.
        uniform: share of the draw in every stratum that ignores uncertainty.
        seed: of the generator.

    Raises:
        StatisticsError: as ``stratified_draw`` and ``mixed_probabilities``.
    """
    u = np.asarray(uncertainty, dtype=np.float64)
    group = np.asarray(strata, dtype=np.int64)
    probabilities = np.zeros(len(group))
    drawn = []
    sizes = np.bincount(group, minlength=len(allocation)) if len(group) else np.zeros(0, int)
    if len(sizes) != len(allocation):
        raise StatisticsError(
            f"{len(sizes)} strata have {len(allocation)} allocations; give one each"
        )
    for h, rows in enumerate(allocation):
        members = np.flatnonzero(group == h)
        if not 0 < rows <= len(members):
            raise StatisticsError(
                f"stratum {h} has {len(members)} rows, so {rows} cannot be drawn; ask for 1 to all"
            )
        part = mixed_draw(u[members], rows, uniform=uniform, seed=_seed_of(seed, h))
        probabilities[members] = part.probabilities
        drawn.append(members[part.rows])
    design = (
        f"{len(allocation)} strata, within each uncertainty with {uniform:.0%} uniform, systematic"
        f" over a random order, seed {seed}"
    )
    return Draw(np.sort(np.concatenate(drawn)).astype(np.int64), probabilities, group, design)


def _seed_of(seed: int, stratum: int) -> int:
    """A seed of its own for every stratum, so that the draws of two do not go together."""
    return int(np.random.SeedSequence([seed, stratum]).generate_state(1, np.uint64)[0])
