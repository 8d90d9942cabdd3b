from __future__ import annotations

import itertools
import json
from datetime import timedelta

import pytest
from sqlalchemy import Engine, event

from labelkit.domain.person import Role
from labelkit.errors import InputError
from labelkit.stats.undefined import Undefined, as_json
from labelkit.store import Store
from labelkit.store.raters import add_rubric
from labelkit.store.traces import add_traces
from labelkit.workflows.agreement import Scale, agreement_of
from labelkit.workflows.review import annotate, assignment, live, samples
from labelkit.workflows.review.access import NotAllowedError
from labelkit.workflows.rubric_ratings import ratings_of_rubric
from tests.workflows.review import desk

GIVEN = {
    # item: ana, bo, cy
    0: ("good", "good", "good"),
    1: ("good", "bad", "good"),
    2: ("bad", "bad", "bad"),
    3: ("odd", "good", "good"),
    4: ("bad", "bad", "odd"),
    5: ("good", "good", "good"),
}


def scene(store: Store, **more):
    traces = desk.fill(store, 6)
    people = [desk.person(store, name) for name in ("ana", "bo", "cy")]
    boss = desk.person(store, "boss", Role.ADMIN)
    sample = desk.drawn(store, 6, overlap=3, **more)
    for place, who in enumerate(people):
        values = {traces[k].digest: given[place] for k, given in GIVEN.items()}
        desk.label_all(store, who, sample, values, desk.START + timedelta(days=place))
    return traces, people, boss, sample


def test_the_numbers_are_those_of_labelkit_agree(store: Store) -> None:
    _, _, boss, sample = scene(store)
    found = live.agreement(store, boss, sample.id)
    (rated,), _ = ratings_of_rubric(store, desk.rubric())
    (expected, *_) = agreement_of(rated, Scale())
    assert as_json(found.groups[0]) == as_json(expected)
    (of_sample,) = live.ratings_of_sample(store, sample)
    assert as_json(agreement_of(of_sample, Scale())) == as_json(found.groups)
    names = {c.name for c in found.groups[0].coefficients}
    assert {"percent_agreement", "fleiss_kappa", "gwet_ac", "krippendorff_alpha"} <= names
    # 18 pairs of labels: items 0, 2, 5 agree 3 times each, items 1, 3, 4 once each.
    assert found.groups[0].coefficients[0].value == pytest.approx(12 / 18)
    assert [(p.first, p.second) for p in found.groups[0].pairs] == [
        ("ana", "bo"),
        ("ana", "cy"),
        ("bo", "cy"),
    ]
    assert (found.n_items, found.n_complete, found.n_labels) == (6, 6, 18)
    json.dumps(as_json(found.groups), allow_nan=False)


def test_annotators_do_not_see_agreement(store: Store) -> None:
    _, (ana, _, _), _, sample = scene(store)
    with pytest.raises(NotAllowedError, match="see the labels of others"):
        live.agreement(store, ana, sample.id)


def test_what_was_computed_is_kept_for_all_who_may_look_until_a_label_changes(
    store: Store,
) -> None:
    _, (ana, _, _), boss, sample = scene(store)
    found = live.agreement(store, boss, sample.id)
    other = desk.person(store, "other", Role.ADJUDICATOR)
    assert live.agreement(store, other, sample.id) is found
    with pytest.raises(NotAllowedError):
        live.agreement(store, ana, sample.id)
    assert annotate.undo(store, ana, sample.id, "take it back") is not None
    later = live.agreement(store, boss, sample.id)
    assert (found.n_labels, later.n_labels) == (18, 17)


def test_nothing_labelled_yet_is_undefined_and_no_crash(store: Store) -> None:
    desk.fill(store, 3)
    boss = desk.person(store, "boss", Role.ADMIN)
    sample = desk.drawn(store, 3)
    found = live.agreement(store, boss, sample.id)
    assert (found.n_labels, found.people, found.version) == (0, (), (0, 0))
    assert isinstance(found.groups[0].coefficients[0].value, Undefined)
    assert found.needed(0.05).shares[0].more.needed == 3
    assert found.confusion().counts == ((0, 0, 0),) * 3


