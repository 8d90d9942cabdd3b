"""``labelkit models``: weights on this machine, and how to fetch others."""

from __future__ import annotations

import click

from labelkit.cli import console
from labelkit.models.weights import Weights, fetch_model, how_to_fetch, list_models


@click.group("models", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Models for the engine `local`. Without a command: list them."""
    if context.invoked_subcommand is None:
        _list()


@command.command("list")
def list_command() -> None:
    """List the packaged model, fetched ones and known ones."""
    _list()


@command.command("fetch")
@click.argument("name")
@click.option("--url", help="Where the GGUF file is; may be left out for a model fetched before.")
@click.option("--sha256", help="Its SHA-256, from the model's page; what comes is checked.")
def fetch(name: str, url: str | None, sha256: str | None) -> None:
    """Fetch the model NAME once, check its hash, keep it; resumes a broken download."""
    with console.progress() as progress:
        stage = f"fetch {name}"
        seen = 0
        begun = False

        def hear(done: int, total: int | None) -> None:
            nonlocal seen, begun
            if not begun:
                progress.begin(stage, total)
                begun = True
            progress.advance(stage, done - seen)
            seen = done

        path = fetch_model(name, url, sha256, progress=hear)
        if begun:
            progress.end(stage)
    click.echo(f"{name}: {path}")


def _list() -> None:
    rows = [_row(weights) for weights in list_models()]
    columns = ("model", "where", "licence", "note", "size")
    out = console.out()
    out.print(console.table("Models for the engine local", columns, rows, text_columns=4))
    for weights in list_models():
        if weights.path is None:
            out.print(console.plain(f"{weights.name}: {how_to_fetch(weights)}"))
    out.print(console.plain("any other GGUF file: name it in labelkit.yaml as model_path"))


def _row(weights: Weights) -> tuple[str, ...]:
    size = "unknown" if weights.size is None else f"{weights.size / 1e6:.0f} MB"
    return (weights.name, weights.origin, weights.licence or "unknown", weights.note, size)
