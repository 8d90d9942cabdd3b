"""How the failure modes of a report would read under other thresholds.

Where a scheme's thresholds are a choice, its numbers must come with this table. It is made from
the counts that the rule left on its labels: no trace is read again and nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from labelkit.catalog.rubrics import as_rubric
from labelkit.domain.rubric import Rubric
from labelkit.errors import InputError
from labelkit.rules import hazard_recovery
from labelkit.rules.hazard_recovery_failures import (
    CER_DEFINITION,
    FailureFacts,
    sensitivity,
    thresholds_of,
)
from labelkit.rules.registry import rule_of
from labelkit.store import Store
from labelkit.workflows.columns import read_rows, read_votes
from labelkit.workflows.ensemble import combine
from labelkit.workflows.rows import Votes

FAILED = "incorrect"


@dataclass(frozen=True)
class SensitivityLine:
    """The failure modes under one pair of thresholds; ``used`` marks the rubric's own."""

    expansion_over: float
    abandoned_at_most: int
    used: bool
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Sensitivity:
    """The table. ``failed`` rows were failures; ``uncounted`` of them had no counts by the rule.

    The counts of every line add up to ``failed`` - ``uncounted``. ``definition`` is that of the
    call expansion ratio, of which one is taken off.
    """

    rubric: str
    version: str
    definition: str
    failed: int
    uncounted: int
    lines: tuple[SensitivityLine, ...]


def failure_sensitivity(store: Store, rubric: Rubric | str | Path) -> Sensitivity:
    """Count the failure modes of all failed rows under a grid of thresholds.

    Args:
        store: an open store.
        rubric: a rubric with the rule hazard-recovery, its name or path.

    Raises:
        InputError: the rubric's rule has no such thresholds.
    """
    rubric = as_rubric(rubric)
    if rule_of(rubric) is not hazard_recovery.classify:
        raise InputError(
            f"rubric {rubric.name} has no thresholds to vary; `labelkit sensitivity` is for rubrics"
            " with the rule hazard-recovery"
        )
    rows, ids = read_rows(store, rubric, ())
    votes, _ = read_votes(store, rubric, rubric.primary, ids)
    labels = [definition.name for definition in rubric.primary.labels]
    codes = combine(rubric.ensemble_of(rubric.primary), votes, len(labels), rows.infra).codes
    failed = (
        np.flatnonzero(codes == labels.index(FAILED)) if FAILED in labels else np.array([], int)
    )
    rule = next((column for column in votes if column.kind == "rule"), None)
    facts = [] if rule is None else [f for row in failed if (f := _facts(rule, int(row)))]
    table = sensitivity(facts, thresholds_of(rubric.rule_policy))
    return Sensitivity(
        rubric=rubric.name,
        version=rubric.version,
        definition=CER_DEFINITION,
        failed=len(failed),
        uncounted=len(failed) - len(facts),
        lines=tuple(
            SensitivityLine(
                line.thresholds.expansion_over,
                line.thresholds.abandoned_at_most,
                line.used,
                line.counts,
            )
            for line in table
        ),
    )


def _facts(rule: Votes, row: int) -> FailureFacts | None:
    """What the rule counted of one row; None where it counted nothing."""
    calls = _number(rule, "calls", row)
    if calls is None:
        return None
    valid = rule.flags.get("answer_valid")
    return FailureFacts(
        calls=calls,
        tools=_number(rule, "tools", row),
        after_error=_number(rule, "calls_after_error", row),
        valid=valid is not None and bool(valid[row]),
    )


def _number(rule: Votes, name: str, row: int) -> int | None:
    column = rule.numbers.get(name)
    if column is None or np.isnan(column[row]):
        return None
    return int(column[row])
