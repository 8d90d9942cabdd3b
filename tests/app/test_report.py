"""The page Report: the numbers of ``labelkit report``, and nothing computed twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from labelkit.store import Store
from labelkit.workflows.report import report
from tests.acceptance.inprocess import cli
from tests.acceptance.test_published_numbers import report as stopping
from tests.app.reading import cells, column, handed_over, html, sound
from tests.app.stores import JUDGE, RUBRIC, Filled

Open = Callable[..., AppTest]

__all__ = ["cli", "stopping"]


def report_page(open_app: Open, url: str) -> AppTest:
    return sound(open_app(url).switch_page("views/report.py").run())


def test_rates_stand_beside_their_denominators(open_app: Open, filled: Filled) -> None:
    page = report_page(open_app, filled.url)
    # Five rows, one died: 4 scored; the ensemble says rude once (the rule decides ties).
    assert column(page, "rates", "rate") == ["RUDE[All]"]
    assert column(page, "rates", "hits / n") == ["1 / 4"]
    assert column(page, "rates", "value") == ["25.0%"]
    assert column(page, "rates", "coverage") == ["80.0%"]
    assert column(page, "rates", "excluded") == ["1 infra_error"]
    # Wilson, 1 of 4, z = 1.96: (0.25 + 0.48 -+ 1.96 sqrt(0.0469 + 0.06)) / 1.96
    assert column(page, "rates", "95% Wilson") == ["4.6% to 69.9%"]
    assert "5 traces: 4 labelled, 1 infra_error" in html(page)


def test_the_numbers_are_those_of_the_report(open_app: Open, filled: Filled) -> None:
    page = report_page(open_app, filled.url)
    with Store.open(filled.url) as store:
        expected = report(store, RUBRIC)
    assert column(page, "rates", "value") == [f"{rate.value:.1%}" for rate in expected.rates]
    assert column(page, "raters", "rater") == [rater.name for rater in expected.raters]
    assert column(page, "raters", "labelled") == [str(rater.labelled) for rater in expected.raters]
    agreement = expected.agreement[0]
    assert column(page, "agreement0", "value")[0] == f"{agreement.pairs[0].result.value:.3f}"
    assert len(cells(page, "agreement0")) == len(agreement.pairs) + len(agreement.coefficients)


def test_the_chart_draws_each_rate_with_its_interval(open_app: Open, filled: Filled) -> None:
    page = report_page(open_app, filled.url)
    (chart,) = page.get("arrow_vega_lite_chart") or page.get("vega_lite_chart")
    spec = json.loads(chart.proto.spec)
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rule", "point"]
    assert "tooltip" not in json.dumps(spec["layer"])


def test_one_rater_can_be_taken_alone(open_app: Open, filled: Filled) -> None:
    page = report_page(open_app, filled.url)
    page.selectbox("report_rater").set_value(JUDGE.name).run()
    # The judge: polite, polite, failed, -, rude.
    assert column(sound(page), "rates", "hits / n") == ["1 / 3"]
    assert column(page, "rates", "excluded") == ["1 failed, 1 infra_error"]


@pytest.mark.parametrize(
    ("tag", "groups"), [("model", ["all", "model=big", None, "model=small"]), ("subset", None)]
)
def test_rates_can_be_broken_down(
    open_app: Open, filled: Filled, tag: str, groups: list[str | None] | None
) -> None:
    page = report_page(open_app, filled.url)
    page.selectbox("report_by").set_value(tag).run()
    found = column(sound(page), "rates", "group")
    assert found[0] == "all"
    if groups is not None:
        assert [f for f, g in zip(found, groups, strict=True) if g] == [g for g in groups if g]
    with Store.open(filled.url) as store:
        expected = report(store, RUBRIC, by=(tag,))
    assert found == [rate.group for rate in expected.rates]


def test_a_store_without_labels_says_what_to_do(open_app: Open, empty_url: str) -> None:
    page = report_page(open_app, empty_url)
    assert "labelkit judge" in html(page)
    assert not page.get("bidi_component")


def test_hostile_names_stay_data(open_app: Open, filled: Filled) -> None:
    page = report_page(open_app, filled.url)
    page.selectbox("report_by").set_value("model").run()
    assert "beacon" not in html(sound(page))
    assert any("<script>" in row[0] for row in cells(page, "rates"))
    assert handed_over(page, "rates")["caption"] == "Rates"


def test_means_conditions_composites_and_fronts_are_those_of_the_terminal(
    open_app: Open, stopping: tuple[dict[str, object], str], tmp_path: Path
) -> None:
    page = report_page(open_app, f"sqlite:///{tmp_path / 'labelkit.db'}")
    tables = {
        handed_over(page, element.key)["caption"]: cells(page, element.key)
        for element in page.get("bidi_component")
    }
    assert tables["Means"][0][0] == "TOKENS[WentOn/Stopped]"
    assert tables["Means"][0][1] == "8", "tokens: 800 over 100"
    assert tables["Composites"][0][:3] == ["all", "MIX", "50.0%"]
    assert ["retention" in row for row in tables["Conditions compared"]].count(True) == 1
    # Four pairs, one stopped only without and three only with the hint: p = 10/16.
    assert tables["McNemar on matched rows"][0][2:] == ["4", "1", "3", "0.625", "0.625 (hints)"]
    assert tables["The same rates over clusters"][0][:2] == ["STOP[All]", "2 x domain"]
    assert tables["Pareto front: stopping and calls"][0][-1] == "yes"
    assert "Tie rule: as good everywhere" in html(page)
    _, printed = stopping
    flat = " ".join(printed.split())
    for caption in tables.keys() - {"Rates", "Raters", "Agreement"}:
        assert caption in flat, caption


def test_a_weak_interval_has_its_star_and_the_reason(open_app: Open, filled: Filled) -> None:
    page = report_page(open_app, filled.url)
    intervals = column(page, "agreement0", "95% interval")
    assert any(interval.endswith("*") for interval in intervals)
    assert "the interval may cover less than it says: fewer than 20 items" in html(page)
