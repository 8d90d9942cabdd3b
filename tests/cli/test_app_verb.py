"""``labelkit app`` as a process: what it refuses, where it listens, that nothing stays behind."""

from __future__ import annotations

import http.client
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labelkit.cli.app_verb import ADDRESS, SAFE, child_command
from labelkit.cli.app_verb import command as app
from labelkit.domain.person import Role
from labelkit.errors import LabelkitError
from labelkit.settings import AppSettings
from labelkit.store import Store
from labelkit.workflows.review.people import add_person

PATIENCE_S = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "labelkit.yaml").write_text("store: sqlite:///labelkit.db\n", encoding="utf-8")
    with Store.open(f"sqlite:///{tmp_path / 'labelkit.db'}", create=True):
        return tmp_path


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind((ADDRESS, 0))
        other.listen()
        yield other.getsockname()[1]


def words(folder: Path, *more: str) -> list[str]:
    return ["--in", str(folder), "--no-browser", *more]


def refused(folder: Path, *more: str) -> str:
    """Run a command that must end with one sentence; returns it."""
    with pytest.raises(LabelkitError) as raised:
        app.main(words(folder, *more), standalone_mode=False)
    return str(raised.value)


def free_port() -> int:
    with socket.socket() as found:
        found.bind((ADDRESS, 0))
        return int(found.getsockname()[1])


def answers(port: int) -> bool:
    connection = http.client.HTTPConnection(ADDRESS, port, timeout=2)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_a_folder_without_settings_is_sent_to_init(tmp_path: Path) -> None:
    assert "run `labelkit init`" in refused(tmp_path)


def test_a_missing_store_is_named(folder: Path) -> None:
    (folder / "labelkit.db").unlink()
    said = refused(folder)
    assert "there is no store" in said
    assert "labelkit.db" in said


def test_a_port_in_use_is_named(folder: Path, taken: int) -> None:
    assert f"port {taken} on {ADDRESS} cannot be used" in refused(folder, "--port", str(taken))


def test_the_child_listens_on_this_machine_alone_and_tells_nobody(tmp_path: Path) -> None:
    command = child_command(tmp_path, 8501)
    assert f"--server.address={ADDRESS}" in command
    assert "--browser.gatherUsageStats=false" in command
    assert "--client.showErrorDetails=none" in command
    assert {f"--{name}={value}" for name, value in SAFE.items()} <= set(command)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_it_says_where_it_is_and_leaves_nothing_behind(folder: Path, how: signal.Signals) -> None:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "labelkit.cli.main", "app", *words(folder, "--port", str(port))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    said = process.stdout.readline()
    assert re.search(rf"at http://{ADDRESS}:{port}\b", said), said
    assert answers(port), "the address was printed before anybody answered"
    process.send_signal(how)
    process.communicate(timeout=PATIENCE_S)
    assert eventually(lambda: not answers(port))
    assert process.returncode == (130 if how is signal.SIGTERM else -signal.SIGKILL)


def test_listening_wider_needs_people_and_names(folder: Path) -> None:
    said = refused(folder, "--address", "0.0.0.0")
    assert "nobody would have to sign in" in said
    assert "labelkit people add" in said
    with Store.open(f"sqlite:///{folder / 'labelkit.db'}") as store:
        add_person(store, None, "Ada", Role.ADMIN, passphrase="correct horse")
    assert "hosts" in refused(folder, "--address", "0.0.0.0")
    assert "is no address" in refused(folder, "--address", "review.example.org")


def test_hosts_of_the_settings_are_let_in(tmp_path: Path) -> None:
    settings = AppSettings(address="0.0.0.0", hosts=("review.example.org",))
    command = child_command(tmp_path, 8501, settings)
    assert "--server.address=0.0.0.0" in command
    assert "--server.allowedHosts=review.example.org" in command
