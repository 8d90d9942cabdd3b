from __future__ import annotations

from collections import Counter

import pytest

from labelkit.domain.person import Role
from labelkit.domain.rates import Predicate
from labelkit.domain.rubric import LabelDefinition, Question
from labelkit.domain.trace import RowState
from labelkit.errors import InputError, StatisticsError, StoreError
from labelkit.store import Store
from labelkit.store.samples import items
from labelkit.store.traces import add_traces
from labelkit.workflows.report import report
from labelkit.workflows.review import annotate, assignment, overview, samples
from labelkit.workflows.review.access import NotAllowedError
from labelkit.workflows.review.annotate import Choice, Draft
from labelkit.workflows.review.samples import Wanted
from tests.workflows.review import desk

VALUES = ["good", "bad", "good", "odd", None] * 12


def scene(store: Store, n: int = 60):
    traces = desk.fill(store, n)
    desk.judge(store, traces, VALUES[:n])
    desk.judge(store, traces, (["good"] * n), name="mild")
    return traces


def test_the_size_is_cochrans_and_the_split_adds_up(store: Store) -> None:
    scene(store)
    wanted = Wanted(margin=0.1, strata=("model", "domain"), overlap=2, repeats_share=0.1)
    planned = samples.plan(store, None, desk.rubric(), wanted)
    # 1.96^2 / 4 / 0.01 = 96.04; 96.04 / (1 + 95.04 / 60) = 37.2.
    assert planned.plan.n == 38
    assert len(planned.plan.strata) == 6
    assert sum(part.n for part in planned.plan.strata) == 38
    assert planned.labels == 38 * 2 + 4 * 2
    assert (planned.excluded, planned.exists) == ({}, False)
    sample = samples.draw(store, None, desk.rubric(), wanted)
    assert sample.id == planned.id
    drawn = items(store, sample.key)
    assert len({item.trace for item in drawn}) == 38
    assert Counter(item.stratum for item in drawn) == {
        part.name: part.n for part in planned.plan.strata
    }
    sizes = {part.name: part.size for part in planned.plan.strata}
    for part in planned.plan.strata:
        found = {item.probability for item in drawn if item.stratum == part.name}
        assert found == {part.n / sizes[part.name]}
    # The weights of a stratum add up to its rows, so any rate can be weighted back.
    assert sum(1 / item.probability for item in drawn) == pytest.approx(60)
    assert sum(item.again is not None for item in drawn) == 4


def test_the_same_words_give_the_same_sample_and_others_another(store: Store) -> None:
    traces = scene(store)
    wanted = Wanted(n=20, strata=("ensemble",), seed=3)
    first = samples.draw(store, None, desk.rubric(), wanted)
    assert samples.draw(store, None, desk.rubric(), wanted) == first
    assert samples.plan(store, None, desk.rubric(), wanted).exists
    # What people label changes neither strata nor identity.
    ana = desk.person(store, "ana")
    desk.label_all(store, ana, first, {trace.digest: "odd" for trace in traces})
    again = samples.draw(store, None, desk.rubric(), wanted)
    assert again.id == first.id
    for other in (Wanted(n=20, strata=("ensemble",), seed=4), Wanted(n=20), Wanted(n=21, seed=3)):
        assert samples.draw(store, None, desk.rubric(), other).id != first.id
    assert len(samples.every_sample(store, None)) == 4
    before = {item.trace for item in items(store, first.key)}
    add_traces(store, [desk.trace(1000)])
    assert samples.draw(store, None, desk.rubric(), wanted).id != first.id
    assert {item.trace for item in items(store, first.key)} == before


