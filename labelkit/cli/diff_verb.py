"""``labelkit diff``: what an erratum changed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
from rich.console import RenderableType

from labelkit.cli import console
from labelkit.printable import printable_json
from labelkit.workflows.release.difference import Difference, LabelChange, difference
from labelkit.workflows.release.load import head_of
from labelkit.workflows.release.versions import next_version

FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
SHOWN = 20


@click.command("diff")
@click.argument("old", type=FOLDER)
@click.argument("new", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Everything, for machines.")
def command(old: Path, new: Path, as_json: bool) -> None:
    """Compare two releases: changed labels, gold, rates and ranks, and the version that follows."""
    found = difference(old, new)
    version = next_version(head_of(old)["version"], found)
    if as_json:
        click.echo(printable_json({**asdict(found), "next_version": version}))
    else:
        _show(found, version)


def _show(found: Difference, version: str) -> None:
    out = console.out()
    text = f"traces: {found.new_traces} new, {found.lost_traces} gone"
    out.print(console.plain(text))
    if found.strangers:
        text = (
            "no person is the same in both (pseudonyms belong to a store): people's labels are not "
            "compared, gold and rates are"
        )
        out.print(console.plain(text), soft_wrap=True)
    for title, changes in (("labels", found.labels), ("gold", found.gold)):
        if changes:
            out.print(_changes(title, changes))
    if found.rates:
        rows = [(c.name, _number(c.old), _number(c.new)) for c in found.rates]
        out.print(console.table("Rates", ("rate", "old", "new"), rows))
    if found.ranks:
        places = [(c.rate, c.group, _number(c.old), _number(c.new)) for c in found.ranks]
        out.print(console.table("Ranks", ("rate", "model", "old", "new"), places, text_columns=2))
    out.print(console.plain(f"the version that follows: {version}"))


def _changes(title: str, changes: tuple[LabelChange, ...]) -> RenderableType:
    rows = [
        (c.trace[:12], c.question, c.rater[:12], c.old or "(none)", c.new or "(none)")
        for c in changes[:SHOWN]
    ]
    more = f" (the first {SHOWN} of {len(changes)})" if len(changes) > SHOWN else ""
    columns = ("trace", "question", "rater", "old", "new")
    return console.table(f"Changed {title}{more}", columns, rows, text_columns=5)


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:.4g}"
