"""``labelkit judge``: rule and judges label; what they did, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from labelkit.catalog.rubrics import load_rubric
from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store, rubric_option
from labelkit.domain.task import Tag
from labelkit.errors import InputError
from labelkit.rules.registry import rule_of
from labelkit.workflows.batch_in import BatchIn, read_verdicts
from labelkit.workflows.batch_out import BatchOut, write_requests
from labelkit.workflows.judges import Tally
from labelkit.workflows.label import LabelRun, judge
from labelkit.workflows.orders import chosen_judges

COLUMNS = (
    "rater",
    "failed by reason",
    "tokens in/out",
    "cost",
    "owed",
    "labelled",
    "abstained",
    "failed",
    "cached",
    "requests",
)


@click.command("judge")
@rubric_option
@click.option("--judge", "names", multiple=True, metavar="NAME", help="Only these judges.")
@click.option("--rule-only", is_flag=True, help="Only the rule; no request is sent.")
@click.option("--retry-failed", is_flag=True, help="Try rows again whose verdict is missing.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first traces.")
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    help="Processes that run the rule; default: one per core for large stores.",
)
@click.option(
    "--policy",
    multiple=True,
    metavar="NAME=VALUE",
    help="Only the rule, with an option changed: its labels stand beside and do not vote.",
)
@click.option(
    "--batch-out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Send nothing: write what the judges owe as an OpenAI batch file.",
)
@click.option(
    "--batch-in",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Send nothing: read labels from the results of such a file.",
)
@in_folder
def command(  # noqa: PLR0913, PLR0917 - one parameter per option is click's way
    rubric: str,
    names: tuple[str, ...],
    rule_only: bool,
    retry_failed: bool,
    limit: int | None,
    processes: int | None,
    policy: tuple[str, ...],
    batch_out: Path | None,
    batch_in: Path | None,
    folder: Path,
) -> None:
    """Label traces with the rubric's rule and every configured judge. Stop and resume at will."""
    if policy and (names or batch_out is not None or batch_in is not None):
        raise InputError(
            "--policy changes the rule and runs it alone; leave out --judge, --batch-out and "
            "--batch-in"
        )
    if batch_out is not None or batch_in is not None:
        _batch(rubric, names, retry_failed, limit, batch_out, batch_in, rule_only, folder)
        return
    chosen: Sequence[str] | None = () if rule_only else names or None
    with opened_store(folder) as (store, settings), console.progress() as progress:
        scheme = load_rubric(rubric)
        if rule_only and rule_of(scheme) is None and chosen_judges(settings, scheme, None):
            raise InputError(f"{scheme.name} has no rule; leave out --rule-only")
        done = judge(
            store,
            scheme,
            settings,
            judges=chosen,
            retry_failed=retry_failed,
            limit=limit,
            processes=processes,
            progress=progress,
            policy=_options_of(policy),
        )
    show(done, rubric)


def _batch(
    rubric: str,
    names: tuple[str, ...],
    retry_failed: bool,
    limit: int | None,
    batch_out: Path | None,
    batch_in: Path | None,
    rule_only: bool,
    folder: Path,
) -> None:
    """Write a request file, or read a result file."""
    if (batch_out is not None and batch_in is not None) or rule_only:
        raise InputError(
            "--batch-out writes requests and --batch-in reads results; give one of the two, and"
            " --rule-only without them"
        )
    if batch_in is not None and (limit is not None or retry_failed):
        raise InputError("--batch-in reads whatever the file holds; leave the other options out")
    with opened_store(folder) as (store, settings), console.progress() as progress:
        scheme = load_rubric(rubric)
        if batch_out is not None:
            sent = write_requests(
                store,
                scheme,
                settings,
                batch_out,
                judges=names or None,
                retry_failed=retry_failed,
                limit=limit,
                progress=progress,
            )
        if batch_in is not None:
            read = read_verdicts(
                store, scheme, settings, batch_in, judges=names or None, progress=progress
            )
    if batch_out is not None:
        _show_out(sent, rubric)
    if batch_in is not None:
        _refuse_foreign(read, batch_in, rubric)
        _show_in(read, rubric)


