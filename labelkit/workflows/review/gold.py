"""The label that counts as true for an item: the decision, else what all people agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelkit.domain.adjudication import Decision
from labelkit.workflows.review.reading import PeopleLabels, agreed
from labelkit.workflows.rows import ABSTAINED, REASONS, Codes


@dataclass(frozen=True, eq=False)
class Gold:
    """True labels of a sample's items.

    Args:
        codes: label or state by item; ``abstained`` where it was decided that no label applies.
        decided: items with a decision.
        agreed: items without one on which all people agree.
        open: items without a true label, by reason.
    """

    codes: Codes
    decided: int
    agreed: int
    open: dict[str, int]


def gold_of(people: PeopleLabels, decisions: Sequence[Decision]) -> Gold:
    """Return the true labels of the items, for the question that ``people`` is about."""
    codes = agreed(people).copy()
    at = {int(key): place for place, key in enumerate(people.items.key)}
    place = {name: code for code, name in enumerate(people.labels)}
    decided = 0
    for one in decisions:
        row = at.get(one.item)
        if row is not None and one.question == people.question.id:
            codes[row] = ABSTAINED if one.value is None else place[one.value]
            decided += 1
    ruled = {one.item for one in decisions}
    free = np.array([int(key) not in ruled for key in people.items.key], dtype=bool)
    states = {name: int((codes == state).sum()) for state, name in REASONS.items()}
    return Gold(
        codes,
        decided,
        int(((codes >= 0) & free).sum()),
        {name: count for name, count in states.items() if count},
    )
