"""Do the 95% intervals keep their promise? A seeded simulation, written to ``coverage.md``.

    python benchmarks/coverage.py [--runs 500] [--write] [--only FAMILY]

Every cell draws data with a known truth many times and counts how often the interval holds it. An
interval that is undefined (no variation in the sample) is counted apart, not as a miss. A cell
that looks like an exception is measured again from another seed with ten times the runs, and that
second measurement is the one reported: among thousands of cells some look bad by luck alone.
``coverage.csv`` holds every cell.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from math import isnan
from pathlib import Path

import coverage_agreement
import coverage_rates
import numpy as np
from coverage_rows import ACCEPTED, MOSTLY, PREVALENCES, Cell, Row

FAMILIES = {
    "proportions": coverage_rates.proportion_cells,
    "binary": coverage_agreement.binary_cells,
    "missing": coverage_agreement.missing_cells,
    "ordered": coverage_agreement.ordered_cells,
    "bootstrap": coverage_agreement.bootstrap_cells,
    "draws": coverage_rates.draw_cells,
    "strata": coverage_rates.stratified_cells,
    "judge": coverage_rates.judge_cells,
    "audit": coverage_rates.weighted_judge_cells,
    "labels": coverage_rates.inverted_cells,
    "clusters": coverage_rates.cluster_cells,
}
AGAIN = 10


def measured(cells: Sequence[Cell], runs: int, seed: int) -> tuple[list[Row], int]:
    """Measure every cell, an apparent exception twice; return rows and cells measured again."""
    out: list[Row] = []
    again = 0
    for number, cell in enumerate(cells):
        rows = cell.rows(np.random.default_rng([seed, number, 0]), runs)
        if not cell.exact and any(row.exception for row in rows):
            again += 1
            rows = cell.rows(np.random.default_rng([seed, number, 1]), AGAIN * runs)
        out += rows
    return out, again


def percent(value: float) -> str:
    return "-" if isnan(value) else f"{100 * value:.1f}"


def report(rows: Sequence[Row], head: str) -> str:
    """Return the result as Markdown: by interval, exceptions, cells below 92%."""
    lines = [
        "# Coverage of the 95% intervals",
        "",
        head,
        "",
        (
            "`coverage`: all runs with an interval. `flagged`: how often the result said that "
            "its interval is not to be trusted. `unflagged`: coverage of the other runs, which "
            "is what a reader of an unflagged number relies on (- when they are fewer than "
            f"{1 - MOSTLY:.0%} of the runs). `undefined`: runs without an interval."
        ),
        "",
        (
            f"A cell whose coverage is below {ACCEPTED:.0%} is an **exception** unless its results "
            f"are flagged ({MOSTLY:.0%} of them or more) or those without a flag keep "
            f"{ACCEPTED:.0%}."
        ),
        "",
        "## By interval",
        "",
        (
            "| interval | cells | lowest | mean | cells below 92% | exceptions | lowest unflagged "
            "| flagged where coverage is 92% or more |"
        ),
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    names = dict.fromkeys((row.family, row.name) for row in rows)
    lines.extend(_by_interval([r for r in rows if (r.family, r.name) == name]) for name in names)
    bad = sorted((row for row in rows if row.exception), key=lambda row: row.coverage)
    lines += ["", f"## Exceptions ({len(bad)} of {len(rows):,} cells)", ""]
    lines += _table(bad) if bad else ["None."]
    what = (
        "Share of the cells of the yes/no families whose coverage is below 92% / whose results "
        "are flagged in 90% of the runs or more."
    )
    lines += ["", "## By prevalence", "", what, "", *_by_prevalence(rows)]
    return "\n".join(lines) + "\n"


def _by_prevalence(rows: Sequence[Row]) -> list[str]:
    rates = list(dict.fromkeys(f"p {p:.1%}," for p in PREVALENCES))
    lines = [
        f"| interval | {' | '.join(rate[2:-1] for rate in rates)} |",
        f"| --- |{' --- |' * len(rates)}",
    ]
    for family, name in dict.fromkeys((row.family, row.name) for row in rows):
        cells = []
        for rate in rates:
            own = [
                row
                for row in rows
                if (row.family, row.name) == (family, name) and row.setting.startswith(rate)
            ]
            if own:
                low = np.mean([row.coverage < ACCEPTED for row in own])
                said = np.mean([row.flagged >= MOSTLY for row in own])
                cells.append(f"{low:.0%} / {said:.0%}")
        if cells:
            lines.append(f"| {name} ({family}) | {' | '.join(cells)} |")
    return lines


def as_csv(rows: Sequence[Row]) -> str:
    """Every cell, for whoever wants to look."""
    lines = ["family,interval,setting,coverage,unflagged,flagged,undefined,width,runs,flags"]
    for row in rows:
        figures = (row.coverage, row.unflagged, row.flagged, row.undefined)
        shares = ",".join("" if isnan(value) else f"{value:.3f}" for value in figures)
        runs = row.runs if row.runs > 1 else "exact"
        lines.append(
            f'"{row.family}",{row.name},"{row.setting}",{shares},{row.width:.3f},{runs},'
            f"{' '.join(row.reasons)}"
        )
    return "\n".join(lines) + "\n"


def _by_interval(own: Sequence[Row]) -> str:
    clean = [row.unflagged for row in own if not isnan(row.unflagged)]
    fine = [row.flagged for row in own if row.coverage >= ACCEPTED]
    known = [row.coverage for row in own if not isnan(row.coverage)]
    cells = (
        f"{own[0].name} ({own[0].family})",
        str(len(own)),
        percent(min(known)),
        percent(float(np.mean(known))),
        str(sum(row.coverage < ACCEPTED for row in own)),
        str(sum(row.exception for row in own)),
        percent(min(clean)) if clean else "-",
        percent(float(np.mean(fine))) if fine else "-",
    )
    return f"| {' | '.join(cells)} |"


def _table(rows: Sequence[Row]) -> list[str]:
    head = (
        "| interval | setting | coverage | unflagged | flagged | undefined | width | runs | flags |"
    )
    lines = [head, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        figures = (row.coverage, row.unflagged, row.flagged, row.undefined)
        numbers = " | ".join(percent(value) for value in figures)
        runs = f"{row.runs:,}" if row.runs > 1 else "exact"
        lines.append(
            f"| {row.name} | {row.setting} | {numbers} | {row.width:.3f} | {runs} | "
            f"{', '.join(row.reasons[:3])} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--write", action="store_true", help="write coverage.md and coverage.csv")
    parser.add_argument("--only", choices=sorted(FAMILIES))
    arguments = parser.parse_args()
    start = time.process_time()
    rows: list[Row] = []
    twice = 0
    for seed, (name, cells) in enumerate(FAMILIES.items()):
        if arguments.only in (None, name):
            found, again = measured(list(cells()), arguments.runs, seed)
            rows, twice = rows + found, twice + again
            spent = time.process_time() - start
            bad = sum(row.exception for row in found)
            print(
                f"{name}: {len(found)} rows, {bad} exceptions, {again} again, {spent:.0f} s",
                flush=True,
            )
    day = datetime.now(UTC).date().isoformat()
    error = 100 * (0.95 * 0.05 / arguments.runs) ** 0.5
    head = (
        f"Measured {day} with `python benchmarks/coverage.py --runs {arguments.runs} --write` "
        f"({time.process_time() - start:.0f} s of CPU, {len(rows):,} cells, {twice} settings "
        f"measured again with {AGAIN * arguments.runs:,} runs); every cell is in "
        f"`coverage.csv`. Monte-Carlo error of one cell: "
        f"about {error:.1f} points, {error / AGAIN**0.5:.1f} where measured again."
    )
    text = report(rows, head)
    if arguments.write:
        Path(__file__).with_name("coverage.md").write_text(text, encoding="utf-8")
        Path(__file__).with_name("coverage.csv").write_text(as_csv(rows), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
