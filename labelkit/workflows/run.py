"""``labelkit run``: tasks become traces, each committed when it is finished, none played twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from labelkit.domain.endpoint import Endpoint
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace
from labelkit.errors import InputError
from labelkit.models.client import Client
from labelkit.models.engines import resolve
from labelkit.models.ledger import Ledger
from labelkit.rollout.preflight import Preflight, preflight
from labelkit.rollout.protocol import Decoding, Row, Staged
from labelkit.rollout.protocols import protocol
from labelkit.rollout.runner import RowKey, plan_rows, play_row, usual_width
from labelkit.settings import Settings
from labelkit.store import Selection, Store
from labelkit.store.endpoints import learn
from labelkit.store.reports import trace_table
from labelkit.store.traces import add_traces
from labelkit.workflows.continuing import check_unchanged
from labelkit.workflows.holding import WAIT_S, holding
from labelkit.workflows.orders import known_capabilities
from labelkit.workflows.pool import Pool
from labelkit.workflows.progress import Progress, Silent, waits
from labelkit.workflows.reckoning import ledger_line
from labelkit.workflows.running import run_async
from labelkit.workflows.shares import Share
from labelkit.workflows.staging import Manner, stage_tasks


@dataclass
class RolloutRun:
    """What one run did: traces by row state, rows that were there already, what it cost.

    ``condition`` is the name the traces carry; ``protocol`` how they were played.
    """

    model: str
    tool_mode: str
    known: int
    states: Counter[str] = field(default_factory=Counter)
    ledger: Ledger | None = None
    note: str = ""
    protocol: str = ""
    condition: str = ""


@dataclass(frozen=True)
class Plan:
    """What is to be played."""

    staged: Sequence[Staged]
    endpoint: Endpoint
    manner: Manner
    repeats: int
    decoding: Decoding


def run(  # noqa: PLR0913 (everything but the first four is named and has a default)
    store: Store,
    tasks: Sequence[Task],
    settings: Settings,
    endpoint: str,
    *,
    condition: str = "",
    repeats: int = 1,
    max_tokens: int = 1024,
    temperature: float = 0.0,
    seed: int | None = 42,
    manner: Manner | None = None,
    progress: Progress | None = None,
) -> RolloutRun:
    """Play tasks and store the traces; resumes where it stopped.

    Args:
        store: an open store; it must hold the tasks already.
        tasks: what to play.
        settings: holds the endpoint.
        endpoint: its name.
        condition: name of the arm, for the two-step protocol without prompt variants.
        repeats: rollouts of every task.
        max_tokens: bound of one reply.
        temperature: of every reply.
        seed: of every reply; None sends none.
        manner: protocol, prompt variant and arm (``staging.manner_of``); wins over ``condition``.
        progress: hears of every trace.

    Raises:
        InputError: for an unknown endpoint, tasks that cannot be played in this manner, or
            settings other than those of the rollouts that are there.
        EndpointError: when it cannot be used; finished traces are kept.
    """
    listener = progress or Silent()
    decoding = Decoding(max_tokens=max_tokens, temperature=temperature, seed=seed)
    chosen = manner or Manner(condition=condition)
    plan = plan_of(store, tasks, settings, endpoint, chosen, repeats, decoding, listener)
    return play(store, plan, listener)


def play(store: Store, plan: Plan, progress: Progress) -> RolloutRun:
    """Play what a plan owes and store the traces.

    Raises:
        EndpointError: when it cannot be used; finished traces are kept.
    """
    return run_async(_run(store, plan, progress))


def plan_of(
    store: Store,
    tasks: Sequence[Task],
    settings: Settings,
    endpoint: str,
    manner: Manner,
    repeats: int,
    decoding: Decoding,
    progress: Progress,
) -> Plan:
    """Return what is to be played, checked before anything is sent or written.

    Raises:
        InputError: as ``run`` says.
    """
    if endpoint not in settings.endpoints:
        known = ", ".join(settings.endpoints) or "none"
        raise InputError(
            f"labelkit.yaml configures no endpoint {endpoint!r}; configured endpoints: {known}"
        )
    place = settings.endpoints[endpoint]
    staged, remarks = stage_tasks(store, tasks, place.model, manner)
    for remark in remarks:
        progress.say(remark)
    check_unchanged(
        store,
        model=place.model,
        condition=manner.name,
        task_sets=[task.set for task in tasks],
        protocol=manner.protocol,
        decoding=decoding,
    )
    return Plan(staged, place, manner, repeats, decoding)


def done_rows(store: Store, plan: Plan) -> set[RowKey]:
    """Rows of this model and condition that have a trace; an outage is no trace and is redone."""
    table = trace_table(
        store, Selection(models=(plan.endpoint.model,), conditions=(plan.manner.name,))
    )
    rows = zip(table.task_set, table.task_id, table.repeat, table.state, strict=True)
    return {(s, t, int(r)) for s, t, r, state in rows if state != RowState.INFRA_ERROR}


async def _run(store: Store, plan: Plan, progress: Progress) -> RolloutRun:
    done = done_rows(store, plan)
    model = plan.endpoint.model
    planned = len(plan_rows(plan.staged, model, repeats=plan.repeats))
    left = len(plan_rows(plan.staged, model, repeats=plan.repeats, done=done))
    result = RolloutRun(
        model,
        "",
        planned - left,
        protocol=plan.manner.protocol,
        condition=plan.manner.name,
    )
    if left == 0:
        return result
    with resolve(plan.endpoint, say=progress.say) as endpoint:
        known = known_capabilities(store, plan.endpoint)
        async with Client(endpoint, capabilities=known, on_wait=waits(progress)) as client:
            result.ledger = client.ledger
            found: Preflight = await preflight(client, decoding=plan.decoding)
            learn(store, plan.endpoint, client.capabilities.model_dump())
            result.tool_mode, result.note = found.tool_mode, found.note
            for remark in (found.note, *found.remarks):
                progress.say(f"{plan.endpoint.name}: {remark}")
            progress.begin(f"run {model}", left)
            try:
                await _play(store, plan, client, found, done, result, progress)
            finally:
                progress.end(f"run {model}")
    return result


async def _play(
    store: Store,
    plan: Plan,
    client: Client,
    found: Preflight,
    done: set[RowKey],
    result: RolloutRun,
    progress: Progress,
) -> None:
    """Play what is left and commit every trace at once."""
    stage = f"run {plan.endpoint.model}"
    how = protocol(
        plan.manner.protocol,
        tool_mode=found.tool_mode,
        decoding=plan.decoding,
        forcing=found.forcing,
        max_turns=plan.manner.max_turns,
    )
    share = Share(store, plan.endpoint.model, plan.manner.name)

    async def work(row: Row) -> Trace:
        trace = await play_row(client, row, how)
        if client.fatal is not None and trace.error is not None:
            raise client.fatal
        return trace

    def commit(traces: Sequence[Trace]) -> None:
        add_traces(store, traces)
        share.finished(traces)
        # Only what is committed counts as done: whoever listens may interrupt here.
        for trace in traces:
            result.states[trace.state.value] += 1
        progress.advance(stage, len(traces))
        progress.facts(stage, ledger_line(client.ledger))

    async with holding(share.claims):
        while True:
            share.again()
            rows = plan_rows(
                plan.staged,
                plan.endpoint.model,
                condition=plan.manner.name,
                repeats=plan.repeats,
                done=done,
            )
            free = (row for row in rows if share.take(row))
            await Pool(free, work, commit, usual_width(client)).run()
            if not share.elsewhere:
                return
            # The rest is in the hands of other workers: done soon, or free again.
            await asyncio.sleep(WAIT_S)
            done = done_rows(store, plan) | share.played
