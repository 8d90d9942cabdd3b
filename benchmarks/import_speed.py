"""How fast traces come in, beside the least that any reader must do.

Generates JSON Lines of tau-like traces (about 22 kB each), then measures in one run:

    floor   json.loads of every line, values appended to a list
    read    labelkit.formats.read_file: sniff, decode, validate, content address

Both in CPU seconds of this process, best of three. What is printed is their ratio, because
absolute numbers belong to one machine. Run: python benchmarks/import_speed.py [--traces N]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from labelkit.formats.registry import read_file

_WORDS = (
    "flight",
    "booking",
    "reservation",
    "user",
    "economy",
    "ticket",
    "please",
    "confirm",
    "seat",
)


def say(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(_WORDS) for _ in range(words))


def trace_row(number: int, rng: random.Random) -> dict[str, object]:
    messages: list[dict[str, object]] = [{"role": "system", "content": say(rng, 900)}]
    for turn in range(9):
        call = {
            "id": f"call_{turn}",
            "type": "function",
            "function": {"name": "search", "arguments": json.dumps({"query": say(rng, 6)})},
        }
        messages += [
            {"role": "user", "content": say(rng, 30)},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{turn}", "content": say(rng, 120)},
            {"role": "assistant", "content": say(rng, 40)},
        ]
    return {"model": "m", "task_id": str(number), "task_set": "bench", "messages": messages}


def floor(path: Path) -> int:
    kept = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            kept.append(json.loads(line))  # noqa: PERF401 - the plain loop people write
    return len(kept)


def read(path: Path) -> int:
    return sum(1 for _ in read_file(path))


def best(work: Callable[[Path], int], path: Path, expected: int) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        count = work(path)
        times.append(time.process_time() - start)
        if count != expected:
            raise SystemExit(f"{work.__name__}: read {count} of {expected} traces")
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=int, default=2000)
    count = parser.parse_args().traces
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for number in range(count):
                file.write(json.dumps(trace_row(number, rng)) + "\n")
        megabytes = path.stat().st_size / 1e6
        plain, ours = best(floor, path, count), best(read, path, count)
        tracemalloc.start()
        read(path)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
    print(f"{count} traces, {megabytes:.1f} MB")
    for name, seconds in (("floor: json.loads", plain), ("read: read_file", ours)):
        rate = f"{megabytes / seconds:8.0f} MB/s"
        print(f"{name:<20}{seconds:8.3f} s CPU {rate} {1e3 * seconds / count:8.3f} ms per trace")
    print(f"throughput of read_file against the floor: {plain / ours:.2f}")
    print(f"peak memory of read_file: {peak:.1f} MB")


if __name__ == "__main__":
    main()
