"""The annotator's day: labels by keys, each once and on the trace that was seen."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
from playwright.sync_api import Browser

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.label import Label
from labelkit.store import Store
from labelkit.store.labels import labels_of
from labelkit.store.raters import raters
from labelkit.workflows.review.samples import Wanted, draw
from tests.browser.conftest import PATIENCE_S, serving, visiting
from tests.browser.reviewing import AtDesk, Workplace, at_desk, furnish

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    folder = tmp_path_factory.mktemp("office")
    made = furnish(folder, n=6, overlap=40)
    with Store.open(made.url) as store:
        wanted = Wanted(n=6, overlap=40, seed=8)
        made.other = draw(store, None, load_rubric("post-failure-honesty"), wanted).id
    with serving(folder) as (address, _):
        made.address = address
        yield made


@pytest.fixture
def place(office: Workplace, request: pytest.FixtureRequest) -> Workplace:
    """One server for all; every test has people of its own, who see every trace."""
    for name in ("Ben", "Cleo"):
        office.newcomer(f"{name} {request.node.name}"[:79])
    office.test = request.node.name
    return office


def own(place: Workplace, name: str) -> str:
    """The name of this test's Ben."""
    return f"{name} {place.test}"[:79]


def sit(
    chromium: Browser, place: Workplace, name: str, *, sample: str = "", **more: object
) -> AbstractContextManager[AtDesk]:
    """Let a person of this test sit down at the desk."""
    visit = visiting(chromium, place.address, token=place.tokens[own(place, name)], **more)
    return at_desk(visit, sample=sample or place.sample)


def given(place: Workplace, name: str = "Ben") -> list[tuple[str, str]]:
    """What a person of this test has labelled."""
    return place.given(own(place, name))


def only(place: Workplace, trace: str, question: str = "outcome") -> Label:
    """The one label that this test's Ben gave a trace."""
    with Store.open(place.url) as store:
        names = {rater.digest: rater.name for rater in raters(store)}
        found = [
            label
            for label in labels_of(store, trace, question=question)
            if names[label.rater] == own(place, "Ben")
        ]
    (label,) = found
    return label


def test_one_key_is_one_label_on_the_trace_that_was_seen(
    chromium: Browser, place: Workplace
) -> None:
    with sit(chromium, place, "Ben") as desk:
        desk.visit.shoot("annotate-1280-light")
        first = desk.label("1")
        second = desk.label("Numpad3")
        desk.status("Saved.")
        assert desk.visit.no_sideways_scrolling()
    assert dict(given(place)) == {first: "correct", second: "result_ignore"}


def test_a_held_or_hammered_key_labels_no_unseen_trace(chromium: Browser, place: Workplace) -> None:
    with sit(chromium, place, "Ben") as desk:
        seen = desk.ready()
        desk.page.keyboard.down("1")
        for _ in range(30):
            desk.page.keyboard.down("1")  # what a held key sends: repeats
        desk.page.keyboard.up("1")
        after = desk.passed(seen)
        assert given(place) == [(seen, "correct")]
        for _ in range(12):
            desk.press("2")
        desk.passed(after)
        # The burst may have outlasted the pause on the next trace, but never labels one unseen.
        values = dict(given(place))
    assert values[seen] == "correct"
    assert values[after] == "tool_skip"


def test_typing_in_the_note_labels_nothing_and_the_note_is_stored_whole(
    chromium: Browser, place: Workplace
) -> None:
    with sit(chromium, place, "Ben") as desk:
        trace = desk.ready()
        desk.press("n")
        desk.page.keyboard.type("123 fsz? 4")
        assert given(place) == []
        desk.press("Escape")
        desk.press("1")
        desk.passed(trace)
    label = only(place, trace)
    assert (label.value, label.rationale) == ("correct", "123 fsz? 4")


def test_a_click_while_the_note_has_the_focus_is_no_lost_click(
    chromium: Browser, place: Workplace
) -> None:
    with sit(chromium, place, "Ben") as desk:
        trace = desk.ready()
        desk.press("n")
        desk.page.keyboard.type("typed and clicked at once")
        desk.page.locator(".choice[data-label=tool_skip]").click()
        desk.passed(trace)
    label = only(place, trace)
    assert (label.value, label.rationale) == ("tool_skip", "typed and clicked at once")


def test_a_double_click_is_one_label(chromium: Browser, place: Workplace) -> None:
    with sit(chromium, place, "Ben") as desk:
        trace = desk.ready()
        desk.page.locator(".choice[data-label=correct]").dblclick()
        desk.passed(trace)
        assert given(place) == [(trace, "correct")]


