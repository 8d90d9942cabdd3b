"""Who looks at the page: asked anew at every run, from the one header the gate puts in."""

from __future__ import annotations

import streamlit as st

from app.gate import HEADER
from app.opened import app_settings, has_people, session_age, the_store
from app.plain import note
from labelkit.domain.person import Person
from labelkit.workflows.browse import Fault
from labelkit.workflows.review.people import person_of_subject, person_of_token


class SignedOutError(Fault):
    """The session has ended; the page offers to sign in again."""


def somebody() -> Person | None:
    """Return who is signed in; None while nobody was ever added to this store.

    Raises:
        SignedOutError: people were added, and this is none of them (any more).
    """
    if not has_people():
        return None
    if app_settings().login == "oidc":
        subject = st.user.get(app_settings().claim) if st.user.is_logged_in else None
        if not subject:
            raise SignedOutError("sign in to go on")
        return person_of_subject(the_store(), str(subject))
    token = st.context.headers.get(HEADER)
    person = person_of_token(the_store(), token, max_age=session_age()) if token else None
    if person is None:
        raise SignedOutError("your session has ended; sign in again, your drafts are kept")
    return person


def signed_in() -> Person:
    """Return who works here, for pages on which nobody is nobody.

    Raises:
        Fault: nobody was added to this store yet.
        SignedOutError: as ``somebody``.
    """
    person = somebody()
    if person is None:
        raise Fault("nobody can work here yet; add yourself with `labelkit people add`")
    return person


def offer_sign_in() -> None:
    """A way to sign in, where this server has one of its own."""
    login = app_settings().login
    if login == "oidc":
        st.button("Sign in", on_click=st.login, type="primary", key="sign_in")
    elif login == "passphrase":
        st.html('<a href="/login" target="_self">Sign in</a>')
    else:
        note("The server in front of this one says who you are; ask its keeper.")
