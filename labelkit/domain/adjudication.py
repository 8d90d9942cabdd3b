"""A person's final decision on one item and question. It never overwrites a label."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from labelkit.domain.frozen import Frozen


class Decision(Frozen):
    """One decision; the highest ``version`` of (item, question) is the one in force.

    ``value`` None says that no label applies (the reason says why); such an item is left out of
    every rate. ``tags`` name failure clusters, ``guideline_gap`` says that the guideline did not
    settle the case. ``labels`` are the row ids of the people's labels that lay on the table,
    ``seen`` the raters (digests) whose reasons the person had opened before.
    """

    sample: str
    item: int
    trace: str
    question: str
    version: int = Field(ge=0)
    person: int
    value: str | None
    reason: str
    tags: tuple[str, ...] = ()
    guideline_gap: bool = False
    labels: tuple[int, ...] = ()
    seen: tuple[str, ...] = ()
    created_at: datetime
