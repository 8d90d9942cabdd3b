"""``labelkit judge``: the rubric's rule and every configured judge label what they still owe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Tag
from labelkit.judging.judge import Judge
from labelkit.models.capabilities import Capabilities
from labelkit.models.client import Client
from labelkit.models.engines import resolve
from labelkit.models.structured import probe
from labelkit.rules.registry import answered, rule_of, under_policy
from labelkit.settings import JudgeSettings, Settings
from labelkit.store import Selection, Store
from labelkit.store.endpoints import learn
from labelkit.store.labels import commit_labels
from labelkit.store.raters import add_rater, add_rubric
from labelkit.workflows.judges import LABELLED_STATES, JudgePass, Tally
from labelkit.workflows.orders import (
    Order,
    build_judge,
    check_judges,
    chosen_judges,
    count_owed,
    framings_of,
    known_capabilities,
)
from labelkit.workflows.progress import Progress, Silent, waits
from labelkit.workflows.rule_pass import rule_labels, rule_rater
from labelkit.workflows.running import run_async


@dataclass(frozen=True)
class LabelRun:
    """What one call of ``judge`` did, rater by rater, and what a user should know."""

    rubric: str
    tallies: tuple[Tally, ...]
    remarks: tuple[str, ...]

    @property
    def failed(self) -> int:
        """Rows whose verdict is missing for a reason; they can be tried again."""
        return sum(sum(tally.failed.values()) for tally in self.tallies)


def judge(  # noqa: PLR0913 - the options of a run, each with its default
    store: Store,
    rubric: Rubric,
    settings: Settings,
    *,
    judges: Sequence[str] | None = None,
    retry_failed: bool = False,
    limit: int | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
    policy: Mapping[str, Tag] | None = None,
) -> LabelRun:
    """Label every trace that has no label yet: the rule first, then judge by judge.

    Args:
        store: an open store.
        rubric: the rubric.
        settings: endpoints and judges.
        judges: names of the judges to run; None runs all that are meant for this rubric, an
            empty list only the rule.
        retry_failed: also rows whose label in force is a failure; they get a new version.
        limit: only the first traces.
        processes: number of processes that run the rule; None takes one for few rows and one per
            core for many.
        progress: hears of every row.
        policy: changed options of the rule, which then labels as a rater of its own, beside the
            rubric's rule; no judge runs.

    Safe to interrupt at any moment and to run again, also side by side with another process.
    Works inside a running event loop.

    Raises:
        InputError: an unknown judge or framing, a judge that would grade its own traces, an
            option or value that the rule does not know.
        EndpointError: an endpoint cannot be used; what was finished is kept.
    """
    listener = progress or Silent()
    order = Order(
        rubric,
        chosen_judges(settings, rubric, () if policy else judges),
        settings,
        retry_failed,
        Selection(states=LABELLED_STATES, limit=limit),
        processes,
        dict(policy or {}),
    )
    remarks = check_judges(store, order)
    for remark in remarks:
        listener.say(remark)
    add_rubric(store, rubric)
    tallies = list(_rule(store, order, listener))
    for chosen in order.judges:
        tallies += run_async(_judge(store, order, chosen, listener))
    return LabelRun(rubric.name, tuple(tallies), tuple(remarks))


def _rule(store: Store, order: Order, progress: Progress) -> Iterator[Tally]:
    """Let the rubric's rule label what it owes."""
    rubric = under_policy(order.rubric, order.policy) if order.policy else order.rubric
    if rule_of(rubric) is None:
        return
    rater = rule_rater(order.rubric, order.policy)
    add_rater(store, rater)
    tally = Tally(rater.name, rater.kind, rater.digest)
    tally.planned = count_owed(store, order, rater.digest, answered(rubric), 1)
    if tally.planned == 0:
        yield tally
        return
    with _stage(progress, f"rule {rater.name}", tally.planned) as stage:
        pages = rule_labels(
            store,
            rubric,
            rater,
            order.selection,
            owed=tally.planned,
            retry_failed=order.retry_failed,
            processes=order.processes,
        )
        with closing(pages):
            for labels in pages:
                commit_labels(store, labels)
                rows = [label for label in labels if label.question == rubric.primary.id]
                for label in rows:
                    tally.count(label)
                progress.advance(stage, len(rows))
    yield tally


def _told(endpoint: str, found: Capabilities) -> str:
    """What the probe found, in one line: how verdicts are asked for and what is not sent."""
    how = f"{endpoint}: verdicts as {found.rung}"
    if not found.verified:
        how += " (the test reply did not follow the schema; verdicts are checked one by one)"
    return how + (f"; not sent: {', '.join(found.dropped)}" if found.dropped else "")


async def _judge(
    store: Store, order: Order, chosen: JudgeSettings, progress: Progress
) -> list[Tally]:
    """One configured judge: every framing in turn, so that each rubric prefix stays cached."""
    configured = order.endpoint(chosen)
    tallies: list[Tally] = []
    with resolve(configured, say=progress.say) as endpoint:
        for framing in framings_of(order.rubric, chosen):
            async with Client(
                endpoint,
                capabilities=known_capabilities(store, configured),
                on_wait=waits(progress),
            ) as client:
                rater = build_judge(store, order.rubric, chosen, framing, endpoint, client)
                for warning in rater.warnings:
                    progress.say(warning)
                tallies.append(await _pass(store, order, chosen, rater, client, progress))
                learn(store, configured, client.capabilities.model_dump())
    return tallies


async def _pass(
    store: Store,
    order: Order,
    chosen: JudgeSettings,
    rater: Judge,
    client: Client,
    progress: Progress,
) -> Tally:
    """Probe the endpoint once if it is not known yet, then label what is owed."""
    add_rater(store, rater.rater)
    work = JudgePass(
        store,
        rater,
        client,
        repeats=chosen.repeats,
        selection=order.selection,
        retry_failed=order.retry_failed,
        progress=progress,
    )
    work.tally.planned = count_owed(
        store, order, rater.rater.digest, rater.questions, chosen.repeats
    )
    if work.tally.planned == 0:
        return work.tally
    if client.capabilities.verified is None:
        subset = order.rubric.subsets[0] if order.rubric.subsets else None
        found = await probe(client, rater.schema(subset))
        progress.say(_told(chosen.endpoint, found))
        learn(store, order.endpoint(chosen), found.model_dump())
    with _stage(progress, work.stage, work.tally.planned):
        return await work.run()


@contextmanager
def _stage(progress: Progress, name: str, total: int) -> Iterator[str]:
    """Tell of a stage, also when it ends early."""
    progress.begin(name, total)
    try:
        yield name
    finally:
        progress.end(name)
