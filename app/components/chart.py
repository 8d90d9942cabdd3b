"""A chart as elements of the page: texts are set as texts, and no library is loaded to draw it.

A library for charts would cost every browser a megabyte of script before its first chart, the
server 65 MB, and a page with three charts a quarter of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from app.colours import as_css
from app.components import handed, source

_chart = st.components.v2.component(
    "labelkit_chart",
    html='<div class="lk"></div>\n',
    css=source("base.css", "chart.css") + as_css(),
    js=source("text.js", "chart.js"),
)


def chart(
    data: Mapping[str, Any], *, key: str, on_cell: Callable[[str], None] | None = None
) -> None:
    """Show a chart.

    Args:
        data: ``kind``, ``said`` and what the kind needs; see ``app.charts``.
        key: identity of the chart on its page.
        on_cell: called with ``row:column`` of a cell of a heat map that was clicked.
    """

    def clicked() -> None:
        cell = st.session_state[key].cell
        if cell and on_cell:
            on_cell(cell)

    _chart(key=key, data=handed(data), on_cell_change=clicked)