def test_modifiers_and_composition_are_no_label(chromium: Browser, place: Workplace) -> None:
    with sit(chromium, place, "Ben") as desk:
        trace = desk.ready()
        for key in ("Alt+1", "Meta+1", "Control+Shift+1"):
            desk.press(key)
        desk.page.evaluate(
            "document.body.dispatchEvent(new KeyboardEvent('keydown',"
            " {key: '1', code: 'Digit1', isComposing: true, bubbles: true}))"
        )
        desk.page.evaluate(
            "document.body.insertAdjacentElement('beforeend',"
            " Object.assign(document.createElement('div'), {id: 'd', role: 'dialog'}))"
        )
        desk.press("1")
        desk.page.evaluate("document.getElementById('d').remove()")
        desk.page.locator(".st-key-reading .bar input").focus()
        desk.page.keyboard.type("12")
        desk.press("Escape")
        assert desk.ready() == trace
        assert given(place) == []
        assert desk.label("1") == trace


def test_undo_brings_the_trace_back_with_what_was_said(chromium: Browser, place: Workplace) -> None:
    with sit(chromium, place, "Ben") as desk:
        first = desk.ready()
        desk.press("n")
        desk.page.keyboard.type("not sure")
        desk.press("Escape")
        desk.press("f")
        desk.press("2")
        second = desk.passed(first)
        desk.press("z")
        assert desk.passed(second) == first
        assert desk.page.locator(".st-key-desk textarea").input_value() == "not sure"
        assert (
            desk.page.locator(".choice[aria-pressed=true]").get_attribute("data-label")
            == "tool_skip"
        )
        assert desk.page.locator(".tools button[aria-pressed=true]").inner_text() == "f\nFlag"
        desk.press("1")
        desk.passed(first)
        assert given(place) == [(first, "correct")]


def test_skipping_needs_a_reason_and_sending_back_does_not(
    chromium: Browser, place: Workplace
) -> None:
    with sit(chromium, place, "Ben") as desk:
        first = desk.ready()
        desk.press("s")
        desk.page.locator(".why input").wait_for()
        desk.press("Escape")
        assert desk.page.locator(".why").count() == 0
        desk.press("s")
        desk.page.locator(".why input").fill("it is in a language I cannot read")
        desk.press("Enter")
        second = desk.passed(first)
        desk.page.get_by_role("button", name="Send back").click()
        desk.passed(second)
        assert given(place) == []
    assert only(place, first).reason == "skipped: it is in a language I cannot read"
    with pytest.raises(ValueError, match="not enough values"):
        only(place, second)


def test_selected_text_becomes_evidence_with_its_place(chromium: Browser, place: Workplace) -> None:
    with sit(chromium, place, "Ben") as desk:
        trace = desk.ready()
        desk.press("/")
        desk.page.keyboard.type("ORD-")
        desk.page.locator(".bar .count", has_text=re.compile("^1 of")).wait_for()
        desk.press("Escape")
        desk.page.locator("button.quote").wait_for()
        desk.press("Enter")
        desk.page.locator(".quotes blockquote").wait_for()
        desk.press("1")
        desk.passed(trace)
    label = only(place, trace)
    (quote,) = label.evidence
    assert (quote.quote, quote.part, quote.resolved) == ("ORD-", "question", True)


def test_a_reload_gives_the_same_trace_and_the_unsent_draft(
    chromium: Browser, place: Workplace
) -> None:
    with sit(chromium, place, "Ben") as desk:
        trace = desk.ready()
        desk.press("n")
        desk.page.keyboard.type("half a thought")
        desk.page.reload()
        assert desk.ready() == trace
        assert desk.page.locator(".st-key-desk textarea").input_value() == "half a thought"


def test_a_draft_reaches_the_server_and_another_browser(
    chromium: Browser, place: Workplace
) -> None:
    with sit(chromium, place, "Ben") as desk:
        desk.press("n")
        desk.page.keyboard.type("kept at the server")
        desk.press("Escape")
        desk.visit.settled()
        trace = desk.trace
        wait_for_draft(place, "kept at the server", desk)
    with sit(chromium, place, "Ben") as other:
        assert other.ready() == trace
        assert other.page.locator(".st-key-desk textarea").input_value() == "kept at the server"


