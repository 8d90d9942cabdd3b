"""Any 200 is either read or refused; nothing in it can break the reader."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.trace import Usage
from labelkit.models.reply import (
    ErrorInside,
    NotACompletion,
    read_model_names,
    read_reply,
    read_usage,
)


def body(message: dict[str, Any], **choice: Any) -> bytes:
    return json.dumps({"choices": [{"message": message, **choice}]}).encode()


def test_content_parts_are_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]
    assert read_reply(body({"content": parts})).text == "ab"
    assert read_reply(body({"content": []})).text is None


def test_reasoning_details_are_read() -> None:
    details = [{"type": "reasoning.text", "text": "a"}, {"type": "reasoning.encrypted"}]
    assert read_reply(body({"content": "x", "reasoning_details": details})).reasoning == "a"


def test_a_legacy_function_call_is_a_call() -> None:
    reply = read_reply(body({"content": None, "function_call": {"name": "f", "arguments": "{}"}}))
    assert [(call.name, call.arguments, call.id) for call in reply.tool_calls] == [
        ("f", "{}", None)
    ]
    assert reply.flags == ()


def test_nan_arguments_do_not_break_the_reader() -> None:
    raw = b'{"choices": [{"message": {"tool_calls": [{"function": {"arguments": {"x": NaN}}}]}}]}'
    assert read_reply(raw).tool_calls[0].arguments == '{"x": NaN}'


@pytest.mark.parametrize(
    ("value", "usage"),
    [
        (None, None),
        ({}, None),
        ({"prompt_tokens": None, "completion_tokens": None}, None),
        ({"prompt_tokens": "7"}, None),
        ({"prompt_tokens": -1, "completion_tokens": True}, None),
        ({"prompt_tokens": 0}, Usage(prompt_tokens=0)),
    ],
)
def test_g10_only_a_reported_count_is_a_count(value: Any, usage: Usage | None) -> None:
    assert read_usage(value) == usage


def test_an_error_inside_knows_its_status() -> None:
    for code, status in [(429, 429), ("x", 500), (7, 500)]:
        with pytest.raises(ErrorInside) as raised:
            read_reply(json.dumps({"error": {"code": code}}).encode())
        assert raised.value.status == status


KEYS = ["choices", "message", "content", "tool_calls", "function", "usage", "error", "reasoning"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
        ),
        max_leaves=20,
    )
)
def test_no_json_breaks_the_reader(value: Any) -> None:
    with contextlib.suppress(NotACompletion, ErrorInside):
        read_reply(json.dumps(value).encode())
    read_model_names(json.dumps(value).encode())


@given(st.binary(max_size=100))
def test_no_bytes_break_the_reader(raw: bytes) -> None:
    with contextlib.suppress(NotACompletion, ErrorInside):
        read_reply(raw)
    read_model_names(raw)
