"""Samples for people: planned, drawn once, frozen, given to people.

The sizes come from Cochran's formula with the finite-population correction, the split and the
draw from ``labelkit.stats``. The same arguments on the same store give the same sample, so drawing
twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.person import Person
from labelkit.domain.rubric import Question, Rubric
from labelkit.domain.sample import AllocationMethod, Design, DrawMethod, Sample, StratumDraw
from labelkit.errors import InputError
from labelkit.stats.draws import Draw, mixed_draw, stratified_draw, stratified_mixed_draw
from labelkit.store import Store
from labelkit.store import people as people_kept
from labelkit.store import samples as kept
from labelkit.store.raters import add_rubric
from labelkit.workflows.plan import Plan, Spread, Wish, plan_sample
from labelkit.workflows.review.access import Right, require
from labelkit.workflows.review.frame import Frame, frame_digest, read_frame, uncertainty_of
from labelkit.workflows.review.lean import Lean, lean_of
from labelkit.workflows.review.schemes import rubric_in
from labelkit.workflows.rubric_choice import question_of

_SEED_AGAIN = 0x0A6A
_GAP = (8, 25)
"""A hidden repeat comes after 8 to 24 other labels of the person."""


@dataclass(frozen=True)
class Wanted:
    """What a sample should be; every part of it is part of the sample's identity.

    Args:
        question: default the rubric's primary question.
        margin: half-width of the interval, as a share.
        confidence: of the interval.
        n: rows to draw, instead of what the margin needs.
        strata: model, condition, domain, subset, task_set, ensemble, disagreement, or any tag.
        allocation: how rows are split over strata.
        minimum: rows every stratum gets at least (or all that it has).
        method: within strata ``uniform``, or ``mixed``: half of the rows by uncertainty.
        overlap: how many people label every item.
        repeats_share: share of the items that are shown once more, hidden.
        seed: of the draw.
    """

    question: str | None = None
    margin: float = 0.05
    confidence: float = 0.95
    n: int | None = None
    strata: tuple[str, ...] = ()
    allocation: AllocationMethod = "proportional"
    minimum: int = 2
    method: DrawMethod = "uniform"
    overlap: int = 2
    repeats_share: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class SamplePlan:
    """A sample before it is drawn.

    Args:
        plan: size, split and expected half-widths, by stratum.
        labels: labels people have to give: items times overlap, and hidden repeats.
        excluded: rows of the rubric that cannot be drawn, by reason.
        id: the id the sample will have.
        exists: whether it has been drawn already.
        lean: of a mixed draw; None of a uniform one.
    """

    plan: Plan
    labels: int
    excluded: dict[str, int]
    id: str
    exists: bool
    lean: Lean | None = None


def plan(store: Store, who: Person | None, rubric: Rubric, wanted: Wanted) -> SamplePlan:
    """Return what ``draw`` would do; nothing is written.

    Args:
        store: an open store.
        who: an admin; None from the command line.
        rubric: the rubric to label by.
        wanted: margin, strata, overlap ...

    Raises:
        NotAllowedError: ``who`` is no admin.
        InputError: nothing can be drawn, or the wishes do not fit together.
        StatisticsError: numbers that no sample can have.
    """
    prepared = _prepare(store, who, rubric, wanted)
    known = {sample.id for sample in kept.samples(store)}
    repeats = round(wanted.repeats_share * prepared.plan.n) * wanted.overlap
    return SamplePlan(
        prepared.plan,
        prepared.plan.n * wanted.overlap + repeats,
        prepared.frame.excluded,
        prepared.design.digest,
        prepared.design.digest in known,
        prepared.lean(),
    )


def draw(
    store: Store,
    who: Person | None,
    rubric: Rubric,
    wanted: Wanted,
    *,
    people: Sequence[str] = (),
) -> Sample:
    """Draw and keep a sample, or return the one that the same arguments drew before.

    Args:
        store: an open store.
        who: an admin; None from the command line.
        rubric: the rubric to label by; it is frozen in the store.
        wanted: margin, strata, overlap ...
        people: names of those who may label it; nobody named means everybody. Only used when the
            sample is new.

    Raises:
        As ``plan``; InputError for unknown names or fewer people than the overlap.
    """
    prepared = _prepare(store, who, rubric, wanted)
    ids = _people(store, people, prepared.design.overlap)
    draw = prepared.draw()
    again = _again(draw.rows, wanted)
    frame = prepared.frame
    items = [
        (
            int(frame.ids[place]),
            frame.names[int(frame.strata[place])],
            float(draw.probabilities[place]),
            again.get(int(place)),
        )
        for place in draw.rows.tolist()
    ]
    add_rubric(store, rubric)
    last = int(frame.ids.max())
    new = kept.add_sample(
        store, prepared.design, last, items, created_by=None if who is None else who.id
    )
    sample = kept.sample(store, prepared.design.digest)
    if new and ids:
        kept.set_people(store, sample.key, ids)
    return kept.sample(store, sample.id)


def sample(store: Store, id_or_prefix: str) -> Sample:
    """Return a sample by id or prefix (StoreError: none, or several)."""
    return kept.sample(store, id_or_prefix)


def every_sample(store: Store, who: Person | None) -> list[Sample]:
    """Return all samples, oldest first (those who see labels; None from the command line)."""
    if who is not None:
        require(who, Right.SEE_LABELS)
    return kept.samples(store)


def give_to(store: Store, who: Person, sample_id: str, names: Sequence[str]) -> Sample:
    """Say who may label a sample; no names mean everybody. What people have in hands they keep."""
    require(who, Right.MANAGE_SAMPLES)
    found = kept.sample(store, sample_id)
    kept.set_people(store, found.key, _people(store, names, found.design.overlap))
    return kept.sample(store, found.id)


def set_open(store: Store, who: Person, sample_id: str, *, is_open: bool) -> Sample:
    """Close a sample (no more items are given out; those in hands may be finished), or open it."""
    require(who, Right.MANAGE_SAMPLES)
    found = kept.sample(store, sample_id)
    kept.set_open(store, found.key, is_open=is_open)
    return kept.sample(store, found.id)


def adopt_guideline(store: Store, who: Person, sample_id: str, rubric: Rubric) -> Sample:
    """Put a later text of the rubric in force for labels to come; earlier ones keep theirs.

    Raises:
        InputError: the questions or labels differ, so that old and new labels would not mean
            the same; draw a new sample then.
    """
    require(who, Right.MANAGE_SAMPLES)
    found = kept.sample(store, sample_id)
    if _label_sets(rubric) != _label_sets(rubric_in(store, found.design.rubric_digest)):
        raise InputError(
            f"{rubric.name} {rubric.version} has other questions or labels than the sample was"
            " drawn for; draw a new sample with it"
        )
    add_rubric(store, rubric)
    kept.set_guideline(store, found.key, rubric.digest)
    return kept.sample(store, found.id)


def _label_sets(rubric: Rubric) -> list[tuple[str, str, list[tuple[str, tuple[str, ...]]]]]:
    return [
        (question.id, question.type, [(d.name, d.subsets) for d in question.labels])
        for question in rubric.questions
    ]


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A frame with its plan, ready to be drawn."""

    frame: Frame
    plan: Plan
    design: Design
    uncertainty: NDArray[np.float64] | None
    allocation: tuple[int, ...]

    def draw(self) -> Draw:
        """Draw with the seed of the design."""
        seed, uniform = self.design.seed, self.design.uniform
        if self.uncertainty is None:
            return stratified_draw(self.frame.strata, self.allocation, seed=seed)
        if not self.design.strata:
            return mixed_draw(self.uncertainty, self.plan.n, uniform=uniform, seed=seed)
        return stratified_mixed_draw(
            self.uncertainty, self.frame.strata, self.allocation, uniform=uniform, seed=seed
        )

    def lean(self) -> Lean | None:
        """Say how far a mixed draw leans."""
        if self.uncertainty is None:
            return None
        even = stratified_draw(self.frame.strata, self.allocation, seed=self.design.seed)
        return lean_of(self.draw(), even, self.uncertainty > 0, self.design.confidence)


