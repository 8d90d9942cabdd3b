"""Agreement: the people's labels against each other, while they arrive.

The page asks every few seconds whether anything was added, and computes anew only then. The numbers
are those of ``labelkit agree --sample``.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.cells import Cells, choose_cell
from app.charts import Spot, forest, over_days, show_chart
from app.choosing import choose_question, choose_sample, titles
from app.components.grid import grid
from app.jump import MOST, follow, trace_list
from app.opened import app_settings, the_store
from app.plain import cards, head, note, warning
from app.who import signed_in
from app.wording import between, defined, percent, points, three, whole_number
from labelkit.domain.person import Person
from labelkit.workflows.agreement_words import name_of as known_name
from labelkit.workflows.browse import Coefficient, limits
from labelkit.workflows.review.adjudicate import saw_labels
from labelkit.workflows.review.live import Live, agreement
from labelkit.workflows.review.samples import every_sample
from labelkit.workflows.review.schemes import rubric_in

NAMES = {
    "percent_agreement": "Raw agreement",
    "cohen_kappa": "Cohen's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac": "Gwet's AC1",
    "krippendorff_alpha": "Krippendorff's alpha",
}


def name_of(found: Coefficient, live: Live) -> str:
    """A coefficient's name as people know it, and as the terminal says it."""
    name = NAMES.get(found.name) or known_name(found.name, live.groups[0].scale)
    return name[:1].upper() + name[1:]


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
            facts.append((title, value, f"95% interval {interval}" if interval else "no interval"))
    facts.append(
        (
            "Labels",
            f"{live.n_labels:,}",
            f"{live.n_complete:,} of {live.n_items:,} traces have all of theirs",
        )
    )
    cards(facts)
    if live.groups[0].remark:
        warning(live.groups[0].remark)


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
            rows=table.first or "one person of a pair",
            columns=table.second or "the other person",
        ),
        key="agreement",
        title="Traces on which they part",
    )
    if cell is None:
        return
    digests = table.traces[cell[0]][cell[1]]
    saw_labels(the_store(), person, digests[:MOST])
    trace_list("Traces of the cell", digests, key="agreement_traces")


def spot(row: str, found: Coefficient, series: str = "") -> list[Spot]:
    """A coefficient for a chart; nothing where it is undefined."""
    value = defined(found.value)
    low, high = limits(found.interval) or (None, None)
    return [] if value is None else [Spot(row, value, low, high, series)]


def show_forest(live: Live) -> None:
    """Every coefficient with its interval, then Cohen's kappa of every pair."""
    whole = live.groups[0]
    spots = [one for c in whole.coefficients for one in spot(name_of(c, live), c)]
    if len(whole.pairs) > 1:
        for p in whole.pairs:
            spots += spot(f"{p.first} and {p.second}", p.result)
    if not spots:
        return
    st.subheader("How far they agree")
    said = "Coefficients with 95% intervals; the table Every coefficient has the numbers."
    drawing = forest(spots, "agreement, 95% interval; 0 is chance", mark=0.0)
    show_chart(drawing, said, key="agreement_forest")


def show_time(live: Live) -> None:
    """Raw agreement and alpha over the days, where there is more than one."""
    drawn = {"percent_agreement": "Raw agreement", "krippendorff_alpha": "Krippendorff's alpha"}
    days = [group for group in live.groups if group.group.startswith("day=")]
    spots = [
        one
        for group in days
        for c in group.coefficients
        if c.name in drawn
        for one in spot(group.group.partition("=")[2], c, drawn[c.name])
    ]
    if len({one.row for one in spots}) < 2:
        return
    st.subheader("Agreement by day")
    said = "Agreement by day with 95% intervals; the table By day has the numbers."
    show_chart(over_days(spots, "agreement, 95% interval"), said, key="agreement_days")
    note(
        "A trace belongs to the day of its last label. Days without two labels are left out;"
        " intervals that reach below the axis are cut."
    )


def coefficient_row(who: str, found: Coefficient, live: Live) -> tuple[str, ...]:
    """One coefficient."""
    return (
        who,
        name_of(found, live),
        three(found.value),
        between(found.interval),
        percent(found.observed),
        f"{found.n_items:,}",
    )


def show_groups(live: Live, kind: str, title: str) -> None:
    """One row per stratum, guideline version or day: its coefficients side by side."""
    groups = [group for group in live.groups[1:] if group.group.startswith(f"{kind}=")]
    if not groups:
        return
    names = [
        name
        for name in NAMES
        if any(found.name == name for group in groups for found in group.coefficients)
    ]
    shown = [NAMES[name] for name in names]
    columns = (kind, "traces", *shown, "95% interval of alpha")
    rows = []
    for group in groups:
        known = {found.name: found for found in group.coefficients}
        alpha = known.get("krippendorff_alpha")
        rows.append(
            (
                group.group.partition("=")[2],
                f"{group.n_items:,}",
                *(
                    ""
                    if name not in known
                    else percent(known[name].value)
                    if name == "percent_agreement"
                    else three(known[name].value)
                    for name in names
                ),
                between(alpha.interval) if alpha else "",
            )
        )
    st.subheader(title)
    grid(title, columns, rows, key=f"by_{kind}", numbers=columns[1:])


