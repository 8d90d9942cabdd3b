"""What an annotator does to an item: draft, submit, skip, undo; each one a repeatable write.

A choice carries its own trace and request id. It is stored in one transaction before the next
item can be asked for, so a double click, a second tab or a killed server neither loses a label nor
doubles it nor gives it to another trace. Labels of people lie in the same table as everybody's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from labelkit.domain.label import Evidence, Label, Outcome
from labelkit.domain.person import Person
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Sample
from labelkit.errors import InputError
from labelkit.grounding.evidence import resolve_quote
from labelkit.judging.verdict import derive
from labelkit.store import Store, leases, samples, submissions
from labelkit.store.annotations import last_labels
from labelkit.store.leases import Lease
from labelkit.store.submissions import Act, Entry, Fate, Receipt
from labelkit.store.traces import row, trace_tags
from labelkit.workflows.one_trace import parts_of, trace_view
from labelkit.workflows.review.access import Right, require
from labelkit.workflows.review.assignment import LEASE, check_may_label
from labelkit.workflows.review.drafts import Draft, Quote
from labelkit.workflows.review.schemes import rater_of, rubric_in

FLAGGED = "flagged"
"""The label flag that sends an item to adjudication."""
SKIPPED = "skipped"
UNDONE = "undone"
_MOST_MS = 30 * 60 * 1000

__all__ = ["Choice", "Draft", "Fate", "Quote", "Receipt"]


@dataclass(frozen=True)
class Choice:
    """What a person decided about one item.

    Args:
        request_id: made by the page once per choice; the same id again changes nothing.
        lease: ``Offer.lease``.
        trace: ``Offer.trace``; refused where the lease is for another one.
        said: the answers for every question of the offer, note, flag, quotes, active time.
        view_digest: ``Offer.view_digest``.
    """

    request_id: str
    lease: int
    trace: str
    said: Draft
    view_digest: str | None = None


def submit(store: Store, who: Person, choice: Choice, *, now: datetime | None = None) -> Receipt:
    """Store a choice in one transaction; the lease is done and its draft gone.

    Returns:
        ``stored``, or ``repeated`` / ``already`` when a double click or another tab had stored
        it, or ``lost`` when the lease had expired and enough others took the item (the draft
        stays). In all four cases ask for the next item.

    Raises:
        InputError: an answer is missing or no label of its question.
        NotAllowedError: the person may not label.
        StoreError: the lease is another person's or for another trace.
    """
    held, sample = _held(store, who, choice.lease)
    said, moment = choice.said, now or datetime.now(UTC)
    said.body()
    rubric = rubric_in(store, sample.guideline)
    subset = rubric.subset_of(trace_tags(store, held.trace) or {})
    answers = _checked(rubric, subset, said.answers)
    # A choice on another trace is refused by the store; its quotes mean nothing here.
    quotes = said.quotes if choice.trace == held.trace else ()
    common: dict[str, Any] = {
        "trace": held.trace,
        "rater": rater_of(store, who, rubric).digest,
        "repeat": held.repeat,
        "rationale": said.note.strip() or None,
        "confidence": said.confidence,
        "evidence": resolve(store, held.trace, quotes),
        "view": choice.view_digest,
        "created_at": moment,
    }
    flags = (FLAGGED,) if said.flagged else ()
    labels = [
        Label(question=name, outcome=Outcome.LABELLED, value=value, flags=flags, **common)
        for name, value in answers.items()
    ]
    labels += _derived(rubric, subset, answers, flags, common)
    entry = Entry(
        request_id=choice.request_id,
        lease=held.key,
        sample=held.sample,
        person=who.id,
        overlap=sample.design.overlap,
        trace=choice.trace,
        act=Act.LABEL,
        labels=labels,
        guideline=rubric.digest,
        active_ms=_active(said.active_ms, held, moment),
        now=moment,
        length=LEASE,
    )
    return submissions.write(store, entry)


def skip(
    store: Store,
    who: Person,
    choice: Choice,
    reason: str,
    *,
    now: datetime | None = None,
) -> Receipt:
    """Leave an item to others, with a reason; the person is not offered it again.

    It is kept as an abstention, which is a state and never a label. ``choice.said`` needs no
    answers; its note is kept.

    Raises:
        InputError: no reason.
        NotAllowedError, StoreError: as ``submit``.
    """
    if not reason.strip():
        raise InputError("say why you skip the item, for example 'the result is in Chinese'")
    held, sample = _held(store, who, choice.lease)
    moment = now or datetime.now(UTC)
    rubric = rubric_in(store, sample.guideline)
    why = f"{SKIPPED}: {' '.join(reason.split())[:500]}"
    entry = Entry(
        request_id=choice.request_id,
        lease=held.key,
        sample=held.sample,
        person=who.id,
        overlap=sample.design.overlap,
        trace=choice.trace,
        act=Act.SKIP,
        labels=[
            Label(
                trace=held.trace,
                rater=rater_of(store, who, rubric).digest,
                question=question.id,
                outcome=Outcome.ABSTAINED,
                reason=why,
                repeat=held.repeat,
                rationale=choice.said.note.strip() or None,
                view=choice.view_digest,
                created_at=moment,
            )
            for question in rubric.questions
            if question.is_for("person")
        ],
        guideline=rubric.digest,
        active_ms=_active(choice.said.active_ms, held, moment),
        now=moment,
        length=LEASE,
    )
    return submissions.write(store, entry)


def undo(
    store: Store, who: Person, sample_id: str, request_id: str, *, now: datetime | None = None
) -> Receipt | None:
    """Take back the person's last act in a sample; ``next_item`` then gives that item again.

    The label is withdrawn by a new version (an abstention, reason ``undone``); what was said is
    the item's draft. Nothing is erased. None when there is nothing to take back; ``Fate.SEEN``
    when the person has seen others' labels on the item since, so that the own one stays.

    Raises:
        NotAllowedError, StoreError: as ``submit``.
    """
    sample = samples.sample(store, sample_id)
    check_may_label(who, sample)
    repeated = submissions.repeated(store, request_id, who.id)
    if repeated is not None:
        return repeated
    key = submissions.last_finished(store, sample.key, who.id)
    held = None if key is None else leases.lease(store, key)
    if held is None:
        return None
    moment = now or datetime.now(UTC)
    rubric = rubric_in(store, sample.guideline)
    before = last_labels(store, held.key)
    entry = Entry(
        request_id=request_id,
        lease=held.key,
        sample=held.sample,
        person=who.id,
        overlap=sample.design.overlap,
        trace=held.trace,
        act=Act.UNDO,
        labels=[_withdrawn(label, moment) for label in before],
        guideline=rubric.digest,
        active_ms=0,
        now=moment,
        length=LEASE,
        draft=_said_before(rubric, before).body(),
    )
    return submissions.write(store, entry)


def save_draft(
    store: Store, who: Person, lease: int, said: Draft, *, now: datetime | None = None
) -> bool:
    """Keep a draft; False when the item is finished or not the person's (nothing is kept then).

    Raises:
        InputError: the draft is too long.
        NotAllowedError: the person may not label.
    """
    require(who, Right.LABEL)
    moment = now or datetime.now(UTC)
    return submissions.save_draft(store, lease, who.id, said.body(), moment)


def resolve(store: Store, trace: str, quotes: Sequence[Quote]) -> tuple[Evidence, ...]:
    """Return quotes with their places in the trace; one that is not found has no place."""
    if not quotes:
        return ()
    found, task = row(store, trace)
    parts = parts_of(trace_view(found, task))
    return tuple(resolve_quote(quote.text, parts, quote.part) for quote in quotes)


def _held(store: Store, who: Person, key: int) -> tuple[Lease, Sample]:
    """Return lease and sample of an act; whose lease it is, is checked where it is written."""
    require(who, Right.LABEL)
    held = leases.lease(store, key)
    if held is None:
        raise InputError("there is no such item; load the page again")
    sample = samples.sample_at(store, held.sample)
    check_may_label(who, sample)
    return held, sample


def _checked(rubric: Rubric, subset: str | None, answers: Mapping[str, str]) -> dict[str, str]:
    """Return one allowed answer for every question that is asked, in order."""
    asked = {question.id: question.choices_for(subset) for question in rubric.asked("person")}
    stray = next((name for name in answers if name not in asked), None)
    if stray is not None:
        raise InputError(f"{rubric.name} asks no question {stray!r}; load the page again")
    for name, allowed in asked.items():
        if name not in answers:
            raise InputError(f"question {name!r} has no answer; choose one of: {_list(allowed)}")
        if answers[name] not in allowed:
            raise InputError(
                f"{answers[name]!r} is no label of question {name!r} here; choose one of:"
                f" {_list(allowed)}"
            )
    return {name: answers[name] for name in asked}


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def _derived(
    rubric: Rubric,
    subset: str | None,
    answers: Mapping[str, str],
    flags: tuple[str, ...],
    common: Mapping[str, Any],
) -> list[Label]:
    """Return the labels that follow from the answers by the rubric's tables."""
    known: dict[str, str | None] = dict(answers)
    labels = []
    for question in rubric.questions:
        if question.type != "derived":
            continue
        case = derive(question, known)
        if case is not None and case[0] in question.labels_for(subset):
            known[question.id] = case[0]
            what = {"outcome": Outcome.LABELLED, "value": case[0], "flags": flags + case[1]}
        else:
            # A hole in the rubric's table is no judgement about the trace.
            known[question.id] = None
            what = {"outcome": Outcome.ABSTAINED, "reason": "no_derived_case", "flags": flags}
        labels.append(Label.model_validate({"question": question.id, **what, **common}))
    return labels


