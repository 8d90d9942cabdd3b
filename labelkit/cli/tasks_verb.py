"""``labelkit tasks``: list, check and mask task sets, print the schema for editors."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import click

from labelkit.catalog.task_sets import load_task_set, task_json_schema, task_set_names
from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store
from labelkit.errors import InputError
from labelkit.printable import printable
from labelkit.workflows.masking import SCREENS, Masked, Masking, mask, reasons_of
from labelkit.workflows.tasks_check import WHOLE_SET, Checked, check_tasks

_PATH = click.Path(path_type=Path, file_okay=False)


@click.group("tasks")
def command() -> None:
    """Task sets: list them, check your own, take critical tools away, print the JSON Schema."""


@command.command("list")
def list_sets() -> None:
    """Task sets that can be named with --tasks."""
    rows = []
    for name in task_set_names():
        found = load_task_set(name)
        card = found.card
        rows.append((name, card.version, card.title, card.rubric or "-", str(len(found.tasks))))
    columns = ("task set", "version", "title", "rubric", "tasks")
    console.out().print(console.table("Task sets", columns, rows, text_columns=4))


@command.command("check")
@click.argument("path", metavar="NAME|PATH")
def check(path: str) -> None:
    """Play every promise of a task set; lists all problems by task."""
    found = check_tasks(path)
    for remark in found.remarks:
        click.echo(f"note: {printable(remark)}")
    show_problems(found)
    if found.problems:
        raise InputError(
            f"{len(found.problems)} problems in task set {found.card.name}; mend them and check"
            " again"
        )
    click.echo(f"{found.card.name} {found.card.version}: {found.tasks} tasks in order")


def show_problems(found: Checked) -> None:
    """Print problems, those of one task together, those of the whole set first."""
    ordered = sorted(found.problems, key=lambda problem: problem.task != WHOLE_SET)
    for task, problems in groupby(ordered, key=lambda problem: problem.task):
        click.echo(printable(task) if task != WHOLE_SET else "the set")
        for problem in problems:
            click.echo(f"  {printable(problem.text)}")


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of one line of tasks.jsonl, for editors."""
    click.echo(json.dumps(task_json_schema(), ensure_ascii=False, indent=2))


@command.command("mask")
@click.argument("source", metavar="NAME|PATH")
@click.option("--out", required=True, type=_PATH, help="Folder of the new task set.")
@click.option(
    "--traces",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Files of traces; default: the traces of the store in the working folder.",
)
@click.option("--condition", default=None, help="Only traces of this arm.")
@click.option("--each", is_flag=True, help="One variant per critical tool instead of one for all.")
@click.option(
    "--apply",
    "screens",
    multiple=True,
    type=click.Choice(SCREENS),
    help="Leave out variants that this screen finds; default: only report them.",
)
@in_folder
def mask_verb(
    source: str,
    out: Path,
    traces: tuple[Path, ...],
    condition: str | None,
    each: bool,
    screens: tuple[str, ...],
    folder: Path,
) -> None:
    """Take critical tools away: infeasible variants of tasks that several models solved."""
    how = Masking(condition=condition, each=each, screens=screens, files=traces)
    if traces:
        show_masked(mask(None, source, out, how))
        return
    with opened_store(folder) as (store, _):
        done = mask(store, source, out, how)
    show_masked(done)


def show_masked(done: Masked) -> None:
    """Print what was made, what was left out and why, and what the screens found."""
    for reason in reasons_of(done):
        click.echo(f"left out, {reason}")
    for finding in done.findings:
        click.echo(printable(f"screen {finding.screen}: {finding.variant}: {finding.text}"))
    dropped = f"; {done.dropped} dropped by screens" if done.dropped else ""
    click.echo(
        f"{done.originals} original tasks, {done.variants} infeasible variants{dropped}:"
        f" {printable(str(done.folder))}"
    )
