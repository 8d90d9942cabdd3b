"""How much a published rate may move when one open case is decided: what to look at first.

For every rate of the question, an item in its denominator carries the share w / sum(w) of it, with
w = 1 / inclusion probability. The label that counts now is the most frequent one among all votes;
the chance of another one is its share of the votes. The expected effect is the share carried times
the chance that the decision changes hit into miss or back, summed over the rates. A published
mean of the labels counts as a rate does: a label is worth its place between the least (0) and the
greatest (1). Measures of what a rule counted do not move with a label.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.rates import Denominator, Measure, Predicate
from labelkit.stats.ratings import Floats
from labelkit.workflows.measures import scale_of
from labelkit.workflows.review.machines import Machines
from labelkit.workflows.review.reading import PeopleLabels
from labelkit.workflows.rows import Codes, Mask, satisfied


def expected_effects(people: PeopleLabels, machines: Machines) -> Floats:
    """Return the expected change of the published rates by item, shape (items,).

    A flag counts as one vote spread over all labels: the person doubts, so any label is possible.
    Without a rate or mean for the question the effect is that on the share of the label itself.
    """
    chance = _chances(people, machines)
    now = chance.argmax(axis=1).astype(np.int32)
    weight = 1.0 / people.items.probability
    numbers = _numbers(people, machines)
    effect = np.zeros(len(people))
    for denominator, worth in numbers:
        inside = satisfied(
            denominator.where, machines.rows, now, people.labels, machines.facts.flags
        )
        moved = np.abs(worth - worth[np.arange(len(people)), now][:, None])
        total = float(weight[inside].sum())
        if total > 0:
            effect += np.where(inside, weight / total * (chance * moved).sum(axis=1), 0.0)
    if not numbers:
        effect = weight / weight.sum() * (1 - chance.max(axis=1, initial=0.0))
    return np.asarray(effect)


def _numbers(people: PeopleLabels, machines: Machines) -> list[tuple[Denominator, Floats]]:
    """The published numbers of the question: their denominator, and what a label is worth there.

    Worth has shape (items, labels) and lies between 0 and 1.
    """
    asked = people.question.id
    found = [
        (rate.denominator, _hits(people, machines, rate.numerator))
        for rate in people.rubric.rates
        if rate.question == asked
    ]
    found += [
        (measure.within, np.tile(_scale(people), (len(people), 1)))
        for measure in people.rubric.measures
        if measure.question == asked and _of_labels(measure)
    ]
    return found


def _of_labels(measure: Measure) -> bool:
    return measure.value == "label" and measure.per is None


def _scale(people: PeopleLabels) -> Floats:
    """What every label is worth, from 0 to 1."""
    numbers = np.array(scale_of(people.question))
    span = float(np.ptp(numbers))
    return np.asarray((numbers - numbers.min()) / span if span > 0 else np.zeros(len(numbers)))


def _chances(people: PeopleLabels, machines: Machines) -> Floats:
    """Share of the votes for every label by item, shape (items, labels)."""
    q = len(people.labels)
    counts = np.zeros((len(people), q))
    for codes in _columns(people, machines):
        rows = np.flatnonzero(codes >= 0)
        counts[rows, codes[rows]] += 1
    counts[people.flagged.any(axis=1)] += 1 / q
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, total, out=np.full_like(counts, 1 / q), where=total > 0))


def _columns(people: PeopleLabels, machines: Machines) -> list[Codes]:
    return [*people.current.T, *(column.codes for column in machines.votes)]


def _hits(people: PeopleLabels, machines: Machines, numerator: Predicate) -> Floats:
    """Whether an item would be a hit under each label, shape (items, labels)."""
    columns: list[NDArray[np.float64]] = []
    for code in range(len(people.labels)):
        codes = np.full(len(people), code, dtype=np.int32)
        mask: Mask = satisfied(numerator, machines.rows, codes, people.labels, machines.facts.flags)
        columns.append(mask.astype(np.float64))
    return np.column_stack(columns)
