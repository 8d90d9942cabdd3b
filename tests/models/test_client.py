"""One row at an endpoint: what is read, what is resent, what is given up, and what is counted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from labelkit.domain.completion import Completion, FailureKind
from labelkit.domain.endpoint import Endpoint, Price
from labelkit.errors import EndpointError
from labelkit.models.client import Client
from labelkit.models.waiting import Patience, Wait
from tests.fake_server import FakeServer, Reply, replies
from tests.models.asking import QUICK, SCHEMA, VERDICT, asking, complete

Make = Callable[..., Endpoint]


# -- reading -----------------------------------------------------------------------------------


def test_a_plain_reply(fake_server: FakeServer, make_endpoint: Make) -> None:
    usage = {
        "prompt_tokens": 11,
        "completion_tokens": 7,
        "completion_tokens_details": {"reasoning_tokens": 3},
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    fake_server.queue(replies.text("four", usage=usage))
    _, [done] = complete(make_endpoint(), asking(repeat=2))
    assert (done.text, done.finish_reason, done.failure) == ("four", "stop", None)
    assert done.usage is not None
    assert done.usage.model_dump() == {
        "prompt_tokens": 11,
        "completion_tokens": 7,
        "reasoning_tokens": 3,
        "cached_tokens": 4,
    }
    assert (done.served_model, done.fingerprint) == ("fake-model-2026-01-01", "fp_fake")
    assert (done.endpoint, done.model, done.repeat, done.attempts) == ("fake", "fake-model", 2, 1)
    assert not done.accepted
    assert Completion.model_validate_json(done.model_dump_json()) == done


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_beside_the_answer(
    fake_server: FakeServer, make_endpoint: Make, key: str
) -> None:
    fake_server.queue(replies.with_reasoning(VERDICT, "first I look", key))
    _, [done] = complete(make_endpoint(), asking())
    assert done.reasoning == "first I look"
    assert json.loads(done.text or "") == VERDICT


def test_j28_an_answer_in_the_reasoning_field_is_recorded_and_no_answer(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.queue(replies.reasoning_only(VERDICT), replies.content_null())
    _, [hidden, empty] = complete(make_endpoint(), asking(), asking())
    assert hidden.text is None
    assert json.loads(hidden.reasoning or "") == VERDICT
    assert hidden.sent["flags"] == ["answer_in_reasoning"]
    assert empty.text is None
    assert empty.sent["flags"] == ["content_null"]


def test_a_refusal_in_its_own_field_is_flagged(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.queue(replies.refusal("I can't help with that."))
    _, [done] = complete(make_endpoint(), asking())
    assert done.text is None
    assert done.sent["flags"] == ["refusal"]
    assert done.sent["refusal"] == "I can't help with that."


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({"city": "Łódź"}, '{"city":"Łódź"}'),
        ('{"city": "Łódź"}', '{"city": "Łódź"}'),
        ('{"city": "Łó', '{"city": "Łó'),
        (None, "{}"),
        ("null", "null"),
        ("", ""),
    ],
)
def test_d6_j30_arguments_come_back_as_text(
    fake_server: FakeServer, make_endpoint: Make, arguments: Any, kept: str
) -> None:
    fake_server.queue(replies.tool_calls(replies.call("weather", arguments)))
    _, [done] = complete(make_endpoint(), asking())
    assert [(c.name, c.arguments, c.id) for c in done.tool_calls] == [("weather", kept, "call_1")]


def test_d6_arguments_go_out_as_text_and_are_encoded_once(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    text = '{"city": "Oslo"}'
    calls = [replies.call("weather", {"city": "Oslo"}), replies.call("weather", text)]
    history: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_1", "content": "12"},
    ]
    request = asking()
    request.messages.extend(history)
    complete(make_endpoint(), request)
    [messages] = fake_server.sent("messages")
    sent = [call["function"]["arguments"] for call in messages[1]["tool_calls"]]
    assert sent == ['{"city":"Oslo"}', text]
    assert calls[0]["function"]["arguments"] == {"city": "Oslo"}, "the caller's message is its own"


def test_c7_several_calls_and_duplicate_ids_are_all_kept(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.queue(replies.tool_calls(replies.call("a", "{}"), replies.call("b", "{}")))
    request = asking(tools=[{"type": "function", "function": {"name": "a"}}])
    _, [done] = complete(make_endpoint(), request)
    assert [(call.name, call.id) for call in done.tool_calls] == [("a", "call_1"), ("b", "call_1")]


def test_c8_every_sample_is_a_request_of_its_own(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    _, done = complete(make_endpoint(), *(asking(repeat=n) for n in range(3)))
    assert fake_server.count == 3
    assert fake_server.sent("n") == [None] * 3
    assert len({one.request for one in done}) == 3


@pytest.mark.parametrize("choice", ["none", "auto"])
def test_d3_tool_choice_never_goes_without_tools(
    fake_server: FakeServer, make_endpoint: Make, choice: str
) -> None:
    tools = [{"type": "function", "function": {"name": "a"}}]
    lone = asking(tool_choice=choice, parallel_tool_calls=False)
    both = asking(tools=tools, tool_choice=choice, parallel_tool_calls=False)
    complete(make_endpoint(), lone, both)
    assert fake_server.sent("tool_choice") == [None, choice]
    assert fake_server.sent("parallel_tool_calls") == [None, False]


def test_hostile_prompts_arrive_whole(fake_server: FakeServer, make_endpoint: Make) -> None:
    words = "\x00 \u202e \u202d {{ 7*7 }} </data> " + "é" * 100_000
    complete(make_endpoint(), asking(words))
    assert fake_server.sent("messages")[0][0]["content"] == words


def test_a_lone_surrogate_is_replaced_and_recorded(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    _, [done] = complete(make_endpoint(), asking("a\ud800b 😀"))
    assert fake_server.sent("messages")[0][0]["content"] == "a\ufffdb 😀"
    assert done.sent["replaced"] == "lone surrogates"


# -- truncation and filters ----------------------------------------------------------------------


def test_b8_a_truncated_reply_keeps_its_text_and_usage(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.queue(replies.truncated('{"label": "ri'))
    _, [done] = complete(make_endpoint(), asking(max_tokens=16))
    assert (done.text, done.finish_reason, done.failure) == ('{"label": "ri', "length", None)
    assert done.usage is not None
    assert done.usage.completion_tokens == fake_server.completion_tokens > 0


def test_b7_a_truncated_reply_is_not_resent(fake_server: FakeServer, make_endpoint: Make) -> None:
    fake_server.reply = lambda _: replies.truncated()
    complete(make_endpoint(), asking())
    assert fake_server.count == 1


@pytest.mark.parametrize("vendor", sorted(replies.OVERFLOWS))
def test_b7_e11_context_overflow_is_its_own_reason_and_sent_once(
    fake_server: FakeServer, make_endpoint: Make, vendor: str
) -> None:
    fake_server.reply = lambda _: replies.OVERFLOWS[vendor]
    client, [done] = complete(make_endpoint(), asking(max_tokens=5, temperature=0.0, schema=SCHEMA))
    assert done.failure is not None
    assert done.failure.kind is FailureKind.OVERFLOW
    assert done.failure.status == replies.OVERFLOWS[vendor].status
    assert fake_server.count == done.attempts == 1
    assert client.fatal is None


@pytest.mark.parametrize("vendor", sorted(replies.FILTERS))
def test_e8_a_content_filter_is_its_own_kind_and_the_run_goes_on(
    fake_server: FakeServer, make_endpoint: Make, vendor: str
) -> None:
    fake_server.queue(replies.FILTERS[vendor])
    client, [filtered, fine] = complete(make_endpoint(), asking(), asking())
    assert filtered.failure is not None
    assert filtered.failure.kind is FailureKind.FILTERED
    assert fine.failure is None
    assert fake_server.count == 2
    assert client.fatal is None


def test_e9_a_withheld_reply_is_a_failure_and_not_an_empty_answer(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.queue(replies.filtered_choice())
    _, [done] = complete(make_endpoint(), asking())
    assert done.failure is not None
    assert done.failure.kind is FailureKind.FILTERED
    assert done.finish_reason == "content_filter"
    assert done.usage is not None
    assert fake_server.count == 1


# -- 200s that are no completion -------------------------------------------------------------------


@pytest.mark.parametrize(
    "odd",
    [
        replies.empty_choices(),
        replies.null_choices(),
        replies.html_page(),
        replies.invalid_json(),
        Reply([1, 2]),
        Reply({"choices": ["text"]}),
        replies.tool_calls(),
    ],
    ids=["empty", "null", "html", "cut", "list", "no_message", "j29_no_call"],
)
def test_a_200_that_is_no_completion_is_resent_a_few_times_only(
    fake_server: FakeServer, make_endpoint: Make, odd: Reply
) -> None:
    fake_server.reply = lambda _: odd
    _, [done] = complete(make_endpoint(), asking())
    assert done.failure is not None
    assert done.failure.kind is FailureKind.PROTOCOL
    assert fake_server.count == done.attempts == QUICK.limited_attempts


def test_a_200_that_is_no_completion_may_be_followed_by_one(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.queue(replies.empty_choices(), "fine")
    _, [done] = complete(make_endpoint(), asking())
    assert (done.text, done.attempts) == ("fine", 2)


def test_an_error_inside_a_200_is_that_error(fake_server: FakeServer, make_endpoint: Make) -> None:
    inside = Reply({"error": {"message": "Provider returned error", "code": 502}})
    fake_server.queue(inside, "fine")
    _, [done] = complete(make_endpoint(), asking())
    assert (done.text, done.attempts) == ("fine", 2)


@pytest.mark.parametrize("code", ["tool_use_failed", "json_validate_failed"])
def test_d8_a_degenerate_generation_is_a_protocol_fault_with_limited_resends(
    fake_server: FakeServer, make_endpoint: Make, code: str
) -> None:
    words = "Failed to call a function. Please adjust your prompt. See 'failed_generation'."
    fake_server.reply = lambda _: replies.error(400, words, code=code)
    _, [done] = complete(make_endpoint(), asking())
    assert done.failure is not None
    assert done.failure.kind is FailureKind.PROTOCOL
    assert fake_server.count == QUICK.limited_attempts


# -- retries ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [replies.server_error(status) for status in (408, 409, 429, 500, 502, 503, 504, 529)]
    + [replies.reset(), replies.reset_mid_body()],
)
def test_e2_exactly_one_retry_layer(
    fake_server: FakeServer, make_endpoint: Make, fault: Reply
) -> None:
    fake_server.reply = lambda _: fault
    client, [done] = complete(
        make_endpoint(), asking(), patience=Patience(attempts=4, base_s=0.001, cap_s=0.002)
    )
    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSPORT
    assert done.failure.status == (None if fault.fault else fault.status)
    assert fake_server.count == done.attempts == client.ledger.attempts == 4
    assert client.ledger.waits == 3
    assert client.fatal is None


def test_a_passing_fault_passes(fake_server: FakeServer, make_endpoint: Make) -> None:
    fake_server.queue(replies.server_error(500), replies.reset_mid_body(), replies.reset(), "fine")
    _, [done] = complete(make_endpoint(), asking())
    assert (done.text, done.attempts) == ("fine", 4)
    assert len({request.body for request in fake_server.requests}) == 1


@pytest.mark.parametrize(
    "limited",
    [
        replies.rate_limited(retry_after="0.012"),
        replies.rate_limited(retry_after_ms="12"),
        replies.rate_limited_until(-5),
    ],
    ids=["seconds", "milliseconds", "date"],
)
def test_e1_retry_after_is_honoured_and_visible(
    fake_server: FakeServer, make_endpoint: Make, limited: Reply
) -> None:
    waits: list[Wait] = []
    fake_server.queue(limited, "fine")
    client, [done] = complete(make_endpoint(), asking(), on_wait=waits.append)
    asked_s = 0.0 if "GMT" in str(limited.headers) else 0.012
    assert [(w.asked_s, w.seconds, w.status, w.attempt) for w in waits] == [
        (asked_s, asked_s, 429, 1)
    ]
    assert done.text == "fine"
    assert client.ledger.waited_s == asked_s


def test_e1_retry_after_is_capped(fake_server: FakeServer, make_endpoint: Make) -> None:
    waits: list[Wait] = []
    fake_server.queue(replies.rate_limited(retry_after="1800"), "fine")
    patience = Patience(retry_after_cap_s=0.01)
    _, [done] = complete(make_endpoint(), asking(), patience=patience, on_wait=waits.append)
    assert [(w.asked_s, w.seconds) for w in waits] == [(1800.0, 0.01)]
    assert done.text == "fine"


def test_e1_one_rows_retry_after_holds_back_every_new_request(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.queue(replies.rate_limited(retry_after_ms="30"))
    counts: list[tuple[bool, int]] = []

    async def work() -> list[Completion]:
        async with Client(make_endpoint(max_concurrency=1), patience=QUICK) as client:

            def watch(_: Wait) -> None:
                counts.append((client.limiter.paused, fake_server.count))

            client._on_wait = watch
            rows = (client.complete(asking(str(n))) for n in range(3))
            done = await asyncio.gather(*rows)
            assert not client.limiter.paused
            return done

    done = asyncio.run(work())
    assert counts == [(True, 1)], "the others were queued behind the pause"
    assert [one.failure for one in done] == [None] * 3
    assert fake_server.count == 4


def test_e3_the_budget_of_a_row_bounds_all_its_waiting(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    waits: list[Wait] = []
    fake_server.reply = lambda _: replies.rate_limited(retry_after="100")
    _, [done] = complete(make_endpoint(row_budget_s=50), asking(), on_wait=waits.append)
    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSPORT
    assert (fake_server.count, waits) == (1, []), "no wait is begun that the budget cannot hold"


def test_e3_the_budget_ends_a_row_that_is_still_being_resent(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.reply = lambda _: replies.rate_limited(retry_after_ms="20")
    patience = Patience(attempts=10_000)
    client, [done] = complete(make_endpoint(row_budget_s=0.1), asking(), patience=patience)
    assert done.failure is not None
    assert fake_server.count == done.attempts <= 6
    assert client.ledger.waited_s <= 0.1


@pytest.mark.parametrize("silence", [replies.hang(), replies.text("late").after(5.0)])
def test_e6_a_timeout_is_a_transport_failure(
    fake_server: FakeServer, make_endpoint: Make, silence: Reply
) -> None:
    fake_server.queue(silence, silence)
    patience = Patience(attempts=2, base_s=0.001)
    client, [done, fine] = complete(
        make_endpoint(request_timeout_s=0.05), asking(), asking(), patience=patience
    )
    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSPORT
    assert "no reply within 0.05 s" in done.failure.message
    assert done.usage is None
    assert fine.failure is None
    assert client.ledger.failures == {"transport": 1}


def test_j34_with_30_percent_of_429_everything_completes(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    seen = {"n": 0}

    def sometimes(_: dict[str, Any]) -> Reply | None:
        seen["n"] += 1
        return replies.rate_limited(retry_after_ms="1") if seen["n"] % 10 < 3 else None

    fake_server.reply = sometimes
    requests = [asking(str(n)) for n in range(200)]
    client, done = complete(make_endpoint(max_concurrency=16), *requests, at_once=True)
    assert all(one.failure is None for one in done)
    assert fake_server.count == sum(one.attempts for one in done) == client.ledger.attempts
    assert fake_server.peak <= 16


# -- endpoints that cannot be used -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "mend"),
    [
        (replies.UNAUTHORIZED, "FAKE_KEY"),
        (replies.FORBIDDEN, "FAKE_KEY"),
        (replies.NO_MODEL, "'fake-model'"),
        (replies.BILLING["402"], "mend that"),
        (replies.BILLING["400"], "mend that"),
        (replies.BILLING["429"], "mend that"),
        (replies.html_page(404), "base_url"),
        (Reply(b"", status=308).with_headers(location="https://x/"), "final address"),
    ],
)
def test_an_endpoint_that_serves_nobody_is_remembered_in_one_sentence(
    fake_server: FakeServer,
    make_endpoint: Make,
    monkeypatch: pytest.MonkeyPatch,
    answer: Reply,
    mend: str,
) -> None:
    monkeypatch.setenv("FAKE_KEY", "sk-secret-123")
    fake_server.reply = lambda _: answer
    endpoint = make_endpoint(api_key_env="FAKE_KEY")
    client, [first, second] = complete(endpoint, asking(), asking("other"))
    assert isinstance(client.fatal, EndpointError)
    assert str(client.fatal).startswith("endpoint 'fake' at http://127.0.0.1")
    assert mend in str(client.fatal)
    for done in (first, second):
        assert done.failure is not None
        assert (done.failure.kind, done.failure.status) == (FailureKind.REJECTED, answer.status)
    assert (first.attempts, second.attempts, fake_server.count) == (1, 0, 1)


def test_a_wrong_key_ends_waiting_rows_at_once(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.queue(replies.rate_limited(retry_after="100"), replies.UNAUTHORIZED)
    client, done = complete(
        make_endpoint(max_concurrency=2), *(asking(str(n)) for n in range(5)), at_once=True
    )
    assert client.fatal is not None
    assert all(one.failure is not None for one in done)
    assert fake_server.count <= 2


def test_a_dead_host_is_given_up_after_a_few_attempts(free_port: int) -> None:
    endpoint = Endpoint(name="dead", model="m", base_url=f"http://127.0.0.1:{free_port}/v1")
    client, [done, next_one] = complete(endpoint, asking(), asking())
    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSPORT
    assert done.attempts == QUICK.unreachable_attempts
    assert next_one.attempts == 0
    assert client.fatal is not None
    assert f"no connection to http://127.0.0.1:{free_port}/v1" in str(client.fatal)


def test_a_host_that_has_answered_is_never_called_dead(
    make_endpoint: Make,
) -> None:
    async def work() -> tuple[Client, Completion]:
        with FakeServer() as server:
            client = Client(make_endpoint(base_url=server.base_url), patience=QUICK)
            await client.complete(asking())
        async with client:
            return client, await client.complete(asking())

    client, done = asyncio.run(work())
    assert done.failure is not None
    assert done.attempts == QUICK.attempts
    assert client.fatal is None


def test_server_words_are_clipped_and_never_show_the_key(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    echo = "key sk-secret-123 \x1b[31m " + "x" * 100_000
    fake_server.queue(replies.error(400, echo))
    fake_server.queue(*[Reply(b"sk-secret-123 is no JSON")] * QUICK.limited_attempts)
    _, done = complete(make_endpoint(), asking(), asking(), api_key="sk-secret-123")
    for one in done:
        assert one.failure is not None
        assert len(one.failure.message) <= 500
        assert "[key]" in one.failure.message
        assert "\x1b" not in one.failure.message
        assert "sk-secret" not in one.model_dump_json()


# -- counting --------------------------------------------------------------------------------------


def test_g10_missing_usage_is_unknown_and_never_zero(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.queue(replies.text("a", usage=None), replies.text("b", usage={"odd": 1}))
    client, done = complete(make_endpoint(price=Price(input=1, output=2)), asking(), asking())
    assert [(one.usage, one.cost) for one in done] == [(None, None)] * 2
    sums = client.ledger.snapshot()
    assert (sums["replies_without_usage"], sums["prompt_tokens"], sums["cost"]) == (2, None, None)


def test_j35_the_ledger_equals_what_the_server_reported(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.queue(
        replies.text("not a verdict at all"),
        replies.empty_choices(),
        replies.truncated(),
        replies.rate_limited(retry_after_ms="1"),
        replies.content_null(),
        replies.filtered_choice(),
        replies.FILTERS["openai"],
    )
    client, done = complete(
        make_endpoint(price=Price(input=3.0, output=15.0, currency="EUR")),
        *(asking("x" * 400 * n) for n in range(6)),
    )
    sums = client.ledger.snapshot()
    assert sums["prompt_tokens"] == fake_server.prompt_tokens > 0
    assert sums["completion_tokens"] == fake_server.completion_tokens > 0
    assert sums["replies"] == fake_server.reported == 6
    assert sums["attempts"] == fake_server.count == 8
    assert sums["requests"] == 6
    assert sums["failures"] == {"filtered": 2}
    tokens_cost = 3.0 * fake_server.prompt_tokens + 15.0 * fake_server.completion_tokens
    assert sums["cost"] == pytest.approx(tokens_cost / 1e6)
    assert sums["currency"] == "EUR"
    known = [one.cost for one in done if one.cost is not None]
    assert sum(known) == pytest.approx(sums["cost"])


def test_j35_without_a_price_the_cost_is_unknown(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    client, [done] = complete(make_endpoint(), asking())
    assert (done.cost, done.currency, client.ledger.cost) == (None, None, None)
    assert client.ledger.snapshot()["known_cost"] is None


# -- interruption ----------------------------------------------------------------------------------


def test_cancelling_leaves_no_place_taken_and_no_session_open(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.reply = lambda _: replies.hang()

    async def work() -> Client:
        async with Client(make_endpoint(max_concurrency=2)) as client:
            rows = [asyncio.create_task(client.complete(asking(str(n)))) for n in range(5)]
            await asyncio.to_thread(fake_server.wait_for, 2)
            for row in rows:
                row.cancel()
            await asyncio.gather(*rows, return_exceptions=True)
            assert all(row.cancelled() for row in rows)
            fake_server.reply = None
            assert (await client.complete(asking())).failure is None
            return client

    client = asyncio.run(work())
    assert client.limiter.in_flight == 0


# -- proxies ---------------------------------------------------------------------------------------


def test_i2_proxies_come_from_the_environment(
    fake_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, fake_server.base_url.removesuffix("/v1"))
    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    endpoint = Endpoint(name="far", model="m", base_url="http://model.invalid/v1")
    _, [done] = complete(endpoint, asking())
    assert done.failure is None
    assert fake_server.requests[0].headers["host"] == "model.invalid"


def test_i2_no_proxy_is_honoured(
    fake_server: FakeServer, make_endpoint: Make, monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    _, [done] = complete(make_endpoint(), asking())
    assert done.failure is None


def test_openai_variables_are_never_sent_elsewhere(
    fake_server: FakeServer, make_endpoint: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-private")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.invalid/v1")
    complete(make_endpoint(), asking())
    assert "private" not in json.dumps(fake_server.requests[0].headers)


def test_one_attempt_without_usage_makes_the_rows_cost_unknown(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 6}
    fake_server.queue(Reply({"choices": []}), replies.text("fine", usage=usage))
    _, [done] = complete(make_endpoint(price=Price(input=1, output=1)), asking())
    assert done.usage is not None
    assert (done.usage.prompt_tokens, done.cost) == (5, None)


def test_a_row_that_comes_back_goes_before_rows_that_have_not_begun(
    fake_server: FakeServer, make_endpoint: Make
) -> None:
    fake_server.queue(replies.server_error(), replies.text("slow").after(0.1))
    rows = [asking(str(n)) for n in range(3)]
    complete(make_endpoint(max_concurrency=1), *rows, at_once=True)
    sent = [messages[0]["content"] for messages in fake_server.sent("messages")]
    assert sent == ["0", "1", "0", "2"]
