"""One trace: question and answer first, then the path, then, unless one is blind, every label."""

from __future__ import annotations

from dataclasses import asdict

import streamlit as st

from app.components import handed, source
from labelkit.workflows.one_trace import TraceView

_trace = st.components.v2.component(
    "labelkit_trace",
    html='<div class="lk"></div>\n',
    css=source("base.css", "trace.css"),
    js=source("text.js", "body.js", "find.js", "labels.js", "trace.js"),
)


def trace(view: TraceView, *, blind: bool = False, quoting: bool = False) -> None:
    """Show a trace. Long texts open bit by bit.

    Args:
        view: what is shown; of a blind view nobody's label, whatever it holds.
        blind: leave out the column of labels.
        quoting: offer to attach selected text; a desk beside it takes it.
    """
    data = asdict(view) | {"blind": blind, "quoting": quoting}
    if blind:
        data["ratings"] = []
    _trace(key="trace", data=handed(data))
