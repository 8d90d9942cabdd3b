"""The closed answer form of one framing and task subset: the one source for schema and parser.

The schema that constrains a judge and the parser that reads it are both made from this form, so
they cannot drift apart. It is built once per framing and subset and then only looked up.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from labelkit.domain.rubric import Framing, Question, Rubric

RATIONALE = "rationale"
EVIDENCE = "evidence"
CONFIDENCE = "confidence"
CONFIDENCES = ("high", "medium", "low")
RESERVED = frozenset({RATIONALE, EVIDENCE, CONFIDENCE})

# Zero-width, joiner, soft hyphen, byte order mark and bidirectional controls.
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_GAPS = re.compile(r"[\s_\-]+")
_AROUND = " \t\r\n\"'`*.,:;()[]"


def fold(text: str) -> str:
    """Return the form under which labels and field names are compared.

    NFKC, without invisible characters, case-folded, ``_`` ``-`` and white space alike, without
    surrounding quotes and punctuation. Inner text is never dropped: ``downgrade`` is not ``grade``.
    """
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return _GAPS.sub(" ", text.casefold()).strip(_AROUND)


MAX_PART_CHARS = 20
"""Room for the longest name of a part; a small model would write a sentence here."""


@dataclass(frozen=True, slots=True)
class QuoteLimits:
    """How much evidence is asked for: at most ``most`` quotes of at most ``chars`` characters."""

    most: int = 4
    chars: int = 300


QUOTE_LIMITS = QuoteLimits()


@dataclass(frozen=True, slots=True)
class AskedField:
    """One asked question as a field of the reply.

    ``known`` maps label spellings (exact and folded) to the label; ``foreign`` holds folded
    labels of this question that belong to other task subsets.
    """

    question: str
    name: str
    labels: tuple[str, ...]
    boolean: bool
    known: Mapping[str, str]
    foreign: frozenset[str]


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What a reply must hold. ``keys`` maps folded field names to the names of the form."""

    subset: str | None
    fields: tuple[AskedField, ...]
    derived: tuple[Question, ...]
    rationale_chars: int
    evidence: bool
    names: frozenset[str]
    keys: Mapping[str, str]
    schema: dict[str, Any]

    @property
    def unanswerable(self) -> str | None:
        """The first question that has no label for this subset, or None."""
        for field in self.fields:
            if not field.labels:
                return field.question
        return None


def field_name(question_id: str) -> str:
    """Return the reply field of a question; a name of the form itself gets a prefix."""
    return f"answer_{question_id}" if question_id in RESERVED else question_id


def answer_form(
    rubric: Rubric, framing: Framing, subset: str | None, quotes: QuoteLimits = QUOTE_LIMITS
) -> AnswerForm:
    """Build the form that a judge fills in for a task of ``subset``."""
    fields = tuple(_field(rubric.question(name), subset) for name in framing.asks)
    names = [field.name for field in fields]
    if framing.rationale_chars:
        names.insert(0, RATIONALE)
    if framing.evidence:
        names.append(EVIDENCE)
    names.append(CONFIDENCE)
    return AnswerForm(
        subset=subset,
        fields=fields,
        derived=_derived(rubric, framing),
        rationale_chars=framing.rationale_chars,
        evidence=framing.evidence,
        names=frozenset(names),
        keys=_unambiguous((fold(name), name) for name in names),
        schema=_schema(fields, framing, quotes),
    )


def _field(question: Question, subset: str | None) -> AskedField:
    labels = question.choices_for(subset)
    folded = _unambiguous((fold(label), label) for label in labels)
    return AskedField(
        question=question.id,
        name=field_name(question.id),
        labels=labels,
        boolean=question.type == "boolean",
        # An exact spelling beats a folded one, whichever label that is.
        known={**folded, **{label: label for label in labels}},
        foreign=frozenset(fold(d.name) for d in question.labels if d.name not in labels).difference(
            folded
        ),
    )


def _unambiguous(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Drop folded spellings that two names share; those match only exactly."""
    found: dict[str, str] = {}
    shared = set()
    for folded, name in pairs:
        if found.setdefault(folded, name) != name:
            shared.add(folded)
    return {folded: name for folded, name in found.items() if folded not in shared}


def _derived(rubric: Rubric, framing: Framing) -> tuple[Question, ...]:
    """Return the derived questions whose every input this framing answers, in rubric order."""
    answered = set(framing.asks)
    found = []
    for question in rubric.questions:
        inputs = {name for case in question.derived for name in case.when}
        if question.type == "derived" and inputs <= answered:
            answered.add(question.id)
            found.append(question)
    return tuple(found)


def _schema(
    fields: tuple[AskedField, ...], framing: Framing, quotes: QuoteLimits
) -> dict[str, Any]:
    # Reasoning first: a verdict written before its reasons is a guess that gets defended.
    properties: dict[str, Any] = {}
    if framing.rationale_chars:
        properties[RATIONALE] = {"type": "string", "maxLength": framing.rationale_chars}
    if framing.evidence:
        properties[EVIDENCE] = {
            "type": "array",
            "maxItems": quotes.most,
            "items": {
                "type": "object",
                "properties": {
                    "part": {"type": "string", "maxLength": MAX_PART_CHARS},
                    "quote": {"type": "string", "maxLength": quotes.chars},
                },
                "required": ["part", "quote"],
                "additionalProperties": False,
            },
        }
    for field in fields:
        properties[field.name] = {"type": "string", "enum": list(field.labels)}
    properties[CONFIDENCE] = {"type": "string", "enum": list(CONFIDENCES)}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
