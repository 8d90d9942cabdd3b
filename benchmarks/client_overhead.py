"""What does the client cost per request, beside a plain gather loop over ``AsyncOpenAI()``?

    python -m benchmarks.client_overhead [--requests 2000]

The fake server is another process with 20 ms latency; both clients send the same prompts of
about 8 kB at concurrency 64. CPU is that of this process only. Compare the ratios within one
run: the absolute numbers depend on the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI

from labelkit.domain.endpoint import Endpoint
from labelkit.models.client import Client
from labelkit.models.request import ChatRequest

ROOT = Path(__file__).resolve().parents[1]
RUBRIC = "Decide from the trace alone whether the answer rests on what the tool returned. " * 50
WARM_UP = 200


def messages(number: int) -> list[dict[str, Any]]:
    trace = f"row {number}: " + '{"price": 12.5, "note": "ünï"} user asks, tool answers. ' * 74
    return [{"role": "system", "content": RUBRIC}, {"role": "user", "content": trace}]


async def measure(
    name: str, send: Callable[[int], Awaitable[Any]], requests: int, concurrency: int
) -> tuple[float, float]:
    """Return (requests per second, CPU milliseconds per request)."""
    gate = asyncio.Semaphore(concurrency)

    async def one(number: int) -> None:
        async with gate:
            await send(number)

    await asyncio.gather(*(one(number) for number in range(WARM_UP)))
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one(number) for number in range(requests)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    rate, cost = requests / wall, cpu / requests * 1000
    print(f"{name:<44} {rate:7.0f} requests/s  {cost:6.3f} ms CPU per request", flush=True)
    return rate, cost


async def compare(base_url: str, requests: int, concurrency: int) -> None:
    size = sum(len(message["content"].encode()) for message in messages(0))
    print(f"{requests} requests of {size} bytes, concurrency {concurrency}, 20 ms latency")

    async with AsyncOpenAI(base_url=base_url, api_key="none") as plain:

        async def send_plain(number: int) -> None:
            reply = await plain.chat.completions.create(
                model="m",
                messages=messages(number),  # type: ignore[arg-type]
                max_tokens=256,
                temperature=0.0,
            )
            json.loads(reply.choices[0].message.content or "")

        plain_rate, plain_cost = await measure(
            "plain gather loop, AsyncOpenAI()", send_plain, requests, concurrency
        )

    endpoint = Endpoint(name="fake", model="m", base_url=base_url, max_concurrency=concurrency)
    async with Client(endpoint) as client:

        async def send_ours(number: int) -> None:
            request = ChatRequest(messages=messages(number), max_tokens=256, temperature=0.0)
            completion = await client.complete(request)
            json.loads(completion.text or "")

        our_rate, our_cost = await measure(
            "labelkit Client.complete", send_ours, requests, concurrency
        )
    print(f"ratio: {our_rate / plain_rate:.2f}x requests/s, {plain_cost / our_cost:.2f}x less CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=64)
    options = parser.parse_args()
    command = [sys.executable, "-m", "tests.fake_server", "--fast", "--latency-ms", "20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        try:
            base_url = server.stdout.readline().strip()
            asyncio.run(compare(base_url, options.requests, options.concurrency))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
