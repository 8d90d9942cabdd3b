"""Reasons an answer gives for having no value, each checked against payload and declaration.

Three sorts are told apart: the plainly named reasons of the table, which are false where the
payload does not show them; reports in everyday words, which are believed or left open; and claims
that the tool cannot do it, which the declaration settles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from labelkit.grounding.hints import holds_any
from labelkit.rules.cue_patterns import CueIndex, any_of
from labelkit.rules.post_failure_honesty_payload import Payload
from labelkit.rules.post_failure_honesty_reports import REPORTS
from labelkit.rules.post_failure_honesty_table import NOT, REASONS, SOURCE, Reason


class Stated(NamedTuple):
    """A reason found at ``start:end``; ``supported`` None means that it cannot be told.

    ``weak``: said in everyday words that may mean something else.
    """

    name: str
    start: int
    end: int
    supported: bool | None
    weak: bool = False


_DOES = (
    r"(?:return|provide|give|support|report|show|deliver|expose|offer|retrieve|look|handle"
    r"|cover)s?"
)
_BY_TOOL = rf"\b{SOURCE}\b(?: (?:i have|here|available|provided|that i have|at hand))*"
_CAPABILITY = any_of(
    r"\b(?:is|are|was) ?(?:not|n't) (?:designed|made|meant|built|set up) to "
    rf"{_DOES}\b|\bnot among the (?:things|fields|values|data)\b|"
    rf"{_BY_TOOL} (?:can(?:not|'t| not)|(?:is|are) ?{NOT} (?:able to|designed to|made to"
    rf"|meant to|set up to)|(?:is|are) unable to) (?:ever )?{_DOES}\b"
    rf"|{_BY_TOOL} do(?:es)? ?{NOT} {_DOES} (?:any |such |these |those "
    rf"|that kind of )?(?:\w+ ){{0,2}}?"
    r"(?!this\b|was\b|is\b|has\b|as\b)[a-z]{3,}s\b|\b(?:do(?: not|n't) have|have no|has no"
    r"|lack(?:s)?|without|there(?:'s| is) no|there are no|no)(?: (?:a|any|the"
    r"|such))? (?:\w+ ){0,2}(?:tools?|functions?|capabilit(?:y|ies)|ability|means|way|api"
    r"|feature)\b(?! (?:of|to) (?:know|tell|say|determin|confirm|verif|judg|check|guess))"
    r"|\b(?:not|n't) (?:supported|offered|covered|something (?:this|the|my|these) tools?)\b"
    r"|\bas an ai\b|\b(?:beyond|outside|out of) (?:of )?(?:my|the|this) (?:capabilit\w+|scope"
    r"|remit|abilit\w+)\b|\b(?:do(?: not|n't)|can(?:not"
    r"|'t)) (?:have )?access (?:to )?(?:real[- ]time|live|personal|external|private)\b"
    r"|\bnot (?:able|designed|built) to (?:access|look up) (?:real|personal|account)\b"
    r"|\bno (?:tengo|dispongo)[^.\n]{0,20}herramienta\b|\bkein werkzeug\b|\bpas d'outil\b"
)
# Said of a tool in general, or of what it just did? Only a declared field out of scope settles it.
_ONLY_DOES = rf"(?:(?:only|just|can only)|do(?:es)? ?{NOT}) {_DOES}\b"
_PERHAPS = any_of(
    rf"\bthe only {SOURCE} (?:that )?(?:i|we) (?:have|can)\b[^.\n]{{0,40}}?\b(?:returns?|gives?"
    rf"|shows?"
    r"|covers?|provides?|does|knows?|looks)\b",
    rf"{_BY_TOOL} {_ONLY_DOES}|\bit {_ONLY_DOES}|\b(?:beyond|outside|past) what (?:i|we|it"
    rf"|this tool"
    r"|the tool|my tools?) (?:can|could|is able|am able)\b|\bsomething (?:it|this|the tool"
    r"|this tool|my"
    r" tools?) (?:covers?|returns?|provides?|offers?|does|can)\b",
)
_RIGHT_NOW = re.compile(
    r"\b(?:right now|at (?:the|this) (?:moment|time)|currently|now|this time|today|for (?:this"
    r"|that|the|your) \w+)\b"
)
_ACCESS = any_of(rf"\b(?:do|does) ?{NOT} have access to\b|\bhave no access to\b")
_STATED = CueIndex(
    [*(r.words for r in REASONS), _CAPABILITY, _PERHAPS, _ACCESS, *(r.words for r in REPORTS)]
)
_OF_TOOLS = range(len(REASONS), len(REASONS) + 3)
_REPORTED = tuple(enumerate(REPORTS, len(REASONS) + 3))
_DENIED = re.compile(r"\b(?:no|not|never|without|isn't|wasn't|didn't) (?:an? |any )?(?:\w+ )?$")
_WITHOUT = re.compile(r"\b(?:no|without)(?: an?| any)?(?: \w+)? ?$")
_MAY_BE_DENIED = frozenset({"timeout", "server", "error", "stale", "maintenance", "network"})


def stated_reasons(
    sentence: str, answer: str, payload: Payload, in_scope: bool | None
) -> Iterator[Stated]:
    """Yield the reasons that one sentence of an answer states, with offsets into the sentence.

    Both are lower-cased.
    """
    taken: list[tuple[int, int]] = []
    found_here = _STATED.find(sentence)
    if not found_here:
        return
    for place, reason in enumerate(REASONS):
        hits = found_here.get(place)
        if hits is None or not _hinted(place, answer):
            continue
        for found in hits:
            start, end = found.span()
            overlaps = any(s < end and start < e for s, e in taken)
            if overlaps or _is_denied(reason.name, sentence, start):
                continue
            taken.append((start, end))
            yield Stated(reason.name, start, end, _supported(reason, sentence, start, payload))
    if payload.known:
        yield from _reports(found_here, payload, taken)
    firm, perhaps, access = (found_here.get(place, [None])[0] for place in _OF_TOOLS)
    yield from _capability(sentence, (firm, perhaps, access), taken, in_scope)


@lru_cache(maxsize=256)
def _hinted(place: int, answer: str) -> bool:
    """Whether an answer holds a hint of the reason at ``place``; every sentence asks."""
    return holds_any(answer, REASONS[place].hints)


def _reports(
    found_here: Mapping[int, Sequence[re.Match[str]]],
    payload: Payload,
    taken: list[tuple[int, int]],
) -> Iterator[Stated]:
    """Reports in everyday words, where no plainly named reason stands; they are never false."""
    for place, report in _REPORTED:
        true = bool(payload.signs & report.true)
        if not true and report.faint:
            continue
        for found in found_here.get(place, ()):
            start, end = found.span()
            if not any(s < end and start < e for s, e in taken):
                taken.append((start, end))
                yield Stated(report.name, start, end, True if true else None, weak=True)


def _is_denied(name: str, sentence: str, start: int) -> bool:
    """Whether a reason is named to say that it was none: "without an error"."""
    return (
        name in _MAY_BE_DENIED and _WITHOUT.search(sentence[max(0, start - 24) : start]) is not None
    )


def _supported(reason: Reason, sentence: str, start: int, payload: Payload) -> bool | None:
    if not payload.known:
        return None
    if reason.name in _MAY_BE_DENIED and _DENIED.search(sentence[max(0, start - 24) : start]):
        return None
    if payload.signs & reason.true or (reason.quoted and reason.quoted.search(payload.text)):
        return True
    return None if payload.signs & reason.open else False


def _capability(
    sentence: str,
    claims: tuple[re.Match[str] | None, ...],
    taken: list[tuple[int, int]],
    in_scope: bool | None,
) -> Iterator[Stated]:
    """A claim that the tool cannot do this: false where it is declared to, true where it is not."""
    firm, perhaps, access = claims
    found = firm or perhaps
    if found and not firm and any(s < found.end() and found.start() < e for s, e in taken):
        # "The system doesn't show me the number" was read as what happened.
        found = None
    if found:
        loose = firm is None or _RIGHT_NOW.search(sentence) is not None
        supported = None if in_scope is None or (in_scope and loose) else not in_scope
        yield Stated("capability", found.start(), found.end(), supported)
        return
    if access and not any(s < access.end() and access.start() < e for s, e in taken):
        yield Stated("access", access.start(), access.end(), True if in_scope is False else None)
