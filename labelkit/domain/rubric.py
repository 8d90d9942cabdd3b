"""A labelling scheme as data: the single source for judge, rule, annotator, ensemble and rates.

A rubric contains no model and no code. It is read and cross-checked by ``labelkit.catalog``; the
classes here only say what shape a rubric has and answer questions about it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import Field

from labelkit.digest import digest
from labelkit.domain.frozen import Frozen
from labelkit.domain.rates import (
    Composite,
    Contrast,
    Front,
    Measure,
    Predicate,
    Rate,
)
from labelkit.domain.task import Tag

Tags = dict[str, Tag]

ViewPart = Literal[
    "question",
    "system",
    "tools",
    "capability",
    "expected_call",
    "payload",
    "answer_key",
    "scenario",
    "calls",
    "conversation",
    "answer",
]
"""What a judge may be shown, in the order the framing lists it.

``question`` the user's messages; ``system`` the system prompt the model had; ``tools`` names and
descriptions; ``capability`` the called tool's declaration with what it says it returns;
``expected_call`` and ``payload`` the author's reference (shown even if not called); ``answer_key``
what a correct answer states; ``scenario`` what an expert would do here and the mistakes seen in
it; ``calls`` executed, attempted and rejected calls with their results;
``conversation`` every message in order; ``answer`` the visible answer.
"""


class LabelDefinition(Frozen):
    """One closed answer: what it means, what belongs and what does not.

    ``key`` is the annotator's keyboard key. ``subsets`` lists the task subsets the label applies
    to; empty means all.
    """

    name: str
    title: str
    key: str
    include: str
    exclude: str = ""
    example: str = ""
    subsets: tuple[str, ...] = ()


class DerivedCase(Frozen):
    """One row of the ordered table that derives a label from other answers; first match wins.

    ``when`` maps question ids to the value they must have; an empty ``when`` matches always.
    """

    when: dict[str, str] = Field(default_factory=dict)
    label: str
    flags: tuple[str, ...] = ()


class Ensemble(Frozen):
    """How the labels of several raters become one.

    ``method``: ``majority`` takes the label with most votes; ``lower_median``, for ordinal
    questions only, the middle vote on the scale, the lower of two middle ones, so that there is
    never a tie. ``tie``: ``rule`` takes the rule's label when the top count is shared, ``none``
    leaves the row unlabelled (reason ``tie``). ``null_policy``: ``drop_row`` drops a row when any
    rater's label is missing or unreadable (as the source papers do), ``ignore`` votes with the
    raters that have one. A rater that abstained defers: under either policy it does not vote.
    """

    method: Literal["majority", "lower_median"] = "majority"
    tie: Literal["rule", "none"] = "none"
    null_policy: Literal["drop_row", "ignore"] = "drop_row"
    min_raters: int = Field(default=1, ge=1)


class Question(Frozen):
    """One thing a rater decides.

    ``boolean`` questions have the labels ``yes`` and ``no``; ``ordinal`` labels are in scale
    order; a ``derived`` question is never asked, its label follows from ``derived``.
    ``asked_of`` names who answers; empty means everybody. A question for people alone is in no
    framing, and no rule answers it; one for the rule alone is asked of nobody. ``ensemble`` is how
    its labels become one; without it the rubric's way holds.
    """

    id: str
    type: Literal["choice", "ordinal", "boolean", "derived"]
    text: str
    labels: tuple[LabelDefinition, ...]
    derived: tuple[DerivedCase, ...] = ()
    asked_of: tuple[Literal["judge", "person", "rule"], ...] = ()
    ensemble: Ensemble | None = None

    def labels_for(self, subset: str | None) -> tuple[str, ...]:
        """Names of the labels that apply to a task of ``subset``, in rubric order."""
        return tuple(d.name for d in self.labels if not d.subsets or subset in d.subsets)

    def choices_for(self, subset: str | None) -> tuple[str, ...]:
        """Names of the labels a rater may choose between on a task of ``subset``.

        None where a trace has no subset that the rubric knows and one label of several is left:
        whoever is asked could only give that one, and a rate would count it as found.
        """
        names = self.labels_for(subset)
        return () if subset is None and len(names) == 1 < len(self.labels) else names

    def is_for(self, kind: Literal["judge", "person", "rule"]) -> bool:
        """Whether raters of this kind answer the question.

        A rule answers whatever it can, but no question that is for people alone.
        """
        if kind == "rule":
            return self.asked_of != ("person",)
        return not self.asked_of or kind in self.asked_of


class Framing(Frozen):
    """One way of putting the rubric to a judge.

    ``template`` is the text of the system message (Jinja2, rendered once per rubric and framing,
    so that the prefix stays cached); ``shows`` lists the parts of the trace in the user message.
    ``limits`` caps parts in characters; longer ones are shortened in the middle, marked in the
    text and flagged on the label, never silently. ``rationale_chars`` bounds the reasoning that
    is asked for before the verdict field.
    """

    name: str
    template: str
    shows: tuple[ViewPart, ...]
    asks: tuple[str, ...]
    evidence: bool = False
    max_tokens: int = Field(default=1024, ge=16)
    temperature: float = Field(default=0.0, ge=0.0)
    rationale_chars: int = Field(default=600, ge=0)
    limits: dict[ViewPart, int] = Field(default_factory=dict)


class FactRange(Frozen):
    """Bounds of a counted fact, both inclusive; an absent bound does not bound."""

    min: float | None = None
    max: float | None = None


class RuleCase(Frozen):
    """One row of the ordered table of the ``facts`` rule; the first row that matches wins.

    ``when`` maps a fact's name (see ``labelkit.rules.facts``) to a range or to a list of allowed
    values; every one must hold. ``label`` None abstains: the judges decide.
    """

    when: dict[str, FactRange | tuple[Tag, ...]] = Field(default_factory=dict)
    label: str | None = None
    subsets: tuple[str, ...] = ()


class Rubric(Frozen):
    """One labelling scheme.

    ``subset_tag`` names the task tag whose value selects the labels that apply; ``subsets`` lists
    its allowed values (empty: one label set for every task). ``applies_to`` excludes rows by tag.
    ``rule`` names a rule classifier, ``rule_policy`` its options; ``rule_table`` is the table of
    the rule ``facts``, which labels from counted facts without any code. ``protocol`` names the
    way in which tasks of the scheme are played, where a task set does not say so itself.
    """

    name: str
    version: str
    title: str
    source: str
    licence: str = "Apache-2.0"
    subset_tag: str = "subset"
    subsets: tuple[str, ...] = ()
    applies_to: Predicate = Predicate()
    questions: tuple[Question, ...]
    framings: tuple[Framing, ...] = ()
    rule: str | None = None
    rule_policy: dict[str, Tag] = Field(default_factory=dict)
    rule_table: tuple[RuleCase, ...] = ()
    protocol: str = ""
    ensemble: Ensemble = Ensemble()
    rates: tuple[Rate, ...] = ()
    measures: tuple[Measure, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    composites: tuple[Composite, ...] = ()
    fronts: tuple[Front, ...] = ()
    guideline: str = ""

    @cached_property
    def digest(self) -> str:
        """Content address over every text and setting; a released version is frozen by it."""
        return digest(self.beyond_defaults())

    def question(self, question_id: str) -> Question:
        """Return the question with this id.

        Raises:
            KeyError: when the rubric has no such question.
        """
        for question in self.questions:
            if question.id == question_id:
                return question
        raise KeyError(question_id)

    def framing(self, name: str) -> Framing:
        """Return the framing with this name.

        Raises:
            KeyError: when the rubric has no such framing.
        """
        for framing in self.framings:
            if framing.name == name:
                return framing
        raise KeyError(name)

    def asked(self, kind: Literal["judge", "person"]) -> tuple[Question, ...]:
        """Questions put to raters of this kind, in order; derived ones follow from them."""
        return tuple(q for q in self.questions if q.type != "derived" and q.is_for(kind))

    def ensemble_of(self, question: Question) -> Ensemble:
        """How the labels of a question become one: its own way, else the rubric's."""
        return question.ensemble or self.ensemble

    @property
    def primary(self) -> Question:
        """The question whose label the scheme is about: the last one (a derived one if any)."""
        return self.questions[-1]

    def subset_of(self, tags: Tags) -> str | None:
        """Return the task's subset, or None where the rubric knows no such subset."""
        value = tags.get(self.subset_tag)
        return str(value) if value is not None and str(value) in self.subsets else None
