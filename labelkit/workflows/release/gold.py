"""The labels that count as true, and where people did not agree: derived, so never imported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelkit.domain.rubric import Rubric
from labelkit.store import Store
from labelkit.store import samples as samples_kept
from labelkit.store.adjudications import decisions
from labelkit.store.reports import trace_table
from labelkit.workflows.columns import read_rows, read_votes
from labelkit.workflows.review.gold import gold_of
from labelkit.workflows.review.reading import PeopleLabels, read_people
from labelkit.workflows.rows import REASONS


@dataclass(frozen=True)
class Truth:
    """Rows of tables ``gold`` and ``disagreements``, and how many of the latter are open."""

    gold: tuple[dict[str, Any], ...]
    disagreements: tuple[dict[str, Any], ...]

    @property
    def undecided(self) -> int:
        """Disagreements without a decision."""
        return sum(not row["decided"] for row in self.disagreements)


def truth(store: Store, rubric: Rubric, samples: tuple[str, ...]) -> Truth:
    """Return the true labels and disagreements of every question.

    Those of people on rows that no sample drew (imported ratings) come first; they have no sample
    and no inclusion probability.
    """
    gold, apart = _undrawn(store, rubric, samples)
    for sample_id in sorted(samples):
        sample = samples_kept.sample(store, sample_id)
        for question in rubric.questions:
            people = read_people(store, sample, question.id)
            if not people.people:
                continue
            ruled = decisions(store, sample.key, question.id)
            codes = gold_of(people, ruled).codes.tolist()
            decided = {one.trace: one.value for one in ruled}
            gold += _gold(people, codes, decided)
            apart += _disagreements(people, decided)
    return Truth(tuple(gold), tuple(apart))


def _undrawn(
    store: Store, rubric: Rubric, samples: tuple[str, ...]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows that several people labelled outside of any sample: where they agree, where not."""
    drawn = {
        item.trace
        for sample_id in samples
        for item in samples_kept.items(store, samples_kept.sample(store, sample_id).key)
    }
    table = trace_table(store, digests=True)
    digests = {} if table.digest is None else dict(zip(table.id, table.digest, strict=True))
    _, ids = read_rows(store, rubric, ())
    gold: list[dict[str, Any]] = []
    apart: list[dict[str, Any]] = []
    for question in rubric.questions:
        votes, _ = read_votes(store, rubric, question, ids)
        people = [vote.codes for vote in votes if vote.kind == "person"]
        if len(people) < 2:
            continue
        names = [label.name for label in question.labels]
        given = np.stack(people, axis=1)
        for row in np.flatnonzero((given >= 0).sum(axis=1) > 1).tolist():
            trace = digests[ids[row]]
            if trace in drawn:
                continue
            values = sorted({names[code] for code in given[row].tolist() if code >= 0})
            place = {"sample": None, "trace": trace, "question": question.id}
            if len(values) == 1:
                said = {"value": values[0], "source": "agreement", "probability": None}
                gold.append({**place, **said})
            else:
                apart.append({**place, "values": values, "decided": False, "decision": None})
    return gold, apart


def _gold(
    people: PeopleLabels, codes: list[int], decided: dict[str, str | None]
) -> Iterator[dict[str, Any]]:
    """One row per item with a true label."""
    cells = zip(people.items.digest.tolist(), people.items.probability.tolist(), codes, strict=True)
    for trace, probability, code in cells:
        if code in REASONS:
            continue
        yield {
            "sample": people.sample.id,
            "trace": trace,
            "question": people.question.id,
            "value": people.labels[code],
            "source": "decision" if trace in decided else "agreement",
            "probability": probability,
        }


def _disagreements(
    people: PeopleLabels, decided: dict[str, str | None]
) -> Iterator[dict[str, Any]]:
    """One row per item that two people labelled differently."""
    for place, trace in enumerate(people.items.digest.tolist()):
        given = people.current[place]
        values = sorted({people.labels[code] for code in given.tolist() if code >= 0})
        if len(values) > 1:
            yield {
                "sample": people.sample.id,
                "trace": trace,
                "question": people.question.id,
                "values": values,
                "decided": trace in decided,
                "decision": decided.get(trace),
            }
