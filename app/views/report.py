"""Report: the numbers of ``labelkit report``, each rate with its denominator and interval."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.charts import Spot, forest, show_chart
from app.components.grid import grid
from app.opened import choose_scheme, the_browser
from app.plain import head, named, note, section, visible
from app.who import somebody
from app.wording import counted, percent, three, why_not
from labelkit.workflows.agreement import GroupAgreement, Settled
from labelkit.workflows.agreement_words import interval_of, name_of, remarks_on
from labelkit.workflows.browse import Browser, Coefficient, Scheme
from labelkit.workflows.number_rows import RATES, number_tables, of_groups
from labelkit.workflows.rates import RateResult
from labelkit.workflows.report import ENSEMBLE, RaterSummary, Report
from labelkit.workflows.review.access import Right, require

GROUPINGS = ("model", "domain", "subset")
CHART_ROWS = 60


def coefficient_row(who: str, result: Coefficient, scale: Settled) -> tuple[str, ...]:
    """One coefficient; where there is none, the reason. A star marks a weak interval."""
    return (
        who,
        name_of(result.name, scale),
        three(result.value),
        interval_of(result),
        percent(result.observed),
        f"{result.n_items:,}",
    )


def rate_rows(
    rates: Sequence[RateResult], *, grouped: bool, averaged: bool
) -> list[tuple[str, ...]]:
    """One line per rate and group; an undefined rate says why."""
    return [
        (
            *([rate.group] if grouped else []),
            rate.name,
            rate.title,
            percent(rate.value) if rate.reason is None else why_not(rate.reason),
            f"{percent(rate.low)} to {percent(rate.high)}" if rate.low is not None else "",
            f"{rate.hits:,} / {rate.scored:,}",
            *([of_groups(rate.macro)] if averaged else []),
            percent(rate.coverage),
            counted(rate.excluded) if rate.excluded else "",
        )
        for rate in rates
    ]


def rate_spots(rates: Sequence[RateResult]) -> list[Spot]:
    """One row per rate and group, in the report's order."""
    names = named([f"{r.name} {'' if r.group == 'all' else r.group}" for r in rates])
    return [
        Spot(name, rate.value, rate.low, rate.high)
        for name, rate in zip(names, rates, strict=True)
        if rate.value is not None
    ]


def rater_rows(raters: Sequence[RaterSummary]) -> list[tuple[str, ...]]:
    """What each rater did with the rows."""
    return [
        (
            rater.name,
            rater.kind,
            f"{rater.labelled:,}",
            counted({name: n for name, n in rater.label_counts.items() if n}),
            counted({**rater.without, **{f"[{k}]": v for k, v in rater.null_reasons.items()}}),
        )
        for rater in raters
    ]


def agreement_rows(agreement: GroupAgreement) -> list[tuple[str, ...]]:
    """Cohen's kappa for every pair, then every coefficient over all raters."""
    scale = agreement.scale
    pairs = [coefficient_row(f"{p.first} and {p.second}", p.result, scale) for p in agreement.pairs]
    return pairs + [coefficient_row("all raters", c, scale) for c in agreement.coefficients]


def ask(opened: Browser) -> tuple[Scheme | None, str | None, tuple[str, ...]]:
    """Draw the choices; a rater of None is the ensemble."""
    columns = st.columns([2, 1, 1])
    with columns[0]:
        scheme = choose_scheme(opened)
    if scheme is None:
        return None, None, ()
    raters = opened.choices(scheme).raters or (ENSEMBLE,)
    names = dict(zip(raters, named(raters), strict=True))
    with columns[1]:
        chosen = st.selectbox(
            "Labels of", raters, format_func=lambda rater: names[rater], key="report_rater"
        )
    with columns[2]:
        by = st.selectbox(
            "Broken down by", GROUPINGS, index=None, placeholder="nothing", key="report_by"
        )
    return scheme, None if chosen == ENSEMBLE else chosen, (by,) if by else ()


def show_more(report: Report) -> None:
    """Means, composites, conditions and fronts: the tables of ``labelkit report``."""
    for place, part in enumerate(number_tables(report)):
        if isinstance(part, str):
            note(part)
        elif part.title != RATES:
            section(part.title)
            numbers = part.columns[part.text_columns :]
            grid(part.title, part.columns, part.rows, key=f"numbers{place}", numbers=numbers)


def show(report: Report) -> None:
    """Tables and the chart, in the order in which they are read."""
    note(f"{report.n_traces:,} traces: {counted(report.states)}")
    st.subheader("Rates")
    known = rate_spots(report.rates)
    if known:
        said = "Rates with 95% Wilson intervals; the table Rates has the numbers."
        title = "share of the denominator, 95% Wilson interval"
        drawing = forest(known[:CHART_ROWS], title, percent=True, width=320)
        show_chart(drawing, said, key="rates_chart")
        note("Point: the rate. Bar: its 95% Wilson interval.")
    else:
        note(
            "No rate has rows to divide by: nothing it is about was labelled, or the rubric is"
            " about other traces. Choose another rubric above, or run `labelkit judge`."
        )
    if len(known) > CHART_ROWS:
        note(f"The first {CHART_ROWS} of {len(known)} rates are drawn; the table has them all.")
    grouped = any(rate.group != "all" for rate in report.rates)
    averaged = any(rate.macro is not None for rate in report.rates)
    mean = ["mean of group rates"] if averaged else []
    numbers = ("value", "95% Wilson", "hits / n", *mean, "coverage")
    columns = (*(["group"] if grouped else []), "rate", "meaning", *numbers, "excluded")
    rows = rate_rows(report.rates, grouped=grouped, averaged=averaged)
    grid("Rates", columns, rows, key="rates", numbers=numbers)
    show_more(report)
    st.subheader("Raters")
    raters = ("rater", "kind", "labelled", "labels", "without a label")
    grid("Raters", raters, rater_rows(report.raters), key="raters", numbers=raters[2:3])
    if report.agreement:
        st.subheader("Agreement")
    coefficients = ("raters", "coefficient", "value", "95% interval", "raw agreement", "n")
    for place, agreement in enumerate(report.agreement):
        note(f"Question {agreement.question}, rows: {agreement.group}")
        rows = agreement_rows(agreement)
        grid("Agreement", coefficients, rows, key=f"agreement{place}", numbers=coefficients[2:])
        for remark in remarks_on(agreement, agreement.scale):
            note(remark)
    for remark in report.remarks:
        note(remark)


me = somebody()
if me is not None:
    require(me, Right.SEE_LABELS)
browser = the_browser()
title = st.container()
scheme, rater, by = ask(browser)
with title:
    name = visible(f"{scheme.rubric.title}, version {scheme.rubric.version}") if scheme else ""
    head("Report", name)
if scheme is None:
    note("Nothing has been judged in this store yet; run `labelkit judge --rubric NAME` first.")
else:
    show(browser.report(scheme, by=by, rater=rater))
