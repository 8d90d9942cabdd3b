"""``labelkit import``: files into the store."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import RenderableType

from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store
from labelkit.formats.reader import ReadOptions
from labelkit.formats.registry import READERS, LossReport
from labelkit.workflows.ingest import Imported, import_file

FORMATS = "\b\n" + "\n".join(f"  {r.name:<24}{r.description}" for r in READERS)
SHOWN = 12


@click.command("import", epilog="Formats:\n\n" + FORMATS)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "file_format", metavar="NAME", help="Force a format; default: sniffed.")
@click.option("--task-set", help="Name of the task set the traces belong to.")
@click.option("--model", help="Name of the model that made the traces.")
@click.option("--condition", help="Name of the condition (prompt variant) they were made under.")
@in_folder
def command(
    paths: tuple[Path, ...],
    file_format: str | None,
    task_set: str | None,
    model: str | None,
    condition: str | None,
    folder: Path,
) -> None:
    """Read traces or tasks from PATHS into the store. Importing twice changes nothing."""
    options = ReadOptions(task_set=task_set, model=model, condition=condition)
    with opened_store(folder) as (store, _), console.progress() as progress:
        for path in paths:
            done = import_file(
                store, path, file_format=file_format, options=options, progress=progress
            )
            _show(done)


def _show(done: Imported) -> None:
    out = console.out()
    text = (
        f"{done.path}: {done.format}; traces {done.traces_new} new, {done.traces_known} known; "
        f"tasks {done.tasks_new} new, {done.tasks_known} known"
    )
    out.print(console.plain(text), soft_wrap=True)
    if not done.losses.clean:
        out.print(_losses(done.losses))


def _losses(report: LossReport) -> RenderableType:
    rows: list[tuple[str, ...]] = [
        (line.kind, line.what, ", ".join(map(str, line.records)), str(line.count))
        for line in report.lines[:SHOWN]
    ]
    if len(report.lines) > SHOWN:
        rest = report.lines[SHOWN:]
        rows.append(("", f"{len(rest)} more kinds", "", str(sum(line.count for line in rest))))
    return console.table(
        "What was repaired, lost or broken",
        ("kind", "what", "first records", "count"),
        rows,
        text_columns=3,
    )
