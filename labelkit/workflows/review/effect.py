"""How much a published rate may move when one open case is decided: what to look at first.

For every rate of the question, an item in its denominator carries the share w / sum(w) of it, with
w = 1 / inclusion probability. The label that counts now is the most frequent one among all votes;
the chance of another one is its share of the votes. The expected effect is the share carried times
the chance that the decision changes hit into miss or back, summed over the rates. A published
mean of the labels counts as a rate does: a label is worth its place between the least (0) and the
greatest (1). Measures of what a rule counted do not move with a label.

A contrast of such a number between arms is a published number too: an item moves the value of its
own arm by its share of that arm, and with it the difference, or the recovered share. Retention and
the drops are the same change in other units and are not counted again. A recovered share with no
gap to recover is undefined and moves nothing; no contrast moves by more than 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.rates import Contrast, Denominator, Measure, Predicate
from labelkit.stats.ratings import Floats
from labelkit.workflows.measures import scale_of
from labelkit.workflows.review.machines import Machines
from labelkit.workflows.review.reading import PeopleLabels
from labelkit.workflows.rows import Codes, Mask, satisfied

NO_GAP = 1e-12


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
    found = {}
    for name, (denominator, worth) in numbers.items():
        inside = satisfied(
            denominator.where, machines.rows, now, people.labels, machines.facts.flags
        )
        found[name] = Moves(inside, weight, worth, worth[np.arange(len(people)), now])
        effect += (chance * np.abs(found[name].steps(inside))).sum(axis=1)
    for contrast in people.rubric.contrasts:
        if contrast.of in found:
            effect += _of_contrast(contrast, found[contrast.of], machines, chance)
    if not numbers:
        effect = weight / weight.sum() * (1 - chance.max(axis=1, initial=0.0))
    return np.asarray(effect)


@dataclass(frozen=True, eq=False)
class Moves:
    """A number as labels stand now, and what they would do to it.

    Args:
        inside: items in its denominator, shape (items,).
        weight: 1 / inclusion probability, shape (items,).
        worth: what an item counts under each label, shape (items, labels).
        now: what it counts under the label of now, shape (items,).
    """

    inside: Mask
    weight: Floats
    worth: Floats
    now: Floats

    def value(self, rows: Mask) -> float | None:
        """The number over these rows; None where there are none."""
        total = float(self.weight[rows].sum())
        return float((self.weight * self.now)[rows].sum()) / total if total > 0 else None

    def steps(self, rows: Mask) -> Floats:
        """By how much each label of an item would move the number over these rows."""
        total = float(self.weight[rows].sum())
        share = np.where(rows, self.weight / total, 0.0) if total > 0 else np.zeros(len(rows))
        return np.asarray(share[:, None] * (self.worth - self.now[:, None]))


def _of_contrast(contrast: Contrast, moves: Moves, machines: Machines, chance: Floats) -> Floats:
    """The expected change of a contrast by item, shape (items,)."""
    rows = machines.rows
    tags = {"base": contrast.base, "treated": contrast.treated}
    if contrast.kind == "recovered_share" and contrast.clean is not None:
        tags["clean"] = contrast.clean
    arms = {name: moves.inside & rows.having({contrast.tag: (tags[name],)}) for name in tags}
    values = {name: moves.value(mask) for name, mask in arms.items()}
    known = {name: value for name, value in values.items() if value is not None}
    if len(known) < len(arms):
        return np.zeros(len(moves.inside))
    before = _compared({name: np.asarray(value) for name, value in known.items()})
    after = _compared({name: known[name] + moves.steps(mask) for name, mask in arms.items()})
    moved = np.abs(after - before)
    size = np.minimum(1.0, np.where(np.isfinite(moved), moved, 0.0))
    return np.asarray((chance * size).sum(axis=1))


def _compared(arms: Mapping[str, Floats]) -> Floats:
    """The difference of treated and base; with a clean arm the share of the gap; NaN without."""
    change = np.asarray(arms["treated"] - arms["base"])
    if "clean" not in arms:
        return change
    gap = np.asarray(arms["clean"] - arms["base"])
    none = np.abs(gap) < NO_GAP
    return np.asarray(np.where(none, np.nan, change / np.where(none, 1.0, gap)))


def _numbers(people: PeopleLabels, machines: Machines) -> dict[str, tuple[Denominator, Floats]]:
    """The question's published numbers by full name: denominator, and what a label is worth there.

    Worth has shape (items, labels) and lies between 0 and 1.
    """
    asked = people.question.id
    found = {
        rate.full_name: (rate.denominator, _hits(people, machines, rate.numerator))
        for rate in people.rubric.rates
        if rate.question == asked
    }
    found |= {
        measure.full_name: (measure.within, np.tile(_scale(people), (len(people), 1)))
        for measure in people.rubric.measures
        if measure.question == asked and _of_labels(measure)
    }
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
