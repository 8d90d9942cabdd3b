"""Annotate: one trace after another, blind, with the keyboard alone.

The page draws what the service offers and hands back what was said. Nothing here knows of any
other rater's label, so nothing of it can reach the browser.
"""

from __future__ import annotations

import zlib
from typing import Any

import streamlit as st

from app.choosing import choose_sample
from app.components.desk import Said, annotate_desk
from app.components.trace import trace
from app.desk_state import DeskState
from app.opened import the_store
from app.plain import head, note
from app.who import signed_in
from labelkit.domain.person import Person
from labelkit.domain.sample import Sample
from labelkit.workflows.browse import Fault
from labelkit.workflows.review.access import Right, allowed
from labelkit.workflows.review.annotate import (
    Choice,
    Draft,
    Fate,
    Quote,
    save_draft,
    skip,
    submit,
    undo,
)
from labelkit.workflows.review.assignment import (
    Offer,
    Progress,
    give_back,
    next_item,
    progress,
    samples_for,
)

DESK = "annotate"
SEAT = "desk"
SKIPS = ("I cannot read it", "The trace is broken", "The guideline does not cover it")
FATES = {
    Fate.STORED: "Saved.",
    Fate.REPEATED: "Saved.",
    Fate.ALREADY: "You had labelled this trace already.",
    Fate.SEEN: "You have seen what others said of that trace; it goes to somebody else.",
    Fate.LOST: "It had been idle too long and went to others; your note is kept.",
}


def said_of(said: Said) -> Draft:
    """Return what a desk sent as the service knows it."""
    return Draft(
        answers={str(k): str(v) for k, v in said.get("answers", {}).items()},
        note=str(said.get("note", "")),
        flagged=bool(said.get("flagged")),
        quotes=tuple(Quote(str(text), part) for text, part in said.get("quotes", ())),
        active_ms=int(said.get("ms", 0)),
    )


def lease_of(said: Said) -> int:
    """The lease a desk speaks of."""
    return int(str(said["key"]).partition(":")[0])


def begun(draft: Draft) -> bool:
    """Whether there is anything to keep."""
    return bool(draft.answers or draft.note or draft.flagged or draft.quotes)


def do(said: Said) -> str:
    """Do what the desk asks for; say in words what was done."""
    store, who, act = the_store(), signed_in(), said["act"]
    draft = said_of(said)
    if act == "undo":
        if said["trace_id"] and begun(draft):
            save_draft(store, who, lease_of(said), draft)
        done = undo(store, who, st.session_state["sample_shown"], str(said["request_id"]))
        if done is None:
            return "There is nothing to take back."
        if done.fate is Fate.SEEN:
            return "You have seen what others said of that trace, so your label of it stays."
        return "Your last label was taken back."
    if act == "back":
        if begun(draft):
            save_draft(store, who, lease_of(said), draft)
        give_back(store, who, lease_of(said))
        return "Sent back to the pool."
    choice = Choice(
        request_id=str(said["request_id"]),
        lease=lease_of(said),
        trace=str(said["trace_id"]),
        said=draft,
        view_digest=st.session_state.get("views_shown", {}).get(said["trace_id"]),
    )
    if act == "skip":
        return FATES[skip(store, who, choice, str(said["reason"])).fate]
    return FATES[submit(store, who, choice).fate]


def keep(said: Said) -> None:
    """Keep a draft."""
    save_draft(the_store(), signed_in(), lease_of(said), said_of(said))


def acted() -> None:
    """The desk has sent an act."""
    state = DeskState(DESK)
    state.act(state.incoming("act"), do)


def drafted() -> None:
    """The desk has sent a draft."""
    state = DeskState(DESK)
    state.draft(state.incoming("draft"), keep)


def in_words(found: Progress, in_hand: int) -> dict[str, Any]:
    """Progress and pace of the person."""
    mine, left = found.done + found.skipped, found.left + in_hand
    words = [f"{found.done:,} done", f"{left:,} left"]
    if found.median_s is not None:
        words.append(f"{found.median_s:.0f} s each")
    if found.today:
        words.append(f"{found.today:,} today")
    return {"share": mine / max(1, mine + left), "text": " \u00b7 ".join(words)}


def desk_data(person: Person, offer: Offer | None, found: Progress) -> dict[str, Any]:
    """Everything the desk gets."""
    state = DeskState(DESK)
    common = {
        "person": person.id,
        "acks": state.acks,
        "fault": state.fault,
        "saved": state.saved,
        "progress": in_words(found, offer is not None),
        "can_undo": found.done + found.skipped > 0,
        "skips": list(SKIPS),
    }
    if offer is None:
        empty: Said = {"questions": [], "draft": None, "message": "", "guideline": None}
        return {**common, "key": "none", "trace": "", **empty}
    return {
        **common,
        "key": f"{offer.lease}:{zlib.crc32(offer.message.encode('utf-8', 'surrogatepass'))}",
        "trace": offer.trace,
        "message": offer.message,
        "draft": offer.draft.body() if offer.draft else None,
        "questions": [
            {
                "id": question.id,
                "type": question.type,
                "text": question.text,
                "labels": [
                    {"name": label.name, "title": label.title, "key": label.key}
                    for label in question.labels
                ],
            }
            for question in offer.questions
        ],
        "guideline": {"version": offer.guideline_version, "text": offer.guideline},
    }


@st.fragment
def work(person: Person, sample: Sample) -> None:
    """The trace and the desk. Only this part runs again when a label is given."""
    store = the_store()
    offer = next_item(store, person, sample.id)
    st.session_state["sample_shown"] = sample.id
    left, right = st.columns([2.7, 1], gap="medium")
    with left, st.container(key="reading"):
        if offer is None:
            note(
                "Nothing is left here for you. Thank you; others may still be at work. What you"
                " said last can be taken back with z."
            )
        else:
            st.session_state["views_shown"] = {offer.trace: offer.view_digest}
            trace(offer.view, blind=True, quoting=True)
    with right, st.container(key="desk"):
        data = desk_data(person, offer, progress(store, person, sample.id))
        act, draft = annotate_desk(data, key=DESK, on_act=acted, on_draft=drafted)
    state = DeskState(DESK)
    state.draft(draft, keep)
    if state.act(act, do):
        st.rerun()


def seated(person: Person) -> bool:
    """Whether to hand out a trace: to annotators at once, to others when they ask for it.

    Who looks at others' labels all day must not take an item by opening the app.
    """
    return not allowed(person, Right.SEE_LABELS) or st.query_params.get(SEAT) == "taken"


def sit_down() -> None:
    """The address remembers it, so that a reload comes back to the trace."""
    st.query_params[SEAT] = "taken"


try:
    me = signed_in()
    mine = samples_for(the_store(), me)
except Fault:
    head("Annotate")
    raise
if mine and seated(me):
    with st.container(key="desk_top", horizontal=True, vertical_alignment="center"):
        head("Annotate")
        sample = choose_sample(mine)
    work(me, sample)
elif mine:
    head("Annotate")
    note("You may also see what others said. Traces you have seen labels of are not offered here.")
    st.button("Start labelling", key="start", type="primary", on_click=sit_down)
else:
    head("Annotate")
    note(
        "No sample is open for you. An admin draws one on the page Samples, or opens one and gives"
        " it to you; then load this page again."
    )
