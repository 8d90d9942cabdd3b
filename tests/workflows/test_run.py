"""``run`` end to end against the fake server: protocol, condition and arm reach the traces."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.endpoint import Endpoint
from labelkit.domain.environment import Environment, Hazard, ToolReturn
from labelkit.domain.trace import Trace
from labelkit.errors import FormatError, InputError
from labelkit.settings import Settings
from labelkit.store import Store
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import rows
from labelkit.workflows.progress import Silent
from labelkit.workflows.run import RolloutRun, run
from labelkit.workflows.staging import Manner, Rerun, load_tasks, manner_of
from tests.fake_server import FakeServer, replies
from tests.rollout.playing import berth

MakeEndpoint = Callable[..., Endpoint]
CARD = """\
name: quay
title: Quay
version: "1"
licence: Apache-2.0
redistributable: true
source: these tests
description: One task.
domains: [harbour]
"""
CONDITIONS = """\
conditions:
  - {name: neutral}
  - {name: deploy, base: neutral, after: Always give an answer.}
  - {name: other, base: neutral, system: Something else., kind: replacement}
  - {name: broken, base: neutral, system: Something else.}
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'labelkit.db'}", create=True) as opened:
        yield opened


@pytest.fixture
def settings(fake_server: FakeServer, make_endpoint: MakeEndpoint) -> Settings:
    fake_server.reply = answer
    return Settings(endpoints={"fake": make_endpoint()})


def answer(request: dict[str, Any]) -> replies.Reply | str:
    """Call the first tool once, then say what it said."""
    told = [m for m in request["messages"] if m["role"] == "tool"]
    if request.get("tools") and not told:
        name = request["tools"][0]["function"]["name"]
        return replies.tool_calls(replies.call(name, "{}"))
    return f"It is {told[-1]['content']}." if told else "I do not know."


def always_call(request: dict[str, Any]) -> replies.Reply | str:
    """Call the first tool as long as there is one."""
    return answer({**request, "messages": []})