def show_tables(live: Live) -> None:
    """Coefficients over all, by stratum, guideline and day."""
    columns = ("people", "coefficient", "value", "95% interval", "raw agreement", "traces")
    whole = live.groups[0]
    rows = [coefficient_row(f"{p.first} and {p.second}", p.result, live) for p in whole.pairs]
    rows += [coefficient_row("all", found, live) for found in whole.coefficients]
    st.subheader("Every coefficient")
    grid("Every coefficient", columns, rows, key="coefficients", numbers=columns[2:])
    show_groups(live, "stratum", "By stratum")
    show_groups(live, "guideline", "By guideline version")
    show_groups(live, "day", "By day")


def show_labels(live: Live, names: dict[str, str]) -> None:
    """How often each label is given, and how far people agree on it."""
    st.subheader("By label")
    columns = ("label", "labels given", "share of them", "agreement on it")
    found = live.groups[0].categories
    rows = [
        (
            names.get(str(c.label), str(c.label)),
            f"{c.n_ratings:,}",
            percent(c.share),
            percent(c.specific),
        )
        for c in found
    ]
    shares = {
        "share of them": [defined(c.share) for c in found],
        "agreement on it": [defined(c.specific) for c in found],
    }
    grid("By label", columns, rows, key="by_label", numbers=columns[1:], shares=shares)


def show_consistency(live: Live) -> None:
    """How steady each person is on traces that came twice."""
    if not live.consistency:
        return
    st.subheader("Each person with himself or herself")
    columns = ("person", "repeats", "same label", "95% interval", "kappa")
    rows = [
        (
            one.person,
            f"{one.same.n:,.0f}",
            percent(one.same.value),
            between(one.same.interval, share=True),
            three(one.kappa.value),
        )
        for one in live.consistency
    ]
    shares = {"same label": [defined(one.same.value) for one in live.consistency]}
    title = "Each person with himself or herself, on hidden repeats"
    grid(title, columns, rows, key="repeats", numbers=columns[1:], shares=shares)


def show_needed(live: Live, names: dict[str, str]) -> None:
    """How many labels are missing."""
    st.subheader("How many more traces until the intervals are narrow enough")
    width = st.number_input(
        "Wanted half-width, in points (5 is \u00b15% of a share, \u00b10.05 of a coefficient)",
        min_value=1.0,
        max_value=50.0,
        value=5.0,
        step=1.0,
        format="%g",
        key="agreement_width",
    )
    found = live.needed(width / 100)
    columns = ("what", "half-width now, points", "traces needed", "still to come")
    entries = [
        (
            f"share of {names.get(one.label, one.label)}",
            one.more.half_width_now,
            one.more.needed,
            one.more.more,
        )
        for one in found.shares
    ]
    entries += [
        (NAMES.get(one.name, one.name), one.half_width_now, one.needed, one.more)
        for one in found.coefficients
    ]
    draw_widths([(what, defined(now)) for what, now, _, _ in entries], width)
    rows = [
        (what, points(now), whole_number(needed), whole_number(more))
        for what, now, needed, more in entries
    ]
    grid("Needed", columns, rows, key="needed", numbers=columns[1:])


def draw_widths(widths: Sequence[tuple[str, float | None]], wanted: float) -> None:
    """Half-widths now, against the one that is wanted."""
    spots = [Spot(what, 100 * now, 0.0, 100 * now) for what, now in widths if now is not None]
    if not spots:
        return
    most = max(wanted, *(one.value for one in spots)) * 1.08
    drawing = forest(spots, "half-width now, points; line: wanted", domain=(0.0, most), mark=wanted)
    said = "Half-widths now beside the wanted one; the table Needed has the numbers."
    show_chart(drawing, said, key="agreement_widths")


@st.fragment(run_every=app_settings().refresh_s)
def work(person: Person, sample: str, question: str, names: dict[str, str]) -> None:
    """Everything below the choice; looks again and again whether a label was added."""
    follow()
    live = agreement(the_store(), person, sample, question)
    if not live.n_labels:
        note(
            "Nobody has labelled anything of this sample yet. Those it was given to find it on the"
            " page Annotate; numbers appear here with the first labels."
        )
        return
    show_cards(live)
    left, right = st.columns([1.1, 1], gap="large")
    with left:
        show_confusion(person, live, names)
        show_time(live)
        show_labels(live, names)
        show_consistency(live)
    with right:
        show_forest(live)
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
