"""``labelkit run``: a model plays a task set."""

from __future__ import annotations

from pathlib import Path

import click

from labelkit.catalog.rubrics import load_rubric
from labelkit.catalog.task_sets import load_conditions
from labelkit.cli import console, judge_verb, report_verb
from labelkit.cli.options import in_folder, opened_store
from labelkit.errors import InputError
from labelkit.rollout.arms import ARMS, RERUN
from labelkit.rollout.protocol import Decoding
from labelkit.rollout.protocols import protocol_names
from labelkit.workflows.label import judge
from labelkit.workflows.report import report
from labelkit.workflows.run import RolloutRun, plan_of, play
from labelkit.workflows.run_files import RolloutsIn, RolloutsOut, read_rollouts, write_rollouts
from labelkit.workflows.staging import Rerun, TaskSource, load_tasks, manner_of, other_sets


@click.command("run")
@click.option("--tasks", required=True, metavar="NAME|PATH", help="A task set, or a file of tasks.")
@click.option("--endpoint", required=True, metavar="NAME", help="An endpoint of labelkit.yaml.")
@click.option(
    "--protocol",
    metavar="NAME",
    help=f"How tasks are played ({', '.join(protocol_names())}); default: what the set says.",
)
@click.option(
    "--condition", metavar="NAME", help="A prompt variant of the set, or a name for these rollouts."
)
@click.option(
    "--conditions",
    "variants",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file of prompt variants, instead of the set's own.",
)
@click.option("--arm", metavar="NAME", help=f"{', '.join(ARMS)}; default: baseline for hazards.")
@click.option("--rerun-of", metavar="CONDITION", help="For --arm rerun: whose failures.")
@click.option(
    "--rubric",
    metavar="NAME|PATH",
    help="For --rerun-of and --label; default: the rubric that the task set names.",
)
@click.option(
    "--failed",
    default="incorrect",
    show_default=True,
    metavar="LABEL,...",
    help="Labels of that rule that are failures.",
)
@click.option("--repeats", default=1, type=click.IntRange(1, 1000), show_default=True)
@click.option("--max-tokens", default=1024, type=click.IntRange(min=16), show_default=True)
@click.option("--max-turns", type=click.IntRange(1, 1000), help="Default: the protocol's own cap.")
@click.option("--temperature", default=0.0, type=click.FloatRange(0, 2), show_default=True)
@click.option("--seed", default=42, type=int, show_default=True)
@click.option("--limit", type=click.IntRange(min=1), help="Only the first tasks.")
@click.option("--label", is_flag=True, help="Then label with the rubric's rule, and report.")
@click.option(
    "--batch-out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Send nothing: write single-turn rollouts (replay) as an OpenAI batch file.",
)
@click.option(
    "--batch-in",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Send nothing: read traces from the results of such a file.",
)
@in_folder
def command(  # noqa: PLR0913, PLR0917 - one parameter per option is click's way
    tasks: str,
    endpoint: str,
    protocol: str | None,
    condition: str | None,
    variants: Path | None,
    arm: str | None,
    rerun_of: str | None,
    rubric: str | None,
    failed: str,
    repeats: int,
    max_tokens: int,
    max_turns: int | None,
    temperature: float,
    seed: int,
    limit: int | None,
    label: bool,
    batch_out: Path | None,
    batch_in: Path | None,
    folder: Path,
) -> None:
    """Turn tasks into traces. Rows that are there already are not played."""
    if batch_out is not None and (batch_in is not None or label):
        raise InputError(
            "--batch-out only writes requests; give --batch-in and --label when the results are"
            " there"
        )
    conditions = load_conditions(variants) if variants else None
    found = None
    with opened_store(folder) as (store, settings), console.progress() as progress:
        source = load_tasks(store, tasks)
        manner = manner_of(
            source,
            protocol=protocol,
            condition=condition,
            conditions=conditions,
            arm=RERUN if rerun_of is not None and arm is None else arm,
            rerun=_rerun(source, rerun_of, rubric, failed),
            max_turns=max_turns,
        )
        decoding = Decoding(max_tokens=max_tokens, temperature=temperature, seed=seed)
        played = source.tasks[:limit]
        plan = plan_of(store, played, settings, endpoint, manner, repeats, decoding, progress)
        if batch_out is not None:
            out = write_rollouts(store, plan, batch_out, progress=progress)
        elif batch_in is not None:
            read = read_rollouts(store, plan, batch_in, progress=progress)
        else:
            done = play(store, plan, progress)
        if label:
            scheme = load_rubric(_rubric_name(source, rubric, "--label"))
            if others := other_sets(store, source):
                progress.say(
                    f"this store also holds traces of {', '.join(others)}: they are labelled and"
                    " counted too; use a folder of its own for each task set"
                )
            labelled = judge(store, scheme, settings, judges=(), progress=progress)
            found = labelled, report(store, scheme)
    if batch_out is not None:
        show_out(out)
    elif batch_in is not None:
        show_in(read)
    else:
        show(done)
    if found is not None:
        labelled, result = found
        judge_verb.show(labelled, labelled.rubric)
        report_verb.show(result)


def _rubric_name(source: TaskSource, named: str | None, option: str) -> str:
    """The rubric that was named, else the one of the task set's card."""
    name = named or (source.card.rubric if source.card else "")
    if not name:
        raise InputError(f"{option} needs --rubric: these tasks name no rubric of their own")
    return name


def _rerun(source: TaskSource, of: str | None, rubric: str | None, failed: str) -> Rerun | None:
    """What is to be run again, with the set's own rubric where none is named."""
    if of is None:
        return None
    name = _rubric_name(source, rubric, "--rerun-of")
    labels = tuple(label.strip() for label in failed.split(",") if label.strip())
    return Rerun(of=of, rubric=load_rubric(name), failed=labels)


def show(done: RolloutRun) -> None:
    """Print how the rollouts ended."""
    states = ", ".join(f"{count} {state}" for state, count in sorted(done.states.items()))
    mode = f"; tool calls {done.tool_mode}" if done.tool_mode else ""
    arm = f" ({done.condition})" if done.condition else ""
    how = f"; protocol {done.protocol}"
    click.echo(
        f"{done.model}{arm}: {states or 'nothing new'}; {done.known} known already{mode}{how}"
    )


def show_out(out: RolloutsOut) -> None:
    """Print what was written and what to do with it."""
    for remark in out.remarks:
        click.echo(remark)
    skipped = f"; {out.skipped} cannot be played" if out.skipped else ""
    click.echo(f"{out.written} requests; {out.known} rollouts known already{skipped}")
    if not out.written:
        click.echo("nothing is owed; no file was written")
        return
    click.echo(
        f"written to {out.path}. Run it with any engine that reads OpenAI batch files (such as"
        f" `labelkit batch submit {out.path}`), then give the same command with --batch-in RESULTS"
        " instead of --batch-out"
    )


def show_in(read: RolloutsIn) -> None:
    """Print what became of every line, and how the rollouts ended."""
    unanswered = ", ".join(f"{n} {why}" for why, n in sorted(read.unanswered.items()))
    counts = {
        "answer a rollout that was there already": read.known,
        "repeat another line": read.repeated,
        "belong to other tasks, another endpoint or manner of playing, or are no results": (
            read.foreign
        ),
        "answer a request that is asked differently now": read.stale,
        f"were not answered and stay owed ({unanswered})": sum(read.unanswered.values()),
    }
    click.echo(f"{read.lines} lines read")
    for words, number in counts.items():
        if number:
            click.echo(f"  {number} {words}")
    show(read.run)