def test_the_version_changes_with_every_label_and_with_nothing_else(store: Store) -> None:
    desk.fill(store, 3)
    ana = desk.person(store, "ana")
    sample = desk.drawn(store, 3)
    marks = [live.version(store, sample.id)]
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    assert live.version(store, sample.id) == marks[0]
    desk.answer(store, ana, offer)
    marks.append(live.version(store, sample.id))
    annotate.undo(store, ana, sample.id, "u")
    marks.append(live.version(store, sample.id))
    assert len(set(marks)) == 3


def test_every_cell_of_the_confusion_table_names_its_traces(store: Store) -> None:
    traces, _, boss, sample = scene(store)
    found = live.agreement(store, boss, sample.id)
    table = found.confusion("ana", "bo")
    assert table.labels == ("good", "bad", "odd")
    assert table.counts == ((2, 1, 0), (0, 2, 0), (1, 0, 0))
    assert set(table.traces[0][0]) == {traces[0].digest, traces[5].digest}
    assert table.traces[0][1] == (traces[1].digest,)
    assert table.traces[2][0] == (traces[3].digest,)
    pooled = found.confusion()
    # 18 pairs, each in both orders.
    assert sum(map(sum, pooled.counts)) == 36
    assert pooled.counts == tuple(zip(*pooled.counts, strict=True))
    assert set(pooled.traces[1][2]) == {traces[4].digest}
    with pytest.raises(InputError, match="has not labelled"):
        found.confusion("ana", "zoe")
    with pytest.raises(InputError, match="name two"):
        found.confusion("ana")


def test_groups_by_stratum_and_day(store: Store) -> None:
    traces, people, boss, _ = scene(store)
    sample = desk.drawn(store, 6, overlap=3, strata=("model",), seed=5)
    for place, who in enumerate(people):
        values = {traces[k].digest: given[place] for k, given in GIVEN.items()}
        # Half of the items get their last label a day later.
        desk.label_all(store, who, sample, values, desk.START + timedelta(days=place))
    found = live.agreement(store, boss, sample.id)
    by = {group.group: group for group in found.groups}
    assert set(by) == {"all", "stratum=model=m0", "stratum=model=m1"}
    # Items 0, 2, 4: 3 + 3 + 1 of 9 pairs agree; items 1, 3, 5: 1 + 1 + 3.
    assert by["stratum=model=m0"].coefficients[0].value == pytest.approx(7 / 9)
    assert by["stratum=model=m1"].coefficients[0].value == pytest.approx(5 / 9)


def test_a_group_that_is_no_subset_counts_the_labels_of_every_subset(store: Store) -> None:
    only = [
        {"name": name, "title": name, "key": key, "include": name, "subsets": subsets}
        for name, key, subsets in (("good", "1", ()), ("bad", "2", ("s",)), ("odd", "3", ("s",)))
    ]
    asked = desk.CHOICE.model_validate({**desk.CHOICE.model_dump(), "labels": only})
    scheme = desk.rubric(asked, subset_tag="part", subsets=("s", "t"))
    traces = [desk.trace(k, tags={"domain": f"d{k % 2}", "part": "s"}) for k in range(6)]
    add_traces(store, traces)
    add_rubric(store, scheme)
    ana, bo = (desk.person(store, name) for name in ("ana", "bo"))
    boss = desk.person(store, "boss", Role.ADMIN)
    sample = desk.drawn(store, 6, scheme, overlap=2, strata=("domain",))
    for who, value in ((ana, "bad"), (bo, "odd")):
        desk.label_all(store, who, sample, {t.digest: value for t in traces})
    groups = live.agreement(store, boss, sample.id).groups
    assert {group.group for group in groups} == {"all", "stratum=domain=d0", "stratum=domain=d1"}
    # They agree on nothing: before, both labels counted as missing wherever no subset was named.
    assert [(g.n_items, g.coefficients[0].value) for g in groups] == [(6, 0), (3, 0), (3, 0)]


