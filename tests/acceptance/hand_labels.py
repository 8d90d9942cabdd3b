"""Labels given by hand under a real rubric, and the report that the command line makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from labelkit.domain.label import Label, Outcome, Rater, RaterKind
from labelkit.domain.rubric import Rubric
from labelkit.store import Store
from labelkit.store.labels import commit_labels
from labelkit.store.raters import add_rater, add_rubric
from tests.acceptance.inprocess import Cli

Given = tuple[str, str | None, tuple[str, ...]]
"""A trace's digest, the label (None: the verdict could not be read) and the flags."""


def by_hand(
    store: Store, rubric: Rubric, kind: RaterKind, name: str, given: Iterable[Given], question: str
) -> None:
    """Commit one rater's labels on one question."""
    spec = {"rubric": rubric.name, "rubric_digest": rubric.digest}
    rater = Rater(kind=kind, name=name, version="1", spec=spec)
    add_rubric(store, rubric)
    add_rater(store, rater)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    labels = [
        Label(
            trace=trace,
            rater=rater.digest,
            question=question,
            outcome=Outcome.FAILED if value is None else Outcome.LABELLED,
            value=value,
            reason="parse" if value is None else None,
            flags=flags,
            created_at=now,
        )
        for trace, value, flags in given
    ]
    assert commit_labels(store, labels) == len(labels)


def report_of(cli: Cli, rubric: str, *words: str) -> dict[str, Any]:
    """What ``labelkit report --json`` says."""
    told = cli("report", "--rubric", rubric, "--json", *words)
    assert told.code == 0, told.err
    found: dict[str, Any] = json.loads(told.out)
    return found


def named(report: Mapping[str, Any], part: str, group: str = "all") -> dict[str, Any]:
    """The rates or measures of one group by their full names."""
    return {line["name"]: line for line in report[part] if line["group"] == group}


def identified(report: Mapping[str, Any], part: str) -> dict[str, Any]:
    """Contrasts, composites or fronts by id."""
    return {line["id"]: line for line in report[part]}
