"""A heat map of labels as a table of the page, because its cells are clicked and read out.

A chart is one picture to a screen reader; the counts of a table are text, set as text. Who works
by keys chooses from the list that ``app.cells`` puts below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from app.components import handed, source

_heat = st.components.v2.component(
    "labelkit_heat",
    html='<div class="lk"></div>\n',
    css=source("base.css", "heat.css"),
    js=source("text.js", "heat.js"),
)


def heat_table(data: Mapping[str, Any], *, key: str, on_cell: Callable[[str], None]) -> None:
    """Show a heat map.

    Args:
        data: ``said`` for a screen reader, and what ``app.cells.heat`` makes.
        key: identity of the table on its page.
        on_cell: called with ``row:column`` of a cell that was clicked.
    """

    def clicked() -> None:
        cell = st.session_state[key].cell
        if cell:
            on_cell(cell)

    _heat(key=key, data=handed(data), on_cell_change=clicked)
