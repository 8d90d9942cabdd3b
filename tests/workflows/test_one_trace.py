"""What a person reads of a trace: everything that was said, once, in order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Reference, Scenario, Task
from labelkit.domain.trace import RowState, Trace, TraceError
from labelkit.store import Store
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces
from labelkit.workflows.one_trace import TraceView, read_trace


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 's.db'}", create=True) as opened:
        yield opened


def read(store: Store, *messages: Message, **more: object) -> TraceView:
    fields = {"model": "m", "messages": messages, "state": RowState.OK}
    trace = Trace.model_validate(fields | more)
    add_traces(store, [trace])
    return read_trace(store, trace.digest)


def said(role: str, content: str | None = None, **more: object) -> Message:
    return Message.model_validate({"role": role, "content": content, **more})


def test_reasoning_in_the_answer_stays_in_the_path_and_not_on_top(store: Store) -> None:
    view = read(store, said("user", "q"), said("assistant", "<think>hm</think>Yes."))
    assert view.answer == "Yes."
    assert [(step.kind, step.text) for step in view.steps] == [("agent", "<think>hm</think>Yes.")]


def test_reasoning_apart_from_the_answer_is_a_step_of_its_own(store: Store) -> None:
    view = read(store, said("user", "q"), said("assistant", "Yes.", reasoning="hm"))
    assert [(step.kind, step.text) for step in view.steps] == [("reasoning", "hm"), ("final", "")]


def test_a_result_without_a_call_and_a_call_without_a_result_are_both_shown(store: Store) -> None:
    calling = said("assistant", tool_calls=(ToolCall(name="a", arguments="{}", id="1"),))
    view = read(store, said("user", "q"), said("tool", "stray", tool_call_id="9"), calling)
    assert [step.kind for step in view.steps] == ["result", "call"]
    assert view.steps[0].text == "stray"
    assert (view.steps[1].status, view.steps[1].result) == ("attempted", None)
    assert "only tool calls" in view.no_answer


def test_later_turns_and_unknown_roles_are_kept(store: Store) -> None:
    view = read(
        store,
        said("user", "first"),
        said("assistant", "which one?"),
        said("user", "second"),
        said("critic", "hm"),
        said("assistant", "done"),
    )
    assert view.question == "first"
    assert [(step.kind, step.name, step.text) for step in view.steps] == [
        ("agent", "", "which one?"),
        ("user", "", "second"),
        ("other", "critic", "hm"),
        ("final", "", ""),
    ]


def test_parts_that_are_no_text_are_not_lost(store: Store) -> None:
    parts = ({"type": "text", "text": "q"}, {"type": "image_url", "image_url": {"url": "u"}})
    view = read(store, said("user", "first"), said("user", "q", parts=parts))
    assert [step.kind for step in view.steps] == ["user", "other"]
    assert '"image_url"' in view.steps[1].text


def test_a_question_that_the_run_did_not_record_comes_from_its_task(store: Store) -> None:
    add_tasks(store, [Task(set="s", id="1", messages=(said("user", "from the task"),))])
    view = read(store, said("assistant", "a"), task_set="s", task_id="1")
    assert (view.question, view.question_message) == ("from the task", None)


def test_why_there_is_no_answer_is_said(store: Store) -> None:
    nothing = read(store, said("user", "q"), state=RowState.INFRA_ERROR, error=TraceError(kind="x"))
    assert nothing.no_answer == "no message of the agent (row state infra_error)"
    assert ("error", "x: ") in nothing.facts
    thought = read(store, said("assistant", "<think>hm"), state=RowState.TRUNCATED)
    assert thought.no_answer == "nothing but reasoning was said (row state truncated)"
    silent = read(store, said("assistant"), state=RowState.NO_TEXT)
    assert silent.no_answer == "the last message of the agent holds no text (row state no_text)"
    assert [step.kind for step in silent.steps] == ["agent"]


def test_who_rates_the_handling_sees_what_an_expert_would_do(store: Store) -> None:
    known = Scenario(ideal="Say that it is down.", mistakes=("Tries again.", "Claims success."))
    add_tasks(store, [Task(set="s", id="1", reference=Reference(scenario=known))])
    view = read(store, said("assistant", "It is down."), task_set="s", task_id="1")
    assert ("an expert would", "Say that it is down.") in view.reference
    assert ("mistakes seen here", "Tries again.\nClaims success.") in view.reference
