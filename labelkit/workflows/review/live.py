"""Agreement of the people on a sample while labels arrive: the numbers of ``labelkit agree``.

Only first labels are compared: those that people gave before an item was sent back to them. The
coefficients come from ``workflows.agreement``, which the command line uses too, so page and
command show the same numbers. A page asks ``version`` and computes anew only when that changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.person import Person
from labelkit.domain.sample import Sample
from labelkit.errors import InputError
from labelkit.stats.agreement import Coefficient
from labelkit.stats.agreement.pairwise import cohen_kappa
from labelkit.stats.intervals import Proportion, proportion
from labelkit.stats.ratings import from_codes
from labelkit.store import Store
from labelkit.store import samples as samples_kept
from labelkit.store.annotations import mark_of
from labelkit.workflows.agreement import GroupAgreement, Scale, agreement_of
from labelkit.workflows.ratings import Rated
from labelkit.workflows.review.access import Right, require
from labelkit.workflows.review.kept import Kept
from labelkit.workflows.review.needed import Needed, needed_for
from labelkit.workflows.review.reading import PeopleLabels, read_people
from labelkit.workflows.rows import Mask, Votes
from labelkit.workflows.rubric_ratings import rated_votes

_MOST_STRATA = 40
_WHOLE = 64

_KEPT: Kept[Live] = Kept()

__all__ = [
    "Confusion",
    "Consistency",
    "Live",
    "Needed",
    "agreement",
    "made_ready",
    "rated_people",
    "version",
]


@dataclass(frozen=True)
class Consistency:
    """How steady a person is on hidden repeats.

    Args:
        person: name.
        same: repeats with the same label as the first time, of those labelled twice.
        kappa: Cohen's kappa of the person with himself or herself.
    """

    person: str
    same: Proportion
    kappa: Coefficient


@dataclass(frozen=True)
class Confusion:
    """Who says what where the other says something else.

    ``counts[i][j]``: items the first person calls ``labels[i]`` and the second ``labels[j]``;
    ``traces[i][j]`` their digests. For all pairs together both orders of a pair count, so the
    table is symmetric.
    """

    first: str
    second: str
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    traces: tuple[tuple[tuple[str, ...], ...], ...]


@dataclass(frozen=True, eq=False)
class Live:
    """Agreement of a sample at one moment.

    Args:
        sample: its id.
        question: the question.
        version: what was read; equal to ``version(store, sample)`` while nothing was added.
        labels: label names.
        people: names, sorted.
        n_items: items of the sample.
        n_complete: items that as many people labelled as the overlap asks for.
        n_labels: first labels.
        groups: ``all`` first, then by subset, stratum, guideline version and day, as
            ``labelkit agree`` gives them; percent, Cohen or Fleiss, AC1, alpha ... with intervals,
            pairs, and per label ``categories``; ``remark`` warns of high agreement with low kappa.
        consistency: by person, from hidden repeats; empty without any.
        given: the labels themselves, for ``confusion`` and ``needed``.
    """

    sample: str
    question: str
    version: tuple[int, int]
    labels: tuple[str, ...]
    people: tuple[str, ...]
    n_items: int
    n_complete: int
    n_labels: int
    groups: tuple[GroupAgreement, ...]
    consistency: tuple[Consistency, ...]
    given: PeopleLabels

    def confusion(self, first: str | None = None, second: str | None = None) -> Confusion:
        """Return the table of two people, or of all pairs together when nobody is named.

        Raises:
            InputError: a name that is not among ``people``.
        """
        return _confusion(self.given, first, second)

    def needed(self, half_width: float) -> Needed:
        """Return how many more labels make the intervals +- ``half_width``.

        Raises:
            StatisticsError: a half-width outside (0, 1).
        """
        return needed_for(self.given, self.groups[0].coefficients, half_width)


def version(store: Store, sample_id: str) -> tuple[int, int]:
    """Return a mark that changes with every label and decision of the sample; costs two lookups.

    It says nothing about labels, so anybody may ask.
    """
    whole = sample_id if len(sample_id) == _WHOLE else samples_kept.sample(store, sample_id).id
    return mark_of(store, whole)


def agreement(
    store: Store,
    who: Person,
    sample_id: str,
    question: str | None = None,
    *,
    scale: Scale | None = None,
) -> Live:
    """Return the agreement of the people on a sample.

    With the default scale it is kept until something is added, for everybody who looks.

    Args:
        store: an open store.
        who: somebody who may see labels.
        sample_id: id or prefix.
        question: default the sample's question.
        scale: level, weights, confidence; default those of ``labelkit agree``.

    Raises:
        NotAllowedError: ``who`` may not see labels.
        InputError: no such question.
    """
    require(who, Right.SEE_LABELS)
    if scale is not None:
        return _agreement(store, samples_kept.sample(store, sample_id), question, scale)
    return _kept(store, sample_id, question)


def made_ready(store: Store) -> None:
    """Compute the newest sample's agreement, so that nobody waits for it after a start."""
    for newest in samples_kept.samples(store)[-1:]:
        _kept(store, newest.id, newest.design.question)


def _kept(store: Store, sample_id: str, question: str | None) -> Live:
    mark = version(store, sample_id)

    def compute() -> Live:
        return _agreement(store, samples_kept.sample(store, sample_id), question, Scale())

    return _KEPT.find(store, (sample_id, question), mark, compute)


