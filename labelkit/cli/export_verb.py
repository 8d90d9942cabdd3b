"""``labelkit export``: a release that others can use and check without labelkit."""

from __future__ import annotations

from pathlib import Path

import click

from labelkit.catalog.rubrics import load_rubric
from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store
from labelkit.workflows.release.contents import sample_named
from labelkit.workflows.release.export import Exported, Wanted, export
from labelkit.workflows.review.schemes import rubric_in


@click.command("export")
@click.argument("what", metavar="SAMPLE|RUBRIC")
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@click.option("--name", help="Name of the release; default: the rubric's.")
@click.option("--version", metavar="1.0.0", help="Its version; default 1.0.0.")
@click.option(
    "--previous",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The earlier release: the version then follows from what changed.",
)
@click.option("--url", help="Where the release will be published.")
@click.option(
    "--accept-findings", is_flag=True, help="Go on although the texts look personal or secret."
)
@in_folder
def command(
    what: str,
    out: Path,
    name: str | None,
    version: str | None,
    previous: Path | None,
    url: str | None,
    accept_findings: bool,
    folder: Path,
) -> None:
    """Write everything labelled under a rubric, or one sample's frame, to the folder OUT.

    Texts of task sets that may not be passed on are withheld; texts are searched for personal
    data and secrets first. The same store gives the same bytes.
    """
    wanted = Wanted(name, version, previous, url, accept_findings)
    with opened_store(folder) as (store, _), console.progress() as progress:
        sample = sample_named(store, what)
        rubric = rubric_in(store, sample.design.rubric_digest) if sample else load_rubric(what)
        done = export(store, rubric, out, sample=sample, wanted=wanted, progress=progress)
    _show(done)


def _show(done: Exported) -> None:
    out = console.out()
    rows = ", ".join(f"{number:,} {name}" for name, number in done.rows.items() if number)
    out.print(console.plain(f"{done.folder}: version {done.version}, {rows}"), soft_wrap=True)
    for line in done.licences:
        out.print(console.plain(f"licence: {line}"), soft_wrap=True)
    found = ", ".join(f"{n} {kind}" for kind, n in done.scan.counts.items()) or "nothing"
    out.print(console.plain(f"personal data and secrets: {found} (see privacy.json)"))
    if done.undecided:
        text = f"{done.undecided} disagreements of people are not decided (see disagreements.jsonl)"
        out.print(console.plain(text), soft_wrap=True)
    out.print(console.plain(f"check it: labelkit verify {done.folder}"), soft_wrap=True)
