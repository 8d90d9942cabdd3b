"""The one open store behind all sessions of this server."""

from __future__ import annotations

import os
from collections.abc import Callable

import streamlit as st

from app.plain import named
from labelkit.workflows.browse import Browser, Scheme

STORE = "LABELKIT_STORE"
"""The environment variable in which ``labelkit app`` hands over the store's URL."""


@st.cache_resource(show_spinner=False)
def browser(url: str) -> Browser:
    """Open a store once for everybody."""
    return Browser.open(url)


def the_browser() -> Browser:
    """Return the browser of the store this server was started for."""
    return browser(os.environ[STORE])


def choose_scheme(opened: Browser, changed: Callable[[], None] | None = None) -> Scheme | None:
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
        on_change=changed,
    )
    return schemes[chosen]
