"""Everything an endpoint was ever seen to answer, as ready-made replies.

``Reply`` is one HTTP reply. The functions below build them; ``text(...)`` is the base of all
well-formed chat completions.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import Any, Literal

Fault = Literal["hang", "reset", "reset_mid_body"]


@dataclass(frozen=True)
class Reply:
    """One HTTP reply: a JSON value or raw bytes, after ``delay_s``, or a fault instead."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_s: float = 0.0
    fault: Fault | None = None

    def encoded(self) -> bytes:
        """The body as bytes."""
        if isinstance(self.body, bytes):
            return self.body
        return json.dumps(self.body).encode()

    def after(self, seconds: float) -> Reply:
        """The same reply, but later."""
        return replace(self, delay_s=seconds)

    def with_headers(self, **headers: str) -> Reply:
        """The same reply with further headers (``retry_after`` becomes ``retry-after``)."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **named})


DEFAULT_USAGE: dict[str, Any] = {"default": True}
"""Marks a usage that the server fills in from the length of the texts."""


def message(
    fields: dict[str, Any],
    *,
    finish_reason: str | None = "stop",
    usage: dict[str, Any] | None = DEFAULT_USAGE,
    **top: Any,
) -> Reply:
    """A chat completion with one choice. ``usage`` None leaves usage out altogether."""
    body: dict[str, Any] = {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "fake-model-2026-01-01",
        "system_fingerprint": "fp_fake",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **fields},
                "finish_reason": finish_reason,
            }
        ],
        **top,
    }
    if usage is not None:
        body["usage"] = usage
    return Reply(body)


def text(content: str | None, **keywords: Any) -> Reply:
    """An answer in plain text."""
    return message({"content": content}, **keywords)


def verdict(value: Any, **keywords: Any) -> Reply:
    """An answer that is the JSON of ``value``."""
    return text(json.dumps(value), **keywords)


def fenced(value: Any, language: str = "json") -> Reply:
    """JSON inside a Markdown fence (A1)."""
    return text(f"```{language}\n{json.dumps(value, indent=2)}\n```")


def prose_wrapped(value: Any) -> Reply:
    """JSON with chat around it."""
    return text(f"Sure! Here is my verdict:\n{json.dumps(value)}\nLet me know if that helps.")


def think_block(value: Any, thought: str = "Let me see {first}") -> Reply:
    """Reasoning inside the content, properly closed (B1)."""
    return text(f"<think>{thought}</think>\n{json.dumps(value)}")


def bare_close(value: Any, thought: str = "Let me see") -> Reply:
    """Reasoning that was never opened, only closed (B3)."""
    return text(f"{thought}</think>{json.dumps(value)}")


def unclosed_think(thought: str = '{"label": "preliminary"}') -> Reply:
    """Reasoning that never ends (B1)."""
    return text(f"<think>{thought}")


def with_reasoning(value: Any, reasoning: str, key: str = "reasoning_content") -> Reply:
    """The answer in content and the reasoning in a field of its own."""
    return message({"content": json.dumps(value), key: reasoning})


def reasoning_only(value: Any, key: str = "reasoning_content") -> Reply:
    """The whole answer in the reasoning field, content null (J28)."""
    return message({"content": None, key: json.dumps(value)})


def content_null() -> Reply:
    """An assistant message without any content."""
    return message({"content": None})


def empty_choices() -> Reply:
    """A 200 without a choice."""
    reply = message({})
    return replace(reply, body={**reply.body, "choices": []})


def null_choices() -> Reply:
    """A 200 with ``choices: null`` (some routers)."""
    reply = message({})
    return replace(reply, body={**reply.body, "choices": None})


def truncated(content: str = '{"label": "corr') -> Reply:
    """Cut off by max_tokens."""
    return text(content, finish_reason="length")


def filtered_choice() -> Reply:
    """A 200 whose only choice was emptied by a content filter (E9)."""
    return text("", finish_reason="content_filter")


def refusal(words: str = "I can't help with that.") -> Reply:
    """A refusal in its own field."""
    return message({"content": None, "refusal": words})


def call(name: str, arguments: Any, call_id: str | None = "call_1") -> dict[str, Any]:
    """One entry of ``tool_calls``; arguments are passed on as they are: dict, text or null."""
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def tool_calls(*calls: dict[str, Any], content: str | None = None, **keywords: Any) -> Reply:
    """An assistant message with tool calls."""
    keywords.setdefault("finish_reason", "tool_calls")
    return message({"content": content, "tool_calls": list(calls)}, **keywords)


def error(
    status: int,
    words: str,
    *,
    code: str | None = None,
    kind: str | None = "invalid_request_error",
    param: str | None = None,
    **headers: str,
) -> Reply:
    """An error in OpenAI's shape."""
    body = {"error": {"message": words, "type": kind, "param": param, "code": code}}
    return Reply(body, status=status).with_headers(**headers)


