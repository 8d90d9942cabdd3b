"""How many requests may be in flight: as many as the endpoint bears, never more than allowed.

The window grows by one per success until the endpoint first complains, then by about one per
window; a complaint (429, 503, timeout) cuts it (additive increase, multiplicative decrease: Chiu
and Jain, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance", 1989).
Complaints about requests that were sent before the last cut do not cut again. A Retry-After
pauses every new send, not only the row that met it. Waiters are served in order,
those that come back before those that have not begun.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque

START = 8
DECREASE = 0.7
_OPEN = 1 << 30


class Limiter:
    """An adaptive, fair semaphore. Belongs to one event loop.

    Args:
        maximum: the window never grows beyond it.
        start: first window, at most ``maximum``.
    """

    def __init__(self, maximum: int, start: int = START) -> None:
        self.maximum = maximum
        self.window = float(min(start, maximum))
        self.in_flight = 0
        self.peak = 0
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._returning: deque[asyncio.Future[None]] = deque()
        self._epoch = 0
        self._complained = False
        self._paused_until = 0.0  # the loop's clock
        self._timer: asyncio.TimerHandle | None = None

    @property
    def paused(self) -> bool:
        """Whether nobody is let in for now."""
        return self._timer is not None

    async def acquire(self, *, returning: bool = False) -> int:
        """Wait for a place; returns a ticket for ``release``. Safe to cancel.

        A ``returning`` row (one that was sent before, so that its time budget runs) goes before
        those that have not begun.
        """
        if self._waiters or self._returning or not self._room():
            place = asyncio.get_running_loop().create_future()
            queue = self._returning if returning else self._waiters
            queue.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self._leave()
                else:
                    with contextlib.suppress(ValueError):
                        queue.remove(place)
                raise
        else:
            self._enter()
        return self._epoch

    def release(self, ticket: int, *, overloaded: bool = False, succeeded: bool = False) -> None:
        """Give the place back and say how the request went."""
        if overloaded and ticket == self._epoch:
            self._epoch += 1
            self._complained = True
            self.window = max(1.0, self.window * DECREASE)
        elif succeeded:
            step = 1.0 / self.window if self._complained else 1.0
            self.window = min(float(self.maximum), self.window + step)
        self._leave()

    def pause(self, seconds: float) -> None:
        """Let nobody in for ``seconds``; a longer pause that already runs stays."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        if until > self._paused_until:
            self._paused_until = until
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(until, self._resume)

    def close(self) -> None:
        """End a pause and let every waiter in: the endpoint is given up, nothing more is sent."""
        self._resume()
        self.window = float(_OPEN)
        self._admit()

    def _resume(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._paused_until = 0.0
        self._admit()

    def _room(self) -> bool:
        return not self.paused and self.in_flight < int(self.window)

    def _enter(self) -> None:
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)

    def _leave(self) -> None:
        self.in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        while (self._returning or self._waiters) and self._room():
            place = (self._returning or self._waiters).popleft()
            if not place.done():
                self._enter()
                place.set_result(None)
