"""The rule of a rubric over the store: in this process for few rows, over all cores for many.

Children read and classify; this process alone writes, page after page in the store's order, so an
interrupted run has a gapless beginning and a second one goes on there.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType, TracebackType
from typing import Self

from labelkit.domain.label import Label, Outcome, Rater
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Tag
from labelkit.errors import InputError, StoreError
from labelkit.rules.registry import RULES_VERSION, answered, rule_of
from labelkit.rules.ruling import Answer, Classifier
from labelkit.store import Selection, Store
from labelkit.store.pending import pending_ids
from labelkit.store.traces import PageReader
from labelkit.workflows import children
from labelkit.workflows.children import Child
from labelkit.workflows.collecting import seldom_collecting
from labelkit.workflows.columns import CHANGED
from labelkit.workflows.cores import cores
from labelkit.workflows.rule_worker import Page, Refused, Ruled, Setup, rule_on

MANY_ROWS = 3000
"""From so many owed rows on children pay: each costs about a second of CPU to start."""

_AHEAD = 2
_PROGRAM = "from labelkit.workflows.rule_worker import work; work()"


def rule_rater(rubric: Rubric, changed: Mapping[str, Tag] = MappingProxyType({})) -> Rater:
    """Return the identity under which the rubric's rule labels.

    With ``changed`` options of its policy it is a rater of its own, named after them: its labels
    stand beside the rule's and do not vote (``spec["changed"]``).
    """
    other = {name: v for name, v in changed.items() if rubric.rule_policy.get(name) != v}
    words = ",".join(f"{name}={value}" for name, value in sorted(other.items()))
    return Rater(
        kind="rule",
        name=f"{rubric.rule}:{words}" if words else rubric.rule or "",
        version=rubric.version,
        spec={
            "rubric": rubric.name,
            "rubric_digest": rubric.digest,
            "rules": RULES_VERSION,
            **rubric.rule_policy,
            **other,
            **({CHANGED: other} if other else {}),
        },
    )


def rule_labels(
    store: Store,
    rubric: Rubric,
    rater: Rater,
    selection: Selection,
    *,
    owed: int,
    retry_failed: bool = False,
    processes: int | None = None,
) -> Generator[list[Label]]:
    """Yield the labels that the rule owes, page by page in the store's order, uncommitted.

    A row has a label for every question that the rule answers, the primary one last.

    Args:
        store: an open store.
        rubric: the rubric; it names a rule.
        rater: the rule's identity.
        selection: which traces.
        owed: number of rows owed; decides whether children are started.
        retry_failed: also rows whose label in force is a failure.
        processes: number of processes that classify; None takes one for few rows, else one per
            core. 1 starts no child.

    Raises:
        InputError: the rule gives a label that the rubric does not list.
        StoreError: the store cannot be read, or a child ended before its work was done.
    """
    classify = rule_of(rubric)
    if classify is None:
        return
    questions = answered(rubric)
    pages = pending_ids(store, rater.digest, questions, selection, retry_failed=retry_failed)
    count = processes if processes is not None else _processes_for(owed)
    with seldom_collecting():
        if count <= 1:
            ruled = _here(store, rubric, classify, pages)
            yield from (_labels(questions, rater, page) for page in ruled)
            return
        with Children(count, Setup(store.address, rubric)) as at_work:
            yield from (_labels(questions, rater, page) for page in at_work.rulings(pages))


def _processes_for(owed: int) -> int:
    return cores() if owed >= MANY_ROWS else 1


def _here(
    store: Store, rubric: Rubric, classify: Classifier, pages: Iterator[Page]
) -> Iterator[list[Ruled]]:
    """Classify in this process."""
    reader = PageReader(store)
    for page in pages:
        rows = reader.read([trace_id for trace_id, _ in page])
        yield [
            Ruled(trace.digest, version, rule_on(rubric, classify, trace, task))
            for (_, version), (trace, task) in zip(page, rows, strict=True)
        ]


def _labels(questions: Sequence[str], rater: Rater, page: Sequence[Ruled]) -> list[Label]:
    """Rulings as labels, row by row; an abstention carries its reason.

    What the rule recorded of the row stands with the primary label alone.
    """
    now = datetime.now(UTC)
    *further, primary = questions
    labels = []
    for one in page:
        ruling = one.ruling
        labels += [_label(one, name, ruling.answer_to(name), rater, now) for name in further]
        own = Answer(ruling.label, ruling.reason, ruling.evidence)
        labels.append(_label(one, primary, own, rater, now, ruling.flags))
    return labels


def _label(
    one: Ruled,
    question: str,
    given: Answer,
    rater: Rater,
    now: datetime,
    flags: tuple[str, ...] = (),
) -> Label:
    return Label(
        trace=one.trace,
        rater=rater.digest,
        question=question,
        outcome=Outcome.ABSTAINED if given.label is None else Outcome.LABELLED,
        value=given.label,
        reason=given.reason if given.label is None else None,
        rationale=given.reason,
        version=one.version,
        flags=flags,
        evidence=given.evidence,
        created_at=now,
    )


class Children:
    """Processes that classify pages; a context manager that leaves none behind."""

    def __init__(self, count: int, setup: Setup) -> None:
        self._setup = setup
        self._count = count
        self._all: list[Child] = []

    def __enter__(self) -> Self:
        try:
            for _ in range(self._count):
                self._all.append(Child(_PROGRAM))
                self._all[-1].tell(self._setup)
        except BaseException:
            children.end(self._all)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        children.end(self._all)

    def rulings(self, pages: Iterator[Page]) -> Iterator[list[Ruled]]:
        """Yield the rulings of each page in the order of ``pages``; few pages are read ahead."""
        asked: deque[Child] = deque()
        for child, page in zip(itertools.cycle(self._all), pages, strict=False):
            child.ask(page)
            asked.append(child)
            if len(asked) >= _AHEAD * self._count:
                yield _ruled(asked.popleft())
        while asked:
            yield _ruled(asked.popleft())


def _ruled(child: Child) -> list[Ruled]:
    try:
        answer: list[Ruled] | Refused = child.answer()
    except children.LOST as error:
        raise StoreError(
            f"a process that ran the rule ended early (exit code {child.process.poll()}); what was "
            "committed is kept; run the command again, or with --processes 1"
        ) from error
    if isinstance(answer, Refused):
        raise RuntimeError(answer.message) if answer.bug else InputError(answer.message)
    return answer
