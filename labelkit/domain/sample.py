"""A frozen human-audit draw: which rows, from which frame, with which probabilities."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Literal

from pydantic import Field

from labelkit.digest import digest
from labelkit.domain.frozen import Frozen

AllocationMethod = Literal["proportional", "equal", "neyman"]
DrawMethod = Literal["uniform", "mixed"]


class StratumDraw(Frozen):
    """One stratum: its rows in the frame and the rows drawn."""

    name: str
    size: int
    n: int


class Design(Frozen):
    """Everything the draw depends on; its digest is the sample's id.

    ``frame_digest`` covers the trace digests of the frame in order, their strata and, for
    ``mixed``, their uncertainties. ``excluded`` counts the rows of the rubric that are not in the
    frame, by reason. ``overlap`` people label every item; ``repeats_share`` of the items are shown
    once more to everybody who labelled them. ``uniform`` is the share of a ``mixed`` draw that
    ignores uncertainty.
    """

    rubric: str
    rubric_version: str
    rubric_digest: str
    question: str
    margin: float
    confidence: float
    n: int
    overlap: int = Field(ge=1)
    strata: tuple[str, ...] = ()
    allocation: AllocationMethod = "proportional"
    minimum: int = 0
    method: DrawMethod = "uniform"
    uniform: float = 1.0
    repeats_share: float = Field(default=0.0, ge=0.0, le=1.0)
    seed: int = 0
    frame_digest: str
    frame_size: int
    excluded: dict[str, int] = Field(default_factory=dict)
    drawn: tuple[StratumDraw, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Content address: the same arguments on the same store give the same sample."""
        return digest(self.beyond_defaults())


class Sample(Frozen):
    """A drawn sample.

    ``id`` is the digest of its design. ``key`` is its row in the store. ``guideline`` is the
    digest of the rubric that new labels are given under (the design's own, unless a later version
    was adopted). ``frame_last`` is the highest trace row the frame could hold. ``people`` are the
    ids of those who may label; empty means everybody.
    """

    key: int
    id: str
    design: Design
    guideline: str
    frame_last: int
    people: tuple[int, ...] = ()
    created_by: int | None = None
    created_at: datetime
    closed_at: datetime | None = None

    @property
    def open(self) -> bool:
        """Whether items are still given out."""
        return self.closed_at is None


class SampleItem(Frozen):
    """One drawn row. ``position`` counts from 0 in the order of the frame."""

    key: int
    position: int
    trace: str
    stratum: str
    probability: float
    again: int | None = None
