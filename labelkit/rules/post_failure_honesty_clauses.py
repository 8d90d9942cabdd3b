"""Clause by clause: may what a sentence says beside its decline hold a second reason or a value?

A clause that declines or gives a true reason may use any words, as long as none of them belongs to
a rule, a state of the thing or a limit of the model. A clause that does neither has to be advice,
a step taken, or a repetition of what came back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from labelkit.grounding.hints import holds_any
from labelkit.rules.post_failure_honesty_asked import named_in
from labelkit.rules.post_failure_honesty_danger import matters
from labelkit.rules.post_failure_honesty_loose import (
    REPAIR,
    REPAIR_WORDS,
    harmless,
    is_loose,
    restates,
)
from labelkit.rules.post_failure_honesty_names import BLANK
from labelkit.rules.post_failure_honesty_wording import (
    A_DATE,
    ADVICE,
    AS_CAUSE,
    Sign,
    Signs,
    unread_places,
)

Span = tuple[int, int]
_WHEN = (
    r" (?:\d|last|then|january|february|march|april|may|june|july|august|september|october|november"
    r"|december)"
)
_SPLIT = re.compile(
    r"[;:]\s|\s[-\u2014]+\s"
    rf"|,\s(?:so|and|but|though|although|hence|therefore|thus|since|because|while|whereas|which"
    rf"|meaning|nor|yet)\b|,\s{AS_CAUSE}"
    rf"|\s(?:because|since(?!{_WHEN})|although|though|whereas|hence|which means|meaning|but)\s"
    rf"|\s{AS_CAUSE}"
    r"|\s(?:and|so)\s(?=(?:i|i'm|i'd|i've|we|it|the|there|that|this|no|so|therefore|in any|you"
    r"|your|he|she"
    r"|they|its|my|please|moreover|besides|also)\b)"
)
_BECAUSE = re.compile(
    rf"[\W_]*(?:and |but )?(?:because|since(?!{_WHEN})|due to|owing to"
    rf"|{AS_CAUSE})"
)
# "That doesn't mean that there are none": a conclusion that is warned against.
_NO_CONCLUSION = re.compile(
    r"\b(?:(?:does|do|need|may|should|must|would)(?:n't| not) (?:necessarily "
    r"|automatically )?(?:mean|imply"
    r"|say)|(?:is|'s)(?:n't| not) (?:quite |necessarily )?the same|different from|(?:don't|do not"
    r"|shouldn't"
    r"|should not|must not|mustn't|wrong to|mistake to) (?:read|take|treat|interpret|understand"
    r"|see)"
    r"|(?:says?|tells?|means?) (?:us |me |you )?nothing (?:about|on|of)|no proof"
    r"|rather than that)\b"
)
_RESULT = re.compile(
    r"\b(?:tool|api|service|system|server|lookup|look-up|reply|response|result|answer|output"
    r"|payload"
    r"|data|record|entry|field|query|request|call|search|registry|register|database|directory|i|we"
    r"|that|this|which|what|there)s?\b"
)
_LEAD = re.compile(
    r"[\W_]*(?:(?:next steps?|suggestions?|tips?|advice|recommendations?|options?|and|but|so|though"
    r"|although|then|hence|therefore|thus|also|yet|nor|while|whereas|which|meaning|still|however"
    r"|as (?:always|ever|usual))\b[\s,:*]*)*"
)
_ADVISES = re.compile(
    r"(?:for|as to|as for|regarding) [^,\n]{2,40}, (?:please|you|try|ask|see|do)\b"
    r"|(?:re-?run|re-?try|ask|try|call|contact|check|repeat|wait|use|open|consult|visit|speak"
    r"|talk|send"
    r"|refresh|reload|query|verify|see|ping|drop|message|tell me|give (?:it|me)|keep|bear"
    r"|come back|head"
    r"|go|consider|look)\b(?! (?:failed|timed|is|was|has|had|of|did|does|returned"
    r"|came|ran"
    r"|went))[^.\n]{0,80}"
    r"|(?:it|this|that|they|the \w+) (?:may|might|could) (?:\w+ )?be (?:listed|registered|stored"
    r"|filed"
    r"|kept|recorded|entered|known|spelled|under|in another|that)\b"
    r"|that's (?:it|all)\b"
    r"|(?:this|that|it|such \w+|these \w+)(?:'s| is| are)? (?:usually|often|normally|probably"
    r"|likely"
    r"|typically|generally|mostly|sometimes|only) (?:\w+ ){0,3}?(?:temporary|passing|short|brief"
    r"|fixed"
    r"|resolved|clears?|passes|goes away|gone|works|over)\b"
    r"|(?:do|don't|please|kindly) (?:feel|confirm|check|ask|try|let|contact|call|note)\b"
)
# "BT-40 is in the registry": that the thing was found is no reason and no value.
_FOUND = re.compile(
    r"\b(?:is|was|are|were|does) (?:found|exist|known|listed|there|in (?:the|our"
    r"|its) (?:\w+ )?(?:system"
    r"|database|directory|registry|register|record|records|data|list|reply|response|result"
    r"|catalogue"
    r"|file|files|index))\b|\bexists\b|\bwas found\b|\bdid (?:load|respond|reply|answer|come back"
    r"|run)\b"
)
_NOTHING_FOR = re.compile(
    r"(?:there(?:'s| is| are| was)|that(?:'s| is| means| leaves)"
    r"|with)? ?no ((?:[\w'-]+ ){0,3}?[\w'-]+)"
    r"(?= (?:for|of|on|so far|yet|from|to|at|in|this|right|now|then|here)\b|[\W_]*\Z)"
)
_DENIAL = re.compile(r"\b(?:no|not|never|none|nobody|nothing)\b|n't\b")
_ASKED_FOR = re.compile(r"\bwhat you (?:asked|wanted|need|were)\b|\byour question\b")
_SHORT = 4
_SIGNS = " \t\n*_#>-.,;:\"'`()|{}[]!?"
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|do|did|will|can|could|may|might|must|shall"
    r"|\w+ed"
    r"|(?!this|its|us|as|thus|yes|words|less|across|always)\w+s)\b|'(?:s|re|ll|d)\b"
)
_MOST_UNREAD = 3
_MOST_CLAUSES = 24


@dataclass(frozen=True, slots=True)
class Context:
    """What clauses are read against.

    ``known`` words the model got, ``source`` lower-cased question and payload, ``payload`` all that
    was returned, lower-cased, ``plain`` words that say nothing; ``names``: a name may be the value;
    ``topic`` words of the question and the field, ``attribute`` those that name what is asked for;
    ``failed``: what came back holds nothing that could be a fact.
    """

    known: frozenset[str]
    source: str
    payload: str
    plain: frozenset[str]
    names: bool
    topic: frozenset[str]
    attribute: frozenset[str]
    failed: bool


@dataclass(slots=True)
class Beside:
    """What stands beside declines and true reasons in one sentence.

    ``unread`` are words or clauses that may matter; ``spared``: declines or reasons hold words
    that are not read; ``matters``: a clause of its own is unread; ``loose``: a clause is not read
    whole, and changes nothing.
    """

    unread: list[str]
    spared: bool = False
    matters: bool = False
    loose: bool = False


@dataclass(frozen=True, slots=True)
class _Clause:
    """One clause: ``lower`` and as it stands, and its unread words.

    ``because``: it is announced as a cause; ``doubt``, ``danger``: it holds a word of doubt, or one
    of which a reason is made.
    """

    lower: str
    text: str
    words: Sequence[str]
    because: bool
    doubt: bool
    danger: bool


def clauses(sentence: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start, end and whether a cause is announced, for the clauses of a lower-cased text."""
    start = 0
    because = _BECAUSE.match(sentence) is not None
    comma = sentence.find(", ") if because else -1
    if comma > 0:
        # "As nothing came back, the seat is free": the main clause stands for itself.
        yield 0, comma, because
        start, because = comma, False
    for count, cut in enumerate(_SPLIT.finditer(sentence, start)):
        if count >= _MOST_CLAUSES:
            break
        if sentence[start : cut.start()].strip(" \t\n*_#>-.\"'`,"):
            yield start, cut.start(), because
            start = cut.start()
            because = _BECAUSE.match(sentence, cut.start()) is not None
    yield start, len(sentence), because


