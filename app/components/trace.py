"""One trace with its labels."""

from __future__ import annotations

from dataclasses import asdict

import streamlit as st

from app.components import source
from labelkit.workflows.one_trace import TraceView

_trace = st.components.v2.component(
    "labelkit_trace",
    html='<div class="lk"></div>\n',
    css=source("base.css", "trace.css"),
    js=source("text.js", "trace.js"),
)


def trace(view: TraceView) -> None:
    """Show a trace: question and answer, the path, every label. Long texts open bit by bit."""
    _trace(key="trace", data=asdict(view))
