"""``labelkit judge``: the rubric's rule and every configured judge label what they still owe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from labelkit.domain.endpoint import Endpoint
from labelkit.domain.rubric import Framing, Rubric
from labelkit.errors import InputError
from labelkit.judging.form import QuoteLimits
from labelkit.judging.independence import check_independence
from labelkit.judging.judge import Judge
from labelkit.models.capabilities import Capabilities
from labelkit.models.client import Client
from labelkit.models.engines import resolve
from labelkit.models.structured import probe
from labelkit.models.waiting import Wait
from labelkit.rules.registry import rule_of
from labelkit.settings import JudgeSettings, Settings
from labelkit.store import Selection, Store
from labelkit.store.endpoints import learn, learnt
from labelkit.store.labels import commit_labels
from labelkit.store.pending import count_pending
from labelkit.store.raters import add_rater, add_rubric
from labelkit.store.reports import counts
from labelkit.workflows.judges import LABELLED_STATES, JudgePass, Tally
from labelkit.workflows.progress import Progress, Silent
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


@dataclass(frozen=True)
class Order:
    """What is to be labelled and how."""

    rubric: Rubric
    judges: Sequence[JudgeSettings]
    settings: Settings
    retry_failed: bool
    selection: Selection
    processes: int | None = None


def judge(
    store: Store,
    rubric: Rubric,
    settings: Settings,
    *,
    judges: Sequence[str] | None = None,
    retry_failed: bool = False,
    limit: int | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
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

    Safe to interrupt at any moment and to run again, also side by side with another process.
    Works inside a running event loop.

    Raises:
        InputError: an unknown judge or framing, a judge that would grade its own traces.
        EndpointError: an endpoint cannot be used; what was finished is kept.
    """
    listener = progress or Silent()
    order = Order(
        rubric,
        _chosen(settings, rubric, judges),
        settings,
        retry_failed,
        Selection(states=LABELLED_STATES, limit=limit),
        processes,
    )
    remarks = _independent(store, order)
    for remark in remarks:
        listener.say(remark)
    add_rubric(store, rubric)
    tallies = list(_rule(store, order, listener))
    for chosen in order.judges:
        tallies += run_async(_judge(store, order, chosen, listener))
    return LabelRun(rubric.name, tuple(tallies), tuple(remarks))


def _chosen(settings: Settings, rubric: Rubric, names: Sequence[str] | None) -> list[JudgeSettings]:
    """The judges to run, checked before anything is sent."""
    if names is None:
        wanted = [j for j in settings.judges.values() if not j.rubrics or rubric.name in j.rubrics]
        return [j for j in wanted if rubric.framings]
    unknown = [name for name in names if name not in settings.judges]
    if unknown:
        known = ", ".join(settings.judges) or "none"
        raise InputError(
            f"labelkit.yaml configures no judge {unknown[0]!r}; configured judges: {known}"
        )
    return [settings.judges[name] for name in names]


def _framings(rubric: Rubric, chosen: JudgeSettings) -> list[Framing]:
    known = {framing.name: framing for framing in rubric.framings}
    for name in chosen.framings:
        if name not in known:
            raise InputError(
                f"judge {chosen.name!r} asks for framing {name!r}, which rubric {rubric.name} has "
                f"not; its framings are: {', '.join(known)}"
            )
    return [known[name] for name in chosen.framings] if chosen.framings else list(known.values())


def _independent(store: Store, order: Order) -> list[str]:
    """Refuse judges that would grade their own traces; warn of family ties."""
    models = list(counts(store).traces_by_model)
    remarks: list[str] = []
    for chosen in order.judges:
        _framings(order.rubric, chosen)
        endpoint = order.settings.endpoints[chosen.endpoint]
        named = endpoint.model_copy(update={"name": chosen.name})
        found = check_independence(named, models, allow=chosen.allow_self_judging)
        remarks += found.warnings
    return remarks


def _rule(store: Store, order: Order, progress: Progress) -> Iterator[Tally]:
    """Let the rubric's rule label what it owes."""
    rubric = order.rubric
    if rule_of(rubric) is None:
        return
    rater = rule_rater(rubric)
    add_rater(store, rater)
    tally = Tally(rater.name, rater.kind, rater.digest)
    tally.planned = _owed(store, order, rater.digest, (rubric.primary.id,), 1)
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
                for label in labels:
                    tally.count(label)
                progress.advance(stage, len(labels))
    yield tally


def _told(endpoint: str, found: Capabilities) -> str:
    """What the probe found, in one line: how verdicts are asked for and what is not sent."""
    how = f"{endpoint}: verdicts as {found.rung}"
    if not found.verified:
        how += " (the test reply did not follow the schema; verdicts are checked one by one)"
    return how + (f"; not sent: {', '.join(found.dropped)}" if found.dropped else "")


def _known(store: Store, endpoint: Endpoint) -> Capabilities | None:
    """What an earlier run learnt about the endpoint."""
    found = learnt(store, endpoint)
    return None if found is None else Capabilities.model_validate(found)


def _owed(store: Store, order: Order, rater: str, questions: Sequence[str], repeats: int) -> int:
    """Number of rows a rater owes now."""
    return count_pending(
        store, rater, questions, repeats, order.selection, retry_failed=order.retry_failed
    )


async def _judge(
    store: Store, order: Order, chosen: JudgeSettings, progress: Progress
) -> list[Tally]:
    """One configured judge: every framing in turn, so that each rubric prefix stays cached."""
    configured = order.settings.endpoints[chosen.endpoint]
    tallies: list[Tally] = []

    def tell(wait: Wait) -> None:
        if wait.seconds >= 1:
            progress.say(f"{wait.endpoint}: waiting {wait.seconds:.0f} s ({wait.message})")

    with resolve(configured, say=progress.say) as endpoint:
        for framing in _framings(order.rubric, chosen):
            async with Client(
                endpoint, capabilities=_known(store, configured), on_wait=tell
            ) as client:
                rater = Judge(
                    order.rubric,
                    framing,
                    endpoint,
                    client,
                    secret=store.secret,
                    name=f"{chosen.name}:{framing.name}",
                    temperature=chosen.temperature,
                    max_tokens=chosen.max_tokens,
                    rationale_chars=chosen.rationale_chars,
                    quotes=QuoteLimits(chosen.max_quotes, chosen.quote_chars),
                    seed=chosen.seed,
                )
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
    work.tally.planned = _owed(store, order, rater.rater.digest, rater.questions, chosen.repeats)
    if work.tally.planned == 0:
        return work.tally
    if client.capabilities.verified is None:
        subset = order.rubric.subsets[0] if order.rubric.subsets else None
        found = await probe(client, rater.schema(subset))
        progress.say(_told(chosen.endpoint, found))
        learn(store, order.settings.endpoints[chosen.endpoint], found.model_dump())
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
