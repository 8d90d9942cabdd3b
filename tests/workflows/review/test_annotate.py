from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta
from typing import Literal

import pytest

from labelkit.domain.label import Outcome
from labelkit.domain.person import Role
from labelkit.domain.task import Reference, Task
from labelkit.errors import InputError, StoreError
from labelkit.store import Store
from labelkit.store.labels import label_counts, labels_of
from labelkit.store.raters import raters
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces
from labelkit.workflows.review import annotate, assignment, live, samples
from labelkit.workflows.review.access import NotAllowedError
from labelkit.workflows.review.annotate import Choice, Draft, Fate, Quote
from tests.workflows.review import desk


def test_a_choice_is_stored_as_a_label_of_the_person(store: Store) -> None:
    desk.fill(store)
    ana = desk.person(store, "ana")
    sample = desk.drawn(store)
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    receipt = desk.answer(
        store,
        ana,
        offer,
        "bad",
        note="  no  ",
        flagged=True,
        quotes=(Quote("forty-two"), Quote("absent")),
    )
    assert (receipt.fate, receipt.version) == (Fate.STORED, 0)
    (label,) = labels_of(store, offer.trace)
    (rater,) = raters(store)
    assert (rater.kind, rater.name, rater.digest) == ("person", "ana", label.rater)
    assert rater.spec["rubric_digest"] == desk.rubric().digest
    assert (label.question, label.value, label.rationale, label.flags) == (
        "q",
        "bad",
        "no",
        ("flagged",),
    )
    assert label.view == offer.view_digest
    assert [(e.part, e.resolved) for e in label.evidence] == [("answer", True), ("", False)]
    start, end = label.evidence[0].start, label.evidence[0].end
    assert offer.view.answer[start:end] == "forty-two"
    following = assignment.next_item(store, ana, sample.id)
    assert following is not None
    assert following.trace != offer.trace
    assert following.done == 1


def test_what_is_offered_holds_nothing_that_anybody_said(store: Store) -> None:
    traces = desk.fill(store, 6)
    desk.judge(store, traces, ["bad"] * 6, name="secretjudge")
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    sample = desk.drawn(store)
    for _ in range(6):
        offer = assignment.next_item(store, ana, sample.id)
        assert offer is not None
        desk.answer(store, ana, offer, "odd", note="peernote", flagged=True)
    seen = 0
    while (offer := assignment.next_item(store, bo, sample.id)) is not None:
        text = json.dumps(asdict(offer), default=str)
        for secret in (
            "secretjudge",
            "because of",
            "peernote",
            "ana",
            'flagged": true',
            "m0",
            "m1",
        ):
            assert secret not in text
        assert offer.view.ratings == ()
        assert offer.draft is None
        # Label names occur only where the rubric defines them.
        assert '"bad"' not in json.dumps(asdict(offer.view), default=str)
        desk.answer(store, bo, offer)
        seen += 1
    assert seen == 6


def test_reloading_gives_the_same_item_and_draft(store: Store) -> None:
    desk.fill(store)
    ana = desk.person(store, "ana")
    sample = desk.drawn(store)
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    said = Draft(
        answers={"q": "bad"}, note="a\x00\ud800b", quotes=(Quote("x", "answer"),), active_ms=7
    )
    assert annotate.save_draft(store, ana, offer.lease, said)
    again = assignment.next_item(store, ana, sample.id)
    assert again is not None
    assert (again.lease, again.trace, again.draft) == (offer.lease, offer.trace, said)


def test_a_double_click_and_a_second_tab_store_one_label(store: Store) -> None:
    desk.fill(store)
    ana = desk.person(store, "ana")
    sample = desk.drawn(store)
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    choice = Choice("one", offer.lease, offer.trace, Draft(answers={"q": "bad"}))
    fates = [annotate.submit(store, ana, choice).fate for _ in range(3)]
    assert fates == [Fate.STORED, Fate.REPEATED, Fate.REPEATED]
    other = Choice("two", offer.lease, offer.trace, Draft(answers={"q": "good"}))
    assert annotate.submit(store, ana, other).fate is Fate.ALREADY
    assert not annotate.save_draft(store, ana, offer.lease, Draft(note="late"))
    assert [label.value for label in labels_of(store, offer.trace, history=True)] == ["bad"]


