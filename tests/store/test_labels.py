from __future__ import annotations

import uuid

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from labelkit.domain.completion import Failure, FailureKind
from labelkit.domain.label import Evidence, Outcome, Rater
from labelkit.domain.message import ToolCall
from labelkit.domain.trace import Usage
from labelkit.errors import StoreError
from labelkit.store import Selection, Store, completions, labels, pending, raters, reports, traces
from tests.store.values import (
    HOSTILE,
    RULE,
    make_completion,
    make_label,
    make_rubric,
    make_trace,
)


@pytest.fixture
def three(store: Store) -> list[str]:
    made = [make_trace(i) for i in range(3)]
    traces.add_traces(store, made)
    raters.add_rater(store, RULE)
    return [t.digest for t in made]


def test_hostile_labels_and_completions_come_back(store: Store, three: list[str]) -> None:
    label = make_label(
        three[0],
        value=HOSTILE,
        rationale=HOSTILE,
        flags=(HOSTILE,),
        question=HOSTILE,
        view="v",
        evidence=(Evidence(part=HOSTILE, quote=HOSTILE, start=0, end=3),),
        completion="r",
    )
    completion = make_completion(
        accepted=True,
        text=HOSTILE,
        reasoning=HOSTILE,
        sent={HOSTILE: [HOSTILE]},
        tool_calls=(ToolCall(name=HOSTILE, arguments=HOSTILE),),
        usage=Usage(prompt_tokens=2**40),
        cost=0.1,
        currency="USD",
        latency_s=0.25,
    )
    assert labels.commit_labels(store, [label], [completion]) == 1
    assert labels.commit_labels(store, [label], [completion]) == 0
    assert labels.labels_of(store, three[0]) == [label]
    assert completions.completions(store, ["r", "unknown"]) == {"r": completion}
    table = reports.label_table(store, HOSTILE, flags=True)
    assert (table.value[0], table.flags is not None and table.flags[0]) == (HOSTILE, (HOSTILE,))


def test_raters_and_rubrics_come_back(store: Store, three: list[str]) -> None:
    rubric = make_rubric(title=HOSTILE)
    judge = Rater(kind="judge", name=HOSTILE, version="1", spec={"rubric_digest": rubric.digest})
    for _ in range(2):
        raters.add_rubric(store, rubric)
        raters.add_rater(store, judge)
    assert raters.rubric(store, rubric.digest) == rubric
    assert raters.rubrics(store, "r") == [rubric]
    assert raters.raters(store) == [RULE, judge]
    assert raters.raters(store, kind="judge", name=HOSTILE, rubric=rubric.digest) == [judge]
    labels.commit_labels(store, [make_label(three[0])])
    assert raters.raters(store, question="q") == [RULE]
    with pytest.raises(StoreError, match="no rubric"):
        raters.rubric(store, "f" * 64)


def test_a_label_of_nothing_is_refused_and_nothing_is_written(
    store: Store, three: list[str]
) -> None:
    good = make_label(three[0])
    with pytest.raises(StoreError, match="import the trace first"):
        labels.commit_labels(store, [good, make_label("f" * 64)], [make_completion()])
    stranger = Rater(kind="person", name="x", version="1")
    with pytest.raises(StoreError, match="register the rater first"):
        labels.commit_labels(store, [good, make_label(three[0], stranger)], [make_completion()])
    counts = reports.counts(store)
    assert (counts.labels, counts.completions) == (0, 0)
    assert counts.traces_by_state == {"ok": 3}


def test_the_highest_version_is_in_force(store: Store, three: list[str]) -> None:
    first = make_label(three[0])
    assert labels.append_label(store, first) == first
    assert labels.append_label(store, first) == first  # clicking twice
    second = labels.append_label(store, make_label(three[0], value="wrong"))
    assert second.version == 1
    back = labels.append_label(store, first)
    assert (back.version, back.value) == (2, "correct")
    assert labels.labels_of(store, three[0], question="q") == [back]
    assert [x.version for x in labels.labels_of(store, three[0], history=True)] == [0, 1, 2]
    table = reports.label_table(store, "q", [RULE.digest])
    assert (list(table.version), list(table.value)) == ([2], ["correct"])
    assert labels.label_counts(store) == {(RULE.digest, "q", "labelled"): 3}


