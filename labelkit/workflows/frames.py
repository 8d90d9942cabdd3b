"""Results as pandas frames, for notebooks. The numbers are those of the report, not new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from labelkit.catalog.rubrics import as_rubric
from labelkit.domain.rubric import Rubric
from labelkit.stats.undefined import Undefined
from labelkit.store import Store
from labelkit.store.raters import raters
from labelkit.store.reports import label_table, trace_table
from labelkit.workflows.agreement import GroupAgreement
from labelkit.workflows.rates import RateResult


def rates_frame(rates: Sequence[RateResult]) -> pd.DataFrame:
    """One line per rate and group; an undefined number is missing and ``reason`` says why."""
    rows = [{**asdict(rate), "coverage": rate.coverage} for rate in rates]
    return pd.DataFrame(rows)


def agreement_frame(agreement: Sequence[GroupAgreement]) -> pd.DataFrame:
    """One line per coefficient; ``raters`` names the pair or "all"."""
    rows = []
    for group in agreement:
        named = [(f"{pair.first} - {pair.second}", pair.result) for pair in group.pairs]
        for who, coefficient in named + [("all", c) for c in group.coefficients]:
            value, interval = coefficient.value, coefficient.interval
            rows.append(
                {
                    "question": group.question,
                    "group": group.group,
                    "raters": who,
                    "coefficient": coefficient.name,
                    "value": None if isinstance(value, Undefined) else value,
                    "low": None if isinstance(interval, Undefined) else interval.low,
                    "high": None if isinstance(interval, Undefined) else interval.high,
                    "n_items": coefficient.n_items,
                    "reason": value.reason.value if isinstance(value, Undefined) else None,
                }
            )
    return pd.DataFrame(rows)


def labels_frame(
    store: Store, rubric: Rubric | str | Path, question: str | None = None
) -> pd.DataFrame:
    """Labels in force in long form: trace, model, domain, subset, rater, repeat, outcome, value.

    Args:
        store: an open store.
        rubric: only labels given under this very rubric.
        question: the question; default the rubric's primary one.
    """
    rubric = as_rubric(rubric)
    asked = question or rubric.primary.id
    known = raters(store, rubric=rubric.digest, question=asked)
    labels = label_table(store, asked, [rater.digest for rater in known])
    names = [rater.name for rater in known]
    long = pd.DataFrame(
        {
            "id": labels.trace,
            "rater": [names[place] for place in labels.rater],
            "repeat": labels.repeat,
            "outcome": labels.outcome,
            "value": labels.value,
            "reason": labels.reason,
        }
    )
    traces = trace_table(store, digests=True)
    about = pd.DataFrame(
        {
            "id": traces.id,
            "trace": traces.digest,
            "model": traces.model,
            "task_set": traces.task_set,
            "task": traces.task_id,
            "domain": traces.domain,
            "subset": traces.subset,
        }
    )
    return about.merge(long, on="id", how="inner").drop(columns="id")
