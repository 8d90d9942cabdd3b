"""``labelkit import``: files into the store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from rich.console import RenderableType

from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store
from labelkit.errors import FormatError
from labelkit.formats.rating_layout import Layout
from labelkit.formats.reader import ReadOptions
from labelkit.formats.registry import (
    READERS,
    LossReport,
    NothingReadError,
    UnknownFormatError,
    reader_named,
)
from labelkit.printable import printable
from labelkit.workflows.ingest import Imported, Refused, import_files
from labelkit.workflows.rating_target import Targets
from labelkit.workflows.release.load import check_release, is_release
from labelkit.workflows.setup import SETTINGS_FILE, init

FORMATS = "\b\n" + "\n".join(f"  {r.name:<24}{r.description}" for r in READERS)
SHOWN = 12
_IN_PASSING = (UnknownFormatError, NothingReadError)


@click.command("import", epilog="Formats:\n\n" + FORMATS)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "file_format", metavar="NAME", help="Force a format; default: sniffed.")
@click.option("--task-set", help="Name of the task set the traces belong to.")
@click.option("--model", help="Name of the model that made the traces.")
@click.option("--condition", help="Name of the condition (prompt variant) they were made under.")
@click.option("--rubric", metavar="NAME|PATH", help="Ratings: the rubric whose labels they are.")
@click.option("--question", help="Ratings: the question they answer, if the file names none.")
@click.option("--item", help="Ratings: the column that names the item.")
@click.option("--rater", help="Ratings, one per row: the column that names the rater.")
@click.option("--label", help="Ratings, one per row: the column that holds the label.")
@click.option("--raters", help="Ratings, one item per row: the rater columns, between commas.")
@click.option("--judges", help="Ratings: the raters that are models, between commas.")
@click.option("--text", help="Ratings: the column with the item's own text.")
@click.option("--ordinal", is_flag=True, help="Ratings: the labels are steps of a scale.")
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    help="Processes that read a large JSON Lines file; default: one per core.",
)
@click.option("--again", is_flag=True, help="Keep rollouts twice that are known by other names.")
@in_folder
def command(
    paths: tuple[Path, ...],
    file_format: str | None,
    rubric: str | None,
    question: str | None,
    again: bool,
    processes: int | None,
    folder: Path,
    **stated: Any,
) -> None:
    """Read traces, tasks or ratings from PATHS (files or folders) into the store.

    Ratings need a rubric; without --rubric one is made of the labels that occur, in a folder of
    its own beside labelkit.yaml.

    A release (a folder that `labelkit export` wrote) is restored whole: rubric, samples, labels
    and decisions.

    A folder without labelkit.yaml is made ready first, as `labelkit init` does.

    Importing twice changes nothing. A file that cannot be read does not keep the others out; it
    is named at the end, and the exit code is 2. Below a folder, a file in no known format or
    without one good record is told like a broken record, and the code is 0 if anything was read.
    """
    if file_format is not None:
        reader_named(file_format)
    options = _options(stated)
    wanted = Targets(folder, rubric, question, ordinal=stated["ordinal"])
    _make_ready(folder, paths, file_format)
    read, refused = 0, []
    with opened_store(folder) as (store, _), console.progress() as progress:
        for done in import_files(
            store,
            paths,
            file_format=file_format,
            options=options,
            progress=progress,
            again=again,
            target=wanted.target,
            processes=processes,
        ):
            if isinstance(done, Refused):
                refused.append(done)
            else:
                read += 1
                _show(done)
    for made in dict.fromkeys(wanted.made):
        console.out().print(console.plain(_next_steps(made)), soft_wrap=True)
    for path, made in wanted.codes.items():
        text = (
            f"{printable(str(path))}: numbers, read as unordered labels; if they are a scale: "
            f"remove {printable(str(made))} and import again with --ordinal"
        )
        console.out().print(console.plain(text), soft_wrap=True)
    _account(read, refused)


def _make_ready(folder: Path, paths: tuple[Path, ...], file_format: str | None) -> None:
    """Set up a folder whose first command this is, so that a table needs two commands only."""
    # Not for a mistyped file; a name that no file can have does not exist either.
    if (folder / SETTINGS_FILE).exists() or not all(os.path.exists(p) for p in paths):  # noqa: PTH110
        return
    if file_format is None and len(paths) == 1 and is_release(paths[0]):
        check_release(paths[0])  # one that will be refused leaves nothing behind
    made = init(folder)
    text = f"{made.settings}: made; the store is {made.store}"
    console.out().print(console.plain(text), soft_wrap=True)


def _next_steps(made: Path) -> str:
    """What to do with a rubric that was made for ratings."""
    name = made if made.is_absolute() else f"./{made}"
    return (
        f"the labels are those of the rubric {name}, made from the file; write its guideline.md\n"
        f"next: labelkit agree --rubric {name}, or labelkit export {name} OUT/"
    )


def _options(stated: dict[str, Any]) -> ReadOptions:
    """Return what the user says about the files, whatever is in them."""
    layout = Layout(
        item=stated["item"],
        rater=stated["rater"],
        label=stated["label"],
        raters=_listed(stated["raters"]),
    )
    return ReadOptions(
        task_set=stated["task_set"],
        model=stated["model"],
        condition=stated["condition"],
        layout=layout,
        text=stated["text"],
        judges=frozenset(_listed(stated["judges"])),
    )


def _listed(names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())


def _account(read: int, refused: list[Refused]) -> None:
    """Name what was not read.

    Foreign and broken files of a folder are told like broken records: nobody has to do anything
    for the rest to be right. A file that somebody named, or that can be mended by whoever imports
    (rights, packing, encoding), is an error.
    """
    passed = [r for r in refused if not r.named and isinstance(r.error, _IN_PASSING)]
    failed = [r for r in refused if r not in passed]
    foreign = [r for r in passed if isinstance(r.error, UnknownFormatError)]
    broken = [r for r in passed if r not in foreign]
    if passed and not read and not failed:
        for one in broken:
            console.err().print(console.plain(f"- {one.error}"), soft_wrap=True)
        what = "could be read" if broken else "is in a known format"
        raise FormatError(
            f"no file in the folder {what} (tried {_names(passed)}); "
            "`labelkit import --help` lists what each format looks like"
        )
    if foreign:
        text = f"left out, in no known format: {_names(foreign)}"
        console.out().print(console.plain(text), soft_wrap=True)
    for one in broken[:SHOWN]:
        text = f"left out, broken: {one.error}"
        console.out().print(console.plain(text), soft_wrap=True)
    if len(broken) > SHOWN:
        text = f"left out, broken as well: {_names(broken[SHOWN:])}"
        console.out().print(console.plain(text), soft_wrap=True)
    if len(failed) == 1:
        raise failed[0].error
    if failed:
        for one in failed:
            console.err().print(console.plain(f"- {one.error}"), soft_wrap=True)
        raise FormatError(
            f"{len(failed)} of {read + len(failed)} files could not be read: {_names(failed)}; "
            "the reasons stand above, and what was read is kept"
        )


def _names(refused: list[Refused]) -> str:
    more = f" and {len(refused) - SHOWN} more" if len(refused) > SHOWN else ""
    return ", ".join(printable(r.path) for r in refused[:SHOWN]) + more


def _show(done: Imported) -> None:
    out = console.out()
    text = (
        f"{printable(done.path)}: {done.format}; "
        f"traces {done.traces_new} new, {done.traces_known} known; "
        f"tasks {done.tasks_new} new, {done.tasks_known} known"
    )
    if done.labels_new or done.labels_known:
        text += f"; labels {done.labels_new} new, {done.labels_known} known"
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
        "What was broken, lost, odd or repaired",
        ("kind", "what", "first records", "count"),
        rows,
        text_columns=3,
    )
