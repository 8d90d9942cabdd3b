"""The whole way in real browsers: a sample is drawn, three label, one decides, all see it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from labelkit.store import Store
from labelkit.store.adjudications import decisions
from labelkit.store.samples import samples
from tests.browser.conftest import serving, visiting
from tests.browser.reviewing import AtDesk, Workplace, at_desk, furnish, label_all

pytestmark = pytest.mark.browser

# Keys by place in the sorted digests: all agree, two of three, all differ, and so on.
SAID = {"Ben": "112341", "Cleo": "112143", "Dora": "113243"}
NAMES = {"1": "correct", "2": "tool_skip", "3": "result_ignore", "4": "output_fabrication"}


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Workplace]:
    """Six traces; their sample is drawn where the test asks for it."""
    folder = tmp_path
    made = furnish(folder, n=6, sampled=getattr(request, "param", False))
    with (folder / "labelkit.yaml").open("a", encoding="utf-8") as settings:
        settings.write("app: {refresh_s: 1}\n")
    with serving(folder) as (address, _):
        made.address = address
        yield made


def draw_sample(chromium: Browser, place: Workplace) -> None:
    with visiting(chromium, place.address, token=place.tokens["Ada"]) as visit:
        page = visit.page
        visit.go("samples")
        # Whether anything can be drawn for the first rubric is not what this is about.
        page.get_by_role("combobox", name="Rubric").click()
        page.get_by_role("option", name="tool-failure 1.0.0").click()
        visit.wait(".st-key-draw button")
        page.get_by_role("spinbutton", name="People per trace").fill("3")
        page.keyboard.press("Enter")
        page.locator(".lk-cards", has_text="Traces to draw").get_by_text(
            "18", exact=True
        ).wait_for()
        visit.shoot("samples-plan")
        page.get_by_role("button", name="Draw this sample").click()
        page.get_by_text("is drawn.").wait_for()
        visit.wait(".end[data-rows='1']")
        visit.shoot("samples")
        assert visit.no_sideways_scrolling()
    with Store.open(place.url) as store:
        (sample,) = samples(store)
    place.sample = sample.id


def label_in_a_browser(chromium: Browser, place: Workplace, name: str) -> None:
    order = sorted(trace.digest for trace in place.traces)
    with at_desk(visiting(chromium, place.address, token=place.tokens[name])) as desk:
        for _ in order:
            trace = desk.ready()
            desk.press(SAID[name][order.index(trace)])
            desk.passed(trace)
        desk.page.get_by_text("Nothing is left here for you").wait_for()
    given = dict(place.given(name))
    assert given == {t: NAMES[SAID[name][i]] for i, t in enumerate(order)}


def decide_first(chromium: Browser, place: Workplace) -> str:
    """Decide the first case; returns its trace."""
    with visiting(chromium, place.address, token=place.tokens["Jo"]) as visit:
        page = visit.page
        visit.go("adjudicate")
        desk = AtDesk(visit)
        trace = desk.ready()
        page.get_by_text("Names are hidden until you decide").wait_for()
        cards = page.locator(".st-key-desk .table")
        assert "Ben" not in cards.inner_text()
        assert cards.locator(".card").count() == 3
        visit.shoot("adjudicate-1280")
        assert visit.no_sideways_scrolling()
        desk.press("1")
        desk.press("Enter")  # without a reason nothing is decided
        page.locator(".st-key-desk textarea").wait_for()
        page.keyboard.type("The amount is the one of the first record.")
        page.keyboard.press("Control+Enter")
        desk.passed(trace)
        page.get_by_text("Decided ones too").click()
        page.get_by_text("of 3").first.wait_for()
        return trace


def test_from_the_draw_to_the_numbers(chromium: Browser, place: Workplace) -> None:
    draw_sample(chromium, place)
    for name in ("Ben", "Cleo", "Dora"):
        label_in_a_browser(chromium, place, name)
    decided = decide_first(chromium, place)
    with Store.open(place.url) as store:
        (sample,) = samples(store)
        (made,) = decisions(store, sample.key)
    assert (made.trace, made.value) == (decided, "correct")
    assert made.reason == "The amount is the one of the first record."

    agree = subprocess.run(
        [sys.executable, "-m", "labelkit.cli.main", "agree", "--in", str(place.folder),
         "--sample", place.sample, "--question", "outcome", "--json"],
        capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    (whole,) = [g for g in json.loads(agree.stdout)["groups"] if g["group"] == "all"]
    known = {c["name"]: c for c in whole["coefficients"]}
    with visiting(chromium, place.address, token=place.tokens["Jo"]) as visit:
        page = visit.page
        visit.go("agreement")
        cards = page.locator(".lk-cards").first
        for name in ("fleiss_kappa", "gwet_ac", "krippendorff_alpha"):
            cards.get_by_text(f"{known[name]['value']:.3f}", exact=True).first.wait_for()
        share = f"{known['percent_agreement']['value']:.1%}"
        cards.get_by_text(share, exact=True).first.wait_for()
        visit.wait("[data-testid=stVegaLiteChart] :is(canvas, svg)")
        visit.shoot("agreement-1280")
        assert visit.no_sideways_scrolling()
        visit.settled()
        listed = page.get_by_role("combobox", name="Traces on which they part")
        page.locator(".heat td.open").last.click()
        chosen = page.locator(".heat td.chosen")
        chosen.wait_for()
        page.locator("a[data-trace]").first.wait_for()
        assert listed.input_value().endswith(f": {chosen.inner_text()}")
        first = page.locator("a[data-trace]").first
        first.wait_for()
        wanted = first.get_attribute("data-trace")
        first.click()
        visit.wait(f".end[data-trace='{wanted}']")
        assert "/traces?trace=" in page.url
        visit.go("judges")
        page.get_by_text("No judge and no rule has labelled").wait_for()
        visit.shoot("judges-1280")


@pytest.mark.parametrize("place", [True], indirect=True)
def test_agreement_follows_while_labels_arrive_and_after_a_reload(
    chromium: Browser, place: Workplace
) -> None:
    """Three have labelled all six traces; one takes back a label and gives another."""
    for name in SAID:
        label_all(place, name, "correct")
    with (
        visiting(chromium, place.address, token=place.tokens["Jo"]) as visit,
        at_desk(visiting(chromium, place.address, token=place.tokens["Ben"]), empty=True) as desk,
    ):
        visit.go("agreement")
        labels = visit.page.locator(".lk-cards").first.get_by_text("18", exact=True)
        labels.wait_for()
        visit.page.reload()
        labels.wait_for()
        desk.press("z")
        visit.page.locator(".lk-cards").first.get_by_text("17", exact=True).wait_for()
        desk.label("4")
        labels.wait_for()
