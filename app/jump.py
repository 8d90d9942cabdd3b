"""From a table of traces to one of them: a click is remembered, the next run follows it.

Streamlit lets no callback change the page.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.components.grid import grid

WANTED = "jump_to"
MOST = 50


def jump(digest: str) -> None:
    """Remember where to go."""
    st.session_state[WANTED] = digest


def follow() -> None:
    """Go where a click has led, if it has."""
    digest = st.session_state.pop(WANTED, None)
    if digest:
        st.switch_page("views/traces.py", query_params={"trace": digest})


def trace_list(caption: str, digests: Sequence[str], *, key: str) -> None:
    """A list of traces that lead to themselves; the first ones of very many."""
    shown = list(digests[:MOST])
    grid(
        caption,
        ["trace"],
        [(digest[:16],) for digest in shown],
        key=key,
        opens=shown,
        on_open=jump,
        page="traces",
        empty="no trace",
    )
