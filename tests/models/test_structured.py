"""The probe: which rung of the structured-output ladder really works, asked once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import EndpointError
from labelkit.models.capabilities import LADDER, Capabilities
from labelkit.models.client import Client
from labelkit.models.structured import probe
from tests.fake_server import FakeServer, Reply, replies
from tests.models.asking import QUICK, SCHEMA, VERDICT, asking

Make = Callable[..., Endpoint]


def probed(endpoint: Endpoint, **options: Any) -> Capabilities:
    async def work() -> Capabilities:
        async with Client(endpoint, patience=QUICK) as client:
            found = await probe(client, SCHEMA, **options)
            assert found is client.capabilities
            return found

    return asyncio.run(work())


def rung_of(body: dict[str, Any]) -> str:
    if body.get("response_format"):
        return str(body["response_format"]["type"])
    return "tool" if body.get("tools") else "text"


def obeys_only(*rungs: str) -> Callable[[dict[str, Any]], Reply | None]:
    """Takes every rung, but follows the schema only on some."""
    return lambda body: None if rung_of(body) in rungs else replies.text("Right, I'd say.")


def test_a_willing_endpoint_needs_one_request(fake_server: FakeServer, make_endpoint: Make) -> None:
    found = probed(make_endpoint())
    assert (found.rung, found.verified, found.model_listed) == ("json_schema", True, True)
    assert fake_server.count == 1
    [sent] = fake_server.sent("response_format")
    assert sent == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
    }


@pytest.mark.parametrize("rung", LADDER)
def test_c4_a_rung_counts_only_when_the_reply_follows_the_schema(
    fake_server: FakeServer, make_endpoint: Make, rung: str
) -> None:
    fake_server.reply = obeys_only(rung)
    found = probed(make_endpoint())
    assert (found.rung, found.verified) == (rung, True)
    assert fake_server.count == LADDER.index(found.rung) + 1


@pytest.mark.parametrize("vendor", sorted(replies.REJECTED_JSON_SCHEMA))
def test_c2_the_probe_understands_every_refusal(
    fake_server: FakeServer, make_endpoint: Make, vendor: str
) -> None:
    refusal = replies.REJECTED_JSON_SCHEMA[vendor]
    fake_server.rejects = {"json_schema": refusal, "json_object": refusal}
    found = probed(make_endpoint())
    assert (found.rung, found.verified) == ("tool", True)
    assert [rung_of(request.json) for request in fake_server.requests] == [
        "json_schema",
        "json_object",
        "tool",
    ]


def test_c2_probed_once_and_not_per_row(fake_server: FakeServer, make_endpoint: Make) -> None:
    fake_server.rejects = {"json_schema": replies.REJECTED_JSON_SCHEMA["deepseek"]}

    async def work() -> None:
        async with Client(make_endpoint(), patience=QUICK) as client:
            await probe(client, SCHEMA)
            fake_server.reset_counts()
            for n in range(3):
                done = await client.complete(asking(str(n), schema=SCHEMA))
                assert done.sent["rung"] == "json_object"

    asyncio.run(work())
    assert fake_server.count == 3


def test_an_endpoint_that_never_follows_keeps_the_strongest_rung_it_takes(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.rejects = {"json_schema": replies.REJECTED_JSON_SCHEMA["openai"]}
    fake_server.reply = obeys_only()
    found = probed(make_endpoint())
    assert (found.rung, found.verified) == ("json_object", False)
    assert len(found.notes) == 3
    assert all("no JSON" in note for note in found.notes)


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        (replies.truncated(), "cut off"),
        (replies.reasoning_only(VERDICT), "no text"),
        (replies.verdict({"label": "maybe", "reason": ""}), "did not follow"),
        (replies.verdict([]), "did not follow"),
    ],
)
def test_the_notes_say_what_was_wrong(
    fake_server: FakeServer, make_endpoint: Make, reply: Reply, note: str
) -> None:
    fake_server.queue(reply)
    found = probed(make_endpoint())
    assert note in found.notes[0]
    assert found.notes[0].startswith("json_schema: ")
    assert found.rung == "json_object"


@pytest.mark.parametrize("reply", [replies.fenced(VERDICT), replies.think_block(VERDICT)])
def test_a_fence_or_closed_reasoning_is_no_disobedience(
    fake_server: FakeServer, make_endpoint: Make, reply: Reply
) -> None:
    fake_server.queue(reply)
    assert probed(make_endpoint()).rung == "json_schema"


def test_c5_the_probe_learns_refused_parameters_too(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    for case in ("temperature_openai", "max_tokens", "seed_pydantic"):
        name, refusal = replies.REJECTED_PARAMETERS[case]
        fake_server.rejects[name] = refusal
    found = probed(make_endpoint(), temperature=0.0, seed=0)
    assert set(found.dropped) == {"temperature", "seed"}
    assert found.max_tokens == "max_completion_tokens"
    assert Capabilities.model_validate_json(found.model_dump_json()) == found


def test_the_schema_is_in_the_prompt_and_thinking_gets_room(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    probed(make_endpoint(thinking=True))
    [messages] = fake_server.sent("messages")
    assert [message["role"] for message in messages] == ["system", "user"]
    assert json.dumps(SCHEMA) in messages[0]["content"]
    assert fake_server.sent("max_tokens") == [4096]


def test_c10_a_refused_role_pattern_is_one_clear_sentence(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    words = "Conversation roles must alternate user/assistant/user/assistant/..."
    fake_server.reply = lambda _: replies.error(400, words)
    pattern = [{"role": "system", "content": "s"}, {"role": "tool", "content": "t"}]
    with pytest.raises(EndpointError, match="roles must alternate") as raised:
        probed(make_endpoint(), messages=pattern)
    assert "endpoint 'fake'" in str(raised.value)
    assert {tuple(m["role"] for m in sent) for sent in fake_server.sent("messages")} == {
        ("system", "tool")
    }


@pytest.mark.parametrize(
    ("answer", "said"),
    [(replies.UNAUTHORIZED, "HTTP 401"), (replies.NO_MODEL, "HTTP 404")],
)
def test_a_wrong_key_or_model_ends_the_probe(
    fake_server: FakeServer, make_endpoint: Make, answer: Reply, said: str
) -> None:
    fake_server.reply = lambda _: answer
    with pytest.raises(EndpointError, match=said):
        probed(make_endpoint())
    assert fake_server.count == 1


def test_a_dead_host_ends_the_probe(free_port: int) -> None:
    endpoint = Endpoint(name="dead", model="m", base_url=f"http://127.0.0.1:{free_port}/v1")
    with pytest.raises(EndpointError, match="no connection to"):
        probed(endpoint)


def test_a_silent_host_ends_the_probe(fake_server: FakeServer, make_endpoint: Make) -> None:
    fake_server.reply = lambda _: replies.hang()
    with pytest.raises(EndpointError, match="test request: no reply within"):
        probed(make_endpoint(request_timeout_s=0.02, row_budget_s=0.1))


def test_the_list_of_models_is_advice_only(fake_server: FakeServer, make_endpoint: Make) -> None:
    fake_server.models = ["another"]
    assert probed(make_endpoint()).model_listed is False
    fake_server.has_models_list = False
    assert probed(make_endpoint()).model_listed is None
