"""One judge's pass over the store.

A pass asks the endpoint only for rows that have no label yet, commits each row as it finishes, and
stops at once, with everything committed, when the endpoint cannot be used at all. Where several
workers can share a store (PostgreSQL) every row is claimed first, so that none is asked for twice.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from labelkit.domain.completion import Completion
from labelkit.domain.label import Label, Outcome
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace
from labelkit.judging.judge import Judge, Judgement, Prepared
from labelkit.models.client import Client
from labelkit.models.ledger import Ledger
from labelkit.store import Selection, Store
from labelkit.store.claims import claims_for
from labelkit.store.completions import completions
from labelkit.store.labels import commit_labels
from labelkit.store.pending import Pending, pending_pages
from labelkit.store.selection import chunks
from labelkit.workflows.holding import WAIT_S, holding
from labelkit.workflows.pool import Pool
from labelkit.workflows.progress import Progress
from labelkit.workflows.reckoning import ledger_line

LABELLED_STATES = tuple(state.value for state in RowState if state.labelled)
PREPARED = 64


@dataclass
class Tally:
    """What one rater did in one run. ``failed`` counts rows by reason."""

    rater: str
    kind: str
    digest: str
    planned: int = 0
    labelled: int = 0
    abstained: int = 0
    cached: int = 0
    skipped: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    ledger: Ledger | None = None

    def count(self, label: Label) -> None:
        """Count the label of the primary question of one row."""
        self.cached += label.cached
        if label.outcome is Outcome.LABELLED:
            self.labelled += 1
        elif label.outcome is Outcome.ABSTAINED:
            self.abstained += 1
        else:
            self.failed[str(label.reason)] += 1


@dataclass(frozen=True)
class _Job:
    """One row to judge: what is asked, under which version, and a reply that is known already."""

    owed: Pending
    prepared: Prepared
    cached: Completion | None


class JudgePass:
    """Labels what a judge still owes.

    Args:
        store: where traces come from and labels go.
        judge: the judge.
        client: its client; also says when the endpoint is beyond use.
        repeats: labels per trace.
        selection: which traces.
        retry_failed: also rows whose label in force is a failure.
        progress: hears about every row.
    """

    def __init__(
        self,
        store: Store,
        judge: Judge,
        client: Client,
        *,
        repeats: int,
        selection: Selection,
        retry_failed: bool,
        progress: Progress,
    ) -> None:
        self._store = store
        self._judge = judge
        self._client = client
        self._repeats = repeats
        self._selection = selection
        self._retry_failed = retry_failed
        self._progress = progress
        self.stage = judge.rater.name
        self._claims = claims_for(store, judge.rater.digest)
        rater = judge.rater
        self.tally = Tally(rater.name, rater.kind, rater.digest, ledger=client.ledger)

    async def run(self) -> Tally:
        """Label every owed row.

        Raises:
            EndpointError: when the endpoint cannot serve any row; finished rows are committed.
        """
        pool = Pool(self._jobs(), self._work, self._commit, self._client.endpoint.max_concurrency)
        async with holding(self._claims):
            await pool.run()
        if self._client.fatal is not None:
            raise self._client.fatal
        return self.tally

    def _jobs(self) -> Iterator[_Job | None]:
        """Rows to judge, a page at a time, each with its cached reply if there is one.

        None: what is left is in the hands of other workers; wait a moment.
        """
        owed = pending_pages(
            self._store,
            self._judge.rater.digest,
            self._judge.questions,
            self._repeats,
            self._selection,
            retry_failed=self._retry_failed,
            claims=self._claims,
        )
        for found in owed:
            if not found:
                yield from self._waiting()
            for page in chunks(found, PREPARED):
                yield from self._jobs_of(page)

    def _waiting(self) -> Iterator[None]:
        """One waiting worker after the other, until it is time to look again."""
        until = time.monotonic() + WAIT_S
        while self._client.fatal is None and time.monotonic() < until:
            yield None

    def _jobs_of(self, page: Sequence[tuple[Pending, Trace, Task | None]]) -> Iterator[_Job]:
        prepared = []
        for row, trace, task in page:
            if self._judge.excluded(trace, task) is None:
                prepared.append((row, self._judge.prepare(trace, task, row.repeat)))
            else:
                self._release([row])
                self.tally.skipped += 1
                self._progress.advance(self.stage)
        known = completions(self._store, [p.digest for _, p in prepared])
        for row, ready in prepared:
            if self._client.fatal is not None:
                return
            yield _Job(row, ready, known.get(ready.digest))

    def _release(self, rows: Sequence[Pending]) -> None:
        if self._claims is not None and rows:
            self._claims.release([row.item for row in rows])

    async def _work(self, job: _Job | None) -> tuple[_Job, Judgement] | None:
        if job is None:
            await asyncio.sleep(WAIT_S)
            return None
        return job, await self._judge.settle(job.prepared, job.cached)

    def _commit(self, finished: Sequence[tuple[_Job, Judgement] | None]) -> None:
        """Write finished rows. A row that failed because the endpoint is beyond use stays owed."""
        labels: list[Label] = []
        kept: list[Label] = []
        exchanges: list[Completion] = []
        done: list[Pending] = []
        for job, judgement in filter(None, finished):
            if self._client.fatal is not None and any(
                c.failure is not None for c in judgement.completions
            ):
                continue
            kept.append(judgement.labels[-1])
            done.append(job.owed)
            exchanges += judgement.completions
            labels += versioned(judgement.labels, job.owed.version)
        if not done:
            return
        commit_labels(self._store, labels, exchanges)
        self._release(done)
        # Only what is committed counts as done: whoever listens may interrupt here.
        for label in kept:
            self.tally.count(label)
            self._progress.advance(self.stage)
        self._progress.facts(self.stage, ledger_line(self._client.ledger))


def versioned(labels: Sequence[Label], version: int) -> Sequence[Label]:
    """The labels under the version that is owed; 0 is what they have."""
    if version == 0:
        return labels
    return [label.model_copy(update={"version": version}) for label in labels]
