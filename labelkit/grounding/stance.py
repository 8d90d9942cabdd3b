"""Whether a value is asserted, denied, or only mentioned as somebody's memory.

"It is not 47.2" and "I recalled 35, but the tool says 47.2" hold values that the answer does not
commit to. The words around a mention, inside its own clause, decide. English cue words only; an
answer in another language is read as assertion, and the rules abstain where that matters.
"""

from __future__ import annotations

import re
from typing import Literal

from labelkit.grounding.hints import Hint

Stance = Literal["asserted", "negated", "attributed", "denied"]

_CLAUSE = re.compile(
    r"[.;!?:,\s](?:(?<=[.;!?:])\s|(?<=\n)|(?<=\s)(?:but|however|although|though|whereas|while"
    r"|yet)\b|(?<=,)\s(?:(?:but|however|although|though|whereas|while|yet)\b|(?:so|and)\s))",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|no longer|neither|nor|rather than|instead of|cannot be|ignore|disregard"
    r"|\w+n't)\b(?!\s(?:only|just|merely|more|less|above|below|yet|exceed|all|sure|certain))"
    r"[^.;:!?\n,]{0,24}$",
    re.IGNORECASE,
)
_MEMORY = re.compile(
    r"\b(?:recall\w*|remember\w*|from memory|(?:my|your|user's|the user's) (?:\w+ )?"
    r"(?:memory|training|knowledge|recollection|notes?|figure|estimate|guess|number|prior|assumption|anchor|belief)"
    r"|(?:may|might) have (?:seen|heard|read)"
    r"|you (?:had|said|mentioned|thought|noted|quoted|have in mind|were thinking|cited)"
    r"|i (?:had|thought|assumed|believed|would have|expected|might have|used to)"
    r"|previously (?:thought|believed|remembered)|training data|used to (?:be|trade)|outdated"
    r"|out of date|out-of-date|stale|older (?:sources?|data|reports?)"
    r"|commonly (?:cited|quoted)|rather than the|older (?:handbooks?|maps?|guides?|guidebooks?|docs"
    r"|editions?|versions?|leaflets?|records?|sites?|articles?|lists?)"
    r"|(?:often|sometimes|still) (?:see|find|hear|read)|compared (?:to|with) the|the brochure's"
    r"|(?:brochure|wikipedia|paper|poster|website|article|flyer|leaflet|guidebook|internet)"
    r"(?:'s| says| claims| said)|i (?:have )?always (?:understood|thought|believed)"
    r"|until (?:recently|then|the)|originally|in the past)\b",
    re.IGNORECASE,
)
# "My memory says 44, the tool says": what is remembered is the 44.
# "4.25% - sorry, a typo: 4.125%": what is taken back was never meant.
_TAKEN_BACK = re.compile(
    r"[^.\n\d]{0,20}?(?:[-.,;\u2014]\s{0,2}|\s)(?:sorry|correction|scratch that|strike that|oops"
    r"|i mean|let me correct|i misread|no,? wait|wait,? (?:no|that)|apologies|pardon|my mistake)\b",
    re.IGNORECASE,
)
_OTHER_VALUE = re.compile(r"\d[^,;]{0,20}[,;]\s")
_VALUE_BEFORE = re.compile(r"\d\S{0,3}\s(?:that |which )?$")
_MEMORY_AFTER = re.compile(
    r"[^.;!?\n\d]{0,20}\b(?:from memory|in your (?:notes|message|question|prompt)"
    r"|you(?:'ve| have)? (?:had|mentioned|paid|saw|seen|heard|found|read|used to pay"
    r"|remembered|recalled|noted|quoted|thought|cited)"
    r"|(?:reported|quoted|printed|given|cited|mentioned|claimed) (?:in|on|by) (?:the|your|some|most"
    r"|many|older)? ?(?:papers?|brochure|poster|guidebooks?|website|article|leaflet|press|media)"
    r"|i (?:recalled|remembered|had)|(?:is|was) (?:outdated|out of date|stale"
    r"|wrong|incorrect|no longer))\b",
    re.IGNORECASE,
)
_FAULT = (
    r"(?:wrong|incorrect|outdated|stale|inaccurate|unreliable|mistaken|an? (?:error|glitch|mistake)"
    r"|not (?:right|correct|accurate|reliable|plausible)|too (?:high|low)|odd|implausible"
    r"|suspicious|off|out of date|impossible)"
)
_DENIAL = re.compile(
    rf"[^.\n]{{0,20}}(?:,|\band\b|\bbut\b|\bthough\b|\bhowever\b|\bwhich\b|\bthat\b|;|\.\s|-)"
    rf"[^.\n\d]{{0,40}}?\b(?:is|are|was|looks?|seems?|appears?|must be|feels|'s|be)\s"
    rf"(?:\w+ )?{_FAULT}\b",
    re.IGNORECASE,
)
CONTRAST = re.compile(
    r"\b(?:but|however|actually|in fact|instead|really|in reality|i(?:'d| would)"
    r" (?:trust|go with|use|say|rely)|correct (?:value|figure|number|one)|true (?:value|figure))\b",
    re.IGNORECASE,
)
_LOSS = re.compile(
    r"\b(?:loss(?:es)?|deficit|down|fell|fall(?:en)?|declin\w+|decreas\w+|drop(?:ped)?|lost"
    r"|shortfall|shed|lower by|slid|tumbled|slipped|negative|plunged|contract(?:ed|ion)"
    r"|shrank|shrunk|shrink\w*|sank|sunk|weaken\w*|reduc\w+|cut|lowered|trimmed|slashed|retreat\w*|outflows?|overdr\w+)\b"
    r"[^.;\n]{0,25}$",
    re.IGNORECASE,
)
HEDGE = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.|close to"
    r"|just (?:over|under)|over|under|more than|less than)|~|\u2248)\s*\D{0,3}$",
    re.IGNORECASE,
)
_IN_GENERAL = re.compile(
    r"\b(?:typical\w*|usual\w*|general\w*|normal\w*|historical\w*|on average|average|commonly"
    r"|reference|for (?:example|instance)|e\.g\.|such as|rule of thumb|guideline|threshold)\b",
    re.IGNORECASE,
)
# What every wording above holds, for a quick look before it is searched.
_NEGATED = Hint(
    "not", "never", "no longer", "neither", "nor", "rather than", "instead of", "disregard",
    "cannot be", "ignore", anywhere=("n't",),
)  # fmt: skip
_DENIED = Hint(
    "wrong", "incorrect", "outdated", "stale", "inaccurate", "unreliable", "mistake", "error",
    "glitch", "not ", "implausible", "too high", "too low", "odd", "suspicious", "off",
    "out of date", "impossible",
)  # fmt: skip
_REMEMBERED = Hint(
    "recall", "remember", "memory", "my ", "your ", "user's ", "may have", "might have", "you had",
    "you said", "you mentioned", "you thought", "you noted", "you quoted", "you have in mind",
    "you were thinking", "you cited", "i had", "i thought", "i assumed", "i believed",
    "i would have", "i expected", "previously", "training data", "used to", "outdated",
    "out of date", "out-of-date", "stale", "older", "commonly", "rather than the", "wrong",
    "incorrect", "no longer", "you paid", "you saw", "you have", "you've", "you heard", "you found",
    "you read", "you seen", "brochure", "wikipedia", "paper", "press", "media",
    "poster", "website", "article", "flyer", "leaflet", "guidebook", "internet", "until",
    "originally", "in the past", "often ", "sometimes ",
    "still ", "i always", "i have always", "compared to the", "compared with the", "reported ",
    "quoted ", "printed ", "given ", "cited ", "mentioned ", "claimed ",
)  # fmt: skip
_UNSAID = Hint(
    "sorry", "correct", "scratch", "strike", "oops", "i mean", "misread", "wait", "apologies",
    "pardon", "mistake",
)  # fmt: skip
_LOST = Hint(
    "loss", "lost", "deficit", "down", "fell", "fall", "declin", "decreas", "drop", "shortfall",
    "shed", "lower by", "slid", "tumbled", "slipped", "negative", "plunged", "contract", "shrank",
    "shrunk", "shrink", "sank", "sunk", "weaken", "reduc", "cut", "lower",
    "trimmed", "slashed", "retreat", "outflow", "overdr",
)  # fmt: skip
_GENERAL = Hint(
    "typical", "usual", "general", "normal", "historical", "average", "commonly", "reference",
    "for example", "for instance", "e.g.", "such as", "rule of thumb", "guideline", "threshold",
)  # fmt: skip
_WINDOW = 120


