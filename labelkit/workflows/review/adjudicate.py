"""Cases on which people, or people and judges, part: a queue, one case, a decision.

Names stay hidden until a case is decided, and what rules and judges said is shown on demand only;
that it was opened is recorded with the decision. A decision never changes a label: it is a row of
its own, and another one on the same case is a new version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np

from labelkit.domain.adjudication import Decision
from labelkit.domain.person import Person
from labelkit.domain.sample import Sample, SampleItem
from labelkit.errors import InputError
from labelkit.store import Store
from labelkit.store import adjudications as kept
from labelkit.store import people as people_kept
from labelkit.store import samples as samples_kept
from labelkit.store.annotations import given_on
from labelkit.store.submissions import Fate
from labelkit.workflows.one_trace import TraceView
from labelkit.workflows.review.access import Right, require
from labelkit.workflows.review.assignment import blind_view
from labelkit.workflows.review.effect import expected_effects
from labelkit.workflows.review.machines import read_machines
from labelkit.workflows.review.opinions import (
    MachineOpinion,
    Opinion,
    latest,
    machine_opinions,
    opinions,
)
from labelkit.workflows.review.reading import agreed, read_people
from labelkit.workflows.review.schemes import QuestionForm, rubric_in
from labelkit.workflows.rows import Codes
from labelkit.workflows.rubric_choice import question_of

DISAGREEMENT = "disagreement"
JUDGE_CONFLICT = "judge_conflict"
FLAG = "flagged"
SKIP = "skipped"
CASE = "case"
"""What a sighting is called when the labels of people were seen."""
_HOLD = timedelta(days=30)
_MOST_TAGS = 20
_LONGEST = 20_000

__all__ = ["Case", "CaseLine", "Decision", "Fate", "MachineOpinion", "Opinion", "Verdict"]


@dataclass(frozen=True)
class CaseLine:
    """One case in the queue.

    Args:
        item: names the case, with the question.
        trace: digest.
        stratum: of the sample.
        reasons: ``disagreement``, ``judge_conflict``, ``flagged``, ``skipped``.
        effect: expected change of the published rates, as a share; see ``effect``.
        n_labels: labels by people in force.
        decided: the decision in force, or None.
    """

    item: int
    trace: str
    stratum: str
    reasons: tuple[str, ...]
    effect: float
    n_labels: int
    decided: Decision | None


@dataclass(frozen=True)
class Case:
    """One item and question with everything on the table.

    ``question`` has the labels that apply. ``history`` holds every decision, oldest first, and
    ``decided`` the one in force. ``view`` is blind as for annotators.
    """

    sample: str
    item: int
    trace: str
    stratum: str
    probability: float
    view: TraceView
    question: QuestionForm
    guideline: str
    opinions: tuple[Opinion, ...]
    machines: tuple[MachineOpinion, ...]
    decided: Decision | None
    history: tuple[Decision, ...]
    names: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """A decision to be made.

    Args:
        request_id: made by the page once per decision.
        sample: id of the sample.
        item: ``Case.item``.
        question: ``Case.question.id``.
        value: a label that applies, or None: no label does.
        reason: why; not empty.
        tags: names of failure clusters.
        guideline_gap: the guideline did not settle the case.
        version: ``len(Case.history)``: what the person has seen is all there is.
    """

    request_id: str
    sample: str
    item: int
    question: str
    value: str | None
    reason: str
    tags: Sequence[str] = ()
    guideline_gap: bool = False
    version: int = 0


def queue(
    store: Store,
    who: Person,
    sample_id: str,
    question: str | None = None,
    *,
    decided: bool = False,
) -> tuple[CaseLine, ...]:
    """Return the cases of a sample, those with the largest expected effect first.

    Args:
        store: an open store.
        who: an adjudicator or admin.
        sample_id: id or prefix.
        question: default the sample's question.
        decided: also cases that are decided, after the open ones.

    Raises:
        NotAllowedError: ``who`` may not decide.
        InputError: no such question.
    """
    require(who, Right.ADJUDICATE)
    sample = samples_kept.sample(store, sample_id)
    people = read_people(store, sample, question)
    machines = read_machines(store, people)
    effects = expected_effects(people, machines)
    common = agreed(people)
    labelled = people.current >= 0
    marks = {
        DISAGREEMENT: _differ(people.current),
        JUDGE_CONFLICT: (common >= 0) & (machines.ensemble >= 0) & (common != machines.ensemble),
        FLAG: people.flagged.any(axis=1),
        SKIP: people.skipped.any(axis=1),
    }
    made = {one.item: one for one in kept.decisions(store, sample.key, people.question.id)}
    lines = []
    for place in np.flatnonzero(np.any(list(marks.values()), axis=0)).tolist():
        item = int(people.items.key[place])
        line = CaseLine(
            item=item,
            trace=str(people.items.digest[place]),
            stratum=str(people.items.stratum[place]),
            reasons=tuple(name for name, mask in marks.items() if mask[place]),
            effect=float(effects[place]),
            n_labels=int(labelled[place].sum()),
            decided=made.get(item),
        )
        if decided or line.decided is None:
            lines.append(line)
    lines.sort(key=lambda line: (line.decided is not None, -line.effect, line.item))
    return tuple(lines)


def case(store: Store, who: Person, sample_id: str, item: int, question: str | None = None) -> Case:
    """Return one case; that the person has seen the labels is recorded.

    Afterwards the item is never offered to the person for blind labelling.

    Raises:
        NotAllowedError: ``who`` may not decide.
        InputError: no such item or question, or the person has the item in hands to label.
    """
    require(who, Right.ADJUDICATE)
    sample = samples_kept.sample(store, sample_id)
    found = _item(store, sample, item)
    if kept.in_hands(store, item, who.id):
        raise InputError(
            "you have this item in hands to label; label it or give it back before you see what"
            " others said"
        )
    kept.note_sightings(store, who.id, [found.trace], CASE, datetime.now(UTC))
    rubric = rubric_in(store, sample.guideline)
    asked = question_of(rubric, question or sample.design.question)
    view, subset = blind_view(store, rubric, found.trace)
    names = asked.labels_for(subset)
    history = tuple(kept.decisions(store, sample.key, asked.id, item=item, history=True))
    shown = bool(history)
    people = {person.id: person.name for person in people_kept.people(store)}
    return Case(
        sample=sample.id,
        item=item,
        trace=found.trace,
        stratum=found.stratum,
        probability=found.probability,
        view=view,
        question=QuestionForm(
            asked.id,
            asked.type,
            asked.text,
            tuple(d for d in asked.labels if d.name in names),
        ),
        guideline=rubric.guideline,
        opinions=opinions(sample, item, latest(given_on(store, item, asked.id)), people, shown),
        machines=machine_opinions(store, who, sample, found.trace, asked.id, shown=shown),
        decided=history[-1] if history else None,
        history=history,
        names={d.person: people[d.person] for d in history},
    )


def reveal(
    store: Store, who: Person, sample_id: str, item: int, rater: str, question: str | None = None
) -> MachineOpinion:
    """Open what a rule or judge said on a case, and record that it was seen.

    Raises:
        NotAllowedError: ``who`` may not decide.
        InputError: the rater said nothing on this case.
    """
    require(who, Right.ADJUDICATE)
    sample = samples_kept.sample(store, sample_id)
    found = _item(store, sample, item)
    asked = question or sample.design.question
    known = {
        one.rater for one in machine_opinions(store, who, sample, found.trace, asked, shown=False)
    }
    if rater not in known:
        raise InputError(f"no rule or judge {rater[:12]} has labelled this item for {asked!r}")
    kept.note_sightings(store, who.id, [found.trace], rater, datetime.now(UTC))
    opened = machine_opinions(store, who, sample, found.trace, asked, shown=False)
    return next(one for one in opened if one.rater == rater)


def decide(store: Store, who: Person, verdict: Verdict, *, now: datetime | None = None) -> Fate:
    """Store a decision: ``stored``, ``repeated`` (a double click), or ``already``.

    ``already``: somebody decided meanwhile; load the case again. Nothing was written.

    Raises:
        NotAllowedError: ``who`` may not decide.
        InputError: no reason, a value that does not apply, too many or too long tags.
    """
    require(who, Right.ADJUDICATE)
    sample = samples_kept.sample(store, verdict.sample)
    found = _item(store, sample, verdict.item)
    rubric = rubric_in(store, sample.guideline)
    asked = question_of(rubric, verdict.question)
    _, subset = blind_view(store, rubric, found.trace)
    allowed = asked.labels_for(subset)
    if verdict.value is not None and verdict.value not in allowed:
        raise InputError(
            f"{verdict.value!r} is no label of question {asked.id!r} here; choose one of:"
            f" {', '.join(allowed)}"
        )
    reason, tags = _reason(verdict.reason), _tags(verdict.tags)
    given = latest(given_on(store, verdict.item, asked.id))
    seen = [what for what in kept.sightings(store, who.id, found.trace) if what != CASE]
    return kept.decide(
        store,
        kept.Ruling(
            request_id=verdict.request_id,
            sample=sample.key,
            item=verdict.item,
            question=asked.id,
            version=verdict.version,
            person=who.id,
            value=verdict.value,
            reason=reason,
            tags=tags,
            guideline_gap=verdict.guideline_gap,
            labels=[one.label_id for one in given],
            seen=seen,
            now=now or datetime.now(UTC),
        ),
    )


def send_back(
    store: Store,
    who: Person,
    sample_id: str,
    item: int,
    message: str,
    *,
    now: datetime | None = None,
) -> int:
    """Give an item back to those who labelled it, with a message; returns how many.

    What they say then is in force but no independent label: agreement keeps the first ones.

    Raises:
        NotAllowedError: ``who`` may not decide.
        InputError: no message, or no such item.
    """
    require(who, Right.ADJUDICATE)
    sample = samples_kept.sample(store, sample_id)
    _item(store, sample, item)
    moment = now or datetime.now(UTC)
    return kept.ask_again(store, sample.key, item, _reason(message), moment, moment + _HOLD)


def known_tags(store: Store, who: Person) -> dict[str, int]:
    """Return the failure-cluster tags given so far with their counts, most frequent first."""
    require(who, Right.ADJUDICATE)
    return kept.tag_counts(store)


def decisions(
    store: Store, who: Person, sample_id: str, *, history: bool = False
) -> list[Decision]:
    """Return the decisions of a sample in force (every question); with ``history`` all of them."""
    require(who, Right.SEE_LABELS)
    return kept.decisions(store, samples_kept.sample(store, sample_id).key, history=history)


def saw_labels(store: Store, who: Person, traces: Sequence[str]) -> None:
    """Record that a page showed the person what others said of traces (digests).

    Pages that show labels outside a case call this, before they show them: the traces are not
    offered blind any more, and those in hands unlabelled go back to the pool.
    """
    kept.note_sightings(store, who.id, traces, CASE, datetime.now(UTC))


def _item(store: Store, sample: Sample, item: int) -> SampleItem:
    found = samples_kept.item(store, sample.key, item)
    if found is None:
        raise InputError(f"the sample {sample.id[:12]} has no item {item}; load the queue again")
    return found


def _differ(codes: Codes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Items to which people gave two different labels."""
    labelled = codes >= 0
    high = np.where(labelled, codes, -1).max(axis=1, initial=-1)
    low = np.where(labelled, codes, np.iinfo(np.int32).max).min(axis=1, initial=2**31 - 1)
    return np.asarray((labelled.sum(axis=1) > 1) & (high != low))


def _reason(text: str) -> str:
    if not text.strip():
        raise InputError("give a reason; whoever reads the decision later needs it")
    return text.strip()[:_LONGEST]


def _tags(tags: Sequence[str]) -> list[str]:
    cleaned = list(dict.fromkeys(" ".join(tag.split()) for tag in tags if tag.strip()))
    if len(cleaned) > _MOST_TAGS or any(len(tag) > 80 for tag in cleaned):
        raise InputError(f"at most {_MOST_TAGS} tags of 80 characters can be kept")
    return cleaned