def wait_for_draft(place: Workplace, text: str, desk: AtDesk) -> None:
    """Wait until the store holds a draft with this text."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with Store.open(place.url) as store, store.reading() as connection:
            bodies = [row[0] for row in connection.exec_driver_sql("select body from draft")]
        if any(text in json.loads(body)["note"] for body in map(str, bodies)):
            return
        desk.page.wait_for_timeout(50)
    pytest.fail("the draft never reached the store")


def test_saving_a_draft_moves_nothing_on_the_page(chromium: Browser, place: Workplace) -> None:
    with sit(chromium, place, "Ben") as desk:
        desk.page.get_by_role("button", name="Open all").click()
        main = desk.page.locator("[data-testid=stMain]")
        main.evaluate("e => e.scrollTo(0, 400)")
        desk.press("n")
        before = main.evaluate("e => e.scrollTop")
        desk.page.keyboard.type("kept while reading on")
        wait_for_draft(place, "kept while reading on", desk)
        desk.visit.settled()
        assert main.evaluate("e => e.scrollTop") == before
        assert desk.page.locator(".st-key-reading details[open]").count() > 0
        assert desk.page.locator(".end[data-trace]").count() == 1


def test_several_questions_are_answered_by_key_and_saved_together(
    chromium: Browser, place: Workplace
) -> None:
    with sit(chromium, place, "Ben", sample=place.other) as desk:
        visit, trace = desk.visit, desk.ready()
        visit.shoot("annotate-questions")
        for key in ("1", "0", "1", "0"):
            desk.press(key)
            desk.ready()
        desk.press("Enter")  # one is missing: nothing happens
        assert visit.page.locator("button.save").is_disabled()
        desk.press("0")
        desk.ready()
        desk.press("ArrowUp")
        desk.ready()
        desk.press("1")
        desk.ready()
        desk.press("Enter")
        desk.passed(trace)
    with Store.open(place.url) as store:
        said = {
            label.question: label.value
            for label in labels_of(store, trace)
            if label.rater == only(place, trace, "asserts").rater
        }
    assert said == {
        "asserts": "yes", "warns": "no", "declines": "yes",
        "reason_supported": "yes", "mixed_reasons": "no", "honesty": "F",
    }  # fmt: skip


def test_two_tabs_on_one_trace_give_one_label(chromium: Browser, place: Workplace) -> None:
    with sit(chromium, place, "Ben") as one, sit(chromium, place, "Ben") as two:
        trace = one.ready()
        assert two.ready() == trace
        one.label("1")
        two.press("2")
        two.passed(trace)
        two.status("You had labelled this trace already.")
    assert given(place) == [(trace, "correct")]


def test_nothing_a_blind_browser_receives_holds_anothers_label(
    chromium: Browser, place: Workplace
) -> None:
    with sit(chromium, place, "Cleo") as cleo:
        cleo.press("n")
        cleo.page.keyboard.type("secret-of-cleo")
        cleo.press("Escape")
        trace = cleo.label("4")
    frames: list[bytes] = []
    with visiting(chromium, place.address, token=place.tokens[own(place, "Ben")]) as visit:
        visit.page.on(
            "websocket",
            lambda socket: socket.on("framereceived", lambda data: frames.append(raw(data))),
        )
        desk = AtDesk(visit, place.sample)
        seen = {desk.sit()}
        while desk.trace:
            seen.add(desk.label("1"))
        assert trace in seen
    sent = b"".join(frames)
    assert b"search_orders" in sent
    assert b"secret-of-cleo" not in sent
    # A label's name is among the choices of the desk, but never as anybody's answer.
    assert b'"value": "output_fabrication"' not in sent


def raw(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data


def test_a_deep_link_of_a_blind_person_shows_no_labels(chromium: Browser, place: Workplace) -> None:
    with sit(chromium, place, "Cleo") as cleo:
        trace = cleo.label("4")
    # The browser is told that there is no such page for this person, and says so.
    with visiting(
        chromium, place.address, token=place.tokens[own(place, "Ben")], away=True
    ) as visit:
        visit.go(f"traces?trace={trace}")
        AtDesk(visit).ready()
        assert visit.page.locator(".label").count() == 0
        assert visit.page.get_by_text("Traces").count() == 0


def test_the_sign_in_page_leads_to_the_desk_and_out_again(
    chromium: Browser, place: Workplace
) -> None:
    with visiting(chromium, place.address) as visit:
        page = visit.page
        page.goto(place.address)
        page.get_by_label("Name").fill("ben")
        page.get_by_label("Passphrase").fill("correct horse")
        visit.shoot("sign-in")
        page.get_by_role("button", name="Sign in").click()
        desk = AtDesk(visit)
        desk.ready()
        page.reload()
        desk.ready()
        (cookie,) = [c for c in page.context.cookies() if c["name"] == "labelkit_session"]
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        # It outlives the browser, and not the hours of the settings.
        assert cookie["expires"] - time.time() == pytest.approx(12 * 3600, abs=900)
        page.get_by_role("link", name="Sign out").click()
        page.get_by_label("Passphrase").wait_for()
        page.goto(place.address)
        page.get_by_label("Passphrase").wait_for()
