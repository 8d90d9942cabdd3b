"""Small stores for the tests of the pages: some ordinary rows and one that attacks the reader."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from labelkit.domain.label import Evidence, Label, Outcome, Rater
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.rates import Denominator, Predicate, Rate
from labelkit.domain.rubric import Ensemble, LabelDefinition, Question, Rubric
from labelkit.domain.task import ExpectedCall, Reference, Task, Tool
from labelkit.domain.trace import RowState, Trace
from labelkit.store import Store
from labelkit.store.labels import commit_labels
from labelkit.store.raters import add_rater, add_rubric
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces

MOMENT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
BEACON = "http://beacon.invalid"
LONG = "0123456789" * 50_000
ATTACK = (
    f'<script>window.hit=1</script> <img src="{BEACON}/i.png" onerror="window.hit=2">'
    f" ![x]({BEACON}/m.png) **bold** $a$ $$b$$ :material/delete: :red[red] :smile: # head"
    f" <style>@import url({BEACON}/c.css)</style> [l](javascript:window.hit=3) {{{{ 7*7 }}}}"
    " \x1b[31mansi\x1b[0m nul:\x00: bidi:\u202etxet\u202c: lone:\ud800: isolate:\u2066x"
)
RUBRIC = Rubric(
    name="tone",
    version="1.0.0",
    title="Tone of answers",
    source="tests",
    questions=(
        Question(
            id="tone",
            type="choice",
            text="How does the answer speak?",
            labels=(
                LabelDefinition(name="polite", title="Polite", key="p", include="friendly"),
                LabelDefinition(name="rude", title="Rude", key="r", include="insulting"),
            ),
        ),
    ),
    ensemble=Ensemble(tie="rule", null_policy="ignore"),
    rates=(
        Rate(
            id="RUDE",
            title="Rude answers",
            question="tone",
            numerator=Predicate(labels=("rude",)),
            denominator=Denominator(name="All"),
        ),
    ),
)
SPEC = {"rubric_digest": RUBRIC.digest}
RULE = Rater(kind="rule", name="tone", version="1", spec=SPEC)
JUDGE = Rater(kind="judge", name="judge:plain", version="1", spec=SPEC)
TASK = Task(
    set="demo",
    id="t0",
    tools=(Tool(name="look_up"),),
    reference=Reference(
        expected_calls=(ExpectedCall(name="look_up", arguments={"id": 7}),),
        gold_answer="It is seven.",
    ),
    tags={"domain": "shop", "subset": "required"},
)


@dataclass(frozen=True)
class Filled:
    """A store with rows and labels. ``traces``: three ordinary ones, one that died, the attack."""

    url: str
    traces: tuple[Trace, ...]

    @property
    def attack(self) -> Trace:
        return self.traces[4]


def ordinary(number: int, answer: str) -> Trace:
    """A run with one call that worked and one that failed."""
    return Trace(
        model="small" if number else "big",
        messages=(
            Message(role="system", content="You are a clerk."),
            Message(role="user", content=f"Where is order {number}?"),
            Message(
                role="assistant",
                tool_calls=(
                    ToolCall(name="look_up", arguments='{"id": 7}', id="a"),
                    ToolCall(name="refund", arguments="{}", id="b"),
                ),
            ),
            Message(role="tool", content='{"place": "shelf"}', tool_call_id="a"),
            Message(role="tool", content='{"error": "not allowed"}', tool_call_id="b"),
            Message(role="assistant", content=answer),
        ),
        state=RowState.OK,
        task_set="demo",
        task_id=f"t{number}",
        tags={} if number == 0 else {"domain": "bank"},
    )


def attacking() -> Trace:
    """Every text of the run that an outsider can choose is hostile."""
    return Trace(
        model=f"evil {ATTACK}",
        messages=(
            Message(role="user", content=f"question {ATTACK}"),
            Message(
                role="assistant",
                content="let me see",
                tool_calls=(ToolCall(name=f"tool {ATTACK}", arguments=ATTACK, id="a"),),
            ),
            Message(role="tool", content=LONG, tool_call_id="a"),
            Message(role="assistant", content=f"answer {ATTACK}"),
        ),
        state=RowState.OK,
        task_set="demo",
        task_id=f"task {ATTACK}",
        tags={"domain": f"domain {ATTACK}"},
    )


def label(trace: Trace, rater: Rater, value: str | None, **more: object) -> Label:
    fields = {
        "trace": trace.digest,
        "rater": rater.digest,
        "question": "tone",
        "outcome": Outcome.LABELLED if value else Outcome.FAILED,
        "value": value,
        "reason": None if value else "parse",
        "created_at": MOMENT,
    }
    return Label.model_validate(fields | more)


def fill(folder: Path) -> Filled:
    """Make the store.

    tone: polite, rude, polite, (died), polite; judge:plain: polite, polite, failed, -, rude.
    So the raters disagree on the second row and on the attack.
    """
    url = f"sqlite:///{folder / 'labelkit.db'}"
    died = Trace(model="small", messages=(), state=RowState.INFRA_ERROR, task_id="t3")
    answers = [ordinary(n, text) for n, text in enumerate(("Here.", "Go away.", "On a shelf."))]
    traces = (*answers, died, attacking())
    with Store.open(url, create=True) as store:
        add_tasks(store, [TASK])
        add_traces(store, traces)
        add_rubric(store, RUBRIC)
        for rater in (RULE, JUDGE):
            add_rater(store, rater)
        quotes = (
            Evidence(part="answer", quote="Go away", start=0, end=7),
            Evidence(part="answer", quote=ATTACK),
        )
        commit_labels(
            store,
            [
                label(traces[0], RULE, "polite", view="ab" * 32),
                label(traces[1], RULE, "rude"),
                label(traces[2], RULE, "polite"),
                label(traces[4], RULE, "polite", flags=("flag " + ATTACK,)),
                label(traces[0], JUDGE, "polite"),
                label(traces[1], JUDGE, "polite", rationale="It is short.", evidence=quotes),
                label(traces[2], JUDGE, None),
                label(traces[4], JUDGE, "rude", rationale=f"because {ATTACK}", evidence=quotes),
            ],
        )
    return Filled(url, traces)
