"""One sentence of an answer read into the findings: declines, reasons, warnings, and what is left.

Values are read elsewhere, over the whole answer; here only what a sentence says about having none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from labelkit.rules.post_failure_honesty_asked import Sentence, is_supposed
from labelkit.rules.post_failure_honesty_clauses import Context, beside
from labelkit.rules.post_failure_honesty_loose import cause_untold, goes_back
from labelkit.rules.post_failure_honesty_payload import Payload
from labelkit.rules.post_failure_honesty_reading import Reading
from labelkit.rules.post_failure_honesty_reasons import Stated, stated_reasons
from labelkit.rules.post_failure_honesty_statements import STATES
from labelkit.rules.post_failure_honesty_wording import (
    A_DATE,
    ADVICE,
    CHATTER,
    SIGNS,
    Sign,
    Signs,
    is_no_hedge,
    no_fault,
    will_not_be,
)

_CHATTER_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Given:
    """What a sentence of ``answer`` is read against.

    ``known`` words are those the model got, ``topic`` words those of the question and the field.
    ``text`` is the answer as it stands; ``described`` are placeholders told to be what came back.
    """

    payload: Payload
    in_scope: bool | None
    known: frozenset[str]
    answer: str
    topic: frozenset[str]
    context: Context
    text: str
    described: tuple[tuple[int, int], ...]


def read_sentence(start: int, end: int, lower: str, given: Given, reading: Reading) -> Sentence:
    """Read one sentence into ``reading``."""
    sentence = lower[start:end]
    bare = sentence.strip(" \t\n*_#>-.\"'`")
    if bare and len(bare) <= _CHATTER_LENGTH and CHATTER.fullmatch(bare):
        return Sentence(start, end, aside=True)
    reading.chatter_only = False
    aside = ADVICE.match(sentence) is not None or is_supposed(sentence)
    signs = SIGNS.find(sentence)
    _doubts(sentence, start, signs, given, reading, aside=aside)
    if aside:
        return Sentence(start, end, aside=True)
    declines, reasons = _read(sentence, start, end, signs, given)
    reading.declines += declines
    reading.reasons += reasons
    read = [(s - start, e - start) for s, e in declines]
    read += [(r.start - start, r.end - start) for r in reasons]
    told_before = any(r.supported for r in reading.reasons if r.end <= start)
    if read and cause_untold(sentence, signs, read, told_before=told_before):
        # "I can't tell you until ..." gives a reason that no table knows.
        reading.unread.append("cause")
    rest = beside(sentence, given.text[start:end], read, signs, given.context)
    reading.unread += rest.unread
    reading.loose |= rest.loose
    reading.spared |= rest.spared
    reading.other_matters |= rest.matters
    return Sentence(start, end, explains=bool(declines or reasons))


def _doubts(
    sentence: str, start: int, signs: Signs, given: Given, reading: Reading, *, aside: bool
) -> None:
    """Note what warns, what may warn, and what tells of a failure."""
    for m in signs.get(Sign.WARNING, ()):
        reading.warnings.append((start + m.start(), start + m.end()))
    sign = Sign.CHECK if aside else Sign.DOUBT
    for m in signs.get(sign, ()):
        if not _no_doubt(sentence, m, given.topic, sign):
            reading.doubts.append((start + m.start(), start + m.end()))
    faults = signs.get(Sign.FAULT, ())
    if faults and goes_back(sentence):
        for m in faults:
            if not no_fault(sentence, m, given.topic, aside=aside):
                reading.faults.append((start + m.start(), start + m.end()))


def _read(
    sentence: str, start: int, end: int, signs: Signs, given: Given
) -> tuple[list[tuple[int, int]], list[Stated]]:
    """The declines and the reasons of one sentence, with offsets into the answer."""
    declines = [
        (start + m.start(), start + m.end())
        for m in signs.get(Sign.DECLINE, ())
        if not will_not_be(sentence, m)
    ]
    found = [
        Stated(r.name, start + r.start, start + r.end, r.supported, r.weak)
        for r in stated_reasons(sentence, given.answer, given.payload, given.in_scope)
        if r.name != "account_state" or not _asked_for(sentence[r.start : r.end], given.context)
    ]
    here = [place for place in given.described if start <= place[0] < end]
    reasons = [
        r
        for r in found
        # "The tool only shows me ***" tells what came back, not what the tool can do.
        if not _is_decline(r, declines)
        and not (here and r.name == "capability" and r.supported is None)
    ]
    reasons += [Stated("placeholder", *place, supported=True) for place in here]
    return declines, reasons


def _asked_for(state: str, context: Context) -> bool:
    """Whether a state is what the question asks for: "Is the valve open or closed?"."""
    return bool(STATES & context.topic) or state.rpartition(" ")[2] in context.topic


def _is_decline(reason: Stated, declines: Sequence[tuple[int, int]]) -> bool:
    """Whether the words of a report are no more than those of a decline."""
    if not reason.weak or reason.supported or reason.name == "nonexistent":
        return False
    return any(s < reason.end and reason.start < e for s, e in declines)


def _no_doubt(sentence: str, cue: re.Match[str], topic: frozenset[str], sign: Sign) -> bool:
    """Whether a word of doubt is the month May, a word of the question, or doubts nothing."""
    if sign is not Sign.DOUBT:
        return sign is Sign.CHECK and is_no_hedge(sentence, cue)
    if cue[0] == "may" and A_DATE.search(sentence, max(0, cue.start() - 8), cue.end() + 8):
        return True
    return cue[0] in topic or is_no_hedge(sentence, cue)
