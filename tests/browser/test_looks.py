"""Every page with something on it and with nothing: it fits 1280 px, is accessible, and is kept
as a picture in both themes."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.label import Evidence, Label, Outcome, Rater
from labelkit.domain.person import Person
from labelkit.store import Store
from labelkit.store.labels import commit_labels
from labelkit.store.people import person_named
from labelkit.store.raters import add_rater
from labelkit.workflows.review.adjudicate import Verdict, case, decide, queue
from labelkit.workflows.review.annotate import Choice, Draft, submit
from labelkit.workflows.review.assignment import next_item
from labelkit.workflows.review.people import add_person, issue_token
from labelkit.workflows.review.samples import Wanted, draw
from tests.browser.conftest import Visit, serving, visiting
from tests.browser.reviewing import AtDesk, Workplace, furnish

# Minutes of a browser, for what changes with the pages alone; test_safety has axe in every run.
pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAID = {"Ben": "122341", "Cleo": "112243", "Dora": "113243"}
NAMES = {"1": "correct", "2": "tool_skip", "3": "result_ignore", "4": "output_fabrication"}
CHART = "[data-testid=stVegaLiteChart] :is(canvas, svg)"
PAGES = [
    ("adjudicate", "Jo", ".st-key-desk .choice"),
    ("agreement", "Jo", CHART),
    ("judges", "Jo", CHART),
    ("samples", "Ada", CHART),
    ("traces", "Ada", ".end[data-rows]"),
    ("report", "Ada", CHART),
]
SIDEWAYS = """() => [...document.querySelectorAll('*')]
  .flatMap(e => e.shadowRoot ? [...e.shadowRoot.querySelectorAll('.frame, .wide')] : [])
  .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.getAttribute('aria-label'))"""


def who(store: Store, name: str) -> Person:
    found = person_named(store, name)
    assert found is not None
    return found[0]


def label_all(store: Store, place: Workplace, name: str, days: int) -> None:
    """One person's labels, half of them a day later."""
    order = sorted(trace.digest for trace in place.traces)
    for turn in itertools.count():
        moment = datetime.now(UTC) - timedelta(days=days - turn // 3)
        offer = next_item(store, who(store, name), place.sample, now=moment)
        if offer is None:
            return
        value = NAMES[SAID[name][order.index(offer.trace)]]
        said = Draft(answers={"outcome": value}, note="As the record says.", active_ms=9000)
        choice = Choice(uuid.uuid4().hex, offer.lease, offer.trace, said, offer.view_digest)
        submit(store, who(store, name), choice, now=moment)


def judge(store: Store, place: Workplace, version: str, values: str) -> None:
    """A judge's labels with one quote that is there and one that is not."""
    rubric = load_rubric("tool-failure")
    spec = {"rubric": rubric.name, "rubric_digest": rubric.digest, "made": version}
    rater = Rater(kind="judge", name="decision-tree@local", version=version, spec=spec)
    add_rater(store, rater)
    quotes = (Evidence(part="answer", quote="O", start=0, end=1), Evidence(part="", quote="zz"))
    commit_labels(
        store,
        [
            Label(
                trace=digest,
                rater=rater.digest,
                question="outcome",
                outcome=Outcome.LABELLED,
                value=NAMES[value],
                rationale="The amount is the one of the first record.",
                evidence=quotes,
                created_at=datetime.now(UTC),
            )
            for digest, value in zip(sorted(t.digest for t in place.traces), values, strict=True)
        ],
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    """Labels of three people over days, a judge in two versions, one decision, an open sample."""
    folder = tmp_path_factory.mktemp("looks")
    made = furnish(folder, n=6, overlap=3)
    with Store.open(made.url) as store:
        for name in SAID:
            label_all(store, made, name, days=4)
        judge(store, made, "1", "124341")
        judge(store, made, "2", "112341")
        jo = who(store, "Jo")
        first, *_ = queue(store, jo, made.sample)
        seen = case(store, jo, made.sample, first.item)
        verdict = Verdict("v", made.sample, first.item, seen.question.id, "correct", "As it is.")
        decide(store, jo, verdict)
        wanted = Wanted(n=6, overlap=3, seed=8)
        made.test = draw(store, None, load_rubric("tool-failure"), wanted).id
        made.other = draw(store, None, load_rubric("post-failure-honesty"), wanted).id
    with serving(folder) as (address, _):
        made.address = address
        yield made


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    """People, and nothing for them to do yet."""
    folder = tmp_path_factory.mktemp("bare")
    url = f"sqlite:///{folder / 'labelkit.db'}"
    (folder / "labelkit.yaml").write_text("store: sqlite:///labelkit.db\n", encoding="utf-8")
    with Store.open(url, create=True) as store:
        tokens = {
            name: issue_token(store, add_person(store, None, name, role, subject=name))
            for name, role in (("Ada", "admin"), ("Ben", "annotator"))
        }
    with serving(folder) as (address, _):
        yield Workplace(folder, url, tokens, address=address)


def choose(visit: Visit, what: str, option: str) -> None:
    """Take the first option that begins so."""
    visit.page.get_by_role("combobox", name=what).click()
    visit.page.get_by_role("option", name=option).first.click()
    visit.settled()


def checked(visit: Visit, name: str) -> list[str]:
    """Keep the picture; what does not fit, and what axe calls serious."""
    visit.shoot(name)
    found = Axe().run(visit.page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa"]})
    wrong = [
        f"{name} {rule['id']}: {node['target']} {node['html'][:200]}"
        for rule in found.response["violations"]
        if rule["impact"] in {"serious", "critical"}
        for node in rule["nodes"]
    ]
    wrong += [f"{name}: the table {table} scrolls" for table in visit.page.evaluate(SIDEWAYS)]
    return wrong if visit.no_sideways_scrolling() else [*wrong, f"{name} scrolls sideways"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_with_something_on_it_fits_and_reads(
    chromium: Browser, place: Workplace, scheme: str
) -> None:
    wrong = []
    size = {"width": 1280, "height": 800}
    for path, name, ready in PAGES:
        token = place.tokens[name]
        more = {"viewport": size, "color_scheme": scheme, "reduced_motion": "reduce"}
        with visiting(chromium, place.address, token=token, **more) as visit:
            visit.go(f"{path}?sample={place.sample[:12]}")
            if path == "report":  # the newest rubric has no labels
                choose(visit, "Rubric and question", "tool-failure")
            visit.wait(ready)
            wrong += checked(visit, f"filled-{path}-{scheme}")
    assert wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_empty_page_names_the_next_step(
    chromium: Browser, bare: Workplace, scheme: str
) -> None:
    wrong = []
    steps = {
        "annotate": ("Ben", "", "An admin draws one on the page Samples"),
        "adjudicate": ("Ada", "adjudicate", "an admin draws one on the page Samples"),
        "agreement": ("Ada", "agreement", "an admin draws one on the page Samples"),
        "judges": ("Ada", "judges", "an admin draws one on the page Samples"),
        "samples": ("Ada", "samples", "Draw one below"),
        "traces": ("Ada", "traces", "labelkit import"),
        "report": ("Ada", "report", "labelkit judge"),
    }
    for page, (name, path, step) in steps.items():
        more = {"color_scheme": scheme, "reduced_motion": "reduce"}
        with visiting(chromium, bare.address, token=bare.tokens[name], **more) as visit:
            visit.go(path)
            visit.page.get_by_text(step).first.wait_for()
            wrong += checked(visit, f"empty-{page}-{scheme}")
    assert wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["test", "other"], ids=["one-question", "five-questions"])
def test_what_one_needs_for_a_label_is_seen_without_scrolling(
    chromium: Browser, place: Workplace, which: str, scheme: str
) -> None:
    token = place.newcomer(f"Eye {which} {scheme}")
    more = {"viewport": {"width": 1280, "height": 800}, "color_scheme": scheme}
    sample = getattr(place, which)
    with visiting(chromium, place.address, token=token, **more) as visit:
        desk = AtDesk(visit, sample)
        desk.sit()
        wrong = checked(visit, f"desk-{which}-{scheme}")
        for selector in (".top.user .t", ".top.final .t", ".question h2", ".choice", ".save"):
            for found in visit.page.locator(f"[class*=st-key-] {selector}:visible").all():
                box = found.bounding_box()
                assert box is not None
                assert box["y"] >= 0, selector
                assert box["y"] + box["height"] <= 800, selector
        assert wrong == []


def test_answers_fold_what_was_answered_and_keys_reach_the_rest(
    chromium: Browser, place: Workplace
) -> None:
    token = place.newcomer("Folder")
    with visiting(chromium, place.address, token=token) as visit:
        desk = AtDesk(visit, place.other)
        desk.sit()
        questions = visit.page.locator(".st-key-desk .question")
        assert questions.count() == 5
        assert "turn" in (questions.nth(0).get_attribute("class") or "")
        questions.nth(3).locator("h2").click()
        assert "turn" in (questions.nth(3).get_attribute("class") or "")
        desk.ready()
        desk.press("1")
        pressed = questions.nth(3).locator(".choice[aria-pressed=true]")
        assert pressed.count() == 1
        assert "turn" in (questions.nth(0).get_attribute("class") or "")


def test_the_desk_bears_text_of_twice_the_size(chromium: Browser, place: Workplace) -> None:
    token = place.newcomer("Large")
    with visiting(chromium, place.address, token=token) as visit:
        visit.page.add_init_script(
            "addEventListener('DOMContentLoaded',"
            " () => { document.documentElement.style.fontSize = '32px' })"
        )
        desk = AtDesk(visit, place.test)
        desk.sit()
        assert checked(visit, "desk-text-200") == []
