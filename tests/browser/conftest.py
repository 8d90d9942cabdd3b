"""The pages as people meet them: the real command, a real server, a real headless Chromium."""

from __future__ import annotations

import atexit
import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
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
PATIENCE_S = 90
START_S = 240
"""A server may have to wait for the processor: on a busy machine imports alone take a minute."""
ROOT = Path(__file__).resolve().parents[2]
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


@cache
def frozen() -> Path:
    """A copy of the sources, made once.

    A server reads its pages again at every run. While somebody edits them it would run new pages
    over modules that it loaded before, and tests would fail that nothing is wrong with.
    """
    copied = Path(tempfile.mkdtemp(prefix="labelkit-frozen-"))
    atexit.register(shutil.rmtree, copied, ignore_errors=True)
    for name in ("app", "labelkit", "rubrics"):
        shutil.copytree(ROOT / name, copied / name, ignore=shutil.ignore_patterns("*.pyc"))
    return copied


def command(folder: Path, port: int) -> list[str]:
    words = ["app", "--in", str(folder), "--port", str(port), "--no-browser"]
    return [sys.executable, "-m", "labelkit.cli.main", *words]


def log_of(folder: Path) -> str:
    """What the server of a folder has said."""
    return (folder / "server.log").read_text(encoding="utf-8", errors="replace")


def start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Start the command and wait until its server answers."""
    # A shell's background jobs ignore Ctrl-C; tests run from one must be able to send it.
    interruptible = ["env", "--default-signal=INT", *command(folder, port)]
    # A file, no pipe: nobody empties a pipe, and a server that has filled one stands still.
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(
            interruptible,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=frozen(),
            env={**os.environ, "PYTHONPATH": str(frozen())},
        )
    deadline = time.monotonic() + START_S
    while not answers(port):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            pytest.fail(f"labelkit app did not start: {log_of(folder)}")
        time.sleep(0.1)
    return process


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the command as Ctrl-C does."""
    process.send_signal(signal.SIGINT)
    process.wait(timeout=START_S)


@contextlib.contextmanager
def serving(folder: Path, port: int | None = None) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run the app over a folder; yields its address and process."""
    port = port or free_port()
    process = start(folder, port)
    try:
        yield f"http://127.0.0.1:{port}", process
    finally:
        stop(process)
        said = log_of(folder)
        # Shown by pytest beside a failure; a page that raised is found here.
        print(said[-8000:])
    assert process.returncode == 130, said
    assert not answers(port)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    filled = fill(folder)
    (folder / "labelkit.yaml").write_text("store: sqlite:///labelkit.db\n", encoding="utf-8")
    with serving(folder) as (address, process):
        yield Served(address, filled, process)


@pytest.fixture(scope="module")
def chromium() -> Iterator[sync_api.Browser]:
    if not CHROMIUM.is_file():
        pytest.skip(f"needs Chromium at {CHROMIUM}: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


def seen_on(page: sync_api.Page) -> str:
    """The text of a page in trouble, to be told with the failure."""
    try:
        state = page.locator("[data-testid=stApp]").get_attribute(
            "data-test-script-state", timeout=1000
        )
        return f"[{state}] {page.locator('body').inner_text(timeout=1000)[:1500]}"
    except sync_api.Error as gone:
        return f"nothing ({gone})"


@contextlib.contextmanager
def visiting(
    chromium: sync_api.Browser,
    address: str,
    *,
    token: str = "",
    away: bool = False,
    also: tuple[str, ...] = (),
    **more: object,
) -> Iterator[Visit]:
    """A fresh profile at 1280 px; fails when the page asks a foreign host or raises an error.

    ``away``: the server may be gone for a while, which the browser complains about. ``also``:
    other servers that the browser may be sent to.
    """
    options = {"viewport": {"width": 1280, "height": 900}, **more}
    context = chromium.new_context(**options)
    context.set_default_timeout(PATIENCE_S * 1000)
    if token:
        context.add_cookies([{"name": "labelkit_session", "value": token, "url": address}])
    visit = Visit(context.new_page(), address)
    own = (address, address.replace("http", "ws"), *LOCAL, *also)
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
    except Exception as error:
        error.add_note(f"{page.url} showed: {seen_on(page)}")
        visit.shoot(f"failed-{time.monotonic_ns()}")
        raise
    finally:
        context.close()
    assert visit.strange == []


@pytest.fixture
def visit(chromium: sync_api.Browser, served: Served) -> Iterator[Visit]:
    with visiting(chromium, served.address) as visit:
        yield visit


Visiting = Callable[..., contextlib.AbstractContextManager[Visit]]
