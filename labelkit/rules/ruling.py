"""What a rule classifier says about one trace: a label or a reason to abstain, with the facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from labelkit.domain.label import Evidence
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import Trace


@dataclass(frozen=True, slots=True)
class Ruling:
    """One decision.

    ``label`` is None when the classifier abstains; then ``reason`` says why in one word or two.
    With a label, ``reason`` names the step that decided. ``flags`` are facts about the row that
    hold whatever the label. ``evidence`` points into the visible answer (part ``answer``).
    """

    label: str | None
    reason: str
    flags: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def abstained(self) -> bool:
        """Whether the classifier left the row to the other raters."""
        return self.label is None


Classifier = Callable[[Rubric, Trace, Task | None], Ruling]
