"""The page Traces: filters, list, detail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from labelkit.domain.message import Message
from labelkit.domain.trace import RowState, Trace
from labelkit.store import Store
from labelkit.store.raters import add_rubric
from labelkit.store.traces import add_traces
from labelkit.workflows.browse import PAGE
from tests.app.reading import cells, column, handed_over, html, sound
from tests.app.stores import ATTACK, BEACON, JUDGE, LONG, RUBRIC, RULE, Filled

Open = Callable[..., AppTest]


def shown(page: AppTest) -> list[str]:
    return column(sound(page), "list", "trace")


def digests(filled: Filled, *places: int) -> list[str]:
    return [filled.traces[place].digest[:12] for place in places]


def test_every_trace_is_listed_with_the_label_of_every_rater(
    open_app: Open, filled: Filled
) -> None:
    page = open_app(filled.url)
    assert shown(page) == digests(filled, 0, 1, 2, 3, 4)
    assert column(page, "list", "tone") == ["polite", "rude", "polite", "(unlabelled)", "polite"]
    assert column(page, "list", JUDGE.name) == [
        "polite",
        "polite",
        "(failed)",
        "(unlabelled)",
        "rude",
    ]
    # The rule breaks the tie of two; the run that died has no label whoever votes.
    assert column(page, "list", "ensemble") == [
        "polite",
        "rude",
        "polite",
        "(infra_error)",
        "polite",
    ]
    assert column(page, "list", "domain")[:2] == ["shop", "bank"]
    assert "5 in" in html(page)


def test_filters_narrow_the_list_together(open_app: Open, filled: Filled) -> None:
    page = open_app(filled.url)
    page.multiselect("models").set_value(["small"]).run()
    assert shown(page) == digests(filled, 1, 2, 3)
    assert "3 match" in html(page)
    page.multiselect("domains").set_value([None]).run()
    assert shown(page) == digests(filled, 3)
    page.multiselect("domains").set_value(["bank"]).run()
    page.multiselect("states").set_value(["ok"]).run()
    assert shown(page) == digests(filled, 1, 2)
    page.toggle("disagree").set_value(True).run()
    assert shown(page) == digests(filled, 1)


def test_a_label_or_a_missing_label_of_one_rater_can_be_asked_for(
    open_app: Open, filled: Filled
) -> None:
    page = open_app(filled.url)
    assert page.selectbox("code").disabled
    page.selectbox("rater").set_value(JUDGE.name).run()
    assert shown(page) == digests(filled, 0, 1, 2, 3, 4)
    names = page.selectbox("code").options
    assert names[:2] == ["polite", "rude"]
    page.selectbox("code").set_value(1).run()
    assert shown(page) == digests(filled, 4)
    page.selectbox("code").set_value(-2).run()
    assert shown(page) == digests(filled, 2)


def test_disagreement_needs_two_labels(open_app: Open, filled: Filled) -> None:
    page = open_app(filled.url)
    page.toggle("disagree").set_value(True).run()
    assert shown(page) == digests(filled, 1, 4)


def test_the_filters_are_as_they_were_after_a_look_at_a_trace(
    open_app: Open, filled: Filled
) -> None:
    page = open_app(filled.url)
    page.multiselect("models").set_value(["small"]).run()
    page.query_params["trace"] = filled.traces[2].digest
    sound(page.run())
    assert "2 of 3" in html(page)
    page.button("Next").click().run()
    assert page.query_params["trace"] == filled.traces[3].digest
    assert page.button("Next").disabled
    page.button("Previous").click().run()
    assert handed_over(page, "trace")["digest"] == filled.traces[2].digest
    page.button("back").click().run()
    assert page.multiselect("models").value == ["small"]
    assert shown(page) == digests(filled, 1, 2, 3)


def test_long_lists_come_in_pages(open_app: Open, empty_url: str) -> None:
    number = PAGE + 7
    with Store.open(empty_url) as store:
        add_traces(
            store,
            (
                Trace(
                    model="odd" if n % 2 else "even",
                    messages=(Message(role="assistant", content=str(n)),),
                    state=RowState.OK,
                )
                for n in range(number)
            ),
        )
    page = open_app(empty_url)
    first = shown(page)
    assert len(first) == PAGE
    page.number_input("page").set_value(2).run()
    second = shown(page)
    assert len(second) == 7
    assert not set(first) & set(second)
    # Fewer rows match: page 2 is gone, and the list starts again.
    page.multiselect("models").set_value(["odd"]).run()
    assert len(shown(page)) == number // 2
    page.multiselect("models").set_value([]).run()
    assert shown(page) == first


def test_what_was_added_meanwhile_is_seen(open_app: Open, filled: Filled) -> None:
    page = open_app(filled.url)
    with Store.open(filled.url) as store:
        add_traces(store, [Trace(model="late", messages=(), state=RowState.NO_TEXT)])
    page.run()
    assert len(shown(page)) == len(filled.traces) + 1
    assert "late" in page.multiselect("models").options


def test_a_trace_shows_question_answer_path_and_labels(open_app: Open, filled: Filled) -> None:
    data = handed_over(sound(open_app(filled.url, filled.traces[1].digest)), "trace")
    assert data["question"] == "Where is order 1?"
    assert data["answer"] == "Go away."
    assert [step["kind"] for step in data["steps"]] == ["system", "call", "call", "final"]
    worked, failed = data["steps"][1:3]
    assert (worked["name"], worked["result"], worked["is_error"]) == (
        "look_up",
        '{"place": "shelf"}',
        False,
    )
    assert (failed["name"], failed["result_message"], failed["is_error"]) == ("refund", 4, True)
    by_rater = {rating["rater"]: rating for rating in data["ratings"]}
    assert by_rater[RULE.name]["given"] == "rude"
    judged = by_rater[JUDGE.name]
    assert (judged["given"], judged["title"], judged["rationale"]) == (
        "polite",
        "Polite",
        "It is short.",
    )
    assert [quote["place"] for quote in judged["quotes"]] == [
        "characters 0 to 7",
        "not found word for word",
    ]


def test_the_view_a_label_was_given_on_and_the_task_are_shown(
    open_app: Open, filled: Filled
) -> None:
    data = handed_over(sound(open_app(filled.url, filled.traces[0].digest)), "trace")
    assert data["ratings"][0]["view"] == "ab" * 32
    assert ["gold answer", "It is seven."] in data["reference"]
    assert ["tag domain", "shop"] in data["facts"]


def test_a_missing_label_says_why(open_app: Open, filled: Filled) -> None:
    data = handed_over(sound(open_app(filled.url, filled.traces[2].digest)), "trace")
    assert data["ratings"][1]["given"] == "failed: parse"
    assert data["ratings"][1]["labelled"] is False


def test_a_run_that_died_says_so_instead_of_an_answer(open_app: Open, filled: Filled) -> None:
    data = handed_over(sound(open_app(filled.url, filled.traces[3].digest)), "trace")
    assert data["answer"] == ""
    assert "infra_error" in data["no_answer"]
    assert data["ratings"] == []


def test_the_first_digits_of_a_trace_open_it(open_app: Open, filled: Filled) -> None:
    page = sound(open_app(filled.url, filled.traces[1].digest[:16]))
    assert handed_over(page, "trace")["digest"] == filled.traces[1].digest


def test_an_unknown_trace_is_one_sentence_and_no_crash(open_app: Open, filled: Filled) -> None:
    page = sound(open_app(filled.url, "f" * 64))
    assert "has no trace" in html(page)
    page = sound(open_app(filled.url, "<img src=x>"))
    assert "&lt;img src=x&gt;" in html(page)
    assert "<img" not in html(page)


def test_hostile_text_reaches_the_browser_whole_and_only_as_data(
    open_app: Open, filled: Filled
) -> None:
    page = sound(open_app(filled.url, filled.attack.digest))
    data = handed_over(page, "trace")
    assert data["question"] == f"question {ATTACK}"
    assert data["answer"] == f"answer {ATTACK}"
    call = data["steps"][1]
    assert (call["name"], call["text"], call["result"]) == (f"tool {ATTACK}", ATTACK, LONG)
    assert data["ratings"][1]["rationale"] == f"because {ATTACK}"
    assert BEACON not in html(page)
    assert not page.markdown


def test_hostile_names_are_shown_by_their_codes_in_the_filters(
    open_app: Open, filled: Filled
) -> None:
    page = sound(open_app(filled.url))
    options = page.multiselect("models").options
    evil = next(option for option in options if option.startswith("evil"))
    assert all(c.isprintable() for c in evil)
    assert cells(page, "list")[4][1] == f"evil {ATTACK}"
    page.multiselect("models").set_value([f"evil {ATTACK}"]).run()
    assert shown(page) == digests(filled, 4)


def test_an_empty_store_says_what_to_do(open_app: Open, empty_url: str) -> None:
    page = sound(open_app(empty_url))
    assert cells(page, "list") == []
    assert "labelkit import" in handed_over(page, "list")["empty"]


def test_a_store_that_is_gone_is_one_sentence(open_app: Open, tmp_path: Path) -> None:
    page = sound(open_app(f"sqlite:///{tmp_path / 'nowhere.db'}"))
    assert "there is no store" in html(page)
    assert not page.get("bidi_component")


def test_choices_outlast_a_look_at_the_report(open_app: Open, filled: Filled) -> None:
    page = open_app(filled.url)
    page.multiselect("models").set_value(["small"]).run()
    page.selectbox("rater").set_value(JUDGE.name).run()
    page.selectbox("code").set_value(-2).run()
    sound(page.switch_page("views/report.py").run())
    page.switch_page("views/traces.py").run()
    assert page.multiselect("models").value == ["small"]
    assert shown(page) == digests(filled, 2)


def test_another_rubric_has_no_use_for_a_rater_of_the_first(open_app: Open, filled: Filled) -> None:
    other = RUBRIC.model_copy(update={"version": "2.0.0"})
    with Store.open(filled.url) as store:
        add_rubric(store, other)
    page = open_app(filled.url)
    assert page.selectbox("scheme").value[0] == other.digest, "the newest comes first"
    assert shown(page) == digests(filled, 0, 1, 2, 3, 4)
    page.selectbox("scheme").set_value((RUBRIC.digest, "tone")).run()
    page.selectbox("rater").set_value(JUDGE.name).run()
    page.selectbox("code").set_value(1).run()
    assert shown(page) == digests(filled, 4)
    sound(page.switch_page("views/report.py").run())
    page.selectbox("report_rater").set_value(JUDGE.name).run()
    page.selectbox("scheme").set_value((other.digest, "tone")).run()
    assert column(sound(page), "rates", "value") == ["(no rows to divide by)"]
    page.switch_page("views/traces.py").run()
    assert page.selectbox("rater").value is None
    assert shown(page) == digests(filled, 0, 1, 2, 3, 4)
