"""The Batch API of the fake server: files are kept, a batch is done at its last poll but one.

Every line is answered as the same request sent by hand would be. ``expire`` makes the last lines
of a batch come back unanswered, as a batch that ran out of time does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.fake_server.replies import Reply

STATES = ("validating", "in_progress", "completed")


class Batches:
    """Files and batches by id. ``polls`` is how often a batch is asked for before it is done."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.polls = 1
        self.expire = 0
        self.uploads = 0

    async def upload(self, request: web.BaseRequest) -> web.StreamResponse:
        """Keep a file."""
        kept = b""
        async for part in await request.multipart():
            if part.name == "file":  # type: ignore[union-attr]
                kept = bytes(await part.read())  # type: ignore[union-attr]
        self.uploads += 1
        name = self._keep(kept)
        return web.json_response(_file(name, kept))

    def answer(
        self, method: str, path: str, raw: bytes, decide: Callable[[dict[str, Any]], Reply]
    ) -> web.StreamResponse | None:
        """Answer everything but an upload; None when the path is not ours."""
        parts = path.removeprefix("/v1/").split("/")
        if parts[0] == "files" and len(parts) == 3 and parts[1] in self.files:
            return web.Response(body=self.files[parts[1]], content_type="application/octet-stream")
        if parts == ["batches"] and method == "POST":
            return web.json_response(self._begin(json.loads(raw)))
        if parts[0] == "batches" and len(parts) == 2 and parts[1] in self.batches:
            return web.json_response(self._look(parts[1], decide))
        return None

    def _keep(self, content: bytes) -> str:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return name

    def _begin(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = f"batch_{len(self.batches) + 1}"
        known = asked.get("input_file_id") in self.files
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "endpoint": asked["endpoint"],
            "input_file_id": asked["input_file_id"],
            "completion_window": asked["completion_window"],
            "status": "validating" if known else "failed",
            "created_at": 1_700_000_000,
            "errors": None if known else {"data": [{"message": "no such file"}]},
            "polled": 0,
        }
        return self.batches[name]

    def _look(self, name: str, decide: Callable[[dict[str, Any]], Reply]) -> dict[str, Any]:
        batch = self.batches[name]
        batch["polled"] += 1
        if batch["status"] in ("completed", "failed"):
            return batch
        batch["status"] = "in_progress"
        if batch["polled"] > self.polls:
            self._finish(batch, decide)
        return batch

    def _finish(self, batch: dict[str, Any], decide: Callable[[dict[str, Any]], Reply]) -> None:
        lines = self.files[batch["input_file_id"]].splitlines()
        good, bad = [], []
        for place, line in enumerate(lines):
            asked = json.loads(line)
            if place >= len(lines) - self.expire:
                error = {"code": "batch_expired", "message": "This request was not executed."}
                bad.append({"custom_id": asked["custom_id"], "response": None, "error": error})
                continue
            reply = decide(asked["body"])
            response = {"status_code": reply.status, "request_id": "r", "body": reply.body}
            done = {"custom_id": asked["custom_id"], "response": response, "error": None}
            (good if reply.status == 200 else bad).append(done)
        batch["status"] = "completed"
        batch["output_file_id"] = self._keep(_jsonl(reversed(good))) if good else None
        batch["error_file_id"] = self._keep(_jsonl(bad)) if bad else None
        batch["request_counts"] = {
            "total": len(lines), "completed": len(good), "failed": len(bad)
        }  # fmt: skip


def _jsonl(values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _file(name: str, content: bytes) -> dict[str, Any]:
    return {
        "id": name,
        "object": "file",
        "bytes": len(content),
        "created_at": 1_700_000_000,
        "filename": "requests.jsonl",
        "purpose": "batch",
        "status": "processed",
    }