def test_rows_that_cannot_be_labelled_are_counted_out(store: Store) -> None:
    scene(store, 10)
    add_traces(store, [desk.trace(100 + k, state=RowState.INFRA_ERROR) for k in range(3)])
    question = Question(
        id="q",
        type="choice",
        text="?",
        labels=tuple(
            LabelDefinition(name=name, title=name, key=name[0], include="x", subsets=("s",))
            for name in ("yes", "no")
        ),
    )
    scoped = desk.rubric(
        question, subsets=("s",), applies_to=Predicate(tags={"domain": ("d0", "d1")})
    )
    add_traces(
        store, [desk.trace(200 + 3 * k, tags={"domain": "d0", "subset": "s"}) for k in range(5)]
    )
    planned = samples.plan(store, None, scoped, Wanted(n=4))
    every = [desk.trace(k) for k in range(10)] + [desk.trace(100 + k) for k in range(3)]
    inside = [trace for trace in every if trace.tags["domain"] != "d2"]
    infra = sum(1 for k in range(3) if (100 + k) % 3 != 2)
    assert planned.plan.wish.population == 5
    assert planned.excluded == {"infra_error": infra, "no_label_applies": len(inside) - infra}
    with pytest.raises(InputError, match="no trace can be drawn"):
        samples.plan(
            store, None, desk.rubric(applies_to=Predicate(tags={"domain": ("zz",)})), Wanted()
        )


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(strata=("colour",)), "no trace has a tag 'colour'"),
        (Wanted(question="z"), "no question 'z'"),
        (Wanted(overlap=0), "overlap of 1 or more"),
        (Wanted(repeats_share=2), "is no share"),
        (Wanted(n=3, strata=("model", "domain")), "too few for 6 strata"),
        (Wanted(n=61), "cannot be drawn from a population of 60"),
    ],
)
def test_wishes_that_do_not_fit(store: Store, wanted: Wanted, said: str) -> None:
    scene(store)
    with pytest.raises(InputError, match=said):
        samples.draw(store, None, desk.rubric(), wanted)
    assert samples.every_sample(store, None) == []


def test_no_sample_is_drawn_for_a_question_that_people_are_not_asked(store: Store) -> None:
    scene(store)
    counted = desk.yes_no("counted").model_copy(update={"asked_of": ("rule",)})
    scheme = desk.rubric(counted, desk.CHOICE)
    with pytest.raises(InputError, match=r"people are not asked 'counted'.*choose one of: q$"):
        samples.draw(store, None, scheme, Wanted(question="counted"))


def test_a_margin_that_is_none_is_refused(store: Store) -> None:
    scene(store)
    with pytest.raises(StatisticsError, match="margin"):
        samples.plan(store, None, desk.rubric(), Wanted(margin=1.5))


def test_neymans_split_prefers_uncertain_strata(store: Store) -> None:
    traces = desk.fill(store, 40)
    # Even rows: all good. Odd rows: half good, half bad.
    values = ["good" if k % 4 != 1 else "bad" for k in range(40)]
    desk.judge(store, traces, values)
    wanted = Wanted(n=20, strata=("model",), allocation="neyman")
    planned = samples.plan(store, None, desk.rubric(), wanted)
    by = {part.name: part.n for part in planned.plan.strata}
    assert by == {"model=m0": 2, "model=m1": 18}
    with pytest.raises(InputError, match="needs labels of a rule or judge"):
        samples.plan(store, None, desk.rubric(version="9"), wanted)


def test_equal_split_and_disagreement_strata(store: Store) -> None:
    scene(store)
    wanted = Wanted(n=20, strata=("disagreement",), allocation="equal")
    planned = samples.plan(store, None, desk.rubric(), wanted)
    # Of five rows in turn: good/good agree, bad/good disagree, agree, disagree, one label.
    assert {part.name: (part.size, part.n) for part in planned.plan.strata} == {
        "disagreement=agree": (24, 7),
        "disagreement=disagree": (24, 7),
        "disagreement=one": (12, 6),
    }