def owed(
    store: Store, *, questions: tuple[str, ...] = ("q",), repeats: int = 1, **more: bool
) -> list[tuple[str, int, int]]:
    found = list(pending.pending(store, RULE.digest, questions, repeats, order="id", **more))
    rows = list(pending.pending_rows(store, RULE.digest, questions, repeats, order="id", **more))
    assert [p for p, _, _ in rows] == found
    assert all(p.trace == trace.digest for p, trace, _ in rows)
    assert pending.count_pending(store, RULE.digest, questions, repeats, **more) == len(found)
    return [(p.trace, p.repeat, p.version) for p in found]


def test_pending_is_what_lacks_any_label(store: Store, three: list[str]) -> None:
    a, b, c = three
    assert owed(store) == [(a, 0, 0), (b, 0, 0), (c, 0, 0)]
    failed = make_label(b, outcome=Outcome.FAILED)
    labels.commit_labels(store, [make_label(a), failed])
    assert owed(store) == [(c, 0, 0)]
    assert owed(store, retry_failed=True) == [(b, 0, 1), (c, 0, 0)]
    assert owed(store, repeats=2) == [(a, 1, 0), (b, 1, 0), (c, 0, 0), (c, 1, 0)]
    assert owed(store, questions=("q", "p")) == [(a, 0, 0), (b, 0, 0), (c, 0, 0)]
    labels.commit_labels(store, [make_label(b, version=1)])
    assert owed(store, retry_failed=True) == [(c, 0, 0)]
    only = pending.pending(store, "f" * 64, ["q"], selection=Selection(digests=[a]))
    assert [p.trace for p in only] == [a]


SAID = st.tuples(
    st.integers(0, 2),  # trace
    st.sampled_from("pq"),
    st.integers(0, 2),  # repeat
    st.lists(st.booleans(), min_size=1, max_size=3),  # failed, version by version
)


@settings(
    max_examples=30,
    suppress_health_check=list(HealthCheck),
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
)
@given(
    st.lists(SAID, max_size=8, unique_by=lambda said: said[:3]),
    st.sampled_from([("q",), ("q", "p"), ("q", "q")]),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from(
        [
            Selection(),
            Selection(limit=2),
            Selection(models=["m"]),
            Selection(domains=[None]),
            Selection(states=[]),
        ]
    ),
)
def test_counting_what_is_owed_is_counting_what_is_yielded(
    store: Store,
    said: list[tuple[int, str, int, list[bool]]],
    questions: tuple[str, ...],
    repeats: int,
    retry_failed: bool,
    selection: Selection,
) -> None:
    made = [make_trace(i) for i in range(3)]
    traces.add_traces(store, made)
    rater = Rater(kind="rule", name=uuid.uuid4().hex, version="1")
    raters.add_rater(store, rater)
    given_labels = [
        make_label(
            made[trace],
            rater,
            question=question,
            repeat=repeat,
            version=version,
            outcome=Outcome.FAILED if failed else Outcome.LABELLED,
        )
        for trace, question, repeat, versions in said
        for version, failed in enumerate(versions)
    ]
    labels.commit_labels(store, given_labels)
    asked = (store, rater.digest, questions, repeats, selection)
    counted = pending.count_pending(*asked, retry_failed=retry_failed)
    assert counted == len(list(pending.pending(*asked, retry_failed=retry_failed)))


def test_one_accepted_completion_per_request(store: Store) -> None:
    cut = make_completion(finish_reason="length")
    first = make_completion(seconds=1, accepted=True, text="first")
    labels.commit_labels(store, [], [cut, first])
    labels.commit_labels(store, [], [cut, make_completion(seconds=2, accepted=True, text="late")])
    assert completions.completions(store, ["r"]) == {"r": first}
    assert completions.exchanges(store, "r") == [cut, first]


def test_unknown_cost_is_never_zero(store: Store) -> None:
    paid = {"cost": 0.25, "currency": "USD", "usage": Usage(prompt_tokens=10)}
    dead = Failure(kind=FailureKind.TRANSPORT, message="no", status=503)
    known = [make_completion("a", accepted=True, **paid), make_completion("b", **paid)]
    labels.commit_labels(store, [], known)
    (line,) = completions.usage(store)
    assert (line.cost, line.currency, line.prompt_tokens) == (0.5, "USD", 20)
    assert line.completion_tokens is None
    labels.commit_labels(store, [], [make_completion("c", failure=dead, attempts=4)])
    (line,) = completions.usage(store)
    assert (line.cost, line.known_cost, line.unknown_cost) == (None, {"USD": 0.5}, 1)
    assert (line.exchanges, line.attempts, line.accepted) == (3, 6, 1)
    assert line.failures == {"transport": 1}
    (line,) = completions.usage(store, ["a", "b"])
    assert line.cost == 0.5
