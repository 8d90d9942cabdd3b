"""Coverage of the intervals of rates: plain, drawn unequally, corrected for a judge, clustered."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from coverage_agreement import METHODS
from coverage_rows import PREVALENCES, Cell, Tally
from scipy.stats import binom

from labelkit.errors import StatisticsError
from labelkit.stats import clusters, draws, ppi, prevalence, proportions, weighted

GRADES = (0.6, 0.7, 0.8, 0.9, 0.99)
FRAME = 3000
"""Rows that only the judge sees."""


ALL_RATES = tuple(sorted({*PREVALENCES, *np.round(np.geomspace(0.001, 0.5, 40), 4).tolist()}))
"""A dense grid: the coverage of a discrete interval jumps from one rate to the next."""


def proportion_cells() -> Iterator[Cell]:
    for p, n in product(ALL_RATES, (50, 100, 200, 500, 1000)):
        yield Cell("rate", f"p {p:.2%}, n {n}", partial(proportion, p, n), exact=True)


def proportion(p: float, n: int, _: np.random.Generator, __: int) -> dict[str, Tally]:
    """Exact: every possible count, weighted by its chance."""
    out = {name: Tally() for name in proportions.METHODS}
    for hits, chance in enumerate(binom.pmf(np.arange(n + 1), n, p).tolist()):
        if chance > 1e-12:
            for name, tally in out.items():
                found: Any = proportions.proportion_interval(hits, n, name)
                tally.add(found, p, found.flags, chance)
    return out


def draw_cells() -> Iterator[Cell]:
    for p, n, uniform in product(PREVALENCES, (50, 200, 1000), (0.3, 0.7, 1.0)):
        setting = f"p {p:.1%}, n {n} of 4,000, {uniform:.0%} of the draw uniform"
        yield Cell("draw by uncertainty", setting, partial(drawn, p, n, uniform))


def drawn(
    p: float, n: int, uniform: float, rng: np.random.Generator, runs: int
) -> dict[str, Tally]:
    # Exactly p of the frame, so that rare labels are there at all.
    y = np.zeros(4000)
    y[: round(4000 * p)] = 1.0
    # Uncertainty that follows the label, loosely: what a panel of judges would show.
    u = np.where(y == 1, 0.6, 0.2) * rng.random(4000)
    tally = Tally()
    for _ in range(runs):
        draw = draws.mixed_draw(u, n, uniform=uniform, seed=int(rng.integers(2**32)))
        found = weighted.weighted_rate(y[draw.rows], draw.drawn_probabilities)
        tally.add(found.interval, float(y.mean()), found.flags)
    return {"weighted_rate": tally}


def stratified_cells() -> Iterator[Cell]:
    for p, n in product(PREVALENCES, (52, 200, 1000)):
        setting = f"p {p:.1%}, n {n} of 4,000, 4 unequal strata drawn equally"
        yield Cell("draw by stratum", setting, partial(stratified, p, n))


def stratified(p: float, n: int, rng: np.random.Generator, runs: int) -> dict[str, Tally]:
    sizes = np.array([2000, 1000, 700, 300])
    strata = np.repeat(np.arange(4), sizes)
    rates = np.minimum(0.95, p * np.array([0.5, 1.0, 1.5, 2.5]))
    y = (rng.random(len(strata)) < rates[strata]).astype(float)
    tally = Tally()
    for _ in range(runs):
        draw = draws.stratified_draw(strata, [n // 4] * 4, seed=int(rng.integers(2**32)))
        found = weighted.weighted_rate(
            y[draw.rows], draw.drawn_probabilities, strata=strata[draw.rows]
        )
        tally.add(found.interval, float(y.mean()), found.flags)
    return {"weighted_rate": tally}


def judge_cells() -> Iterator[Cell]:
    for p, n, sens, spec in product(PREVALENCES, (50, 200, 1000), GRADES, GRADES):
        setting = f"p {p:.1%}, {n} human labels, sens {sens}, spec {spec}"
        yield Cell("judge", setting, partial(judged, p, n, sens, spec))


def judged(
    p: float, n: int, sens: float, spec: float, rng: np.random.Generator, runs: int
) -> dict[str, Tally]:
    names = ("ppi_mean", "rogan_gladen lang_reiczigel", "rogan_gladen delta")
    out = {name: Tally() for name in names}
    for _ in range(runs):
        truth, judge = verdicts(n + FRAME, p, sens, spec, rng)
        human, seen, rest = truth[:n], judge[:n], judge[n:]
        found = ppi.ppi_mean(human, seen, rest)
        out["ppi_mean"].add(found.interval, p, found.flags)
        counts = ((human & seen).sum(), human.sum(), (~human & ~seen).sum(), (~human).sum())
        try:
            fixed = prevalence.rogan_gladen(int(rest.sum()), FRAME, *map(int, counts))
        except StatisticsError:
            out[names[1]].add(None, p, ())
            out[names[2]].add(None, p, ())
            continue
        out[names[1]].add(fixed.interval, p, fixed.flags)
        out[names[2]].add(fixed.interval_delta, p, fixed.flags)
    return out


def verdicts(
    n: int, p: float, sens: float, spec: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    truth = rng.random(n) < p
    right = rng.random(n) < np.where(truth, sens, spec)
    return truth, truth == right


def weighted_judge_cells() -> Iterator[Cell]:
    pairs = ((0.6, 0.9), (0.8, 0.8), (0.9, 0.95), (0.99, 0.99))
    for p, n, (sens, spec) in product(PREVALENCES, (100, 400), pairs):
        setting = f"p {p:.1%}, {n} drawn unequally, sens {sens}, spec {spec}"
        yield Cell("judge, audit", setting, partial(audited, p, n, sens, spec))


def audited(
    p: float, n: int, sens: float, spec: float, rng: np.random.Generator, runs: int
) -> dict[str, Tally]:
    """The human rows are an audit that preferred what the judge called positive."""
    out = {"ppi_mean weighted": Tally(), "rogan_gladen weighted": Tally()}
    for _ in range(runs):
        truth, judge = verdicts(FRAME, p, sens, spec, rng)
        u = np.where(judge, 1.0, 0.2)
        draw = draws.mixed_draw(u, n, uniform=0.5, seed=int(rng.integers(2**32)))
        human, seen, pi = truth[draw.rows], judge[draw.rows], draw.drawn_probabilities
        found = ppi.ppi_mean(human, seen, judge, probabilities=pi)
        out["ppi_mean weighted"].add(found.interval, p, found.flags)
        try:
            fixed = prevalence.rogan_gladen_weighted(judge, human, seen, pi)
            out["rogan_gladen weighted"].add(fixed.interval, p, fixed.flags)
        except StatisticsError:
            out["rogan_gladen weighted"].add(None, p, ())
    return out


def inverted_cells() -> Iterator[Cell]:
    for p, n, right in product((0.01, 0.05, 0.2), (100, 300, 1000), (0.6, 0.8, 0.95)):
        setting = f"rarest of 3 labels {p:.0%}, {n} human labels, judge right {right:.0%}"
        yield Cell("judge, several labels", setting, partial(inverted, p, n, right))


def inverted(
    p: float, n: int, right: float, rng: np.random.Generator, runs: int
) -> dict[str, Tally]:
    """Three labels; the judge errs towards the others alike."""
    shares = np.array([1 - 3 * p, 2 * p, p])
    errs = np.full((3, 3), (1 - right) / 2) + np.eye(3) * (right - (1 - right) / 2)
    tally = Tally()
    for _ in range(runs):
        seen = rng.multinomial(FRAME, shares @ errs)
        people = rng.multinomial(n, shares)
        counts = np.stack([rng.multinomial(k, errs[t]) for t, k in enumerate(people)])
        try:
            found = prevalence.invert_confusion(seen, counts, ("a", "b", "c"))
        except StatisticsError:
            tally.add(None, 0.0, ())
            continue
        for interval, share in zip(found.intervals, shares.tolist(), strict=True):
            tally.add(interval, share, found.flags)
    return {"invert_confusion": tally}


def cluster_cells() -> Iterator[Cell]:
    for p, groups, rho, rows in product(PREVALENCES, (8, 16, 30, 50), (0.05, 0.2), (20, 50)):
        setting = f"p {p:.1%}, {groups} clusters of {rows}, intra-cluster correlation {rho}"
        yield Cell("clusters", setting, partial(clustered, p, groups, rho, rows))


def clustered(
    p: float, groups: int, rho: float, rows: int, rng: np.random.Generator, runs: int
) -> dict[str, Tally]:
    size = 1 / rho - 1
    x = np.full(groups, float(rows))
    out = {"cluster_t": Tally()}
    for k in range(runs):
        hits = rng.binomial(rows, rng.beta(p * size, (1 - p) * size, groups)).astype(float)
        found = clusters.cluster_t(hits, x)
        out["cluster_t"].add(found.interval, p, found.flags)
        if rows != 20 or k % 2:
            continue
        for method in METHODS:
            boot = clusters.cluster_rate_bootstrap(hits, x, replicates=500, seed=k, method=method)
            name = f"cluster bootstrap {method}"
            out.setdefault(name, Tally()).add(boot.interval, p, boot.flags)
    return out
