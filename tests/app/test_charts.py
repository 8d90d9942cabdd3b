"""Charts as pages draw them: valid Vega-Lite, kept for the same words; heat maps as texts."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import pytest

from app import charts
from app.cells import Cells, heat
from app.charts import Drawing, Spot
from tests.app.stores import ATTACK

SPOTS = [Spot("a", 0.5, 0.4, 0.6, "raw"), Spot("b", 0.2, None, None, "corrected")]
BUILT: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (charts.forest, (SPOTS, "rate"), {"mark": 0.1, "percent": True}),
    (charts.forest, (SPOTS[:1], "rate"), {"domain": (0.0, 2.0)}),
    (charts.over_days, ([Spot("2026-01-02", 0.5, 0.4, 0.6, "x")], "agreement"), {}),
    (charts.stacked_days, ([("2026-01-02", "ana", 3), ("2026-01-04", "ben", 1)], 14), {}),
    (charts.bars, ([("ana", 4.0), ("ben", 9.5)], "seconds"), {}),
]


@pytest.fixture(autouse=True)
def _light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside a page there is no theme to ask for."""
    for module in ("app.charts", "app.colours"):
        monkeypatch.setattr(f"{module}.is_dark", lambda: False)


@pytest.mark.parametrize(("build", "args", "options"), BUILT)
def test_a_drawing_is_what_the_checked_chart_says(
    build: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    checked = build.__wrapped__(*args, **options).to_dict(validate=True)
    found = json.loads(build(*args, **options).spec)
    alt.Chart.from_dict(found)
    for part in ("layer", "mark", "encoding", "datasets", "params"):
        assert found.get(part) == json.loads(json.dumps(checked.get(part)))
    assert "view" not in found["config"]
    assert build(*args, **options) is build(*args, **options)


def test_other_words_and_the_other_ground_are_another_drawing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    light = charts.bars([("ana", 4.0)], "seconds")
    assert isinstance(light, Drawing)
    assert charts.bars([("ana", 5.0)], "seconds") != light
    for module in ("app.charts", "app.colours"):
        monkeypatch.setattr(f"{module}.is_dark", lambda: True)
    assert charts.bars([("ana", 4.0)], "seconds").spec != light.spec


def test_a_cell_is_as_dark_as_its_share_of_the_fullest() -> None:
    found = heat(Cells(["yes", "no"], [[3, 1], [0, 2]], "ana", "ben"), "0:1")
    assert found["cells"] == [[("3", 1.0), ("1", 1 / 3)], [("0", 0.0), ("2", 2 / 3)]]
    assert (found["rows"], found["columns"], found["chosen"]) == ("ana", "ben", "0:1")


def test_names_that_others_chose_cannot_act() -> None:
    found = heat(Cells([ATTACK], [[1]], ATTACK, ATTACK))
    assert all(text.isprintable() for text in (*found["names"], found["rows"], found["columns"]))
    for drawing in (
        charts.forest([Spot(ATTACK, 0.5)], "rate"),
        charts.bars([(ATTACK, 1.0)], "s"),
        charts.stacked_days([("2026-01-02", ATTACK, 1)], 2),
    ):
        (rows,) = json.loads(drawing.spec)["datasets"].values()
        texts = [value for row in rows for value in row.values() if isinstance(value, str)]
        assert texts
        assert all(text.isprintable() for text in texts)