def _withdrawn(label: Label, now: datetime) -> Label:
    """Return the version that takes a label back, by the same rater under the same guideline."""
    return Label(
        trace=label.trace,
        rater=label.rater,
        question=label.question,
        outcome=Outcome.ABSTAINED,
        reason=UNDONE,
        repeat=label.repeat,
        view=label.view,
        created_at=now,
    )


def _said_before(rubric: Rubric, labels: Sequence[Label]) -> Draft:
    """Return labels as the draft they were given from; derived ones are left to be derived."""
    asked = {question.id for question in rubric.asked("person")}
    given = [label for label in labels if label.question in asked and label.value is not None]
    first = next(iter(labels), None)
    return Draft(
        answers={label.question: label.value or "" for label in given},
        note="" if first is None else first.rationale or "",
        flagged=any(FLAGGED in label.flags for label in labels),
        confidence=None if first is None else first.confidence,
        quotes=()
        if first is None
        else tuple(Quote(e.quote, e.part or None) for e in first.evidence),
    )


def _active(claimed_ms: int, held: Lease, now: datetime) -> int:
    """The time at work as the page measured it, never more than went by since the lease."""
    since = int((now - held.leased_at).total_seconds() * 1000)
    return max(0, min(claimed_ms, since, _MOST_MS))
