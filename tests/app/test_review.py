"""The logic of the review pages: what they hand over, to whom, and what they store."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.gate import HEADER
from labelkit.domain.person import Person
from labelkit.errors import InputError
from labelkit.store import Store
from labelkit.store.people import person_named
from labelkit.store.samples import samples
from labelkit.workflows.hand_out import packed_release
from labelkit.workflows.review.access import NotAllowedError
from labelkit.workflows.review.adjudicate import queue
from labelkit.workflows.review.annotate import Choice, Draft, submit
from labelkit.workflows.review.assignment import next_item
from labelkit.workflows.review.overview import overview
from labelkit.workflows.review.packing import packed_apart
from labelkit.workflows.review.people import set_passphrase, set_retired
from tests.app.reading import cells, column, handed_over, html, sound
from tests.browser.reviewing import Workplace, furnish

Open = Callable[..., AppTest]


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return furnish(tmp_path, n=4, overlap=2)


@pytest.fixture
def headers(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the gate puts in: a dictionary that tests fill."""
    sent: dict[str, str] = {}
    monkeypatch.setattr(type(st.context), "headers", property(lambda _: sent))
    return sent


@pytest.fixture
def page_for(open_app: Open, headers: dict[str, str], place: Workplace) -> Callable[..., AppTest]:
    def start(name: str, view: str = "") -> AppTest:
        headers[HEADER] = place.tokens[name]
        page = open_app(place.url)
        return sound(page.switch_page(f"views/{view}.py").run() if view else page)

    return start


def labelled(place: Workplace, answers: dict[str, str], **more: Any) -> None:
    """Let people label everything: one answer each."""
    with Store.open(place.url) as store:
        for name, value in answers.items():
            who = person(store, name)
            while (offer := next_item(store, who, place.sample)) is not None:
                said = Draft(answers={"outcome": value}, active_ms=5000, **more)
                choice = Choice(f"{name}{offer.lease}", offer.lease, offer.trace, said)
                submit(store, who, choice)


def titles(page: AppTest) -> list[str]:
    """The pages that a person is offered."""
    return [p for p in ("Annotate", "Adjudicate", "Agreement", "Judges", "Samples", "Traces")
            if _runs(page, p.lower())]  # fmt: skip


def _runs(page: AppTest, view: str) -> bool:
    try:
        page.switch_page(f"views/{view}.py").run()
    except ValueError:
        return False
    return f">{view.title()}</h1>" in html(page) or (view == "annotate" and _has_desk(page))


def _has_desk(page: AppTest) -> bool:
    return "annotate" in [element.key for element in page.get("bidi_component")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ben", ["Annotate"]),
        ("Jo", ["Annotate", "Adjudicate", "Agreement", "Judges", "Samples", "Traces"]),
    ],
)
def test_everybody_is_offered_what_the_role_allows(
    page_for: Callable[..., AppTest], name: str, expected: list[str]
) -> None:
    assert titles(page_for(name)) == expected


def test_nobody_gets_in_without_a_session(
    open_app: Open, headers: dict[str, str], place: Workplace
) -> None:
    page = sound(open_app(place.url))
    assert "your session has ended" in html(page)
    assert 'href="/login"' in html(page)
    assert not page.get("bidi_component")
    headers[HEADER] = "forged"
    assert not sound(open_app(place.url)).get("bidi_component")


@pytest.mark.parametrize("how", [set_retired, lambda *a: set_passphrase(*a, "another word")])
def test_a_session_that_was_voided_shows_nothing_from_the_next_run_on(
    page_for: Callable[..., AppTest], place: Workplace, how: Callable[..., Any]
) -> None:
    page = page_for("Ben")
    assert _has_desk(page)
    with Store.open(place.url) as store:
        how(store, None, "Ben")
    page.run()
    assert "your session has ended" in html(sound(page))
    assert not page.get("bidi_component")


