"""What a rule classifier says about one trace: a label or a reason to abstain, with the facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from labelkit.domain.label import Evidence
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import Trace


@dataclass(frozen=True, slots=True)
class Answer:
    """What the rule says to one further question: a label, or None and a reason to abstain.

    ``reason`` and ``evidence`` are meant as in ``Ruling``.
    """

    label: str | None
    reason: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """One decision.

    ``label`` is None when the classifier abstains; then ``reason`` says why in one word or two.
    With a label, ``reason`` names the step that decided. ``flags`` are facts about the row that
    hold whatever the label. ``evidence`` points into the visible answer (part ``answer``).
    ``answers`` are given to further questions of the rubric, by question id; they stand on their
    own: the label may be open where an answer is sure, and the other way round.
    """

    label: str | None
    reason: str
    flags: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    answers: Mapping[str, Answer] = field(default_factory=dict)

    @property
    def abstained(self) -> bool:
        """Whether the classifier left the row to the other raters."""
        return self.label is None

    def answer_to(self, question: str) -> Answer:
        """The answer to a further question; one that was not reached is open for the same reason.

        A rule that leaves a row at once (no task, a rollout that died) has read nothing.
        """
        found = self.answers.get(question)
        return found or Answer(None, self.reason if self.abstained else "not_read")


Classifier = Callable[[Rubric, Trace, Task | None], Ruling]

Answerable = Mapping[str, tuple[str, ...]]
"""Further questions a rule answers, by id, each with every label that the rule may give."""
