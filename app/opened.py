"""The one open store behind all sessions of this server."""

from __future__ import annotations

import os

import streamlit as st

from app.plain import named
from labelkit.workflows.browse import Browser, Scheme

STORE = "LABELKIT_STORE"
"""The environment variable in which ``labelkit app`` hands over the store's URL."""

OF_SCHEME = ("rater", "code", "page", "report_rater")
KEPT = ("scheme", *OF_SCHEME, "models", "domains", "subsets", "states", "disagree", "report_by")
"""Keys of the widgets by which people choose, on all pages."""


@st.cache_resource(show_spinner=False)
def browser(url: str) -> Browser:
    """Open a store once for everybody."""
    return Browser.open(url)


def the_browser() -> Browser:
    """Return the browser of the store this server was started for."""
    return browser(os.environ[STORE])


def keep_choices() -> None:
    """Streamlit forgets a widget that is not drawn; every page must come back as it was left."""
    for key in KEPT:
        if key in st.session_state:
            st.session_state[key] = st.session_state[key]


def other_scheme() -> None:
    """Another question has other raters and other labels: what was chosen of them is void."""
    for key in OF_SCHEME:
        st.session_state.pop(key, None)


def choose_scheme(opened: Browser) -> Scheme | None:
    """Let people choose rubric and question; None where nothing was judged yet."""
    schemes = {scheme.key: scheme for scheme in opened.schemes()}
    if not schemes:
        return None
    names = dict(zip(schemes, named([s.name for s in schemes.values()]), strict=True))
    chosen = st.selectbox(
        "Rubric and question",
        list(schemes),
        format_func=lambda key: names[key],
        key="scheme",
        on_change=other_scheme,
    )
    return schemes[chosen]
