"""``labelkit report``: the tables, and the same numbers as JSON or CSV."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import RenderableType

from labelkit.catalog.rubrics import load_rubric
from labelkit.cli import console
from labelkit.cli.agree_tables import brief
from labelkit.cli.number_tables import counted, numbers
from labelkit.cli.options import in_folder, opened_store, rubric_option
from labelkit.domain.rubric import Rubric
from labelkit.errors import InputError
from labelkit.printable import printable, printable_json
from labelkit.settings import Settings
from labelkit.stats.undefined import as_json
from labelkit.store.reports import counts
from labelkit.workflows.rates import RateResult
from labelkit.workflows.report import RaterSummary, Report, report

MACRO = ("macro_value", "macro_low", "macro_high", "macro_tag", "macro_n_groups")


@click.command("report")
@rubric_option
@click.option("--by", multiple=True, metavar="TAG", help="Break down: model, domain, subset, ...")
@click.option(
    "--where",
    multiple=True,
    metavar="TAG=VALUE",
    help="Only traces of this condition, task_set, model ...; several values of a tag mean any.",
)
@click.option("--rater", metavar="NAME", help="Take one rater's labels instead of the ensemble's.")
@click.option("--question", metavar="ID", help="Another question than the primary one.")
@click.option("--json", "as_text", flag_value="json", help="Everything, for machines.")
@click.option("--csv", "as_text", flag_value="csv", help="The rates, one line each.")
@in_folder
def command(
    rubric: str,
    by: tuple[str, ...],
    where: tuple[str, ...],
    rater: str | None,
    question: str | None,
    as_text: str | None,
    folder: Path,
) -> None:
    """Rates with named denominators, n, coverage, 95% Wilson intervals; agreement of raters."""
    with opened_store(folder) as (store, settings):
        loaded = load_rubric(rubric)
        result = report(
            store,
            rubric,
            by=by,
            rater=rater,
            question=question,
            where=_wanted(where),
        )
        if result.n_traces == 0 and as_text is None:
            click.echo(_nothing(counts(store).traces, loaded))
            return
    silent = _silent_judges(settings, result, loaded, rubric)
    if silent:
        result = replace(result, remarks=(*result.remarks, silent))
    if as_text == "json":
        click.echo(printable_json(as_json(result)))
    elif as_text == "csv":
        click.echo(rates_csv(result.rates), nl=False)
    else:
        show(result)


def _wanted(words: Sequence[str]) -> dict[str, list[str]]:
    wanted: dict[str, list[str]] = {}
    for word in words:
        tag, equals, value = word.partition("=")
        if not equals or not tag:
            raise InputError(f"--where {word!r} is not TAG=VALUE; write --where condition=neutral")
        wanted.setdefault(tag, []).append(value)
    return wanted


def _nothing(n_traces: int, rubric: Rubric) -> str:
    """Why a report has no trace, and what to do."""
    if n_traces == 0:
        return "there is no trace in the store; import traces first (`labelkit import`)"
    tags = rubric.applies_to.tags.items()
    asked = ", ".join(f"{tag}={'|'.join(map(str, values))}" for tag, values in tags)
    return (
        f"{rubric.name} applies to none of the {n_traces} traces in the store; it asks for {asked}"
    )


def _silent_judges(settings: Settings, result: Report, rubric: Rubric, named: str) -> str | None:
    """Name configured judges that have no labels: a report must not look complete without them."""
    framings = {framing.name for framing in rubric.framings}
    heard = {rater.name for rater in result.raters}
    silent = [
        name
        for name, judge in settings.judges.items()
        if (not judge.rubrics or result.rubric in judge.rubrics)
        and framings.intersection(judge.framings or framings)
        and not any(rater.startswith(f"{name}:") for rater in heard)
    ]
    if not silent:
        return None
    command = f"labelkit judge --rubric {shlex.quote(named)}"
    return f"no labels yet of: {', '.join(silent)}; run `{command}`"


def rates_csv(rates: Sequence[RateResult]) -> str:
    """The rates as CSV; an undefined number is an empty cell with its reason beside it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ("hits", "scored", "planned", "coverage", "value", "low", "high")
    writer.writerow(
        ("rate", "group", *names, "bound_low", "bound_high", "excluded", "reason", *MACRO)
    )
    for rate in rates:
        excluded = ";".join(f"{reason}={count}" for reason, count in rate.excluded.items())
        cells = [getattr(rate, name) for name in names]
        bounds = (rate.bound_low, rate.bound_high)
        macro = [getattr(rate.macro, name.removeprefix("macro_"), None) for name in MACRO]
        line = (rate.name, printable(rate.group), *cells, *bounds, excluded, rate.reason, *macro)
        writer.writerow(line)
    return text.getvalue()


def show(result: Report) -> None:
    """Print a report as tables."""
    out = console.out()
    for part in rendered(result):
        out.print(part)


def rendered(result: Report) -> list[RenderableType]:
    """The tables of a report, in reading order."""
    head = (
        f"{result.rubric} {result.version}, question {result.question!r}, "
        f"labels of: {result.source}; {result.n_traces} traces ({counted(result.states)})"
    )
    parts: list[RenderableType] = [console.plain(head), console.plain(_given(result))]
    parts += [_raters(result.raters), *numbers(result)]
    parts += [part for group in result.agreement for part in brief(group)]
    return parts + [console.plain(remark) for remark in result.remarks]


def _given(result: Report) -> str:
    """How often each label was given, and how often only the tie rule gave it."""
    given = counted({label: n for label, n in result.label_counts.items() if n})
    if not result.tie_broken:
        return f"{result.source}: {given}"
    ties = "1 tie" if result.tie_broken == 1 else f"{result.tie_broken} ties"
    return f"{result.source}: {given}; {ties} went to the rule"


def _raters(raters: Sequence[RaterSummary]) -> RenderableType:
    rows: list[tuple[str, ...]] = [
        (
            rater.name,
            rater.kind,
            counted({k: v for k, v in rater.label_counts.items() if v}),
            counted({**rater.without, **{f"({k})": v for k, v in rater.null_reasons.items()}}),
            str(rater.labelled),
        )
        for rater in raters
    ]
    columns: tuple[str, ...] = ("rater", "kind", "labels", "without a label", "labelled")
    if any(rater.self_consistency is not None for rater in raters):
        columns = (*columns, "self-consistency")
        rows = [
            (*row, "" if r.self_consistency is None else f"{r.self_consistency:.1%}")
            for row, r in zip(rows, raters, strict=True)
        ]
    return console.table("Raters", columns, rows, text_columns=4)
