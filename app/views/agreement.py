"""Agreement: the people's labels against each other, while they arrive.

The page asks every few seconds whether anything was added, and computes anew only then. The numbers
are those of ``labelkit agree --sample``.
"""

from __future__ import annotations

import altair as alt
import pandas as pd
import streamlit as st

from app.cells import Cells, choose_cell
from app.choosing import choose_question, choose_sample
from app.components.grid import grid
from app.jump import MOST, follow, trace_list
from app.numbers import between, percent, three
from app.opened import app_settings, the_store
from app.plain import cards, head, note, problem
from app.who import signed_in
from labelkit.domain.person import Person
from labelkit.domain.rubric import Rubric
from labelkit.workflows.browse import Coefficient, Number, limits, number_or_reason
from labelkit.workflows.review.adjudicate import saw_labels
from labelkit.workflows.review.live import Live, agreement, version
from labelkit.workflows.review.samples import every_sample
from labelkit.workflows.review.schemes import rubric_in

KEPT = "agreement_kept"
NAMES = {
    "percent_agreement": "Raw agreement",
    "cohen_kappa": "Cohen's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac": "Gwet's AC1",
    "krippendorff_alpha": "Krippendorff's alpha",
}


def live_of(person: Person, sample: str, question: str) -> Live:
    """Return the agreement, computed anew only when a label was added."""
    store = the_store()
    asked = (person.id, sample, question, version(store, sample))
    known = st.session_state.get(KEPT)
    if known is None or known[0] != asked:
        known = st.session_state[KEPT] = (asked, agreement(store, person, sample, question))
    found: Live = known[1]
    return found


def titles(rubric: Rubric, question: str) -> dict[str, str]:
    """Titles of the labels."""
    return {label.name: label.title for label in rubric.question(question).labels}


def show_cards(live: Live) -> None:
    """What is seen at once."""
    known = {found.name: found for found in live.groups[0].coefficients}
    facts = []
    for name, title in NAMES.items():
        if name in known:
            found = known[name]
            share = name == "percent_agreement"
            value = percent(found.value) if share else three(found.value)
            interval = between(found.interval, share=share)
            facts.append((title, value, f"95% {interval}" if interval else "no interval"))
    facts.append(
        (
            "Labels",
            f"{live.n_labels:,}",
            f"{live.n_complete:,} of {live.n_items:,} traces have all of theirs",
        )
    )
    cards(facts)
    if live.groups[0].remark:
        problem(live.groups[0].remark)


def show_confusion(person: Person, live: Live, names: dict[str, str]) -> None:
    """The heat map, and the traces of one cell."""
    st.subheader("Which labels are confused")
    pairs = ["all pairs together"]
    people = [(a, b) for i, a in enumerate(live.people) for b in live.people[i + 1 :]]
    pairs += [f"pair {i + 1}" for i in range(len(people))]
    shown = {name: name for name in pairs}
    shown |= {f"pair {i + 1}": f"{a} and {b}" for i, (a, b) in enumerate(people)}
    chosen = st.selectbox(
        "Raters", pairs, format_func=lambda pair: shown[pair], key="agreement_pair"
    )
    pair = None if chosen == pairs[0] else people[pairs.index(chosen) - 1]
    table = live.confusion(*pair) if pair else live.confusion()
    wording = [names[label] for label in table.labels]
    cell = choose_cell(
        Cells(
            wording,
            table.counts,
            rows=table.first or "one of a pair",
            columns=table.second or "the other",
        ),
        key="agreement",
        title="Traces on which they part",
    )
    if cell is None:
        return
    digests = table.traces[cell[0]][cell[1]]
    saw_labels(the_store(), person, digests[:MOST])
    trace_list("Traces of the cell", digests, key="agreement_traces")


def over_time(live: Live) -> pd.DataFrame:
    """Alpha by day with its interval."""
    rows = []
    for group in live.groups:
        kind, _, when = group.group.partition("=")
        if kind != "day":
            continue
        found = next((c for c in group.coefficients if c.name == "krippendorff_alpha"), None)
        value = number_or_reason(found.value) if found else None
        if found is None or not isinstance(value, float):
            continue
        ends = limits(found.interval) or (value, value)
        rows.append({"day": when, "alpha": value, "low": ends[0], "high": ends[1]})
    return pd.DataFrame(rows)


