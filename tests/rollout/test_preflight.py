"""Preflight against the fake server: what is asked, learnt, told, and not asked again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import EndpointError
from labelkit.models.capabilities import Capabilities
from labelkit.models.client import Client
from labelkit.rollout.preflight import Preflight, preflight
from labelkit.rollout.protocol import Decoding
from tests.fake_server import FakeServer, replies
from tests.fake_server.replies import Reply

Make = Callable[..., Endpoint]


def able(body: dict[str, Any]) -> Reply | str:
    """A server that does as it is told."""
    if body.get("tools") and body.get("tool_choice") != "none":
        return replies.tool_calls(replies.call("get_clock", '{"city": "Oslo"}'))
    if "response_format" in body:
        return json.dumps({"city": "Oslo"})
    return "It is half past ten."


def flown(
    endpoint: Endpoint, known: Capabilities | None = None, **decoding: Any
) -> tuple[Preflight, Capabilities]:
    async def fly() -> tuple[Preflight, Capabilities]:
        async with Client(endpoint, capabilities=known) as client:
            found = await preflight(client, decoding=Decoding(**decoding))
            return found, client.capabilities

    return asyncio.run(fly())


def test_an_able_endpoint_is_asked_once_and_known(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.reply = able
    found, known = flown(make_endpoint(), seed=7)
    assert (found.tool_mode, found.forcing, found.remarks) == ("native", "required", ())
    assert known.tool_calls
    assert known.keeps_none
    assert known.user_twice
    assert known.model_listed
    assert fake_server.sent("tool_choice") == ["auto", "required", "none", None]
    assert fake_server.sent("seed") == [7] * 4
    assert fake_server.sent("temperature") == [0.0] * 4
    assert fake_server.sent("parallel_tool_calls") == [False, None, None, None]
    roles = [[m["role"] for m in body] for body in fake_server.sent("messages")]
    assert roles[2] == ["system", "user", "assistant", "tool"]
    assert roles[3] == ["system", "user", "user"]
    again, same = flown(make_endpoint(), known)
    assert (again, same) == (found, known)
    assert fake_server.count == 4


def test_a_missing_tool_parser_is_named_and_asked_for_again(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.reply = lambda body: "get_clock(Oslo)" if body.get("tools") else able(body)
    found, known = flown(make_endpoint())
    assert found.tool_mode == "emulated"
    assert "probably lacks its tool parser" in found.note
    assert (known.tool_calls, known.rung, known.verified) == (False, "json_schema", None)
    fake_server.reply = able
    mended, _ = flown(make_endpoint(), known)
    assert mended.tool_mode == "native"


def test_refused_tools_are_emulated_and_say_why(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    words = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    fake_server.reply = able
    fake_server.rejects["tools"] = replies.error(400, words)
    found, known = flown(make_endpoint())
    assert found.tool_mode == "emulated"
    assert known.tool_calls is False


@pytest.mark.parametrize(
    "name", ["temperature_openai", "seed_pydantic", "parallel_tool_calls", "max_tokens"]
)
def test_what_is_refused_is_left_out_and_told(
    name: str, fake_server: FakeServer, make_endpoint: Make
) -> None:
    parameter, refusal = replies.REJECTED_PARAMETERS[name]
    fake_server.reply = able
    fake_server.rejects[parameter] = refusal
    found, known = flown(make_endpoint())
    assert found.tool_mode == "native"
    if parameter == "max_tokens":
        assert known.max_tokens == "max_completion_tokens"
        assert "the limit of a reply is sent as max_completion_tokens" in found.remarks
    else:
        assert known.dropped == (parameter,)
        assert found.remarks == (f"not sent, because the endpoint refuses it: {parameter}",)


def test_required_that_is_ignored_is_replaced_by_a_name(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.reply = lambda body: (
        "Half past ten." if body.get("tool_choice") == "required" else able(body)
    )
    found, _ = flown(make_endpoint())
    assert found.forcing == "named"
    assert any("by naming the tool" in remark for remark in found.remarks)


def test_calls_that_come_although_none_is_allowed_are_told(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.reply = lambda body: (
        replies.tool_calls(replies.call("get_clock", "{}")) if body.get("tools") else able(body)
    )
    found, known = flown(make_endpoint())
    assert known.keeps_none is False
    assert any("although none is allowed" in remark for remark in found.remarks)


def test_a_role_pattern_that_is_refused_is_told(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    words = "Conversation roles must alternate user/assistant/user/assistant/..."
    fake_server.reply = lambda body: (
        replies.error(400, words)
        if [m["role"] for m in body["messages"]].count("user") > 1
        else able(body)
    )
    found, known = flown(make_endpoint())
    assert (found.tool_mode, known.user_twice) == ("native", False)
    assert any("two user messages in a row" in remark for remark in found.remarks)


def test_an_unknown_model_or_key_ends_it(fake_server: FakeServer, make_endpoint: Make) -> None:
    fake_server.strict_model = True
    with pytest.raises(EndpointError, match="cannot be used"):
        flown(make_endpoint(model="gone"))
    fake_server.strict_model = False
    fake_server.api_key = "right"
    with pytest.raises(EndpointError, match="401"):
        flown(make_endpoint())


def test_a_model_that_is_not_listed_is_a_remark_only(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.reply = able
    fake_server.models = ["another"]
    found, _ = flown(make_endpoint())
    assert any("does not name this model" in remark for remark in found.remarks)
