"""Ctrl-C during ``labelkit run``: exit code 130, one line that says how to go on, and going on."""

from __future__ import annotations

import re
import signal
import sqlite3
from typing import Any

from tests.fake_server import FakeServer, replies


def caller(body: dict[str, Any]) -> Any:
    """Call the first tool once, then answer."""
    told = any(message["role"] == "tool" for message in body["messages"])
    if body.get("tools") and not told:
        return replies.tool_calls(replies.call(body["tools"][0]["function"]["name"], "{}"))
    return "I could not find it out."


def traces(place) -> int:
    with sqlite3.connect(place.folder / "labelkit.db") as connection:
        return int(connection.execute("SELECT count(*) FROM trace").fetchone()[0])


def test_ctrl_c_says_how_to_go_on_and_keeps_finished_episodes(
    make_workplace, fake_server: FakeServer
) -> None:
    fake_server.reply = caller
    fake_server.latency_s = 0.1
    place = make_workplace(fake_server.base_url, max_concurrency=2)
    place.done("init")
    command = ("run", "--tasks", "tool-failure-mini", "--endpoint", "fake")
    run = place.start(*command)
    fake_server.wait_for(24, 60)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130, said
    (line,) = [line for line in said.splitlines() if line.startswith("labelkit:")]
    assert line == "labelkit: interrupted; what was committed is kept, run it again to go on"
    kept = traces(place)
    assert 0 < kept < 60
    fake_server.latency_s = 0.0
    told = place.done(*command)
    assert re.search(rf"{60 - kept} ok; {kept} known already", told), told
    assert traces(place) == 60
