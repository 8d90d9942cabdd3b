"""The one open store behind all sessions of this server, and how the server was set up.

Modules are loaded once per process, so what is kept here is shared by the gate and every session.
"""

from __future__ import annotations

import os
from datetime import timedelta
from functools import cache
from typing import Any

import streamlit as st

from app.plain import named
from labelkit.settings import AppSettings
from labelkit.workflows.browse import Browser, Scheme, Store
from labelkit.workflows.review.people import everybody

STORE = "LABELKIT_STORE"
"""The environment variable in which ``labelkit app`` hands over the store's URL."""

SETTINGS = "LABELKIT_APP"
"""And the one with the settings of the app, as JSON."""

OF_SCHEME = ("rater", "code", "page", "report_rater")
KEPT = (
    *("scheme", *OF_SCHEME, "models", "domains", "subsets", "states", "disagree", "text", "labels"),
    *("report_by", "sample_choice", "question_choice", "adjudicate_decided", "agreement_width"),
)
"""Keys of the widgets by which people choose, on all pages."""

COPIES = "choices_kept"


@cache
def browser(url: str) -> Browser:
    """Open a store once for everybody."""
    return Browser.open(url)


def the_browser() -> Browser:
    """Return the browser of the store this server was started for."""
    return browser(os.environ[STORE])


def the_store() -> Store:
    """Return the store, to be handed to functions of ``labelkit.workflows`` and not looked into."""
    return the_browser().store


@cache
def _settings(text: str) -> AppSettings:
    return AppSettings.model_validate_json(text)


def app_settings() -> AppSettings:
    """Return the settings the server was started with."""
    return _settings(os.environ.get(SETTINGS, "{}"))


def session_age() -> timedelta:
    """How long a passphrase holds."""
    return timedelta(hours=app_settings().session_hours)


_peopled: set[str] = set()


def has_people() -> bool:
    """Whether anybody was added; from then on nobody comes in unnamed."""
    url = os.environ[STORE]
    if url not in _peopled and everybody(the_store(), None):
        _peopled.add(url)
    return url in _peopled


def keep_choices() -> None:
    """Streamlit forgets a widget that is not drawn; every page must come back as it was left.

    The copies have a key of their own: what is kept under that of a widget which is not drawn is
    lost as soon as a page refreshes a part of itself.
    """
    kept: dict[str, Any] = st.session_state.setdefault(COPIES, {})
    for key in KEPT:
        if key in st.session_state:
            kept[key] = st.session_state[key]
        if key in kept:  # a widget of the same key on another page begins with it
            st.session_state[key] = kept[key]


def other_scheme() -> None:
    """Another question has other raters and other labels: what was chosen of them is void."""
    for key in OF_SCHEME:
        st.session_state.pop(key, None)
        st.session_state.get(COPIES, {}).pop(key, None)


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
