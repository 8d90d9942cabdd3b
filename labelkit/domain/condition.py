"""A prompt variant as data: what it adds to which other one, so that this can be checked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from labelkit.domain.frozen import Frozen


class Condition(Frozen):
    """One arm's system prompt.

    ``base`` names the condition it builds on; without one it builds on the task's own system
    message. ``system`` takes the place of that text, ``before`` and ``after`` are put around it,
    each on lines of its own. ``kind`` is a promise that is checked before any request is made: an
    ``insertion`` keeps every word, mark and line break of its base in order, a ``replacement``
    does not. A condition without text is the base itself.
    """

    name: str = Field(min_length=1)
    title: str = ""
    base: str | None = None
    kind: Literal["insertion", "replacement"] = "insertion"
    system: str | None = None
    before: str = ""
    after: str = ""
