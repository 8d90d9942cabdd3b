"""``labelkit demo``: the whole line on the embedded model, with what to think of its numbers."""

from __future__ import annotations

from pathlib import Path

import click

from labelkit.cli import console, judge_verb, report_verb, run_verb
from labelkit.stats.undefined import Undefined
from labelkit.workflows.demo import RUBRIC, Demo, demo

CLOSING = """\
What this shows: every station of the line ran for real on this machine, without a key or a GPU.
What it does not show: a good judge. {verdict}
Point labelkit at a better one: in {settings}, give an endpoint a base_url (and api_key_env), or a
model_path to a larger GGUF file, name it under judges, and run in that folder:
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
        verdict=verdict(done),
        settings=done.folder / "labelkit.yaml",
        rubric=RUBRIC,
        folder=done.folder,
    )


def verdict(done: Demo) -> str:
    """How the embedded judges agree with the rule, in words and numbers of this very run."""
    kappas = []
    for agreement in done.report.agreement[:1]:
        for pair in agreement.pairs:
            if agreement.pairs and str(pair.first) == RUBRIC:
                value = pair.result.value
                number = "no kappa" if isinstance(value, Undefined) else f"kappa {value:.2f}"
                kappas.append(f"{pair.second} {number} on {pair.result.n_items} rows")
    measured = "; ".join(kappas) or "no judge and rule labelled the same rows"
    return (
        "The embedded model has 135 million parameters and judges near chance. "
        f"Agreement with the rule in this run: {measured}."
    )
