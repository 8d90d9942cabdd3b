"""The frame around every page: title, navigation and what is said when a page cannot be shown."""

from __future__ import annotations

import streamlit as st

from app.opened import keep_choices
from app.plain import frame, problem
from labelkit.workflows.browse import Fault

st.set_page_config(page_title="labelkit", layout="wide")
frame()
keep_choices()
page = st.navigation(
    [
        st.Page("views/traces.py", title="Traces", default=True),
        st.Page("views/report.py", title="Report"),
    ],
    position="top",
)
try:
    page.run()
except Fault as fault:
    problem(str(fault))
