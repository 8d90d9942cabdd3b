from __future__ import annotations

import pytest

from labelkit.domain.label import Evidence, Label, Outcome, Rater
from labelkit.domain.person import Role
from labelkit.stats.confusion import confusion_report
from labelkit.stats.undefined import Undefined
from labelkit.store import Store
from labelkit.store.labels import commit_labels
from labelkit.store.quotes import QuoteCount
from labelkit.store.raters import add_rater
from labelkit.workflows.review import adjudicate, judge_quality
from labelkit.workflows.review.access import NotAllowedError
from labelkit.workflows.review.adjudicate import Verdict
from tests.workflows.review import desk

PEOPLE = ["good"] * 5 + ["bad"] * 5
JUDGE = ["good", "good", "good", "good", "bad", "bad", "bad", "bad", "good", None]


def scene(store: Store):
    traces = desk.fill(store, 10)
    judge = desk.judge(store, traces, JUDGE)
    ana, bo = desk.person(store, "ana"), desk.person(store, "bo")
    ada = desk.person(store, "ada", Role.ADJUDICATOR)
    sample = desk.drawn(store, 10)
    values = {trace.digest: value for trace, value in zip(traces, PEOPLE, strict=True)}
    desk.label_all(store, ana, sample, values)
    # They part on the last item, which is then decided.
    desk.label_all(store, bo, sample, values | {traces[9].digest: "odd"})
    return traces, judge, ada, sample


def test_a_judge_against_what_people_agree_on_and_decide(store: Store) -> None:
    traces, judge, ada, sample = scene(store)
    before = judge_quality.judge_quality(store, ada, sample.id)
    assert (before.gold.decided, before.gold.agreed, before.gold.open) == (0, 9, {"tie": 1})
    (line,) = [
        one for one in adjudicate.queue(store, ada, sample.id) if one.trace == traces[9].digest
    ]
    verdict = Verdict("d", sample.id, line.item, "q", "bad", "because")
    adjudicate.decide(store, ada, verdict)
    found = judge_quality.judge_quality(store, ada, sample.id)
    assert (found.gold.decided, found.gold.agreed, found.gold.open) == (1, 9, {})
    assert [(one.name, one.kind) for one in found.judges] == [
        ("ensemble", "ensemble"),
        ("judge", "judge"),
    ]
    mine = found.judges[1]
    assert mine.rater == judge.digest
    # True good 5: judge 4 good, 1 bad. True bad 5: judge 3 bad, 1 good, 1 without a label.
    assert mine.report.matrix.tolist() == [[4, 1, 0], [1, 3, 0], [0, 0, 0]]
    expected = confusion_report([[4, 1, 0], [1, 3, 0], [0, 0, 0]], ["good", "bad", "odd"])
    assert mine.report.kappa.value == pytest.approx(expected.kappa.value)
    assert mine.report.mcc == pytest.approx(expected.mcc)
    recalls = [one.recall.value for one in mine.report.classes]
    assert recalls[:2] == [pytest.approx(4 / 5), pytest.approx(3 / 4)]
    assert isinstance(recalls[2], Undefined)
    assert (mine.report.coverage.hits, mine.report.coverage.n) == (9, 10)
    assert mine.cells[0][1] == (traces[4].digest,)
    assert mine.cells[1][0] == (traces[8].digest,)
    assert mine.missing == (traces[9].digest,)


def test_raw_and_corrected_rates_stand_side_by_side(store: Store) -> None:
    _traces, _, ada, sample = scene(store)
    (rate,) = judge_quality.judge_quality(store, ada, sample.id).judges[1].rates
    assert rate.name == "BAD[All]"
    # The judge: 4 bad of 9. People: 4 bad of the 9 they agree on (the whole frame was drawn).
    assert (rate.raw.hits, rate.raw.n) == (4, 9)
    assert rate.people.value == pytest.approx(4 / 9)
    assert rate.n_both == 9
    assert not isinstance(rate.rogan_gladen, Undefined)
    # Sensitivity 3/4, specificity 4/5: (4/9 + 4/5 - 1) / (3/4 + 4/5 - 1).
    assert rate.rogan_gladen.value == pytest.approx((4 / 9 + 4 / 5 - 1) / (3 / 4 + 4 / 5 - 1))
    assert not isinstance(rate.ppi, Undefined)
    assert rate.ppi.n_human == 9


