"""Traces: find them by what is known of them and by what raters said, and read one in full.

``?trace=DIGEST`` (also the first digits of one) opens a trace directly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import streamlit as st

from app.components.grid import grid
from app.components.trace import trace
from app.opened import choose_scheme, the_browser, the_store
from app.plain import head, named, visible
from app.who import somebody
from labelkit.domain.person import Person
from labelkit.workflows.browse import Browser, Choices, Filters, Scheme
from labelkit.workflows.review.access import Right, require
from labelkit.workflows.review.adjudicate import saw_labels
from labelkit.workflows.review.assignment import samples_for

Value = TypeVar("Value", bound=str | int | None)

LINK = "trace"


def to_first_page() -> None:
    """Other filters, other pages."""
    st.session_state["page"] = 1


def several(label: str, key: str, values: Sequence[Value]) -> tuple[Value, ...]:
    """Ask for some of the values; none chosen means all."""
    names = dict(zip(values, named([None if v is None else str(v) for v in values]), strict=True))
    chosen = st.multiselect(
        label,
        values,
        format_func=lambda value: names[value],
        key=key,
        placeholder="all",
        on_change=to_first_page,
    )
    return tuple(chosen)


def one_of(label: str, key: str, names: Mapping[Value, str], everything: str) -> Value | None:
    """Ask for one of the values or for none."""
    shown = dict(zip(names, named(list(names.values())), strict=True))
    chosen: Value | None = st.selectbox(
        label,
        list(names),
        index=None,
        format_func=lambda value: shown[value],
        key=key,
        placeholder=everything,
        disabled=not names,
        on_change=to_first_page,
    )
    return chosen


def shows_labels(person: Person | None) -> bool:
    """Whether the list shows labels. Who may still be asked blind has to ask for them."""
    if person is None or not samples_for(the_store(), person):
        return True
    return st.toggle("Show labels (these traces are then not offered to you blind)", key="labels")


def ask(opened: Browser, *, labels: bool) -> tuple[Scheme | None, Choices, Filters]:
    """Draw the filters and return what they say. Nobody's labels, no questions about labels."""
    first, rest = st.columns([1.6, 2.8], vertical_alignment="bottom")
    with first:
        scheme = choose_scheme(opened)
    choices = opened.choices(scheme)
    rater, code, disagree = None, None, False
    if labels and scheme is not None:
        second, third, fourth = rest.columns([1, 1, 0.8], vertical_alignment="bottom")
        with second:
            rater = one_of("Label of", "rater", {r: r for r in choices.raters}, "anybody")
        with third:
            code = one_of("is", "code", choices.codes if rater else {}, "anything")
        with fourth:
            disagree = st.toggle("Raters disagree", key="disagree", on_change=to_first_page)
    with rest if scheme is not None and not labels else st.container():
        text = st.text_input(
            "Text in the trace (upper and lower case are the same)",
            key="text",
            on_change=to_first_page,
            placeholder="anything",
            max_chars=500,
        )
    first, second, third, fourth = st.columns(4)
    with first:
        models = several("Model", "models", choices.models)
    with second:
        domains = several("Domain", "domains", choices.domains)
    with third:
        subsets = several("Subset", "subsets", choices.subsets)
    with fourth:
        states = several("Row state", "states", choices.states)
    filters = Filters(models, domains, subsets, states, rater, code, disagree, text or "")
    return scheme, choices, filters


def open_trace(digest: str) -> None:
    """Show one trace; the address in the browser leads to it from now on."""
    st.query_params[LINK] = digest


def close_trace() -> None:
    """Back to the list."""
    st.query_params.pop(LINK, None)


def saw(person: Person | None, digests: Sequence[str]) -> None:
    """Whoever has seen labels of a trace cannot label it blind any more."""
    if person is not None:
        saw_labels(the_store(), person, digests)


def show_list(opened: Browser, person: Person | None) -> None:
    """The filters and one page of the traces that match."""
    title = st.container()
    labels = shows_labels(person)
    scheme, choices, filters = ask(opened, labels=labels)
    st.session_state["asked"] = (scheme, filters)
    found = opened.find(scheme, filters, st.session_state.get("page", 1) - 1)
    if labels and choices.raters:
        saw(person, [line.digest for line in found.lines])
    with title:
        matching = "" if found.total == found.stored else f"{found.total:,} match"
        head("Traces", f"{found.stored:,} in {opened.place}", matching)
    raters = [visible(name, 40) for name in choices.raters] if labels else []
    grid(
        "Traces",
        ["trace", "model", "task", "domain", "subset", "state", *raters],
        [
            (
                line.digest[:12],
                line.model,
                line.task,
                line.domain or "",
                line.subset or "",
                line.state,
                *(line.labels if labels else ()),
            )
            for line in found.lines
        ],
        key="list",
        opens=[line.digest for line in found.lines],
        on_open=open_trace,
        empty="No trace matches these filters."
        if found.stored
        else "This store holds no traces yet; read some with `labelkit import`.",
    )
    if found.pages > 1:
        st.session_state["page"] = found.page + 1
        with st.container(
            horizontal=True, vertical_alignment="bottom", horizontal_alignment="right"
        ):
            st.number_input(
                f"Page of {found.pages:,}",
                min_value=1,
                max_value=found.pages,
                key="page",
                width=180,
            )


def show_one(opened: Browser, person: Person | None, digest: str) -> None:
    """One trace, with the way back and on."""
    view = opened.trace(digest)
    scheme, filters = st.session_state.get("asked", (None, Filters()))
    near = opened.neighbours(scheme, filters, view.digest)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("All traces", key="back", on_click=close_trace)
        for label, other in (("Previous", near.before), ("Next", near.after)):
            st.button(
                label,
                key=label,
                disabled=other is None,
                on_click=open_trace,
                args=(other or "",),
            )
        place = "" if near.place is None else f"{near.place + 1:,} of {near.total:,}"
        head("Trace", view.digest, place)
    blind = bool(view.ratings) and not unveiled(person, view.digest)
    if not blind and view.ratings:
        saw(person, [view.digest])
    trace(view, blind=blind)


def unveiled(person: Person | None, digest: str) -> bool:
    """Whether a trace's labels are shown; who may still be asked blind has to ask for them."""
    if person is None or not samples_for(the_store(), person) or st.session_state.get("labels"):
        return True
    shown: set[str] = st.session_state.setdefault("unveiled", set())
    if digest not in shown and st.button(
        "Show the labels (it is then not offered to you blind)", key=f"show_{digest}"
    ):
        shown.add(digest)
    return digest in shown


me = somebody()
if me is not None:
    require(me, Right.SEE_LABELS)
browser = the_browser()
wanted = st.query_params.get(LINK)
if wanted:
    show_one(browser, me, wanted)
else:
    show_list(browser, me)
