"""The fake itself: it records what arrives and answers as scripted."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import replace
from typing import Any

import pytest

from tests.fake_server import FakeServer, replies
from tests.fake_server.samples import sample

SCHEMA = {
    "type": "object",
    "properties": {"label": {"enum": ["right", "wrong"]}, "reason": {"type": "string"}},
    "required": ["label", "reason"],
}


def post(base_url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{base_url}/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
    assert isinstance(answer, dict)
    return answer


def asking(**fields: Any) -> dict[str, Any]:
    return {"model": "fake-model", "messages": [{"role": "user", "content": "hi"}], **fields}


def test_default_reply_follows_the_schema(fake_server: FakeServer) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "v", "schema": SCHEMA}}
    answer = post(fake_server.base_url, asking(response_format=wanted))
    verdict = json.loads(answer["choices"][0]["message"]["content"])
    assert verdict == sample(SCHEMA) == {"label": "right", "reason": "because"}


def test_schema_in_the_prompt_is_followed_too(fake_server: FakeServer) -> None:
    told = [{"role": "user", "content": f"Answer as {json.dumps(SCHEMA)} please {{}}"}]
    answer = post(fake_server.base_url, asking(messages=told))
    assert json.loads(answer["choices"][0]["message"]["content"])["label"] == "right"


def test_requests_and_tokens_are_recorded(fake_server: FakeServer) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    fake_server.queue(replies.text("one", usage=usage), replies.text("two", usage=None))
    post(fake_server.base_url, asking(seed=1))
    post(fake_server.base_url, asking(seed=2))
    assert fake_server.sent("seed") == [1, 2]
    assert (fake_server.count, fake_server.peak) == (2, 1)
    assert (fake_server.prompt_tokens, fake_server.completion_tokens) == (7, 3)


def test_rejected_parameter(fake_server: FakeServer) -> None:
    fake_server.rejects = {"seed": replies.UNRELATED}
    with pytest.raises(urllib.error.HTTPError) as raised:
        post(fake_server.base_url, asking(seed=1))
    with raised.value as response:
        assert response.code == 400


@pytest.mark.parametrize("options", [["--fast"], ["--content", "hello"]])
def test_as_a_process(options: list[str]) -> None:
    command = [sys.executable, "-m", "tests.fake_server", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        try:
            answers = [post(base_url, asking()) for _ in range(2)]
        finally:
            process.terminate()
    assert all(answer["choices"][0]["message"]["content"] for answer in answers)


def test_stats_over_http(fake_server: FakeServer) -> None:
    for _ in range(2):
        post(fake_server.base_url, asking())
    with urllib.request.urlopen(f"{fake_server.base_url}/stats") as response:
        stats = json.load(response)
    assert (stats["requests"], stats["distinct_bodies"], stats["peak"]) == (2, 1, 1)
    assert stats["prompt_tokens"] == fake_server.prompt_tokens > 0


@pytest.mark.parametrize("fault", ["hang", "reset", "reset_mid_body"])
def test_a_fault_leaves_nothing_open(fake_server: FakeServer, fault: Any) -> None:
    fake_server.queue(replace(replies.text("never whole"), fault=fault))
    address = ("127.0.0.1", fake_server.port)
    with socket.create_connection(address, timeout=0.2) as connection:
        body = json.dumps(asking()).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}"
        connection.sendall(head.encode() + b"\r\n\r\n" + body)
        received = b""
        with contextlib.suppress(OSError):
            while chunk := connection.recv(65536):
                received += chunk
    assert (b"never" in received) is False or fault == "reset_mid_body"
    assert not received.endswith(b"}")
    fake_server.wait_until_idle()
    assert fake_server.prompt_tokens == 0, "nothing was reported to anybody"
