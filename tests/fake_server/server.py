"""One OpenAI-compatible server in a thread of its own: the only place where a model is faked.

Every request is recorded, so that a test can count what was really sent.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from aiohttp import web

from tests.fake_server import replies
from tests.fake_server.batches import Batches
from tests.fake_server.replies import Reply
from tests.fake_server.samples import asked_schema, sample

Script = Callable[[dict[str, Any]], "Reply | str | None"]


@dataclass
class Recorded:
    """One request as it arrived; ``concurrent`` counts those open at its arrival, itself too."""

    method: str
    path: str
    headers: dict[str, str]
    json: Any
    at: float
    concurrent: int
    status: int | None = None
    body: bytes = field(default=b"", repr=False)


class FakeServer:
    """An OpenAI-compatible endpoint on loopback.

    What is answered, first match wins:

    1. ``api_key``: a request without this key gets 401. ``models``: a request for another model
       gets 404 when ``strict_model`` is set.
    2. ``rejects``: parameter name -> error reply for requests that carry it. Special names:
       ``json_schema`` and ``json_object`` (response_format types), ``reasoning_content`` (in any
       message).
    3. ``queue(...)``: replies used once each, in order.
    4. ``reply``: a callable ``request -> Reply | text | None``.
    5. A verdict that satisfies the schema the request asks for.

    ``batches`` is its Batch API: each line of a file is answered like a request of its own.
    ``latency_s`` delays every reply. ``requests`` are the chat requests in order of arrival.
    ``fell`` are the errors of ``reply``: the fixture lets no test pass that has one.
    """

    def __init__(self, *, port: int = 0, latency_s: float = 0.0, record: bool = True) -> None:
        self.port = port
        self.latency_s = latency_s
        self.record = record
        self.reply: Script | None = None
        self.api_key: str | None = None
        self.models: list[str] = ["fake-model"]
        self.strict_model = False
        self.has_models_list = True
        self.rejects: dict[str, Reply] = {}
        self.batches = Batches()
        self.requests: list[Recorded] = []
        self.other_requests: list[Recorded] = []
        self._queue: deque[Reply] = deque()
        self._lock = threading.Lock()
        self._open = 0
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Event | None = None
        self._thread: threading.Thread | None = None
        self.fell: list[Exception] = []
        self.reset_counts()

    def reset_counts(self) -> None:
        """Forget what was recorded."""
        with self._lock:
            self.requests = []
            self.other_requests = []
            self.count = 0
            self.peak = 0
            self.prompt_tokens = 0
            self.completion_tokens = 0
            self.reported = 0

    def reset(self) -> None:
        """Back to the state of a new server."""
        self._queue.clear()
        self.reply = None
        self.api_key = None
        self.models = ["fake-model"]
        self.strict_model = False
        self.has_models_list = True
        self.rejects = {}
        self.batches = Batches()
        self.latency_s = 0.0
        self.fell = []
        self.reset_counts()

    # -- life ----------------------------------------------------------------------------------

    def start(self) -> FakeServer:
        """Serve from a thread; returns when the port is open."""
        self._thread = threading.Thread(target=self._main, name="fake-server", daemon=True)
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the fake server did not start")
        return self

    def stop(self) -> None:
        """Close every connection and end the thread."""
        if self._loop is not None and self._closing is not None and self._loop.is_running():
            self._loop.call_soon_threadsafe(self._closing.set)
        if self._thread is not None:
            self._thread.join(10)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def base_url(self) -> str:
        """``http://127.0.0.1:PORT/v1``."""
        return f"http://127.0.0.1:{self.port}/v1"

    def _main(self) -> None:
        asyncio.run(self.serve())

    async def serve(self, started: Callable[[], None] = lambda: None) -> None:
        """Serve until ``stop`` is called (or the task is cancelled)."""
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        runner = web.ServerRunner(
            web.Server(
                self._handle,
                handler_cancellation=True,
                access_log=None,
                keepalive_timeout=300.0,
            ),
            shutdown_timeout=0.2,
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port, backlog=1024, reuse_address=True)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        started()
        try:
            await self._closing.wait()
        finally:
            await runner.cleanup()

    # -- scripting -----------------------------------------------------------------------------

    def queue(self, *answers: Reply | str) -> None:
        """Answer the next requests with these, once each."""
        self._queue.extend(replies.text(a) if isinstance(a, str) else a for a in answers)

    def sent(self, *names: str) -> list[Any]:
        """The values of one body field (or a path of them) over all requests; None if absent."""
        found = []
        for request in self.requests:
            value: Any = request.json
            for name in names:
                value = value.get(name) if isinstance(value, dict) else None
            found.append(value)
        return found

    def wait_for(self, requests: int, timeout_s: float = 10.0) -> None:
        """Block until so many chat requests have arrived since the last reset."""
        until = time.monotonic() + timeout_s
        while self.count < requests:
            if time.monotonic() > until:
                raise TimeoutError(f"{self.count} of {requests} requests arrived")
            time.sleep(0.001)

    def wait_until_idle(self, timeout_s: float = 10.0) -> None:
        """Block until no chat request is open."""
        until = time.monotonic() + timeout_s
        while self._open:
            if time.monotonic() > until:
                raise TimeoutError(f"{self._open} requests are still open")
            time.sleep(0.001)

    def stats(self) -> dict[str, Any]:
        """Counts for tests that run the server in another process."""
        bodies = {request.body for request in self.requests}
        return {
            "requests": self.count,
            "distinct_bodies": len(bodies),
            "open": self._open,
            "peak": self.peak,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "replies_with_usage": self.reported,
        }

    # -- answering -----------------------------------------------------------------------------

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/v1/files" and request.method == "POST":
            return await self.batches.upload(request)
        raw = await request.read()
        if not request.path.endswith("/chat/completions"):
            batch = self.batches.answer(request.method, request.path, raw, self.decide_line)
            return batch or self._other(request)
        with self._lock:
            self.count += 1
            self._open += 1
            self.peak = max(self.peak, self._open)
        try:
            body = json.loads(raw)
            recorded = Recorded(
                request.method,
                request.path,
                {name.lower(): value for name, value in request.headers.items()},
                body,
                time.monotonic(),
                self._open,
                body=raw,
            )
            if self.record:
                with self._lock:
                    self.requests.append(recorded)
            reply = self._decide(recorded)
            recorded.status = reply.status
            return await self._send(request, reply)
        finally:
            with self._lock:
                self._open -= 1

    def _other(self, request: web.BaseRequest) -> web.StreamResponse:
        self.other_requests.append(
            Recorded(
                request.method,
                request.path,
                {name.lower(): value for name, value in request.headers.items()},
                None,
                time.monotonic(),
                self._open,
            )
        )
        if request.path.endswith("/models") and self.has_models_list:
            data = [{"id": name, "object": "model", "owned_by": "fake"} for name in self.models]
            return web.json_response({"object": "list", "data": data})
        if request.path.endswith("/stats"):
            return web.json_response(self.stats())
        return web.json_response({"error": {"message": "Not Found"}}, status=404)

    def decide_line(self, body: dict[str, Any]) -> Reply:
        """Answer one line of a batch like a request of its own, with usage but without counting."""
        line = Recorded("POST", "batch", {"authorization": f"Bearer {self.api_key}"}, body, 0.0, 1)
        reply = self._decide(line)
        if isinstance(reply.body, dict) and reply.body.get("usage") is replies.DEFAULT_USAGE:
            usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
            return replace(reply, body={**reply.body, "usage": usage})
        return reply

    def _decide(self, recorded: Recorded) -> Reply:
        body = recorded.json
        if self.api_key and recorded.headers.get("authorization") != f"Bearer {self.api_key}":
            return replies.UNAUTHORIZED
        if self.strict_model and body.get("model") not in self.models:
            return replies.NO_MODEL
        for name, refusal in self.rejects.items():
            if _carries(body, name):
                return refusal
        if self._queue:
            return self._queue.popleft()
        answer = self._scripted(body)
        if isinstance(answer, str):
            return replies.text(answer)
        return answer if answer is not None else obedient(body)

    def _scripted(self, body: dict[str, Any]) -> Reply | str | None:
        """What ``reply`` says. A client would ask a script that fell over again and again."""
        try:
            return self.reply(body) if self.reply is not None else None
        except Exception as error:
            self.fell.append(error)
            raise

    async def _send(self, request: web.BaseRequest, reply: Reply) -> web.StreamResponse:
        delay = self.latency_s + reply.delay_s
        if delay:
            await asyncio.sleep(delay)
        if reply.fault == "hang":
            assert self._closing is not None
            await self._closing.wait()
        payload = self._with_usage(request, reply)
        if reply.fault in ("reset", "reset_mid_body"):
            response = web.StreamResponse(headers={"content-type": "application/json"})
            if reply.fault == "reset_mid_body":
                response.content_length = len(payload)
                await response.prepare(request)
                await response.write(payload[: len(payload) // 2])
            _reset(request)
            return response
        response_headers = {"content-type": reply.content_type, **reply.headers}
        return web.Response(body=payload, status=reply.status, headers=response_headers)

    def _with_usage(self, request: web.BaseRequest, reply: Reply) -> bytes:
        """Fill in default usage and add up what is reported."""
        body = reply.body
        if not isinstance(body, dict) or "usage" not in body:
            return reply.encoded()
        usage = body["usage"]
        if usage is replies.DEFAULT_USAGE:
            content = json.dumps(body.get("choices"))
            prompt, written = int(request.content_length or 0) // 4, len(content) // 4
            usage = {
                "prompt_tokens": prompt,
                "completion_tokens": written,
                "total_tokens": prompt + written,
            }
            body = {**body, "usage": usage}
        if reply.fault is None and isinstance(usage, dict):
            with self._lock:
                self.prompt_tokens += usage.get("prompt_tokens") or 0
                self.completion_tokens += usage.get("completion_tokens") or 0
                self.reported += 1
        return json.dumps(body).encode()


def obedient(body: dict[str, Any]) -> Reply:
    """What a well-behaved model answers: a forced call, or JSON that follows the schema."""
    choice = body.get("tool_choice")
    tools: Iterable[dict[str, Any]] = body.get("tools") or ()
    if choice == "required" or isinstance(choice, dict):
        wanted = choice["function"]["name"] if isinstance(choice, dict) else None
        for tool in tools:
            function = tool["function"]
            if wanted in (None, function["name"]):
                arguments = json.dumps(sample(function.get("parameters", {})))
                return replies.tool_calls(replies.call(function["name"], arguments))
    schema = asked_schema(body)
    if schema is None:
        return replies.text("{}" if body.get("response_format") else "All right.")
    return replies.verdict(sample(schema))


def _carries(body: dict[str, Any], name: str) -> bool:
    if name in ("json_schema", "json_object"):
        return bool((body.get("response_format") or {}).get("type") == name)
    if name == "reasoning_content":
        return any("reasoning_content" in message for message in body.get("messages", []))
    return name in body


def _reset(request: web.BaseRequest) -> None:
    """Close with RST instead of FIN."""
    transport = request.transport
    if transport is None:
        return
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
