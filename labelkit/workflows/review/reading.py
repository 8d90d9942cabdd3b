"""What people said about a sample, as matrices of items by people; shared by all later pages.

Two readings are kept apart. The *first* labels are those a person gave before an adjudicator sent
the item back: only they are independent, so only they are measured for agreement. The labels *in
force* are the last ones, and what a decision is made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.label import Outcome
from labelkit.domain.rubric import Question, Rubric
from labelkit.domain.sample import Sample
from labelkit.store import Store
from labelkit.store.annotations import GivenColumns, ItemColumns, SampleColumns, sample_columns
from labelkit.workflows.review.schemes import rubric_in
from labelkit.workflows.rows import ABSTAINED, TIED, UNLABELLED, Codes, Mask
from labelkit.workflows.rubric_choice import question_of

Objects = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class PeopleLabels:
    """Labels of people on one question of a sample; matrices of shape (items, people).

    Args:
        sample: the sample.
        rubric: the rubric the sample was drawn for.
        question: the question.
        labels: names of its labels, in rubric order.
        items: the items.
        people: ids of those who did anything, sorted by name.
        names: their names, in the same order.
        first: codes of independent labels, or a state (``labelkit.workflows.rows``).
        current: codes of labels in force.
        again: codes of hidden repeats.
        label: row ids of the labels in force, 0 where there is none.
        day: UTC day of the first label, or None.
        guideline: rubric digest of the first label, or None.
        flagged: where the label in force asks for an adjudicator.
        skipped: where the person's last act was to skip the item.
        mark: version of what was read; see ``live.version``.
    """

    sample: Sample
    rubric: Rubric
    question: Question
    labels: tuple[str, ...]
    items: ItemColumns
    people: tuple[int, ...]
    names: tuple[str, ...]
    first: Codes
    current: Codes
    again: Codes
    label: NDArray[np.int64]
    day: Objects
    guideline: Objects
    flagged: Mask
    skipped: Mask
    mark: tuple[int, int]

    def __len__(self) -> int:
        """Number of items."""
        return len(self.items)


def read_people(store: Store, sample: Sample, question: str | None = None) -> PeopleLabels:
    """Return what people said about one question (default the sample's).

    Raises:
        InputError: the rubric has no such question.
    """
    rubric = rubric_in(store, sample.design.rubric_digest)
    asked = question_of(rubric, question or sample.design.question)
    columns = sample_columns(store, sample.key, asked.id)
    labels = tuple(definition.name for definition in asked.labels)
    people = sorted(set(columns.given.person.tolist()), key=lambda key: columns.names[key])
    return _matrices(sample, rubric, asked, labels, columns, people)


def _matrices(
    sample: Sample,
    rubric: Rubric,
    question: Question,
    labels: tuple[str, ...],
    columns: SampleColumns,
    people: Sequence[int],
) -> PeopleLabels:
    given, shape = columns.given, (len(columns.items), len(people))
    place = {person: column for column, person in enumerate(people)}
    column = np.array([place[person] for person in given.person.tolist()], dtype=np.int64)
    codes = _codes(given, labels)
    first = _last(given, (given.repeat == 0) & (given.round == 0))
    last = _last(given, given.repeat == 0)
    again = _last(given, given.repeat == 1)

    def codes_at(rows: NDArray[np.int64]) -> Codes:
        out = np.full(shape, UNLABELLED, dtype=np.int32)
        out[given.item[rows], column[rows]] = codes[rows]
        return out

    def cells_at(rows: NDArray[np.int64], values: Objects) -> Objects:
        out = np.empty(shape, dtype=object)
        out[given.item[rows], column[rows]] = values[rows]
        return out

    label = np.zeros(shape, dtype=np.int64)
    label[given.item[last], column[last]] = given.label[last]
    flagged = np.zeros(shape, dtype=bool)
    carries = np.array(["flagged" in flags for flags in given.flags.tolist()], dtype=bool)
    flagged[given.item[last], column[last]] = carries[last]
    skipped = np.zeros(shape, dtype=bool)
    skipped[given.item[last], column[last]] = given.act[last] == "skip"
    return PeopleLabels(
        sample=sample,
        rubric=rubric,
        question=question,
        labels=labels,
        items=columns.items,
        people=tuple(people),
        names=tuple(columns.names[person] for person in people),
        first=codes_at(first),
        current=codes_at(last),
        again=codes_at(again),
        label=label,
        day=cells_at(first, given.day),
        guideline=cells_at(first, given.guideline),
        flagged=flagged,
        skipped=skipped,
        mark=columns.mark,
    )


def _codes(given: GivenColumns, labels: Sequence[str]) -> Codes:
    """A label's place in the rubric; an abstention (skipped, undone) or a stray is a state."""
    place = {name: code for code, name in enumerate(labels)}
    labelled = Outcome.LABELLED.value
    cells = zip(given.outcome.tolist(), given.value.tolist(), strict=True)
    return np.array(
        [place.get(value, ABSTAINED) if how == labelled else ABSTAINED for how, value in cells],
        dtype=np.int32,
    )


def _last(given: GivenColumns, wanted: Mask) -> NDArray[np.int64]:
    """Rows of the highest version of every assignment, among those wanted."""
    rows = np.flatnonzero(wanted)
    owner = given.assignment[rows]
    newest = np.append(owner[1:] != owner[:-1], True) if len(rows) else np.zeros(0, dtype=bool)
    found: NDArray[np.int64] = rows[newest]
    return found


def agreed(people: PeopleLabels) -> Codes:
    """Return the label all people in force agree on, or a state, shape (items,).

    As many as the overlap must have labelled the item (a skip does not count); else it is still
    unlabelled. Two different labels are a tie.
    """
    labelled = people.current >= 0
    high = np.where(labelled, people.current, -1).max(axis=1, initial=-1)
    low = np.where(labelled, people.current, np.iinfo(np.int32).max).min(axis=1, initial=2**31 - 1)
    enough = labelled.sum(axis=1) >= people.sample.design.overlap
    codes = np.where(high != low, TIED, high)
    out: Codes = np.where(enough, codes, UNLABELLED).astype(np.int32)
    return out
