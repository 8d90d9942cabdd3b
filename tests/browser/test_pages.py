"""Both pages in a real browser: they load, they are quiet, hostile text is text."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator

from tests.app.stores import ATTACK, JUDGE, LONG
from tests.browser.conftest import Served, Visit

pytestmark = pytest.mark.browser

FIRST = 60_000  # characters that app/components/trace.js puts into the page at once


def text_of(visit: Visit, selector: str, place: int = 0) -> str:
    """The text of an element as UTF-16 units in JSON: lone surrogates cannot travel otherwise."""
    found = visit.page.locator(selector).nth(place)
    written: str = found.evaluate(
        r"e => JSON.stringify(e.textContent).replace(/[\u007f-\uffff]/g,"
        r" c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'))"
    )
    text: str = json.loads(written)
    return text


def unfold(call: Locator) -> None:
    """Open a folded call. The browser tells the page of an opened fold a moment after the click."""
    call.locator("summary").click()
    call.locator("pre").first.wait_for()


def test_the_list_loads_and_leads_to_a_trace_and_back(visit: Visit, served: Served) -> None:
    visit.go()
    visit.wait(".end[data-rows='5']")
    assert visit.no_sideways_scrolling()
    wanted = served.filled.traces[1].digest
    visit.page.locator(f"a[data-trace='{wanted}']").click()
    visit.wait(f".end[data-trace='{wanted}']")
    visit.page.wait_for_url(f"**/?trace={wanted}")
    assert text_of(visit, ".top.final .t") == "Go away."
    assert visit.no_sideways_scrolling()
    visit.page.get_by_role("button", name="All traces").click()
    visit.wait(".end[data-rows='5']")
    visit.page.wait_for_function("!location.search.includes('trace=')")


def test_a_deep_link_opens_its_trace_and_survives_a_reload(visit: Visit, served: Served) -> None:
    wanted = served.filled.traces[0].digest
    response = visit.page.goto(f"{visit.address}/?trace={wanted[:20]}")
    assert response is not None
    policy = response.headers["content-security-policy"]
    assert "img-src 'self' data: blob:" in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    visit.wait(f".end[data-trace='{wanted}']")
    visit.page.reload()
    visit.wait(f".end[data-trace='{wanted}']")
    assert text_of(visit, ".top.user .t") == "Where is order 0?"


def test_calls_stand_with_their_results_and_labels_beside_the_path(
    visit: Visit, served: Served
) -> None:
    visit.go(f"?trace={served.filled.traces[1].digest}")
    visit.wait(".end[data-trace]")
    calls = visit.page.locator(".ev.call")
    assert calls.count() == 2
    assert calls.nth(0).locator(".badge.bad").count() == 0
    assert calls.nth(1).locator(".badge.bad").inner_text() == "error"
    assert calls.nth(1).locator("pre").count() == 0, "a closed fold costs nothing"
    unfold(calls.nth(1))
    assert calls.nth(1).locator("pre").all_inner_texts() == ["{}", '{"error": "not allowed"}']
    judged = visit.page.locator(".label", has_text=JUDGE.name)
    assert "It is short." in judged.inner_text()
    assert judged.locator("blockquote").count() == 2
    assert judged.locator("blockquote.lost").count() == 1
    path, labels = (visit.page.locator(s).bounding_box() for s in (".path", ".labels"))
    assert path is not None
    assert labels is not None
    assert path["x"] + path["width"] <= labels["x"]


def test_hostile_text_is_shown_verbatim_and_does_nothing(visit: Visit, served: Served) -> None:
    visit.go(f"?trace={served.filled.attack.digest}")
    visit.wait(".end[data-trace]")
    assert text_of(visit, ".top.user .t") == f"question {ATTACK}"
    assert text_of(visit, ".top.final .t") == f"answer {ATTACK}"
    call = visit.page.locator(".ev.call")
    unfold(call)
    assert text_of(visit, ".ev.call pre", 0) == ATTACK
    assert text_of(visit, ".ev.call strong").startswith(f"tool {ATTACK[:100]}")
    assert f"because {ATTACK}" in [text_of(visit, ".label .why", n) for n in range(1)]
    # NUL, ESC, RLO and the lone surrogate stay in the text and are shown by their codes.
    marks = visit.page.locator(".top.final .acting")
    codes = marks.evaluate_all("es => es.map(e => e.dataset.code)")
    assert codes == ["U+001B", "U+001B", "U+0000", "U+202E", "U+202C", "U+D800", "U+2066"]
    assert visit.page.locator(".lk :is(img, script, iframe, svg, style)").count() == 0
    assert visit.no_sideways_scrolling()


def test_a_line_of_half_a_megabyte_opens_bit_by_bit(visit: Visit, served: Served) -> None:
    visit.go(f"?trace={served.filled.attack.digest}")
    visit.wait(".end[data-trace]")
    call = visit.page.locator(".ev.call")
    unfold(call)
    result = call.locator("pre").nth(1)
    assert result.evaluate("e => e.textContent") == LONG[:FIRST]
    assert result.evaluate("e => e.scrollWidth <= e.clientWidth")
    shown = FIRST
    while shown < len(LONG):
        call.get_by_role("button", name=re.compile("Show more")).click()
        shown += FIRST
    assert result.evaluate("e => e.textContent") == LONG
    assert call.get_by_role("button", name=re.compile("Show more")).count() == 0


def test_the_filters_offer_hostile_names_as_text(visit: Visit) -> None:
    visit.go()
    visit.wait(".end[data-rows='5']")
    visit.page.get_by_role("combobox", name=re.compile("Model")).click()
    visit.page.get_by_role("option", name=re.compile("^evil")).click()
    visit.wait(".end[data-rows='1']")
    assert text_of(visit, "tbody td", 1).startswith("evil <script>")
    assert visit.no_sideways_scrolling()


def test_the_report_has_its_table_and_its_chart_and_hostile_groups(visit: Visit) -> None:
    visit.go("report")
    visit.wait(".end[data-rows='1']")
    visit.wait("[data-testid=stVegaLiteChart] :is(canvas, svg)")
    table = visit.page.get_by_role("region", name="Rates")
    assert "RUDE[All]" in table.inner_text()
    assert "1 / 4" in table.inner_text()
    assert visit.no_sideways_scrolling()
    visit.page.get_by_role("combobox", name=re.compile("Broken down by")).click()
    visit.page.get_by_role("option", name="model").click()
    visit.wait(".end[data-rows='4']")
    visit.wait("[data-testid=stVegaLiteChart] :is(canvas, svg)")
    assert visit.page.get_by_role("region", name="Rates").inner_text().count("RUDE[All]") == 4
    assert visit.no_sideways_scrolling()