def test_a_choice_for_another_trace_is_refused_and_nothing_is_written(store: Store) -> None:
    desk.fill(store)
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    sample = desk.drawn(store)
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    wrong = Choice("w", offer.lease, "0" * 64, Draft(answers={"q": "bad"}))
    with pytest.raises(StoreError, match="load the page again"):
        annotate.submit(store, ana, wrong)
    mine = Choice("x", offer.lease, offer.trace, Draft(answers={"q": "bad"}))
    with pytest.raises(StoreError, match="not in your hands"):
        annotate.submit(store, bo, mine)
    assert label_counts(store) == {}
    assert annotate.submit(store, ana, mine).fate is Fate.STORED
    following = assignment.next_item(store, ana, sample.id)
    assert following is not None
    with pytest.raises(StoreError, match="id of its own"):
        annotate.submit(store, ana, Choice("x", following.lease, following.trace, mine.said))


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({}, "has no answer"),
        ({"q": "fine"}, "no label of question"),
        ({"q": "bad", "z": "1"}, "asks no"),
    ],
)
def test_answers_must_fit_the_rubric(store: Store, answers: dict[str, str], said: str) -> None:
    desk.fill(store)
    ana = desk.person(store, "ana")
    offer = assignment.next_item(store, ana, desk.drawn(store).id)
    assert offer is not None
    with pytest.raises(InputError, match=said):
        desk.answer(store, ana, offer, answers)
    assert label_counts(store) == {}


def test_derived_labels_follow_from_the_answers(store: Store) -> None:
    desk.fill(store, scheme=desk.DERIVED)
    ana = desk.person(store, "ana")
    offer = assignment.next_item(store, ana, desk.drawn(store, scheme=desk.DERIVED).id)
    assert offer is not None
    assert [question.id for question in offer.questions] == ["asserts", "warns"]
    desk.answer(store, ana, offer, {"asserts": "yes", "warns": "yes"})
    found = {label.question: (label.value, label.flags) for label in labels_of(store, offer.trace)}
    assert found == {"asserts": ("yes", ()), "warns": ("yes", ()), "honesty": ("X", ("both",))}


def test_undo_withdraws_the_label_and_brings_the_item_back(store: Store) -> None:
    desk.fill(store, scheme=desk.DERIVED)
    ana = desk.person(store, "ana")
    sample = desk.drawn(store, scheme=desk.DERIVED)
    assert annotate.undo(store, ana, sample.id, "nothing yet") is None
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    said = {"asserts": "yes", "warns": "no"}
    desk.answer(store, ana, offer, said, note="hm", quotes=(Quote("forty-two"),))
    waiting = assignment.next_item(store, ana, sample.id)
    assert waiting is not None
    for fate in (Fate.STORED, Fate.REPEATED):
        receipt = annotate.undo(store, ana, sample.id, "undo-1")
        assert receipt is not None
        assert receipt.fate is fate
    back = assignment.next_item(store, ana, sample.id)
    assert back is not None
    assert (back.lease, back.trace) == (offer.lease, offer.trace)
    assert back.draft == Draft(answers=said, note="hm", quotes=(Quote("forty-two", "answer"),))
    assert {label.outcome for label in labels_of(store, offer.trace)} == {Outcome.ABSTAINED}
    desk.answer(store, ana, back, {"asserts": "no", "warns": "no"})
    in_force = {label.question: label.value for label in labels_of(store, offer.trace)}
    assert in_force == {"asserts": "no", "warns": "no", "honesty": "N"}
    history = labels_of(store, offer.trace, question="honesty", history=True)
    assert [(label.version, label.value) for label in history] == [(0, "F"), (1, None), (2, "N")]
    then = assignment.next_item(store, ana, sample.id)
    assert then is not None
    assert then.lease == waiting.lease