def _prepare(store: Store, who: Person | None, rubric: Rubric, wanted: Wanted) -> _Prepared:
    if who is not None:
        require(who, Right.MANAGE_SAMPLES)
    _check(wanted)
    question = _question(rubric, wanted.question)
    frame = read_frame(store, rubric, question, wanted.strata)
    if not len(frame):
        left_out = ", ".join(f"{n} {reason}" for reason, n in frame.excluded.items())
        raise InputError(
            f"no trace can be drawn for {rubric.name}"
            + (f" ({left_out})" if left_out else "; import traces first")
        )
    wish = Wish(wanted.margin, wanted.confidence, population=len(frame), n=wanted.n)
    mixed = wanted.method == "mixed"
    uncertainty = uncertainty_of(frame, len(question.labels)) if mixed else None
    if wanted.strata:
        made, minimum = _stratified(wish, frame, question, wanted)
    else:
        made, minimum = plan_sample(wish), 0
    allocation = tuple(part.n for part in made.strata) or (made.n,)
    design = Design(
        rubric=rubric.name,
        rubric_version=rubric.version,
        rubric_digest=rubric.digest,
        question=question.id,
        margin=wanted.margin,
        confidence=wanted.confidence,
        n=made.n,
        overlap=wanted.overlap,
        strata=tuple(dict.fromkeys(wanted.strata)),
        allocation=wanted.allocation,
        minimum=minimum,
        method=wanted.method,
        uniform=0.5 if mixed else 1.0,
        repeats_share=wanted.repeats_share,
        seed=wanted.seed,
        frame_digest=frame_digest(frame, uncertainty),
        frame_size=len(frame),
        excluded=frame.excluded,
        drawn=tuple(
            StratumDraw(name=name, size=size, n=n)
            for (name, size), n in zip(frame.sizes.items(), allocation, strict=True)
        ),
    )
    return _Prepared(frame, made, design, uncertainty, allocation)


