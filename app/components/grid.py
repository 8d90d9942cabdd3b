"""A table of texts: cells are shown as they are, the first one may lead to a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from app.components import handed, source

_grid = st.components.v2.component(
    "labelkit_grid",
    html='<div class="lk"></div>\n',
    css=source("base.css", "grid.css"),
    js=source("text.js", "grid.js"),
)


def grid(  # noqa: PLR0913 - a table has that many sides
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    key: str,
    numbers: Sequence[str] = (),
    opens: Sequence[str] = (),
    on_open: Callable[[str], None] | None = None,
    empty: str = "nothing here",
    page: str = "",
    shares: Mapping[str, Sequence[float | None]] | None = None,
) -> None:
    """Show a table.

    Args:
        caption: what the table holds, for screen readers.
        columns: headings.
        rows: one text per column each.
        key: identity of the table on its page.
        numbers: headings of columns that are set right.
        opens: trace digest per row, to which its first cell leads.
        on_open: called with the digest of a row that was clicked.
        empty: what is said when there are no rows.
        page: address of the page that shows a trace; empty for this one.
        shares: heading -> a share of 1 per row, drawn as a bar under the cell's text.
    """

    def opened() -> None:
        digest = st.session_state[key].open
        if digest and on_open:
            on_open(digest)

    _grid(
        key=key,
        data=handed(
            {
                "caption": caption,
                "columns": [{"name": name, "number": name in numbers} for name in columns],
                "rows": [
                    {
                        "cells": list(cells),
                        "open": opens[place] if opens else None,
                        "shares": [
                            (shares or {}).get(name, [None] * len(rows))[place] for name in columns
                        ],
                    }
                    for place, cells in enumerate(rows)
                ],
                "empty": empty,
                "page": page,
            }
        ),
        on_open_change=opened,
    )
