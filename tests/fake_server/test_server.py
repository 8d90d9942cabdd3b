"""The fake itself: it records what arrives and answers as scripted."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
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
