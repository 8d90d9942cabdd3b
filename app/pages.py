"""Which pages there are for whom. Hiding one is a courtesy: every function checks rights itself."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from labelkit.domain.person import Person
from labelkit.workflows.review.access import Right, allowed

_READING = (
    ("views/traces.py", "Traces", Right.SEE_LABELS),
    ("views/report.py", "Report", Right.SEE_LABELS),
)
_REVIEW = (
    ("views/annotate.py", "Annotate", Right.LABEL),
    ("views/adjudicate.py", "Adjudicate", Right.ADJUDICATE),
    ("views/agreement.py", "Agreement", Right.SEE_LABELS),
    ("views/judges.py", "Judges", Right.SEE_LABELS),
    ("views/samples.py", "Samples", Right.SEE_LABELS),
)


def offered(person: Person | None) -> list[StreamlitPage]:
    """Return the pages for a person; without any people in the store, those that only read."""
    if person is None:
        return [
            st.Page(file, title=title, default=not place)
            for place, (file, title, _) in enumerate(_READING)
        ]
    open_to = [(f, t) for f, t, right in (*_REVIEW, *_READING) if allowed(person, right)]
    return [
        st.Page(file, title=title, default=not place) for place, (file, title) in enumerate(open_to)
    ]
