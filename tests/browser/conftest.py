"""The pages as people meet them: the real command, a real server, a real headless Chromium."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.app.stores import Filled, fill

sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_S = 60
LOCAL = ("data:", "blob:")
SHOTS = "LABELKIT_SCREENSHOTS"
"""Names the folder in which tests keep pictures of the pages."""


@dataclass
class Served:
    """A running ``labelkit app`` over a filled store."""

    address: str
    filled: Filled
    process: subprocess.Popen[bytes]


@dataclass
class Visit:
    """One page of a fresh browser profile, and everything it did that it should not."""

    page: sync_api.Page
    address: str
    strange: list[str] = field(default_factory=list)

    def go(self, path: str = "") -> None:
        self.page.goto(f"{self.address}/{path}")
        self.settled()

    def settled(self) -> None:
        """Wait until the script has run and the components have drawn."""
        self.page.wait_for_selector(
            "[data-testid=stApp][data-test-script-state=notRunning]", timeout=PATIENCE_S * 1000
        )

    def wait(self, selector: str) -> None:
        self.page.wait_for_selector(selector, state="attached", timeout=PATIENCE_S * 1000)
        self.settled()

    def no_sideways_scrolling(self) -> bool:
        wide = "e => e.scrollWidth <= e.clientWidth"
        main = self.page.locator("[data-testid=stMain]").evaluate(wide)
        return bool(main) and bool(self.page.locator("html").evaluate(wide))

    def shoot(self, name: str) -> None:
        """Keep a picture where the environment names a folder for them."""
        folder = os.environ.get(SHOTS)
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder) / f"{name}.png")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def command(folder: Path, port: int) -> list[str]:
    words = ["app", "--in", str(folder), "--port", str(port), "--no-browser"]
    return [sys.executable, "-m", "labelkit.cli.main", *words]


def start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Start the command and wait until its server answers."""
    # A shell's background jobs ignore Ctrl-C; tests run from one must be able to send it.
    interruptible = ["env", "--default-signal=INT", *command(folder, port)]
    process = subprocess.Popen(
        interruptible, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ}
    )
    deadline = time.monotonic() + PATIENCE_S
    while not answers(port):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            out, err = process.communicate()
            pytest.fail(f"labelkit app did not start: {out!r} {err!r}")
        time.sleep(0.1)
    return process


def stop(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """End the command as Ctrl-C does."""
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=PATIENCE_S)


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run the app over a folder; yields its address and process."""
    port = free_port()
    process = start(folder, port)
    yield f"http://127.0.0.1:{port}", process
    stop(process)
    assert process.returncode == 130
    assert not answers(port)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    filled = fill(folder)
    (folder / "labelkit.yaml").write_text("store: sqlite:///labelkit.db\n", encoding="utf-8")
    with serving(folder) as (address, process):
        yield Served(address, filled, process)


@pytest.fixture(scope="session")
def chromium() -> Iterator[sync_api.Browser]:
    if not CHROMIUM.is_file():
        pytest.skip(f"needs Chromium at {CHROMIUM}: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def visiting(
    chromium: sync_api.Browser, address: str, *, token: str = "", away: bool = False, **more: object
) -> Iterator[Visit]:
    """A fresh profile at 1280 px; fails when the page asks a foreign host or raises an error.

    ``away``: the server may be gone for a while, which the browser complains about.
    """
    options = {"viewport": {"width": 1280, "height": 900}, **more}
    context = chromium.new_context(**options)
    context.set_default_timeout(PATIENCE_S * 1000)
    if token:
        context.add_cookies([{"name": "labelkit_session", "value": token, "url": address}])
    visit = Visit(context.new_page(), address)
    own = (address, address.replace("http", "ws"), *LOCAL)
    page = visit.page

    def asked(request: sync_api.Request) -> None:
        if not request.url.startswith(own):
            visit.strange.append(f"request {request.url}")

    def said(message: sync_api.ConsoleMessage) -> None:
        # A blocked beacon is an attempt: the page must not even try. Streamlit itself looks for
        # its server below a page's own path first, which its own server answers with 404.
        looking = message.text.startswith("Failed to load resource")
        if message.type != "error" or (looking and message.location["url"].startswith(own)):
            return
        if not away:
            visit.strange.append(f"console {message.text}")

    context.on("request", asked)
    page.on("pageerror", lambda error: visit.strange.append(f"page error {error}"))
    page.on("console", said)
    page.on("dialog", lambda dialog: visit.strange.append(f"dialog {dialog.message}"))
    try:
        yield visit
        assert page.evaluate("window.hit") is None, "a script of a trace ran"
    finally:
        context.close()
    assert visit.strange == []


@pytest.fixture
def visit(chromium: sync_api.Browser, served: Served) -> Iterator[Visit]:
    with visiting(chromium, served.address) as visit:
        yield visit


Visiting = Callable[..., contextlib.AbstractContextManager[Visit]]
