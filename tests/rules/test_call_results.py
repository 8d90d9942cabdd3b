"""A result that reports a failure is told from a payload about failures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.message import Message, ToolCall
from labelkit.grounding.calls import pair_calls
from labelkit.rules.call_results import fault_in, fault_of


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Traceback (most recent call last):\n  File x", "exception"),
        ("ValueError: bad", "exception"),
        ("requests.exceptions.ConnectionError: refused", "exception"),
        ("RateLimitError(429)", "exception"),
        ('{"exception": "Boom"}', "exception"),
        ('{"ok": false}', "not_ok"),
        ('{"success": "false"}', "not_ok"),
        ('{"isError": true, "content": []}', "not_ok"),
        ('{"status": "failed", "reason": "x"}', "not_ok"),
        ('{"status": 503}', "not_ok"),
        ('{"result": {"success": false}}', "not_ok"),
        ('{"error": "device offline"}', "error_text"),
        ('{"error": {"code": 3}}', "error_text"),
        ('{"data": {"error": "x"}}', "error_text"),
        ('{"message": "Error: quota"}', "error_text"),
        ('[{"type": "text", "text": "Error: x"}]', "error_text"),
        ("Error: no such city", "error_text"),
        ("HTTP 503 Service Unavailable", "error_text"),
        ("Timeout after 30s", "error_text"),
        ("Failed to connect", "error_text"),
        ("Missing required parameter: id", "error_text"),
    ],
)
def test_failures_are_seen(text: str, fault: str) -> None:
    assert fault_in(text) == fault


@pytest.mark.parametrize(
    "text",
    [
        "", "42", "[]", "no errors found", "Error rate: 0.2%", "Failed logins: 3", "500 apples",
        "404 Main Street", '{"error": null, "value": 3}', '{"errors": []}', '{"error": false}',
        '{"error_rate": 0.02}', '{"error": 0.03}', '{"failed": 0, "passed": 3}', '{"ok": true}',
        '{"status": "active"}', '{"logs": [{"error": "x"}, {"error": "y"}]}', '{"code": 404}',
        '{"error_code": 0}', '{"error": "none"}',
    ],
)  # fmt: skip
def test_payloads_about_failures_are_none(text: str) -> None:
    assert fault_in(text) is None


def test_what_the_runner_says_counts_too() -> None:
    call = ToolCall(name="look", id="a")
    for extra, content, fault in (
        ({"is_error": True}, "4", "not_ok"),
        ({"executed": False}, "4", "not_ok"),
        ({}, "4", None),
    ):
        messages = [
            Message(role="assistant", tool_calls=(call,)),
            Message(role="tool", tool_call_id="a", content=content, extra=extra),
        ]
        (made,) = pair_calls(messages)
        assert fault_of(made, messages) == fault
    (unanswered,) = pair_calls(messages[:1])
    assert fault_of(unanswered, messages[:1]) is None


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert fault_in(text) in {None, "exception", "not_ok", "error_text"}
