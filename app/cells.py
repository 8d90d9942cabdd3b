"""Two raters' labels as a heat map: a cell is chosen by a click, or from a list by key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd
import streamlit as st

from app.charts import drawn, show_chart
from app.colours import is_dark
from app.plain import note, visible

ORANGE = "#D55E00"
_SHADES = {
    "light": ("#DCE9F5", "#08306B", "#10131F", "#FFFFFF"),
    "dark": ("#1D2738", "#8FC0F0", "#E9ECF5", "#10131F"),
}
"""Fewest and most, and the ink on either, for both grounds."""


@dataclass(frozen=True)
class Cells:
    """Counts of pairs of labels; ``rows`` and ``columns`` say whose they are."""

    labels: Sequence[str]
    counts: Sequence[Sequence[float]]
    rows: str
    columns: str


def choose_cell(cells: Cells, *, key: str, title: str) -> tuple[int, int] | None:
    """Draw the table; return the cell (row, column) that was chosen, off the diagonal."""
    chart = f"{key}_cells"
    said = (
        f"Heat map of labels, {visible(cells.rows)} by {visible(cells.columns)}; {title} lists it."
    )
    drawing = heat(cells.labels, cells.counts, cells.rows, cells.columns)
    show_chart(drawing, said, key=chart, on_select="rerun", selection_mode="cell")
    named = {
        f"{i}:{j}": f"{visible(a)} and {visible(b)}: {cells.counts[i][j]:,.0f}"
        for i, a in enumerate(cells.labels)
        for j, b in enumerate(cells.labels)
        if i != j and cells.counts[i][j]
    }
    if not named:
        note("They never part so far.")
        return None
    follow_click(chart, key, named)
    chosen = st.selectbox(
        title,
        sorted(named, key=lambda cell: -cells.counts[place(cell)[0]][place(cell)[1]]),
        format_func=lambda cell: named[cell],
        key=f"{key}_cell",
        placeholder="choose here, or click into the table",
        index=None,
    )
    return place(chosen) if chosen else None


def follow_click(chart: str, key: str, known: dict[str, str]) -> None:
    """A new click into the chart sets the list."""
    state = st.session_state.get(chart)
    points = state["selection"].get("cell", []) if state else []
    clicked = str(points[0]["cell"]) if points and "cell" in points[0] else None
    if clicked and clicked != st.session_state.get(f"{key}_clicked"):
        st.session_state[f"{key}_clicked"] = clicked
        if clicked in known:
            st.session_state[f"{key}_cell"] = clicked
    # Set only where something changes: what a script sets wins over a choice made meanwhile, and
    # a page that looks again every few seconds would take people's choices back.
    if st.session_state.get(f"{key}_cell") not in {None, *known}:
        st.session_state[f"{key}_cell"] = None


def place(cell: str) -> tuple[int, int]:
    """Row and column of a cell."""
    first, _, second = cell.partition(":")
    return int(first), int(second)


@drawn
def heat(
    labels: Sequence[str], counts: Sequence[Sequence[float]], row_of: str, column_of: str
) -> alt.LayerChart | alt.FacetChart:
    """The chart; see ``Cells``."""
    order = [visible(label) for label in labels]
    rows = [
        {"row": a, "column": b, "count": counts[i][j], "cell": f"{i}:{j}"}
        for i, a in enumerate(order)
        for j, b in enumerate(order)
    ]
    most = max((count for row in counts for count in row), default=0) or 1
    few, many, ink, light = _SHADES["dark" if is_dark() else "light"]
    angle = 0 if len(order) < 4 else -35
    across = alt.Axis(
        labelLimit=150, labelAngle=angle, labelOverlap=False, ticks=False, orient="top"
    )
    down = alt.Axis(labelLimit=150, labelOverlap=False, ticks=False)
    base = alt.Chart(
        pd.DataFrame(rows), height=38 * len(order) + (70 if angle == 0 else 130)
    ).encode(
        x=alt.X("column:N", sort=order, title=visible(column_of), axis=across),
        y=alt.Y("row:N", sort=order, title=visible(row_of), axis=down),
    )
    chosen = alt.selection_point(name="cell", fields=["cell"], on="click", empty=False)
    squares = (
        base.mark_rect(cornerRadius=3)
        .encode(
            color=alt.Color(
                "count:Q", scale=alt.Scale(domain=[0, most], range=[few, many]), legend=None
            ),
            stroke=alt.condition(chosen, alt.value(ORANGE), alt.value("transparent")),
            strokeWidth=alt.value(3),
        )
        .add_params(chosen)
    )
    above = f"datum.count > {most * 0.55}"
    numbers = base.mark_text(fontSize=13).encode(
        text=alt.Text("count:Q", format=",.0f"),
        opacity=alt.condition("datum.count > 0", alt.value(1), alt.value(0.45)),
        color=alt.condition(above, alt.value(light), alt.value(ink)),
    )
    return alt.layer(squares, numbers)
