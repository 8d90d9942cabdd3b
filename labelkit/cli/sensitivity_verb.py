"""``labelkit sensitivity``: what a rule's failure modes would be under other thresholds.

A verb of its own, so that a plain report does not load the rules.
"""

from __future__ import annotations

from pathlib import Path

import click

from labelkit.catalog.rubrics import load_rubric
from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store, rubric_option
from labelkit.printable import printable_json
from labelkit.stats.undefined import as_json
from labelkit.workflows.sensitivity import Sensitivity, failure_sensitivity


@click.command("sensitivity")
@rubric_option
@click.option("--json", "as_json_text", is_flag=True, help="The table, for machines.")
@in_folder
def command(rubric: str, as_json_text: bool, folder: Path) -> None:
    """Failure modes of the same runs under other thresholds; the rubric's own are marked."""
    with opened_store(folder) as (store, _):
        found = failure_sensitivity(store, load_rubric(rubric))
    if as_json_text:
        click.echo(printable_json(as_json(found)))
    else:
        _show(found)


def _show(found: Sensitivity) -> None:
    modes = list(found.lines[0].counts)
    rows = [
        (
            "*" if line.used else "",
            f"{line.expansion_over:g}",
            str(line.abandoned_at_most),
            *(str(line.counts[mode]) for mode in modes),
        )
        for line in found.lines
    ]
    columns = ("used", "CER_extra over", "calls at most", *modes)
    counted = found.failed - found.uncounted
    title = f"Failure modes of {counted} failed runs by threshold ({found.rubric})"
    console.out().print(console.table(title, columns, rows, text_columns=1))
    console.out().print(console.plain(f"CER_extra = {found.definition} - 1"))
    if found.uncounted:
        console.out().print(console.plain(f"{found.uncounted} further failed runs have no counts"))