def test_a_skip_needs_a_reason_and_leaves_the_item_to_others(store: Store) -> None:
    desk.fill(store, 1)
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    sample = desk.drawn(store, 1, overlap=1)
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    choice = Choice("s", offer.lease, offer.trace, Draft(note="see"))
    with pytest.raises(InputError, match="say why"):
        annotate.skip(store, ana, choice, "  ")
    assert assignment.next_item(store, bo, sample.id) is None
    assert annotate.skip(store, ana, choice, "in\nChinese").fate is Fate.STORED
    assert annotate.skip(store, ana, choice, "in\nChinese").fate is Fate.REPEATED
    (label,) = labels_of(store, offer.trace)
    assert (label.outcome, label.reason) == (Outcome.ABSTAINED, "skipped: in Chinese")
    assert assignment.next_item(store, ana, sample.id) is None
    other = assignment.next_item(store, bo, sample.id)
    assert other is not None
    desk.answer(store, bo, other)
    # Taking the skip back would need a slot, and the item has enough people now.
    receipt = annotate.undo(store, ana, sample.id, "u")
    assert receipt is not None
    assert receipt.fate is Fate.LOST


@pytest.mark.parametrize("asked_of", [("rule",), ("judge",)])
def test_people_are_asked_nothing_that_is_for_others(
    store: Store, asked_of: tuple[Literal["judge", "person", "rule"], ...]
) -> None:
    counted = desk.yes_no("counted").model_copy(update={"asked_of": asked_of})
    scheme = desk.rubric(counted, desk.CHOICE)
    desk.fill(store, 2, scheme)
    ana = desk.person(store, "ana")
    sample = desk.drawn(store, 2, scheme)
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    assert [question.id for question in offer.questions] == ["q"]
    with pytest.raises(InputError, match="asks no question 'counted'"):
        desk.answer(store, ana, offer, {"q": "bad", "counted": "yes"})
    desk.answer(store, ana, offer, "bad")
    assert [label.question for label in labels_of(store, offer.trace)] == ["q"]
    following = assignment.next_item(store, ana, sample.id)
    assert following is not None
    choice = Choice("s", following.lease, following.trace, Draft())
    annotate.skip(store, ana, choice, "unclear")
    assert [label.question for label in labels_of(store, following.trace)] == ["q"]
    (rated,) = live.ratings_of_sample(store, sample)
    assert rated.question == "q"


def test_giving_back_keeps_the_draft_and_the_item_comes_last(store: Store) -> None:
    desk.fill(store, 3)
    ana = desk.person(store, "ana")
    sample = desk.drawn(store, 3)
    first = assignment.next_item(store, ana, sample.id)
    assert first is not None
    annotate.save_draft(store, ana, first.lease, Draft(note="later"))
    assert assignment.give_back(store, ana, first.lease)
    assert not assignment.give_back(store, ana, first.lease)
    order = []
    while (offer := assignment.next_item(store, ana, sample.id)) is not None:
        order.append((offer.trace, offer.draft and offer.draft.note))
        desk.answer(store, ana, offer)
    assert len({trace for trace, _ in order}) == 3
    assert order[-1] == (first.trace, "later")


def test_active_time_is_never_more_than_went_by(store: Store) -> None:
    desk.fill(store)
    ana = desk.person(store, "ana")
    sample = desk.drawn(store)
    medians = []
    for claimed in (4_000, 10**9, -5):
        offer = assignment.next_item(store, ana, sample.id, now=desk.START)
        assert offer is not None
        later = desk.START + timedelta(seconds=10)
        desk.answer(store, ana, offer, active_ms=claimed, now=later)
        progress = assignment.progress(store, ana, sample.id, now=later)
        medians.append(progress.median_s)
    # 4 s; then 4 s and at most the 10 s that went by; then 0 s besides.
    assert medians == [4.0, 7.0, 4.0]
    assert (progress.done, progress.given, progress.wanted, progress.left) == (3, 3, 12, 3)