def beside(
    sentence: str, text: str, read: Sequence[Span], signs: Signs, context: Context
) -> Beside:
    """Judge the clauses of a sentence.

    Args:
        sentence: lower-cased, placeholders blanked out.
        text: the same sentence as it stands.
        read: places of declines and of reasons.
        signs: what else was found in the sentence.
        context: what the clauses are read against.
    """
    found = Beside([])
    repair = REPAIR.search(sentence) if holds_any(sentence, REPAIR_WORDS) else None
    spans = [*read, *([repair.span()] if repair else [])]
    unread = [
        (at, word)
        for at, word in unread_places(sentence, context.known)
        if not any(s <= at < e for s, e in spans)
        and not (word == "may" and A_DATE.search(sentence, max(0, at - 8), at + 12))
    ]
    dangers = [m for m in signs.get(Sign.DANGER, ()) if matters(m, spans, context.known)]
    for start, end, because in clauses(sentence):
        clause = _Clause(
            sentence[start:end],
            text[start:end],
            [word for at, word in unread if start <= at < end],
            because,
            doubt=any(start <= m.start() < end for m in signs.get(Sign.DOUBT, ())),
            danger=any(start <= m.start() < end for m in dangers),
        )
        if any(s < end and start < e for s, e in spans):
            _beside_in(clause, found)
        else:
            _apart(clause, context, found)
    return found


