"""How fast an import is, beside the least that any import must do.

Generates JSON Lines of tau-like traces (about 22 kB each), then measures, turn and turn about:

    floor   orjson.loads of every line and one bulk insert of the raw text into SQLite
    import  labelkit's import_file into a new store, by the processes that it takes of itself:
            decode, check, address, store
    alone   the same by one process
    again   the same import into the same store: nothing new
    read    labelkit.formats.read_file: built and validated traces, no store

CPU seconds of this process and its children and wall seconds, best of the rounds; what counts is
the ratio to the floor, because absolute numbers belong to one machine. With --memory the peak of
resident memory, of this process and of its largest child, is measured on a file of that many
megabytes, in a process of its own.

Run: python benchmarks/import_speed.py [--traces N] [--rounds N] [--processes N] [--memory MB]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from labelkit.formats.registry import read_file
from labelkit.store import Store
from labelkit.workflows.ingest import import_file

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


def write(path: Path, count: int) -> None:
    """Write ``count`` different traces; beyond 500 the texts repeat and only the ids differ."""
    rng = random.Random(0)
    made = [trace_row(number, rng) for number in range(min(count, 500))]
    with path.open("wb") as file:
        for number in range(count):
            file.write(orjson.dumps(made[number % len(made)] | {"task_id": str(number)}) + b"\n")


def floor(path: Path, place: Path) -> int:
    def rows() -> Iterator[tuple[str]]:
        with path.open("rb") as file:
            for line in file:
                orjson.loads(line)
                yield (line.decode(),)

    connection = sqlite3.connect(place)
    connection.execute("CREATE TABLE raw (body TEXT)")
    count = connection.executemany("INSERT INTO raw VALUES (?)", rows()).rowcount
    connection.commit()
    connection.close()
    return count


def imported(path: Path, place: Path, processes: int | None = None) -> int:
    with Store.open(f"sqlite:///{place}", create=True) as store:
        return import_file(store, path, processes=processes).traces_new


def alone(path: Path, place: Path) -> int:
    return imported(path, place, 1)


def again(path: Path, place: Path) -> int:
    with Store.open(f"sqlite:///{place}") as store:
        done = import_file(store, path)
    if done.traces_new:
        raise SystemExit(f"a second import brought {done.traces_new} new traces")
    return done.traces_known


def read(path: Path, place: Path) -> int:  # noqa: ARG001 - the others write
    return sum(1 for _ in read_file(path))


def cpu_seconds() -> float:
    """CPU of this process, all threads, and of the children that it has waited for."""
    spent = os.times()
    return sum(spent[:4])


def timed(work: Callable[[Path, Path], int], path: Path, place: Path, expected: int) -> list[float]:
    cpu, wall = cpu_seconds(), time.perf_counter()
    count = work(path, place)
    spent = [cpu_seconds() - cpu, time.perf_counter() - wall]
    if count != expected:
        raise SystemExit(f"{work.__name__}: {count} of {expected} traces")
    return spent


def measure(path: Path, count: int, rounds: int) -> dict[str, list[float]]:
    """Best CPU and wall seconds of each kind of work."""
    best: dict[str, list[float]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            store, second = Path(folder) / "store.db", Path(folder) / "alone.db"
            for new in (store, second):  # the store's making is no part of a throughput
                imported(_warm(Path(folder)), new)
            for work, place in ((floor, Path(folder) / "raw.db"), (imported, store),
                                (alone, second), (again, store), (read, store)):  # fmt: skip
                spent = timed(work, path, place, count)
                known = best.get(work.__name__, spent)
                best[work.__name__] = [min(pair) for pair in zip(known, spent, strict=True)]
    return best


def _warm(folder: Path) -> Path:
    path = folder / "warm.jsonl"
    path.write_bytes(orjson.dumps(trace_row(0, random.Random(1)) | {"task_set": "warm"}) + b"\n")
    return path


def peak_of(megabytes: int, processes: int | None) -> None:
    """Import a file of that size in this process and print the peak of resident memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.jsonl"
        write(path, megabytes * 1_000_000 // 22_000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        cpu, wall = cpu_seconds(), time.perf_counter()
        count = imported(path, Path(folder) / "store.db", processes)
        spent = f"{cpu_seconds() - cpu:.1f} s CPU, {time.perf_counter() - wall:.1f} s wall"
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
        size = path.stat().st_size / 1e6
    print(
        f"{size:.0f} MB, {count} traces: {spent}; resident {before:.0f} MB -> {after:.0f} MB,"
        f" largest child {child:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, help="for --memory; default: one per core")
    parser.add_argument("--memory", type=int, metavar="MB")
    parser.add_argument("--peak-of", type=int, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.peak_of:
        peak_of(wanted.peak_of, wanted.processes)
        return
    if wanted.memory:
        for size in (max(wanted.memory // 10, 1), wanted.memory):
            command = [sys.executable, __file__, "--peak-of", str(size)]
            if wanted.processes:
                command += ["--processes", str(wanted.processes)]
            subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": "."})
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        write(path, wanted.traces)
        megabytes = path.stat().st_size / 1e6
        best = measure(path, wanted.traces, wanted.rounds)
    print(f"{wanted.traces} traces, {megabytes:.1f} MB, best of {wanted.rounds}")
    for name, (cpu, wall) in best.items():
        print(
            f"{name:<10}{1e6 * cpu / wanted.traces:8.0f} us CPU{1e6 * wall / wanted.traces:8.0f} us"
            f" wall per trace; throughput against the floor: {best['floor'][0] / cpu:.2f} CPU,"
            f" {best['floor'][1] / wall:.2f} wall"
        )


if __name__ == "__main__":
    main()
