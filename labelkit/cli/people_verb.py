"""``labelkit people``: who works in the review app. The first admin is made here.

A passphrase is never an argument, because arguments are seen by everybody on the machine and kept
by the shell: it is asked for, read from standard input, or taken from the environment.
"""

from __future__ import annotations

import getpass
import os
import sys
from pathlib import Path

import click

from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store
from labelkit.domain.person import Role
from labelkit.errors import InputError
from labelkit.printable import printable, printable_json
from labelkit.workflows.review import people

PASSPHRASE = "LABELKIT_PASSPHRASE"  # noqa: S105 - the name of a variable
_ROLES = click.Choice([role.value for role in Role])


@click.group("people")
def command() -> None:
    """Who labels and decides: add people, change roles, retire them."""


@command.command("add")
@click.argument("name")
@click.option("--role", type=_ROLES, default=Role.ANNOTATOR.value, show_default=True)
@click.option("--subject", metavar="ID", help="External identity (OIDC or proxy) instead.")
@click.option("--passphrase-stdin", is_flag=True, help="Read the passphrase from standard input.")
@in_folder
def add(name: str, role: str, subject: str | None, passphrase_stdin: bool, folder: Path) -> None:
    """Add NAME. The passphrase is asked for, or read from LABELKIT_PASSPHRASE."""
    with opened_store(folder) as (store, _):
        secret = None
        if passphrase_stdin or subject is None:
            secret = _passphrase(from_stdin=passphrase_stdin)
        made = people.add_person(store, None, name, role, passphrase=secret, subject=subject)
    click.echo(f"added {printable(made.name)} as {made.role.value}")


@command.command("list")
@click.option("--json", "as_text", is_flag=True, help="Everything, for machines.")
@in_folder
def show(as_text: bool, folder: Path) -> None:
    """Everybody, retired people included; no secrets."""
    with opened_store(folder) as (store, _):
        found = people.everybody(store, None)
    if as_text:
        shown = [person.model_dump(mode="json", exclude={"epoch"}) for person in found]
        click.echo(printable_json(shown))
        return
    if not found:
        click.echo("nobody yet; make the first admin with `labelkit people add NAME --role admin`")
        return
    rows = [
        (
            person.name,
            person.role.value,
            "passphrase" if person.has_passphrase else "",
            person.subject or "",
            "retired" if person.retired else "",
        )
        for person in found
    ]
    columns = ("name", "role", "signs in by", "identity", "state")
    console.out().print(console.table("People", columns, rows, text_columns=5))


@command.command("role")
@click.argument("name")
@click.argument("role", type=_ROLES)
@in_folder
def set_role(name: str, role: str, folder: Path) -> None:
    """Give NAME another role."""
    with opened_store(folder) as (store, _):
        changed = people.set_role(store, None, name, role)
    click.echo(f"{printable(changed.name)} is {changed.role.value} now")


@command.command("retire")
@click.argument("name")
@click.option("--undo", is_flag=True, help="Take the person back.")
@in_folder
def retire(name: str, undo: bool, folder: Path) -> None:
    """End NAME's sessions and access; the labels stay."""
    with opened_store(folder) as (store, _):
        changed = people.set_retired(store, None, name, retired=not undo)
    click.echo(f"{printable(changed.name)} is {'back' if undo else 'retired'}")


@command.command("passphrase")
@click.argument("name")
@click.option("--passphrase-stdin", is_flag=True, help="Read the passphrase from standard input.")
@in_folder
def passphrase(name: str, passphrase_stdin: bool, folder: Path) -> None:
    """Set a new passphrase for NAME; older sessions end."""
    with opened_store(folder) as (store, _):
        people.person_named(store, name)
        secret = _passphrase(from_stdin=passphrase_stdin)
        changed = people.set_passphrase(store, None, name, secret)
    click.echo(f"{printable(changed.name)} has a new passphrase")


def _passphrase(*, from_stdin: bool) -> str:
    """Return the passphrase from standard input, the environment, or a hidden prompt."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if PASSPHRASE in os.environ:
        return os.environ[PASSPHRASE]
    if not sys.stdin.isatty():
        raise InputError(
            f"there is no terminal to ask for the passphrase; set {PASSPHRASE} or pipe it in with"
            " --passphrase-stdin"
        )
    first, again = getpass.getpass("Passphrase: "), getpass.getpass("Once more: ")
    if first != again:
        raise InputError("the two passphrases differ; nothing was changed, run it again")
    return first
