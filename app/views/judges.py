"""Judges: each judge, the rule and the ensemble against what people decided."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app.cells import Cells, choose_cell
from app.charts import Spot, forest, show_chart
from app.choosing import choose_question, choose_sample, titles
from app.components.grid import grid
from app.jump import MOST, follow, trace_list
from app.opened import the_store
from app.plain import cards, head, named, note
from app.who import signed_in
from app.wording import between, counted, defined, percent, three
from labelkit.domain.person import Person
from labelkit.workflows.browse import Interval, Number, Undefined, limits
from labelkit.workflows.review.adjudicate import saw_labels
from labelkit.workflows.review.judge_quality import JudgeLine, JudgeQuality, judge_quality
from labelkit.workflows.review.samples import every_sample
from labelkit.workflows.review.schemes import rubric_in


def line_row(line: JudgeLine) -> tuple[str, ...]:
    """One judge at a glance."""
    report, quotes = line.report, line.quotes
    lost = f"{quotes.unresolved:,} of {quotes.quotes:,}" if quotes.quotes else ""
    return (
        line.name,
        line.kind,
        percent(report.accuracy.value),
        between(report.accuracy.interval, share=True),
        percent(report.balanced_accuracy),
        three(report.kappa.value),
        between(report.kappa.interval),
        three(report.mcc),
        percent(report.coverage.value),
        lost,
    )


def show_lines(quality: JudgeQuality) -> None:
    """All judges side by side."""
    numbers = (
        "accuracy",
        "95% interval",
        "mean recall",
        "kappa",
        "95% of kappa",
        "MCC",
        "labelled",
        "quotes not found",
    )
    rows = [line_row(line) for line in quality.judges]
    shares = {"labelled": [defined(line.report.coverage.value) for line in quality.judges]}
    columns = ("rater", "kind", *numbers)
    grid("Judges", columns, rows, key="judges", numbers=numbers, shares=shares)
    spots = [
        one
        for line in quality.judges
        for series, value, interval in (
            ("accuracy", line.report.accuracy.value, line.report.accuracy.interval),
            ("kappa", line.report.kappa.value, line.report.kappa.interval),
        )
        for one in spot(line.name, value, interval, series)
    ]
    if spots:
        said = "Accuracy and kappa, with 95% intervals, by rater; see Judges."
        show_chart(forest(spots, "accuracy and kappa, 95% interval"), said, key="judges_forest")


def spot(row: str, value: Number, interval: Interval | Undefined, series: str = "") -> list[Spot]:
    """An estimate for a chart; nothing where it is undefined."""
    shown = defined(value)
    low, high = limits(interval) or (None, None)
    return [] if shown is None else [Spot(row, shown, low, high, series)]


def show_rates(line: JudgeLine) -> None:
    """Raw rates beside corrected ones."""
    st.subheader("Published rates, raw and corrected")
    columns = (
        "rate",
        "meaning",
        "raw",
        "people alone",
        "95% interval",
        "Rogan-Gladen",
        "95% of R.-G.",
        "PPI++",
        "95% of PPI++",
        "traces with both",
    )
    rows = []
    for rate in line.rates:
        undone, helped = rate.rogan_gladen, rate.ppi
        rows.append(
            (
                rate.name,
                rate.title,
                percent(rate.raw.value),
                percent(rate.people.value),
                between(rate.people.interval, share=True),
                percent(undone if isinstance(undone, Undefined) else undone.value),
                "" if isinstance(undone, Undefined) else between(undone.interval, share=True),
                percent(helped if isinstance(helped, Undefined) else helped.value),
                "" if isinstance(helped, Undefined) else between(helped.interval, share=True),
                f"{rate.n_both:,}",
            )
        )
    draw_rates(line)
    grid("Rates", columns, rows, key="judge_rates", numbers=columns[2:])
    note(
        "Raw: this rater's rate over the whole frame. People alone: the sample, weighted. The two"
        " corrected ones undo the rater's errors as people found them on the sample."
    )


def draw_rates(line: JudgeLine) -> None:
    """Every rate raw, by people, and corrected, with intervals."""
    spots: list[Spot] = []
    for rate in line.rates:
        spots += spot(rate.name, rate.raw.value, rate.raw.interval, "raw")
        spots += spot(rate.name, rate.people.value, rate.people.interval, "people alone")
        for name, found in (("Rogan-Gladen", rate.rogan_gladen), ("PPI++", rate.ppi)):
            if not isinstance(found, Undefined):
                spots += spot(rate.name, found.value, found.interval, name)
    if spots:
        said = "Rates raw, by people alone and corrected, with 95% intervals; the table Rates."
        drawing = forest(spots, "rate, 95% interval", percent=True)
        show_chart(drawing, said, key="judge_rates_forest")


def draw_classes(line: JudgeLine, names: Mapping[str, str]) -> None:
    """Precision and recall by label, with intervals."""
    spots: list[Spot] = []
    for one in line.report.classes:
        row = names.get(str(one.label), str(one.label))
        spots += spot(row, one.precision.value, one.precision.interval, "precision")
        spots += spot(row, one.recall.value, one.recall.interval, "recall")
    st.subheader("Precision and recall by label")
    if not spots:
        note("There is no label yet that both people and this rater have given.")
        return
    said = "Precision and recall by label with 95% intervals; the table By label has the numbers."
    drawing = forest(spots, "share, 95% interval", percent=True, width=160)
    show_chart(drawing, said, key="judge_classes_forest")


def show_classes(line: JudgeLine, names: Mapping[str, str]) -> None:
    """Precision and recall by label."""
    columns = (
        "label",
        "precision",
        "95% of precision",
        "recall",
        "95% of recall",
        "F1",
        "people gave it",
    )
    rows = [
        (
            names.get(str(one.label), str(one.label)),
            percent(one.precision.value),
            between(one.precision.interval, share=True),
            percent(one.recall.value),
            between(one.recall.interval, share=True),
            three(one.f1),
            f"{one.support:,}",
        )
        for one in line.report.classes
    ]
    grid("By label", columns, rows, key="judge_classes", numbers=columns[1:])


def show_cells(
    person: Person, quality: JudgeQuality, line: JudgeLine, names: Mapping[str, str]
) -> None:
    """Truth against judge, and the traces of one cell."""
    st.subheader("Where it goes wrong")
    counts = [[len(cell) for cell in row] for row in line.cells]
    cell = choose_cell(
        Cells(
            [names.get(label, label) for label in quality.labels],
            counts,
            rows="people say",
            columns=f"{line.name} says",
        ),
        key="judges",
        title="Traces of a cell: people's label and the rater's",
    )
    if cell:
        digests = line.cells[cell[0]][cell[1]]
        saw_labels(the_store(), person, digests[:MOST])
        trace_list("Traces of the cell", digests, key="judge_traces")
    if line.missing:
        note(f"{len(line.missing):,} traces with a true label have none of this rater.")


def show_drift(quality: JudgeQuality) -> None:
    """Two identities of one name."""
    if not quality.drift:
        return
    st.subheader("Drift between identities of one name")
    columns = (
        "rater",
        "earlier",
        "later",
        "same label",
        "kappa",
        "right before",
        "95% before",
        "right now",
        "95% now",
    )
    rows = [
        (
            one.name,
            one.earlier[:12],
            one.later[:12],
            percent(one.same.value),
            three(one.kappa.value),
            percent(one.right[0].value),
            between(one.right[0].interval, share=True),
            percent(one.right[1].value),
            between(one.right[1].interval, share=True),
        )
        for one in quality.drift
    ]
    spots: list[Spot] = []
    for one in quality.drift:
        row = f"{one.name} {one.earlier[:6]}, {one.later[:6]}"
        for series, right in zip(("right before", "right now"), one.right, strict=True):
            spots += spot(row, right.value, right.interval, series)
    if spots:
        said = "Share of right labels before and now, with 95% intervals; the table Drift."
        drawing = forest(spots, "as people decided, 95% interval", percent=True)
        show_chart(drawing, said, key="drift_forest")
    grid("Drift", columns, rows, key="drift", numbers=columns[3:])


@st.fragment
def work(person: Person, sample: str, question: str, names: Mapping[str, str]) -> None:
    """Everything below the choice."""
    follow()
    # A spinner shows only where this takes a moment: where numbers were not kept.
    with st.spinner("Reading every label of the frame"):
        quality = judge_quality(the_store(), person, sample, question)
    gold = quality.gold
    cards(
        [
            ("Traces in the sample", f"{quality.n_items:,}", "held against people's labels"),
            ("Decided", f"{gold.decided:,}", "by an adjudicator"),
            ("Agreed", f"{gold.agreed:,}", "all people gave the same label"),
            ("No true label yet", f"{sum(gold.open.values()):,}", counted(gold.open)),
        ]
    )
    if not quality.judges:
        note("No judge and no rule has labelled this rubric; run `labelkit judge` first.")
        return
    show_lines(quality)
    raters = named([line.name for line in quality.judges])
    place = st.selectbox(
        "Rater to look into",
        range(len(raters)),
        format_func=lambda i: raters[i],
        key="judge_choice",
        width=340,
    )
    line = quality.judges[min(place, len(raters) - 1)]
    left, right = st.columns([1, 1], gap="large")
    with left:
        show_cells(person, quality, line, names)
    with right:
        draw_classes(line, names)
    show_classes(line, names)
    show_rates(line)
    show_drift(quality)
    for remark in quality.remarks:
        note(remark)


me = signed_in()
every = every_sample(the_store(), me)
with st.container(horizontal=True, vertical_alignment="center"):
    head("Judges")
    if every:
        chosen_sample = choose_sample(every)
        frozen = rubric_in(the_store(), chosen_sample.design.rubric_digest)
        asked_for = choose_question(frozen, chosen_sample)
if every:
    work(me, chosen_sample.id, asked_for, titles(frozen, asked_for))
else:
    note("There is no sample yet; an admin draws one on the page Samples.")
