"""A store with people and samples, and a person at the desk in a real browser."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.trace import Trace
from labelkit.store import Store
from labelkit.store.labels import labels_of
from labelkit.store.people import people, person_named
from labelkit.store.raters import raters
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces
from labelkit.workflows.review.annotate import Choice, Draft, submit
from labelkit.workflows.review.assignment import next_item
from labelkit.workflows.review.people import add_person, issue_token
from labelkit.workflows.review.samples import Wanted, draw
from tests.app.rich import rich_task, rich_trace
from tests.browser.conftest import Visit

WORD = "correct horse"
PEOPLE = {"Ada": "admin", "Jo": "adjudicator", "Ben": "annotator", "Cleo": "annotator",
          "Dora": "annotator"}  # fmt: skip


@dataclass
class Workplace:
    """A folder with a store, five people with sessions, and one sample of every trace."""

    folder: Path
    url: str
    tokens: dict[str, str]
    sample: str = ""
    address: str = ""
    traces: list[Trace] = field(default_factory=list)
    test: str = ""
    other: str = ""

    def newcomer(self, name: str, role: str = "annotator") -> str:
        """Add a person and return a session."""
        with Store.open(self.url) as store:
            person = add_person(store, None, name, role, subject=f"{name}@tests")
            self.tokens[name] = issue_token(store, person)
        return self.tokens[name]

    def given(self, name: str) -> list[tuple[str, str]]:
        """(trace, value) of every label in force that the person gave, by trace."""
        found = []
        with Store.open(self.url) as store:
            authors = {rater.digest: rater.name for rater in raters(store)}
            for trace in self.traces:
                found += [
                    (trace.digest, label.value)
                    for label in labels_of(store, trace.digest)
                    if authors[label.rater] == name and label.value is not None
                ]
        return found


def furnish(
    folder: Path,
    *,
    n: int = 8,
    rubric: str = "tool-failure",
    overlap: int = 3,
    extra: tuple[Trace, ...] = (),
    sampled: bool = True,
) -> Workplace:
    """Make the workplace; ``extra`` traces come first."""
    url = f"sqlite:///{folder / 'labelkit.db'}"
    (folder / "labelkit.yaml").write_text("store: sqlite:///labelkit.db\n", encoding="utf-8")
    traces = [*extra, *(rich_trace(number, 3000) for number in range(n))]
    with Store.open(url, create=True) as store:
        add_tasks(store, [rich_task(number) for number in range(40)])
        add_traces(store, traces)
        for name, role in PEOPLE.items():
            add_person(store, None, name, role, passphrase=WORD)
        tokens = {person.name: issue_token(store, person) for person in people(store)}
        made = Workplace(folder, url, tokens, traces=traces)
        if sampled:
            wanted = Wanted(n=len(traces), overlap=overlap, seed=7)
            made.sample = draw(store, None, load_rubric(rubric), wanted).id
    return made


class AtDesk:
    """A person who labels with the keyboard. Every wait is for something that is seen."""

    def __init__(self, visit: Visit, sample: str = "") -> None:
        self.visit = visit
        self.path = f"?sample={sample[:12]}" if sample else ""
        self.page = visit.page

    @property
    def trace(self) -> str:
        """The trace the desk asks about; empty when nothing is left."""
        found = self.page.locator(".st-key-desk .choice").first
        return found.get_attribute("data-trace") or "" if found.count() else ""

    def sit(self) -> str:
        """Open the page and wait for the first trace."""
        self.visit.go(self.path)
        return self.ready()

    def ready(self) -> str:
        """Wait until the desk takes a key for the trace that is shown; returns the trace."""
        self.page.wait_for_function(
            """() => {
              const roots = [...document.querySelectorAll('[class*=st-key-] *')]
                .map(e => e.shadowRoot).filter(Boolean).map(r => r.querySelector('.lk'));
              const desk = roots.map(r => r?.labelkit).find(d => d?.ready);
              return desk && desk.ready() ? desk.data.key : null;
            }"""
        )
        return self.trace

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def passed(self, trace: str) -> str:
        """Wait until the desk has gone on from a trace; returns the next one."""
        self.page.wait_for_function(
            """trace => {
              const roots = [...document.querySelectorAll('[class*=st-key-] *')]
                .map(e => e.shadowRoot).filter(Boolean).map(r => r.querySelector('.lk'));
              const desk = roots.map(r => r?.labelkit).find(d => d?.ready);
              return desk && !desk.pending && desk.data.trace !== trace;
            }""",
            arg=trace,
        )
        return self.trace and self.ready()

    def label(self, key: str) -> str:
        """Label the trace with a key and wait for the next; returns the labelled trace."""
        trace = self.ready()
        self.press(key)
        self.passed(trace)
        return trace

    def status(self, text: str) -> None:
        """Wait until the desk says so."""
        self.page.locator(".st-key-desk .status", has_text=text).wait_for()


def label_all(place: Workplace, name: str, value: str, *, most: int = 10_000, **more: Any) -> None:
    """Let a person label the sample, at most so many traces, without a browser."""
    if name not in place.tokens:
        place.newcomer(name)
    with Store.open(place.url) as store:
        found = person_named(store, name)
        assert found is not None
        for _ in range(most):
            offer = next_item(store, found[0], place.sample)
            if offer is None:
                return
            said = Draft(answers={"outcome": value}, active_ms=900, **more)
            submit(store, found[0], Choice(f"{name}{offer.lease}", offer.lease, offer.trace, said))


@contextlib.contextmanager
def at_desk(
    visiting: contextlib.AbstractContextManager[Visit], *, sample: str = "", empty: bool = False
) -> Iterator[AtDesk]:
    """Sit down; ``empty``: nothing is left to label."""
    with visiting as visit:
        desk = AtDesk(visit, sample)
        desk.sit()
        assert (not desk.trace) is empty
        yield desk
