"""Two processes label one store at once: nothing twice in the store, little twice at the server."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

from tests.fake_server import FakeServer

TRACES = 600
IN_FLIGHT = 8


def labels_per_key(store: Path) -> Counter:
    with sqlite3.connect(store) as connection:
        rows = connection.execute(
            "SELECT trace_id, rater_id, question, repeat, count(*) FROM label GROUP BY 1, 2, 3, 4"
        ).fetchall()
    return Counter(count for *_, count in rows)


def test_two_processes_share_the_work_and_write_every_label_once(
    make_workplace, fake_server: FakeServer
) -> None:
    fake_server.latency_s = 0.005
    place = make_workplace(fake_server.base_url, max_concurrency=IN_FLIGHT)
    place.write_traces(TRACES)
    place.done("init")
    place.done("import", "traces.jsonl")

    both = [place.start("judge", "--rubric", "politeness") for _ in range(2)]
    said = [run.communicate(timeout=120) for run in both]

    assert [run.returncode for run in both] == [0, 0], said
    for text in (text for pair in said for text in pair):
        assert "locked" not in text.lower()
        assert "Traceback" not in text
    # One label by the rule and one by the judge for every trace, and not one more.
    assert labels_per_key(place.folder / "labelkit.db") == Counter({1: 2 * TRACES})
    # Pages come in a random order; on average 1.12 times the needed requests are sent.
    assert fake_server.count < 1.35 * TRACES


def test_a_third_run_has_nothing_left_to_ask(make_workplace, fake_server: FakeServer) -> None:
    place = make_workplace(fake_server.base_url)
    place.write_traces(70)
    place.done("init")
    place.done("import", "traces.jsonl")
    place.done("judge", "--rubric", "politeness")
    asked = fake_server.count
    place.done("judge", "--rubric", "politeness")
    assert fake_server.count == asked
    assert labels_per_key(place.folder / "labelkit.db") == Counter({1: 140})
