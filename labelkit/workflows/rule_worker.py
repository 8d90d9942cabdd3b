"""The child process of a rule pass: it reads pages of a store and classifies their traces.

It talks over its standard streams: one ``Setup`` comes in, then pages of row ids; for each page
rulings go out. It writes nothing to the store, so that it may be killed at any moment. When its
input ends, because the parent is done or dead, it leaves.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import Trace
from labelkit.errors import InputError, LabelkitError
from labelkit.rules.registry import rule_of
from labelkit.rules.ruling import Classifier, Ruling
from labelkit.store import Store
from labelkit.store.traces import PageReader
from labelkit.workflows.children import own_pipes, receive, send
from labelkit.workflows.collecting import seldom_collecting

Page = Sequence[tuple[int, int]]
"""(row id of a trace, version that is owed), as ``store.pending.pending_ids`` yields them."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a child needs to know: the store's address and the rubric whose rule it runs."""

    address: str
    rubric: Rubric


@dataclass(frozen=True, slots=True)
class Ruled:
    """One trace's ruling: digest of the trace, version that is owed, and what the rule says."""

    trace: str
    version: int
    ruling: Ruling


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a page could not be ruled: for the user to mend, or (``bug``) a traceback."""

    message: str
    bug: bool = False


def rule_on(rubric: Rubric, classify: Classifier, trace: Trace, task: Task | None) -> Ruling:
    """Classify one trace.

    Raises:
        InputError: the rule gives a label that the rubric does not list.
    """
    ruling = classify(rubric, trace, task)
    allowed = {definition.name for definition in rubric.primary.labels}
    if ruling.label is not None and ruling.label not in allowed:
        raise InputError(
            f"rule {rubric.rule!r} gives the label {ruling.label!r}, which rubric {rubric.name} "
            f"does not list under {rubric.primary.id!r}; add the label or choose another rule"
        )
    return ruling


def work() -> None:
    """Serve one parent until it closes the input."""
    source, replies = own_pipes()
    try:
        setup: Setup = receive(source)
        with Store.open(setup.address) as store, seldom_collecting():
            _serve(store, setup.rubric, source, replies)
    except (EOFError, BrokenPipeError):
        return
    except LabelkitError as error:
        send(replies, Refused(str(error)))


def _serve(store: Store, rubric: Rubric, source: BinaryIO, replies: BinaryIO) -> None:
    reader = PageReader(store)
    classify = rule_of(rubric)
    if classify is None:
        return
    while True:
        page: Page = receive(source)
        send(replies, _reply(reader, rubric, classify, page))


def _reply(
    reader: PageReader, rubric: Rubric, classify: Classifier, page: Page
) -> list[Ruled] | Refused:
    """The rulings of one page, or why there are none; an exception never crosses as such."""
    try:
        rows = reader.read([trace_id for trace_id, _ in page])
        return [
            Ruled(trace.digest, version, rule_on(rubric, classify, trace, task))
            for (_, version), (trace, task) in zip(page, rows, strict=True)
        ]
    except LabelkitError as error:
        return Refused(str(error))
    except Exception:  # the parent raises it again where a person sees it
        return Refused(traceback.format_exc(), bug=True)
