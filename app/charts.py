"""Charts of the pages: one look for all, legible on both grounds. A table beside has the numbers.

Names that others chose stand in the data of a chart, never in its markup, and are made visible
by ``app.plain`` first. No chart has tooltips.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache, wraps
from typing import Any, ParamSpec

import altair as alt
import pandas as pd
import streamlit as st

from app.colours import accent, colours, ink, is_dark
from app.plain import visible

STEP = 26
AXIS = 74
LEGEND = 46
SERIES = 13
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
WIDEST_BAR = 34
KEPT = 64
"""Charts that are kept drawn; pages that look again every few seconds mostly show the same."""

P = ParamSpec("P")


@dataclass(frozen=True)
class Spot:
    """One estimate: its row, its value, the ends of its interval if it has one, its series."""

    row: str
    value: float
    low: float | None = None
    high: float | None = None
    series: str = ""


@dataclass(frozen=True)
class Drawing:
    """A chart in Vega-Lite's JSON."""

    spec: str


def drawn(build: Callable[P, Any]) -> Callable[P, Drawing]:
    """Let a function that builds a chart return its drawing, kept for the same words and ground.

    Checking a chart against Vega-Lite's schema costs several times what building it does, under a
    lock that all sessions share: that is done in the tests. Arguments are numbers, texts and
    frozen records, in lists or tuples.
    """

    @lru_cache(maxsize=KEPT)
    def spec(_ground: bool, args: tuple[Any, ...], options: tuple[tuple[str, Any], ...]) -> Drawing:
        text = {"labelColor": ink(), "titleColor": ink(), "labelFontSize": 12, "titleFontSize": 12}
        whole = (
            build(*args, **dict(options))
            .configure_axis(**text, titleFontWeight="normal")
            .configure_legend(**text, symbolSize=90)
        )
        found = whole.to_dict(validate=False)
        # Altair's own size of a view would hold against the page's width.
        found["config"].pop("view", None)
        return Drawing(json.dumps(found))

    @wraps(build)
    def draw(*args: P.args, **options: P.kwargs) -> Drawing:
        named = tuple((name, _frozen(value)) for name, value in sorted(options.items()))
        return spec(is_dark(), _frozen(args), named)

    return draw


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def show_chart(drawing: Drawing, said: str, *, key: str) -> None:
    """Show a chart; ``said`` tells a screen reader what it shows and where the numbers are."""
    spec = json.loads(drawing.spec) | {"description": said}
    st.vega_lite_chart(spec=spec, width="stretch", key=key)


@drawn
def forest(
    spots: Sequence[Spot],
    title: str,
    *,
    percent: bool = False,
    domain: tuple[float, float] | None = None,
    mark: float | None = None,
    width: int = 220,
) -> alt.LayerChart:
    """Points with their intervals, one row each; several series of a row stand below each other.

    Args:
        spots: in the order in which they are shown.
        title: of the axis, with the unit.
        percent: whether the values are shares, written in percent.
        domain: of the axis; default from 0, or from below it, to 1.
        mark: a value to compare with, drawn as a line.
        width: most pixels for the names of the rows.
    """
    rows = list(dict.fromkeys(visible(spot.row, 60) for spot in spots))
    series = list(dict.fromkeys(spot.series for spot in spots))
    several = len(series) > 1
    low = min((s.low if s.low is not None else s.value for s in spots), default=0.0)
    scale = alt.Scale(domain=list(domain or (min(0.0, low), 1.0)), nice=False, clamp=True)
    place = alt.Y(
        "row:N",
        sort=rows,
        title=None,
        axis=alt.Axis(labelLimit=width, labelOverlap=False, ticks=False, domain=False),
    )
    across = alt.Axis(format="%" if percent else ".1f", grid=True, tickCount=6)
    row = SERIES * len(series) + 8 if several else STEP
    height = row * len(rows) + AXIS + (LEGEND if several else 0)
    base = alt.Chart(_frame(spots), height=height).encode(y=place)
    shades = alt.Color(
        "series:N",
        sort=series,
        scale=alt.Scale(domain=series, range=colours()),
        title=None,
        legend=alt.Legend(orient="top", columns=4) if several else None,
    )
    forms = alt.Shape(
        "series:N", sort=series, scale=alt.Scale(domain=series, range=list(SHAPES)), title=None
    )
    below = {"yOffset": alt.YOffset("series:N", sort=series)} if several else {}
    interval = base.mark_rule(strokeWidth=3, opacity=0.6).encode(
        x=alt.X("low:Q", scale=scale, title=title, axis=across), x2="high:Q", color=shades, **below
    )
    point = base.mark_point(filled=True, size=85, opacity=1).encode(
        x=alt.X("value:Q", scale=scale, title=title), color=shades, shape=forms, **below
    )
    layers: list[Any] = [interval, point]
    if mark is not None:
        line = alt.Chart(pd.DataFrame({"mark": [mark]})).mark_rule(
            strokeDash=[4, 4], color=ink(), strokeWidth=1.5
        )
        layers.insert(0, line.encode(x=alt.X("mark:Q", scale=scale)))
    return alt.LayerChart(layer=layers)


