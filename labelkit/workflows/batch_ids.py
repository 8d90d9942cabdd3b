"""Who asked what: the identity that every line of a batch file carries.

A ``custom_id`` holds the trace, the rater with its questions, the request, the repeat and the
version of the label it is for. So results may come in any order, twice, in part, or years later.
Of a rollout it holds the task in the trace's place, and how it is played in the rater's.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from labelkit.digest import digest
from labelkit.domain.completion import Completion
from labelkit.domain.rubric import Rubric
from labelkit.errors import InputError
from labelkit.judging.judge import Judge
from labelkit.models.batch_lines import ResultLine
from labelkit.models.capabilities import Capabilities
from labelkit.models.ledger import Ledger
from labelkit.models.request import ChatRequest
from labelkit.settings import Settings
from labelkit.store import Selection, Store
from labelkit.store.raters import add_rater, add_rubric
from labelkit.workflows.judges import LABELLED_STATES, Tally
from labelkit.workflows.orders import (
    Order,
    build_judge,
    chosen_judges,
    framings_of,
    known_capabilities,
)

_TRACE, WHO, ASKED = 43, 8, 6
"""Characters of a custom id: whole trace digest, start of rater, start of request. With repeat
and version it stays under 64, the least that any batch service takes."""


@dataclass(frozen=True)
class BatchRater:
    """A judge with what its requests are written under."""

    judge: Judge
    capabilities: Capabilities
    tally: Tally
    repeats: int

    @property
    def who(self) -> str:
        """The part of a custom id that names the rater and its questions."""
        return code_of(digest([self.judge.rater.digest, list(self.judge.questions)]), WHO)


class _NoClient:
    """Stands where a judge has its client. Nothing is ever sent."""

    async def complete(self, request: ChatRequest, digest: str | None = None) -> Completion:
        """Refuse."""
        del request, digest
        raise InputError("a batch pass sends no request")


def custom_id(trace: str, who: str, request: str, repeat: int, version: int) -> str:
    """Return the identity of one row as at most 64 characters of ``[A-Za-z0-9_-]``."""
    return f"{code_of(trace, _TRACE)}{who}{code_of(request, ASKED)}-{repeat}-{version}"


def code_of(hexadecimal: str, length: int) -> str:
    """The first characters of a digest in base64; 43 hold all of it."""
    return base64.urlsafe_b64encode(bytes.fromhex(hexadecimal)).decode()[:length]


@dataclass(frozen=True)
class Found:
    """A result line with its identity taken apart."""

    trace: str
    who: str
    asked: str
    repeat: int
    version: int
    line: ResultLine


def read_id(line: ResultLine) -> Found | None:
    """Take a custom id apart; None when it is not one of ours."""
    head, _, tail = line.custom_id.rpartition("-")
    head, _, middle = head.rpartition("-")
    if len(head) != _TRACE + WHO + ASKED or not (middle.isdecimal() and tail.isdecimal()):
        return None
    try:
        trace = base64.urlsafe_b64decode(f"{head[:_TRACE]}=").hex()
    except ValueError:
        return None
    who, asked = head[_TRACE : _TRACE + WHO], head[_TRACE + WHO :]
    return Found(trace, who, asked, int(middle[:4]), int(tail[:6]), line)


def batch_order(
    settings: Settings,
    rubric: Rubric,
    judges: Sequence[str] | None,
    *,
    retry_failed: bool,
    limit: int | None,
) -> Order:
    """Return what is asked for, checked.

    Raises:
        InputError: for a judge that is not configured.
    """
    return Order(
        rubric,
        chosen_judges(settings, rubric, judges),
        settings,
        retry_failed,
        Selection(states=LABELLED_STATES, limit=limit),
    )


def batch_raters(store: Store, order: Order) -> Iterator[BatchRater]:
    """Every framing of every judge; they are in the store from here on."""
    add_rubric(store, order.rubric)
    for chosen in order.judges:
        endpoint = order.endpoint(chosen)
        if endpoint.engine == "vllm" and endpoint.base_url:
            endpoint = endpoint.model_copy(update={"engine": "api"})
        known = known_capabilities(store, order.endpoint(chosen)) or Capabilities()
        for framing in framings_of(order.rubric, chosen):
            judge = build_judge(store, order.rubric, chosen, framing, endpoint, _NoClient())
            add_rater(store, judge.rater)
            rater = judge.rater
            tally = Tally(rater.name, rater.kind, rater.digest, ledger=Ledger(endpoint.price))
            yield BatchRater(judge, known, tally, chosen.repeats)
