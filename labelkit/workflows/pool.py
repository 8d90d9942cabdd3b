"""Many rows at once, committed as they finish, with never more at risk than rows in flight.

A worker takes its next row only when its last one is committed. So a process that is killed
loses at most one unfinished row per worker, and a resumed run repeats no other request. Rows that
finish close together share one transaction; that is what makes a commit cheap.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Generic, TypeVar

from labelkit.workflows.collecting import seldom_collecting

Job = TypeVar("Job")
Done = TypeVar("Done")

# Waiting this long for company makes batches of some ten rows at a thousand rows per second and
# is not felt by anybody.
GATHER_S = 0.004


class Pool(Generic[Job, Done]):
    """Workers over one stream of jobs with a group commit.

    Args:
        jobs: what to do; consumed lazily, so a store of any size streams through.
        work: does one job. An exception ends the run after finished rows are committed.
        commit: writes finished rows in one transaction.
        workers: number of rows in flight at most.
    """

    def __init__(
        self,
        jobs: Iterator[Job],
        work: Callable[[Job], Awaitable[Done]],
        commit: Callable[[Sequence[Done]], None],
        workers: int,
    ) -> None:
        self._jobs = jobs
        self._work = work
        self._commit = commit
        self._workers = workers
        self._finished: list[tuple[Done, asyncio.Future[None]]] = []
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Do all jobs. Finished rows are committed whatever ends the run."""
        with seldom_collecting():
            await self._run()

    async def _run(self) -> None:
        committer = asyncio.create_task(self._commit_as_they_finish())
        workers = [asyncio.create_task(self._worker()) for _ in range(self._workers)]
        try:
            await asyncio.gather(*workers)
        finally:
            for task in (*workers, committer):
                task.cancel()
            await asyncio.gather(*workers, committer, return_exceptions=True)
            if self._finished:
                self._commit([done for done, _ in self._finished])

    async def _worker(self) -> None:
        loop = asyncio.get_running_loop()
        for job in self._jobs:
            done = await self._work(job)
            committed = loop.create_future()
            self._finished.append((done, committed))
            self._wake.set()
            await committed

    async def _commit_as_they_finish(self) -> None:
        while True:
            await self._wake.wait()
            await asyncio.sleep(GATHER_S)
            self._wake.clear()
            self._flush()

    def _flush(self) -> None:
        finished, self._finished = self._finished, []
        try:
            self._commit([done for done, _ in finished])
        except Exception as error:  # a full disk ends the run where the rows wait for their commit
            for waiting in (future for _, future in finished if not future.done()):
                waiting.set_exception(error)
            return
        for waiting in (future for _, future in finished if not future.done()):
            waiting.set_result(None)
