"""A served store and the browsers in front of it, for measurements of the review app."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from labelkit.catalog.rubrics import load_rubric
from labelkit.store import Store
from labelkit.workflows.review.people import add_person, issue_token
from labelkit.workflows.review.samples import Wanted, draw
from tests.app.rich import rich_store
from tests.browser.conftest import CHROMIUM, FLAGS, answers, free_port, start, stop

BIG_EVERY = 100
"""One trace of so many holds a payload of 500 kB."""

READY = """
() => {
  const roots = [...document.querySelectorAll('[class*=st-key-] *')].map(e => e.shadowRoot)
    .filter(Boolean).map(r => r.querySelector('.lk'));
  const desk = roots.map(r => r?.labelkit).find(d => d?.ready);
  return !!desk && desk.ready();
}
"""


class Bench:
    """A served store with as many people as the measurements need."""

    def __init__(self, folder: Path, traces: int, sample: int) -> None:
        self.folder, self.n, self.people = folder, traces, 0
        self.url = f"sqlite:///{folder / 'labelkit.db'}"
        if not (folder / "labelkit.db").exists():
            rich_store(folder, traces, big_every=BIG_EVERY)
        (folder / "labelkit.yaml").write_text("store: sqlite:///labelkit.db\n", encoding="utf-8")
        with Store.open(self.url) as store:
            # Another number of people per item is another sample: earlier runs left theirs behind.
            overlap = 100 + int(time.time()) % 100_000
            wanted = Wanted(n=min(sample, traces), overlap=overlap, seed=overlap)
            self.sample = draw(store, None, load_rubric("tool-failure"), wanted).id
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"

    @property
    def size_mb(self) -> float:
        """How large the store is."""
        return (self.folder / "labelkit.db").stat().st_size / 1e6

    def newcomer(self) -> str:
        """A person's session, for this run's sample alone."""
        self.people += 1
        with Store.open(self.url) as store:
            name = f"bench {time.time_ns()} {self.people}"
            person = add_person(store, None, name, "annotator", subject=name)
            return issue_token(store, person)

    def submissions(self) -> int:
        """How many acts of people it holds."""
        with Store.open(self.url) as store, store.reading() as connection:
            (count,) = connection.exec_driver_sql("select count(*) from submission").one()
        return int(count)

    @contextlib.contextmanager
    def serving(self) -> Iterator[int]:
        """Run the app; yields the process id of the server itself."""
        process = start(self.folder, self.port)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        yield int(children.read_text(encoding="ascii").split()[0])
        stop(process)
        assert not answers(self.port)

    @contextlib.contextmanager
    def desk(self, browser: Browser) -> Iterator[object]:
        """A page at the desk, ready for a key."""
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        token = self.newcomer()
        context.add_cookies([{"name": "labelkit_session", "value": token, "url": self.address}])
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{self.address}/?sample={self.sample[:12]}")
        page.wait_for_function(READY)
        yield page
        context.close()


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


def rss_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return math.nan


def cpu_s(pid: int) -> float:
    """CPU seconds a process has spent, its ended children left out."""
    words = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
