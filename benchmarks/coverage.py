"""Do the 95% intervals keep their promise? A seeded simulation, written to ``coverage.md``.

    python benchmarks/coverage.py [--runs 400] [--write]

Every row draws data with a known truth many times and counts how often the interval holds it. The
Monte-Carlo error of a coverage of 95% is about 1.1 points with 400 runs. An interval that is
undefined (no variation in the sample) is counted apart, not as a miss. ``flagged`` is the share
of runs in which the result itself said that its interval is not to be trusted; ``unflagged`` is
the coverage over the other runs, which is what a reader of an unflagged number relies on.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from labelkit.stats import agreement, clusters, draws, intervals, ppi, prevalence, ratings, weighted
from labelkit.stats.agreement.replicates import bootstrap_agreement
from labelkit.stats.intervals import Interval

PROMISE, ACCEPTED = 0.95, 0.92
WARNINGS = {
    "few_items",
    "few_disagreements",
    "zero_width_interval",
    "few_effective_rows",
    "no_variation",
    "few_human_labels",
    "few_rare_labels",
    "weak_judge",
    "few_clusters",
    "few_hits",
    "no_variation_in_replicates",
    "no_variation_between_clusters",
    "many_undefined_replicates",
}
"""Flags with which a result says that its interval may be too narrow."""


@dataclass(frozen=True)
class Outcome:
    """One interval of one run."""

    interval: Any
    truth: float
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """The coverage of one interval in one setting."""

    family: str
    name: str
    setting: str
    coverage: float
    unflagged: float
    flagged: float
    undefined: float
    width: float


Run = Callable[[np.random.Generator], dict[str, Outcome]]


def simulate(family: str, setting: str, run: Run, runs: int, seed: int) -> list[Row]:
    """Repeat ``run`` and count how often each interval holds the truth."""
    rng = np.random.default_rng(seed)
    seen: dict[str, list[tuple[bool, bool, float]]] = {}
    holes: dict[str, int] = {}
    for _ in range(runs):
        for name, outcome in run(rng).items():
            if not isinstance(outcome.interval, Interval):
                holes[name] = holes.get(name, 0) + 1
                continue
            low, high = outcome.interval.low, outcome.interval.high
            hit = low - 1e-12 <= outcome.truth <= high + 1e-12
            flagged = bool(WARNINGS & set(outcome.flags))
            seen.setdefault(name, []).append((hit, flagged, high - low))
    rows = []
    for name, found in seen.items():
        hits, flags, widths = (np.array(column) for column in zip(*found, strict=True))
        clean = hits[~flags.astype(bool)]
        rows.append(
            Row(
                family,
                name,
                setting,
                float(hits.mean()),
                float(clean.mean()) if len(clean) >= 0.1 * len(hits) else float("nan"),
                float(flags.mean()),
                holes.get(name, 0) / runs,
                float(widths.mean()),
            )
        )
    return rows


def wilson_rows(_: int) -> Iterator[Row]:
    for p, n in product((0.005, 0.02, 0.1, 0.5), (50, 200, 1000)):
        held, width = 0.0, 0.0
        for hits, chance in enumerate(binom.pmf(np.arange(n + 1), n, p).tolist()):
            found = intervals.wilson(hits, n)
            assert isinstance(found, Interval)
            held += chance * (p in found)
            width += chance * (found.high - found.low)
        yield Row("rate", "wilson (exact)", f"p {p:.1%}, n {n}", held, held, 0.0, 0.0, width)


KAPPAS = (
    "cohen_kappa",
    "fleiss_kappa",
    "conger_kappa",
    "gwet_ac",
    "brennan_prediger",
    "krippendorff_alpha",
    "percent_agreement",
)


def rated(rng: np.random.Generator, n: int, p: float, raters: int, accuracy: float) -> np.ndarray:
    """Two labels; every rater sees the truth with probability ``accuracy``."""
    truth = (rng.random(n) < p).astype(int)
    wrong = rng.random((n, raters)) >= accuracy
    return np.where(wrong, 1 - truth[:, None], truth[:, None])


def limit_values(p: float, raters: int, accuracy: float) -> dict[str, float]:
    """The coefficients of the whole population, from the exact distribution of the rows."""
    rows = np.array(list(product((0, 1), repeat=raters)))
    ones = rows.sum(axis=1)
    yes = p * accuracy**ones * (1 - accuracy) ** (raters - ones)
    no = (1 - p) * (1 - accuracy) ** ones * accuracy ** (raters - ones)
    table = ratings.from_codes(rows, [0, 1])
    # Frequencies so large that n / (n - 1) is 1.
    order = np.empty(len(rows))
    order[table.pattern_of] = (yes + no) * 1e12
    huge = table.with_freq(order)
    found = {name: agreement.COEFFICIENTS[name].compute(huge).value for name in KAPPAS}
    return {name: value for name, value in found.items() if isinstance(value, float)}


def agreement_rows(runs: int) -> Iterator[Row]:
    grid = product((0.02, 0.1, 0.5), (50, 200, 1000), (2, 3, 5), (0.85, 0.97))
    for p, n, raters, accuracy in grid:
        truth = limit_values(p, raters, accuracy)

        def run(
            rng: np.random.Generator,
            p: float = p,
            n: int = n,
            raters: int = raters,
            accuracy: float = accuracy,
            truth: dict[str, float] = truth,
        ) -> dict[str, Outcome]:
            table = ratings.from_codes(rated(rng, n, p, raters, accuracy), [0, 1])
            out = {}
            for name, value in truth.items():
                found = agreement.COEFFICIENTS[name].compute(table)
                out[name] = Outcome(found.interval, value, found.flags)
            return out

        setting = f"p {p:.0%}, n {n}, {raters} raters, accuracy {accuracy}"
        yield from simulate("agreement", setting, run, runs, 2)


def kappa_bootstrap_rows(runs: int) -> Iterator[Row]:
    for p, n in product((0.02, 0.1, 0.5), (50, 200)):
        truth = limit_values(p, 2, 0.9)["cohen_kappa"]

        def run(
            rng: np.random.Generator, p: float = p, n: int = n, truth: float = truth
        ) -> dict[str, Outcome]:
            table = ratings.from_codes(rated(rng, n, p, 2, 0.9), [0, 1])
            out = {}
            for method in ("percentile", "bca"):
                found = bootstrap_agreement(
                    table, "cohen_kappa", replicates=600, method=method, seed=7
                )
                out[f"cohen_kappa {method}"] = Outcome(found.interval, truth, found.flags)
            return out

        yield from simulate("bootstrap", f"p {p:.0%}, n {n}", run, runs, 3)


def weighted_rows(runs: int) -> Iterator[Row]:
    for p, n, uniform in product((0.02, 0.1, 0.5), (50, 200), (0.3, 0.7)):
        frame = np.random.default_rng(11)
        y = (frame.random(5000) < p).astype(float)
        # Uncertainty that follows the label, loosely: what a panel of judges would show.
        u = np.where(y == 1, 0.6, 0.2) * frame.random(5000)

        def run(
            rng: np.random.Generator,
            y: np.ndarray = y,
            u: np.ndarray = u,
            n: int = n,
            uniform: float = uniform,
        ) -> dict[str, Outcome]:
            draw = draws.mixed_draw(u, n, uniform=uniform, seed=int(rng.integers(2**32)))
            found = weighted.weighted_rate(y[draw.rows], draw.drawn_probabilities)
            return {"weighted_rate": Outcome(found.interval, float(y.mean()), found.flags)}

        yield from simulate("draw", f"p {p:.0%}, n {n}, uniform {uniform:.0%}", run, runs, 4)


def judge_rows(runs: int) -> Iterator[Row]:
    grid = product((0.02, 0.1, 0.5), (100, 300), ((0.6, 0.9), (0.8, 0.8), (0.95, 0.99)))
    for p, n, (sens, spec) in grid:

        def run(
            rng: np.random.Generator,
            p: float = p,
            n: int = n,
            sens: float = sens,
            spec: float = spec,
        ) -> dict[str, Outcome]:
            truth = rng.random(n + 3000) < p
            right = rng.random(len(truth)) < np.where(truth, sens, spec)
            judge = truth == right
            human, seen, rest = truth[:n], judge[:n], judge[n:]
            found = ppi.ppi_mean(human, seen, rest)
            out = {"ppi_mean": Outcome(found.interval, p, found.flags)}
            try:
                fixed = prevalence.rogan_gladen(
                    int(rest.sum()),
                    len(rest),
                    int((human & seen).sum()),
                    int(human.sum()),
                    int((~human & ~seen).sum()),
                    int((~human).sum()),
                )
            except prevalence.StatisticsError:
                out["lang_reiczigel"] = Outcome(None, p)
                out["rogan_gladen delta"] = Outcome(None, p)
                return out
            out["lang_reiczigel"] = Outcome(fixed.interval, p, fixed.flags)
            out["rogan_gladen delta"] = Outcome(fixed.interval_delta, p, fixed.flags)
            return out

        setting = f"p {p:.0%}, {n} human labels, sens {sens}, spec {spec}"
        yield from simulate("judge", setting, run, runs, 5)


def cluster_rows(runs: int) -> Iterator[Row]:
    for p, groups, rho in product((0.05, 0.2, 0.5), (8, 16, 30, 50), (0.05, 0.2)):
        size = 1 / rho - 1

        def run(
            rng: np.random.Generator, p: float = p, groups: int = groups, size: float = size
        ) -> dict[str, Outcome]:
            rates = rng.beta(p * size, (1 - p) * size, groups)
            rows = np.full(groups, 20.0)
            hits = rng.binomial(20, rates).astype(float)
            found = clusters.cluster_t(hits, rows)
            boot = clusters.cluster_rate_bootstrap(hits, rows, replicates=600, seed=7)
            bca = clusters.cluster_rate_bootstrap(hits, rows, replicates=600, seed=7, method="bca")
            return {
                "cluster_t": Outcome(found.interval, p, found.flags),
                "cluster percentile": Outcome(boot.interval, p, boot.flags),
                "cluster bca": Outcome(bca.interval, p, bca.flags),
            }

        setting = f"p {p:.0%}, {groups} clusters of 20, intra-cluster correlation {rho}"
        yield from simulate("clusters", setting, run, runs, 6)


FAMILIES = (
    wilson_rows,
    agreement_rows,
    kappa_bootstrap_rows,
    weighted_rows,
    judge_rows,
    cluster_rows,
)


def percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f}"


def report(rows: list[Row], runs: int, spent: float) -> str:
    """Return the result table as Markdown."""
    day = datetime.now(UTC).date().isoformat()
    lines = [
        "# Coverage of the 95% intervals",
        "",
        (
            f"Measured {day} with `python benchmarks/coverage.py --runs {runs} --write` "
            f"({spent:.0f} s of CPU). Monte-Carlo error of one row: about "
            f"{100 * (0.95 * 0.05 / runs) ** 0.5:.1f} points."
        ),
        "",
        (
            "`coverage`: all runs with an interval; `unflagged`: the runs in which the result "
            "raised no warning about its interval (- when fewer than a tenth); `flagged`: how "
            "often it did; `undefined`: how often there was no interval. Rows whose unflagged "
            f"coverage is below {100 * ACCEPTED:.0f}% are marked."
        ),
        "",
        "## By interval",
        "",
        "| interval | settings | lowest | mean | lowest unflagged | settings below 92% unflagged |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name in dict.fromkeys(row.name for row in rows):
        own = [row for row in rows if row.name == name]
        clean = [row.unflagged for row in own if not np.isnan(row.unflagged)]
        lines.append(
            f"| {name} | {len(own)} | {percent(min(r.coverage for r in own))} | "
            f"{percent(float(np.mean([r.coverage for r in own])))} | "
            f"{percent(min(clean)) if clean else '-'} | {sum(c < ACCEPTED for c in clean)} |"
        )
    lines += [
        "",
        "## Every setting",
        "",
        "| interval | setting | coverage | unflagged | flagged | undefined | mean width | |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        mark = "below" if row.unflagged < ACCEPTED else ""
        lines.append(
            f"| {row.name} | {row.setting} | {percent(row.coverage)} | {percent(row.unflagged)} | "
            f"{percent(row.flagged)} | {percent(row.undefined)} | {row.width:.3f} | {mark} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--write", action="store_true", help="write coverage.md beside this file")
    parser.add_argument("--only", choices=[f.__name__ for f in FAMILIES])
    arguments = parser.parse_args()
    start = time.process_time()
    rows: list[Row] = []
    for family in FAMILIES:
        if arguments.only in (None, family.__name__):
            rows += family(arguments.runs)
    text = report(rows, arguments.runs, time.process_time() - start)
    if arguments.write:
        Path(__file__).with_name("coverage.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