def _frame(spots: Sequence[Spot]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "row": visible(spot.row, 60),
                "series": spot.series,
                "value": spot.value,
                "low": spot.value if spot.low is None else spot.low,
                "high": spot.value if spot.high is None else spot.high,
            }
            for spot in spots
        ]
    )


@drawn
def over_days(spots: Sequence[Spot], title: str) -> alt.LayerChart:
    """Points with their intervals over days (``row`` is a day); one line per series."""
    series = list(dict.fromkeys(spot.series for spot in spots))
    days = sorted({spot.row for spot in spots})
    # The interval of a day with few labels would push everything else together: it is cut.
    low = min((spot.value for spot in spots), default=0.0)
    scale = alt.Scale(domain=[min(0.0, low), 1.0], nice=False, clamp=True)
    base = alt.Chart(_frame(spots), height=260).encode(
        x=alt.X("row:O", sort=days, title=None, axis=_day_axis(len(days))),
        xOffset=alt.XOffset("series:N", sort=series),
        color=alt.Color(
            "series:N",
            sort=series,
            scale=alt.Scale(domain=series, range=colours()),
            title=None,
            legend=alt.Legend(orient="top"),
        ),
    )
    band = base.mark_rule(strokeWidth=3, opacity=0.55).encode(
        y=alt.Y("low:Q", scale=scale, title=title, axis=alt.Axis(format=".1f")), y2="high:Q"
    )
    point = base.mark_point(filled=True, size=80, opacity=1).encode(
        y=alt.Y("value:Q", scale=scale, title=title),
        shape=alt.Shape(
            "series:N", sort=series, scale=alt.Scale(domain=series, range=list(SHAPES)), title=None
        ),
    )
    return alt.LayerChart(layer=[band, point])


def _day_axis(days: int) -> alt.Axis:
    """Days as ``30 Nov``, none over another."""
    return alt.Axis(
        labelAngle=0 if days <= 12 else -45,
        labelOverlap=True,
        labelExpr="timeFormat(toDate(datum.value), '%-d %b')",
    )


@drawn
def stacked_days(counts: Sequence[tuple[str, str, int]], last: int) -> alt.Chart:
    """Bars of (day, person, count) for the ``last`` days; days without any leave a gap.

    One day alone is a bar like any other, not a wall over the whole width.
    """
    end = max(date.fromisoformat(day) for day, _, _ in counts)
    start = max(
        min(date.fromisoformat(day) for day, _, _ in counts), end - timedelta(days=last - 1)
    )
    days = [str(start + timedelta(days=n)) for n in range((end - start).days + 1)]
    people = sorted({person for _, person, _ in counts})
    names = {person: visible(person, 24) for person in people}
    frame = pd.DataFrame(
        [
            {"day": day, "person": names[person], "labels": n}
            for day, person, n in counts
            if day in days
        ]
    )
    order = list(dict.fromkeys(names.values()))
    chart: alt.Chart = (
        alt.Chart(frame, height=250)
        .mark_bar(size=min(WIDEST_BAR, max(5, 420 // len(days))), stroke=None)
        .encode(
            x=alt.X("day:O", scale=alt.Scale(domain=days), title=None, axis=_day_axis(len(days))),
            y=alt.Y("labels:Q", title="labels", axis=alt.Axis(tickMinStep=1, tickCount=5)),
            color=alt.Color(
                "person:N",
                sort=order,
                title=None,
                scale=alt.Scale(domain=order, range=colours()),
                legend=alt.Legend(orient="right", labelLimit=150),
            ),
        )
    )
    return chart


@drawn
def bars(named: Sequence[tuple[str, float]], title: str, *, form: str = ",.0f") -> alt.LayerChart:
    """One bar a row with its number beside it."""
    frame = pd.DataFrame({"row": [visible(n, 30) for n, _ in named], "n": [v for _, v in named]})
    most = max((value for _, value in named), default=1.0) or 1.0
    base = alt.Chart(frame, height=STEP * len(named) + AXIS).encode(
        y=alt.Y(
            "row:N",
            sort=list(frame["row"]),
            title=None,
            axis=alt.Axis(labelLimit=180, labelOverlap=False, ticks=False),
        ),
        x=alt.X("n:Q", title=title, scale=alt.Scale(domain=[0, most * 1.12], nice=False)),
    )
    bar = base.mark_bar(size=14, color=accent())
    number = base.mark_text(align="left", dx=4, color=ink()).encode(
        text=alt.Text("n:Q", format=form)
    )
    return alt.LayerChart(layer=[bar, number])
