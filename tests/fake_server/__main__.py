"""``python -m tests.fake_server``: the fake server as a process of its own.

Prints its base URL as the first line. ``GET /v1/stats`` tells what it has seen. ``--fast``
answers every request with the same bytes, without reading it: for benchmarks only.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
from typing import Any

from tests.fake_server import replies
from tests.fake_server.fast import serve_fast
from tests.fake_server.replies import Reply
from tests.fake_server.server import FakeServer


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fake_server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--no-record", action="store_true", help="keep no requests in memory")
    parser.add_argument("--fast", action="store_true", help="constant reply, requests not read")
    parser.add_argument("--content", help="the content of every reply, as text")
    parser.add_argument("--fail-rate", type=float, default=0.0, help="share of 429 replies")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(options))


async def _serve(options: argparse.Namespace) -> None:
    latency_s = options.latency_ms / 1000
    content = options.content
    if options.fast:
        usage = {"prompt_tokens": 2000, "completion_tokens": 20, "total_tokens": 2020}
        verdict = content if content is not None else json.dumps({"label": "correct"})
        await serve_fast(options.port, latency_s, replies.text(verdict, usage=usage).encoded())
        return
    draw = random.Random(options.seed)
    server = FakeServer(port=options.port, latency_s=latency_s, record=not options.no_record)

    def decide(_: dict[str, Any]) -> Reply | str | None:
        if draw.random() < options.fail_rate:
            return replies.rate_limited(retry_after_ms="10")
        return content if isinstance(content, str) else None

    server.reply = decide
    await server.serve(lambda: print(server.base_url, flush=True))


if __name__ == "__main__":
    main()