def _check(wanted: Wanted) -> None:
    if wanted.overlap < 1:
        raise InputError("an overlap of 1 or more people per item is needed")
    if not 0 <= wanted.repeats_share <= 1:
        raise InputError(f"{wanted.repeats_share} is no share; write 0.05 for 5% hidden repeats")


def _question(rubric: Rubric, name: str | None) -> Question:
    """The question that a sample is drawn for: one that people answer, or that follows from it."""
    question = question_of(rubric, name)
    if not question.is_for("person"):
        known = ", ".join(q.id for q in rubric.questions if q.is_for("person"))
        raise InputError(
            f"people are not asked {question.id!r} of rubric {rubric.name}, so no sample can be "
            f"drawn for it; choose one of: {known}"
        )
    return question


def _stratified(wish: Wish, frame: Frame, question: Question, wanted: Wanted) -> tuple[Plan, int]:
    """Plan over strata: every stratum gets a row, else its rows could not be weighted back.

    Returns:
        The plan, and the minimum that fitted: fewer than asked for where n is small.
    """
    sizes = frame.sizes
    whole = plan_sample(wish)
    if whole.n < len(sizes):
        raise InputError(
            f"{whole.n} rows are too few for {len(sizes)} strata; ask for a smaller margin, for"
            f" --n {2 * len(sizes)} or more, or split by less"
        )
    if wanted.allocation == "equal":
        return plan_sample(wish, sizes, Spread("equal")), 0
    minimum = max(1, wanted.minimum)
    while sum(min(minimum, size) for size in sizes.values()) > whole.n:
        minimum -= 1
    spread = Spread(wanted.allocation, minimum)
    if wanted.allocation == "neyman":
        spread = replace(spread, sds=_spreads(frame, question))
    return plan_sample(wish, sizes, spread), minimum


def _spreads(frame: Frame, question: Question) -> dict[str, float]:
    """Standard deviation of the raters' labels in every stratum, for Neyman's allocation.

    sqrt(sum p (1 - p)) over the shares of the labels that rules and judges gave there; a stratum
    without labels counts as wholly uncertain.
    """
    if not frame.votes:
        raise InputError(
            "Neyman's allocation needs labels of a rule or judge to know how strata differ; run"
            " `labelkit judge` first, or allocate in proportion"
        )
    q = len(question.labels)
    counts = np.zeros((len(frame.names), q))
    for column in frame.votes:
        labelled = column.codes >= 0
        np.add.at(counts, (frame.strata[labelled], column.codes[labelled]), 1)
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.full_like(counts, 1 / q), where=total > 0)
    spread = (share * (1 - share)).sum(axis=1)
    return {name: sqrt(float(s)) for name, s in zip(frame.names, spread, strict=True)}


def _again(rows: NDArray[np.int64], wanted: Wanted) -> dict[int, int]:
    """Choose the hidden repeats, and after how many other labels each comes."""
    n = round(wanted.repeats_share * len(rows))
    generator = np.random.default_rng([wanted.seed, _SEED_AGAIN])
    chosen = generator.choice(rows, size=n, replace=False)
    gaps = generator.integers(*_GAP, size=n)
    return dict(zip(chosen.tolist(), gaps.tolist(), strict=True))


def _people(store: Store, names: Sequence[str], overlap: int) -> list[int]:
    ids = []
    for name in names:
        found = people_kept.person_named(store, name)
        if found is None or found[0].retired:
            raise InputError(f"there is no active person {name!r}; see `labelkit people list`")
        ids.append(found[0].id)
    if ids and len(set(ids)) < overlap:
        raise InputError(
            f"{len(set(ids))} people cannot give {overlap} labels per item; name {overlap} or more"
        )
    return ids