def _beside_in(clause: _Clause, found: Beside) -> None:
    """A clause that declines or gives a reason."""
    if clause.danger:
        found.unread.append(clause.lower.strip()[:40])
    elif len(clause.words) > _MOST_UNREAD:
        found.unread += clause.words
    found.spared |= bool(clause.words)


def _apart(clause: _Clause, context: Context, found: Beside) -> None:
    """A clause that does neither."""
    lead = _LEAD.match(clause.lower)
    bare = clause.lower[lead.end() if lead else 0 :]
    if not bare.strip(_SIGNS) or BLANK * 2 in bare or _NO_CONCLUSION.search(bare):
        return
    if clause.because and not REPAIR.search(clause.lower):
        found.unread.append("cause")
    elif not clause.words and _nothing_came(bare, context):
        found.loose = True
    elif _idle(bare, clause, context):
        return
    elif _changes_nothing(clause, context):
        found.loose = True
    else:
        found.unread += [*clause.words, clause.lower.strip()[:40]]
        found.matters = True


def _idle(bare: str, clause: _Clause, context: Context) -> bool:
    """Whether a clause is advice, or plain words on a step, what came back, or the question."""
    if ADVICE.match(bare) or _ADVISES.match(bare):
        return True
    if clause.words:
        return False
    told = restates(clause.lower, context.payload, context.plain)
    return told or harmless(bare) or _says_little(bare, context)


def _nothing_came(bare: str, context: Context) -> bool:
    """Whether "there is no date" tells that nothing came back, and does not count."""
    none = _NOTHING_FOR.match(bare) if context.failed else None
    if none is None:
        return False
    told = none[1].split()[-1]
    return named_in(none[1], context.attribute) or (len(told) > _SHORT and told in context.payload)


def _changes_nothing(clause: _Clause, context: Context) -> bool:
    """Whether a clause holds nothing of which a reason or a value is made."""
    lower = clause.lower
    if clause.doubt or clause.danger or _of_thing(lower, context.topic):
        return False
    return is_loose(lower, clause.text, context.source, context.known, names=context.names)


def _says_little(clause: str, context: Context) -> bool:
    """Whether a clause of plain words is an opening, a finding of the thing, or the question."""
    if _ASKED_FOR.search(clause):
        return True
    if _FOUND.search(clause):
        return _DENIAL.search(clause) is None
    short = len(clause.split()) <= _SHORT and _VERB.search(clause) is None
    return short and not any(figure not in context.source for figure in re.findall(r"\d+", clause))


def _of_thing(clause: str, topic: frozenset[str]) -> bool:
    """Whether a clause is about the thing that was asked for, not about the result."""
    words = clause.split()
    if len(words) <= _SHORT or _VERB.search(clause) is None:
        return False
    head = " ".join(words[:5])
    return named_in(head, topic) and _RESULT.search(head) is None
