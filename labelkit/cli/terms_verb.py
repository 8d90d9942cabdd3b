"""``labelkit terms``: under which licence a task set may be passed on."""

from __future__ import annotations

import re
from pathlib import Path

import click

from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store
from labelkit.domain.terms import Terms
from labelkit.errors import InputError
from labelkit.store.terms import note_terms, task_sets_of, terms_of

NOT_SAID = "not said"
SPDX = re.compile(r"[A-Za-z0-9.+-]+")


@click.command("terms")
@click.argument("name", required=False, metavar="[TASK_SET]")
@click.option("--licence", help="SPDX name of the licence, such as Apache-2.0.")
@click.option(
    "--redistributable/--not-redistributable",
    default=None,
    help="Whether a release may hold the texts.",
)
@click.option("--source", help="Where the set comes from.")
@in_folder
def command(
    name: str | None,
    licence: str | None,
    redistributable: bool | None,
    source: str | None,
    folder: Path,
) -> None:
    """Show the terms of the task sets in the store, or say those of one.

    A set that nobody has said anything about is exported with ids, tags and labels only. Task
    sets with a card bring their terms along.
    """
    with opened_store(folder) as (store, _):
        known = terms_of(store)
        if name is not None:
            said = _said(name, known.get(name), licence, redistributable, source)
            note_terms(store, said)
            known = terms_of(store)
        silent = [one for one in task_sets_of(store) if one not in known]
    rows = [
        (t.name, t.licence, "yes" if t.redistributable else "no", t.source) for t in known.values()
    ]
    rows += [(one, NOT_SAID, "no", "") for one in silent]
    columns = ("task set", "licence", "texts may be passed on", "source")
    console.out().print(console.table("Terms", columns, rows, text_columns=4))
    if licence is not None and not SPDX.fullmatch(licence):
        text = (
            f"{licence!r} does not look like an SPDX identifier (such as CC-BY-4.0); others "
            "cannot look it up"
        )
        console.err().print(console.plain(text), soft_wrap=True)


def _said(
    name: str,
    known: Terms | None,
    licence: str | None,
    redistributable: bool | None,
    source: str | None,
) -> Terms:
    if licence is None and redistributable is None and source is None:
        raise InputError(
            f"what are the terms of {name}? say for example `labelkit terms {name} --licence MIT "
            "--redistributable`"
        )
    if known is None and (licence is None or redistributable is None):
        raise InputError(
            f"nothing is known about {name} yet: give both --licence NAME and --redistributable or "
            "--not-redistributable"
        )
    before = known or Terms(name=name, licence="", redistributable=False)
    fields = {"licence": licence, "redistributable": redistributable, "source": source}
    return before.model_copy(update={k: v for k, v in fields.items() if v is not None})
