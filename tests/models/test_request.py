"""The cache key changes with everything that could change the reply, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labelkit.domain.endpoint import Endpoint, Price
from labelkit.models.request import ChatRequest, request_digest

ENDPOINT = Endpoint(name="a", model="m", base_url="http://h/v1")
REQUEST = ChatRequest(messages=[{"role": "user", "content": "hi"}], schema={"type": "object"})

OTHER_REQUESTS: list[dict[str, Any]] = [
    {"messages": [{"role": "user", "content": "ho"}]},
    {"messages": [{"role": "system", "content": "hi"}]},
    {"max_tokens": 5},
    {"temperature": 0.0},
    {"seed": 0},
    {"schema": {"type": "string"}},
    {"schema": None},
    {"schema_name": "verdict"},
    {"tools": []},
    {"tool_choice": "none"},
    {"parallel_tool_calls": False},
    {"stop": ["."]},
    {"repeat": 1},
    {"parser_version": "2"},
    {"extra": {"top_p": 1}},
]
OTHER_ENDPOINTS: list[dict[str, Any]] = [
    {"model": "m2"},
    {"base_url": "http://h2/v1"},
    {"extra_body": {"top_k": 1}},
    {"thinking": True},
    {"engine": "local", "model_path": "a.gguf"},
]


def test_f1_f2_the_key_covers_the_whole_request() -> None:
    keys = {request_digest(ENDPOINT, REQUEST)}
    keys |= {request_digest(ENDPOINT, replace(REQUEST, **other)) for other in OTHER_REQUESTS}
    assert len(keys) == 1 + len(OTHER_REQUESTS)


def test_f1_j37_the_key_covers_base_url_and_model() -> None:
    keys = {request_digest(ENDPOINT, REQUEST)}
    for other in OTHER_ENDPOINTS:
        keys.add(request_digest(ENDPOINT.model_copy(update=other), REQUEST))
    assert len(keys) == 1 + len(OTHER_ENDPOINTS)


def test_every_field_of_a_request_is_in_the_test_above() -> None:
    assert {name for other in OTHER_REQUESTS for name in other} == set(ChatRequest.__slots__)


@pytest.mark.parametrize(
    "same",
    [
        {"name": "b"},
        {"price": Price(input=1, output=1)},
        {"max_concurrency": 1},
        {"row_budget_s": 5},
        {"base_url": "http://h/v1/"},
        {"api_key_env": "K"},
    ],
)
def test_what_changes_no_reply_changes_no_key(same: dict[str, Any]) -> None:
    assert request_digest(ENDPOINT.model_copy(update=same), REQUEST) == request_digest(
        ENDPOINT, REQUEST
    )


def test_an_embedded_server_is_known_by_its_weights_and_not_by_its_port() -> None:
    local = Endpoint(name="l", model="m", engine="local", model_path="a.gguf")
    keys = {
        request_digest(local.model_copy(update={"base_url": f"http://127.0.0.1:{port}"}), REQUEST)
        for port in (1, 2)
    }
    other = request_digest(local.model_copy(update={"model_path": "b.gguf"}), REQUEST)
    assert len(keys) == 1
    assert other not in keys


def test_keys_survive_a_lone_surrogate_and_key_order() -> None:
    one = ChatRequest(messages=[{"role": "user", "content": "\ud800"}])
    two = ChatRequest(messages=[{"content": "\ud800", "role": "user"}])
    assert request_digest(ENDPOINT, one) == request_digest(ENDPOINT, two)
