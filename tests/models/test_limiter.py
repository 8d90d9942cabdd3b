"""Never more in flight than allowed, fair, safe to cancel, quick to yield and slow to grow."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.models.limiter import DECREASE, START, Limiter


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_it_starts_moderately_and_below_its_maximum() -> None:
    assert Limiter(64).window == START
    assert Limiter(3).window == 3


def test_it_doubles_until_the_first_complaint_and_creeps_afterwards() -> None:
    async def work() -> None:
        limiter = Limiter(64, start=4)
        for _ in range(4):
            limiter.release(await limiter.acquire(), succeeded=True)
        assert limiter.window == 8
        limiter.release(await limiter.acquire(), overloaded=True)
        assert limiter.window == pytest.approx(8 * DECREASE)
        before = limiter.window
        limiter.release(await limiter.acquire(), succeeded=True)
        assert limiter.window == pytest.approx(before + 1 / before)

    asyncio.run(work())


def test_complaints_about_one_window_cut_once() -> None:
    async def work() -> None:
        limiter = Limiter(64, start=10)
        tickets = [await limiter.acquire() for _ in range(10)]
        for ticket in tickets:
            limiter.release(ticket, overloaded=True)
        assert limiter.window == pytest.approx(10 * DECREASE)

    asyncio.run(work())


def test_it_never_grows_beyond_its_maximum_nor_shrinks_to_nothing() -> None:
    async def work() -> None:
        limiter = Limiter(5)
        for _ in range(50):
            limiter.release(await limiter.acquire(), succeeded=True)
        assert limiter.window == 5
        for _ in range(50):
            limiter.release(await limiter.acquire(), overloaded=True)
        assert limiter.window == 1

    asyncio.run(work())


def test_waiters_enter_in_order() -> None:
    async def work() -> None:
        limiter = Limiter(1)
        order: list[int] = []

        async def row(number: int) -> None:
            ticket = await limiter.acquire()
            order.append(number)
            await asyncio.sleep(0)
            limiter.release(ticket)

        await asyncio.gather(*(row(number) for number in range(10)))
        assert order == list(range(10))

    asyncio.run(work())


def test_rows_that_come_back_go_before_rows_that_have_not_begun() -> None:
    async def work() -> None:
        limiter = Limiter(1)
        held = await limiter.acquire()
        order: list[str] = []

        async def row(name: str) -> None:
            ticket = await limiter.acquire(returning=name.startswith("again"))
            order.append(name)
            limiter.release(ticket)

        names = ["new 1", "new 2", "again 1", "again 2"]
        rows = [asyncio.create_task(row(name)) for name in names]
        await turns()
        limiter.release(held)
        await asyncio.gather(*rows)
        assert order == ["again 1", "again 2", "new 1", "new 2"]

    asyncio.run(work())


def test_a_pause_holds_everybody_and_a_longer_one_wins() -> None:
    async def work() -> None:
        limiter = Limiter(4)
        limiter.pause(0.02)
        limiter.pause(0.001)
        row = asyncio.create_task(limiter.acquire())
        await turns()
        assert limiter.paused
        assert not row.done()
        await row
        assert not limiter.paused

    asyncio.run(work())


def test_closing_lets_everybody_in() -> None:
    async def work() -> None:
        limiter = Limiter(1)
        limiter.pause(1000)
        rows = [asyncio.create_task(limiter.acquire()) for _ in range(5)]
        await turns()
        limiter.close()
        await asyncio.gather(*rows)
        assert limiter.in_flight == 5

    asyncio.run(work())


def test_a_place_given_to_a_cancelled_row_goes_to_the_next() -> None:
    async def work() -> None:
        limiter = Limiter(1)
        held = await limiter.acquire()
        first, second = (asyncio.create_task(limiter.acquire()) for _ in range(2))
        await turns()
        limiter.release(held)  # the place is first's now, but first has not run yet
        first.cancel()
        await second
        assert first.cancelled()
        assert limiter.in_flight == 1

    asyncio.run(work())


@settings(max_examples=50, deadline=None)
@given(
    maximum=st.integers(1, 6),
    rows=st.lists(st.sampled_from(["ok", "busy", "failed", "cancelled"]), max_size=30),
)
def test_whatever_happens_every_place_comes_back(maximum: int, rows: list[str]) -> None:
    async def work() -> None:
        limiter = Limiter(maximum)

        async def row(fate: str) -> None:
            ticket = await limiter.acquire()
            assert limiter.in_flight <= maximum
            try:
                await asyncio.sleep(0)
            finally:
                limiter.release(ticket, overloaded=fate == "busy", succeeded=fate == "ok")

        tasks = [asyncio.create_task(row(fate)) for fate in rows]
        await asyncio.sleep(0)
        for task, fate in zip(tasks, rows, strict=True):
            if fate == "cancelled":
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert limiter.in_flight == 0
        assert limiter.peak <= maximum

    asyncio.run(work())
