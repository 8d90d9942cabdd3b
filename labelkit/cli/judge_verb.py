"""``labelkit judge``: rule and judges label; what they did, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from labelkit.catalog.rubrics import load_rubric
from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store, rubric_option
from labelkit.workflows.judges import Tally
from labelkit.workflows.label import LabelRun, judge

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
@in_folder
def command(
    rubric: str,
    names: tuple[str, ...],
    rule_only: bool,
    retry_failed: bool,
    limit: int | None,
    processes: int | None,
    folder: Path,
) -> None:
    """Label traces with the rubric's rule and every configured judge. Stop and resume at will."""
    chosen: Sequence[str] | None = () if rule_only else names or None
    with opened_store(folder) as (store, settings), console.progress() as progress:
        done = judge(
            store,
            load_rubric(rubric),
            settings,
            judges=chosen,
            retry_failed=retry_failed,
            limit=limit,
            processes=processes,
            progress=progress,
        )
    show(done, rubric)


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
