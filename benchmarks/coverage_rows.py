"""What the coverage simulation counts, and which flags excuse an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from labelkit.stats.intervals import Interval

PREVALENCES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 0.5)
ACCEPTED = 0.92
MOSTLY = 0.9
"""Above this share of flagged runs a cell counts as flagged."""

WARNINGS = frozenset(
    {
        "few_disagreements",
        "few_effective_rows",
        "few_clusters",
        "few_hits",
        "few_human_labels",
        "few_items",
        "few_rare_labels",
        "few_weighted_disagreements",
        "judge_without_variation",
        "many_undefined_replicates",
        "no_variation",
        "no_variation_between_clusters",
        "no_variation_in_replicates",
        "stratum_of_one",
        "weak_judge",
        "zero_width_interval",
    }
)
"""Flags with which a result says that its interval may hold the truth less often than it says."""


@dataclass(frozen=True)
class Row:
    """The coverage of one interval in one setting; ``runs`` had an interval."""

    family: str
    name: str
    setting: str
    coverage: float
    unflagged: float
    flagged: float
    undefined: float
    width: float
    runs: int
    reasons: tuple[str, ...]

    @property
    def exception(self) -> bool:
        """Whether coverage is below 92% and a reader of the results would not know it."""
        return self.coverage < ACCEPTED and self.flagged < MOSTLY and self.unflagged < ACCEPTED


class Tally:
    """Counts how often an interval holds the truth."""

    def __init__(self) -> None:
        self.runs = self.held = self.flagged = self.held_clean = self.without = 0
        self.width = 0.0
        self.reasons: dict[str, float] = {}

    def add(self, interval: Any, truth: Any, flags: Sequence[str], weight: float = 1) -> None:
        """Count one interval (or the lack of one), ``weight`` times."""
        if not isinstance(interval, Interval):
            self.without += weight
            return
        held = interval.low - 1e-12 <= truth <= interval.high + 1e-12
        why = WARNINGS.intersection(flags)
        self.runs += weight
        self.held += weight * held
        self.flagged += weight * bool(why)
        self.held_clean += weight * (held and not why)
        self.width += weight * (interval.high - interval.low)
        for flag in why:
            self.reasons[flag] = self.reasons.get(flag, 0) + weight

    def row(self, family: str, name: str, setting: str) -> Row:
        """The result of one setting."""
        runs = max(self.runs, 1e-300)
        clean = self.runs - self.flagged
        reasons = sorted(self.reasons, key=lambda flag: -self.reasons[flag])
        return Row(
            family,
            name,
            setting,
            self.held / runs if self.runs else nan,
            self.held_clean / clean if clean > (1 - MOSTLY) * runs and self.runs else nan,
            self.flagged / runs,
            self.without / (self.runs + self.without),
            self.width / runs,
            round(self.runs),
            tuple(reasons),
        )


@dataclass(frozen=True)
class Cell:
    """One setting and how to sample its intervals: a generator and a number of runs to tallies."""

    family: str
    setting: str
    sample: Callable[[np.random.Generator, int], dict[str, Tally]]
    exact: bool = False

    def rows(self, rng: np.random.Generator, runs: int) -> list[Row]:
        """Measure the cell."""
        found = self.sample(rng, runs)
        return [tally.row(self.family, name, self.setting) for name, tally in found.items()]