def test_the_desk_gets_the_rubrics_questions_keys_and_guideline_and_nothing_of_others(
    page_for: Callable[..., AppTest], place: Workplace
) -> None:
    labelled(place, {"Cleo": "output_fabrication"}, note="a note of Cleo")
    page = page_for("Ben")
    desk, trace = handed_over(page, "annotate"), handed_over(page, "trace")
    (question,) = desk["questions"]
    assert [label["key"] for label in question["labels"]] == ["1", "2", "3", "4"]
    assert "# Tool failure" in desk["guideline"]["text"]
    assert desk["trace"] == trace["digest"]
    assert desk["progress"]["text"].startswith("0 done")
    assert trace["ratings"] == []
    assert trace["blind"] is True
    assert not {name for name, _ in trace["facts"]} - {"state", "finish reason", "subset"}
    sent = "".join(element.proto.json for element in page.get("bidi_component")) + html(page)
    assert "Cleo" not in sent
    assert {label["name"] for label in question["labels"]} >= {"output_fabrication"}
    assert (
        sent.count("output_fabrication")
        == 2 + desk["guideline"]["text"].count("output_fabrication") - 1
    )


def test_who_sees_labels_takes_no_trace_by_opening_the_app(
    page_for: Callable[..., AppTest], place: Workplace
) -> None:
    page = page_for("Jo")
    assert not _has_desk(page)
    with Store.open(place.url) as store:
        assert [one.in_hands for one in overview(store, person(store, "Jo")).samples] == [0]
    page.button("start").click().run()
    assert _has_desk(sound(page))


def person(store: Store, name: str) -> Person:
    found = person_named(store, name)
    assert found is not None
    return found[0]


def test_an_annotator_whose_sample_is_done_is_told_so(
    page_for: Callable[..., AppTest], place: Workplace
) -> None:
    labelled(place, {"Ben": "correct"})
    page = page_for("Ben")
    assert "Nothing is left here for you" in html(page)
    desk = handed_over(page, "annotate")
    assert (desk["trace"], desk["can_undo"]) == ("", True)
    assert desk["progress"]["share"] == 1


def test_cases_come_without_names_and_machines_closed(
    page_for: Callable[..., AppTest], place: Workplace
) -> None:
    labelled(place, {"Ben": "correct", "Cleo": "tool_skip"})
    page = page_for("Jo", "adjudicate")
    desk = handed_over(page, "adjudicate")
    assert desk["case"] == "Case 1 of 4"
    assert sorted(one["value"] for one in desk["opinions"]) == ["correct", "tool_skip"]
    assert [one["letter"] for one in desk["opinions"]] == ["A", "B"]
    assert [one["name"] for one in desk["opinions"]] == ["", ""]
    assert desk["history"] == []


def test_an_adjudicator_with_an_item_in_hands_is_told_and_can_go_on(
    page_for: Callable[..., AppTest], place: Workplace
) -> None:
    with Store.open(place.url) as store:
        offer = next_item(store, person(store, "Jo"), place.sample)
        assert offer is not None
    labelled(place, {"Ben": "correct"}, flagged=True)
    with Store.open(place.url) as store:
        lines = queue(store, person(store, "Jo"), place.sample)
    (held,) = [line.item for line in lines if line.trace == offer.trace]
    page = page_for("Jo")
    page.session_state["adjudicate_at"] = held
    sound(page.switch_page("views/adjudicate.py").run())
    assert "in hands to label" in html(page)
    page.button("another_case").click().run()
    shown = handed_over(sound(page), "adjudicate")["trace"]
    assert shown in {line.trace for line in lines} - {offer.trace}


def test_agreement_shows_a_warning_a_table_and_what_is_missing(
    page_for: Callable[..., AppTest], place: Workplace
) -> None:
    labelled(place, {"Ben": "correct", "Cleo": "correct"})
    page = page_for("Jo", "agreement")
    assert "100.0%" in html(page)
    assert "(" in html(page), "kappa is undefined, with its reason"
    assert column(page, "needed", "what")[0] == "share of Correct"
    assert ["Ben and Cleo", "Cohen's kappa"] in [row[:2] for row in cells(page, "coefficients")]


def test_a_sample_is_planned_drawn_once_and_given_to_people(
    page_for: Callable[..., AppTest], place: Workplace
) -> None:
    page = page_for("Ada", "samples")
    page.number_input("new_overlap").set_value(1).run()
    page.number_input("new_n").set_value(3).run()
    assert ">3<" in html(sound(page))
    page.multiselect("new_people").set_value(["Ben"]).run()
    page.button("draw").click().run()
    assert "is drawn" in html(sound(page))
    with Store.open(place.url) as store:
        made = [sample for sample in samples(store) if sample.id != place.sample]
        ben = person(store, "Ben")
        assert [(s.design.n, s.design.overlap, s.people) for s in made] == [(3, 1, (ben.id,))]
    page.run()
    assert "was drawn before" in html(page)