def test_a_mixed_draw_within_strata_keeps_the_split_and_can_be_weighted_back(store: Store) -> None:
    scene(store)
    wanted = Wanted(n=24, method="mixed", strata=("model",), allocation="equal", seed=5)
    planned = samples.plan(store, None, desk.rubric(), wanted)
    sample = samples.draw(store, None, desk.rubric(), wanted)
    assert (sample.id, sample.design.uniform) == (planned.id, 0.5)
    drawn = items(store, sample.key)
    sizes = {part.name: part.n for part in planned.plan.strata}
    assert Counter(item.stratum for item in drawn) == sizes
    for name in sizes:
        assert len({item.probability for item in drawn if item.stratum == name}) == 2
    assert samples.draw(store, None, desk.rubric(), wanted) == sample


def test_a_mixed_draw_prefers_uncertain_rows_and_keeps_probabilities(store: Store) -> None:
    traces = scene(store)
    sample = samples.draw(store, None, desk.rubric(), Wanted(n=20, method="mixed"))
    drawn = items(store, sample.key)
    assert len(drawn) == 20
    disputed = {t.digest for t, v in zip(traces, VALUES, strict=True) if v in {"bad", "odd"}}
    high = {item.probability for item in drawn if item.trace in disputed}
    low = {item.probability for item in drawn if item.trace not in disputed}
    assert min(high) > max(low) > 0


def test_managing_needs_an_admin(store: Store) -> None:
    scene(store)
    ada = desk.person(store, "ada", Role.ADJUDICATOR)
    boss = desk.person(store, "boss", Role.ADMIN)
    sample = samples.draw(store, boss, desk.rubric(), Wanted(n=5))
    assert sample.created_by == boss.id
    for act in (
        lambda: samples.draw(store, ada, desk.rubric(), Wanted(n=6)),
        lambda: samples.plan(store, ada, desk.rubric(), Wanted(n=6)),
        lambda: samples.give_to(store, ada, sample.id, ["ada"]),
        lambda: samples.set_open(store, ada, sample.id, is_open=False),
        lambda: samples.adopt_guideline(store, ada, sample.id, desk.rubric(version="2")),
    ):
        with pytest.raises(NotAllowedError, match="takes the role admin"):
            act()
    with pytest.raises(InputError, match="cannot give 2 labels"):
        samples.give_to(store, boss, sample.id, ["ada"])
    with pytest.raises(InputError, match="no active person 'zoe'"):
        samples.give_to(store, boss, sample.id, ["zoe"])
    given = samples.give_to(store, boss, sample.id, ["ada", "boss"])
    assert given.people == (ada.id, boss.id)
    assert samples.give_to(store, boss, sample.id, []).people == ()
    with pytest.raises(StoreError, match="no sample ffff"):
        samples.sample(store, "ffff")
    assert samples.sample(store, sample.id[:8]).id == sample.id


def test_a_closed_sample_gives_nothing_new_out(store: Store) -> None:
    scene(store, 10)
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    boss = desk.person(store, "boss", Role.ADMIN)
    sample = desk.drawn(store, 5)
    offer = assignment.next_item(store, ana, sample.id)
    assert offer is not None
    assert not samples.set_open(store, boss, sample.id, is_open=False).open
    assert assignment.samples_for(store, ana) == []
    assert assignment.next_item(store, bo, sample.id) is None
    held = assignment.next_item(store, ana, sample.id)
    assert held is not None
    assert held.lease == offer.lease
    desk.answer(store, ana, held)
    assert assignment.next_item(store, ana, sample.id) is None
    samples.set_open(store, boss, sample.id, is_open=True)
    assert assignment.next_item(store, ana, sample.id) is not None


