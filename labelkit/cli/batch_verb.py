"""``labelkit batch``: hand request files to a service's Batch API, and fetch the results."""

from __future__ import annotations

from pathlib import Path

import click

from labelkit.cli import console
from labelkit.cli.options import in_folder, settings_in
from labelkit.domain.endpoint import Endpoint
from labelkit.errors import InputError
from labelkit.workflows.batch_jobs import fetch, submit


@click.group("batch")
def command() -> None:
    """Work off request files at an OpenAI-style Batch API."""


endpoint_option = click.option(
    "--endpoint", required=True, metavar="NAME", help="An endpoint of labelkit.yaml."
)


def _endpoint(folder: Path, name: str) -> Endpoint:
    settings = settings_in(folder)
    if name not in settings.endpoints:
        known = ", ".join(settings.endpoints) or "none"
        raise InputError(
            f"labelkit.yaml configures no endpoint {name!r}; configured endpoints: {known}"
        )
    endpoint = settings.endpoints[name]
    if not endpoint.base_url:
        raise InputError(
            f"endpoint {name!r} has no Batch API: it is started by labelkit; judge with it directly"
        )
    return endpoint


@command.command("submit")
@click.argument("requests", type=click.Path(path_type=Path, dir_okay=False))
@endpoint_option
@in_folder
def submit_command(requests: Path, endpoint: str, folder: Path) -> None:
    """Upload REQUESTS and begin batches; which ones is kept beside the file."""
    with console.progress() as progress:
        ids = submit(requests, _endpoint(folder, endpoint), progress=progress)
    click.echo(
        f"{len(ids)} batches begun; fetch them: labelkit batch fetch {requests}"
        f" --endpoint {endpoint} --out RESULTS"
    )


@command.command("fetch")
@click.argument("requests", type=click.Path(path_type=Path, dir_okay=False))
@endpoint_option
@click.option(
    "--out",
    "results",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The result file; written whole each time.",
)
@click.option("--wait", is_flag=True, help="Until every batch has ended.")
@in_folder
def fetch_command(
    requests: Path, endpoint: str, results: Path, *, wait: bool, folder: Path
) -> None:
    """Look how the batches of REQUESTS are and download what has ended."""
    with console.progress() as progress:
        got = fetch(requests, _endpoint(folder, endpoint), results, wait=wait, progress=progress)
    ended = sum(state.ended for state in got.states)
    click.echo(f"{ended} of {len(got.states)} batches have ended; {got.lines} result lines")
    if got.lines:
        click.echo(f"read them: labelkit judge --rubric NAME --batch-in {got.path}")
