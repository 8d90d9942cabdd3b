"""The rule over several processes: the same labels in the same order, and nothing left behind."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.label import Label, Outcome, Rater
from labelkit.domain.message import Message
from labelkit.domain.rubric import FactRange, LabelDefinition, Question, Rubric, RuleCase
from labelkit.domain.trace import RowState, Trace
from labelkit.errors import InputError, StoreError
from labelkit.rules.registry import answered
from labelkit.settings import Settings
from labelkit.store import Selection, Store
from labelkit.store.labels import commit_labels
from labelkit.store.raters import add_rater, add_rubric
from labelkit.store.tables import LABEL, TRACE
from labelkit.store.traces import add_traces
from labelkit.workflows import rule_pass
from labelkit.workflows.label import judge
from labelkit.workflows.progress import Silent
from labelkit.workflows.report import report
from labelkit.workflows.rule_pass import Children, rule_labels, rule_rater
from labelkit.workflows.rule_worker import Setup

ROWS = 600  # three pages


def label(name: str) -> LabelDefinition:
    return LabelDefinition(name=name, title=name, key=name[0], include=name)


RUBRIC = Rubric(
    name="length",
    version="1.0.0",
    title="Length",
    source="here",
    questions=(
        Question(
            id="size", type="choice", text="How long?", labels=(label("long"), label("brief"))
        ),
    ),
    rule="facts",
    rule_table=(
        RuleCase(when={"answer_chars": FactRange(min=9)}, label="long"),
        RuleCase(when={"answer_chars": FactRange(max=7)}, label="brief"),
    ),
)


def trace(number: int) -> Trace:
    # A lone surrogate must come through the pipe as it is.
    said = Message(
        role="assistant", content="x" * (number % 12) + ("\ud800" if number == 5 else "")
    )
    messages = (Message(role="user", content=f"question {number}"), said)
    return Trace(model="agent", messages=messages, state=RowState.OK, repeat=number)


class Heard(Silent):
    """Counts what a listener is told."""

    def __init__(self) -> None:
        self.total: int | None = 0
        self.done = 0

    def begin(self, stage: str, total: int | None) -> None:
        """Remember how much was announced."""
        self.total = total

    def advance(self, stage: str, count: int = 1) -> None:
        """Count what was finished."""
        self.done += count


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url, create=True) as opened:
        add_traces(opened, [trace(n) for n in range(ROWS)])
        yield opened


def committed(store: Store) -> list[tuple[str, str | None, str | None, str]]:
    """Every label in the order it was written."""
    columns = (TRACE.c.digest, LABEL.c.value, LABEL.c.reason, LABEL.c.outcome)
    with store.reading() as connection:
        query = select(*columns).join(TRACE, TRACE.c.id == LABEL.c.trace_id).order_by(LABEL.c.id)
        return [tuple(row) for row in connection.execute(query)]


def test_children_say_what_this_process_says_in_the_same_order(store: Store) -> None:
    rater = rule_rater(RUBRIC)
    add_rater(store, rater)

    def said(processes: int) -> list[tuple[str, str | None, str | None]]:
        pages = rule_labels(store, RUBRIC, rater, Selection(), owed=ROWS, processes=processes)
        return [(one.trace, one.value, one.reason) for page in pages for one in page]

    alone = said(1)
    assert len(alone) == ROWS
    assert {value for _, value, _ in alone} == {"long", "brief", None}
    assert said(2) == alone
    assert said(3) == alone


def test_judge_commits_in_order_and_a_second_run_owes_nothing(store: Store) -> None:
    add_rubric(store, RUBRIC)
    done = judge(store, RUBRIC, Settings(), judges=[], limit=300, processes=2)
    assert done.tallies[0].planned == done.tallies[0].labelled + done.tallies[0].abstained == 300
    again = judge(store, RUBRIC, Settings(), judges=[], processes=2)
    assert again.tallies[0].planned == ROWS - 300
    assert judge(store, RUBRIC, Settings(), judges=[], processes=2).tallies[0].planned == 0
    order = [digest for digest, *_ in committed(store)]
    assert order == [trace(n).digest for n in range(ROWS)]


SAYINGS = ("STOP", "There is no tool to pay, so I can't do this.", "I'm unable to pay.", "Paid.")
STOPS = load_rubric("feasibility")
# signal, refusal, success, lenient_decision, decision of each saying, as the scheme defines them;
# without a task nobody knows whether the goal was reached.
SAID = (
    ("yes", None, None, "stop", "stop"),
    ("no", "yes", None, "stop", "continue"),
    ("no", None, None, None, "continue"),
    ("no", "no", None, "continue", "continue"),
)


def stopping(number: int) -> Trace:
    said = Message(role="assistant", content=SAYINGS[number % len(SAYINGS)])
    messages = (Message(role="user", content="pay"), said)
    return Trace(model="agent", messages=messages, state=RowState.OK, repeat=number)


@pytest.fixture
def stops(url: str) -> Iterator[Store]:
    with Store.open(url, create=True) as opened:
        add_traces(opened, [stopping(n) for n in range(ROWS)])
        yield opened


def values(store: Store, rubric: Rubric = STOPS) -> dict[str, list[str | None]]:
    """Labels of every question by its id, in the order of the traces."""
    columns = (LABEL.c.question, LABEL.c.value, LABEL.c.reason)
    found: dict[str, list[str | None]] = {}
    with store.reading() as connection:
        for question, value, reason in connection.execute(
            select(*columns).order_by(LABEL.c.trace_id, LABEL.c.id)
        ):
            assert (value is None) == (reason is not None)
            found.setdefault(question, []).append(value)
    assert set(found) <= {question.id for question in rubric.questions}
    return found


@pytest.mark.parametrize("processes", [1, 2])
def test_every_question_that_the_rule_answers_is_labelled_once(
    stops: Store, processes: int
) -> None:
    heard = Heard()
    done = judge(stops, STOPS, Settings(), judges=[], processes=processes, progress=heard)
    wanted = {
        question: [row[place] for row in SAID] * (ROWS // len(SAID))
        for place, question in enumerate(answered(STOPS))
    }
    assert values(stops) == wanted
    # Rows are counted and told of, not labels.
    assert (done.tallies[0].planned, done.tallies[0].labelled) == (ROWS, ROWS)
    assert (heard.total, heard.done) == (ROWS, ROWS)
    again = judge(stops, STOPS, Settings(), judges=[], processes=processes)
    assert again.tallies[0].planned == 0
    assert values(stops) == wanted


def test_a_row_without_one_of_its_labels_is_owed_again(stops: Store) -> None:
    """A store may hold some questions only: written by hand, or by another program."""
    add_rubric(stops, STOPS)
    rater = rule_rater(STOPS)
    add_rater(stops, rater)
    pages = list(rule_labels(stops, STOPS, rater, Selection(), owed=ROWS, processes=1))
    each = len(answered(STOPS))
    assert [len(page) % each for page in pages] == [0] * len(pages)
    flat = [label for page in pages for label in page]
    kept = [one for n, one in enumerate(flat) if n // each < 100 or one.question == "decision"]
    commit_labels(stops, kept)
    done = judge(stops, STOPS, Settings(), judges=[])
    assert done.tallies[0].planned == ROWS - 100
    assert {question: len(found) for question, found in values(stops).items()} == dict.fromkeys(
        answered(STOPS), ROWS
    )


def test_a_changed_policy_answers_what_it_can(stops: Store) -> None:
    judge(stops, STOPS, Settings(), judges=[], policy={"detector": "anywhere"})
    assert set(values(stops)) == {"decision"}
    done = judge(stops, STOPS, Settings(), judges=[], policy={"detector": "lenient"})
    assert done.tallies[0].planned == ROWS
    assert set(values(stops)) == set(answered(STOPS))
    for detector in ("anywhere", "lenient"):
        again = judge(stops, STOPS, Settings(), judges=[], policy={"detector": detector})
        assert again.tallies[0].planned == 0


def test_the_rule_is_a_rater_of_every_question_it_answers(stops: Store) -> None:
    """Reports, votes and agreement of a further question hold the rule beside the others."""
    judge(stops, STOPS, Settings(), judges=[])
    spec = {"rubric": STOPS.name, "rubric_digest": STOPS.digest}
    other = Rater(kind="judge", name="other", version="1", spec=spec)
    add_rater(stops, other)
    # The other judge says yes to everything: it differs from the rule where that says no.
    now = datetime.now(UTC)
    given = [
        Label(
            trace=stopping(n).digest,
            rater=other.digest,
            question="refusal",
            outcome=Outcome.LABELLED,
            value="yes",
            created_at=now,
        )
        for n in range(ROWS)
    ]
    commit_labels(stops, given)
    found = report(stops, STOPS, question="refusal")
    by_name = {rater.name: rater for rater in found.raters}
    quarter = ROWS // 4
    assert by_name["feasibility"].label_counts == {"yes": quarter, "no": quarter}
    assert by_name["feasibility"].without == {"abstained": 2 * quarter}
    # One row in four is a tie of the two, which goes to the rule; where it abstains, the judge
    # decides.
    assert found.label_counts == {"yes": 3 * quarter, "no": quarter}
    assert found.tie_broken == quarter
    (together,) = found.agreement
    assert {(pair.first, pair.second) for pair in together.pairs} == {("feasibility", "other")}
    assert {pair.result.n_items for pair in together.pairs} == {2 * quarter}
    # The scheme's own numbers read the primary question, as before.
    assert report(stops, STOPS).label_counts == {"stop": quarter, "continue": 3 * quarter}


def test_few_rows_start_no_child(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_program: str) -> None:
        pytest.fail("a child was started for a small store")

    monkeypatch.setattr(rule_pass, "Child", refuse)
    assert judge(store, RUBRIC, Settings(), judges=[]).tallies[0].planned == ROWS
    assert ROWS < rule_pass.MANY_ROWS


def test_many_rows_take_every_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_pass, "cores", lambda: 7)
    assert rule_pass._processes_for(rule_pass.MANY_ROWS - 1) == 1
    assert rule_pass._processes_for(rule_pass.MANY_ROWS) == 7


def test_a_stray_label_is_told_from_a_child_too(store: Store) -> None:
    stray = RUBRIC.model_copy(update={"rule_table": (RuleCase(label="splendid"),)})
    for processes in (1, 2):
        with pytest.raises(InputError, match="splendid"):
            judge(store, stray, Settings(), judges=[], processes=processes)
    assert committed(store) == []


def test_a_store_that_is_gone_is_told_as_it_is(store: Store) -> None:
    elsewhere = Setup("sqlite:////nowhere/at/all.db", RUBRIC)
    with Children(1, elsewhere) as one, pytest.raises(InputError, match="nowhere"):
        list(one.rulings(iter([[(1, 0)]])))


def test_a_child_that_dies_loses_nothing_that_was_committed(store: Store) -> None:
    pair = Children(2, Setup(store.address, RUBRIC))
    with pair:
        pages = pair.rulings(iter([[(1, 0)], [(2, 0)], [(3, 0)], [(4, 0)], [(5, 0)], [(6, 0)]]))
        assert len(next(pages)) == 1
        for child in pair._all:
            child.process.kill()
            child.process.wait()
        with pytest.raises(StoreError, match="--processes 1"):
            list(pages)
    assert all(child.process.poll() is not None for child in pair._all)


def test_leaving_early_ends_every_child(store: Store) -> None:
    pair = Children(2, Setup(store.address, RUBRIC))

    def interrupted() -> None:
        with pair:
            next(pair.rulings(iter([[(n, 0)] for n in range(1, 50)])))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert all(child.process.poll() is not None for child in pair._all)


def test_a_script_without_a_main_guard_is_not_run_again(tmp_path: Path) -> None:
    """Children of ``multiprocessing`` would import the caller's script; ours do not."""
    script = tmp_path / "plain.py"
    script.write_text(
        textwrap.dedent(
            """
            import labelkit as lk
            from labelkit.domain.message import Message
            from labelkit.domain.trace import RowState, Trace
            from labelkit.store.traces import add_traces
            from tests.workflows.test_rule_pass import RUBRIC, trace
            print("once")
            with lk.open_store("sqlite:///s.db", create=True) as store:
                add_traces(store, [trace(n) for n in range(20)])
                done = lk.judge(store, RUBRIC, lk.Settings(), judges=[], processes=2)
                print(done.tallies[0].planned)
            """
        ),
        encoding="utf-8",
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["once", "20"]
