"""Judging by batch files, the way back: result lines become labels, as replies do in ``judge``.

A result file comes from outside. A line is used when its row is owed under exactly the identity
that the line carries; every other line is counted and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from labelkit.domain.completion import Completion
from labelkit.domain.label import Label
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.judging.judge import Prepared
from labelkit.models.batch_lines import completion_of
from labelkit.models.ledger import Ledger
from labelkit.models.request import request_digest
from labelkit.settings import Settings
from labelkit.store import Selection, Store
from labelkit.store.labels import commit_labels
from labelkit.store.pending import pending_rows
from labelkit.store.selection import chunks
from labelkit.store.traces import known_traces
from labelkit.workflows.batch_ids import (
    ASKED,
    BatchRater,
    Found,
    batch_order,
    batch_raters,
    code_of,
)
from labelkit.workflows.judges import LABELLED_STATES, Tally, versioned
from labelkit.workflows.orders import check_judges
from labelkit.workflows.progress import Progress, Silent
from labelkit.workflows.result_lines import LineCounts, usable

_PAGE = 64


@dataclass
class BatchIn(LineCounts):
    """What came of a result file.

    ``tallies`` count the rows that were labelled or failed; ``outside`` rows cannot be judged.
    """

    tallies: list[Tally] = field(default_factory=list)
    outside: int = 0


def read_verdicts(
    store: Store,
    rubric: Rubric,
    settings: Settings,
    path: Path,
    *,
    judges: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> BatchIn:
    """Read a result file into labels, exactly as ``judge`` reads replies.

    Safe with partial, repeated, reordered, foreign and failed lines, and to be run again.

    Args:
        store: the store that the requests were written from.
        rubric: the rubric.
        settings: endpoints and judges, as they were.
        path: the result file (JSON lines).
        judges: only these judges.
        progress: hears of every line.

    Raises:
        InputError: when the file cannot be read.
    """
    listener = progress or Silent()
    order = batch_order(settings, rubric, judges, retry_failed=True, limit=None)
    check_judges(store, order)
    raters = {rater.who: rater for rater in batch_raters(store, order)}
    done = BatchIn(tallies=[rater.tally for rater in raters.values()])
    stage = f"read {path.name}"
    listener.begin(stage, None)
    try:
        for page in chunks(usable(path, raters, done), _PAGE):
            for who in dict.fromkeys(found.who for found in page):
                mine = [found for found in page if found.who == who]
                _read_page(store, raters[who], mine, done)
            listener.advance(stage, len(page))
    finally:
        listener.end(stage)
    return done


def _read_page(store: Store, rater: BatchRater, page: Sequence[Found], done: BatchIn) -> None:
    """Label the rows of one rater that a few lines answer, in one transaction."""
    owed = _owed(store, rater, page)
    here = known_traces(store, {found.trace for found in page})
    labels: list[Label] = []
    replies: list[Completion] = []
    for found in page:
        if found.trace not in here:
            done.foreign += 1
            continue
        row = owed.get((found.trace, found.repeat, found.version))
        if row is None:
            done.known += 1
            continue
        if rater.judge.excluded(*row) is not None:
            done.outside += 1
            continue
        ready = rater.judge.prepare(*row, found.repeat)
        reply = _reply(rater, ready, found, done)
        if reply is None:
            continue
        judgement = rater.judge.read(ready, reply)
        labels += versioned(judgement.labels, found.version)
        replies += judgement.completions
        rater.tally.planned += 1
        rater.tally.count(judgement.labels[-1])
    commit_labels(store, labels, replies)


def _owed(
    store: Store, rater: BatchRater, page: Sequence[Found]
) -> dict[tuple[str, int, int], tuple[Trace, Task | None]]:
    """The rows of a page that are owed, by trace, repeat and version."""
    repeats = min(100, 1 + max(found.repeat for found in page))
    selection = Selection(
        states=LABELLED_STATES, digests=list(dict.fromkeys(found.trace for found in page))
    )
    judge = rater.judge
    rows = pending_rows(
        store, judge.rater.digest, judge.questions, repeats, selection, retry_failed=True
    )
    return {(row.trace, row.repeat, row.version): (trace, task) for row, trace, task in rows}


def _reply(rater: BatchRater, ready: Prepared, found: Found, done: BatchIn) -> Completion | None:
    """The reply of a line to the request that it names, or None with the reason counted."""
    judge = rater.judge
    larger = judge.larger(ready)
    for request, key in (
        (ready.request, ready.digest),
        (larger, request_digest(judge.endpoint, larger)),
    ):
        if code_of(key, ASKED) == found.asked:
            ledger = rater.tally.ledger or Ledger()
            reply = completion_of(
                judge.endpoint, request, key, found.line, rater.capabilities, ledger
            )
            if reply is None:
                done.not_answered(found.line)
            return reply
    done.stale += 1
    return None
