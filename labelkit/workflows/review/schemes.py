"""The rubric as the annotator meets it: questions, the labels that apply, keys, guideline.

Rubrics are read from the store in the very version a sample was drawn for, so a changed file on
disk changes nothing under way. A rubric is parsed once per open store.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from labelkit.domain.label import Rater
from labelkit.domain.person import Person
from labelkit.domain.rubric import LabelDefinition, Rubric
from labelkit.store import Store
from labelkit.store.raters import add_rater, rubric

_PARSED: WeakKeyDictionary[Store, dict[str, Rubric]] = WeakKeyDictionary()


@dataclass(frozen=True)
class QuestionForm:
    """One question to a person: its text, and the labels that apply to this trace, with keys."""

    id: str
    type: str
    text: str
    labels: tuple[LabelDefinition, ...]


def rubric_in(store: Store, digest: str) -> Rubric:
    """Return a rubric of the store by digest.

    Raises:
        StoreError: the store holds no such rubric.
    """
    parsed = _PARSED.setdefault(store, {})
    if digest not in parsed:
        parsed[digest] = rubric(store, digest)
    return parsed[digest]


def forms(rubric: Rubric, subset: str | None) -> tuple[QuestionForm, ...]:
    """Return the questions that people are asked, in order; derived ones are never asked."""
    out = []
    for question in rubric.asked("person"):
        names = question.choices_for(subset)
        labels = tuple(d for d in question.labels if d.name in names)
        out.append(QuestionForm(question.id, question.type, question.text, labels))
    return tuple(out)


def rater_of(store: Store, person: Person, rubric: Rubric) -> Rater:
    """Return the person as a rater under this very text of the rubric, known to the store.

    The guideline is part of the rubric, so a label always says by which text it was given.
    """
    rater = Rater(
        kind="person",
        name=person.name,
        version="1",
        spec={
            "person": person.id,
            "rubric": rubric.name,
            "rubric_version": rubric.version,
            "rubric_digest": rubric.digest,
        },
    )
    if rater.digest not in store.rater_ids:
        add_rater(store, rater)
    return rater
