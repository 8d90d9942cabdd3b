from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from labelkit.domain.person import Role
from labelkit.domain.rates import Contrast, Denominator, Measure
from labelkit.errors import InputError, StoreError
from labelkit.store import Store
from labelkit.store.labels import labels_of
from labelkit.store.samples import items as items_of
from labelkit.workflows.review import adjudicate, annotate, assignment
from labelkit.workflows.review.access import NotAllowedError
from labelkit.workflows.review.adjudicate import Fate, Verdict
from labelkit.workflows.review.annotate import Choice, Draft
from labelkit.workflows.review.reading import read_people
from tests.workflows.review import desk


def scene(store: Store):
    """Six items: 0 in dispute, 1 agreed against the judge, 2 flagged, 3 skipped once."""
    traces = desk.fill(store, 6)
    desk.judge(store, traces, ["good", "good", "good", "good", "good", "good"])
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    ada = desk.person(store, "ada", Role.ADJUDICATOR)
    sample = desk.drawn(store, 6)
    digests = [trace.digest for trace in traces]
    said = {digests[0]: ("good", "bad"), digests[1]: ("bad", "bad")}
    for place, who in enumerate((ana, bo)):
        while (offer := assignment.next_item(store, who, sample.id)) is not None:
            if offer.trace == digests[3] and who is ana:
                choice = Choice(f"skip{who.id}", offer.lease, offer.trace, Draft())
                annotate.skip(store, who, choice, "unclear")
                continue
            value = said.get(offer.trace, ("good", "good"))[place]
            desk.answer(
                store,
                who,
                offer,
                value,
                note=f"note of {who.name}",
                flagged=offer.trace == digests[2] and who is bo,
            )
    return sample, digests, ana, bo, ada


def test_the_queue_holds_what_people_and_judges_part_on(store: Store) -> None:
    sample, digests, ana, _, ada = scene(store)
    with pytest.raises(NotAllowedError, match="may not decide cases"):
        adjudicate.queue(store, ana, sample.id)
    lines = adjudicate.queue(store, ada, sample.id)
    assert {digests.index(line.trace): line.reasons for line in lines} == {
        0: ("disagreement",),
        1: ("judge_conflict",),
        2: ("flagged",),
        3: ("skipped",),
    }
    effects = {digests.index(line.trace): line.effect for line in lines}
    # Every item is 1/6 of the rate BAD. 0: good 2, bad 1. 1: bad 2, good 1. 2: good 3 and a third
    # of a vote each, so bad has 1/3 of 4. 3: good 2, nothing else.
    assert effects[0] == pytest.approx(1 / 6 * 1 / 3)
    assert effects[1] == pytest.approx(1 / 6 * 1 / 3)
    assert effects[2] == pytest.approx(1 / 6 * (1 / 3) / 4)
    assert effects[3] == 0
    assert [line.effect for line in lines] == sorted(effects.values(), reverse=True)
    assert [digests.index(line.trace) for line in lines][2:] == [2, 3]


def test_a_published_mean_ranks_by_how_far_the_labels_are_apart(store: Store) -> None:
    names = ("1", "2", "5")
    scale = desk.CHOICE.model_copy(
        update={"type": "ordinal", "labels": tuple(desk.definition(n, n) for n in names)}
    )
    mean = Measure(id="MEAN", title="Mean", question="q", within=Denominator(name="All"))
    counted = mean.model_copy(update={"id": "CALLS", "value": "calls"})
    scheme = desk.rubric(scale, measures=(mean, counted))
    traces = desk.fill(store, 2, scheme)
    sample = desk.drawn(store, 2, scheme)
    ada = desk.person(store, "ada", Role.ADJUDICATOR)
    for name, said in (("ana", ("1", "1")), ("bo", ("5", "2"))):
        values = dict(zip((trace.digest for trace in traces), said, strict=True))
        desk.label_all(store, desk.person(store, name), sample, values)
    lines = adjudicate.queue(store, ada, sample.id)
    # Half of the mean each, an even chance: 1 or 5 is the whole scale, 1 or 2 a quarter of it.
    assert [(line.trace, line.effect) for line in lines] == [
        (traces[0].digest, pytest.approx(1 / 2 * 1 / 2)),
        (traces[1].digest, pytest.approx(1 / 2 * 1 / 2 * 1 / 4)),
    ]


