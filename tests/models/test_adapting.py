"""What an endpoint refuses is dropped or renamed once, remembered and recorded; nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labelkit.domain.completion import FailureKind
from labelkit.domain.endpoint import Endpoint
from labelkit.models.capabilities import Capabilities
from labelkit.models.client import Client
from tests.fake_server import FakeServer, Reply, replies
from tests.models.asking import SCHEMA, asking, complete

Make = Callable[..., Endpoint]
ALL_FIELDS: dict[str, Any] = {
    "max_tokens": 64,
    "temperature": 0.0,
    "seed": 0,
    "stop": ["\n\n"],
    "tools": [{"type": "function", "function": {"name": "a"}}],
    "parallel_tool_calls": False,
    "extra": {"top_p": 1, "logprobs": True},
}


@pytest.mark.parametrize("case", sorted(replies.REJECTED_PARAMETERS))
def test_c5_c6_a_rejected_parameter_is_dropped_once_and_recorded(
    fake_server: FakeServer, make_endpoint: Make, case: str
) -> None:
    name, refusal = replies.REJECTED_PARAMETERS[case]
    fake_server.rejects = {name: refusal}
    client, [first, second] = complete(
        make_endpoint(), asking(**ALL_FIELDS), asking("more", **ALL_FIELDS)
    )
    assert (first.failure, second.failure) == (None, None)
    assert (first.attempts, second.attempts) == (2, 1), "remembered for the endpoint"
    refused, resent, _ = (set(request.json) for request in fake_server.requests)
    if name == "max_tokens":
        assert refused - resent == {"max_tokens"}
        assert resent - refused == {"max_completion_tokens"}
        assert fake_server.sent("max_completion_tokens") == [None, 64, 64]
        expected: dict[str, Any] = {"renamed": {"max_tokens": "max_completion_tokens"}}
    else:
        assert refused - resent == {name}
        expected = {"dropped": [name]}
        assert client.capabilities.dropped == (name,)
    assert first.sent == second.sent == expected


def test_c5_a_reasoning_model_refuses_one_parameter_after_the_other(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    for case in ("temperature_openai", "top_p", "logprobs", "max_tokens", "parallel_tool_calls"):
        name, refusal = replies.REJECTED_PARAMETERS[case]
        fake_server.rejects[name] = refusal
    client, [first, second] = complete(
        make_endpoint(), asking(**ALL_FIELDS), asking("more", **ALL_FIELDS)
    )
    assert (first.attempts, second.attempts) == (6, 1)
    assert set(second.sent["dropped"]) == {
        "temperature",
        "top_p",
        "logprobs",
        "parallel_tool_calls",
    }
    restored = Capabilities.model_validate_json(client.capabilities.model_dump_json())
    fake_server.reset_counts()
    _, [resumed] = complete(make_endpoint(), asking(**ALL_FIELDS), capabilities=restored)
    assert resumed.failure is None
    assert fake_server.count == 1, "a resumed run knows already"


def test_c5_rows_in_flight_learn_together(fake_server: FakeServer, make_endpoint: Make) -> None:
    name, refusal = replies.REJECTED_PARAMETERS["max_tokens"]
    fake_server.rejects = {name: refusal.after(0.02)}
    requests = [asking(str(n), max_tokens=9) for n in range(8)]
    client, done = complete(make_endpoint(), *requests, at_once=True)
    assert [one.failure for one in done] == [None] * 8
    assert client.capabilities.max_tokens == "max_completion_tokens"
    assert fake_server.count == 16, "each of the eight was refused once and resent once"


def test_c5_a_limit_refused_under_both_names_is_dropped(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    unknown = "Unrecognized request argument supplied: {}"
    fake_server.rejects = {
        name: replies.error(400, unknown.format(name))
        for name in ("max_tokens", "max_completion_tokens")
    }
    client, [done] = complete(make_endpoint(), asking(max_tokens=9))
    assert done.failure is None
    assert client.capabilities.max_tokens is None
    assert done.sent == {"dropped": ["max_tokens"]}
    assert fake_server.count == 3


def test_c6_parallel_tool_calls_goes_out_only_when_set(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    tools = ALL_FIELDS["tools"]
    complete(make_endpoint(), asking(tools=tools), asking(tools=tools, parallel_tool_calls=False))
    assert [("parallel_tool_calls" in r.json) for r in fake_server.requests] == [False, True]


@pytest.mark.parametrize(
    "unrelated",
    [
        replies.MODERATION,
        replies.UNRELATED,
        replies.error(400, "Invalid value for temperature: must be between 0 and 2."),
        replies.error(400, "messages: roles must alternate between user and assistant"),
        replies.error(400, "unsupported content type in messages", param="messages"),
        replies.error(400, "presence_penalty is not supported", param="presence_penalty"),
        replies.error(400, "max_tokens is too large: 64. This model supports at most 32"),
        Reply(b"Bad Request", status=400, content_type="text/plain"),
    ],
)
def test_c3_an_unrelated_400_surfaces_and_is_not_resent(
    fake_server: FakeServer, make_endpoint: Make, unrelated: Reply
) -> None:
    fake_server.queue(unrelated)
    client, [done, fine] = complete(
        make_endpoint(), asking(schema=SCHEMA, **ALL_FIELDS), asking(schema=SCHEMA, **ALL_FIELDS)
    )
    assert done.failure is not None
    assert (done.failure.kind, done.failure.status) == (FailureKind.REJECTED, 400)
    assert done.failure.message
    assert client.capabilities == Capabilities(), "nothing was learnt from it"
    assert (done.attempts, fine.failure, fake_server.count) == (1, None, 2)
    assert client.fatal is None


@pytest.mark.parametrize("name", sorted(replies.BILLING))
def test_c3_billing_surfaces(fake_server: FakeServer, make_endpoint: Make, name: str) -> None:
    fake_server.reply = lambda _: replies.BILLING[name]
    client, [done] = complete(make_endpoint(), asking(schema=SCHEMA, **ALL_FIELDS))
    assert done.failure is not None
    assert done.failure.kind is FailureKind.REJECTED
    assert fake_server.count == 1
    assert client.capabilities == Capabilities()


@pytest.mark.parametrize("vendor", sorted(replies.REJECTED_JSON_SCHEMA))
def test_c2_a_refused_response_format_steps_down_whatever_the_words(
    fake_server: FakeServer, make_endpoint: Make, vendor: str
) -> None:
    fake_server.rejects = {"json_schema": replies.REJECTED_JSON_SCHEMA[vendor]}
    requests = [asking(str(n), schema=SCHEMA, max_tokens=9, temperature=0.0) for n in range(3)]
    client, done = complete(make_endpoint(), *requests)
    assert [one.failure for one in done] == [None] * 3
    assert client.capabilities.rung == "json_object"
    assert [one.sent for one in done] == [{"rung": "json_object"}] * 3
    assert fake_server.count == 4, "refused once, not once per row"


# -- echoed reasoning ------------------------------------------------------------------------------


def thinking_turn() -> Any:
    request = asking()
    request.messages.append(
        {"role": "assistant", "content": "12", "reasoning_content": "a thermometer"}
    )
    request.messages.append({"role": "user", "content": "sure?"})
    return request


def echoed(server: FakeServer) -> list[bool]:
    return ["reasoning_content" in messages[1] for messages in server.sent("messages")]


def test_b9_auto_echoes_reasoning_after_the_first_400_that_demands_it(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    def demand(body: dict[str, Any]) -> Reply | None:
        has_it = "reasoning_content" in body["messages"][1]
        return None if has_it else replies.REASONING_REQUIRED

    fake_server.reply = demand
    client, done = complete(make_endpoint(), thinking_turn(), thinking_turn())
    assert [one.failure for one in done] == [None, None]
    assert echoed(fake_server) == [False, True, True]
    assert client.capabilities.echo_reasoning is True


def test_b9_auto_never_offends_an_endpoint_that_forbids_it(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.rejects = {"reasoning_content": replies.REASONING_FORBIDDEN}
    _, [done] = complete(make_endpoint(), thinking_turn())
    assert done.failure is None
    assert fake_server.count == 1


@pytest.mark.parametrize(("setting", "expected"), [("always", [True]), ("never", [False])])
def test_b9_a_fixed_setting_is_kept(
    fake_server: FakeServer, make_endpoint: Make, setting: str, expected: list[bool]
) -> None:
    refusal = replies.REASONING_FORBIDDEN if setting == "always" else replies.REASONING_REQUIRED
    fake_server.reply = lambda _: refusal
    _, [done] = complete(make_endpoint(echo_reasoning=setting), thinking_turn())
    assert done.failure is not None
    assert done.failure.kind is FailureKind.REJECTED
    assert echoed(fake_server) == expected


def test_the_tool_rung_hands_the_arguments_over_as_text(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    known = Capabilities(rung="tool")
    _, [done] = complete(make_endpoint(), asking(schema=SCHEMA), capabilities=known)
    assert done.text == '{"label": "right", "reason": "because"}'
    assert done.sent == {"rung": "tool"}
    assert fake_server.sent("tool_choice", "function", "name") == ["reply"]


def test_capabilities_are_readable_while_the_client_lives(make_endpoint: Make) -> None:
    assert Client(make_endpoint()).capabilities.rung == "json_schema"


def test_b9_a_demand_that_cannot_be_met_surfaces_at_once(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.reply = lambda _: replies.REASONING_REQUIRED
    _, [done] = complete(make_endpoint(), asking())
    assert done.failure is not None
    assert fake_server.count == 1, "there is no reasoning to send back"