def raw_error(status: int, body: Any) -> Reply:
    """An error in a vendor's own shape."""
    return Reply(body, status=status)


def rate_limited(**headers: str) -> Reply:
    """429; pass ``retry_after="2"`` or ``retry_after_ms="15"`` for the headers."""
    return error(429, "Rate limit reached", kind="rate_limit_error", **headers)


def rate_limited_until(seconds: float) -> Reply:
    """429 with an HTTP date that lies ``seconds`` ahead."""
    return rate_limited(retry_after=formatdate(time.time() + seconds, usegmt=True))


def quota_exhausted() -> Reply:
    """A 429 that no waiting will mend."""
    return error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        kind="insufficient_quota",
        code="insufficient_quota",
    )


def server_error(status: int = 500) -> Reply:
    """A passing fault of the server."""
    return error(status, "The server had an error", kind="server_error")


def hang() -> Reply:
    """Never answers."""
    return Reply(fault="hang")


def reset() -> Reply:
    """Connection reset before the first byte."""
    return Reply(fault="reset")


def reset_mid_body() -> Reply:
    """Connection reset after half of the body."""
    return replace(text("half of this never arrives"), fault="reset_mid_body")


def html_page(status: int = 200) -> Reply:
    """A proxy's page instead of an answer."""
    page = b"<!doctype html><html><body><h1>Sign in to the network</h1></body></html>"
    return Reply(page, status=status, content_type="text/html")


def invalid_json() -> Reply:
    """A body that claims to be JSON."""
    return Reply(b'{"choices": [{"message": {"content": "cut')


OVERFLOWS: dict[str, Reply] = {
    "openai": error(
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in"
        " 9001 tokens. Please reduce the length of the messages.",
        code="context_length_exceeded",
        param="messages",
    ),
    "vllm": raw_error(
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested"
            " 5000 tokens (4488 in the messages, 512 in the completion).",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "vllm_new": raw_error(
        400,
        {
            "error": {
                "message": "The decoder prompt (length 5205) is longer than the maximum model"
                " length of 4096. Make sure that `max_model_len` is no smaller than the number of"
                " text tokens.",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            }
        },
    ),
    "llama_cpp": raw_error(
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size. try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 5000,
                "n_ctx": 4096,
            }
        },
    ),
    "anthropic": raw_error(
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 210000 tokens > 200000 maximum",
            },
        },
    ),
    "gemini": raw_error(
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (1200000) exceeds the maximum number of"
                    " tokens allowed (1048576).",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    "tgi": raw_error(
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096."
            " Given: 4000 `inputs` tokens and 512 `max_new_tokens`",
            "error_type": "validation",
        },
    ),
    "too_large": Reply(b"Request Entity Too Large", status=413, content_type="text/plain"),
}
"""Context overflow in the words of several vendors (E11)."""

FILTERS: dict[str, Reply] = {
    "azure": error(
        400,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management"
        " policy.",
        code="content_filter",
        kind=None,
        param="prompt",
    ),
    "openai": error(
        400,
        "Your request was rejected as a result of our safety system.",
        code="content_policy_violation",
    ),
    "dashscope": error(
        400,
        "Input data may contain inappropriate content.",
        code="data_inspection_failed",
        kind="data_inspection_failed",
    ),
}
"""Content filters (E8)."""

