"""Charts as pages draw them: valid Vega-Lite, kept for the same words, with the page's width."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import pytest

from app import charts
from app.cells import heat
from app.charts import Drawing, Spot

SPOTS = [Spot("a", 0.5, 0.4, 0.6, "raw"), Spot("b", 0.2, None, None, "corrected")]
BUILT: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (charts.forest, (SPOTS, "rate"), {"mark": 0.1, "percent": True}),
    (charts.forest, (SPOTS[:1], "rate"), {"domain": (0.0, 2.0)}),
    (charts.over_days, ([Spot("2026-01-02", 0.5, 0.4, 0.6, "x")], "agreement"), {}),
    (charts.stacked_days, ([("2026-01-02", "ana", 3), ("2026-01-04", "ben", 1)], 14), {}),
    (charts.bars, ([("ana", 4.0), ("ben", 9.5)], "seconds"), {}),
    (heat, (["yes", "no"], [[3, 1], [0, 2]], "ana", "ben"), {}),
]


@pytest.fixture(autouse=True)
def _light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside a page there is no theme to ask for."""
    for module in ("app.charts", "app.cells", "app.colours"):
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
