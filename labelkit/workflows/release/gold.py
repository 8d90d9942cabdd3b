"""The labels that count as true, and where people did not agree: derived, so never imported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from labelkit.domain.rubric import Rubric
from labelkit.store import Store
from labelkit.store import samples as samples_kept
from labelkit.store.adjudications import decisions
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
    """Return the true labels and disagreements of every question of every sample."""
    gold: list[dict[str, Any]] = []
    apart: list[dict[str, Any]] = []
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
