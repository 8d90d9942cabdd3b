"""Judging by batch files, the way out: a request line for every row that the judges owe.

No request is sent from here, and nothing marks a row as asked for: it is owed until its result is
read (``batch_in``), so a lost file costs nothing but the asking again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from labelkit.domain.completion import Completion
from labelkit.domain.label import Outcome
from labelkit.domain.rubric import Rubric
from labelkit.judging.judge import Judge, Prepared
from labelkit.models.batch_lines import request_line
from labelkit.models.request import ChatRequest, request_digest
from labelkit.settings import Settings
from labelkit.store import Store
from labelkit.store.completions import completions, exchanges
from labelkit.store.labels import commit_labels
from labelkit.store.pending import Pending, pending_pages
from labelkit.store.selection import chunks
from labelkit.workflows.batch_ids import BatchRater, batch_order, batch_raters, custom_id
from labelkit.workflows.judges import versioned
from labelkit.workflows.orders import Order, check_judges
from labelkit.workflows.progress import Progress, Silent
from labelkit.workflows.request_file import refuse_existing, request_file

_PAGE = 64


@dataclass(frozen=True)
class BatchOut:
    """What was written. ``cached`` rows had their reply in the store and were labelled from it."""

    path: Path
    written: dict[str, int]
    cached: int
    skipped: int
    remarks: tuple[str, ...] = ()


def write_requests(
    store: Store,
    rubric: Rubric,
    settings: Settings,
    path: Path,
    *,
    judges: Sequence[str] | None = None,
    retry_failed: bool = False,
    limit: int | None = None,
    progress: Progress | None = None,
) -> BatchOut:
    """Write a request line for every row that the judges owe.

    A row whose reply is in the store already is labelled from it. A row whose last reply was cut
    off is asked for with twice the room. What an endpoint is known to refuse is left out, as in
    ``judge``; an endpoint that was never asked gets the strict schema.

    Args:
        store: an open store.
        rubric: the rubric.
        settings: endpoints and judges.
        path: the new file.
        judges: names of the judges; None: all that are meant for the rubric.
        retry_failed: also rows whose label in force is a failure.
        limit: only the first traces.
        progress: hears of every row.

    Raises:
        InputError: the file exists, an unknown judge, a judge that would grade its own traces.
    """
    refuse_existing(path)
    listener = progress or Silent()
    order = batch_order(settings, rubric, judges, retry_failed=retry_failed, limit=limit)
    remarks = check_judges(store, order)
    written: dict[str, int] = {}
    cached = skipped = 0
    with request_file(path) as file:
        for rater in batch_raters(store, order):
            name = rater.tally.rater
            written[name] = 0
            listener.begin(f"write {name}", None)
            for line, from_cache in _owed_lines(store, order, rater):
                if line:
                    file.write(line)
                    written[name] += 1
                cached += from_cache
                skipped += not line and not from_cache
                listener.advance(f"write {name}")
            listener.end(f"write {name}")
    return BatchOut(path, written, cached, skipped, tuple(remarks))


def _owed_lines(store: Store, order: Order, rater: BatchRater) -> Iterator[tuple[bytes, bool]]:
    """Yield the request line of every owed row, and whether it was labelled from the cache instead.

    Neither: the row cannot be judged.
    """
    judge = rater.judge
    owed = pending_pages(
        store,
        judge.rater.digest,
        judge.questions,
        rater.repeats,
        order.selection,
        retry_failed=order.retry_failed,
    )
    for page in (rows for found in owed for rows in chunks(found, _PAGE)):
        prepared = []
        for row, trace, task in page:
            if judge.excluded(trace, task) is None:
                prepared.append((row, judge.prepare(trace, task, row.repeat)))
            else:
                yield b"", False
        known = completions(store, [ready.digest for _, ready in prepared])
        for row, ready in prepared:
            reply = known.get(ready.digest)
            if reply is not None and _labelled(store, judge, row, ready, reply):
                yield b"", True
                continue
            request, asked = _asked(store, judge, row, ready)
            name = custom_id(ready.trace, rater.who, asked, row.repeat, row.version)
            yield request_line(judge.endpoint, request, rater.capabilities, name), False


def _labelled(store: Store, judge: Judge, row: Pending, ready: Prepared, reply: Completion) -> bool:
    """Label a row from its reply in the store, if that can still be read."""
    judgement = judge.read(ready, reply)
    if judgement.labels[0].outcome is Outcome.FAILED:
        return False
    labels = [label.model_copy(update={"cached": True}) for label in judgement.labels]
    commit_labels(store, versioned(labels, row.version))
    return True


def _asked(store: Store, judge: Judge, row: Pending, ready: Prepared) -> tuple[ChatRequest, str]:
    """The request to write and its digest: the larger one where the last reply was cut off."""
    if row.version:
        before = exchanges(store, ready.digest)
        if before and before[-1].finish_reason == "length":
            larger = judge.larger(ready)
            return larger, request_digest(judge.endpoint, larger)
    return ready.request, ready.digest
