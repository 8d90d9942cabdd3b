"""Saved figures of a release: rates with their intervals, and agreement, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from labelkit.printable import printable
from labelkit.workflows.agreement_words import titled

_INK = "#0072B2"
_STEP = 26
_MOST = 60
_TITLE = 40


def draw(folder: Path, results: Mapping[str, Any]) -> list[str]:
    """Write every figure that has a line; return their names without ending."""
    folder.mkdir(exist_ok=True)
    drawn = []
    for question in results["questions"]:
        name = question["question"]
        rates = [
            (_called(rate), rate["group"], rate["value"], rate["low"], rate["high"])
            for rate in question["report"]["rates"]
            if rate["value"] is not None and rate["low"] is not None
        ]
        drawn += _save(folder, f"rates-{name}", rates, "share of the denominator, 95% Wilson")
        agreement = [
            (
                titled(one["name"], group["scale"]["weights"]),
                group["group"],
                one["value"],
                one["interval"]["low"],
                one["interval"]["high"],
            )
            for group in question["agreement"]
            for one in group["coefficients"]
            if one["value"] is not None and one["interval"] is not None
        ]
        drawn += _save(folder, f"agreement-{name}", agreement, "coefficient, 95% interval")
    return drawn


def _called(rate: Mapping[str, Any]) -> str:
    """A rate's name and, where that fits, what it is of."""
    name, title = str(rate["name"]), str(rate["title"])
    return f"{title} ({name})" if title and len(title) <= _TITLE else name


def _save(
    folder: Path, name: str, lines: Sequence[tuple[str, str, float, float, float]], title: str
) -> list[str]:
    """Draw points with intervals, one row per line; a chart of nothing is not drawn."""
    if not lines:
        return []
    frame = pd.DataFrame(
        {
            "line": [
                printable(what if group == "all" else f"{what} {group}")
                for what, group, *_ in lines
            ],
            "value": [line[2] for line in lines],
            "low": [line[3] for line in lines],
            "high": [line[4] for line in lines],
        }
    ).head(_MOST)
    order = list(dict.fromkeys(frame["line"]))
    y = alt.Y("line:N", sort=order, title=None, axis=alt.Axis(labelLimit=360))
    base = alt.Chart(frame, width=460, height=_STEP * len(order))
    rule = base.mark_rule(color=_INK, strokeWidth=2).encode(
        x=alt.X("low:Q", title=title), x2="high:Q", y=y
    )
    point = base.mark_point(color=_INK, filled=True, size=60, opacity=1).encode(x="value:Q", y=y)
    chart = alt.LayerChart(layer=[rule, point])
    for ending in ("png", "svg"):
        chart.save(str(folder / f"{name}.{ending}"), format=ending)
    return [name]
