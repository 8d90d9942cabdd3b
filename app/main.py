"""The frame around every page: who looks, which pages they have, what is said in trouble."""

from __future__ import annotations

import streamlit as st

from app.opened import keep_choices
from app.pages import offered
from app.plain import ICON, frame, problem, signature
from app.who import SignedOutError, offer_sign_in, somebody
from labelkit.workflows.browse import Fault

st.set_page_config(page_title="labelkit", page_icon=ICON, layout="wide")
frame()
keep_choices()
try:
    person = somebody()
    page = st.navigation(offered(person), position="top")
    if person is not None:
        signature(person.name)
    page.run()
except SignedOutError as ended:
    problem(str(ended))
    offer_sign_in()
except Fault as fault:
    problem(str(fault))