def test_the_overview_counts_what_was_done(store: Store) -> None:
    scene(store, 10)
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    ada = desk.person(store, "ada", Role.ADJUDICATOR)
    sample = desk.drawn(store, 4)
    desk.label_all(store, ana, sample, {})
    offer = assignment.next_item(store, bo, sample.id, now=desk.START)
    assert offer is not None
    skipped = Choice("s", offer.lease, offer.trace, Draft())
    annotate.skip(store, bo, skipped, "why", now=desk.START)
    offer = assignment.next_item(store, bo, sample.id, now=desk.START)
    assert offer is not None
    desk.answer(store, bo, offer, now=desk.START)
    assignment.next_item(store, bo, sample.id, now=desk.START)
    found = overview.overview(store, ada, now=desk.START)
    (line,) = found.samples
    assert (line.n_items, line.wanted, line.given, line.complete) == (4, 8, 5, 1)
    assert (line.skipped, line.in_hands, line.abandoned, line.decided) == (1, 1, 0, 0)
    later = overview.overview(store, ada, now=desk.START.replace(hour=23)).samples[0]
    assert (later.in_hands, later.abandoned) == (0, 1)
    assert {p.name: (p.labels, p.skips) for p in found.people} == {
        "ada": (0, 0),
        "ana": (4, 0),
        "bo": (1, 1),
    }
    assert [(d.day, d.person, d.labels) for d in found.days] == [
        ("2026-03-01", "ana", 4),
        ("2026-03-01", "bo", 1),
    ]
    assert next(p for p in found.people if p.name == "ana").median_s == 9.0
    with pytest.raises(NotAllowedError):
        overview.overview(store, ana)


def test_people_check_the_ensemble_and_are_no_part_of_it(store: Store) -> None:
    traces = desk.fill(store, 6)
    desk.judge(store, traces, ["bad"] * 6)
    before = report(store, desk.rubric())
    ana = desk.person(store, "ana")
    sample = desk.drawn(store, 3, repeats_share=1.0)
    for k in range(6):
        offer = assignment.next_item(store, ana, sample.id)
        assert offer is not None
        # The second look differs from the first one.
        desk.answer(store, ana, offer, "good" if k < 3 else "odd")
    assert assignment.next_item(store, ana, sample.id) is None
    after = report(store, desk.rubric())
    assert after.rates == before.rates
    summary = {rater.name: rater for rater in after.raters}
    assert summary["ana"].label_counts["good"] == 3
    assert summary["ana"].label_counts["odd"] == 0
    assert summary["ana"].self_consistency == 0.5
    own = report(store, desk.rubric(), rater="ana")
    assert (own.rates[0].hits, own.rates[0].scored) == (0, 3)


def test_the_plan_of_a_mixed_draw_says_how_far_it_leans_and_what_that_costs(store: Store) -> None:
    scene(store)
    assert samples.plan(store, None, desk.rubric(), Wanted(n=20)).lean is None
    lean = samples.plan(store, None, desk.rubric(), Wanted(n=20, method="mixed")).lean
    assert lean is not None
    # The judges part on 2 of 5 rows, equally. Chances: 20 (1/120 + 1/48) = 7/12 there, and
    # 20/120 = 1/6 elsewhere; evenly 1/3 everywhere.
    assert lean.doubted == 24
    assert lean.expected == pytest.approx(24 * 7 / 12)
    assert lean.evenly == pytest.approx(24 / 3)
    # 60^2 / (24 * 12/7 + 36 * 6) = 3600 / 257.14.
    assert lean.effective_n == pytest.approx(14)
    even = samples.plan(store, None, desk.rubric(), Wanted(n=14)).plan.half_width
    # As wide as 14 rows, but for the finite population: sqrt(40 / 46) instead.
    assert lean.half_width < even
    assert lean.half_width == pytest.approx(even * (40 / 46) ** 0.5, rel=0.02)


def test_a_mixed_draw_of_everything_costs_nothing(store: Store) -> None:
    scene(store)
    wanted = Wanted(n=60, method="mixed", strata=("model",))
    lean = samples.plan(store, None, desk.rubric(), wanted).lean
    assert lean is not None
    assert (lean.expected, lean.evenly, lean.half_width) == (24, 24, 0)
    assert lean.effective_n == pytest.approx(60)
