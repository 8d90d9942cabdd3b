"""Two raters' labels as a heat map: a cell is chosen by a click, or from a list by key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from app.components.heat import heat_table
from app.plain import note, visible


@dataclass(frozen=True)
class Cells:
    """Counts of pairs of labels; ``rows`` and ``columns`` say whose they are."""

    labels: Sequence[str]
    counts: Sequence[Sequence[float]]
    rows: str
    columns: str


def choose_cell(cells: Cells, *, key: str, title: str) -> tuple[int, int] | None:
    """Draw the table; return the cell (row, column) that was chosen, off the diagonal."""
    named = {
        f"{i}:{j}": f"{visible(a)} and {visible(b)}: {cells.counts[i][j]:,.0f}"
        for i, a in enumerate(cells.labels)
        for j, b in enumerate(cells.labels)
        if i != j and cells.counts[i][j]
    }
    listed = f"{key}_cell"
    # Set only where something changes: what a script sets wins over a choice made meanwhile, and
    # a page that looks again every few seconds would take people's choices back.
    if st.session_state.get(listed) not in {None, *named}:
        st.session_state[listed] = None

    def clicked(cell: str) -> None:
        if cell in named:
            st.session_state[listed] = cell

    said = (
        f"Heat map of labels, {visible(cells.rows)} by {visible(cells.columns)}; {title} lists it."
    )
    held = st.session_state.get(listed) or ""
    heat_table({"said": said, **heat(cells, held)}, key=f"{key}_cells", on_cell=clicked)
    if not named:
        note("They never part so far.")
        return None
    chosen = st.selectbox(
        title,
        sorted(named, key=lambda cell: -cells.counts[place(cell)[0]][place(cell)[1]]),
        format_func=lambda cell: named[cell],
        key=listed,
        placeholder="choose here, or click into the table",
        index=None,
    )
    return place(chosen) if chosen else None


def place(cell: str) -> tuple[int, int]:
    """Row and column of a cell."""
    first, _, second = cell.partition(":")
    return int(first), int(second)


def heat(cells: Cells, chosen: str = "") -> dict[str, Any]:
    """Return the table as the page shows it: texts and shares of the fullest cell.

    ``chosen`` is ``row:column`` of the cell that is marked, or empty.
    """
    most = max((count for row in cells.counts for count in row), default=0) or 1
    return {
        "names": [visible(label) for label in cells.labels],
        "rows": visible(cells.rows),
        "columns": visible(cells.columns),
        "chosen": chosen,
        "cells": [[(f"{count:,.0f}", count / most) for count in row] for row in cells.counts],
    }
