"""The pool: nothing committed twice, nothing finished lost, at risk at most what is in flight."""

from __future__ import annotations

import asyncio

import pytest

from labelkit.workflows.pool import Pool
from labelkit.workflows.running import run_async


def test_every_job_is_committed_once() -> None:
    committed: list[int] = []

    async def double(job: int) -> int:
        await asyncio.sleep(0)
        return 2 * job

    run_async(Pool(iter(range(500)), double, committed.extend, workers=16).run())
    assert sorted(committed) == [2 * n for n in range(500)]


def test_rows_started_but_not_committed_never_exceed_the_workers() -> None:
    started, committed = 0, 0
    most = 0

    async def work(job: int) -> int:
        nonlocal started, most
        started += 1
        most = max(most, started - committed)
        await asyncio.sleep(0)
        return job

    def commit(batch: list[int]) -> None:
        nonlocal committed
        committed += len(batch)

    run_async(Pool(iter(range(300)), work, commit, workers=7).run())
    assert committed == 300
    assert most <= 7


def test_what_is_finished_is_committed_when_a_job_breaks() -> None:
    committed: list[int] = []

    async def work(job: int) -> int:
        if job == 20:
            raise RuntimeError("broken")
        return job

    with pytest.raises(RuntimeError, match="broken"):
        run_async(Pool(iter(range(100)), work, committed.extend, workers=4).run())
    assert set(range(20)) - {17, 18, 19} <= set(committed)
    assert len(committed) == len(set(committed))


def test_a_commit_that_fails_ends_the_run_with_its_error() -> None:
    async def work(job: int) -> int:
        return job

    def commit(batch: list[int]) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        run_async(Pool(iter(range(100)), work, commit, workers=4).run())


def test_jobs_are_drawn_lazily() -> None:
    drawn = 0

    def jobs():
        nonlocal drawn
        for n in range(1000):
            drawn += 1
            yield n

    async def work(job: int) -> int:
        if job == 10:
            raise RuntimeError("stop here")
        return job

    with pytest.raises(RuntimeError):
        run_async(Pool(jobs(), work, lambda batch: None, workers=2).run())
    assert drawn < 20


def test_the_same_call_works_inside_a_running_loop() -> None:
    # E7: a notebook's loop is already running.
    async def notebook_cell() -> int:
        async def work() -> int:
            await asyncio.sleep(0)
            return 42

        return run_async(work())

    assert asyncio.run(notebook_cell()) == 42
