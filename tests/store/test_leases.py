"""Leases under load: threads, processes, expiry, and any order of acts."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import select

from labelkit.errors import StoreError
from labelkit.store import Store
from labelkit.store.labels import label_counts, labels_of
from labelkit.store.raters import raters
from labelkit.store.review_tables import ASSIGNMENT, DRAFT
from labelkit.workflows.review import annotate, assignment
from labelkit.workflows.review.annotate import Choice, Draft, Fate
from tests.conftest import ROOT
from tests.workflows.review import desk

LATE = timedelta(hours=2)


def held(store: Store) -> list:
    """Every assignment that holds a slot."""
    with store.reading() as connection:
        return list(
            connection.execute(select(ASSIGNMENT).where(ASSIGNMENT.c.slot.is_not(None))).all()
        )


def test_fifty_fetches_at_once_give_no_item_to_more_than_the_overlap(store: Store) -> None:
    desk.fill(store, 30)
    sample = desk.drawn(store, 30, overlap=2)
    people = [desk.person(store, f"p{k}") for k in range(10)]
    with ThreadPoolExecutor(10) as pool:
        offers = list(
            pool.map(lambda k: assignment.next_item(store, people[k % 10], sample.id), range(50))
        )
    # Five fetches of one person give one item.
    per_person = {k: {offers[j].lease for j in range(k, 50, 10)} for k in range(10)}
    assert all(len(leases) == 1 for leases in per_person.values())
    rows = held(store)
    assert len(rows) == 10
    assert max(Counter(row.item_id for row in rows).values()) <= 2


WORKER = """
import sys
from labelkit.store import Store
from labelkit.workflows.review import assignment
from labelkit.store import people
from tests.workflows.review import desk
url, sample, name = sys.argv[1:]
with Store.open(url) as store:
    who = people.person_named(store, name)[0]
    count = 0
    while (offer := assignment.next_item(store, who, sample)) is not None:
        desk.answer(store, who, offer, "good")
        count += 1
    print(count)
