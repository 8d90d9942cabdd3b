"""Where the work stands: samples with their leases, people with their pace, labels by day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from labelkit.domain.person import Person, Role
from labelkit.domain.sample import Sample
from labelkit.store import Store
from labelkit.store import people as people_kept
from labelkit.store import samples as samples_kept
from labelkit.store.leases import DONE, OPEN, SKIPPED
from labelkit.store.tallies import (
    PersonTally,
    SampleTally,
    labels_by_day,
    person_tallies,
    sample_tallies,
)
from labelkit.workflows.review.access import Right, require


@dataclass(frozen=True)
class SampleLine:
    """One sample.

    Args:
        sample: the sample with its design.
        n_items: items drawn.
        wanted: labels asked for: items times overlap.
        given: labels there are, hidden repeats not counted.
        complete: items with as many labels as the overlap.
        skipped: items skipped, counted once per person.
        in_hands: items being labelled now.
        abandoned: leases that have expired; they return to the pool when somebody needs work.
        repeats: hidden repeats labelled.
        decided: items with a decision.
        people: names of those it was given to; empty means everybody.
    """

    sample: Sample
    n_items: int
    wanted: int
    given: int
    complete: int
    skipped: int
    in_hands: int
    abandoned: int
    repeats: int
    decided: int
    people: tuple[str, ...]


@dataclass(frozen=True)
class PersonLine:
    """One person; ``median_s`` is the median active time of the last 200 labels, in seconds."""

    name: str
    role: Role
    retired: bool
    labels: int
    skips: int
    undone: int
    median_s: float | None
    last: datetime | None


@dataclass(frozen=True)
class DayLine:
    """Labels that one person submitted on one UTC day (``2026-03-01``)."""

    day: str
    person: str
    labels: int


@dataclass(frozen=True)
class Overview:
    """Samples newest first, people by name, days ascending."""

    samples: tuple[SampleLine, ...]
    people: tuple[PersonLine, ...]
    days: tuple[DayLine, ...]


_NOTHING = SampleTally({}, 0, 0, {}, 0)
_NOBODY = PersonTally(0, 0, 0, None, ())


def overview(store: Store, who: Person, *, now: datetime | None = None) -> Overview:
    """Return where the work stands.

    Raises:
        NotAllowedError: ``who`` may not see labels; annotators see their own ``progress``.
    """
    require(who, Right.SEE_LABELS)
    people = people_kept.people(store)
    names = {person.id: person.name for person in people}
    return Overview(
        samples=_samples(store, names, now or datetime.now(UTC)),
        people=_people(store, people),
        days=tuple(
            DayLine(day, names[person], count) for day, person, count in labels_by_day(store)
        ),
    )


def _samples(store: Store, names: dict[int, str], now: datetime) -> tuple[SampleLine, ...]:
    tallies = sample_tallies(store, now)
    sizes = samples_kept.item_counts(store)
    out = []
    for sample in reversed(samples_kept.samples(store)):
        tally, overlap = tallies.get(sample.key, _NOTHING), sample.design.overlap
        n_items = sizes.get(sample.key, 0)
        out.append(
            SampleLine(
                sample=sample,
                n_items=n_items,
                wanted=n_items * overlap,
                given=tally.states.get(DONE, 0),
                complete=sum(n for labels, n in tally.labelled.items() if labels >= overlap),
                skipped=tally.states.get(SKIPPED, 0),
                in_hands=tally.states.get(OPEN, 0) - tally.abandoned,
                abandoned=tally.abandoned,
                repeats=tally.repeats,
                decided=tally.decided,
                people=tuple(names[person] for person in sample.people),
            )
        )
    return tuple(out)


def _people(store: Store, people: Sequence[Person]) -> tuple[PersonLine, ...]:
    tallies = person_tallies(store)
    out = []
    for person in sorted(people, key=lambda one: one.name):
        tally = tallies.get(person.id, _NOBODY)
        out.append(
            PersonLine(
                name=person.name,
                role=person.role,
                retired=person.retired,
                labels=tally.labels,
                skips=tally.skips,
                undone=tally.undone,
                median_s=float(np.median(tally.active_ms)) / 1000 if tally.active_ms else None,
                last=tally.last,
            )
        )
    return tuple(out)
