"""The next item for a person, blind: the trace and the questions, nothing anybody said about it.

Blindness is made here. An offer is built from the trace alone, without labels, without the model's
name, and without tags but the subset, because tags may hold what the author expects or a judge
said. A hidden repeat looks like any other item. Items whose labels a person has seen are never
offered to that person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np

from labelkit.digest import digest
from labelkit.domain.person import Person
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Sample
from labelkit.domain.trace import tags_of
from labelkit.store import Store
from labelkit.store import leases as kept
from labelkit.store import samples as samples_kept
from labelkit.store.pace import SamplePace, pace
from labelkit.store.submissions import draft
from labelkit.store.traces import row
from labelkit.workflows.one_trace import TraceView, trace_view
from labelkit.workflows.review.access import NotAllowedError, Right, require
from labelkit.workflows.review.drafts import Draft, read_draft
from labelkit.workflows.review.schemes import QuestionForm, forms, rubric_in

LEASE = timedelta(minutes=45)
"""An item left alone for so long returns to the pool when somebody needs work."""

_SHOWN = frozenset({"state", "finish reason"})


@dataclass(frozen=True)
class Offer:
    """An item in a person's hands, with everything the page shows.

    Args:
        lease: names the item in every act on it.
        sample: id of the sample.
        trace: digest of the trace; acts must name it too.
        view: the trace without labels; ``ratings`` is empty.
        view_digest: digest of exactly what is shown; goes into the label.
        questions: what is asked, with the labels that apply here; a question may have none when
            the task was imported in another version since the draw, and only a skip is left.
        guideline: the rubric's text for people.
        guideline_version: rubric name, version and digest prefix.
        message: why an adjudicator sent the item back; else empty.
        draft: what the person had begun to say, or None.
        done: items of this sample the person has finished.
        expires_at: when the item may go to somebody else; each load of the page renews it.
    """

    lease: int
    sample: str
    trace: str
    view: TraceView
    view_digest: str
    questions: tuple[QuestionForm, ...]
    guideline: str
    guideline_version: str
    message: str
    draft: Draft | None
    done: int
    expires_at: datetime


def samples_for(store: Store, who: Person) -> list[Sample]:
    """Return the open samples that the person may label, oldest first."""
    require(who, Right.LABEL)
    every = samples_kept.samples(store)
    return [s for s in every if s.open and (not s.people or who.id in s.people)]


def next_item(
    store: Store, who: Person, sample_id: str, *, now: datetime | None = None
) -> Offer | None:
    """Return the item in the person's hands, else the next one; None when nothing is left.

    Reloading gives the same item and draft. Safe under any number of people and processes.

    Raises:
        NotAllowedError: the person may not label this sample.
        StoreError: there is no such sample.
    """
    sample = samples_kept.sample(store, sample_id)
    check_may_label(who, sample)
    moment = now or datetime.now(UTC)
    if not sample.open:
        lease = kept.in_hands(store, sample.key, who.id)
    else:
        lease = kept.take(store, _turn(sample, who, moment))
    return None if lease is None else _offer(store, sample, lease)


def give_back(store: Store, who: Person, lease: int) -> bool:
    """Return an item to the pool unlabelled; the person gets it again last. False: not in hands.

    The draft is kept.
    """
    require(who, Right.LABEL)
    held = kept.lease(store, lease)
    if held is None or held.person != who.id or held.state != kept.OPEN:
        return False
    return kept.give_back(store, held.sample, lease)


def check_may_label(who: Person, sample: Sample) -> None:
    """Refuse a person who is not among those the sample was given to."""
    require(who, Right.LABEL)
    if sample.people and who.id not in sample.people:
        raise NotAllowedError(
            f"the sample {sample.id[:12]} was given to others; ask an admin to add {who.name!r}"
        )


@dataclass(frozen=True)
class Progress:
    """How far a person and the sample are.

    Args:
        done: items the person has finished.
        skipped: items the person has skipped.
        wanted: labels the sample needs (items times overlap).
        given: labels it has from everybody.
        left: items the person could still get, were nobody else at work.
        median_s: the person's median active seconds per item, of the last 50; None before any.
        today: items the person has finished in the last 24 hours.
    """

    done: int
    skipped: int
    wanted: int
    given: int
    left: int
    median_s: float | None
    today: int


def progress(store: Store, who: Person, sample_id: str, *, now: datetime | None = None) -> Progress:
    """Return the person's own progress and pace, and how far the sample is."""
    require(who, Right.LABEL)
    sample = samples_kept.sample(store, sample_id)
    moment = now or datetime.now(UTC)
    found: SamplePace = pace(store, sample.key, who.id, moment - timedelta(days=1))
    return Progress(
        done=found.done,
        skipped=found.skipped,
        wanted=sample.design.n * sample.design.overlap,
        given=found.given,
        left=max(0, sample.design.n - found.had),
        median_s=float(np.median(found.active_ms)) / 1000 if found.active_ms else None,
        today=found.recent,
    )


def _turn(sample: Sample, who: Person, now: datetime) -> kept.Turn:
    return kept.Turn(
        sample=sample.key,
        person=who.id,
        overlap=sample.design.overlap,
        order=_order(sample.design.seed, sample.id, who.id, sample.design.n),
        now=now,
        length=LEASE,
        repeats=sample.design.repeats_share > 0,
    )


@lru_cache(maxsize=256)
def _order(seed: int, sample: str, person: int, n: int) -> Sequence[int]:
    """The person's own order of positions, the same after every restart."""
    generator = np.random.default_rng([seed, int(sample[:15], 16), person])
    return tuple(generator.permutation(n).tolist())


def _offer(store: Store, sample: Sample, lease: kept.Lease) -> Offer:
    rubric = rubric_in(store, sample.guideline)
    view, subset = blind_view(store, rubric, lease.trace)
    begun = draft(store, lease.key)
    return Offer(
        lease=lease.key,
        sample=sample.id,
        trace=lease.trace,
        view=view,
        view_digest=digest([rubric.digest, asdict(view)]),
        questions=forms(rubric, subset),
        guideline=rubric.guideline,
        guideline_version=f"{rubric.name} {rubric.version} ({rubric.digest[:12]})",
        message=lease.message,
        draft=None if begun is None else read_draft(begun),
        done=kept.count_done(store, sample.key, lease.person),
        expires_at=lease.expires_at,
    )


def blind_view(store: Store, rubric: Rubric, trace: str) -> tuple[TraceView, str | None]:
    """Return a trace as an annotator may see it, and its subset."""
    found, task = row(store, trace)
    tags = tags_of(found, task)
    subset = rubric.subset_of(tags)
    view = trace_view(found, task)
    facts = [fact for fact in view.facts if fact[0] in _SHOWN]
    if subset is not None:
        facts.append((rubric.subset_tag, subset))
    # The author's note says what the task is a trap for.
    reference = tuple(pair for pair in view.reference if pair[0] != "note")
    return replace(view, facts=tuple(facts), reference=reference, ratings=()), subset