def test_without_labels_numbers_are_undefined_with_a_reason(store: Store) -> None:
    traces = desk.fill(store, 4)
    desk.judge(store, traces, ["good"] * 4)
    ada = desk.person(store, "ada", Role.ADJUDICATOR)
    sample = desk.drawn(store, 4)
    found = judge_quality.judge_quality(store, ada, sample.id)
    rate = found.judges[1].rates[0]
    assert isinstance(rate.rogan_gladen, Undefined)
    assert isinstance(rate.ppi, Undefined)
    assert "no human labels" in rate.ppi.detail
    assert isinstance(found.judges[1].report.kappa.value, Undefined)
    assert found.gold.open == {"unlabelled": 4}


def test_quotes_that_were_not_found_are_counted(store: Store) -> None:
    traces, _, ada, sample = scene(store)
    used = desk.rubric()
    rater = Rater(
        kind="judge", name="citer", version="1", spec={"rubric": "r", "rubric_digest": used.digest}
    )
    add_rater(store, rater)
    found, lost = Evidence(part="answer", quote="a", start=0, end=1), Evidence(part="", quote="zz")
    commit_labels(
        store,
        [
            Label(
                trace=traces[0].digest,
                rater=rater.digest,
                question="q",
                outcome=Outcome.LABELLED,
                value="good",
                evidence=quotes,
                version=version,
                created_at=desk.START,
            )
            for version, quotes in enumerate(((lost, lost), (found, lost, found)))
        ],
    )
    lines = {
        one.name: one.quotes for one in judge_quality.judge_quality(store, ada, sample.id).judges
    }
    assert lines["citer"] == QuoteCount(3, 1)
    assert lines["judge"] == QuoteCount()


def test_two_identities_of_a_judge_are_compared(store: Store) -> None:
    traces, judge, ada, sample = scene(store)
    used = desk.rubric()
    later = Rater(
        kind="judge",
        name="judge",
        version="2",
        spec={"rubric": used.name, "rubric_digest": used.digest, "model": "newer"},
    )
    add_rater(store, later)
    commit_labels(
        store,
        [
            Label(
                trace=trace.digest,
                rater=later.digest,
                question="q",
                outcome=Outcome.LABELLED,
                value=value,
                created_at=desk.START,
            )
            for trace, value in zip(traces, PEOPLE, strict=True)
        ],
    )
    found = judge_quality.judge_quality(store, ada, sample.id)
    (drift,) = found.drift
    assert (drift.name, drift.earlier, drift.later) == ("judge", judge.digest, later.digest)
    assert (drift.same.hits, drift.same.n) == (7, 9)
    assert set(drift.changed) == {traces[4].digest, traces[8].digest}
    assert [(p.hits, p.n) for p in drift.right] == [(7, 9), (9, 9)]
    assert any("left out" in remark for remark in found.remarks)
    assert [one.rater for one in found.judges[1:]] == [later.digest]


def test_numbers_are_kept_for_all_who_may_look_until_people_or_judges_add_a_label(
    store: Store,
) -> None:
    traces, judge, ada, sample = scene(store)
    found = judge_quality.judge_quality(store, ada, sample.id)
    other = desk.person(store, "other", Role.ADMIN)
    assert judge_quality.judge_quality(store, other, sample.id) is found
    with pytest.raises(NotAllowedError):
        judge_quality.judge_quality(store, desk.person(store, "zoe"), sample.id)
    late = Label(
        trace=traces[9].digest,
        rater=judge.digest,
        question="q",
        outcome=Outcome.LABELLED,
        value="bad",
        created_at=desk.START,
    )
    commit_labels(store, [late.model_copy(update={"repeat": 1})])
    second = judge_quality.judge_quality(store, ada, sample.id)
    assert second is not found
    (line,) = [one for one in adjudicate.queue(store, ada, sample.id) if one.trace == late.trace]
    verdict = Verdict("d", sample.id, line.item, "q", "bad", "because")
    adjudicate.decide(store, ada, verdict)
    third = judge_quality.judge_quality(store, ada, sample.id)
    assert (second.gold.decided, third.gold.decided) == (0, 1)