"""


def test_ten_people_in_threads_and_processes_finish_a_sample_exactly(
    store: Store, url: str
) -> None:
    desk.fill(store, 16)
    sample = desk.drawn(store, 16, overlap=3)
    people = [desk.person(store, f"p{k}") for k in range(10)]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, url, sample.id, person.name],
            cwd=ROOT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for person in people[:2]
    ]

    def work(person) -> int:
        count = 0
        while (offer := assignment.next_item(store, person, sample.id)) is not None:
            assert desk.answer(store, person, offer, "bad").fate is Fate.STORED
            count += 1
        return count

    with ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(work, people[2:]))
    for process in started:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        done += int(out)
    assert done == 48
    assert Counter(Counter(row.item_id for row in held(store)).values()) == {3: 16}
    assert sum(label_counts(store).values()) == 48
    pairs = Counter((row.item_id, row.person_id) for row in held(store))
    assert set(pairs.values()) == {1}


def test_a_double_click_from_many_threads_stores_one_label(store: Store) -> None:
    desk.fill(store, 3)
    ana = desk.person(store, "ana")
    offer = assignment.next_item(store, ana, desk.drawn(store, 3).id)
    assert offer is not None
    same = Choice("same", offer.lease, offer.trace, Draft({"q": "bad"}))

    def click(k: int) -> Fate:
        other = Choice(f"other{k}", offer.lease, offer.trace, Draft({"q": "good"}))
        return annotate.submit(store, ana, same if k % 2 else other).fate

    with ThreadPoolExecutor(8) as pool:
        fates = Counter(pool.map(click, range(16)))
    assert fates[Fate.STORED] == 1
    assert len(labels_of(store, offer.trace, history=True)) == 1


def test_an_abandoned_lease_returns_and_counts_for_nothing(store: Store) -> None:
    desk.fill(store, 1)
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    sample = desk.drawn(store, 1, overlap=1)
    offer = assignment.next_item(store, ana, sample.id, now=desk.START)
    assert offer is not None
    annotate.save_draft(store, ana, offer.lease, Draft(note="half way"))
    assert assignment.next_item(store, bo, sample.id, now=desk.START) is None
    # Nobody needs it yet: ana comes back late and has it still, draft and all.
    back = assignment.next_item(store, ana, sample.id, now=desk.START + LATE)
    assert back is not None
    assert (back.lease, back.draft) == (offer.lease, Draft(note="half way"))
    taken = assignment.next_item(store, bo, sample.id, now=desk.START + 2 * LATE)
    assert taken is not None
    assert taken.trace == offer.trace
    # Too late for ana: nothing is stored, and the draft is kept.
    receipt = desk.answer(store, ana, offer, "bad", now=desk.START + 2 * LATE)
    assert receipt.fate is Fate.LOST
    assert labels_of(store, offer.trace) == []
    with store.reading() as connection:
        assert connection.execute(select(DRAFT.c.assignment_id)).scalars().all() == [offer.lease]
    assert assignment.give_back(store, bo, taken.lease)
    again = assignment.next_item(store, ana, sample.id, now=desk.START + 2 * LATE)
    assert again is not None
    assert again.lease == offer.lease
    assert desk.answer(store, ana, again, "bad", now=desk.START + 2 * LATE).fate is Fate.STORED


def test_a_late_choice_is_stored_while_there_is_room(store: Store) -> None:
    desk.fill(store, 2)
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    sample = desk.drawn(store, 2, overlap=2)
    offer = assignment.next_item(store, ana, sample.id, now=desk.START)
    assert offer is not None
    later = desk.START + LATE
    while (other := assignment.next_item(store, bo, sample.id, now=later)) is not None:
        desk.answer(store, bo, other, now=later)
    assert desk.answer(store, ana, offer, "odd", now=later).fate is Fate.STORED


KILLED = """
import os, signal, sys
from labelkit.store import Store, people, submissions
from labelkit.workflows.review import annotate, assignment
from labelkit.workflows.review.annotate import Choice, Draft
url, sample, when = sys.argv[1:]
with Store.open(url) as store:
    who = people.person_named(store, "ana")[0]
    offer = assignment.next_item(store, who, sample)
    if when == "inside":
        submissions._move_on = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    annotate.submit(store, who, Choice("k", offer.lease, offer.trace, Draft({"q": "bad"})))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("when", ["inside", "after"])
def test_a_kill_at_any_moment_loses_and_doubles_nothing(store: Store, url: str, when: str) -> None:
    desk.fill(store, 3)
    ana = desk.person(store, "ana")
    sample = desk.drawn(store, 3)
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, url, sample.id, when],
        cwd=ROOT,
        check=False,
        capture_output=True,
    )
    assert killed.returncode == -9, killed.stderr
    assert len(labels_of(store, offer.trace)) == (when == "after")
    back = assignment.next_item(store, ana, sample.id)
    assert back is not None
    assert (back.lease == offer.lease) == (when == "inside")
    fate = annotate.submit(
        store, ana, Choice("k", offer.lease, offer.trace, Draft({"q": "bad"}))
    ).fate
    assert fate is (Fate.REPEATED if when == "after" else Fate.STORED)
    assert [label.value for label in labels_of(store, offer.trace, history=True)] == ["bad"]


def test_people_go_through_a_sample_in_different_orders(store: Store) -> None:
    desk.fill(store, 12)
    sample = desk.drawn(store, 12, overlap=3)
    orders = []
    for name in ("ana", "bo", "cy"):
        who, order = desk.person(store, name), []
        while (offer := assignment.next_item(store, who, sample.id)) is not None:
            order.append(offer.trace)
            desk.answer(store, who, offer)
        assert sorted(order) == sorted(set(order))
        orders.append(tuple(order))
    assert len(set(orders)) == 3
    assert {frozenset(order) for order in orders} == {frozenset(orders[0])}


