"""What error bodies mean, beyond what the client's tests send through a server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.completion import FailureKind
from labelkit.models.faults import MESSAGE_LIMIT, classify, clip

SENT = {"model": "m", "messages": [], "temperature": 0, "seed": 1, "max_tokens": 5, "tools": []}


def body(words: str, **fields: Any) -> bytes:
    return json.dumps({"error": {"message": words, **fields}}).encode()


@pytest.mark.parametrize(
    "words",
    [
        "Rate limit reached. Add a payment method at https://example.invalid/billing for more.",
        "You exceeded your current quota, please check your plan and billing details.",
        "Too many tokens, please wait before trying again.",
    ],
)
def test_an_ordinary_rate_limit_is_waited_for_whatever_it_advertises(words: str) -> None:
    fault = classify(429, body(words, status="RESOURCE_EXHAUSTED"), SENT)
    assert (fault.kind, fault.retry, fault.fatal) == (FailureKind.TRANSPORT, True, False)
    assert fault.overloaded


def test_a_request_larger_than_the_rate_limit_is_never_resent() -> None:
    words = "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000."
    fault = classify(429, body(words, code="rate_limit_exceeded"), SENT)
    assert (fault.kind, fault.retry) == (FailureKind.OVERFLOW, False)


def test_an_overflow_under_status_500_is_an_overflow() -> None:
    fault = classify(500, body("Context size has been exceeded."), SENT)
    assert (fault.kind, fault.retry) == (FailureKind.OVERFLOW, False)


def test_a_moderated_input_is_no_dead_endpoint() -> None:
    words = "Your chosen model requires moderation and your input was flagged for violence"
    fault = classify(403, body(words), SENT)
    assert (fault.kind, fault.fatal) == (FailureKind.FILTERED, False)


@pytest.mark.parametrize(
    ("words", "fields", "rejected"),
    [
        ("Unsupported parameter", {"param": "seed"}, "seed"),
        ("'temperature' and 'seed' are not supported", {}, "temperature"),
        ("'max_tokens' is not supported, use 'max_completion_tokens'", {}, "max_tokens"),
        ("max_completion_tokens is not supported", {}, None),
        ("invalid temperature: only 1 is allowed for this model", {}, "temperature"),
        ("tool calling is not supported by this model", {}, "tools"),
        ("this model is not supported", {"param": "model"}, None),
        ("temperature must be at most 2", {"param": "temperature"}, None),
    ],
)
def test_which_parameter_is_rejected(
    words: str, fields: dict[str, Any], rejected: str | None
) -> None:
    assert classify(400, body(words, **fields), SENT).rejected == rejected


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "HTTP status 400 without an explanation"),
        (b"<html><body><h1>Bad</h1>\n<p>gateway</body>", "Bad gateway"),
        (b'{"message": "plain"}', "plain"),
        (b'{"detail": "said"}', "said"),
        (b'{"error": "words"}', "words"),
        (b'[{"error": {"message": "listed"}}]', "listed"),
        (b'"quoted"', "quoted"),
        (b'{"error": {"message": null}}', '{"error": {"message": null}}'),
        (b'{"detail": [{"loc": ["body", "n"], "msg": "too many"}]}', "n: too many"),
        (b"\xff\xfe broken", "\ufffd\ufffd broken"),
    ],
)
def test_every_shape_of_error_has_a_message(raw: bytes, message: str) -> None:
    assert classify(400, raw, SENT).message == message


@given(st.binary(max_size=300), st.integers(300, 599))
def test_no_body_breaks_it(raw: bytes, status: int) -> None:
    fault = classify(status, raw, SENT)
    assert 0 < len(fault.message) <= MESSAGE_LIMIT
    assert fault.rejected not in ("model", "messages")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["error", "message", "detail", "loc", "msg", "param", "code"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_json_breaks_it(value: Any) -> None:
    assert classify(400, json.dumps(value).encode(), SENT).message


def test_deeply_nested_json_is_no_crash() -> None:
    assert classify(400, b"[" * 60_000, SENT).kind is FailureKind.REJECTED


def test_clip_is_one_printable_line() -> None:
    assert clip("a\n\tb\x00\u202ec") == "a b c"
    assert len(clip("x" * 10_000)) == MESSAGE_LIMIT