BILLING: dict[str, Reply] = {
    "402": error(402, "Insufficient Balance", kind="unknown_error"),
    "400": error(
        400,
        "Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade"
        " or purchase credits.",
    ),
    "429": quota_exhausted(),
}
"""Out of money: nothing that a retry or a dropped parameter would mend (C3)."""

MODERATION = error(
    400, "This request has been blocked by the moderation endpoint.", code="moderation_blocked"
)
UNRELATED = error(400, "Invalid value: 'nobody'. Supported roles are: 'system', 'user'.")
UNAUTHORIZED = error(401, "Incorrect API key provided: sk-w*********key.", code="invalid_api_key")
FORBIDDEN = error(403, "You are not allowed to sample from this model.", kind="permission_error")
NO_MODEL = error(404, "The model `nope` does not exist", code="model_not_found")

REJECTED_PARAMETERS: dict[str, tuple[str, Reply]] = {
    "temperature_openai": (
        "temperature",
        error(
            400,
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default"
            " (1) value is supported.",
            param="temperature",
            code="unsupported_value",
        ),
    ),
    "temperature_litellm": (
        "temperature",
        error(
            400,
            "litellm.UnsupportedParamsError: o3 don't support temperature=0.0. Only temperature=1"
            " is supported.",
            kind=None,
        ),
    ),
    "temperature_deprecated": (
        "temperature",
        error(400, "`temperature` is deprecated for this model."),
    ),
    "top_p": (
        "top_p",
        error(
            400,
            "Unsupported parameter: 'top_p' is not supported with this model.",
            param="top_p",
            code="unsupported_parameter",
        ),
    ),
    "seed_pydantic": (
        "seed",
        raw_error(
            422,
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "seed"],
                        "msg": "Extra inputs are not permitted",
                        "input": 0,
                    }
                ]
            },
        ),
    ),
    "seed_google": (
        "seed",
        raw_error(
            400,
            [
                {
                    "error": {
                        "code": 400,
                        "message": 'Invalid JSON payload received. Unknown name "seed": Cannot'
                        " find field.",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
        ),
    ),
    "logprobs": (
        "logprobs",
        error(
            400,
            "You are not allowed to request logprobs from this model",
            param="logprobs",
            code="invalid_request",
        ),
    ),
    "max_tokens": (
        "max_tokens",
        error(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
            " 'max_completion_tokens' instead.",
            param="max_tokens",
            code="unsupported_parameter",
        ),
    ),
    "parallel_tool_calls": (
        "parallel_tool_calls",
        error(
            400,
            "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
            param="parallel_tool_calls",
            code="unsupported_parameter",
        ),
    ),
    "stop": (
        "stop",
        error(400, "Argument not supported on this model: stop", param="stop"),
    ),
}
"""Parameter names with a 400 that rejects them, in the words of several vendors (C5, C6)."""

REJECTED_JSON_SCHEMA: dict[str, Reply] = {
    "openai": error(
        400,
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this"
        " model.",
        param=None,
    ),
    "deepseek": error(400, "This response_format type is unavailable now"),
    "groq": error(
        400,
        "This model does not support response format `json_schema`. See supported models.",
        param="response_format",
    ),
    "old_vllm": raw_error(
        400,
        {
            "object": "error",
            "message": "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'),"
            " 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}]",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "lm_studio": raw_error(400, {"error": "'response_format.type' must be 'text' or 'regex'"}),
    "structured": error(
        400,
        "Structured outputs are not enabled for this deployment.",
    ),
}
"""Ways of saying that response_format json_schema is not known (C2)."""

REASONING_FORBIDDEN = error(
    400, "The reasoning_content field is not allowed in the input messages."
)
REASONING_REQUIRED = error(
    400,
    "thinking is enabled but reasoning_content is missing in assistant tool call message at"
    " index 2",
)