def test_only_those_it_was_given_to_may_label(store: Store) -> None:
    desk.fill(store)
    ana, bo, cy = (desk.person(store, name) for name in ("ana", "bo", "cy"))
    admin = desk.person(store, "admin", Role.ADMIN)
    sample = desk.drawn(store)
    offer = assignment.next_item(store, cy, sample.id)
    assert offer is not None
    samples.give_to(store, admin, sample.id, ["ANA", "bo"])
    assert assignment.samples_for(store, cy) == []
    assert [s.id for s in assignment.samples_for(store, bo)] == [sample.id]
    with pytest.raises(NotAllowedError, match="given to others"):
        assignment.next_item(store, cy, sample.id)
    with pytest.raises(NotAllowedError, match="given to others"):
        desk.answer(store, cy, offer)
    assert assignment.next_item(store, ana, sample.id) is not None


def test_undo_withdraws_the_label_of_the_guideline_it_was_given_under(store: Store) -> None:
    desk.fill(store, 3)
    ana = desk.person(store, "ana")
    boss = desk.person(store, "boss", Role.ADMIN)
    sample = desk.drawn(store, 3)
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    desk.answer(store, ana, offer, "bad")
    later = desk.rubric(version="2", guideline="Read it twice.")
    samples.adopt_guideline(store, boss, sample.id, later)
    annotate.undo(store, ana, sample.id, "u")
    assert [label.value for label in labels_of(store, offer.trace)] == [None]
    back = assignment.next_item(store, ana, sample.id)
    assert back is not None
    desk.answer(store, ana, back, "odd")
    named = {rater.digest: rater.spec["rubric_version"] for rater in raters(store)}
    found = {named[label.rater]: label.value for label in labels_of(store, offer.trace)}
    assert found == {"1": None, "2": "odd"}


def test_an_item_no_label_applies_to_any_more_can_only_be_skipped(store: Store) -> None:
    scoped = desk.rubric(
        desk.CHOICE.model_copy(
            update={
                "labels": tuple(
                    one.model_copy(update={"subsets": ("s",)}) for one in desk.CHOICE.labels
                )
            }
        ),
        subsets=("s",),
    )
    task = Task(set="demo", id="t0", tags={"subset": "s"})
    add_tasks(store, [task])
    add_traces(store, [desk.trace(0)])
    ana = desk.person(store, "ana")
    sample = desk.drawn(store, 1, scoped)
    add_tasks(store, [task.model_copy(update={"tags": {"subset": "other"}})])
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    assert [question.labels for question in offer.questions] == [()]
    with pytest.raises(InputError, match="no label of question"):
        desk.answer(store, ana, offer, "good")
    choice = Choice("s", offer.lease, offer.trace, Draft())
    assert annotate.skip(store, ana, choice, "nothing applies").fate is Fate.STORED


def test_what_a_trace_or_task_gives_away_is_not_shown(store: Store) -> None:
    telling = {"target_mode": "leak-tag", "judge_label": "leak-label"}
    made = desk.trace(0, tags=telling, source="leak-source.jsonl", condition="leak-condition")
    add_traces(store, [made])
    reference = Reference(note="leak-note", payload={"a": 1})
    add_tasks(store, [Task(set="demo", id="t0", reference=reference, tags={"trap": "leak-trap"})])
    ana = desk.person(store, "ana")
    offer = assignment.next_item(store, ana, desk.drawn(store, 1).id)
    assert offer is not None
    text = json.dumps(asdict(offer), default=str)
    assert "leak" not in text
    assert [name for name, _ in offer.view.reference] == ["payload"]
    assert [name for name, _ in offer.view.facts] == ["state", "finish reason"]
