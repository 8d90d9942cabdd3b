"""Who looks at the page: asked anew at every run, from the one header the gate puts in."""

from __future__ import annotations

import time
from collections.abc import Mapping

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
        try:
            return person_of_subject(the_store(), vouched_subject(st.user, app_settings().claim))
        except Fault as fault:
            # Whoever is not known here may be so under another account.
            raise SignedOutError(str(fault)) from None
    token = st.context.headers.get(HEADER)
    person = person_of_token(the_store(), token, max_age=session_age()) if token else None
    if person is None:
        raise SignedOutError("your session has ended; sign in again, your drafts are kept")
    return person


def vouched_subject(claims: Mapping[str, object], claim: str) -> str:
    """Return the identity that a provider's token states, as Streamlit keeps it in its cookie.

    Streamlit keeps it for 30 days and leaves it to the pages to look at its age.

    Raises:
        SignedOutError: nobody signed in, too long ago, or the claim says nothing that holds.
    """
    if not claims.get("is_logged_in"):
        raise SignedOutError("sign in to go on")
    issued = claims.get("iat")
    age = time.time() - issued if isinstance(issued, int | float) else float("inf")
    if not age <= session_age().total_seconds():  # NaN is no age
        raise SignedOutError("your session has ended; sign in again, your drafts are kept")
    subject = claims.get(claim)
    if not isinstance(subject, str) or not subject:
        raise SignedOutError(f"your provider says nothing under {claim!r}; tell an admin")
    # Some providers let people state any address.
    if claim == "email" and claims.get("email_verified") not in (True, "true", None):
        raise SignedOutError(f"your provider has not verified {subject!r}; verify it there first")
    return subject


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
        if st.user.get("is_logged_in"):
            st.html('<a href="/logout" target="_self">Sign out</a>')
    elif login == "passphrase":
        st.html('<a href="/login" target="_self">Sign in</a>')
    else:
        note("The server in front of this one says who you are; ask its keeper.")