class Leases(RuleBasedStateMachine):
    """Three people, four items, two per item, in any order of acts, with time going by."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.store = Store.open(f"sqlite:///{Path(self.folder.name) / 's.db'}", create=True)
        desk.fill(self.store, 4)
        self.people = [desk.person(self.store, name) for name in ("a", "b", "c")]
        self.sample = desk.drawn(self.store, 4, overlap=2)
        self.now = desk.START
        self.offers: list = []
        self.said: dict[tuple[str, str], str | None] = {}

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @rule(minutes=st.sampled_from([1, 30, 120]))
    def time_goes_by(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule(k=st.integers(0, 2))
    def fetch(self, k: int) -> None:
        self.now += timedelta(seconds=1)
        offer = assignment.next_item(self.store, self.people[k], self.sample.id, now=self.now)
        if offer is not None:
            again = assignment.next_item(self.store, self.people[k], self.sample.id, now=self.now)
            assert again is not None
            assert again.lease == offer.lease
            self.offers.append((k, offer))

    @precondition(lambda self: self.offers)
    @rule(data=st.data(), value=st.sampled_from(["good", "bad"]))
    def choose(self, data, value: str) -> None:
        k, offer = data.draw(st.sampled_from(self.offers))
        fate = desk.answer(self.store, self.people[k], offer, value, now=self.now).fate
        if fate is Fate.STORED:
            self.said[self.people[k].name, offer.trace] = value

    @precondition(lambda self: self.offers)
    @rule(data=st.data())
    def pass_on(self, data) -> None:
        k, offer = data.draw(st.sampled_from(self.offers))
        assignment.give_back(self.store, self.people[k], offer.lease)

    @precondition(lambda self: self.offers)
    @rule(data=st.data())
    def skip(self, data) -> None:
        k, offer = data.draw(st.sampled_from(self.offers))
        choice = Choice(uuid.uuid4().hex, offer.lease, offer.trace, Draft())
        fate = annotate.skip(self.store, self.people[k], choice, "no", now=self.now).fate
        if fate is Fate.STORED:
            self.said[self.people[k].name, offer.trace] = None

    @rule(k=st.integers(0, 2))
    def undo(self, k: int) -> None:
        who, before = self.people[k], dict(self.said)
        self.now += timedelta(seconds=1)
        receipt = annotate.undo(self.store, who, self.sample.id, uuid.uuid4().hex, now=self.now)
        if receipt is not None and receipt.fate is Fate.STORED:
            offer = assignment.next_item(self.store, who, self.sample.id, now=self.now)
            assert offer is not None
            assert (who.name, offer.trace) in before
            self.said[who.name, offer.trace] = None
            self.offers.append((k, offer))

    @invariant()
    def never_more_than_the_overlap(self) -> None:
        per_item = Counter(row.item_id for row in held(self.store))
        assert all(count <= 2 for count in per_item.values())
        pairs = Counter((row.item_id, row.person_id) for row in held(self.store))
        assert all(count == 1 for count in pairs.values())

    @invariant()
    def labels_in_force_are_what_was_said_last(self) -> None:
        found = {}
        for key, trace in self.said:
            for label in labels_of(self.store, trace):
                rater = self.names()[label.rater]
                found[rater, trace] = label.value
            assert (key, trace) in found
        assert found == self.said

    def names(self) -> dict[str, str]:
        return {rater.digest: rater.name for rater in raters(self.store)}


Leases.TestCase.settings = settings(
    # Shrinking a failure takes minutes here; the steps are printed anyway.
    max_examples=12,
    stateful_step_count=25,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
TestLeases = Leases.TestCase


def test_two_servers_on_one_store_share_the_work(store: Store, url: str) -> None:
    desk.fill(store, 2)
    ana = desk.person(store, "ana")
    sample = desk.drawn(store, 2)
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    with Store.open(url) as other:
        again = assignment.next_item(other, ana, sample.id)
        assert again is not None
        assert again.lease == offer.lease
        desk.answer(other, ana, again)
    with pytest.raises(StoreError, match="load the page again"):
        annotate.submit(store, ana, Choice("n", offer.lease, "f" * 64, Draft({"q": "good"})))
    assert desk.answer(store, ana, offer).fate is Fate.ALREADY
