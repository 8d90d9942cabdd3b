"""What does labelkit cost per rollout, beside a plain gather loop that only asks?

    python -m benchmarks.run_overhead [--episodes 4000] [--memory 20000]

Both ask the same fake server (another process, 50 ms latency) at the same concurrency, with the
same messages and tools. The plain loop uses ``AsyncOpenAI()`` with its default client, has its
requests ready and keeps nothing. labelkit does the whole job: it plans the rows, plays each as an
episode of the two-step protocol with a fresh world, and commits every trace to a SQLite store at
once. The model answers without a call, so that an episode is one request. CPU is that of this
process; compare ratios within one run.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
from pathlib import Path

from openai import AsyncOpenAI

from benchmarks.judge_overhead import fake_server, timed
from labelkit.domain.endpoint import Endpoint
from labelkit.domain.environment import Environment, ToolReturn
from labelkit.domain.message import Message
from labelkit.domain.task import ExpectedCall, Reference, Task, Tool
from labelkit.models.capabilities import Capabilities
from labelkit.rollout.protocol import wire_message, wire_tools
from labelkit.settings import Settings
from labelkit.store import Store
from labelkit.store.endpoints import learn
from labelkit.store.reports import counts
from labelkit.store.tasks import add_tasks
from labelkit.workflows.run import run

TASKS = 100
LATENCY_MS = 50
ANSWER = "The last closing price of the share was 47.5, and it was steady all day."


def tasks() -> list[Task]:
    """Tasks with three tools and a system message of about 2 kB."""
    system = "You answer questions about shares with the tools you are given. " * 30
    parameters = {"type": "object", "properties": {"share": {"type": "string"}}}
    tools = tuple(
        Tool(name=name, description=f"{name} of a share.", parameters=parameters)
        for name in ("get_quote", "get_history", "get_news")
    )
    return [
        Task(
            set="bench",
            id=str(n),
            messages=(
                Message(role="system", content=system),
                Message(role="user", content=f"What was the closing price of share {n}?"),
            ),
            tools=tools,
            environment=Environment(returns=(ToolReturn(payload='{"close": 47.5}'),)),
            reference=Reference(
                expected_calls=(ExpectedCall(name="get_quote", arguments={"share": str(n)}),)
            ),
            tags={"subset": "required", "domain": "finance"},
        )
        for n in range(TASKS)
    ]


def settings_for(base_url: str, concurrency: int) -> Settings:
    """One endpoint at the fake server."""
    endpoint = Endpoint(name="fake", model="m", base_url=base_url, max_concurrency=concurrency)
    return Settings(endpoints={"fake": endpoint})


def known_endpoint(store: Store, settings: Settings) -> None:
    """Leave out the preflight: a constant reply would make every call an emulated one."""
    able = Capabilities(tool_calls=True, forced_calls="required", keeps_none=True, user_twice=True)
    learn(store, settings.endpoints["fake"], able.model_dump())


async def plain_loop(base_url: str, asked: list[Task], concurrency: int) -> None:
    """What a script does: gather over ``AsyncOpenAI()``, look at the message, keep nothing."""
    gate = asyncio.Semaphore(concurrency)
    ready = [([wire_message(m) for m in task.messages], wire_tools(task)) for task in tasks()]
    async with AsyncOpenAI(base_url=base_url, api_key="none") as client:

        async def one(messages: object, tools: object) -> None:
            async with gate:
                reply = await client.chat.completions.create(
                    model="m",
                    messages=messages,  # type: ignore[arg-type]
                    tools=tools,  # type: ignore[arg-type]
                    tool_choice="auto",
                    max_tokens=1024,
                    temperature=0.0,
                    seed=42,
                )
            if reply.choices[0].message.tool_calls:
                raise RuntimeError("the benchmark's model calls no tool")

        await asyncio.gather(*(one(*ready[int(task.id)]) for task in asked))


def compare(folder: Path, episodes: int, concurrency: int) -> None:
    """Both ways over the same rows, in turn."""
    known = tasks()
    repeats = max(1, episodes // TASKS)
    rows = known * repeats
    with fake_server(ANSWER, LATENCY_MS) as base_url:
        settings = settings_for(base_url, concurrency)
        with Store.open(f"sqlite:///{folder}/bench.db", create=True) as store:
            add_tasks(store, known)
            known_endpoint(store, settings)
            print(f"{len(rows)} episodes of one request, concurrency {concurrency}, 50 ms latency")
            run(store, known[:50], settings, "fake", condition="warm")
            asyncio.run(plain_loop(base_url, rows[:200], concurrency))
            plain_rate, plain_cpu = timed(
                "plain gather loop, AsyncOpenAI()",
                len(rows),
                lambda: asyncio.run(plain_loop(base_url, rows, concurrency)),
            )
            our_rate, our_cpu = timed(
                "labelkit run, all included",
                len(rows),
                lambda: run(store, known, settings, "fake", repeats=repeats),
            )
            print(
                f"ratio: {our_rate / plain_rate:.2f}x requests/s, "
                f"{plain_cpu / our_cpu:.2f}x less CPU"
            )
            most = 1000 / LATENCY_MS * concurrency
            print(
                f"labelkit reaches {our_rate / most:.0%} of what the latency allows ({most:.0f}/s)"
            )
            print(f"traces in the store: {counts(store).traces} of {len(rows) + 50}")


def memory(folder: Path, episodes: int, concurrency: int) -> None:
    """Peak memory over a long run, after a tenth of it, half of it and all."""
    known = tasks()
    with fake_server(ANSWER, 0) as base_url:
        settings = settings_for(base_url, concurrency)
        with Store.open(f"sqlite:///{folder}/memory.db", create=True) as store:
            add_tasks(store, known)
            known_endpoint(store, settings)
            for part in (episodes // 10, episodes // 2, episodes):
                run(store, known, settings, "fake", repeats=max(1, part // TASKS))
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                print(f"peak memory after {counts(store).traces} episodes: {peak:.0f} MB")


def main() -> None:
    """Parse options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=4000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--memory", type=int, default=0, help="also a long run of so many episodes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), options.episodes, options.concurrency)
        if options.memory:
            memory(Path(folder), options.memory, options.concurrency)


if __name__ == "__main__":
    main()
