"""The cheapest HTTP/1.1 server that a benchmark can share two cores with.

It counts requests by their Content-Length, reads nothing else of them, and answers each with the
same bytes after the same delay.
"""

from __future__ import annotations

import asyncio
import re

_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)


class _Constant(asyncio.Protocol):
    def __init__(self, latency_s: float, response: bytes) -> None:
        self._latency_s = latency_s
        self._response = response
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if end == -1:
                return
            length = _LENGTH.search(self._buffer, 0, end)
            whole = end + 4 + (int(length[1]) if length else 0)
            if len(self._buffer) < whole:
                return
            del self._buffer[:whole]
            asyncio.get_running_loop().call_later(self._latency_s, self._answer)

    def _answer(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._response)


async def serve_fast(port: int, latency_s: float, body: bytes) -> None:
    """Serve ``body`` on loopback until cancelled; prints the base URL first."""
    response = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
        % (len(body), body)
    )
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: _Constant(latency_s, response), "127.0.0.1", port, backlog=1024
    )
    async with server:
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
        await server.serve_forever()
