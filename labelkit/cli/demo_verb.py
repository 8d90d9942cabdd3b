"""``labelkit demo``: the whole line on the embedded model, with what to think of its numbers."""

from __future__ import annotations

from pathlib import Path

import click

from labelkit.cli import console, judge_verb, report_verb, run_verb
from labelkit.stats.agreement import RaterPair
from labelkit.stats.undefined import Undefined
from labelkit.workflows.demo import RUBRIC, Demo, demo

CLOSING = """\

What this shows: every station of the line ran for real on this machine, without a key or a GPU,
in {seconds:.0f} s.
What it does not show: a good judge. {verdict}
Point labelkit at a better one: give an endpoint a base_url (and api_key_env), or a model_path to a
larger GGUF file, and name it under judges, in
    {settings}
Then run in that folder:
    labelkit judge --rubric {rubric} && labelkit report --rubric {rubric}
Look at the traces and their labels in the browser:
    labelkit app --in {folder}"""


@click.command("demo")
@click.option(
    "--in",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Folder for the demo's store and settings.",
)
def command(folder: Path) -> None:
    """Run tasks -> rollouts -> rule and judges -> ensemble -> report on the embedded model."""
    with console.progress() as progress:
        done = demo(folder, progress)
    run_verb.show(done.rollouts)
    judge_verb.show(done.labels, RUBRIC)
    report_verb.show(done.report)
    click.echo(closing(done))


def closing(done: Demo) -> str:
    """What to think of the numbers, with the judge's agreement as measured just now."""
    return CLOSING.format(
        seconds=done.seconds,
        verdict=verdict(done),
        settings=done.folder / "labelkit.yaml",
        rubric=RUBRIC,
        folder=done.folder,
    )


def verdict(done: Demo) -> str:
    """How good the embedded judges are: measured against the rule in this very run."""
    lines = [
        "The embedded model has 135 million parameters; it is",
        "here to move the parts, not to judge. Measured on this run against the rule (a judge that",
        "guesses has a kappa near 0, a judge worth having one above 0.6):",
    ]
    pairs = [pair for agreement in done.report.agreement[:1] for pair in agreement.pairs]
    found = [_measured(pair) for pair in pairs if pair.first == RUBRIC]
    lines += found or ["    no judge and rule labelled the same rows, so nothing can be said"]
    lines.append("Do not quote its labels, nor the rates above: they rest on them.")
    return "\n".join(lines)


def _measured(pair: RaterPair) -> str:
    """One judge beside the rule: kappa, and the rows on which both say the same."""
    value, observed, rows = pair.result.value, pair.result.observed, pair.result.n_items
    if isinstance(value, Undefined):
        return f"    {pair.second}: kappa undefined ({value.reason.value}) on {rows} rows"
    same = "" if isinstance(observed, Undefined) else f", the same label on {observed:.0%}"
    return f"    {pair.second}: kappa {value:.2f}{same} of {rows} rows"