def _show_out(sent: BatchOut, rubric: str) -> None:
    """Print what was written and what to do with it."""
    for remark in sent.remarks:
        click.echo(remark)
    for rater, number in sent.written.items():
        click.echo(f"{rater}: {number} requests")
    if sent.cached:
        click.echo(f"{sent.cached} rows were labelled from replies in the store")
    if sent.skipped:
        click.echo(f"{sent.skipped} rows cannot be judged with this rubric")
    if not sum(sent.written.values()):
        click.echo("nothing is owed; no file was written")
        return
    click.echo(
        f"written to {sent.path}. Run it with any engine that reads OpenAI batch files (such as"
        f" `labelkit batch submit {sent.path}`), then: labelkit judge --rubric {rubric}"
        " --batch-in RESULTS"
    )


def _refuse_foreign(read: BatchIn, path: Path, rubric: str) -> None:
    """Refuse a file of which no line belongs here: it is the wrong file or the wrong place.

    Raises:
        InputError: says whether the file holds no results, or those of something else.
    """
    if read.foreign < read.lines:
        return
    if read.unreadable == read.lines:
        raise InputError(
            f"{path} holds no result lines (JSON objects with `custom_id` and `response`); name "
            "the file that the engine wrote"
        )
    raise InputError(
        f"none of the {read.lines} lines of {path} belongs to a judge of {rubric} here: its "
        "results are of another rubric or rubric version, judge or store; name those that this "
        "file was asked with"
    )


def _show_in(read: BatchIn, rubric: str) -> None:
    """Print what became of every line, and the raters' table."""
    unanswered = ", ".join(f"{n} {why}" for why, n in sorted(read.unanswered.items()))
    counts = {
        "had their label already": read.known,
        "repeat another line": read.repeated,
        "belong to another rubric, judge or store, or are no results": read.foreign,
        "answer a request that is asked differently now": read.stale,
        f"were not answered and stay owed ({unanswered})": sum(read.unanswered.values()),
        "cannot be judged with this rubric": read.outside,
    }
    click.echo(f"{read.lines} lines read")
    for words, number in counts.items():
        if number:
            click.echo(f"  {number} {words}")
    show(LabelRun(rubric, tuple(read.tallies), ()), rubric)


def _options_of(words: Sequence[str]) -> dict[str, Tag]:
    """Read ``NAME=VALUE``; a value that reads as a number, true or false is one."""
    options: dict[str, Tag] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name or not text:
            raise InputError(f"--policy {word!r} is not NAME=VALUE; write --policy policy=strict")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        options[name] = value if isinstance(value, bool | int | float) else text
    return options


def show(done: LabelRun, rubric: str) -> None:
    """Print what every rater did, and how to try failed rows again."""
    out = console.out()
    if not done.tallies:
        out.print(console.plain(f"{done.rubric} has no rule and no judge is configured for it"))
        return
    rows = [_row(tally) for tally in done.tallies]
    out.print(console.table(f"Labels for {done.rubric}", COLUMNS, rows, text_columns=2))
    if done.failed:
        out.print(
            console.plain(
                f"{done.failed} verdicts are missing; they are excluded from every rate and "
                f"counted. Try them again: labelkit judge --rubric {rubric} --retry-failed"
            )
        )


def _row(tally: Tally) -> tuple[str, ...]:
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(tally.failed.items()))
    if tally.skipped:
        reasons = ", ".join(filter(None, (reasons, f"{tally.skipped} outside the rubric")))
    counts = (tally.planned, tally.labelled, tally.abstained, sum(tally.failed.values()))
    return (
        tally.rater,
        reasons,
        *_spent(tally),
        *(str(count) for count in counts),
        str(tally.cached),
        str(tally.ledger.attempts) if tally.ledger else "",
    )


def _spent(tally: Tally) -> tuple[str, str]:
    """Tokens and cost; what the endpoint did not say is unknown, never zero."""
    if tally.ledger is None:
        return "", ""
    sums = tally.ledger.snapshot()
    if not tally.ledger.replies:
        return "0 / 0", ""
    tokens = "unknown"
    if sums["prompt_tokens"] is not None:
        tokens = f"{sums['prompt_tokens']:,} / {sums['completion_tokens']:,}"
    cost = "unknown" if sums["cost"] is None else f"{sums['cost']:.4f} {sums['currency']}"
    return tokens, cost
