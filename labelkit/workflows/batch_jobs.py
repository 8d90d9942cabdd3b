"""Batches that somebody else works off: begun from a request file, fetched as a result file.

Which batches belong to a request file is kept beside it (``<file>.batches.json``), so that nothing
is paid for twice and a fetch needs no ids. The result file is for ``judge --batch-in``.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import InputError
from labelkit.models.batch_api import BatchApi, BatchState, parts_of
from labelkit.workflows.progress import Progress, Silent

POLL_S = 30.0


@dataclass(frozen=True)
class Fetched:
    """How the batches of a file are, and how many result lines were written."""

    states: tuple[BatchState, ...]
    lines: int
    path: Path


def submit(path: Path, endpoint: Endpoint, *, progress: Progress | None = None) -> list[str]:
    """Begin as many batches as a request file needs; returns their ids.

    Safe to run again after it broke off: parts that were begun are not begun twice.

    Raises:
        InputError: the file was submitted already, holds nothing, or changed since its first part.
        EndpointError: the service refused.
    """
    listener = progress or Silent()
    note = _note(path)
    begun = _begun(note)
    digests = [hashlib.sha256(content).hexdigest() for content, _ in parts_of(path)]
    if [part["sha256"] for part in begun] != digests[: len(begun)]:
        raise InputError(
            f"{path} is not the file that {note.name} tells of; write requests to a new file"
        )
    if len(begun) == len(digests):
        ids = ", ".join(str(part["id"]) for part in begun)
        raise InputError(
            f"{path} was submitted already as {ids}; fetch it"
            f" with `labelkit batch fetch {path}`, or delete {note.name} to pay for it again"
        )
    with BatchApi(endpoint) as api:
        for place, (content, lines) in enumerate(parts_of(path)):
            if place < len(begun):
                continue
            name = api.begin(content, f"{path.stem}-{place + 1}.jsonl")
            begun.append({"id": name, "sha256": digests[place], "lines": lines})
            _keep(note, begun)
            listener.say(f"batch {name}: {lines} requests")
    return [str(part["id"]) for part in begun]


def fetch(
    path: Path,
    endpoint: Endpoint,
    results: Path,
    *,
    wait: bool = False,
    poll_s: float = POLL_S,
    progress: Progress | None = None,
) -> Fetched:
    """Look how the batches of a request file are, and write the results of those that ended.

    The result file is written whole each time; reading it twice changes nothing.

    Args:
        path: the request file.
        endpoint: the service.
        results: where result lines go.
        wait: until every batch has ended.
        poll_s: seconds between two looks.
        progress: hears of every look.

    Raises:
        InputError: the file was never submitted, or the results cannot be written.
        EndpointError: the service refused.
    """
    listener = progress or Silent()
    begun = _begun(_note(path))
    if not begun:
        raise InputError(f"{path} was not submitted; run `labelkit batch submit {path}` first")
    with BatchApi(endpoint) as api:
        states = _states(api, [str(part["id"]) for part in begun], listener)
        while wait and not all(state.ended for state in states):
            time.sleep(poll_s)
            states = _states(api, [state.id for state in states], listener)
        lines = _write(api, states, results)
    return Fetched(tuple(states), lines, results)


def _states(api: BatchApi, ids: Sequence[str], progress: Progress) -> list[BatchState]:
    states = [api.look(name) for name in ids]
    for state in states:
        counts = f"{state.done} of {state.total} done, {state.failed} failed"
        error = f" ({state.error})" if state.error else ""
        progress.say(f"batch {state.id}: {state.status}, {counts}{error}")
    return states


def _write(api: BatchApi, states: Sequence[BatchState], results: Path) -> int:
    """Write the result lines of ended batches; an unfinished file never stands there."""
    files = [name for state in states if state.ended for name in state.files]
    if not files:
        return 0
    part = results.with_name(f"{results.name}.part")
    lines = 0
    try:
        with part.open("wb") as file:
            for name in files:
                content = api.download(name)
                file.write(content if content.endswith(b"\n") or not content else content + b"\n")
                lines += len([line for line in content.split(b"\n") if line.strip()])
        part.replace(results)
    except OSError as error:
        raise InputError(
            f"cannot write {results}: {error.strerror}; name another file with --out"
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return lines


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.batches.json")


def _begun(note: Path) -> list[dict[str, object]]:
    """The parts that were begun, in their order."""
    if not note.is_file():
        return []
    try:
        parts = json.loads(note.read_text(encoding="utf-8"))["batches"]
        return [{name: part[name] for name in ("id", "sha256", "lines")} for part in parts]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{note} is not what `labelkit batch submit` wrote; restore or delete it"
        ) from error


def _keep(note: Path, begun: list[dict[str, object]]) -> None:
    part = note.with_name(f"{note.name}.part")
    try:
        part.write_text(json.dumps({"batches": begun}, indent=1) + "\n", encoding="utf-8")
        part.replace(note)
    except OSError as error:
        raise InputError(
            f"cannot write {note}: {error.strerror}; batch {begun[-1]['id']} was begun, note it"
        ) from error
