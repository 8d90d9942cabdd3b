"""``labelkit export``: a release for everybody, or items and labels for another tool."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click

from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store
from labelkit.errors import InputError
from labelkit.printable import printable
from labelkit.workflows.release.as_argilla import argilla_record, argilla_settings
from labelkit.workflows.release.as_label_studio import label_studio_config, label_studio_task
from labelkit.workflows.release.contents import sample_named
from labelkit.workflows.release.exchange import Exchanged, exchange
from labelkit.workflows.release.export import Exported, Wanted, export
from labelkit.workflows.review.schemes import rubric_in
from labelkit.workflows.rubric_choice import rubric_named

LABEL_STUDIO = "label-studio"
TOOLS = (LABEL_STUDIO, "argilla")


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
@click.option(
    "--as",
    "tool",
    type=click.Choice(TOOLS),
    help="Write items and labels to the file OUT, for another annotation tool.",
)
@click.option("--blank", is_flag=True, help="With --as: items only, for labelling from scratch.")
@click.option("--suggest", metavar="RATER", help="With --as argilla: whose labels it suggests.")
@in_folder
def command(
    what: str,
    out: Path,
    tool: str | None,
    blank: bool,
    suggest: str | None,
    folder: Path,
    **stated: Any,
) -> None:
    """Write everything labelled under a rubric, or one sample's frame, to the folder OUT.

    Texts of task sets that may not be passed on are withheld; texts are searched for personal
    data and secrets first. The same store gives the same bytes.

    Versions follow what changed since --previous: a label or gold label that changed or went away
    is major (2.0.0), rows or labels that came in addition are minor (1.1.0), anything else is a
    patch (1.0.1), and the same data keeps its number.

    With --as, OUT is a file for Label Studio or Argilla 2; `labelkit import OUT --rubric ...`
    brings back what was labelled there. People go by pseudonyms.
    """
    if tool is None and (blank or suggest is not None):
        raise InputError("--blank and --suggest are about other tools; say which with --as")
    with opened_store(folder) as (store, _), console.progress() as progress:
        sample = sample_named(store, what)
        rubric = (
            rubric_in(store, sample.design.rubric_digest) if sample else rubric_named(store, what)
        )
        if tool is None:
            wanted = Wanted(**stated)
            _show(export(store, rubric, out, sample=sample, wanted=wanted, progress=progress))
            return
        writer = label_studio_task if tool == LABEL_STUDIO else argilla_record(suggest)
        written = exchange(
            store, rubric, out, writer, sample=sample, blank=blank, progress=progress
        )
    _show_exchange(written)
    if tool == LABEL_STUDIO:
        said, beside = "labelling interface for the project", out.with_suffix(".config.xml")
        text = label_studio_config(rubric)
    else:
        said, beside = "settings for the data set", out.with_suffix(".settings.json")
        text = json.dumps(argilla_settings(rubric), indent=1) + "\n"
    beside.write_text(text, encoding="utf-8", newline="\n")
    out_line = f"{said}: {printable(str(beside))}"
    console.out().print(console.plain(out_line), soft_wrap=True)


def _show_exchange(done: Exchanged) -> None:
    out = console.out()
    _show_cleared(done.cleared)
    out.print(console.plain(f"{done.file}: {done.items:,} items, {done.labels:,} labels"))
    for what, number in done.left_out.items():
        text = f"left out, the format has no place for them: {number:,} {what}"
        out.print(console.plain(text), soft_wrap=True)
    if done.guarded:
        text = (
            f"the file holds texts of {', '.join(done.guarded)}, whose terms do not allow passing "
            "them on: keep it to your own server"
        )
        out.print(console.plain(text), soft_wrap=True)


def _show_cleared(names: tuple[str, ...]) -> None:
    if names:
        text = (
            f"cleared away what an export that was killed had left: {printable(', '.join(names))}"
        )
        console.out().print(console.plain(text), soft_wrap=True)


def _show(done: Exported) -> None:
    out = console.out()
    _show_cleared(done.cleared)
    rows = ", ".join(f"{number:,} {name}" for name, number in done.rows.items() if number)
    out.print(console.plain(f"{done.folder}: version {done.version}, {rows}"), soft_wrap=True)
    for line in done.licences:
        out.print(console.plain(f"licence: {line}"), soft_wrap=True)
    if done.withheld:
        out.print(console.plain(_no_way_back(done.withheld)), soft_wrap=True)
    found = ", ".join(f"{n} {kind}" for kind, n in done.scan.counts.items()) or "nothing"
    out.print(console.plain(f"personal data and secrets: {found} (see privacy.json)"))
    if done.undecided:
        text = f"{done.undecided} disagreements of people are not decided (see disagreements.jsonl)"
        out.print(console.plain(text), soft_wrap=True)
    out.print(console.plain(f"check it: labelkit verify {done.folder}"), soft_wrap=True)


def _no_way_back(task_sets: tuple[str, ...]) -> str:
    """Say what a release without texts is not good for, and how to make one that is."""
    said = "; ".join(
        f"`labelkit terms {shlex.quote(name)} --licence NAME --redistributable`"
        for name in task_sets
    )
    return (
        "texts are withheld, so this release cannot be imported again by anybody; if they may be "
        f"passed on, say {said} and export again"
    )
