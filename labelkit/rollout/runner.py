"""Plays many tasks at one endpoint and hands over each trace as soon as it is finished.

The runner keeps nothing: what is not taken from it is not done, and a caller that commits every
trace loses at most those in flight. Rows are ordered so that tasks with the same system message
and tools lie together, because servers keep the shared beginning of a prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Container, Iterable, Iterator

from labelkit.digest import digest
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace, TraceError
from labelkit.models.client import Client
from labelkit.rollout.protocol import Asks, RolloutProtocol, Row, Staged

RowKey = tuple[str, str, int]
"""(task set, task id, repeat): what tells rows of one model and condition apart."""


def plan_rows(
    tasks: Iterable[Task | Staged],
    model: str,
    *,
    condition: str = "",
    repeats: int = 1,
    done: Container[RowKey] = (),
) -> list[Row]:
    """Return the rows to play, shared prompt beginnings together, without those in ``done``.

    Order inside one beginning is that of ``tasks``; all repeats of a task follow each other.
    """
    groups: dict[str, list[Staged]] = {}
    for given in tasks:
        staged = given if isinstance(given, Staged) else Staged(given)
        groups.setdefault(_beginning(staged.task), []).append(staged)
    return [
        row_of(staged, model, condition, repeat)
        for group in groups.values()
        for staged in group
        for repeat in (range(repeats) if staged.repeats is None else staged.repeats)
        if (staged.task.set, staged.task.id, repeat) not in done
    ]


def row_of(staged: Staged, model: str, condition: str, repeat: int) -> Row:
    """Return one row of a staged task."""
    return Row(
        task=staged.task,
        model=model,
        condition=condition,
        repeat=repeat,
        clean=staged.clean,
        late_hint=staged.late_hint,
    )


async def run_tasks(  # noqa: PLR0913 - all but three are named and have a default
    tasks: Iterable[Task | Staged],
    client: Client,
    protocol: RolloutProtocol,
    *,
    model: str | None = None,
    condition: str = "",
    repeats: int = 1,
    done: Container[RowKey] = (),
    concurrency: int | None = None,
    take: Callable[[Row], bool] | None = None,
) -> AsyncIterator[Trace]:
    """Play every task and yield each trace when it is finished.

    Args:
        tasks: what to play, plain or as an arm plays it.
        client: the endpoint's client.
        protocol: how to play.
        model: name on the traces; None takes the endpoint's model.
        condition: name of the arm.
        repeats: rollouts of every task.
        done: rows that need no playing, from an earlier run.
        concurrency: episodes at once; None takes the endpoint's ``max_concurrency``, or 1 for
            the embedded model, whose one slot keeps the prompt of the episode in hand.
        take: asked right before a row begins; False leaves it out.

    Raises:
        EndpointError: when the endpoint cannot serve any row; rows in flight are dropped.
    """
    rows = plan_rows(
        tasks, model or client.endpoint.model, condition=condition, repeats=repeats, done=done
    )
    waiting = (row for row in rows if take is None or take(row))
    width = max(1, concurrency or usual_width(client))
    playing: set[asyncio.Task[Trace]] = set()
    try:
        _fill(playing, waiting, width, client, protocol)
        while playing:
            finished, playing = await asyncio.wait(playing, return_when=asyncio.FIRST_COMPLETED)
            for episode in finished:
                trace = episode.result()
                if client.fatal is not None and trace.error is not None:
                    raise client.fatal
                yield trace
            _fill(playing, waiting, width, client, protocol)
    finally:
        for episode in playing:
            episode.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


def usual_width(client: Client) -> int:
    """Return how many episodes to play at once; the embedded model has one slot."""
    return 1 if client.endpoint.engine == "local" else client.endpoint.max_concurrency


def _fill(
    playing: set[asyncio.Task[Trace]],
    waiting: Iterator[Row],
    width: int,
    client: Client,
    protocol: RolloutProtocol,
) -> None:
    """Start episodes until ``width`` are playing or no row is waiting."""
    while len(playing) < width:
        row = next(waiting, None)
        if row is None:
            return
        playing.add(asyncio.create_task(play_row(client, row, protocol)))


async def play_row(client: Asks, row: Row, protocol: RolloutProtocol) -> Trace:
    """Play one episode; a fault of ours costs its own row and no other.

    The row becomes an infrastructure error that names the fault, is counted, and is played again
    by the next run.
    """
    try:
        return await protocol.play(client, row)
    except Exception as fault:
        return Trace(
            model=row.model,
            messages=row.task.messages,
            state=RowState.INFRA_ERROR,
            task_set=row.task.set,
            task_id=row.task.id,
            condition=row.condition,
            repeat=row.repeat,
            error=TraceError(kind="internal", message=f"{type(fault).__name__}: {fault}"[:500]),
            tags={**row.task.tags, "protocol": protocol.name},
            extra={"protocol": protocol.name},
        )


def _beginning(task: Task) -> str:
    """What the prompts of a domain share: its system messages and tools."""
    systems = [m.content for m in task.messages if m.role == "system"]
    return digest([systems, [tool.model_dump(mode="json") for tool in task.tools]])
