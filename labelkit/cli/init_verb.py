"""``labelkit init``: a store and a commented labelkit.yaml."""

from __future__ import annotations

from pathlib import Path

import click

from labelkit.cli.options import in_folder
from labelkit.workflows.setup import init


@click.command("init")
@in_folder
def command(folder: Path) -> None:
    """Make ./labelkit.db and a commented ./labelkit.yaml. What is there already is kept."""
    done = init(folder)
    click.echo(f"{done.settings}: {'made' if done.settings_made else 'kept as it was'}")
    click.echo(f"{done.store}: ready")
    click.echo("next: labelkit import FILE, then labelkit judge --rubric NAME")
