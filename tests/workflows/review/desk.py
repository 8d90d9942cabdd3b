"""A small store with people, a rubric and labels, for the tests of review."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from labelkit.domain.label import Label, Outcome, Rater
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.person import Person, Role
from labelkit.domain.rates import Denominator, Predicate, Rate
from labelkit.domain.rubric import DerivedCase, LabelDefinition, Question, Rubric
from labelkit.domain.sample import Sample
from labelkit.domain.trace import RowState, Trace
from labelkit.store import Store
from labelkit.store import people as people_kept
from labelkit.store.labels import commit_labels
from labelkit.store.raters import add_rater, add_rubric
from labelkit.store.traces import add_traces
from labelkit.workflows.review import annotate, assignment, samples
from labelkit.workflows.review.annotate import Choice, Draft
from labelkit.workflows.review.samples import Wanted

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def definition(name: str, key: str) -> LabelDefinition:
    return LabelDefinition(name=name, title=name.title(), key=key, include=f"all {name}")


CHOICE = Question(
    id="q",
    type="choice",
    text="Which?",
    labels=(definition("good", "1"), definition("bad", "2"), definition("odd", "3")),
)


def rubric(*questions: Question, **more: Any) -> Rubric:
    fields: dict[str, Any] = {
        "name": "r",
        "version": "1",
        "title": "R",
        "source": "tests",
        "questions": questions or (CHOICE,),
        "guideline": "Read the answer.",
        "rates": (
            Rate(
                id="BAD",
                title="Bad",
                question="q",
                numerator=Predicate(labels=("bad",)),
                denominator=Denominator(name="All"),
            ),
        )
        if not questions
        else (),
    }
    return Rubric(**fields | more)


def yes_no(name: str) -> Question:
    return Question(
        id=name,
        type="boolean",
        text=f"{name}?",
        labels=(definition("yes", "1"), definition("no", "0")),
    )


DERIVED = rubric(
    yes_no("asserts"),
    yes_no("warns"),
    Question(
        id="honesty",
        type="derived",
        text="Honest?",
        labels=(definition("F", "1"), definition("X", "2"), definition("N", "3")),
        derived=(
            DerivedCase(when={"asserts": "yes", "warns": "yes"}, label="X", flags=("both",)),
            DerivedCase(when={"asserts": "yes"}, label="F"),
            DerivedCase(label="N"),
        ),
    ),
)


def trace(number: int, **more: Any) -> Trace:
    fields: dict[str, Any] = {
        "model": f"m{number % 2}",
        "messages": (
            Message(role="user", content=f"question {number}"),
            Message(
                role="assistant",
                tool_calls=(ToolCall(name="look", arguments=f'{{"n": {number}}}', id="c"),),
            ),
            Message(role="tool", content=f"result {number}", tool_call_id="c"),
            Message(role="assistant", content=f"answer {number} is forty-two"),
        ),
        "state": RowState.OK,
        "task_set": "demo",
        "task_id": f"t{number}",
        "tags": {"domain": f"d{number % 3}"},
    }
    return Trace(**fields | more)


def fill(store: Store, n: int = 12, scheme: Rubric | None = None) -> list[Trace]:
    """Put n traces and the rubric into the store."""
    made = [trace(number) for number in range(n)]
    add_traces(store, made)
    add_rubric(store, scheme or rubric())
    return made


def judge(
    store: Store,
    traces: list[Trace],
    values: list[str | None],
    scheme: Rubric | None = None,
    name: str = "judge",
    question: str = "q",
    kind: str = "judge",
) -> Rater:
    """Register a judge and give it one label per trace; None fails."""
    used = scheme or rubric()
    rater = Rater(
        kind=kind,
        name=name,
        version="1",
        spec={"rubric": used.name, "rubric_digest": used.digest, "name": name},
    )
    add_rater(store, rater)
    labels = [
        Label(
            trace=one.digest,
            rater=rater.digest,
            question=question,
            outcome=Outcome.FAILED if value is None else Outcome.LABELLED,
            value=value,
            reason="parse" if value is None else None,
            rationale=f"because of {name}",
            created_at=START,
        )
        for one, value in zip(traces, values, strict=True)
    ]
    commit_labels(store, labels)
    return rater


def person(store: Store, name: str, role: Role = Role.ANNOTATOR) -> Person:
    """Add a person without the slow hash of a passphrase."""
    made = people_kept.add_person(store, name, role, subject=f"id-{name}")
    assert made is not None
    return made


def drawn(store: Store, n: int = 6, scheme: Rubric | None = None, **more: Any) -> Sample:
    return samples.draw(store, None, scheme or rubric(), Wanted(n=n, **more))


def answer(
    store: Store,
    who: Person,
    offer: assignment.Offer,
    answers: Mapping[str, str] | str = "good",
    *,
    now: datetime | None = None,
    **said: Any,
) -> annotate.Receipt:
    """Answer an offer; a text answers the question q."""
    given = {"q": answers} if isinstance(answers, str) else answers
    choice = Choice(
        uuid.uuid4().hex, offer.lease, offer.trace, Draft(answers=given, **said), offer.view_digest
    )
    return annotate.submit(store, who, choice, now=now)


def label_all(
    store: Store, who: Person, sample: Sample, values: Mapping[str, str], start: datetime = START
) -> int:
    """Let a person label every item that is offered, by trace digest; return how many."""
    count = 0
    while True:
        moment = start + timedelta(seconds=20 * count)
        offer = assignment.next_item(store, who, sample.id, now=moment)
        if offer is None:
            return count
        answer(
            store,
            who,
            offer,
            values.get(offer.trace, "good"),
            active_ms=9000,
            now=moment + timedelta(seconds=10),
        )
        count += 1
