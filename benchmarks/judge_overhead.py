"""What does labelkit cost per judged trace, beside a plain gather loop that only asks?

    python -m benchmarks.judge_overhead [--traces 5000] [--memory 20000]

Both ask the same fake server (another process, 20 ms latency) at concurrency 64 with prompts of
about 8 kB. The plain loop uses ``AsyncOpenAI()`` with its default client, has its prompts ready
and keeps nothing. labelkit does the whole job: it reads traces from a SQLite store, renders the
view, builds and sends the request, reads the verdict, resolves quotes and commits the label with
its completion. CPU is that of this process; compare ratios within one run.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from openai import AsyncOpenAI

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.endpoint import Endpoint
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import ExpectedCall, Reference, Task, Tool
from labelkit.domain.trace import RowState, Trace
from labelkit.judging.judge import Judge
from labelkit.settings import JudgeSettings, Settings
from labelkit.store import Store
from labelkit.store.reports import counts
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces, rows
from labelkit.workflows.label import judge

ROOT = Path(__file__).resolve().parents[1]
TASKS = 100
QUOTE = "closing price of 47.5"
CONCURRENCY = 64


def tasks() -> list[Task]:
    """Tasks whose payload makes prompts of about 8 kB together with the rubric."""
    filler = {f"field_{n:02}": f"value {n} of the quote service" for n in range(30)}
    return [
        Task(
            set="bench",
            id=str(n),
            messages=(Message(role="user", content=f"What was the closing price of share {n}?"),),
            tools=(Tool(name="get_quote", description="Last quote of a share."),),
            reference=Reference(
                expected_calls=(ExpectedCall(name="get_quote", arguments={"share": n}),),
                payload={"share": n, "close": 47.5, **filler},
                must_contain=("47.5",),
            ),
            tags={"subset": "required", "domain": "finance"},
        )
        for n in range(TASKS)
    ]


def traces(number: int, known: list[Task]) -> Iterator[Trace]:
    """Traces of the tasks, each different."""
    for n in range(number):
        task = known[n % TASKS]
        call = ToolCall(name="get_quote", arguments=json.dumps({"share": n}), id="c1")
        result = json.dumps({**task.reference.payload, "seen": n})
        answer = f"The get_quote tool gives a {QUOTE} for share {n}. " + "It was steady. " * 30
        yield Trace(
            model="agent",
            state=RowState.OK,
            task_set="bench",
            task_id=task.id,
            repeat=n // TASKS,
            messages=(
                *task.messages,
                Message(role="assistant", tool_calls=(call,)),
                Message(role="tool", content=result, tool_call_id="c1"),
                Message(role="assistant", content=answer),
            ),
        )


def bench_rubric() -> Rubric:
    """The packaged rubric with its evidence framing only, and no rule."""
    rubric = load_rubric("tool-failure")
    framing = rubric.framing("evidence-attribution")
    return rubric.model_copy(update={"rule": None, "framings": (framing,)})


def verdict(rubric: Rubric) -> str:
    """A verdict with a rationale and one quote that resolves."""
    return json.dumps(
        {
            "rationale": "The tool was called and the answer states the value it returned.",
            "evidence": [{"part": "answer", "quote": QUOTE}],
            rubric.framings[0].asks[0]: "correct",
            "confidence": "high",
        }
    )


@contextlib.contextmanager
def fake_server(content: str, latency_ms: int = 20) -> Iterator[str]:
    """The fake server in a process of its own; yields its base URL."""
    command = [sys.executable, "-m", "tests.fake_server", "--fast", "--latency-ms", str(latency_ms)]
    with subprocess.Popen(
        [*command, "--content", content], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def settings_for(base_url: str) -> Settings:
    """One judge at the fake server."""
    endpoint = Endpoint(name="fake", model="m", base_url=base_url, max_concurrency=CONCURRENCY)
    judges = {"j": JudgeSettings(name="j", endpoint="fake")}
    return Settings(endpoints={"fake": endpoint}, judges=judges)


def prompts(store: Store, rubric: Rubric, endpoint: Endpoint) -> list[list[dict[str, str]]]:
    """The very prompts that labelkit sends."""
    client: object = None
    rater = Judge(rubric, rubric.framings[0], endpoint, client, secret=store.secret)  # type: ignore[arg-type]
    return [rater.prepare(trace, task).request.messages for trace, task in rows(store)]


async def plain_loop(base_url: str, asked: list[list[dict[str, str]]]) -> None:
    """What a script does: gather over ``AsyncOpenAI()``, read the JSON, keep nothing."""
    gate = asyncio.Semaphore(CONCURRENCY)
    async with AsyncOpenAI(base_url=base_url, api_key="none") as client:

        async def one(messages: list[dict[str, str]]) -> None:
            async with gate:
                reply = await client.chat.completions.create(
                    model="m",
                    messages=messages,
                    max_tokens=512,
                    temperature=0.0,  # type: ignore[arg-type]
                )
            json.loads(reply.choices[0].message.content or "")

        await asyncio.gather(*(one(messages) for messages in asked))


def timed(name: str, number: int, work: object) -> tuple[float, float]:
    """Run ``work`` and return (rows per second, CPU milliseconds per row)."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()  # type: ignore[operator]
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{name:<40} {number / wall:7.0f} rows/s  {cpu / number * 1000:6.3f} ms CPU per row")
    return number / wall, cpu / number * 1000


def compare(folder: Path, number: int) -> None:
    """Both ways over the same traces, in turn."""
    rubric = bench_rubric()
    with fake_server(verdict(rubric)) as base_url:
        settings = settings_for(base_url)
        with Store.open(f"sqlite:///{folder}/bench.db", create=True) as store:
            known = tasks()
            add_tasks(store, known)
            add_traces(store, traces(number, known))
            judge(store, rubric, settings, limit=1)
            asked = prompts(store, rubric, settings.endpoints["fake"])
            size = sum(len(json.dumps(m)) for m in asked) / len(asked)
            print(f"{number} traces, prompts of {size / 1000:.1f} kB, concurrency {CONCURRENCY}")
            asyncio.run(plain_loop(base_url, asked[:200]))
            plain_rate, plain_cpu = timed(
                "plain gather loop, AsyncOpenAI()",
                number,
                lambda: asyncio.run(plain_loop(base_url, asked)),
            )
            our_rate, our_cpu = timed(
                "labelkit judge, all included", number, lambda: judge(store, rubric, settings)
            )
            print(
                f"ratio: {our_rate / plain_rate:.2f}x rows/s, {plain_cpu / our_cpu:.2f}x less CPU"
            )
            print(f"labels in the store: {counts(store).labels} of {number}")


def memory(folder: Path, number: int) -> None:
    """Peak memory over a long run: half of it first, then the rest."""
    rubric = bench_rubric()
    with fake_server(verdict(rubric)) as base_url:
        settings = settings_for(base_url)
        with Store.open(f"sqlite:///{folder}/memory.db", create=True) as store:
            known = tasks()
            add_tasks(store, known)
            add_traces(store, traces(number, known))
            for part in (number // 10, number // 2, number):
                judge(store, rubric, settings, limit=part)
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                print(f"peak memory after {part} judged traces: {peak:.0f} MB")


def main() -> None:
    """Parse options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=int, default=5000)
    parser.add_argument("--memory", type=int, default=0, help="also a long run of so many traces")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), options.traces)
        if options.memory:
            memory(Path(folder), options.memory)


if __name__ == "__main__":
    main()