def test_a_draw_that_leans_to_where_raters_part_shows_what_it_costs(
    page_for: Callable[..., AppTest], place: Workplace
) -> None:
    page = page_for("Ada", "samples")
    page.number_input("new_n").set_value(2).run()
    assert "Where raters part" not in html(sound(page))
    page.selectbox("new_method").set_value("mixed").run()
    # No rule or judge has labelled: all four traces are in equal doubt, and nothing is lost.
    assert "of 4 in the store; a draw by even chance would hold 2" in html(sound(page))
    assert ">2 traces<" in html(page)
    page.button("draw").click().run()
    with Store.open(place.url) as store:
        (made,) = [sample for sample in samples(store) if sample.id != place.sample]
    assert (made.design.method, made.design.uniform, made.design.n) == ("mixed", 0.5, 2)


def test_a_wish_that_cannot_be_met_is_one_sentence(page_for: Callable[..., AppTest]) -> None:
    page = page_for("Ada", "samples")
    page.multiselect("new_strata").set_value(["model"]).run()
    page.number_input("new_n").set_value(1).run()
    assert "too few" in html(sound(page))
    assert not [b for b in page.button if b.key == "draw"]


def test_closing_a_sample_takes_it_from_the_desks(
    page_for: Callable[..., AppTest], place: Workplace
) -> None:
    page = page_for("Ada", "samples")
    page.button("toggle_open").click().run()
    assert "The sample is closed." in html(sound(page))
    assert "No sample is open for you" in html(page_for("Ben"))


def test_somebody_who_may_be_asked_blind_sees_labels_only_on_demand(
    page_for: Callable[..., AppTest], place: Workplace
) -> None:
    labelled(place, {"Ben": "correct"})
    page = page_for("Jo", "traces")
    names = [column["name"] for column in handed_over(page, "list")["columns"]]
    assert names == ["trace", "model", "task", "domain", "subset", "state"]
    page.toggle("labels").set_value(True).run()
    assert len(handed_over(sound(page), "list")["columns"]) > len(names)
    with Store.open(place.url) as store:
        jo = person(store, "Jo")
        assert next_item(store, jo, place.sample) is None, "their labels were seen"


def test_a_text_of_a_trace_finds_it(page_for: Callable[..., AppTest], place: Workplace) -> None:
    page = page_for("Ada", "traces")
    wanted = place.traces[2].messages[1].content or ""
    page.text_input("text").set_value(wanted.swapcase()).run()
    assert cells(sound(page), "list")[0][0] == place.traces[2].digest[:12]
    assert len(cells(page, "list")) == 1


def test_a_release_of_a_sample_is_offered_to_those_who_may_export(
    page_for: Callable[..., AppTest], place: Workplace
) -> None:
    labelled(place, {"Ben": "correct", "Cleo": "tool_skip"})
    page = page_for("Jo", "samples")
    page.button("prepare").click().run(timeout=60)
    (offered,) = sound(page).get("download_button")
    assert offered.proto.label == "Download"
    with Store.open(place.url) as store:
        name, packed = packed_release(store, person(store, "Jo"), place.sample)
        with pytest.raises(NotAllowedError, match="may not export"):
            packed_release(store, person(store, "Ben"), place.sample)
    archive = zipfile.ZipFile(io.BytesIO(packed))
    folder = name.removesuffix(".zip")
    labels = archive.read(f"{folder}/labels.jsonl").decode("utf-8")
    assert labels.count('"tool_skip"') == len(place.traces)
    assert f"{name}, " in html(page)


def test_a_release_made_apart_is_the_same_and_says_why_there_is_none(place: Workplace) -> None:
    with Store.open(place.url) as store, pytest.raises(InputError, match="nothing"):
        packed_apart(store, person(store, "Jo"), place.sample)
    labelled(place, {"Ben": "correct", "Cleo": "tool_skip"})
    with Store.open(place.url) as store:
        jo = person(store, "Jo")
        assert packed_apart(store, jo, place.sample) == packed_release(store, jo, place.sample)
        with pytest.raises(NotAllowedError, match="may not export"):
            packed_apart(store, person(store, "Ben"), place.sample)
