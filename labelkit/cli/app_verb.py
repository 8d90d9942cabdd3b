"""``labelkit app``: the review pages as a child process, on this machine only.

Only the pages know Streamlit. This verb finds them, hands them the store's URL through the
environment, and sets what keeps people safe on the child's command line, where no settings file
of Streamlit can change it.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
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
from labelkit.cli.app_login import Provider, provider_of
from labelkit.cli.options import in_folder, opened_store
from labelkit.errors import InputError
from labelkit.settings import AppSettings
from labelkit.workflows.review.people import everybody

ADDRESS = "127.0.0.1"
FIRST_PORT = 8501
PORTS_TRIED = 20
START_S = 180.0
END_S = 5.0
SAFE = {
    "server.headless": "true",
    "server.fileWatcherType": "none",
    "server.maxUploadSize": "5",
    "browser.gatherUsageStats": "false",
    "client.showErrorDetails": "none",
    "client.showErrorLinks": "false",
    "client.toolbarMode": "minimal",
    "runner.magicEnabled": "false",
    "runner.postScriptGC": "false",
    "server.disconnectedSessionTTL": "600",
    "server.enableAgentApi": "false",
    "logger.level": "warning",
    "logger.hideWelcomeMessage": "true",
}


HOSTS = (ADDRESS, "localhost")
"""Names by which a browser may call the server; others would be DNS rebinding."""

DEFAULT = AppSettings()


@click.command("app")
@in_folder
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help=f"Port on {ADDRESS} (default: the first free one from {FIRST_PORT}).",
)
@click.option("--address", help=f"Address to listen on (default: {ADDRESS}, this machine alone).")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def command(folder: Path, port: int | None, address: str | None, no_browser: bool) -> None:
    """Open the review app: label, adjudicate, agreement, traces, report. Ctrl-C ends it.

    People are added with `labelkit people add`; while there are none, traces and the report can be
    read by whoever sits at this machine, and nobody else.
    """
    with opened_store(folder) as (store, settings):
        place = store.place
        app = settings.app.model_copy(update={"address": address} if address else {})
        check_reach(app, anybody=bool(everybody(store, None)))
    wanted = port or app.port
    chosen = free_port() if wanted is None else asked_port(wanted, app.address)
    provider = None
    if app.login == "oidc":
        provider = provider_of(folder, chosen, (*HOSTS, *app.hosts))
    with serving(settings.store, chosen, app, provider) as server:
        address = provider.origin if provider else f"http://{shown_host(app)}:{chosen}"
        click.echo(f"labelkit app shows {place} at {address}  (Ctrl-C ends it)")
        if not no_browser:
            webbrowser.open(address)
        code = server.wait()
    if code:
        raise InputError(f"the review pages ended by themselves (exit code {code}); see above")


def check_reach(app: AppSettings, *, anybody: bool) -> None:
    """Refuse to be reached from elsewhere where nobody would be asked who they are.

    Raises:
        InputError: the address is wider than this machine, and there are no people or no hosts.
    """
    if loopback(app.address):
        return
    if not anybody:
        raise InputError(
            f"nobody would have to sign in at {app.address}; add people with `labelkit people add`"
            f" first, or listen on {ADDRESS} alone"
        )
    if not app.hosts:
        raise InputError(
            f"listening on {app.address} needs the names by which browsers may call this server;"
            " set `app: {hosts: [review.example.org]}` in labelkit.yaml"
        )


def loopback(address: str) -> bool:
    """Whether only this machine reaches the address.

    Raises:
        InputError: it is no address.
    """
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        raise InputError(
            f"{address!r} is no address to listen on; use {ADDRESS}, or 0.0.0.0 for every network"
        ) from None


def shown_host(app: AppSettings) -> str:
    """The name that is printed: the first host, or this machine."""
    return app.hosts[0] if app.hosts and not loopback(app.address) else ADDRESS


def asked_port(port: int, address: str = ADDRESS) -> int:
    """Return the port that was asked for.

    Raises:
        InputError: another program uses it, or it may not be used.
    """
    problem = why_not(port, address)
    if problem:
        raise InputError(
            f"port {port} on {address} cannot be used ({problem}); give another --port, or none"
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


def why_not(port: int, address: str = ADDRESS) -> str:
    """Say why a port cannot be listened on, or nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((address, port))
        except OSError as error:
            return error.strerror or str(error)
    return ""


def child_command(
    folder: Path, port: int, app: AppSettings = DEFAULT, provider: Provider | None = None
) -> list[str]:
    """The command line of the child process."""
    flags = {**SAFE, "server.address": app.address, "server.port": str(port)}
    if provider is not None:
        flags["secrets.files"] = str(provider.secrets)
    options = [f"--{name}={value}" for name, value in flags.items()]
    options += [f"--server.allowedHosts={host}" for host in (*HOSTS, *app.hosts)]
    return [sys.executable, "-m", "streamlit", "run", str(folder / "serve.py"), *options]


@contextlib.contextmanager
def serving(
    store_url: str, port: int, app: AppSettings = DEFAULT, provider: Provider | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the child process; it never outlives the block, nor this process.

    Raises:
        InputError: it does not start.
    """
    folder = app_folder()
    paths = [str(folder.parent), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "LABELKIT_STORE": store_url,
        "LABELKIT_APP": app.model_dump_json(),
        "LABELKIT_APP_OWNED": "1",
        # Many threads, each with a heap of its own, would keep what big traces once took.
        "MALLOC_ARENA_MAX": os.environ.get("MALLOC_ARENA_MAX", "2"),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }
    if app.login == "proxy":
        # Else the server would take the address of whoever calls from a header.
        environment["FORWARDED_ALLOW_IPS"] = ""
    before = signal.signal(signal.SIGTERM, interrupted)
    server = subprocess.Popen(  # noqa: S603 - our own interpreter and our own pages
        child_command(folder, port, app, provider),
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until_up(server, port, app)
        yield server
    finally:
        end(server)
        signal.signal(signal.SIGTERM, before)


def interrupted(_number: int, _frame: FrameType | None) -> None:
    """A polite end is the same as Ctrl-C: the child goes too."""
    raise KeyboardInterrupt


def wait_until_up(server: subprocess.Popen[bytes], port: int, app: AppSettings) -> None:
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
        if healthy(port, app):
            return
        time.sleep(0.1)
    raise InputError(f"the review pages did not answer within {START_S:.0f} s; try again")


def healthy(port: int, app: AppSettings) -> bool:
    """Whether the server answers on its port."""
    wild = app.address in {"0.0.0.0", "::"}  # noqa: S104 - compared, not listened on
    connection = http.client.HTTPConnection(ADDRESS if wild else app.address, port, timeout=2)
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
