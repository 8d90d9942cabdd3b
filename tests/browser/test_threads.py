"""What others ran into with Streamlit, as tests: nothing dropped, no ghosts, no growth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from labelkit.store import Store
from labelkit.store.people import person_named
from tests.browser.conftest import serving, visiting
from tests.browser.reviewing import AtDesk, Workplace, at_desk, furnish, label_all

pytestmark = pytest.mark.browser

ACTS = 200
KEPT = 128
"""So many sessions whose browser is gone does Streamlit keep, for some minutes."""

DESK = """() => [...document.querySelectorAll('.st-key-desk *')].map(e => e.shadowRoot)
  .filter(Boolean).map(r => r.querySelector('.lk')?.labelkit).find(d => d?.ready)"""

HAMMER = f"""times => new Promise(done => {{
  let left = times, last = '';
  const step = () => {{
    const desk = ({DESK})();
    if (desk && !desk.pending && desk.data.key !== last) {{
      if (!left) return done();
      last = desk.data.key;
      left -= 1;
      desk.answers = {{ outcome: 'correct' }};
      desk.send('label');
    }}
    setTimeout(step, 0);
  }};
  step();
}})"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    folder = tmp_path_factory.mktemp("threads")
    made = furnish(folder, n=ACTS, overlap=20)
    with (folder / "labelkit.yaml").open("a", encoding="utf-8") as settings:
        settings.write("app: {refresh_s: 0.5}\n")
    with serving(folder) as (address, process):
        made.address = address
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        (made.test,) = children.read_text(encoding="ascii").split()
        yield made


@pytest.mark.slow
def test_two_hundred_acts_in_a_row_are_two_hundred_rows(
    chromium: Browser, place: Workplace
) -> None:
    token = place.newcomer("Quick")
    with at_desk(visiting(chromium, place.address, token=token), sample=place.sample) as desk:
        desk.page.evaluate(HAMMER, ACTS)
        desk.page.get_by_text("Nothing is left here for you").wait_for()
        assert desk.page.locator(".st-key-reading .end[data-trace]").count() == 0, "no ghost"
    given = place.given("Quick")
    assert sorted(given) == sorted((trace.digest, "correct") for trace in place.traces)
    with Store.open(place.url) as store, store.reading() as connection:
        found = person_named(store, "Quick")
        assert found is not None
        rows = connection.exec_driver_sql(
            "select count(*), count(distinct item_id) from submission"
            f" where person_id={found[0].id}"
        ).one()
    assert tuple(rows) == (ACTS, ACTS)


def test_a_page_that_refreshes_moves_nothing_and_takes_no_choice_of_another_page(
    chromium: Browser, place: Workplace
) -> None:
    label_all(place, "Early", "correct", most=12)
    label_all(place, "Late", "tool_skip")
    with visiting(chromium, place.address, token=place.tokens["Ada"]) as visit:
        page = visit.page
        visit.go("traces")
        visit.wait(".end[data-rows='50']")
        page.get_by_role("combobox", name=re.compile("Model")).click()
        page.get_by_role("option", name=re.compile("^alder")).click()
        page.locator(".lk-head").first.click()
        matching = page.locator(".lk-head", has_text="match")
        matching.wait_for()
        said = matching.inner_text()
        page.get_by_role("link", name="Agreement").first.click()
        page.locator(".lk-cards").first.wait_for()
        visit.settled()
        assert page.locator(".lk-head", has_text="match").count() == 0, "no ghost"
        main = page.locator("[data-testid=stMain]")
        page.mouse.move(640, 500)
        main.evaluate("e => e.scrollTo(0, 150)")
        runs: list[str] = []
        page.on("websocket", lambda socket: runs.append(socket.url))
        page.wait_for_timeout(1600)  # three refreshes
        assert main.evaluate("e => e.scrollTop") == 150
        assert runs == [], "the connection held"
        assert page.locator(".lk-head").count() == 1
        card = page.locator(".lk-cards > *", has=page.get_by_text("Labels", exact=True))
        labels = card.locator(".n")
        before = labels.inner_text()
        label_all(place, "Early", "correct", most=1)
        after = f"{int(before.replace(',', '')) + 1:,}"
        page.locator(".lk-cards").get_by_text(after, exact=True).first.wait_for()
        page.get_by_role("link", name="Traces").first.click()
        matching.wait_for()
        assert matching.inner_text() == said
        assert page.locator(".lk-cards").count() == 0, "no ghost"


def open_page(place: Workplace, token: str) -> None:
    """What a browser does that opens the desk and is gone without a word."""
    address = place.address.replace("http", "ws") + "/_stcore/stream"
    headers = {"Cookie": f"labelkit_session={token}", "Origin": place.address}
    with connect(
        address, subprotocols=["streamlit"], additional_headers=headers, max_size=None
    ) as socket:  # type: ignore[list-item]
        asked = BackMsg()
        asked.rerun_script.query_string = f"sample={place.sample[:12]}"
        socket.send(asked.SerializeToString())
        drawn = ForwardMsg()
        while drawn.WhichOneof("type") != "script_finished":
            drawn.ParseFromString(bytes(socket.recv(60)))
        socket.socket.close()


def megabytes(process: str) -> float:
    """Memory that a process holds."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


@pytest.mark.slow
def test_pages_that_were_left_are_not_kept_for_ever(place: Workplace) -> None:
    token = place.newcomer("Gone")
    for _ in range(KEPT + 5):
        open_page(place, token)
    before = megabytes(place.test)
    for _ in range(50):
        open_page(place, token)
    grown = megabytes(place.test) - before
    # Fifty sessions that stay are 30 MB and more.
    assert grown < 12, f"{before:.0f} MB and {grown:.1f} MB more"
    print(f"{before:.0f} MB, {grown:.1f} MB more")


def test_the_desk_works_after_all_that(chromium: Browser, place: Workplace) -> None:
    with visiting(chromium, place.address, token=place.tokens["Ben"]) as visit:
        desk = AtDesk(visit, place.sample)
        trace = desk.sit()
        assert desk.label("1") == trace
    assert place.given("Ben") == [(trace, "correct")]
