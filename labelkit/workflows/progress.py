"""How long work tells where it is, without knowing who listens.

Workflows report to a ``Progress``; the command line draws it with rich, a notebook may print
plain lines, a test may record it. A listener may not influence the work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from labelkit.models.waiting import Wait


class Progress(Protocol):
    """Hears of stages of long work. Every call is cheap and may come thousands of times."""

    def begin(self, stage: str, total: int | None) -> None:
        """A stage starts; ``total`` is the number of rows, or None when it is not known."""

    def advance(self, stage: str, count: int = 1) -> None:
        """``count`` more rows of a stage are finished."""

    def facts(self, stage: str, text: str) -> None:
        """What is worth knowing beside the bar: tokens, cost, failures by kind."""

    def end(self, stage: str) -> None:
        """A stage is over."""

    def say(self, text: str) -> None:
        """One line that should stay readable after the bar is gone (a warning, a wait)."""


class Silent:
    """A listener that hears nothing."""

    def begin(self, stage: str, total: int | None) -> None:
        """Ignore."""

    def advance(self, stage: str, count: int = 1) -> None:
        """Ignore."""

    def facts(self, stage: str, text: str) -> None:
        """Ignore."""

    def end(self, stage: str) -> None:
        """Ignore."""

    def say(self, text: str) -> None:
        """Ignore."""


def waits(progress: Progress) -> Callable[[Wait], None]:
    """Return what tells of a client's longer waits, so that none is silent."""

    def tell(wait: Wait) -> None:
        if wait.seconds >= 1:
            progress.say(f"{wait.endpoint}: waiting {wait.seconds:.0f} s ({wait.message})")

    return tell
