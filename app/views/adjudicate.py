"""Adjudicate: labels that part, side by side, and the decision with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from app.choosing import choose_question, choose_sample
from app.components.desk import Said, adjudicate_desk
from app.components.trace import trace
from app.desk_state import DeskState
from app.opened import the_store
from app.plain import head, note, problem
from app.who import signed_in
from labelkit.domain.person import Person
from labelkit.domain.sample import Sample
from labelkit.workflows.browse import Fault
from labelkit.workflows.review.adjudicate import (
    Case,
    CaseLine,
    Fate,
    MachineOpinion,
    Opinion,
    Verdict,
    case,
    decide,
    known_tags,
    queue,
    reveal,
    send_back,
)
from labelkit.workflows.review.live import version
from labelkit.workflows.review.samples import every_sample
from labelkit.workflows.review.schemes import rubric_in

DESK = "adjudicate"
AT = "adjudicate_at"
QUEUE = "adjudicate_queue"
WORDS = {
    "disagreement": "the raters part",
    "judge_conflict": "the machines part from the raters",
    "flagged": "flagged",
    "skipped": "skipped by a rater",
}
DONE = {
    Fate.STORED: "Recorded.",
    Fate.REPEATED: "Recorded.",
    Fate.ALREADY: "Somebody decided meanwhile; this is the case as it is now.",
}


def lines_of(person: Person, sample: Sample, question: str, *, decided: bool) -> list[CaseLine]:
    """Return the queue, read anew only when a label or a decision was added."""
    store = the_store()
    asked = (sample.id, question, decided, version(store, sample.id))
    known = st.session_state.get(QUEUE)
    if known is None or known[0] != asked:
        lines = queue(store, person, sample.id, question, decided=decided)
        known = st.session_state[QUEUE] = (asked, list(lines))
    found: list[CaseLine] = known[1]
    return found


def where(lines: Sequence[CaseLine]) -> int:
    """Place of the case in work; the first when it has left the queue."""
    item = st.session_state.get(AT)
    return next((place for place, line in enumerate(lines) if line.item == item), 0)


def do(said: Said) -> str:
    """Do what the desk asks for; say in words what was done."""
    store, who, act = the_store(), signed_in(), str(said["act"])
    sample, item, question, seen = str(said["key"]).split(":")[:4]
    if act in {"prev", "next"}:
        items = [line.item for line in st.session_state[QUEUE][1]]
        here = items.index(int(item)) if int(item) in items else 0
        other = here + (1 if act == "next" else -1)
        st.session_state[AT] = items[min(len(items) - 1, max(0, other))] if items else None
        return ""
    if act == "reveal":
        reveal(store, who, sample, int(item), str(said["rater"]), question)
        return ""
    following = after(int(item))
    if act == "send_back":
        asked = send_back(store, who, sample, int(item), str(said["note"]))
        st.session_state[AT] = following
        return f"Sent back to {asked} raters." if asked else "Nobody has labelled it yet."
    verdict = Verdict(
        request_id=str(said["request_id"]),
        sample=sample,
        item=int(item),
        question=question,
        value=str(said["value"]) or None,
        reason=str(said["note"]),
        tags=[tag.strip() for tag in str(said["tags"]).split(",") if tag.strip()],
        guideline_gap=bool(said["gap"]),
        version=int(seen),
    )
    fate = decide(store, who, verdict)
    if fate is not Fate.ALREADY:
        st.session_state[AT] = following
    return DONE.get(fate, "")


def after(item: int) -> int | None:
    """The case that follows in the queue as it was shown."""
    items: list[int] = [line.item for line in st.session_state.get(QUEUE, (None, []))[1]]
    if item not in items or items.index(item) + 1 >= len(items):
        return None
    return items[items.index(item) + 1]


def go_to(item: int) -> None:
    """Another case is wanted."""
    st.session_state[AT] = item


def acted() -> None:
    """The desk has sent an act."""
    state = DeskState(DESK)
    state.act(state.incoming("act"), do)


def laid_out(opinion: Opinion | MachineOpinion) -> dict[str, Any]:
    """An opinion as the desk reads it."""
    return asdict(opinion) | {"quotes": [quote.model_dump() for quote in opinion.quotes]}


def desk_data(found: Case, lines: Sequence[CaseLine], place: int, person: Person) -> dict[str, Any]:
    """Everything the desk gets; names only once there is a decision."""
    state, line = DeskState(DESK), lines[place]
    opened = "Decided, so names are shown" if found.decided else "Names are hidden until you decide"
    question = found.question
    return {
        "person": person.id,
        "acks": state.acks,
        "fault": state.fault,
        "saved": state.saved,
        "key": f"{found.sample}:{found.item}:{question.id}:{len(found.history)}",
        "trace": found.trace,
        "draft": None,
        "case": f"Case {place + 1:,} of {len(lines):,}",
        "place": f"{', '.join(WORDS[reason] for reason in line.reasons)}; deciding it may move the"
        f" published rates by {100 * line.effect:.1f} points",
        "before": place > 0,
        "after": place + 1 < len(lines),
        "questions": [
            {
                "id": question.id,
                "type": "ordinal" if question.type == "ordinal" else "choice",
                "text": question.text,
                "labels": [
                    {"name": label.name, "title": label.title, "key": label.key}
                    for label in question.labels
                ],
            }
        ],
        "opinions_title": f"{len(found.opinions)} labels. {opened}.",
        "opinions": [laid_out(opinion) for opinion in found.opinions],
        "machines": [
            {**laid_out(machine), "note": machine.rationale} for machine in found.machines
        ],
        "history": [
            {
                "name": found.names.get(decision.person, ""),
                "value": decision.value,
                "reason": decision.reason,
                "tags": list(decision.tags),
                "gap": decision.guideline_gap,
                "when": f"{decision.created_at:%Y-%m-%d %H:%M UTC}",
            }
            for decision in found.history
        ],
        "known_tags": list(known_tags(the_store(), person)),
        "guideline": {"version": "", "text": found.guideline},
    }


@st.fragment
def work(person: Person, sample: Sample, question: str, decided: bool) -> None:
    """One case and the desk."""
    lines = lines_of(person, sample, question, decided=decided)
    if not lines:
        note(
            "No case is open here: nobody parts, nothing is flagged or skipped. Cases come with"
            " labels; \u201cDecided ones too\u201d shows those that are settled."
        )
        return
    place = where(lines)
    try:
        found = case(the_store(), person, sample.id, lines[place].item, question)
    except Fault as fault:
        problem(str(fault))
        other = lines[(place + 1) % len(lines)].item
        st.button("Another case", key="another_case", on_click=go_to, args=(other,))
        return
    st.session_state[AT] = found.item
    left, right = st.columns([2.3, 1], gap="medium")
    with left, st.container(key="reading"):
        trace(found.view, blind=True)
    with right, st.container(key="desk"):
        act = adjudicate_desk(desk_data(found, lines, place, person), key=DESK, on_act=acted)
    if DeskState(DESK).act(act, do):
        st.rerun()


me = signed_in()
samples = every_sample(the_store(), me)
if not samples:
    head("Adjudicate")
    note("There is no sample yet; an admin draws one on the page Samples.")
else:
    with st.container(key="desk_top", horizontal=True, vertical_alignment="center"):
        head("Adjudicate")
        chosen = choose_sample(samples)
        asked = choose_question(rubric_in(the_store(), chosen.guideline), chosen)
        also = st.toggle("Decided ones too", key="adjudicate_decided")
    work(me, chosen, asked, also)
