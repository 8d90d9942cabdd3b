"""What must hold whatever happens: cuts, closed tabs, blindness, a case from both sides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.label import Evidence, Label, Outcome, Rater
from labelkit.store import Store
from labelkit.store.adjudications import decisions
from labelkit.store.labels import commit_labels, labels_of
from labelkit.store.raters import add_rater, raters
from labelkit.store.samples import sample as sample_of
from labelkit.workflows.review.annotate import Quote
from labelkit.workflows.review.samples import Wanted, draw
from tests.app.stores import ATTACK
from tests.browser.conftest import Visit, serving, visiting
from tests.browser.reviewing import AtDesk, Workplace, furnish, label_all
from tests.browser.wire import Heard, Line, eventually

pytestmark = pytest.mark.browser

RUBRIC = load_rubric("tool-failure")
JUDGE = Rater(
    kind="judge", name="judge:secret-name", version="1", spec={"rubric_digest": RUBRIC.digest}
)
SAID = f"secret-of-the-judge {ATTACK}"
NOTE = f"secret-of-cleo costs $5 and $6 {ATTACK}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    folder = tmp_path_factory.mktemp("hazards")
    made = furnish(folder, n=4, overlap=30)
    with Store.open(made.url) as store:
        made.other = draw(store, None, RUBRIC, Wanted(n=2, overlap=3, repeats_share=1.0)).id
        add_rater(store, JUDGE)
        commit_labels(store, [judged(trace.digest) for trace in made.traces])
    with serving(folder) as (address, _):
        made.address = address
        yield made


def judged(trace: str) -> Label:
    return Label(
        trace=trace,
        rater=JUDGE.digest,
        question="outcome",
        outcome=Outcome.LABELLED,
        value="result_ignore",
        rationale=SAID,
        evidence=(Evidence(part="answer", quote=ATTACK),),
        created_at=datetime.now(UTC),
    )


def newcomer(chromium: Browser, place: Workplace, name: str) -> AbstractContextManager[Visit]:
    return visiting(chromium, place.address, token=place.newcomer(name), away=True)


def test_an_act_whose_answer_was_lost_is_stored_once(chromium: Browser, place: Workplace) -> None:
    with newcomer(chromium, place, "Lost") as visit:
        line, desk = Line(visit.page), AtDesk(visit, place.sample)
        trace = desk.sit()
        line.deaf = True
        desk.press("1")
        eventually(visit.page, lambda: place.given("Lost") == [(trace, "correct")])
        desk.status("Saving")
        line.cut()
        line.deaf = False
        desk.passed(trace)
        assert len(line.ends) > 1, "there was a new connection"
        assert place.given("Lost") == [(trace, "correct")]
        after = desk.label("2")
    assert dict(place.given("Lost")) == {trace: "correct", after: "tool_skip"}


def test_what_is_pressed_while_the_line_is_cut_is_stored_when_it_is_back(
    chromium: Browser, place: Workplace
) -> None:
    with newcomer(chromium, place, "Cut") as visit:
        line, desk = Line(visit.page), AtDesk(visit, place.sample)
        trace = desk.sit()
        desk.press("n")
        desk.page.keyboard.type("before the cut")
        line.dead = True
        line.cut()
        desk.page.keyboard.type(", and after")
        desk.press("Escape")
        desk.press("2")
        desk.status("Not saved yet")
        assert place.given("Cut") == []
        line.dead = False
        desk.passed(trace)
    assert place.given("Cut") == [(trace, "tool_skip")]
    with Store.open(place.url) as store:
        (mine,) = [one for one in labels_of(store, trace) if one.rater == author(store, "Cut")]
    assert mine.rationale == "before the cut, and after"


def author(store: Store, name: str) -> str:
    (found,) = {rater.digest for rater in raters(store) if rater.name == name}
    return found


def test_a_tab_closed_or_loaded_anew_at_the_moment_of_a_key_neither_loses_nor_doubles(
    chromium: Browser, place: Workplace
) -> None:
    with newcomer(chromium, place, "Haste") as visit:
        desk = AtDesk(visit, place.sample)
        first = desk.sit()
        desk.press("1")
        visit.page.reload()
        desk.passed(first)  # what was not stored yet was sent once more
        assert place.given("Haste") == [(first, "correct")]

        tab = Visit(visit.page.context.new_page(), place.address)
        other = AtDesk(tab, place.sample)
        second = other.sit()
        other.press("2")
        tab.page.close(run_before_unload=False)
        visit.page.reload()
        here = desk.ready()
        # It was stored and the next one shows, or it was not and the same one shows.
        assert ((second, "tool_skip") in place.given("Haste")) is (here != second)
        while desk.trace:
            desk.label("2")
    found = place.given("Haste")
    assert sorted(trace for trace, _ in found) == sorted(t.digest for t in place.traces)
    assert dict(found)[first] == "correct"


def test_two_clicks_in_one_moment_are_the_first_one(chromium: Browser, place: Workplace) -> None:
    with newcomer(chromium, place, "Twice") as visit:
        desk = AtDesk(visit, place.sample)
        trace = desk.sit()
        visit.page.locator(".st-key-desk .choice[data-label=correct]").evaluate(
            "one => { one.click(); one.parentNode.lastElementChild.click(); one.click(); }"
        )
        desk.passed(trace)
        assert place.given("Twice") == [(trace, "correct")]


def test_idle_time_is_no_work(chromium: Browser, place: Workplace) -> None:
    spent = """idle => {
      const desk = [...document.querySelectorAll('.st-key-desk *')].map(e => e.shadowRoot)
        .filter(Boolean).map(r => r.querySelector('.lk').labelkit)[0];
      const before = desk.now();
      desk.last -= idle;
      return desk.now() - before;
    }"""
    with newcomer(chromium, place, "Idle") as visit:
        AtDesk(visit, place.sample).sit()
        assert 20_000 <= visit.page.evaluate(spent, 20_000) < 30_000
        assert visit.page.evaluate(spent, 20 * 60_000) < 10_000


def test_hidden_repeats_look_like_any_other_trace_and_are_kept_apart(
    chromium: Browser, place: Workplace
) -> None:
    with newcomer(chromium, place, "Again") as visit:
        heard, desk = Heard(visit.page), AtDesk(visit, place.other)
        desk.sit()
        seen = [desk.label(key) for key in "1212"]
        assert not desk.trace
        visit.page.get_by_text("Nothing is left here for you").wait_for()
        assert visit.page.locator(".st-key-reading .end[data-trace]").count() == 0, "no ghost"
        assert '"repeat' not in heard
    assert seen[:2] == seen[2:]
    with Store.open(place.url) as store:
        mine = author(store, "Again")
        for trace, value in zip(seen[:2], ("correct", "tool_skip"), strict=True):
            said = [(one.repeat, one.value) for one in labels_of(store, trace) if one.rater == mine]
            assert sorted(said) == [(0, value), (1, value)]


@pytest.fixture(scope="module")
def parted(place: Workplace) -> Workplace:
    """Three people part on every trace, whoever thinks again; one attacks the reader."""
    label_all(place, "Cleo-the-secret", "output_fabrication", note=NOTE,
              quotes=(Quote(ATTACK, "answer"),))  # fmt: skip
    label_all(place, "Uma", "correct")
    label_all(place, "Third", "correct")
    return place


def test_nothing_a_blind_browser_receives_tells_what_others_or_judges_said(
    chromium: Browser, parted: Workplace
) -> None:
    with newcomer(chromium, parted, "Blind") as visit:
        heard, desk = Heard(visit.page), AtDesk(visit, parted.sample)
        desk.sit()
        for path in ("traces", "adjudicate", "agreement", f"?trace={parted.traces[0].digest}"):
            visit.page.goto(f"{parted.address}/{path}")
            visit.settled()
        visit.go(f"?sample={parted.sample[:12]}")
        while desk.trace:
            desk.label("1")
    assert "search_orders" in heard
    for secret in ("secret-of-cleo", "secret-of-the-judge", "secret-name", "Cleo-the", "Uma"):
        assert secret not in heard, secret


def test_a_case_shows_hostile_words_as_words_and_names_only_when_decided(
    chromium: Browser, parted: Workplace
) -> None:
    with visiting(chromium, parted.address, token=parted.tokens["Jo"]) as visit:
        page, heard, desk = visit.page, Heard(visit.page), AtDesk(visit)
        visit.go(f"adjudicate?sample={parted.sample[:12]}")
        trace = desk.ready()
        shown = page.locator(".st-key-desk")
        assert NOTE in shown.locator(".why").all_text_contents()
        assert shown.locator("blockquote.lost").count() == 1
        assert "secret-of-cleo" in heard
        for secret in ("Cleo-the-secret", "secret-of-the-judge"):
            assert secret not in heard, secret
        shown.locator("button.open").filter(has_text="secret-name").click()
        shown.locator(".why", has_text="secret-of-the-judge").wait_for()
        assert SAID in shown.locator(".why").all_text_contents()
        assert page.locator(".lk :is(img, script, iframe, svg, style)").count() == 0
        assert visit.no_sideways_scrolling()
        desk.ready()
        shown.get_by_role("button", name="Guideline gap").click()
        tags = shown.locator("input").first
        tags.fill("swapped amounts, :red[x] <img src=x>")
        desk.ready()
        shown.locator(".choice[data-label=tool_skip]").click()
        shown.locator("textarea").fill(f"because {ATTACK}".replace("\0", "").replace("\ud800", ""))
        assert "Cleo-the-secret" not in heard
        page.keyboard.press("Control+Enter")
        desk.passed(trace)
        assert visit.no_sideways_scrolling()
        page.get_by_text("Decided ones too").click()
        page.get_by_text("of 4").first.wait_for()
    with Store.open(parted.url) as store:
        (made,) = decisions(store, sample_of(store, parted.sample).key)
    assert (made.trace, made.value, made.guideline_gap) == (trace, "tool_skip", True)
    assert made.tags == ("swapped amounts", ":red[x] <img src=x>")
    assert JUDGE.digest in made.seen


def test_a_case_goes_back_to_who_labelled_it_and_the_first_label_stays_the_independent_one(
    chromium: Browser, parted: Workplace
) -> None:
    why = "Look at the second amount, $1 <b>please</b>"
    with visiting(chromium, parted.address, token=parted.tokens["Jo"]) as visit:
        desk = AtDesk(visit)
        visit.go(f"adjudicate?sample={parted.sample[:12]}")
        trace = desk.ready()
        back = visit.page.get_by_role("button", name="Send back to the raters")
        back.click()
        desk.status("Write what the raters should look at")
        visit.page.locator(".st-key-desk textarea").fill(why)
        back.click()
        desk.status("Sent back to")
    with visiting(chromium, parted.address, token=parted.tokens["Uma"]) as visit:
        desk = AtDesk(visit, parted.sample)
        assert desk.sit() == trace
        assert visit.page.locator(".st-key-desk .sent").text_content() == f"Sent back to you: {why}"
        desk.press("4")
        desk.passed(trace)
    assert dict(parted.given("Uma"))[trace] == "output_fabrication"
    with visiting(chromium, parted.address, token=parted.tokens["Jo"]) as visit:
        visit.go(f"adjudicate?sample={parted.sample[:12]}")
        desk = AtDesk(visit)
        while desk.ready() != trace:
            here = desk.trace
            desk.press("ArrowRight")
            desk.passed(here)
        visit.page.get_by_text(re.compile("given after it was sent back")).wait_for()
