"""``labelkit app``: the review pages as a child process, on this machine only.

Only the pages know Streamlit. This verb finds them, hands them the store's URL through the
environment, and sets what keeps people safe on the child's command line, where no settings file
of Streamlit can change it.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import click

from labelkit.catalog.places import app_folder
from labelkit.cli.options import in_folder, opened_store
from labelkit.errors import InputError

ADDRESS = "127.0.0.1"
FIRST_PORT = 8501
PORTS_TRIED = 20
START_S = 60.0
END_S = 5.0
SAFE = {
    "server.address": ADDRESS,
    "server.headless": "true",
    "server.fileWatcherType": "none",
    "server.maxUploadSize": "5",
    "browser.gatherUsageStats": "false",
    "client.showErrorDetails": "none",
    "client.showErrorLinks": "false",
    "client.toolbarMode": "minimal",
    "runner.magicEnabled": "false",
    "runner.postScriptGC": "false",
    "logger.level": "warning",
    "logger.hideWelcomeMessage": "true",
}


HOSTS = (ADDRESS, "localhost")
"""Names by which a browser may call the server; others would be DNS rebinding."""


@click.command("app")
@in_folder
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help=f"Port on {ADDRESS} (default: the first free one from {FIRST_PORT}).",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def command(folder: Path, port: int | None, no_browser: bool) -> None:
    """Open the review pages: traces with every rater's labels, and the report. Ctrl-C ends it."""
    with opened_store(folder) as (store, settings):
        place = store.place
    chosen = free_port() if port is None else asked_port(port)
    with serving(settings.store, chosen) as server:
        address = f"http://{ADDRESS}:{chosen}"
        click.echo(f"labelkit app shows {place} at {address}  (Ctrl-C ends it)")
        if not no_browser:
            webbrowser.open(address)
        code = server.wait()
    if code:
        raise InputError(f"the review pages ended by themselves (exit code {code}); see above")


def asked_port(port: int) -> int:
    """Return the port that was asked for.

    Raises:
        InputError: another program uses it, or it may not be used.
    """
    problem = why_not(port)
    if problem:
        raise InputError(
            f"port {port} on {ADDRESS} cannot be used ({problem}); give another --port, or none"
        )
    return port


def free_port() -> int:
    """Return the first free port of the usual ones.

    Raises:
        InputError: all are taken.
    """
    for port in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        if not why_not(port):
            return port
    last = FIRST_PORT + PORTS_TRIED - 1
    raise InputError(f"ports {FIRST_PORT} to {last} on {ADDRESS} are all taken; give a free --port")


def why_not(port: int) -> str:
    """Say why a port cannot be listened on, or nothing."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((ADDRESS, port))
        except OSError as error:
            return error.strerror or str(error)
    return ""


def child_command(folder: Path, port: int) -> list[str]:
    """The command line of the child process."""
    flags = {**SAFE, "server.port": str(port)}
    options = [f"--{name}={value}" for name, value in flags.items()]
    options += [f"--server.allowedHosts={host}" for host in HOSTS]
    return [sys.executable, "-m", "streamlit", "run", str(folder / "serve.py"), *options]


@contextlib.contextmanager
def serving(store_url: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run the child process; it never outlives the block, nor this process.

    Raises:
        InputError: it does not start.
    """
    folder = app_folder()
    paths = [str(folder.parent), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "LABELKIT_STORE": store_url,
        "LABELKIT_APP_OWNED": "1",
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }
    before = signal.signal(signal.SIGTERM, interrupted)
    server = subprocess.Popen(  # noqa: S603 - our own interpreter and our own pages
        child_command(folder, port),
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until_up(server, port)
        yield server
    finally:
        end(server)
        signal.signal(signal.SIGTERM, before)


def interrupted(_number: int, _frame: FrameType | None) -> None:
    """A polite end is the same as Ctrl-C: the child goes too."""
    raise KeyboardInterrupt


def wait_until_up(server: subprocess.Popen[bytes], port: int) -> None:
    """Return when the server answers.

    Raises:
        InputError: it ended, or did not answer in time.
    """
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise InputError(
                "the review pages did not start; the lines above say why. They need Streamlit:"
                " `pip install --upgrade streamlit` mends an old one"
            )
        if healthy(port):
            return
        time.sleep(0.1)
    raise InputError(f"the review pages did not answer within {START_S:.0f} s; try again")


def healthy(port: int) -> bool:
    """Whether the server answers on its port."""
    connection = http.client.HTTPConnection(ADDRESS, port, timeout=2)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def end(server: subprocess.Popen[bytes]) -> None:
    """End the child: politely, then for certain."""
    if server.stdin is not None:
        server.stdin.close()
    if server.poll() is None:
        server.terminate()
    try:
        server.wait(END_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