def _agreement(store: Store, sample: Sample, question: str | None, scale: Scale) -> Live:
    people = read_people(store, sample, question)
    rated = rated_people(people)
    labelled = people.first >= 0
    return Live(
        sample=people.sample.id,
        question=people.question.id,
        version=people.mark,
        labels=people.labels,
        people=people.names,
        n_items=len(people),
        n_complete=int((labelled.sum(axis=1) >= people.sample.design.overlap).sum()),
        n_labels=int(labelled.sum()),
        groups=agreement_of(rated, scale),
        consistency=_consistency(people),
        given=people,
    )


def ratings_of_sample(store: Store, sample: Sample, question: str | None = None) -> list[Rated]:
    """Return the ratings of a sample for ``labelkit agree --sample``: one question, or every one.

    Raises:
        InputError: no such question.
    """
    first = read_people(store, sample, question)
    if question is not None:
        return [rated_people(first)]
    asked = [one.id for one in first.rubric.questions if one.is_for("person")]
    return [rated_people(read_people(store, sample, name)) for name in asked]


def rated_people(people: PeopleLabels) -> Rated:
    """Return first labels as ratings, split by subset, stratum, guideline version and day."""
    votes = [
        Votes(name, "person", str(key), people.first[:, column])
        for column, (key, name) in enumerate(zip(people.people, people.names, strict=True))
    ]
    if not votes:
        votes = [Votes("nobody", "person", "", np.full(len(people), -3, dtype=np.int32))]
    return rated_votes(people.question, votes, _strata(people), people.items.digest.tolist())


def _strata(people: PeopleLabels) -> list[tuple[str, Mask, str | None]]:
    """Name, items and subset of every split; splits into one part are left out."""
    out: list[tuple[str, Mask, str | None]] = []
    for name, column in (("stratum", people.items.stratum), *_by_item(people)):
        values = sorted({cell for cell in column.tolist() if cell is not None})
        if 1 < len(values) <= _MOST_STRATA:
            out += [
                (f"{name}={value}", column == value, _subset(people, value)) for value in values
            ]
    return out


def _subset(people: PeopleLabels, stratum: str) -> str | None:
    """The subset whose labels alone apply in a stratum such as ``model=m, subset=control``."""
    wanted = f"{people.rubric.subset_tag}="
    named = [part[len(wanted) :] for part in stratum.split(", ") if part.startswith(wanted)]
    return next((name for name in named if name in people.rubric.subsets), None)


def _by_item(people: PeopleLabels) -> list[tuple[str, NDArray[np.object_]]]:
    """Guideline version (``mixed`` where people had different ones) and last day of an item."""
    guideline = np.empty(len(people), dtype=object)
    day = np.empty(len(people), dtype=object)
    cells = zip(people.guideline.tolist(), people.day.tolist(), strict=True)
    for place, (texts, days) in enumerate(cells):
        known = {text for text in texts if text is not None}
        if known:
            guideline[place] = known.pop()[:12] if len(known) == 1 else "mixed"
            day[place] = max(one for one in days if one is not None)
    return [("guideline", guideline), ("day", day)]


def _consistency(people: PeopleLabels) -> tuple[Consistency, ...]:
    out = []
    for column, name in enumerate(people.names):
        first, again = people.first[:, column], people.again[:, column]
        both = (first >= 0) & (again >= 0)
        n = int(both.sum())
        if n:
            pair = np.stack([first[both], again[both]], axis=1)
            same = int((pair[:, 0] == pair[:, 1]).sum())
            kappa = cohen_kappa(from_codes(pair, list(people.labels), ["first", "again"]))
            out.append(Consistency(name, proportion(same, n), kappa))
    return tuple(out)


def _confusion(people: PeopleLabels, first: str | None, second: str | None) -> Confusion:
    if (first is None) != (second is None):
        raise InputError("name two people, or nobody for all pairs together")
    if first is None or second is None:
        pairs = [
            (a, b) for a in range(len(people.names)) for b in range(len(people.names)) if a != b
        ]
    else:
        pairs = [(_place(people.names, first), _place(people.names, second))]
    q, digests = len(people.labels), people.items.digest
    places, cell = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for a, b in pairs:
        both = np.flatnonzero((people.first[:, a] >= 0) & (people.first[:, b] >= 0))
        places.append(both)
        cell.append(people.first[both, a].astype(np.int64) * q + people.first[both, b])
    where, codes = np.concatenate(places), np.concatenate(cell)
    counts = np.bincount(codes, minlength=q * q).reshape(q, q)

    def traces(code: int) -> tuple[str, ...]:
        """Each trace once, in the order in which the pairs come."""
        inside = where[codes == code]
        _, begins = np.unique(inside, return_index=True)
        return tuple(str(digests[place]) for place in inside[np.sort(begins)])

    return Confusion(
        first or "",
        second or "",
        people.labels,
        tuple(tuple(row) for row in counts.tolist()),
        tuple(tuple(traces(i * q + j) for j in range(q)) for i in range(q)),
    )


def _place(names: Sequence[str], name: str) -> int:
    if name not in names:
        known = ", ".join(names) or "nobody yet"
        raise InputError(f"{name!r} has not labelled this sample; choose among: {known}")
    return names.index(name)
