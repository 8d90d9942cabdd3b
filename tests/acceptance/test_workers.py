"""Workers on one PostgreSQL store: nothing is asked for twice, a dead worker's rows return."""

from __future__ import annotations

import json
import time
from collections import Counter

import pytest
from sqlalchemy import text

from labelkit.store import Store
from tests.fake_server import FakeServer

TRACES = 300
IN_FLIGHT = 8
pytestmark = pytest.mark.postgres


def shared_place(make_workplace, fake_server: FakeServer, url: str):
    place = make_workplace(fake_server.base_url, max_concurrency=IN_FLIGHT)
    settings = json.loads((place.folder / "labelkit.yaml").read_text(encoding="utf-8"))
    settings["store"] = url
    (place.folder / "labelkit.yaml").write_text(json.dumps(settings), encoding="utf-8")
    place.write_traces(TRACES)
    place.done("init")
    place.done("import", "traces.jsonl")
    # The probe and the rule's labels are out of the way before workers are counted.
    place.done("judge", "--rubric", "politeness", "--limit", "1")
    return place


def labels_per_key(url: str) -> Counter:
    query = "SELECT count(*) FROM label GROUP BY trace_id, rater_id, question, repeat"
    with Store.open(url) as store, store.reading() as connection:
        return Counter(connection.execute(text(query)).scalars())


def claims_left(url: str) -> int:
    with Store.open(url) as store, store.reading() as connection:
        return int(connection.execute(text("SELECT count(*) FROM claim")).scalar_one())


def test_two_workers_send_as_many_requests_as_there_are_rows(
    make_workplace,
    fake_server: FakeServer,
    postgres_url: str,
) -> None:
    place = shared_place(make_workplace, fake_server, postgres_url)
    fake_server.reset_counts()
    fake_server.latency_s = 0.01
    both = [place.start("judge", "--rubric", "politeness") for _ in range(2)]
    said = [run.communicate(timeout=240) for run in both]
    assert [run.returncode for run in both] == [0, 0], said
    assert fake_server.count == TRACES - 1
    assert labels_per_key(postgres_url) == Counter({1: 2 * TRACES})
    assert claims_left(postgres_url) == 0


def test_rows_of_a_killed_worker_return_when_its_claims_run_out(
    make_workplace,
    fake_server: FakeServer,
    postgres_url: str,
) -> None:
    place = shared_place(make_workplace, fake_server, postgres_url)
    fake_server.reset_counts()
    fake_server.latency_s = 0.2
    dying = place.start("judge", "--rubric", "politeness")
    fake_server.wait_for(2 * IN_FLIGHT, 60)
    dying.kill()
    dying.communicate()
    fake_server.wait_until_idle()
    fake_server.latency_s = 0.0
    assert claims_left(postgres_url) >= 1
    other = place.start("judge", "--rubric", "politeness")
    end = time.monotonic() + 120
    while claims_left(postgres_url) and other.poll() is None and time.monotonic() < end:
        # A minute passes quickly.
        with Store.open(postgres_url) as store, store.writing() as connection:
            connection.execute(text("UPDATE claim SET expires_at = expires_at - interval '30 s'"))
        time.sleep(0.5)
    said = other.communicate(timeout=120)
    assert other.returncode == 0, said
    assert labels_per_key(postgres_url) == Counter({1: 2 * TRACES})
    assert TRACES - 1 <= fake_server.count <= TRACES - 1 + IN_FLIGHT
    assert claims_left(postgres_url) == 0
