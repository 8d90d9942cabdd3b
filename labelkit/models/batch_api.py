"""The OpenAI-style Batch API: upload a request file, begin batches, look how they are, download.

It moves files and reads none of their content, but for cutting a file that is too large. It goes
through the ``openai`` package, whose own retries are the only ones here.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import openai

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import EndpointError, InputError
from labelkit.models.batch_lines import URL
from labelkit.models.faults import clip
from labelkit.models.transport import checked_base_url, checked_key

MAX_LINES = 50_000
MAX_BYTES = 190 * 1024 * 1024
"""What a service takes in one batch (OpenAI: 50,000 requests and 200 MB)."""

ENDED = ("completed", "failed", "expired", "cancelled")


@dataclass(frozen=True, slots=True)
class BatchState:
    """How a batch is. ``done`` and ``failed`` are counts of requests, ``files`` ids of results."""

    id: str
    status: str
    total: int = 0
    done: int = 0
    failed: int = 0
    files: tuple[str, ...] = ()
    error: str = ""

    @property
    def ended(self) -> bool:
        """Whether it will not change any more."""
        return self.status in ENDED


class BatchApi:
    """One service. Close it, or use it as a context manager.

    Raises:
        EndpointError: from every call, when the service refuses or cannot be reached.
    """

    def __init__(self, endpoint: Endpoint, api_key: str | None = None) -> None:
        self._name = endpoint.name
        self._client = openai.OpenAI(
            base_url=checked_base_url(endpoint),
            api_key=checked_key(endpoint, api_key) or "none",
            timeout=endpoint.request_timeout_s,
        )
        # The package takes these from OPENAI_* variables, which are meant for another server.
        self._client.organization = None
        self._client.project = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def begin(self, content: bytes, name: str) -> str:
        """Upload request lines and begin a batch over them; returns its id."""
        try:
            held = self._client.files.create(file=(name, io.BytesIO(content)), purpose="batch")
            batch = self._client.batches.create(
                input_file_id=held.id, endpoint=URL, completion_window="24h"
            )
        except openai.OpenAIError as error:
            raise self._refused(error) from error
        return batch.id

    def look(self, batch_id: str) -> BatchState:
        """Return how a batch is."""
        try:
            batch = self._client.batches.retrieve(batch_id)
        except openai.OpenAIError as error:
            raise self._refused(error) from error
        counts = batch.request_counts
        files = tuple(name for name in (batch.output_file_id, batch.error_file_id) if name)
        return BatchState(
            id=batch.id,
            status=batch.status,
            total=counts.total if counts else 0,
            done=counts.completed if counts else 0,
            failed=counts.failed if counts else 0,
            files=files,
            error=_first_error(batch.errors),
        )

    def download(self, file_id: str) -> bytes:
        """Return the content of a result file."""
        try:
            return self._client.files.content(file_id).read()
        except openai.OpenAIError as error:
            raise self._refused(error) from error

    def _refused(self, error: openai.OpenAIError) -> EndpointError:
        status = getattr(error, "status_code", None)
        said = f" (HTTP {status})" if status else ""
        key = self._client.api_key
        words = clip(str(error).replace(key, "[key]") if key != "none" else str(error))
        return EndpointError(
            f"the Batch API of endpoint {self._name!r} refused or did not answer{said}:"
            f" {words.rstrip('.')}; check base_url and key, or run the file with another engine"
        )


def parts_of(path: Path) -> Iterator[tuple[bytes, int]]:
    """Cut a request file into parts that a service takes; yields (content, number of lines).

    Raises:
        InputError: when the file cannot be read or holds nothing.
    """
    held: list[bytes] = []
    lines, size, any_part = 0, 0, False
    try:
        with path.open("rb") as file:
            for line in file:
                if held and (lines == MAX_LINES or size + len(line) > MAX_BYTES):
                    any_part = True
                    yield b"".join(held), lines
                    held, lines, size = [], 0, 0
                if line.strip():
                    held.append(line if line.endswith(b"\n") else line + b"\n")
                    lines, size = lines + 1, size + len(line)
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror}; write it with `labelkit judge --batch-out`"
        ) from error
    if held:
        yield b"".join(held), lines
    elif not any_part:
        raise InputError(f"{path} holds no requests; write it with `labelkit judge --batch-out`")


def _first_error(errors: Any) -> str:
    data = getattr(errors, "data", None) or []
    return clip(str(data[0].message)) if data else ""
