"""Judges: each judge, the rule and the ensemble against what people decided."""

from __future__ import annotations

import streamlit as st

from app.cells import Cells, choose_cell
from app.choosing import choose_question, choose_sample
from app.components.grid import grid
from app.jump import MOST, follow, trace_list
from app.numbers import between, counted, percent, three
from app.opened import the_store
from app.plain import cards, head, named, note
from app.who import signed_in
from labelkit.domain.person import Person
from labelkit.workflows.browse import Undefined
from labelkit.workflows.review.adjudicate import saw_labels
from labelkit.workflows.review.judge_quality import JudgeLine, JudgeQuality, judge_quality
from labelkit.workflows.review.live import version
from labelkit.workflows.review.samples import every_sample
from labelkit.workflows.review.schemes import rubric_in

KEPT = "judges_kept"


def quality_of(person: Person, sample: str, question: str) -> JudgeQuality:
    """Return the numbers, computed anew only when a label or a decision was added."""
    store = the_store()
    asked = (person.id, sample, question, version(store, sample))
    known = st.session_state.get(KEPT)
    if known is None or known[0] != asked:
        with st.spinner("Reading every label of the frame"):
            found = judge_quality(store, person, sample, question)
        known = st.session_state[KEPT] = (asked, found)
    quality: JudgeQuality = known[1]
    return quality


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
        "95%",
        "balanced",
        "kappa",
        "95% of kappa",
        "MCC",
        "coverage",
        "quotes not found",
    )
    rows = [line_row(line) for line in quality.judges]
    grid("Judges", ("rater", "kind", *numbers), rows, key="judges", numbers=numbers)


def show_rates(line: JudgeLine) -> None:
    """Raw rates beside corrected ones."""
    st.subheader("Published rates, raw and corrected")
    columns = (
        "rate",
        "meaning",
        "raw",
        "people alone",
        "95% of people",
        "Rogan-Gladen",
        "95%",
        "PPI++",
        "95% of PPI++",
        "n of both",
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
    grid("Rates", columns, rows, key="judge_rates", numbers=columns[2:])


def show_classes(line: JudgeLine) -> None:
    """Precision and recall by label."""
    st.subheader("By label")
    columns = ("label", "precision", "95%", "recall", "95% of recall", "F1", "people gave it")
    rows = [
        (
            str(one.label),
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


def show_cells(person: Person, quality: JudgeQuality, line: JudgeLine) -> None:
    """Truth against judge, and the traces of one cell."""
    st.subheader("Where it goes wrong")
    counts = [[len(cell) for cell in row] for row in line.cells]
    cell = choose_cell(
        Cells(quality.labels, counts, rows="people", columns="rater"),
        key="judges",
        title="Traces of people's label and the rater's",
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
    columns = ("rater", "earlier", "later", "same label", "kappa", "right before", "right now")
    rows = [
        (
            one.name,
            one.earlier[:12],
            one.later[:12],
            percent(one.same.value),
            three(one.kappa.value),
            percent(one.right[0].value),
            percent(one.right[1].value),
        )
        for one in quality.drift
    ]
    grid("Drift", columns, rows, key="drift", numbers=columns[3:])


@st.fragment
def work(person: Person, sample: str, question: str) -> None:
    """Everything below the choice."""
    follow()
    quality = quality_of(person, sample, question)
    gold = quality.gold
    cards(
        [
            ("Traces in the sample", f"{quality.n_items:,}", ""),
            ("Decided", f"{gold.decided:,}", "by an adjudicator"),
            ("Agreed", f"{gold.agreed:,}", "all people gave the same label"),
            ("No true label yet", f"{sum(gold.open.values()):,}", counted(gold.open)),
        ]
    )
    if not quality.judges:
        note("No judge and no rule has labelled this rubric; run `labelkit judge` first.")
        return
    show_lines(quality)
    names = named([line.name for line in quality.judges])
    place = st.selectbox(
        "Rater",
        range(len(names)),
        format_func=lambda i: names[i],
        key="judge_choice",
        width=340,
    )
    line = quality.judges[min(place, len(names) - 1)]
    show_rates(line)
    left, right = st.columns([1, 1], gap="large")
    with left:
        show_cells(person, quality, line)
    with right:
        show_classes(line)
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
    work(me, chosen_sample.id, asked_for)
else:
    note("There is no sample yet; an admin draws one on the page Samples.")