def task_set(folder: Path, *, more: str = "", hazard: bool = False) -> Path:
    """A set with one task."""
    place = folder / "quay"
    place.mkdir()
    (place / "card.yaml").write_text(CARD + more, encoding="utf-8")
    task = berth()
    if hazard:
        busy = ToolReturn(payload='{"error": "busy"}', fault="execution_failure", times=9)
        hint = Hazard(kind="execution_failure", recovery=(), hint="Use get_tide.")
        world = Environment(returns=(busy, ToolReturn(payload="11.3")), hazard=hint)
        gold = task.reference.model_copy(update={"gold_answer": "11.3"})
        task = task.model_copy(update={"environment": world, "reference": gold})
    record = task.model_dump(mode="json", exclude={"set"})
    (place / "tasks.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    return place


def played(store: Store, settings: Settings, place: Path, **flags: Any) -> RolloutRun:
    source = load_tasks(store, str(place))
    return run(store, source.tasks, settings, "fake", manner=manner_of(source, **flags))


def traces(store: Store) -> dict[str, Trace]:
    return {trace.condition: trace for trace, _ in rows(store)}


def test_a_flag_wins_over_the_card_and_the_card_over_two_step(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    place = task_set(tmp_path, more="protocol: live_loop\n")
    assert played(store, settings, place).protocol == "live_loop"
    assert played(store, settings, place, protocol="agent").condition == "@agent"
    found = traces(store)
    assert {name: trace.tags["protocol"] for name, trace in found.items()} == {
        "": "live_loop",
        "@agent": "agent",
    }
    assert manner_of(load_tasks(store, "tool-failure-mini")).protocol == "two_step"


def test_the_cards_cap_is_for_its_own_protocol_and_a_flag_wins(
    store: Store, settings: Settings, tmp_path: Path, fake_server: FakeServer
) -> None:
    fake_server.reply = always_call
    place = task_set(tmp_path, more="protocol: agent\nmax_turns: 3\n")
    played(store, settings, place)
    played(store, settings, place, protocol="one-action-per-round")
    played(store, settings, place, protocol="feasibility", max_turns=2)
    asked = {name: trace.extra["requests"] for name, trace in traces(store).items()}
    assert asked == {"": 3, "@one_action_per_round": 10, "@feasibility": 2}


def test_rows_that_are_there_are_not_played_again(
    store: Store, settings: Settings, tmp_path: Path, fake_server: FakeServer
) -> None:
    place = task_set(tmp_path)
    first = played(store, settings, place)
    asked = fake_server.count
    again = played(store, settings, place)
    assert (sum(first.states.values()), first.known) == (1, 0)
    assert (sum(again.states.values()), again.known) == (0, 1)
    assert fake_server.count == asked
    assert played(store, settings, place, protocol="replay").known == 0


def test_conditions_change_the_system_prompt_and_are_told(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    place = task_set(tmp_path, more=CONDITIONS)
    played(store, settings, place)
    played(store, settings, place, condition="deploy")
    found = traces(store)
    assert found["neutral"].messages[0].content == "You help."
    assert found["deploy"].messages[0].content == "You help.\nAlways give an answer."

    class Heard(Silent):
        def __init__(self) -> None:
            self.said: list[str] = []

        def say(self, text: str) -> None:
            self.said.append(text)

    source = load_tasks(store, str(place))
    manner = manner_of(source, condition="other")
    heard = Heard()
    run(store, source.tasks, settings, "fake", manner=manner, progress=heard)
    assert heard.said[0].startswith("condition other replaces 'neutral'")


def test_a_broken_promise_costs_no_token(
    store: Store, settings: Settings, tmp_path: Path, fake_server: FakeServer
) -> None:
    place = task_set(tmp_path, more=CONDITIONS)
    with pytest.raises(InputError, match="'broken' is declared an insertion"):
        played(store, settings, place, condition="broken")
    with pytest.raises(InputError, match=r"'neutrel'.*'neutral'"):
        played(store, settings, place, condition="neutrel")
    assert fake_server.count == 0


def test_arms_play_the_same_faults_with_more_or_less_help(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    place = task_set(tmp_path, hazard=True)
    played(store, settings, place, protocol="agent")
    for arm in ("hint", "hint-after-error", "oracle"):
        played(store, settings, place, protocol="agent", arm=arm)
    found = traces(store)
    assert set(found) == {
        "baseline@agent",
        "hint@agent",
        "hint_after_error@agent",
        "oracle@agent",
    }
    results = {name: trace.messages[3].content for name, trace in found.items()}
    assert results.pop("oracle@agent") == "11.3"
    assert set(results.values()) == {'{"error": "busy"}'}
    told = {name: "Use get_tide." in str(trace.messages) for name, trace in found.items()}
    assert [name for name, holds in told.items() if holds] == [
        "hint@agent",
        "hint_after_error@agent",
    ]


def test_an_arm_without_data_costs_no_token(
    store: Store, settings: Settings, tmp_path: Path, fake_server: FakeServer
) -> None:
    place = task_set(tmp_path)
    with pytest.raises(InputError, match="no hazard"):
        played(store, settings, place, arm="hint")
    with pytest.raises(InputError, match="--rerun-of"):
        played(store, settings, place, arm="rerun")
    assert fake_server.count == 0


def test_only_what_failed_is_run_again(store: Store, settings: Settings, tmp_path: Path) -> None:
    """Of two tasks the rule calls one wrong; the rerun plays that one and shows its course."""
    rubric = load_rubric("tool-failure")
    tasks = [
        berth(tags={"subset": "control"}).model_copy(
            update={
                "id": name,
                "reference": berth().reference.model_copy(
                    update={"must_contain": (word,), "expected_calls": ()}
                ),
                "tools": (),
            }
        )
        for name, word in (("right", "know"), ("wrong", "42"))
    ]
    add_tasks(store, tasks)
    run(store, tasks, settings, "fake")
    rerun = Rerun(of="", rubric=rubric, failed=("wrong_answer",))
    done = run(store, tasks, settings, "fake", manner=Manner(arm="rerun", rerun=rerun))
    assert sum(done.states.values()) == 1
    again = traces(store)["rerun"]
    assert again.task_id == "wrong"
    assert "I do not know" not in (again.messages[0].content or "")
    for of, failed, words in (("", "nope", "no label 'nope'"), ("x", "wrong_answer", "first")):
        bad = Manner(arm="rerun", rerun=Rerun(of=of, rubric=rubric, failed=(failed,)))
        with pytest.raises(InputError, match=words):
            run(store, tasks, settings, "fake", manner=bad)


def test_tasks_may_come_from_a_file_of_another_format(
    store: Store, shared: Path, tmp_path: Path
) -> None:
    folder = shared / "real" / "toolfailbench"
    files = sorted(folder.rglob("*.json*"))
    source = load_tasks(store, str(files[0]))
    assert source.card is None
    assert source.tasks
    assert manner_of(source).protocol == "two_step"
    empty = tmp_path / "traces.jsonl"
    said = [{"role": role, "content": "hi"} for role in ("user", "assistant")]
    record = {"model": "m", "messages": said}
    empty.write_text(json.dumps(record) + "\n", encoding="utf-8")
    with pytest.raises(FormatError, match="holds no tasks"):
        load_tasks(store, str(empty))
