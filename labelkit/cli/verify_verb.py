"""``labelkit verify``: recompute a release from its own files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from labelkit.cli import console
from labelkit.workflows.release.verify import verify

NOT_AS_PUBLISHED = 1


@click.command("verify")
@click.argument("release", type=click.Path(path_type=Path, exists=True, file_okay=False))
def command(release: Path) -> None:
    """Check files, tables and every number of RELEASE; needs no store and no network.

    Exit code 0: intact. 1: something differs; each line names the file and the place.
    """
    verdict = verify(release)
    out = console.out()
    for fault in verdict.faults:
        place = f" {fault.place}" if fault.place else ""
        out.print(console.plain(f"{fault.file}{place}: {fault.what}"), soft_wrap=True)
    checked = f"{verdict.files} files, {verdict.numbers:,} values recomputed"
    if verdict.intact:
        out.print(console.plain(f"{release}: intact ({checked})"), soft_wrap=True)
        return
    number = len(verdict.faults)
    text = f"{release}: {number} difference{'s' if number > 1 else ''} ({checked})"
    out.print(console.plain(text), soft_wrap=True)
    sys.exit(NOT_AS_PUBLISHED)
