"""Samples: where the work stands, a sample planned and drawn, given to people, opened or closed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import altair as alt
import pandas as pd
import streamlit as st

from app.components.grid import grid
from app.numbers import counted, percent
from app.opened import the_browser, the_store
from app.plain import cards, head, named, note, problem, visible
from app.who import signed_in
from labelkit.domain.person import Person
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import AllocationMethod
from labelkit.workflows.browse import Fault
from labelkit.workflows.hand_out import packed_release
from labelkit.workflows.review.access import Right, allowed
from labelkit.workflows.review.overview import DayLine, Overview, SampleLine, overview
from labelkit.workflows.review.samples import (
    SamplePlan,
    Wanted,
    adopt_guideline,
    draw,
    give_to,
    plan,
    set_open,
)
from labelkit.workflows.rubric_choice import offered_rubrics, packaged

SPLITS: tuple[AllocationMethod, ...] = ("proportional", "equal", "neyman")
STRATA = ("model", "condition", "domain", "subset", "task_set", "ensemble", "disagreement")
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F")
DAYS = 30


def show_cards(found: Overview) -> None:
    """What is seen at once."""
    samples = found.samples
    given = sum(line.given for line in samples)
    wanted = sum(line.wanted for line in samples)
    today = max((day.day for day in found.days), default="")
    last = sum(day.labels for day in found.days if day.day == today)
    cards(
        [
            ("Labels", f"{given:,}", f"of {wanted:,} asked for"),
            (
                "Traces complete",
                f"{sum(line.complete for line in samples):,}",
                f"of {sum(line.n_items for line in samples):,} drawn",
            ),
            ("Decided", f"{sum(line.decided for line in samples):,}", "by adjudicators"),
            (
                "In hands now",
                f"{sum(line.in_hands for line in samples):,}",
                f"{sum(line.abandoned for line in samples):,} left alone, they return to the pool",
            ),
            ("On the last day", f"{last:,}", today),
        ]
    )


def sample_row(line: SampleLine) -> tuple[str, ...]:
    """One sample."""
    design = line.sample.design
    return (
        line.sample.id[:12],
        f"{design.rubric} {design.rubric_version}",
        ", ".join(design.strata) or "none",
        f"{line.n_items:,} of {design.frame_size:,}",
        f"{line.given:,} of {line.wanted:,}",
        percent(line.given / line.wanted if line.wanted else None),
        f"{line.complete:,}",
        f"{line.skipped:,}",
        f"{line.in_hands:,}",
        f"{line.decided:,}",
        ", ".join(line.people) or "everybody",
        "open" if line.sample.open else "closed",
    )


def show_samples(found: Overview) -> None:
    """All samples."""
    numbers = ("traces", "labels", "done", "complete", "skipped", "in hands", "decided")
    columns = ("sample", "rubric", "strata", *numbers, "people", "state")
    rows = [sample_row(line) for line in found.samples]
    grid("Samples", columns, rows, key="samples", numbers=numbers, empty="no sample yet")


def day_chart(days: Sequence[DayLine]) -> alt.Chart:
    """Labels by day and person."""
    shown = sorted({day.day for day in days})[-DAYS:]
    frame = pd.DataFrame(
        [
            {"day": d.day, "person": visible(d.person, 30), "labels": d.labels}
            for d in days
            if d.day in shown
        ]
    )
    chart: alt.Chart = (
        alt.Chart(frame, height=240)
        .mark_bar()
        .encode(
            x=alt.X("day:O", title=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("labels:Q", title="labels"),
            color=alt.Color(
                "person:N",
                title=None,
                scale=alt.Scale(range=list(COLOURS)),
                legend=alt.Legend(orient="bottom", columns=4),
            ),
        )
    )
    return chart


def show_people(found: Overview) -> None:
    """Who works here."""
    st.subheader("People")
    numbers = ("labels", "skips", "taken back", "seconds each")
    columns = ("person", "role", *numbers, "last label")
    rows = [
        (
            line.name,
            f"{line.role.value}{', retired' if line.retired else ''}",
            f"{line.labels:,}",
            f"{line.skips:,}",
            f"{line.undone:,}",
            "" if line.median_s is None else f"{line.median_s:.0f}",
            "" if line.last is None else f"{line.last:%Y-%m-%d %H:%M UTC}",
        )
        for line in found.people
    ]
    grid("People", columns, rows, key="people", numbers=numbers)


def active_names(found: Overview) -> list[str]:
    """Names of those who can be given a sample."""
    return [line.name for line in found.people if not line.retired]


def ask_wanted() -> Wanted:
    """The wishes for a sample."""
    first, second, third, fourth = st.columns(4)
    with first:
        margin = st.number_input("Margin in points", 0.5, 49.0, 5.0, 0.5, key="new_margin")
        overlap = st.number_input("People per trace", 1, 20, 2, key="new_overlap")
    with second:
        confidence = st.number_input(
            "Confidence in percent", 50.0, 99.9, 95.0, key="new_confidence"
        )
        repeats = st.number_input("Hidden repeats in percent", 0.0, 50.0, 0.0, key="new_repeats")
    with third:
        strata = st.multiselect("Strata", STRATA, placeholder="none", key="new_strata")
        allocation = st.selectbox("Split", SPLITS, key="new_allocation", disabled=not strata)
    with fourth:
        n = st.number_input(
            "Traces, instead of the margin", 1, None, None, key="new_n", placeholder="by the margin"
        )
        seed = st.number_input("Seed", 0, 2**31 - 1, 0, key="new_seed")
    return Wanted(
        margin=margin / 100,
        confidence=confidence / 100,
        n=n,
        strata=tuple(strata),
        allocation=allocation,
        overlap=overlap,
        repeats_share=repeats / 100,
        seed=seed,
    )


def show_plan(made: SamplePlan) -> None:
    """What would be drawn."""
    sizes = made.plan
    cards(
        [
            ("Traces to draw", f"{sizes.n:,}", f"of {sizes.wish.population or 0:,}"),
            ("Labels people give", f"{made.labels:,}", "hidden repeats included"),
            ("Expected half-width", percent(sizes.half_width), "of a rate of 50%, Wilson"),
            ("Not in the frame", f"{sum(made.excluded.values()):,}", counted(made.excluded)),
        ]
    )
    if sizes.strata:
        columns = ("stratum", "rows", "drawn", "share", "half-width")
        rows = [
            (
                part.name,
                f"{part.size:,}",
                f"{part.n:,}",
                percent(part.inclusion),
                percent(part.half_width),
            )
            for part in sizes.strata
        ]
        grid("Plan", columns, rows, key="plan", numbers=columns[1:])


@st.fragment
def create(person: Person, found: Overview, rubrics: dict[str, Rubric]) -> None:
    """Plan a sample, look at the plan, draw it."""
    st.subheader("Draw a sample")
    left, right = st.columns(2)
    with left:
        name = st.selectbox("Rubric", list(rubrics), key="new_rubric")
    with right:
        people = st.multiselect(
            "Given to", active_names(found), placeholder="everybody", key="new_people"
        )
    wanted = ask_wanted()
    try:
        made = plan(the_store(), person, rubrics[name], wanted)
    except Fault as fault:
        problem(str(fault))
        return
    show_plan(made)
    if made.exists:
        note(f"This very sample was drawn before: {made.id[:12]}.")
    elif st.button("Draw this sample", type="primary", key="draw"):
        try:
            drawn = draw(the_store(), person, rubrics[name], wanted, people=people)
        except Fault as fault:
            problem(str(fault))
            return
        st.session_state["samples_said"] = f"Sample {drawn.id[:12]} is drawn."
        st.rerun()


def manage(person: Person, found: Overview) -> None:
    """Give a sample to people, close it, put a later guideline in force."""
    st.subheader("A sample's people and state")
    lines = {line.sample.id: line for line in found.samples}
    left, right = st.columns(2)
    with left:
        chosen = choose_line("Sample", lines, "managed")
    line = lines[chosen]
    with right:
        people = st.multiselect(
            "Given to",
            sorted({*active_names(found), *line.people}),
            default=list(line.people),
            placeholder="everybody",
            key=f"people_of_{chosen}",
        )
    with st.container(horizontal=True):
        if st.button("Save the people", key="save_people", disabled=people == list(line.people)):
            act(lambda: give_to(the_store(), person, chosen, people), "The people are saved.")
        is_open = line.sample.open
        if st.button("Close" if is_open else "Open again", key="toggle_open"):
            act(
                lambda: set_open(the_store(), person, chosen, is_open=not is_open),
                "The sample is closed." if is_open else "The sample is open.",
            )
        later = packaged(line.sample.design.rubric)
        if (
            later
            and later.digest != line.sample.guideline
            and st.button("Put the later guideline in force", key="adopt")
        ):
            act(
                lambda: adopt_guideline(the_store(), person, chosen, later),
                f"New labels are given under {later.name} {later.version}.",
            )


def export_one(person: Person, found: Overview) -> None:
    """Pack a release, then offer it."""
    st.subheader("Export a release")
    lines = {line.sample.id: line for line in found.samples}
    chosen = choose_line("Sample to export", lines, "exported")
    if st.button("Prepare the release", key="prepare"):
        try:
            with st.spinner("Writing and checking every table"):
                made = packed_release(the_store(), person, chosen)
        except Fault as fault:
            problem(str(fault))
            return
        name, packed = made
        note(f"{name}, {len(packed) / 1e6:.1f} MB; check it with `labelkit verify`.")
        st.download_button("Download", packed, name, "application/zip", key="download")


def choose_line(title: str, lines: dict[str, SampleLine], key: str) -> str:
    """Ask for one of the samples."""
    names = named([f"{line.sample.design.rubric} {k[:8]}" for k, line in lines.items()])
    shown = dict(zip(lines, names, strict=True))
    chosen: str = st.selectbox(title, list(lines), format_func=lambda k: shown[k], key=key)
    return chosen


def act(what: Callable[[], object], said: str) -> None:
    """Do it, say so, and draw the page anew."""
    try:
        what()
    except Fault as fault:
        problem(str(fault))
        return
    st.session_state["samples_said"] = said
    st.rerun()


me = signed_in()
standing = overview(the_store(), me)
head("Samples", the_browser().place)
said = st.session_state.pop("samples_said", "")
if said:
    note(said)
show_cards(standing)
show_samples(standing)
chart, persons = st.columns([1, 1.2], gap="large")
with chart:
    st.subheader("Labels per day")
    if standing.days:
        st.altair_chart(day_chart(standing.days), width="stretch")
    else:
        note("Nobody has labelled anything yet.")
with persons:
    show_people(standing)
if standing.samples and allowed(me, Right.EXPORT):
    export_one(me, standing)
if allowed(me, Right.MANAGE_SAMPLES):
    known = offered_rubrics(the_store())
    if standing.samples:
        manage(me, standing)
    create(me, standing, known)
