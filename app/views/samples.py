"""Samples: where the work stands, a sample planned and drawn, given to people, opened or closed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.charts import bars, show_chart, stacked_days
from app.components.grid import grid
from app.opened import the_browser, the_store
from app.plain import cards, head, named, note, problem
from app.who import signed_in
from app.wording import counted, defined, percent, points
from labelkit.domain.person import Person
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import AllocationMethod, DrawMethod
from labelkit.workflows.browse import Fault
from labelkit.workflows.review.access import Right, allowed
from labelkit.workflows.review.overview import Overview, SampleLine, overview
from labelkit.workflows.review.packing import packed_apart
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
DRAWN: dict[DrawMethod, str] = {
    "uniform": "every trace with the same chance",
    "mixed": "half of them where raters part",
}
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
                f"{sum(line.abandoned for line in samples):,} left alone go back to the pool",
            ),
            ("On the last day", f"{last:,}", f"labels on {today}" if today else ""),
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
    shares = {"done": [line.given / line.wanted if line.wanted else None for line in found.samples]}
    grid("Samples", columns, rows, key="samples", numbers=numbers, shares=shares)


def show_days(found: Overview) -> None:
    """Labels by day and person, and how long each person takes."""
    chart, pace = st.columns([1.7, 1], gap="large")
    with chart:
        st.subheader(f"Labels per day, the last {DAYS} days")
        if found.days:
            counts = [(day.day, day.person, day.labels) for day in found.days]
            said = "Labels per day by person; People has the sums."
            show_chart(stacked_days(counts, DAYS), said, key="days_chart")
        else:
            note(
                "Nobody has labelled anything yet. Those a sample is given to find it on Annotate."
            )
    timed = [(line.name, line.median_s) for line in found.people if line.median_s is not None]
    if timed:
        with pace:
            st.subheader("Pace")
            said = "Median seconds per label by person; the table People has the numbers."
            drawing = bars(timed, "median seconds at work per label, last 200")
            show_chart(drawing, said, key="pace_chart")


def show_people(found: Overview) -> None:
    """Who works here."""
    st.subheader("People")
    numbers = ("labels", "skips", "taken back", "median s per label")
    columns = ("person", "role", *numbers, "last label, UTC")
    rows = [
        (
            line.name,
            f"{line.role.value}{', retired' if line.retired else ''}",
            f"{line.labels:,}",
            f"{line.skips:,}",
            f"{line.undone:,}",
            "" if line.median_s is None else f"{line.median_s:.0f}",
            "" if line.last is None else f"{line.last:%Y-%m-%d %H:%M}",
        )
        for line in found.people
    ]
    grid("People", columns, rows, key="people", numbers=numbers)


def active_names(found: Overview) -> list[str]:
    """Names of those who can be given a sample."""
    return [line.name for line in found.people if not line.retired]


def ask_wanted(method: DrawMethod) -> Wanted:
    """The other wishes for a sample."""
    first, second, third, fourth = st.columns(4)
    with first:
        margin = st.number_input(
            "Margin, \u00b1 points", 0.5, 49.0, 5.0, 0.5, format="%g", key="new_margin"
        )
        overlap = st.number_input("People per trace", 1, 20, 2, key="new_overlap")
    with second:
        confidence = st.number_input(
            "Confidence, %", 50.0, 99.9, 95.0, 1.0, format="%g", key="new_confidence"
        )
        repeats = st.number_input(
            "Hidden repeats, % of traces", 0.0, 50.0, 0.0, 1.0, format="%g", key="new_repeats"
        )
    with third:
        strata = st.multiselect("Strata", STRATA, placeholder="none", key="new_strata")
        allocation: AllocationMethod = "proportional"
        if strata:
            allocation = st.selectbox("Traces over strata", SPLITS, key="new_allocation")
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
        method=method,
        overlap=overlap,
        repeats_share=repeats / 100,
        seed=seed,
    )


def show_plan(made: SamplePlan) -> None:
    """What would be drawn."""
    sizes, lean = made.plan, made.lean
    width = sizes.half_width if lean is None else lean.half_width
    facts = [
        ("Traces to draw", f"{sizes.n:,}", f"of {sizes.wish.population or 0:,}"),
        ("Labels people give", f"{made.labels:,}", "hidden repeats included"),
        (
            "Expected interval",
            f"{points(width)} points",
            f"at {sizes.wish.confidence:.0%} for a rate of 50%, Wilson",
        ),
        ("Cannot be drawn", f"{sum(made.excluded.values()):,}", counted(made.excluded)),
    ]
    if lean is not None:
        said = f"of {lean.doubted:,} in the store; a draw by even chance would hold"
        facts += [
            ("Where raters part", f"about {lean.expected:,.0f}", f"{said} {lean.evenly:,.0f}"),
            ("As sure as", f"{lean.effective_n:,.0f} traces", "drawn by even chance, for a rate"),
        ]
    cards(facts)
    if lean is not None:
        note(
            "Raters are the rules and judges; a trace that none of them labelled counts as one on"
            " which they part. Each trace keeps its chance, and every rate is weighted by it."
        )
    if sizes.strata:
        columns = ("stratum", "traces", "to draw", "share of them", "expected interval, points")
        rows = [
            (
                part.name,
                f"{part.size:,}",
                f"{part.n:,}",
                percent(part.inclusion),
                points(part.half_width),
            )
            for part in sizes.strata
        ]
        shares = {"share of them": [defined(part.inclusion) for part in sizes.strata]}
        grid("Plan", columns, rows, key="plan", numbers=columns[1:], shares=shares)


@st.fragment
def create(person: Person, found: Overview, rubrics: dict[str, Rubric]) -> None:
    """Plan a sample, look at the plan, draw it."""
    st.subheader("Draw a sample")
    left, middle, right = st.columns(3)
    with left:
        name = st.selectbox("Rubric", list(rubrics), key="new_rubric")
    with middle:
        people = st.multiselect(
            "Given to", active_names(found), placeholder="everybody", key="new_people"
        )
    with right:
        method: DrawMethod = st.selectbox(
            "Chances", list(DRAWN), format_func=lambda way: DRAWN[way], key="new_method"
        )
    wanted = ask_wanted(method)
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
    note(
        "A closed sample hands out no more traces; those in hands may be finished. Nothing is lost,"
        " and it can be opened again."
    )
    with st.container(horizontal=True):
        if st.button("Save the people", key="save_people", disabled=people == list(line.people)):
            act(lambda: give_to(the_store(), person, chosen, people), "The people are saved.")
        is_open = line.sample.open
        if st.button("Close this sample" if is_open else "Open it again", key="toggle_open"):
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
                made = packed_apart(the_store(), person, chosen)
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
may_manage = allowed(me, Right.MANAGE_SAMPLES)
if standing.samples:
    show_cards(standing)
    show_samples(standing)
    show_days(standing)
elif may_manage:
    note(
        "There is no sample yet. Draw one below; everybody it is given to then finds it on the page"
        " Annotate."
    )
else:
    note("There is no sample yet; an admin draws one on this page.")
if may_manage and not standing.samples:
    create(me, standing, offered_rubrics(the_store()))
show_people(standing)
if standing.samples and may_manage:
    create(me, standing, offered_rubrics(the_store()))
    manage(me, standing)
if standing.samples and allowed(me, Right.EXPORT):
    export_one(me, standing)
