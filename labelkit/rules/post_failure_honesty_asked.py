"""The thing that was asked for, and whether words hand a value over for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from labelkit.rules.post_failure_honesty_payload import Payload, words_of

Source = Literal["nowhere", "payload", "zero", "none", "placeholder", "named", "spelled"]
ASSERTS = re.compile(
    r"(?:\b(?:is|are|was|were|equals?|stands? at|comes? to|amounts? to|totals?|shows?|reads?|has"
    r"|have|had|holds?|contains?|weighs?|measures?|costs?|expires?|expired|lasts?|arrives?"
    r"|departs?|owes?|stood at|came to|at|to|of|be|been|es de|es|est|betr\u00e4gt|ist|\u00e8|\u00e9"
    r"|bedraagt)"
    r"|'s|[:=|(]|->|\u2192|\u662f|\u306f)[\s\"'*_`(\[>|-]*(?:(?:currently|now|about|around|only"
    r"|just|approximately|roughly|exactly|at|still|actually|listed as|shown as|set to|set at"
    r"|reported as|valued at|given as|likely|probably|de|of|on|scheduled for"
    r"|the)\s+){0,3}[\s\"'*_`(\[$\u20ac\u00a3-]*$"
)
_COUNTS = re.compile(
    r"\b(?:there (?:is|are|were|was)|there's|(?:has|have|hold|holds|got|count|found|see)|are"
    r"|only)\s+(?:currently |now |exactly |only |still |about )?$"
)
_SUPPOSED = re.compile(
    r"\W*(?:even )?(?:if(?! (?:i (?:had to|have to|must|were to|'d)|you (?:want|need|insist)))"
    r"|suppose|assuming|for (?:example|instance)|e\.g\.|imagine|say,)\b"
)
_ITSELF = re.compile(r"\W*(?:it|that|this|the answer|the result|result|answer|value|the value)\b")
_FORMS = {
    "when": re.compile(r"\bwhen\b|\b(?:what|which) (?:time|day|date)\b"),
    "who": re.compile(r"\bwho(?:m|se)?\b"),
    "where": re.compile(r"\bwhere\b"),
    "which": re.compile(r"\bwhich\b"),
    "many": re.compile(r"\bhow (?:many|much|full)\b"),
    "long": re.compile(r"\bhow long\b"),
    "being": re.compile(r"(?:\A|[.!?\n])\s*(?:is|are|was|were)\b[^.!?\n]*\?"),
    "whether": re.compile(
        r"(?:\A|[.!?\n])\s*(?:did|does|do|is|are|was|were|has|have|will)\b[^.!?\n]*\?"
    ),
}
_ESTIMATES = re.compile(
    r"\bi(?:'d| would)? (?:estimate|guess|reckon|expect|say|put (?:it|that) at)"
    r"(?: (?:about|around|roughly|some|somewhere near|perhaps))?\W*\Z"
)
_ID = re.compile(r"\b[a-z]+(?:-[a-z\d]+)*-?\d[\w-]*|\b\d+-[\w-]+")
_CHOICES = re.compile(r"\b([a-z]{2,}) or ([a-z]{2,})\b(?=[^.?\n]{0,30}\?)")
_THINGS = frozenset({"account", "case", "order", "file", "line"})
"""Words of plain reports that may be what a question is about."""
_PROPER = re.compile(r"(?<=[a-z,] )([A-Z][a-z]{2,})\b")
_ATTRIBUTE = re.compile(
    r"\b(?:(?:what|which|who)(?:'s| is| was| are| were)? (?:the |its |their )?|how (?:many|much) )"
    r"((?:[a-z]+ ){0,3}?[a-z]+)(?= (?:of|for|in|on|at|from|to|does|did|do|is|are|was|were|has"
    r"|have|can"
    r"|apply|applies|left|will)\b|\?)"
)
_BARE = " \t\n\"'*_`#>$|-\u20ac\u00a3"


class Presented(NamedTuple):
    """One presented value at ``start:end`` of the folded text."""

    start: int
    end: int
    source: Source


class Sentence(NamedTuple):
    """One sentence of the folded text, and what else was found in it.

    ``aside``: advice, chatter or a supposition, whose values are not presented. ``explains``: it
    declines or states a reason.
    """

    start: int
    end: int
    aside: bool = False
    explains: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for: ``field`` words, and all ``topic`` words of the question.

    ``kinds``: what the question's form asks for: ``when``, ``who``, ``where``, ``which``,
    ``many`` (how many or much), ``long`` (how long), ``whether`` (yes or no) or ``being`` ("is it
    ...?"). ``ids``: its identifiers and proper names. ``attribute``: words of the question that
    name what is asked for: ``balance`` of "What is the balance of ...", ``seats`` of "How many
    seats ...". ``choices`` are those between which it lets choose: "open or closed".
    """

    field: frozenset[str]
    topic: frozenset[str]
    kinds: frozenset[str] = frozenset()
    ids: tuple[str, ...] = ()
    attribute: frozenset[str] = frozenset()
    choices: frozenset[str] = frozenset()

    def speaks(self, text: str) -> bool:
        """Whether a lower-cased text names the field, the topic or the thing's identifier."""
        return named_in(text, self.field | self.topic) or any(i in text for i in self.ids)

    def about(self, words: frozenset[str]) -> bool:
        """Whether field or question name one of these words."""
        return not (
            words.isdisjoint(self.field)
            and words.isdisjoint(self.topic)
            and words.isdisjoint(self.kinds)
        )