def test_an_undone_label_leaves_the_numbers(store: Store) -> None:
    _, (ana, _, _), boss, sample = scene(store)
    annotate.undo(store, ana, sample.id, "u")
    found = live.agreement(store, boss, sample.id)
    assert (found.n_complete, found.n_labels) == (5, 17)


def test_hidden_repeats_measure_how_steady_a_person_is(store: Store) -> None:
    traces = desk.fill(store, 12)
    ana = desk.person(store, "ana")
    boss = desk.person(store, "boss", Role.ADMIN)
    sample = desk.drawn(store, 12, repeats_share=0.25)
    seen: dict[str, int] = {}
    shown = []
    while (offer := assignment.next_item(store, ana, sample.id)) is not None:
        before = seen.get(offer.trace, 0)
        shown.append(offer.trace)
        seen[offer.trace] = before + 1
        desk.answer(store, ana, offer, "bad" if before and len(shown) % 2 else "good")
    assert sorted(seen.values()) == [1] * 9 + [2] * 3
    assert all(a != b for a, b in itertools.pairwise(shown))
    changed = sum(
        1 for place, trace in enumerate(shown, 1) if trace in shown[: place - 1] and place % 2
    )
    found = live.agreement(store, boss, sample.id)
    (line,) = found.consistency
    assert (line.person, line.same.n, line.same.hits) == ("ana", 3, 3 - changed)
    assert found.n_labels == len(traces)
    assert assignment.progress(store, ana, sample.id).given == 12


def test_how_many_more_labels(store: Store) -> None:
    _, _, boss, sample = scene(store)
    found = live.agreement(store, boss, sample.id)
    needed = found.needed(0.3)
    assert [share.label for share in needed.shares] == ["good", "bad", "odd"]
    # All three agree on items 0, 2 and 5: two good, one bad.
    assert [share.share.value for share in needed.shares] == pytest.approx([2 / 3, 1 / 3, 0])
    for line in needed.coefficients:
        if not isinstance(line.needed, Undefined):
            expected = 6 * (line.half_width_now / 0.3) ** 2
            assert expected <= line.needed < expected + 1
    assert {line.name for line in needed.coefficients} == {
        "fleiss_kappa",
        "gwet_ac",
        "krippendorff_alpha",
    }


def test_a_later_guideline_is_told_apart(store: Store) -> None:
    desk.fill(store, 4)
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    boss = desk.person(store, "boss", Role.ADMIN)
    sample = desk.drawn(store, 4, overlap=1)
    for _ in range(2):
        offer = assignment.next_item(store, ana, sample.id)
        assert offer is not None
        desk.answer(store, ana, offer)
    with pytest.raises(InputError, match="other questions or labels"):
        samples.adopt_guideline(store, boss, sample.id, desk.DERIVED)
    later = desk.rubric(version="2", guideline="Read it twice.")
    samples.adopt_guideline(store, boss, sample.id, later)
    offer = assignment.next_item(store, bo, sample.id)
    assert offer is not None
    assert offer.guideline == "Read it twice."
    assert desk.label_all(store, bo, sample, {}) == 2
    found = live.agreement(store, boss, sample.id)
    assert (found.n_labels, found.n_complete) == (4, 4)
    by = {g.group: g.n_items for g in found.groups if g.group.startswith("guideline=")}
    assert by == {f"guideline={r.digest[:12]}": 2 for r in (desk.rubric(), later)}


def test_the_newest_sample_is_ready_before_anybody_looks(store: Store) -> None:
    live.made_ready(store)  # without samples there is nothing to do
    _, _, boss, sample = scene(store)
    live.made_ready(store)
    reads = 0

    @event.listens_for(Engine, "before_cursor_execute")
    def count(*_: object) -> None:
        nonlocal reads
        reads += 1

    try:
        found = live.agreement(store, boss, sample.id, sample.design.question)
    finally:
        event.remove(Engine, "before_cursor_execute", count)
    assert found.n_labels == 18
    assert reads <= 2, "the sample is looked up and its mark read"