def show_time(live: Live) -> None:
    """Alpha over the days, where there is more than one."""
    frame = over_time(live)
    if len(frame) < 2:
        return
    st.subheader("Krippendorff's alpha by day, with its interval")
    base = alt.Chart(frame, height=220).encode(x=alt.X("day:O", title=None))
    share = alt.Scale(domain=[min(0.0, float(frame["low"].min())), 1])
    band = base.mark_rule(strokeWidth=3, color="#8390B8").encode(
        y=alt.Y("low:Q", scale=share, title="alpha"), y2="high:Q"
    )
    line = base.mark_line(point=True).encode(y=alt.Y("alpha:Q", scale=share))
    st.altair_chart(alt.layer(band, line), width="stretch")


def coefficient_row(who: str, found: Coefficient) -> tuple[str, ...]:
    """One coefficient."""
    return (
        who,
        found.name.replace("_", " "),
        three(found.value),
        between(found.interval),
        percent(found.observed),
        f"{found.n_items:,}",
    )


def show_tables(live: Live) -> None:
    """Pairs, strata, labels, repeats."""
    columns = ("raters", "coefficient", "value", "95% interval", "observed", "n")
    whole = live.groups[0]
    rows = [coefficient_row(f"{p.first} and {p.second}", p.result) for p in whole.pairs]
    rows += [coefficient_row("all", found) for found in whole.coefficients]
    st.subheader("Every coefficient")
    grid("Coefficients", columns, rows, key="coefficients", numbers=columns[2:])
    if len(live.groups) > 1:
        st.subheader("By stratum, day and guideline")
        strata = [
            (group.group, *coefficient_row("", found)[1:])
            for group in live.groups[1:]
            for found in group.coefficients
            if found.name in NAMES
        ]
        columns = ("group", *columns[1:])
        grid("By stratum", columns, strata, key="strata", numbers=columns[2:])
    st.subheader("By label")
    by_label = ("label", "share of ratings", "specific agreement", "ratings")
    labels = [
        (str(c.label), percent(c.share), percent(c.specific), f"{c.n_ratings:,}")
        for c in whole.categories
    ]
    grid("By label", by_label, labels, key="by_label", numbers=by_label[1:])
    if live.consistency:
        st.subheader("Each person with himself or herself, on hidden repeats")
        steady = ("person", "same label", "95% interval", "kappa", "n")
        own = [
            (
                one.person,
                percent(one.same.value),
                between(one.same.interval, share=True),
                three(one.kappa.value),
                f"{one.same.n:,.0f}",
            )
            for one in live.consistency
        ]
        grid("Repeats", steady, own, key="repeats", numbers=steady[1:])


def show_needed(live: Live, names: dict[str, str]) -> None:
    """How many labels are missing."""
    st.subheader("How many more traces until the intervals are narrow enough")
    width = st.number_input(
        "Half-width in points",
        min_value=1.0,
        max_value=50.0,
        value=5.0,
        step=1.0,
        key="agreement_width",
        width=220,
    )
    found = live.needed(width / 100)
    columns = ("what", "half-width now", "traces needed", "still to come")
    rows = [
        (
            f"share of {names.get(share.label, share.label)}",
            percent(share.more.half_width_now),
            whole_number(share.more.needed),
            whole_number(share.more.more),
        )
        for share in found.shares
    ]
    rows += [
        (
            NAMES.get(one.name, one.name),
            three(one.half_width_now),
            whole_number(one.needed),
            whole_number(one.more),
        )
        for one in found.coefficients
    ]
    grid("Needed", columns, rows, key="needed", numbers=columns[1:])


def whole_number(value: Number) -> str:
    """A count, or the reason in brackets."""
    shown = number_or_reason(value)
    return f"({shown})" if isinstance(shown, str) else f"{shown:,.0f}"


@st.fragment(run_every=app_settings().refresh_s)
def work(person: Person, sample: str, question: str, names: dict[str, str]) -> None:
    """Everything below the choice; looks again and again whether a label was added."""
    follow()
    live = live_of(person, sample, question)
    if not live.n_labels:
        note("Nobody has labelled anything of this sample yet.")
        return
    show_cards(live)
    left, right = st.columns([1.1, 1], gap="large")
    with left:
        show_confusion(person, live, names)
        show_time(live)
    with right:
        show_needed(live, names)
    show_tables(live)


me = signed_in()
every = every_sample(the_store(), me)
with st.container(horizontal=True, vertical_alignment="center"):
    head("Agreement")
    if every:
        chosen_sample = choose_sample(every)
        frozen = rubric_in(the_store(), chosen_sample.design.rubric_digest)
        asked_for = choose_question(frozen, chosen_sample)
if every:
    work(me, chosen_sample.id, asked_for, titles(frozen, asked_for))
else:
    note("There is no sample yet; an admin draws one on the page Samples.")
