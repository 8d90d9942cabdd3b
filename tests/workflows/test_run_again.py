"""A run that goes on: as it began or not at all, and only with what is missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from labelkit.errors import InputError
from labelkit.rollout.protocol import Row
from labelkit.settings import Settings
from labelkit.store import Store
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces, rows
from labelkit.workflows.run import run
from labelkit.workflows.shares import Share
from labelkit.workflows.staging import Manner
from tests.fake_server import FakeServer
from tests.rollout.playing import berth
from tests.workflows.test_run import answer, settings  # noqa: F401 - a fixture

TASKS = [berth().model_copy(update={"id": f"t{n:02}"}) for n in range(40)]
IN_FLIGHT = 4


def filled(url: str) -> Store:
    store = Store.open(url, create=True)
    add_tasks(store, TASKS)
    return store


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"temperature": 0.7}, r"temperature 0\.0 then, 0\.7 now"),
        ({"seed": None, "max_tokens": 99}, r"max_tokens 1024 then, 99 now, seed 42 then, None now"),
        ({"manner": Manner(protocol="agent", usual="agent")}, "protocol two_step then, agent now"),
    ],
)
def test_other_settings_under_the_same_name_are_refused(
    changed: dict[str, Any],
    told: str,
    sqlite_url: str,
    settings: Settings,  # noqa: F811
    fake_server: FakeServer,
) -> None:
    with filled(sqlite_url) as store:
        run(store, TASKS[:2], settings, "fake")
        asked = fake_server.count
        with pytest.raises(InputError, match=told):
            run(store, TASKS, settings, "fake", **changed)
        assert fake_server.count == asked
        if "manner" not in changed:
            assert run(store, TASKS[:2], settings, "fake", condition="b", **changed).known == 0


def test_traces_from_elsewhere_refuse_nothing(
    sqlite_url: str,
    settings: Settings,  # noqa: F811
) -> None:
    """An imported rollout does not say how it was played."""
    with filled(sqlite_url) as store:
        run(store, TASKS[:1], settings, "fake", condition="first")
        (played, _) = next(iter(rows(store)))
        add_traces(store, [played.model_copy(update={"extra": {}, "condition": ""})])
        done = run(store, TASKS[:2], settings, "fake", temperature=0.5)
        assert (done.known, sum(done.states.values())) == (1, 1)


def test_an_endpoint_is_asked_about_tools_once_and_not_in_every_run(
    sqlite_url: str,
    settings: Settings,  # noqa: F811
    fake_server: FakeServer,
) -> None:
    with filled(sqlite_url) as store:
        run(store, TASKS[:1], settings, "fake")
        asked = fake_server.count
        run(store, TASKS[:2], settings, "fake")
        assert fake_server.count == asked + 2, "two requests of a two-step episode"


PROGRAM = """
import json, sys
from labelkit.settings import load_settings
from labelkit.store import Store
from labelkit.workflows.run import run
from tests.workflows.test_run_again import TASKS
settings = load_settings(sys.argv[1])
with Store.open(settings.store) as store:
    print(sum(run(store, TASKS, settings, "fake").states.values()))
"""


def start(folder: Path, url: str, fake_server: FakeServer) -> subprocess.Popen[str]:
    endpoint = {
        "base_url": fake_server.base_url, "model": "fake-model", "max_concurrency": IN_FLIGHT
    }  # fmt: skip
    file = folder / "labelkit.yaml"
    file.write_text(json.dumps({"store": url, "endpoints": {"fake": endpoint}}), encoding="utf-8")
    return subprocess.Popen(
        ["env", "--default-signal=INT", sys.executable, "-c", PROGRAM, str(file)],
        cwd=Path(__file__).resolve().parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
        text=True,
    )


def keys(url: str) -> Counter[tuple[Any, ...]]:
    query = text("SELECT task_id, model, condition, repeat FROM trace")
    with Store.open(url) as store, store.reading() as connection:
        return Counter(tuple(row) for row in connection.execute(query))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_plays_only_what_is_missing(
    number: signal.Signals,
    tmp_path: Path,
    sqlite_url: str,
    fake_server: FakeServer,
) -> None:
    fake_server.reply = answer
    fake_server.latency_s = 0.05
    filled(sqlite_url).close()
    dying = start(tmp_path, sqlite_url, fake_server)
    fake_server.wait_for(20, 60)
    dying.send_signal(number)
    dying.communicate(timeout=60)
    fake_server.wait_until_idle()
    fake_server.latency_s = 0.0
    kept, asked = keys(sqlite_url), fake_server.count
    assert 0 < len(kept) < len(TASKS)
    other = start(tmp_path, sqlite_url, fake_server)
    out, err = other.communicate(timeout=120)
    assert other.returncode == 0, err
    assert int(out) == len(TASKS) - len(kept)
    assert fake_server.count == asked + 2 * (len(TASKS) - len(kept)), "and nothing else"
    assert set(keys(sqlite_url).values()) == {1}
    assert len(keys(sqlite_url)) == len(TASKS)


@pytest.mark.postgres
def test_two_workers_play_every_row_once(
    tmp_path: Path,
    postgres_url: str,
    fake_server: FakeServer,
    settings: Settings,  # noqa: F811
) -> None:
    fake_server.reply = answer
    with filled(postgres_url) as store:
        # The endpoint is known before workers are counted.
        run(store, TASKS[:1], settings, "fake")
    fake_server.reset_counts()
    fake_server.latency_s = 0.02
    both = [start(tmp_path, postgres_url, fake_server) for _ in range(2)]
    said = [worker.communicate(timeout=240) for worker in both]
    assert [worker.returncode for worker in both] == [0, 0], said
    assert sum(int(out) for out, _ in said) == len(TASKS) - 1
    assert fake_server.count == 2 * (len(TASKS) - 1)
    assert keys(postgres_url) == Counter(dict.fromkeys(keys(postgres_url), 1))
    with Store.open(postgres_url) as store, store.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM claim")).scalar_one() == 0


@pytest.mark.postgres
def test_a_row_that_another_worker_finished_is_not_played(
    postgres_url: str,
    settings: Settings,  # noqa: F811
) -> None:
    with filled(postgres_url) as store:
        row = Row(task=TASKS[0], model="fake-model")
        one, other = Share(store, "fake-model", ""), Share(store, "fake-model", "")
        assert one.take(row)
        assert not other.take(row)
        assert other.elsewhere
        run(store, TASKS[1:2], settings, "fake")
        done = Row(task=TASKS[1], model="fake-model")
        other.again()
        assert not other.take(done)
        assert not other.elsewhere
