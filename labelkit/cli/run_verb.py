"""``labelkit run``: a model plays a task set."""

from __future__ import annotations

from pathlib import Path

import click

from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store
from labelkit.workflows.ingest import import_task_set
from labelkit.workflows.run import RolloutRun, run


@click.command("run")
@click.option("--tasks", required=True, metavar="NAME|PATH", help="A task set (name or folder).")
@click.option("--endpoint", required=True, metavar="NAME", help="An endpoint of labelkit.yaml.")
@click.option("--condition", default="", help="Name of the arm these rollouts belong to.")
@click.option("--repeats", default=1, type=click.IntRange(1, 1000), show_default=True)
@click.option("--max-tokens", default=1024, type=click.IntRange(min=16), show_default=True)
@in_folder
def command(
    tasks: str, endpoint: str, condition: str, repeats: int, max_tokens: int, folder: Path
) -> None:
    """Turn tasks into traces (two-step protocol). Rows that are there already are not played."""
    with opened_store(folder) as (store, settings), console.progress() as progress:
        done = run(
            store,
            import_task_set(store, tasks),
            settings,
            endpoint,
            condition=condition,
            repeats=repeats,
            max_tokens=max_tokens,
            progress=progress,
        )
    show(done)


def show(done: RolloutRun) -> None:
    """Print how the rollouts ended."""
    states = ", ".join(f"{count} {state}" for state, count in sorted(done.states.items()))
    mode = f"; tool calls {done.tool_mode}" if done.tool_mode else ""
    click.echo(f"{done.model}: {states or 'nothing new'}; {done.known} known already{mode}")
