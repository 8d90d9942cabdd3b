"""Labelling end to end against the fake server: what is asked, committed, retried and refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from labelkit.domain.endpoint import Endpoint, Price
from labelkit.domain.message import Message
from labelkit.domain.rates import Denominator, Predicate, Rate
from labelkit.domain.rubric import (
    Ensemble,
    FactRange,
    Framing,
    LabelDefinition,
    Question,
    Rubric,
    RuleCase,
)
from labelkit.domain.trace import RowState, Trace, TraceError
from labelkit.errors import EndpointError, InputError
from labelkit.settings import JudgeSettings, Settings
from labelkit.store import Store
from labelkit.store.completions import usage
from labelkit.store.traces import add_traces
from labelkit.workflows.label import judge
from labelkit.workflows.report import report
from tests.fake_server import FakeServer, replies


def label(name: str) -> LabelDefinition:
    return LabelDefinition(name=name, title=name, key=name[0], include=f"the answer is {name}")


RUBRIC = Rubric(
    name="tone",
    version="1.0.0",
    title="Tone",
    source="here",
    questions=(
        Question(id="tone", type="choice", text="How?", labels=(label("polite"), label("rude"))),
    ),
    framings=(
        Framing(
            name="plain",
            template="Judge the tone.\n{{ answer_format }}",
            shows=("question", "answer"),
            asks=("tone",),
        ),
    ),
    rule="facts",
    rule_table=(RuleCase(when={"answer_chars": FactRange(min=1)}, label="polite"),),
    rates=(
        Rate(
            id="RUDE",
            title="rude answers",
            question="tone",
            numerator=Predicate(labels=("rude",)),
            denominator=Denominator(name="All"),
        ),
    ),
)


def trace(number: int, state: RowState = RowState.OK) -> Trace:
    error = TraceError(kind="transport", status=503) if state is RowState.INFRA_ERROR else None
    said = Message(role="assistant", content=f"kind answer {number}")
    messages = (Message(role="user", content=f"question {number}"), said)
    return Trace(model="agent", messages=messages, state=state, error=error, repeat=number)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Ten traces, on SQLite and on PostgreSQL: the same line on both."""
    with Store.open(url, create=True) as opened:
        add_traces(opened, [trace(n) for n in range(10)])
        yield opened


@pytest.fixture
def settings(make_endpoint: Callable[..., Endpoint]) -> Settings:
    endpoint = make_endpoint(name="fake", price=Price(input=1.0, output=2.0))
    return Settings(
        endpoints={"fake": endpoint}, judges={"j": JudgeSettings(name="j", endpoint="fake")}
    )


def test_second_run_asks_nothing(store, settings, fake_server: FakeServer) -> None:
    first = judge(store, RUBRIC, settings)
    asked = fake_server.count
    second = judge(store, RUBRIC, settings)
    assert [t.labelled for t in first.tallies] == [10, 10]
    assert asked == 10 + 1  # and one probe
    assert fake_server.count == asked
    assert [t.planned for t in second.tallies] == [0, 0]


def test_the_ledger_equals_what_the_server_reported(store, settings, fake_server) -> None:
    done = judge(store, RUBRIC, settings)
    ledger = done.tallies[1].ledger
    assert ledger.prompt_tokens == fake_server.prompt_tokens
    assert ledger.completion_tokens == fake_server.completion_tokens
    # The store keeps the exchanges of rows; the probe belongs to none.
    (line,) = usage(store)
    assert line.exchanges == 10
    assert line.cost == pytest.approx(
        (line.prompt_tokens * 1.0 + line.completion_tokens * 2.0) / 1e6
    )


def test_an_outage_of_the_rollout_is_never_labelled(store, settings, fake_server) -> None:
    add_traces(store, [trace(99, RowState.INFRA_ERROR)])
    done = judge(store, RUBRIC, settings)
    assert [t.planned for t in done.tallies] == [10, 10]
    result = report(store, RUBRIC)
    assert result.states == {"labelled": 10, "infra_error": 1}
    (rate,) = result.rates
    assert (rate.scored, rate.planned, rate.excluded) == (10, 11, {"infra_error": 1})


def test_unread_verdicts_are_failures_and_retried_only_on_request(
    store, settings, fake_server: FakeServer
) -> None:
    unread = {"question 3", "question 7"}

    def reply(body: dict) -> str | None:
        text = str(body["messages"])
        return "Rather polite, I think." if any(q in text for q in unread) else None

    fake_server.reply = reply
    done = judge(store, RUBRIC, settings)
    assert done.tallies[1].failed == {"parse": 2}
    assert done.failed == 2
    before = report(store, RUBRIC)
    assert before.states == {"labelled": 8, "failed": 2}

    fake_server.reset_counts()
    assert judge(store, RUBRIC, settings).tallies[1].planned == 0
    assert fake_server.count == 0

    fake_server.reply = None
    again = judge(store, RUBRIC, settings, retry_failed=True)
    assert again.tallies[1].labelled == 2
    assert fake_server.count == 2
    assert report(store, RUBRIC).states == {"labelled": 10}


