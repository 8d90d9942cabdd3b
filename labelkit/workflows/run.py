"""``labelkit run``: tasks become traces, each committed when it is finished, none played twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from labelkit.domain.endpoint import Endpoint
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState
from labelkit.errors import InputError
from labelkit.models.client import Client
from labelkit.models.ledger import Ledger
from labelkit.models.local import resolve
from labelkit.rollout.preflight import Preflight, preflight
from labelkit.rollout.protocol import Decoding
from labelkit.rollout.runner import RowKey, run_tasks
from labelkit.rollout.two_step import TwoStep
from labelkit.settings import Settings
from labelkit.store import Selection, Store
from labelkit.store.reports import trace_table
from labelkit.store.traces import add_traces
from labelkit.workflows.progress import Progress, Silent
from labelkit.workflows.reckoning import ledger_line
from labelkit.workflows.running import run_async


@dataclass
class RolloutRun:
    """What one run did: traces by row state, rows that were there already, what it cost."""

    model: str
    tool_mode: str
    known: int
    states: Counter[str] = field(default_factory=Counter)
    ledger: Ledger | None = None
    note: str = ""


@dataclass(frozen=True)
class Plan:
    """What is to be played."""

    tasks: Sequence[Task]
    endpoint: Endpoint
    condition: str
    repeats: int
    max_tokens: int


def run(
    store: Store,
    tasks: Sequence[Task],
    settings: Settings,
    endpoint: str,
    *,
    condition: str = "",
    repeats: int = 1,
    max_tokens: int = 1024,
    progress: Progress | None = None,
) -> RolloutRun:
    """Play tasks with the two-step protocol and store the traces; resumes where it stopped.

    Args:
        store: an open store; it must hold the tasks already.
        tasks: what to play.
        settings: holds the endpoint.
        endpoint: its name.
        condition: name of the arm.
        repeats: rollouts of every task.
        max_tokens: bound of one reply.
        progress: hears of every trace.

    Raises:
        InputError: for an unknown endpoint.
        EndpointError: when it cannot be used; finished traces are kept.
    """
    if endpoint not in settings.endpoints:
        known = ", ".join(settings.endpoints) or "none"
        raise InputError(
            f"labelkit.yaml configures no endpoint {endpoint!r}; configured endpoints: {known}"
        )
    plan = Plan(tasks, settings.endpoints[endpoint], condition, repeats, max_tokens)
    return run_async(_run(store, plan, progress or Silent()))


def _done(store: Store, plan: Plan) -> set[RowKey]:
    """Rows of this model and condition that have a trace; an outage is no trace and is redone."""
    table = trace_table(
        store, Selection(models=(plan.endpoint.model,), conditions=(plan.condition,))
    )
    rows = zip(table.task_set, table.task_id, table.repeat, table.state, strict=True)
    return {(s, t, int(r)) for s, t, r, state in rows if state != RowState.INFRA_ERROR}


async def _run(store: Store, plan: Plan, progress: Progress) -> RolloutRun:
    done = _done(store, plan)
    planned = len(plan.tasks) * plan.repeats
    known = sum((t.set, t.id, r) in done for t in plan.tasks for r in range(plan.repeats))
    result = RolloutRun(plan.endpoint.model, "", known)
    if known == planned:
        return result
    with resolve(plan.endpoint) as endpoint:
        async with Client(endpoint) as client:
            result.ledger = client.ledger
            found: Preflight = await preflight(client)
            result.tool_mode, result.note = found.tool_mode, found.note
            progress.say(found.note)
            await _play(store, plan, client, found, done, result, progress)
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
    progress.begin(stage, len(plan.tasks) * plan.repeats - result.known)
    try:
        protocol = TwoStep(tool_mode=found.tool_mode, decoding=Decoding(max_tokens=plan.max_tokens))
        async for trace in run_tasks(
            plan.tasks,
            client,
            protocol,
            condition=plan.condition,
            repeats=plan.repeats,
            done=done,
        ):
            add_traces(store, [trace])
            result.states[trace.state.value] += 1
            progress.advance(stage)
            progress.facts(stage, ledger_line(client.ledger))
    finally:
        progress.end(stage)
