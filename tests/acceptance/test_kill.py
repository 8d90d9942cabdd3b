"""kill -9 at any moment loses nothing that was committed and repeats nothing that was."""

from __future__ import annotations

import random
import sqlite3
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.fake_server import FakeServer

TRACES = 2000
KILLS = 20
IN_FLIGHT = 8


def labels_per_key(store: Path) -> Counter:
    with sqlite3.connect(store) as connection:
        rows = connection.execute(
            "SELECT trace_id, rater_id, question, repeat, count(*) FROM label GROUP BY 1, 2, 3, 4"
        ).fetchall()
    return Counter(count for *_, count in rows)


@pytest.mark.parametrize("seed", [2026])
def test_a_run_killed_twenty_times_ends_as_if_never_killed(
    seed, make_workplace, fake_server: FakeServer
) -> None:
    draw = random.Random(seed)
    fake_server.latency_s = 0.01
    place = make_workplace(fake_server.base_url, max_concurrency=IN_FLIGHT)
    place.write_traces(TRACES)
    place.done("init")
    place.done("import", "traces.jsonl")

    for _ in range(KILLS):
        before = fake_server.count
        run = place.start("judge", "--rubric", "politeness")
        goal = before + draw.randint(5, TRACES // (KILLS + 5))
        while run.poll() is None and fake_server.count < goal:
            time.sleep(0.005)
        assert run.poll() is None, run.stderr.read()
        run.kill()
        run.wait()
        run.stdout.close()
        run.stderr.close()

    place.done("judge", "--rubric", "politeness")
    # One label by the rule and one by the judge for every trace, and not one more.
    assert labels_per_key(place.folder / "labelkit.db") == Counter({1: 2 * TRACES})
    # What was in flight at a kill is asked again; the endpoint was probed once and remembered.
    repeated = fake_server.count - TRACES - 1
    assert 0 <= repeated <= KILLS * IN_FLIGHT
    print(f"{KILLS} kills: {repeated} of {TRACES} requests repeated, at most {IN_FLIGHT} in flight")
