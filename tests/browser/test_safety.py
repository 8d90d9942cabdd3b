"""Hostile traces, lost connections, many people, and what a screen reader meets."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.trace import RowState, Trace
from labelkit.store import Store
from labelkit.store.people import person_named
from labelkit.workflows.review.annotate import Choice, Draft, Fate, submit
from labelkit.workflows.review.assignment import next_item
from tests.app.stores import ATTACK, LONG
from tests.browser.conftest import (
    CHROMIUM,
    FLAGS,
    PATIENCE_S,
    Visit,
    answers,
    free_port,
    serving,
    start,
    stop,
    visiting,
)
from tests.browser.reviewing import AtDesk, Workplace, at_desk, furnish

pytestmark = pytest.mark.browser


def hostile() -> Trace:
    """Everything that an outsider can choose attacks the reader."""
    return Trace(
        model=f"evil {ATTACK}",
        messages=(
            Message(role="user", content=f"question {ATTACK}"),
            Message(
                role="assistant",
                content="let me see",
                tool_calls=(ToolCall(name=f"tool {ATTACK}", arguments=ATTACK, id="a"),),
            ),
            Message(role="tool", content=LONG, tool_call_id="a"),
            Message(role="assistant", content=f"answer 12.75 {ATTACK}"),
        ),
        state=RowState.OK,
        task_set="clerk",
        task_id="task-1",
    )


def verbatim(visit: Visit, selector: str) -> str:
    """The text of an element; lone surrogates cannot travel otherwise."""
    written: str = visit.page.locator(selector).first.evaluate(
        r"e => JSON.stringify(e.textContent).replace(/[\u007f-\uffff]/g,"
        r" c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'))"
    )
    text: str = json.loads(written)
    return text


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    folder = tmp_path_factory.mktemp("safety")
    made = furnish(folder, n=3, overlap=20, extra=(hostile(),))
    with serving(folder) as (address, _):
        made.address = address
        yield made


def reach(desk: AtDesk, trace: str) -> None:
    """Go on until the trace is on the desk, by sending the others back."""
    for _ in range(8):
        here = desk.ready()
        if here == trace:
            return
        desk.label("1")
    pytest.fail("the trace was never offered")


def test_a_hostile_trace_is_read_and_labelled_like_any_other(
    chromium: Browser, place: Workplace
) -> None:
    wanted = place.traces[0].digest
    with at_desk(visiting(chromium, place.address, token=place.newcomer("Hal"))) as desk:
        reach(desk, wanted)
        visit = desk.visit
        assert verbatim(visit, ".st-key-reading .top.user .t") == f"question {ATTACK}"
        assert verbatim(visit, ".st-key-reading .top.final .t") == f"answer 12.75 {ATTACK}"
        assert visit.page.locator(".st-key-reading mark.nowhere").first.inner_text() == "12.75"
        visit.page.get_by_role("button", name="Open all").click()
        visit.page.locator(".st-key-reading .ev.call pre").first.wait_for()
        assert verbatim(visit, ".st-key-reading .ev.call pre") == ATTACK
        tags = ":is(img, script, iframe, svg, style, a)"
        assert visit.page.locator(f".st-key-reading .lk {tags}").count() == 0
        assert visit.no_sideways_scrolling()
        visit.shoot("annotate-hostile")
        desk.press("n")
        desk.page.keyboard.type(ATTACK.replace("\ud800", "").replace("\x00", ""))
        desk.press("Escape")
        desk.label("2")
    assert (wanted, "tool_skip") in place.given("Hal")


def test_a_hostile_name_of_a_person_is_only_a_name(chromium: Browser, place: Workplace) -> None:
    name = "![x](http://beacon.invalid/n.png) $a$ :red[b] <img src=http://beacon.invalid/m>"
    with at_desk(visiting(chromium, place.address, token=place.newcomer(name))) as desk:
        assert desk.page.locator(".lk-me span").inner_text() == name[:69] + "\u2026"
        desk.label("1")
    with visiting(chromium, place.address, token=place.tokens["Ada"]) as visit:
        for page in ("samples", "agreement"):
            visit.go(page)
            visit.page.locator(".lk-cards").first.wait_for()
            assert visit.page.locator("[data-testid=stMain] img").count() == 0
        visit.go("samples")
        table = visit.page.get_by_role("region", name="People")
        table.get_by_text(name).first.wait_for()


def test_people_at_once_give_every_label_once(place: Workplace) -> None:
    """Ten of them: three in browsers, seven that send what a desk sends, on the same database."""
    names = [f"Crowd {number}" for number in range(10)]
    tokens = {name: place.newcomer(name) for name in names}
    failed: list[str] = []
    together = threading.Barrier(len(names))

    def work(name: str) -> None:
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
                with at_desk(visiting(browser, place.address, token=tokens[name])) as desk:
                    together.wait(PATIENCE_S)
                    for _ in place.traces:
                        desk.label("1")
                browser.close()
        except Exception as error:
            failed.append(f"{name}: {error}")
            together.abort()

    def send(name: str) -> None:
        try:
            with Store.open(place.url) as store:
                found = person_named(store, name)
                assert found is not None
                who = found[0]
                together.wait(PATIENCE_S)
                while (offer := next_item(store, who, place.sample)) is not None:
                    said = Draft(answers={"outcome": "correct"}, active_ms=2000)
                    choice = Choice(f"{name} {offer.lease}", offer.lease, offer.trace, said)
                    fates = {submit(store, who, choice).fate for _ in range(2)}
                    assert fates == {Fate.STORED, Fate.REPEATED}
        except Exception as error:
            failed.append(f"{name}: {error}")
            together.abort()

    threads = [
        threading.Thread(target=work if number < 3 else send, args=(name,))
        for number, name in enumerate(names)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    for name in names:
        assert place.given(name) == [(trace.digest, "correct") for trace in place.traces]


def test_a_dropped_connection_keeps_place_and_draft(chromium: Browser, place: Workplace) -> None:
    token = place.newcomer("Rip")
    with at_desk(visiting(chromium, place.address, token=token, away=True)) as desk:
        trace = desk.ready()
        desk.press("n")
        desk.page.keyboard.type("before the cut")
        desk.page.context.set_offline(True)
        desk.page.keyboard.type(", and after")
        desk.press("Escape")
        desk.page.context.set_offline(False)
        assert (
            desk.page.locator(".st-key-desk textarea").input_value() == "before the cut, and after"
        )
        desk.press("1")
        desk.passed(trace)
    assert place.given("Rip") == [(trace, "correct")]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_server_loses_no_label_and_no_place(
    chromium: Browser, tmp_path: Path, when: str
) -> None:
    made = furnish(tmp_path, n=3)
    port = 0
    with Killable(tmp_path) as server:
        made.address, port = server.address, server.port
        with at_desk(visiting(chromium, made.address, token=made.tokens["Ben"], away=True)) as desk:
            trace = desk.ready()
            if when == "before":
                server.kill()
                desk.press("2")
                desk.status("Not saved yet")
            else:
                desk.press("2")
                server.kill()
            server.again()
            after = desk.passed(trace)
            assert made.given("Ben") == [(trace, "tool_skip")]
            assert desk.label("1") == after
        assert len(made.given("Ben")) == 2
    assert not answers(port)


class Killable:
    """A server that a test may kill hard and start again on its port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Self:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.process = start(self.folder, self.port)
        return self

    def kill(self) -> None:
        """Kill the child first, so that nobody tidies up."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for child in children.read_text(encoding="ascii").split():
            os.kill(int(child), signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def again(self) -> None:
        """Start it once more."""
        self.process = start(self.folder, self.port)

    def __exit__(self, *_: object) -> None:
        stop(self.process)


@pytest.mark.parametrize(
    ("path", "who", "ready"),
    [
        ("", "Ben", ".st-key-desk .choice"),
        ("adjudicate", "Jo", ".st-key-desk .choice, .lk-note"),
        ("agreement", "Jo", ".lk-cards, .lk-note"),
        ("judges", "Jo", ".lk-cards, .lk-note"),
        ("samples", "Ada", "text=Draw a sample"),
        ("traces", "Ada", ".end[data-rows]"),
        ("report", "Ada", ".lk-note, .end"),
        ("login", "", "#name"),
    ],
)
def test_nothing_serious_stands_in_the_way_of_a_screen_reader(
    chromium: Browser, place: Workplace, path: str, who: str, ready: str
) -> None:
    token = place.tokens[who] if who else ""
    serious = []
    with visiting(chromium, place.address, token=token, reduced_motion="reduce") as visit:
        for scheme in ("light", "dark"):
            visit.page.emulate_media(color_scheme=scheme)
            visit.page.goto(f"{place.address}/{path}")
            visit.page.locator(ready).first.wait_for(state="attached")
            if path != "login":
                visit.settled()
            visit.shoot(f"{path.partition('?')[0] or 'annotate'}-{scheme}")
            found = Axe().run(visit.page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa"]})
            serious += [
                f"{scheme} {rule['id']}: {node['target']} {node['html'][:200]}"
                for rule in found.response["violations"]
                if rule["impact"] in {"serious", "critical"}
                for node in rule["nodes"]
            ]
    assert serious == []