def clause_before(text: str, start: int) -> str:
    """Return the words of the same clause before ``start`` (at most 120 characters)."""
    left = text[max(0, start - _WINDOW) : start]
    cut = 0
    for boundary in _CLAUSE.finditer(left):
        cut = boundary.end()
    return left[cut:]


def stance(text: str, start: int, end: int) -> Stance:
    """Return how the answer relates to the mention at ``start:end`` of the folded text."""
    negated, remembered = _NEGATED.in_text(text), _REMEMBERED.in_text(text)
    before = clause_before(text, start) if negated or remembered else ""
    if negated and _NEGATION.search(before):
        return "negated"
    after = text[end : end + _WINDOW]
    if _DENIED.in_text(text) and _DENIAL.match(after):
        return "denied"
    if _UNSAID.in_text(text) and _TAKEN_BACK.match(after):
        return "denied"
    if remembered and (_remembered(before) or _MEMORY_AFTER.match(after)):
        return "attributed"
    return "asserted"


def _remembered(before: str) -> bool:
    """Whether the words before a mention speak of a memory of it, and not of another value."""
    for cue in _MEMORY.finditer(before):
        said = before[: cue.start()]
        # "The 60 you mentioned, it is": the 60. "As you said, it is": no memory but consent.
        other = _VALUE_BEFORE.search(said) or said[-3:].lower() == "as "
        if not other and not _OTHER_VALUE.search(before, cue.end()):
            return True
    return False


def tells_a_loss(text: str, start: int) -> bool:
    """Whether the words before a number make it a negative amount (``down 4%``, ``a loss of``)."""
    if not _LOST.in_text(text):
        return False
    before = text[max(0, start - 45) : start]
    return _LOST.in_words(before) and _LOSS.search(before) is not None


def in_general(text: str, start: int) -> bool:
    """Whether the words before a mention speak of what is usual, and not of this case."""
    return _GENERAL.in_text(text) and _IN_GENERAL.search(clause_before(text, start)) is not None


def hedged(text: str, start: int) -> bool:
    """Whether the number is announced as approximate."""
    return bool(HEDGE.search(text[max(0, start - 24) : start]))
