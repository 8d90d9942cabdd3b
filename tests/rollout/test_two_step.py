"""The two-step protocol against the fake server: requests made, rows that come of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from labelkit.domain.endpoint import Endpoint
from labelkit.domain.message import Message
from labelkit.domain.task import Environment, Task, Tool, ToolReturn
from labelkit.domain.trace import RowState, Trace
from labelkit.grounding.calls import pair_calls
from labelkit.models.client import Client
from labelkit.rollout.emulation import action_schema, read_action
from labelkit.rollout.preflight import preflight
from labelkit.rollout.protocol import Decoding, Row
from labelkit.rollout.runner import plan_rows, run_tasks
from labelkit.rollout.two_step import TwoStep
from tests.fake_server import FakeServer, replies
from tests.fake_server.replies import Reply

MakeEndpoint = Callable[..., Endpoint]


def task(name: str = "t1", system: str = "You help.") -> Task:
    return Task(
        set="demo",
        id=name,
        messages=(
            Message(role="system", content=system),
            Message(role="user", content=f"How deep is berth {name}?"),
        ),
        tools=(
            Tool(
                name="get_depth",
                description="Depth of a berth.",
                parameters={"type": "object", "properties": {"berth": {"type": "string"}}},
            ),
        ),
        environment=Environment(returns=(ToolReturn(payload='{"depth_m": 11.3}'),)),
        tags={"subset": "required"},
    )


def called(*calls: tuple[str | None, str, str], finish_reason: str = "tool_calls") -> Reply:
    made = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, name, arguments in calls
    ]
    return replies.message({"content": None, "tool_calls": made}, finish_reason=finish_reason)


def play(endpoint: Endpoint, *tasks: Task, emulated: bool = False) -> list[Trace]:
    async def collect() -> list[Trace]:
        protocol = TwoStep(
            tool_mode="emulated" if emulated else "native", decoding=Decoding(max_tokens=64)
        )
        async with Client(endpoint) as client:
            return [trace async for trace in run_tasks(tasks, client, protocol)]

    return asyncio.run(collect())


def test_a_call_is_answered_and_the_second_reply_is_the_answer(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(called(("a", "get_depth", '{"berth":"B7"}')), replies.text("11.3 m."))
    (trace,) = play(make_endpoint(), task())
    assert [m.role for m in trace.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert (trace.state, trace.tool_mode) == (RowState.OK, "native")
    assert [call.status for call in pair_calls(trace.messages)] == ["executed"]
    assert fake_server.sent("tool_choice") == ["auto", "none"]
    assert fake_server.sent("temperature") == [0.0, 0.0]
    first, second = fake_server.sent("tools")
    assert first == second
    assert fake_server.sent("messages")[1][-1]["content"] == '{"depth_m": 11.3}'
    assert trace.tags["subset"] == "required"


def test_an_answer_without_a_call_takes_one_request(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue("About 9 m.")
    (trace,) = play(make_endpoint(), task())
    assert len(fake_server.requests) == 1
    assert trace.messages[-1].content == "About 9 m."


def test_every_call_is_answered_also_with_lost_ids_and_broken_arguments(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    """Field report D7: one malformed argument text must not poison the second request."""
    fake_server.queue(
        called(("x", "get_depth", "{broken"), ("x", "other", "{}")), replies.text("11.3")
    )
    (trace,) = play(make_endpoint(), task())
    sent = fake_server.sent("messages")[1][2]["tool_calls"]
    assert [call["function"]["arguments"] for call in sent] == ["{}", "{}"]
    assert len({call["id"] for call in sent}) == 2
    assert trace.messages[2].tool_calls[0].arguments == "{broken"
    assert [call.status for call in pair_calls(trace.messages)] == ["executed", "executed"]


def test_calls_after_none_are_only_attempted(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    one = called(("a", "get_depth", "{}"))
    fake_server.queue(one, called(("b", "get_depth", "{}")))
    (trace,) = play(make_endpoint(), task())
    assert len(fake_server.requests) == 2
    assert [call.status for call in pair_calls(trace.messages)] == ["executed", "attempted"]
    assert trace.state is RowState.NO_TEXT
    assert trace.extra["flags"] == ["calls_after_none"]


def test_an_empty_answer_after_none_is_suspect(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(called(("a", "get_depth", "{}")), replies.text(""))
    (trace,) = play(make_endpoint(), task())
    assert trace.state is RowState.NO_TEXT
    assert trace.extra["flags"] == ["suspect_server_filter"]


def test_a_cut_reply_is_truncated_and_a_failed_one_infra_error(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue(
        replies.text("It is", finish_reason="length"),
        Reply({"error": {"message": "content policy: moderation"}}, status=400),
    )
    cut, failed = play(make_endpoint(max_concurrency=1), task("a"), task("b"))
    assert cut.state is RowState.TRUNCATED
    assert failed.state is RowState.INFRA_ERROR
    assert failed.error is not None
    assert failed.error.status == 400
    assert failed.messages[-1].role == "user"


def test_emulated_calls_are_ordinary_calls_of_the_trace(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue('{"tool": "get_depth", "arguments": {"berth": "B7"}}', "It is 11.3 m deep.")
    (trace,) = play(make_endpoint(), task(), emulated=True)
    assert trace.tool_mode == "emulated"
    assert trace.messages[0].content == "You help."
    (call,) = pair_calls(trace.messages)
    assert (call.status, call.parsed, call.in_text) == ("executed", {"berth": "B7"}, False)
    assert trace.messages[-1].content == "It is 11.3 m deep."
    first, second = (request.json for request in fake_server.requests)
    assert first["response_format"]["json_schema"]["schema"] == action_schema(task().tools)
    assert "tools" not in first
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert "11.3" in second["messages"][-1]["content"]


def test_an_emulated_answer_needs_no_second_request(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.queue('{"answer": "Depth is how far down it goes."}')
    (trace,) = play(make_endpoint(), task(), emulated=True)
    assert trace.messages[-1].content == "Depth is how far down it goes."
    assert not pair_calls(trace.messages)


def test_reading_an_action_guesses_nothing() -> None:
    assert read_action("plain words") == "plain words"
    assert read_action("{broken") == "{broken"
    fenced = read_action('```json\n{"tool": "f", "arguments": {"a": 1}}\n```')
    assert not isinstance(fenced, str)
    assert (fenced.name, json.loads(fenced.arguments)) == ("f", {"a": 1})


def test_shared_beginnings_lie_together_and_done_rows_are_left_out() -> None:
    tasks = [task("a", "X"), task("b", "Y"), task("c", "X")]
    rows = plan_rows(tasks, "m", repeats=2, done={("demo", "a", 1)})
    assert [(row.task.id, row.repeat) for row in rows] == [
        ("a", 0),
        ("c", 0),
        ("c", 1),
        ("b", 0),
        ("b", 1),
    ]


def test_rows_run_at_bounded_concurrency_and_all_come_back(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    fake_server.latency_s = 0.01
    fake_server.reply = lambda _: "text"
    traces = play(make_endpoint(max_concurrency=3), *(task(f"t{n}") for n in range(20)))
    assert {trace.task_id for trace in traces} == {f"t{n}" for n in range(20)}
    assert fake_server.peak <= 3


def test_preflight_chooses_the_tool_mode(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    async def choose() -> Any:
        async with Client(make_endpoint()) as client:
            return await preflight(client)

    fake_server.queue(called(("a", "get_clock", '{"city":"Oslo"}')))
    assert asyncio.run(choose()).tool_mode == "native"
    fake_server.queue("get_clock(Oslo)")
    chosen = asyncio.run(choose())
    assert chosen.tool_mode == "emulated"
    assert "tool parser" in chosen.note


def test_a_fault_of_ours_costs_its_own_row_only(
    fake_server: FakeServer, make_endpoint: MakeEndpoint
) -> None:
    """Field report G4: one exception must not stop the other rows."""

    class Stumbling(TwoStep):
        async def play(self, client: Client, row: Row) -> Trace:
            if row.task.id == "b":
                raise ZeroDivisionError("one over nothing")
            return await super().play(client, row)

    async def collect() -> list[Trace]:
        async with Client(make_endpoint()) as client:
            tasks = [task(name) for name in "abc"]
            return [trace async for trace in run_tasks(tasks, client, Stumbling())]

    fake_server.reply = lambda _: "About 9 m."
    found = {trace.task_id: trace for trace in asyncio.run(collect())}
    assert {name: trace.state for name, trace in found.items()} == {
        "a": RowState.OK,
        "b": RowState.INFRA_ERROR,
        "c": RowState.OK,
    }
    error = found["b"].error
    assert error is not None
    assert (error.kind, error.message) == ("internal", "ZeroDivisionError: one over nothing")