def test_a_refused_key_stops_the_run_and_labels_nothing(store, settings, fake_server) -> None:
    fake_server.api_key = "right"
    with pytest.raises(EndpointError, match="fake"):
        judge(store, RUBRIC, settings)
    # The rule had finished, the judge owes everything still.
    assert report(store, RUBRIC, rater="facts").states == {"labelled": 10}
    fake_server.api_key = None
    assert judge(store, RUBRIC, settings).tallies[1].labelled == 10


def test_a_key_that_is_revoked_in_the_middle_loses_no_row_and_fails_none(
    store, settings, fake_server: FakeServer
) -> None:
    def reply(body: dict) -> object:
        late = fake_server.count > 5
        return replies.error(401, "revoked") if late else None

    fake_server.reply = reply
    with pytest.raises(EndpointError):
        judge(store, RUBRIC, settings)
    kept = report(store, RUBRIC, rater="j:plain").states
    assert kept.get("failed", 0) == 0
    fake_server.reply = None
    judge(store, RUBRIC, settings)
    assert report(store, RUBRIC, rater="j:plain").states == {"labelled": 10}


def test_thirty_percent_rate_limits_still_complete(store, settings, fake_server) -> None:
    turn = iter(range(10_000))

    def reply(body: dict) -> object:
        return replies.rate_limited(retry_after_ms="5") if next(turn) % 10 < 3 else None

    fake_server.reply = reply
    assert judge(store, RUBRIC, settings).tallies[1].labelled == 10


def test_repeats_vote_and_a_split_judge_is_undecided(store, settings, fake_server) -> None:
    votes = {0: "polite", 1: "rude"}

    def reply(body: dict) -> str | None:
        if "question" not in str(body["messages"]) or body.get("seed") not in votes:
            return None
        verdict = {"rationale": "as asked", "tone": votes[body["seed"]], "confidence": "high"}
        return json.dumps(verdict)

    fake_server.reply = reply
    twice = settings.model_copy(
        update={"judges": {"j": JudgeSettings(name="j", endpoint="fake", repeats=2)}}
    )
    done = judge(store, RUBRIC, twice)
    assert done.tallies[1].labelled == 20
    split = report(store, RUBRIC, rater="j:plain")
    assert split.states == {"labelled": 0, "tie": 10}
    # One of two repeats leads in every row: half.
    assert [rater.self_consistency for rater in split.raters] == [None, 0.5]


def test_repeats_on_a_scale_give_their_lower_median(store, settings, fake_server) -> None:
    (tone,) = RUBRIC.questions
    way = Ensemble(method="lower_median")
    scaled = RUBRIC.model_copy(
        update={"questions": (tone.model_copy(update={"type": "ordinal", "ensemble": way}),)}
    )
    first, *_, last = (label.name for label in tone.labels)
    scores = {0: last, 1: first}

    def reply(body: dict) -> str | None:
        if "question" not in str(body["messages"]) or body.get("seed") not in scores:
            return None
        return json.dumps({"rationale": "r", "tone": scores[body["seed"]], "confidence": "high"})

    fake_server.reply = reply
    twice = {"j": JudgeSettings(name="j", endpoint="fake", repeats=2)}
    judge(store, scaled, settings.model_copy(update={"judges": twice}))
    found = report(store, scaled, rater="j:plain")
    assert found.states == {"labelled": 10}
    assert found.label_counts[first] == 10


def test_a_model_may_not_grade_itself_unless_allowed(store, settings, fake_server) -> None:
    own = settings.endpoints["fake"].model_copy(update={"model": "agent"})
    alone = settings.model_copy(update={"endpoints": {"fake": own}})
    with pytest.raises(InputError, match="allow_self_judging"):
        judge(store, RUBRIC, alone)
    assert fake_server.count == 0
    allowed = JudgeSettings(name="j", endpoint="fake", allow_self_judging=True)
    done = judge(store, RUBRIC, alone.model_copy(update={"judges": {"j": allowed}}))
    assert done.remarks


def test_a_rule_that_gives_an_undeclared_label_is_an_error(store, settings) -> None:
    stray = RUBRIC.model_copy(update={"rule_table": (RuleCase(label="splendid"),)})
    with pytest.raises(InputError, match="splendid"):
        judge(store, stray, settings, judges=[])


def test_a_changed_rubric_is_another_rubric(store, settings, fake_server) -> None:
    judge(store, RUBRIC, settings)
    changed = RUBRIC.model_copy(update={"guideline": "read slowly"})
    other = report(store, changed)
    assert other.states == {"labelled": 0, "unlabelled": 10}
    assert "another text" in other.remarks[0]
    # The prompt is the same, so the replies come from the cache and nothing is asked.
    asked = fake_server.count
    done = judge(store, changed, settings)
    assert fake_server.count == asked
    assert done.tallies[1].cached == 10
    assert report(store, changed).states == {"labelled": 10}


def test_a_limit_means_the_same_traces_for_every_rater(store, settings) -> None:
    # In order of import these come last, in order of a shared prompt prefix first.
    early = [trace(100 + n).model_copy(update={"tags": {"subset": "a"}}) for n in range(3)]
    add_traces(store, early)
    add_traces(store, [trace(200).model_copy(update={"tags": {"subset": "Z"}})])
    judge(store, RUBRIC, settings, limit=4)
    result = report(store, RUBRIC)
    assert result.agreement[0].pairs[0].result.n_items == 4