def test_a_published_contrast_ranks_by_how_far_an_item_moves_its_arm(store: Store) -> None:
    def over(name: str, kind: str = "change", clean: str | None = None) -> Contrast:
        return Contrast(
            id=name,
            title=name,
            of="BAD[All]",
            kind=kind,
            tag="domain",
            base="d0",
            treated="d1",
            clean=clean,
        )

    contrasts = (
        over("change"),
        over("share", "recovered_share", "d2"),
        over("no gap", "recovered_share", "d0"),
        over("nothing clean", "recovered_share", "d9"),
    )
    scheme = desk.rubric(contrasts=contrasts)
    traces = desk.fill(store, 6, scheme)
    sample = desk.drawn(store, 6, scheme)
    ada = desk.person(store, "ada", Role.ADJUDICATOR)
    # Domains go round: d0 has items 0 and 3, d1 has 1 and 4, d2 has 2 and 5.
    said = {
        "ana": ("good", "good", "bad", "good", "good", "bad"),
        "bo": ("bad", "good", "bad", "good", "bad", "bad"),
    }
    for name, values in said.items():
        given = dict(zip((trace.digest for trace in traces), values, strict=True))
        desk.label_all(store, desk.person(store, name), sample, given)
    lines = adjudicate.queue(store, ada, sample.id)
    # An even chance that items 0 and 4 are bad: 1/6 of the rate, half of its arm. Now no item of
    # d0 and d1 is bad and all of d2 are, so nothing is recovered: (0 - 0) / (1 - 0). With item 0
    # bad that is (0 - 1/2) / (1 - 1/2) = -1, with item 4 bad it is (1/2 - 0) / 1.
    assert [(line.trace, line.effect) for line in lines] == [
        (traces[0].digest, pytest.approx((1 / 6 + 1 / 2 + 1) / 2)),
        (traces[4].digest, pytest.approx((1 / 6 + 1 / 2 + 1 / 2) / 2)),
    ]


def test_names_and_machines_stay_hidden_until_the_case_is_decided(store: Store) -> None:
    sample, digests, _ana, _bo, ada = scene(store)
    line = next(
        line for line in adjudicate.queue(store, ada, sample.id) if line.trace == digests[0]
    )
    case = adjudicate.case(store, ada, sample.id, line.item)
    assert sorted((o.letter, o.name) for o in case.opinions) == [("A", ""), ("B", "")]
    assert {o.value for o in case.opinions} == {"good", "bad"}
    text = json.dumps(asdict(case), default=str)
    assert "because of" not in text
    (closed,) = case.machines
    assert (closed.name, closed.opened, closed.value) == ("judge", False, None)
    opened = adjudicate.reveal(store, ada, sample.id, line.item, closed.rater)
    assert (opened.value, opened.rationale) == ("good", "because of judge")
    with pytest.raises(InputError, match="no rule or judge"):
        adjudicate.reveal(store, ada, sample.id, line.item, "f" * 64)
    verdict = Verdict(
        "d1",
        sample.id,
        line.item,
        "q",
        "bad",
        " it is bad ",
        ("units", " units", "new  tag"),
        guideline_gap=True,
    )
    assert adjudicate.decide(store, ada, verdict) is Fate.STORED
    assert adjudicate.decide(store, ada, verdict) is Fate.REPEATED
    again = adjudicate.case(store, ada, sample.id, line.item)
    assert {o.name for o in again.opinions} == {"ana", "bo"}
    decision = again.decided
    assert decision is not None
    assert (decision.value, decision.reason, decision.version) == ("bad", "it is bad", 0)
    assert (decision.tags, decision.guideline_gap) == (("units", "new tag"), True)
    assert decision.seen == (closed.rater,)
    assert len(decision.labels) == 2
    assert again.names == {ada.id: "ada"}
    assert line.item not in {one.item for one in adjudicate.queue(store, ada, sample.id)}
    every = adjudicate.queue(store, ada, sample.id, decided=True)
    assert every[-1].item == line.item
    assert adjudicate.known_tags(store, ada) == {"new tag": 1, "units": 1}
    # No label was touched.
    assert {label.value for label in labels_of(store, digests[0], history=True)} == {"good", "bad"}


def test_two_who_decide_at_once_do_not_overwrite_each_other(store: Store) -> None:
    sample, _digests, _, _, ada = scene(store)
    eve = desk.person(store, "eve", Role.ADJUDICATOR)
    item = adjudicate.queue(store, ada, sample.id)[0].item
    first = Verdict("a", sample.id, item, "q", "bad", "r")
    second = Verdict("b", sample.id, item, "q", "good", "r")
    assert adjudicate.decide(store, ada, first) is Fate.STORED
    assert adjudicate.decide(store, eve, second) is Fate.ALREADY
    changed = Verdict("c", sample.id, item, "q", None, "no label applies", version=1)
    assert adjudicate.decide(store, eve, changed) is Fate.STORED
    history = adjudicate.case(store, ada, sample.id, item).history
    assert [(d.person, d.value, d.version) for d in history] == [
        (ada.id, "bad", 0),
        (eve.id, None, 1),
    ]
    in_force = adjudicate.decisions(store, ada, sample.id)
    assert [(d.item, d.value) for d in in_force] == [(item, None)]


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ({"reason": "  "}, "give a reason"),
        ({"value": "fine"}, "no label of question"),
        ({"tags": ["x" * 81]}, "80 characters"),
        ({"item": 10**6}, "has no item"),
        ({"question": "z"}, "no question"),
    ],
)
def test_a_decision_must_make_sense(store: Store, verdict: dict, said: str) -> None:
    sample, _, _, _, ada = scene(store)
    item = adjudicate.queue(store, ada, sample.id)[0].item
    fields = {
        "request_id": "x",
        "sample": sample.id,
        "item": item,
        "question": "q",
        "value": "bad",
        "reason": "r",
    } | verdict
    with pytest.raises(InputError, match=said):
        adjudicate.decide(store, ada, Verdict(**fields))


