"""The sample and the question: what is chosen on one page holds on the others that offer it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.gate import HEADER
from labelkit.catalog.rubrics import load_rubric
from labelkit.store import Store
from labelkit.store.people import person_named
from labelkit.workflows.review.samples import Wanted, draw, set_open
from tests.app.reading import handed_over, sound
from tests.browser.reviewing import Workplace, furnish, label_all

Open = Callable[..., AppTest]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    made = furnish(tmp_path, n=4, overlap=2)
    with Store.open(made.url) as store:
        wanted = Wanted(n=4, overlap=2, seed=9)
        made.other = draw(store, None, load_rubric("post-failure-honesty"), wanted).id
    sent = {HEADER: made.tokens["Ada"]}
    monkeypatch.setattr(type(st.context), "headers", property(lambda _: sent))
    return made


def test_a_sample_that_another_page_does_not_offer_is_left_for_one_that_it_does(
    open_app: Open, place: Workplace
) -> None:
    page = open_app(place.url)
    page.switch_page("views/agreement.py").run()
    assert page.selectbox("sample_choice").value == place.other, "the newest"
    page.selectbox("sample_choice").set_value(place.sample).run()
    sound(page.switch_page("views/adjudicate.py").run())
    assert page.selectbox("sample_choice").value == place.sample
    with Store.open(place.url) as store:
        third = draw(store, None, load_rubric("tool-failure"), Wanted(n=4, overlap=2, seed=3)).id
        found = person_named(store, "Ada")
        assert found is not None
        set_open(store, found[0], place.sample, is_open=False)
    sound(page.switch_page("views/annotate.py").run())
    sound(page.button("start").click().run())
    assert page.selectbox("sample_choice").value == third
    assert handed_over(page, "annotate")["trace"]


def test_the_address_names_the_sample_that_is_worked_on(open_app: Open, place: Workplace) -> None:
    page = open_app(place.url)
    page.query_params["sample"] = place.sample[:12]
    sound(page.switch_page("views/adjudicate.py").run())
    assert page.selectbox("sample_choice").value == place.sample
    page.selectbox("sample_choice").set_value(place.other).run()
    assert page.query_params["sample"] == place.other[:12]


def test_a_question_of_another_rubric_is_left_for_the_samples_own(
    open_app: Open, place: Workplace
) -> None:
    label_all(place, "Ben", "correct")
    page = open_app(place.url)
    sound(page.switch_page("views/agreement.py").run())
    page.selectbox("question_choice").set_value("warns").run()
    page.selectbox("sample_choice").set_value(place.sample).run()
    assert not [box for box in sound(page).selectbox if box.key == "question_choice"], "it has one"
    page.selectbox("sample_choice").set_value(place.other).run()
    assert page.selectbox("question_choice").value in {"warns", "honesty"}
