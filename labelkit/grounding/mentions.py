"""Which mentions of a value count: those that are asserted, and said of the right thing.

A value may be named and denied, remembered and set aside, or put on the wrong row. Here the
mentions of one value are weighed; what states the value at all is decided in ``match``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from labelkit.domain.task import KeyValue
from labelkit.grounding.answer import Answer
from labelkit.grounding.binding import Mention, bound, by_a_word, mentions_of
from labelkit.grounding.hints import Hint
from labelkit.grounding.stance import CONTRAST, Stance, clause_before
from labelkit.grounding.values import Value

Verdict = Literal["match", "no", "unsure"]
_HANDED_ON = 20
_EARLIER = re.compile(
    r"\b(?:previously|formerly|earlier|once|(?:up|down) from|your old"
    r"|the (?:old|former|previous)|before (?:the|that|this|its) [a-z]+|used to be"
    r"|until (?:recently|then|the)|originally|instead of|compared (?:to|with)|rather than"
    r"|last (?:year|month|week|time)|used to (?:pay|cost|be)|older)\b"
    r"[^.;\d]{0,20}$"
)
_OF_OLD = Hint(
    "previously", "formerly", "earlier", "once", "up from", "down from", "your old", "the old",
    "the former", "the previous", "before", "used to", "until", "originally", "instead of",
    "compared", "rather than", "last year", "last month", "last week", "last time", "older",
)  # fmt: skip

_SCORE = re.compile(r"(?<![\w.,-])\d{1,3} ?- ?\d{1,3}(?![\w.,:-]*\d)")
_ONCE = re.compile(
    r"(?:\b(?:while|although|though)\b[^.;\n]{0,50}\bwas\b|\*was\*|\bhad been\b)[^.;\n\d]{0,16}$"
)
_ASKERS_ROW = re.compile(
    r"\|\W{0,6}(?:as |by |from |in )?(?:you|your|the user|user's|my) ?[^|\n]*\|"
)


class Match(NamedTuple):
    """The verdict on one key value, with the mentions it rests on (folded offsets).

    ``others`` are the places of list items that stand among the members of a set and are none.
    """

    verdict: Verdict
    spans: tuple[tuple[int, int], ...] = ()
    why: str = ""
    others: tuple[tuple[int, int], ...] = ()


def settle(answer: Answer, found: Sequence[tuple[int, int]], numeric: bool) -> Match:
    """Weigh mentions by stance: asserted ones decide, unless a stranger is preferred after them."""
    stances = [(s, e, _stance(answer, s, e)) for s, e in found]
    asserted = [(s, e) for s, e, kind in stances if kind == "asserted"]
    competitors = [
        v.start
        for v in answer.values
        if _competes(v, answer) and answer.stance(v.start, v.end) == "asserted"
    ] if numeric else []  # fmt: skip
    if not asserted:
        refused = any(kind in {"negated", "denied"} for _, _, kind in stances)
        return Match("no" if refused and competitors else "unsure", tuple(found), "not asserted")
    last = max(e for _, e in asserted)
    later = [c for c in competitors if c > last]
    if later and CONTRAST.search(answer.text, last, later[0]):
        return Match("no", tuple(asserted), "set aside for another value")
    traps = [v for v in answer.values if is_trap(v, answer) and v.start in competitors]
    traps = [v for v in traps if not (of_old(answer, v) or _of_the_past(answer, v))]
    traps = [v for v in traps if not _in_a_row_of_the_asker(answer, v)]
    if traps and not any(CONTRAST.search(answer.text, v.end, last) for v in traps):
        return Match("unsure", tuple(asserted), "a trap value is asserted too")
    return Match("match", tuple(asserted))


def _stance(answer: Answer, start: int, end: int) -> Stance:
    """The stance of a mention; a "not" that is part of a passage handed on denies nothing."""
    kind = answer.stance(start, end)
    if kind != "asserted" and answer.given:
        before = clause_before(answer.lower, start)[-_HANDED_ON:].lstrip()
        if before and before + answer.lower[start:end] in answer.given:
            return "asserted"
    return kind


def of_old(answer: Answer, value: Value) -> bool:
    """Whether a value is told as an earlier one: "previously 35, now 47.2"."""
    if not _OF_OLD.in_text(answer.lower):
        return False
    return _EARLIER.search(clause_before(answer.lower, value.start)) is not None


def _of_the_past(answer: Answer, value: Value) -> bool:
    """Whether a value that could be recalled is told as what was once: "while it was 110"."""
    return _ONCE.search(answer.lower, max(0, value.start - 80), value.start) is not None


def _in_a_row_of_the_asker(answer: Answer, value: Value) -> bool:
    """Whether a value stands in a table row that is headed as the user's: "your list"."""
    left = answer.lower.rfind("\n", 0, value.start) + 1
    return bool(_ASKERS_ROW.match(answer.lower, left, value.start))


def is_trap(value: Value, answer: Answer) -> bool:
    """Whether a value is one that a model might recall instead."""
    return bool(answer.traps) and any(
        r.value in answer.traps for r in (*value.readings, *value.unscaled)
    )


def _competes(value: Value, answer: Answer) -> bool:
    return is_trap(value, answer) or (value.kind == "number" and value in answer.strangers)


def decide(
    key: KeyValue,
    answer: Answer,
    rivals: Sequence[tuple[str, str]],
    good: Sequence[tuple[int, int]],
    weak: Sequence[tuple[int, int]] = (),
    numeric: bool = False,
) -> Match:
    """Choose among mentions that state the value: they must belong to the key's entity."""
    if not good:
        return Match("unsure", tuple(weak), "loosely stated") if weak else Match("no")
    if key.entity is None:
        return settle(answer, good, numeric)
    names = [(key.entity, key.path or ""), *rivals]
    mentions: list[Mention] = []
    for entity, path in dict(names).items():
        mentions.extend(mentions_of(entity, answer.lower, answer.values, path))
    if not any(m.entity == key.entity for m in mentions):
        told = by_a_word([name for name, _ in names], answer.lower)
        mentions = told if any(m.entity == key.entity for m in told) else mentions
    mentions.sort(key=lambda m: m.start)
    numbers = [v for v in answer.values if v.readings]
    owners = [(s, e, bound(answer.lower, s, e, mentions, numbers)) for s, e in good]
    mine = [(s, e) for s, e, owner in owners if owner == key.entity]
    if mine:
        return settle(answer, mine, numeric)
    named = any(m.entity == key.entity for m in mentions)
    scored = any(_SCORE.search(answer.lower, max(0, s - 4), e + 4) for s, e in good)
    if scored or (not named and any(owner is not None for _, _, owner in owners)):
        # "5.25% in Q2, down from 5.75%": by what name the answer calls it is not known.
        return Match("unsure", tuple(good), "of what it is said is open")
    if all(owner is not None for _, _, owner in owners):
        return Match("no", tuple(good), "said of another thing")
    free = [(s, e) for s, e, owner in owners if owner is None]
    return Match("unsure", tuple(free), "of what it is said is open") if rivals else settle(
        answer, free, numeric
    )  # fmt: skip