def test_who_has_seen_a_case_never_gets_it_blind(store: Store) -> None:
    desk.fill(store, 2)
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    ada = desk.person(store, "ada", Role.ADJUDICATOR)
    sample = desk.drawn(store, 2, overlap=3)
    held = assignment.next_item(store, ada, sample.id)
    assert held is not None
    for who in (ana, bo):
        desk.label_all(store, who, sample, {})
    items = {line.trace: line for line in adjudicate.queue(store, ada, sample.id)}
    assert items == {}
    for item in items_of(store, sample.key):
        if item.trace == held.trace:
            with pytest.raises(InputError, match="in hands"):
                adjudicate.case(store, ada, sample.id, item.key)
        else:
            adjudicate.case(store, ada, sample.id, item.key)
    desk.answer(store, ada, held)
    assert assignment.next_item(store, ada, sample.id) is None


def test_sending_back_asks_again_and_keeps_the_first_labels(store: Store) -> None:
    sample, digests, _ana, bo, ada = scene(store)
    line = next(
        line for line in adjudicate.queue(store, ada, sample.id) if line.trace == digests[0]
    )
    with pytest.raises(InputError, match="give a reason"):
        adjudicate.send_back(store, ada, sample.id, line.item, "")
    assert adjudicate.send_back(store, ada, sample.id, line.item, "read rule 3") == 2
    offer = assignment.next_item(store, bo, sample.id)
    assert offer is not None
    assert (offer.trace, offer.message) == (digests[0], "read rule 3")
    desk.answer(store, bo, offer, "good")
    case = adjudicate.case(store, ada, sample.id, line.item)
    assert sorted((o.value, o.revised) for o in case.opinions) == [("good", False), ("good", True)]
    assert line.item not in {one.item for one in adjudicate.queue(store, ada, sample.id)}
    people = read_people(store, sample)
    row = list(people.items.digest).index(digests[0])
    assert [people.labels[code] for code in people.first[row]] == ["good", "bad"]
    assert [people.labels[code] for code in people.current[row]] == ["good", "good"]


@pytest.mark.parametrize("sent_back", [False, True])
def test_who_sees_labels_of_an_item_in_hands_never_labels_it_blind(
    store: Store, sent_back: bool
) -> None:
    desk.fill(store, 2)
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    ada = desk.person(store, "ada", Role.ADJUDICATOR)
    sample = desk.drawn(store, 2, overlap=2)
    held = assignment.next_item(store, ada, sample.id)
    assert held is not None
    if sent_back:
        assert assignment.give_back(store, ada, held.lease)
    desk.label_all(store, ana, sample, {})
    adjudicate.saw_labels(store, ada, [held.trace])
    adjudicate.saw_labels(store, ada, [held.trace])
    assert desk.answer(store, ada, held).fate is Fate.SEEN
    other = assignment.next_item(store, ada, sample.id)
    assert other is not None
    assert other.trace != held.trace
    assert desk.answer(store, ada, other).fate is Fate.STORED
    assert assignment.next_item(store, ada, sample.id) is None
    offered = assignment.next_item(store, bo, sample.id)
    assert offered is not None
    assert offered.trace == held.trace, "the place is free for somebody else"


def test_a_label_given_blind_is_not_changed_by_who_saw_the_others(store: Store) -> None:
    desk.fill(store, 1)
    ana = desk.person(store, "ana", Role.ADJUDICATOR)
    sample = desk.drawn(store, 1)
    held = assignment.next_item(store, ana, sample.id)
    assert held is not None
    desk.answer(store, ana, held, "good")
    adjudicate.saw_labels(store, ana, [held.trace])
    taken_back = annotate.undo(store, ana, sample.id, "undo-1")
    assert taken_back is not None
    assert taken_back.fate is Fate.SEEN
    people = read_people(store, sample)
    assert [people.labels[code] for code in people.current[0]] == ["good"]


def test_what_was_seen_must_be_in_the_store(store: Store) -> None:
    ada = desk.person(store, "ada", Role.ADJUDICATOR)
    with pytest.raises(StoreError, match="has no trace"):
        adjudicate.saw_labels(store, ada, ["f" * 64])
