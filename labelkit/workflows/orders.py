"""What is to be labelled by which judges: checked before anything is sent or written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from labelkit.domain.endpoint import Endpoint
from labelkit.domain.rubric import Framing, Rubric
from labelkit.domain.task import Tag
from labelkit.errors import InputError
from labelkit.judging.form import QuoteLimits
from labelkit.judging.independence import check_independence
from labelkit.judging.judge import Completes, Judge
from labelkit.models.capabilities import Capabilities
from labelkit.settings import JudgeSettings, Settings
from labelkit.store import Selection, Store
from labelkit.store.endpoints import learnt
from labelkit.store.pending import count_pending
from labelkit.store.reports import counts


@dataclass(frozen=True)
class Order:
    """What is to be labelled and how; ``policy`` holds changed options of the rule."""

    rubric: Rubric
    judges: Sequence[JudgeSettings]
    settings: Settings
    retry_failed: bool
    selection: Selection
    processes: int | None = None
    policy: Mapping[str, Tag] = field(default_factory=dict)

    def endpoint(self, chosen: JudgeSettings) -> Endpoint:
        """The endpoint of a judge, as it is configured."""
        return self.settings.endpoints[chosen.endpoint]


def chosen_judges(
    settings: Settings, rubric: Rubric, names: Sequence[str] | None
) -> list[JudgeSettings]:
    """Return the named judges; None: all that are meant for the rubric.

    Raises:
        InputError: for a judge that is not configured.
    """
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


def framings_of(rubric: Rubric, chosen: JudgeSettings) -> list[Framing]:
    """Return the framings that a judge labels with; none named: all of the rubric.

    Raises:
        InputError: for a framing that the rubric has not.
    """
    known = {framing.name: framing for framing in rubric.framings}
    for name in chosen.framings:
        if name not in known:
            raise InputError(
                f"judge {chosen.name!r} asks for framing {name!r}, which rubric {rubric.name} has "
                f"not; its framings are: {', '.join(known)}"
            )
    return [known[name] for name in chosen.framings] if chosen.framings else list(known.values())


def check_judges(store: Store, order: Order) -> list[str]:
    """Refuse judges that would grade their own traces; return warnings of family ties."""
    models = list(counts(store).traces_by_model)
    remarks: list[str] = []
    for chosen in order.judges:
        framings_of(order.rubric, chosen)
        named = order.endpoint(chosen).model_copy(update={"name": chosen.name})
        found = check_independence(named, models, allow=chosen.allow_self_judging)
        remarks += found.warnings
    return remarks


def build_judge(
    store: Store,
    rubric: Rubric,
    chosen: JudgeSettings,
    framing: Framing,
    endpoint: Endpoint,
    client: Completes,
) -> Judge:
    """Return the judge that a configured one is with one framing: everywhere the same rater."""
    return Judge(
        rubric,
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


def known_capabilities(store: Store, endpoint: Endpoint) -> Capabilities | None:
    """Return what an earlier run learnt about the endpoint."""
    found = learnt(store, endpoint)
    return None if found is None else Capabilities.model_validate(found)


def count_owed(
    store: Store, order: Order, rater: str, questions: Sequence[str], repeats: int
) -> int:
    """Return the number of rows that a rater owes now."""
    return count_pending(
        store, rater, questions, repeats, order.selection, retry_failed=order.retry_failed
    )
