"""Claims that are kept alive while work goes on, and given back when it ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from labelkit.errors import StoreError
from labelkit.store.claims import RENEW_S, Claims

WAIT_S = 1.0
"""How long to wait before rows that other workers hold are asked for again."""


@contextlib.asynccontextmanager
async def holding(claims: Claims | None) -> AsyncIterator[None]:
    """Renew the claims until the block ends, then release them; without claims do nothing."""
    if claims is None:
        yield
        return
    renewing = asyncio.create_task(_renew(claims))
    try:
        yield
    finally:
        renewing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await renewing
        # A store that is gone lets the claims run out; what ended the block says more.
        with contextlib.suppress(StoreError):
            claims.release_all()


async def _renew(claims: Claims) -> None:
    while True:
        await asyncio.sleep(RENEW_S)
        with contextlib.suppress(StoreError):
            claims.renew()