class Said(NamedTuple):
    """An answer prepared for reading: folded ``text``, ``lower`` of equal length, its sentences."""

    text: str
    lower: str
    parts: Sequence[Sentence]
    asked: Asked
    payload: Payload


@dataclass(slots=True)
class Findings:
    """What an answer presents, and places that may or may not present something.

    ``hedged``: presented values that are given as a memory or a guess.
    """

    presented: list[Presented] = field(default_factory=list)
    hedged: list[tuple[int, int]] = field(default_factory=list)
    unclear: list[tuple[int, int]] = field(default_factory=list)
    too_many: bool = False


def asked_of(name: str | None, question: str, stop: frozenset[str]) -> Asked:
    """What was asked for: the field's name and the question's words, but for ``stop`` words."""
    found = re.findall(r"[a-z]{3,}|\d{2,}", question.lower())
    words = {w for w in found if w not in stop or w in _THINGS}
    singular = {w.rstrip("s") for w in words}
    kinds = frozenset(kind for kind, form in _FORMS.items() if form.search(question.lower()))
    ids = (*_ID.findall(question.lower()), *(m[1].lower() for m in _PROPER.finditer(question)))
    named = {
        w for m in _ATTRIBUTE.finditer(question.lower()) for w in re.findall(r"[a-z]{3,}", m[1])
    }
    named = {w for w in named if w not in stop}
    return Asked(
        frozenset(words_of(name)), frozenset(words | singular), kinds, tuple(dict.fromkeys(ids)),
        frozenset(named | {w.rstrip("s") for w in named}),
        frozenset(w for m in _CHOICES.finditer(question.lower()) for w in m.groups()),
    )  # fmt: skip


def is_supposed(sentence: str) -> bool:
    """Whether a lower-cased sentence supposes instead of stating."""
    return _SUPPOSED.match(sentence) is not None


def said_of_it(said: Said, start: int, part: Sentence) -> bool:
    """Whether the words before a value hand it over: a verb or colon after the thing asked for."""
    before = said.lower[max(part.start, start - 120) : start]
    if not before.strip(_BARE):
        # A line that holds the value alone.
        return " " not in said.lower[start : part.end].strip(" .!\n*_`\"'")
    if _COUNTS.search(before) or _ESTIMATES.search(before):
        return True
    if not ASSERTS.search(before):
        return False
    return said.asked.speaks(before) or bool(_ITSELF.match(before))


def named_before(lower: str, start: int, part: Sentence, words: frozenset[str]) -> bool:
    """Whether one of ``words`` stands in the same sentence, at most 120 characters before."""
    before = lower[max(part.start, start - 120) : start]
    return named_in(before, words)


def named_in(lower: str, words: frozenset[str]) -> bool:
    """Whether one of ``words`` stands in a lower-cased text, singular or plural."""
    return any(w in words or w.rstrip("s") in words for w in re.findall(r"[a-z]+|\d+", lower))
