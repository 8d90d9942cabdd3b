"""Rollouts by batch files: single-turn episodes go out as requests and come back as traces.

No request is sent from here. A row is owed until its result is read, so a lost file costs nothing
but the asking again. The episode itself is played by the same protocol as in ``run``: once up to
its request, and once more, by whoever reads the results, with the reply from the file. So the
same reply makes the same trace by either way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from labelkit.digest import digest
from labelkit.domain.completion import Completion
from labelkit.domain.endpoint import Endpoint
from labelkit.domain.trace import RowState, Trace
from labelkit.errors import InputError
from labelkit.models.batch_lines import completion_of, request_line
from labelkit.models.capabilities import Capabilities
from labelkit.models.ledger import Ledger
from labelkit.models.request import ChatRequest, request_digest
from labelkit.rollout.protocol import RolloutProtocol, Row, Staged
from labelkit.rollout.protocols import SINGLE_TURN, protocol
from labelkit.rollout.runner import RowKey, plan_rows, play_row, row_of
from labelkit.store import Store
from labelkit.store.selection import chunks
from labelkit.store.traces import add_traces, known_traces
from labelkit.workflows.batch_ids import ASKED, WHO, Found, code_of, custom_id
from labelkit.workflows.orders import known_capabilities
from labelkit.workflows.progress import Progress, Silent
from labelkit.workflows.request_file import refuse_existing, request_file
from labelkit.workflows.result_lines import LineCounts, usable
from labelkit.workflows.run import Plan, RolloutRun, done_rows
from labelkit.workflows.running import run_async

_PAGE = 64


@dataclass(frozen=True)
class RolloutsOut:
    """What was written. ``known`` rows have a trace; ``skipped`` ones cannot be played.

    ``remarks`` are sentences worth telling.
    """

    path: Path
    written: int
    known: int
    skipped: int
    remarks: tuple[str, ...] = ()


@dataclass(kw_only=True)
class RolloutsIn(LineCounts):
    """What came of a result file; ``run`` says how the new traces ended."""

    run: RolloutRun


class _UnansweredError(Exception):
    """Ends an episode at its request, which nobody answers."""


@dataclass
class _File:
    """Stands where an episode has its client. Nothing is ever sent."""

    capabilities: Capabilities
    reply: Callable[[ChatRequest], Completion | None] = lambda _: None
    asked: list[ChatRequest] = field(default_factory=list)
    unanswered: bool = False

    async def complete(self, request: ChatRequest, digest: str | None = None) -> Completion:
        """Note what is asked and return the reply that the file holds."""
        del digest
        self.asked.append(request)
        reply = self.reply(request)
        if reply is None:
            self.unanswered = True
            raise _UnansweredError
        return reply


@dataclass(frozen=True)
class _Way:
    """How a plan's episodes are played at an endpoint of these capabilities.

    ``who`` names it in ids: place, model, condition and arm, protocol, decoding, and whatever of
    the capabilities a trace tells.
    """

    endpoint: Endpoint
    capabilities: Capabilities
    how: RolloutProtocol
    who: str


def check_single_turn(name: str) -> None:
    """Refuse a protocol whose episode may need more than one request.

    Raises:
        InputError: names the protocol that can be played.
    """
    if name not in SINGLE_TURN:
        raise InputError(
            f"protocol {name} may ask several times in one episode, which a batch file cannot do;"
            f" use --protocol {' or '.join(sorted(SINGLE_TURN))}, or run it without batch files"
        )


def write_rollouts(
    store: Store, plan: Plan, path: Path, *, progress: Progress | None = None
) -> RolloutsOut:
    """Write a request line for every row that has no trace yet.

    What an endpoint is known to refuse is left out, as in ``run``. One that was never asked is
    taken to call tools by itself.

    Args:
        store: an open store; it must hold the tasks already.
        plan: what is to be played (``run.plan_of``).
        path: the new file.
        progress: hears of every row.

    Raises:
        InputError: the file exists or cannot be written, or a protocol of several requests.
    """
    check_single_turn(plan.manner.protocol)
    refuse_existing(path)
    listener = progress or Silent()
    known = known_capabilities(store, plan.endpoint)
    way = _way(plan, known or Capabilities())
    done = done_rows(store, plan)
    rows = _planned(plan, done)
    planned = len(_planned(plan, ()))
    stage, written = f"write {plan.endpoint.model}", 0
    listener.begin(stage, len(rows))
    try:
        with request_file(path) as file:
            for page in chunks(rows, _PAGE):
                lines = run_async(_lines(way, page))
                file.writelines(lines)
                written += len(lines)
                listener.advance(stage, len(page))
    finally:
        listener.end(stage)
    skipped = len(rows) - written
    return RolloutsOut(path, written, planned - len(rows), skipped, _remarks(plan, known))


def read_rollouts(
    store: Store, plan: Plan, path: Path, *, progress: Progress | None = None
) -> RolloutsIn:
    """Read a result file into traces, exactly as ``run`` makes them of replies.

    A request that failed for good is an ``infra_error`` row; one that nobody answered stays owed.
    Safe with partial, repeated, reordered, foreign and failed lines, and to be run again. The
    number of repeats is the file's, whatever the plan says.

    Args:
        store: the store that the requests were written from.
        plan: tasks, endpoint, manner and decoding, as they were.
        path: the result file (JSON lines).
        progress: hears of every line.

    Raises:
        InputError: when the file cannot be read, or a protocol of several requests.
    """
    check_single_turn(plan.manner.protocol)
    listener = progress or Silent()
    known = known_capabilities(store, plan.endpoint) or Capabilities()
    # The endpoint may have been asked for the first time since the requests were written.
    ways = {way.who: way for way in (_way(plan, Capabilities()), _way(plan, known))}
    staged = {given.task.digest: given for given in plan.staged}
    done = done_rows(store, plan)
    result = RolloutRun(
        plan.endpoint.model,
        "",
        0,
        ledger=Ledger(plan.endpoint.price),
        protocol=plan.manner.protocol,
        condition=plan.manner.name,
    )
    counts = RolloutsIn(run=result)
    stage = f"read {path.name}"
    listener.begin(stage, None)
    try:
        for page in chunks(usable(path, ways, counts), _PAGE):
            owed = _owed(plan, staged, page, done, counts)
            traces = run_async(_played(ways, owed, done, counts))
            _commit(store, traces, counts)
            listener.advance(stage, len(page))
    finally:
        listener.end(stage)
    result.known = counts.known
    return counts


def _way(plan: Plan, known: Capabilities) -> _Way:
    endpoint = plan.endpoint
    if endpoint.engine == "vllm" and endpoint.base_url:
        endpoint = endpoint.model_copy(update={"engine": "api"})
    how = protocol(
        plan.manner.protocol,
        tool_mode="emulated" if known.tool_calls is False else "native",
        decoding=plan.decoding,
        forcing=known.forced_calls or "required",
        max_turns=plan.manner.max_turns,
    )
    told = [how.tool_mode, list(known.dropped), known.max_tokens is None]
    identity = [
        endpoint.place,
        endpoint.model,
        plan.manner.name,
        how.name,
        asdict(plan.decoding),
        told,
    ]
    return _Way(endpoint, known, how, code_of(digest(["run", *identity]), WHO))


def _planned(plan: Plan, done: set[RowKey] | tuple[()]) -> list[Row]:
    """The rows that are not done, every row once."""
    rows = plan_rows(
        plan.staged,
        plan.endpoint.model,
        condition=plan.manner.name,
        repeats=plan.repeats,
        done=done,
    )
    return list({(row.task.digest, row.repeat): row for row in rows}.values())


async def _lines(way: _Way, rows: Sequence[Row]) -> list[bytes]:
    """The request lines of rows, without those whose episode cannot be begun."""
    lines = []
    for row in rows:
        file = _File(way.capabilities)
        await play_row(file, row, way.how)
        for request in file.asked:
            key = request_digest(way.endpoint, request)
            name = custom_id(row.task.digest, way.who, key, row.repeat, 0)
            lines.append(request_line(way.endpoint, request, way.capabilities, name))
    return lines


def _owed(
    plan: Plan,
    staged: dict[str, Staged],
    page: Sequence[Found],
    done: set[RowKey],
    counts: RolloutsIn,
) -> list[tuple[Row, Found]]:
    """The lines whose row has no trace yet, with that row."""
    owed = []
    for found in page:
        given = staged.get(found.trace)
        if given is None or (given.repeats is not None and found.repeat not in given.repeats):
            counts.foreign += 1
        elif (given.task.set, given.task.id, found.repeat) in done:
            counts.known += 1
        else:
            row = row_of(given, plan.endpoint.model, plan.manner.name, found.repeat)
            owed.append((row, found))
    return owed


async def _played(
    ways: dict[str, _Way],
    owed: Sequence[tuple[Row, Found]],
    done: set[RowKey],
    counts: RolloutsIn,
) -> list[Trace]:
    """Play rows with the replies of their lines. An outage is no trace: its row stays owed."""
    traces = []
    for row, found in owed:
        key = (row.task.set, row.task.id, row.repeat)
        if key in done:  # asked for twice, in two ways
            counts.known += 1
            continue
        way = ways[found.who]
        file = _File(way.capabilities, partial(_reply, way, found, counts))
        trace = await play_row(file, row, way.how)
        if file.unanswered:
            continue
        traces.append(trace)
        if trace.state is not RowState.INFRA_ERROR:
            done.add(key)
    return traces


def _reply(way: _Way, found: Found, counts: RolloutsIn, request: ChatRequest) -> Completion | None:
    """The reply of a line to this very request, or None with the reason counted."""
    key = request_digest(way.endpoint, request)
    if code_of(key, ASKED) != found.asked:
        counts.stale += 1
        return None
    ledger = counts.run.ledger or Ledger()
    reply = completion_of(way.endpoint, request, key, found.line, way.capabilities, ledger)
    if reply is None:
        counts.not_answered(found.line)
    return reply


def _commit(store: Store, traces: Sequence[Trace], counts: RolloutsIn) -> None:
    """Store what is new; the same outage read again is known."""
    here = known_traces(store, [trace.digest for trace in traces])
    new = [trace for trace in traces if trace.digest not in here]
    add_traces(store, new)
    counts.known += len(traces) - len(new)
    for trace in new:
        counts.run.states[trace.state.value] += 1
        counts.run.tool_mode = trace.tool_mode or counts.run.tool_mode


def _remarks(plan: Plan, known: Capabilities | None) -> tuple[str, ...]:
    if known is not None and known.tool_calls is not None:
        return ()
    name = plan.endpoint.name
    return (f"{name} was never asked whether it calls tools: the requests take it that it does",)
