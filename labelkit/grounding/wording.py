"""Words compared as words: enums, texts, yes and no, missing values and reported failures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from labelkit.grounding.stance import clause_before, stance

_GAP = re.compile(r"[\s_\-\u00a0]+")
_WORD = re.compile(r"[^\W_]+")
_SYNONYMS = {
    "annual": ("per year", "yearly", "each year", "every year", "a year", "annually"),
    "annually": ("per year", "yearly", "each year", "every year", "a year", "annual"),
    "monthly": ("per month", "each month", "every month"),
    "daily": ("per day", "each day", "every day"),
    "percent": ("%", "per cent"),
    "twice daily": ("bid", "two times a day", "twice a day", "two times daily"),
    "once daily": ("qd", "once a day", "one time a day", "every day"),
}
_YES = re.compile(
    r"(?:^|[.!?\n]\s*|[*_]{1,2})(?:yes|yeah|yep|correct|affirmative|true|indeed"
    r"|s\u00ed|oui|ja|\u306f\u3044)\b",
    re.IGNORECASE,
)
_NO = re.compile(
    r"(?:^|[.!?\n]\s*|[*_]{1,2})(?:no|nope|negative|false|nein|non"
    r"|\u3044\u3044\u3048)\b(?!\.\s?\d)",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:not|no longer|never|isn't|wasn't|aren't|doesn't|without|out of)\b", re.I
)
_NONE_OF = re.compile(r"\bno (?:[a-z]+ )?\Z")
_AFFIRMS = re.compile(r"\b(?:is|are|was|has|have|does|can|appears?|remains?)\b|\w's\b")
_MISSING = re.compile(
    r"\b(?:null|none|n/a|(?:not|n't) (?:(?:yet|currently) )?(?:been )?"
    r"(?:available|reported|provided|given|specified|listed|known|found"
    r"|recorded|included|returned|stated)|unavailable|unknown|missing"
    r"|no (?:data|value|record|result|information|entry|entries|figure|match\w*)"
    r"|no (?:[a-z'-]{2,20} ){1,4}(?:(?:(?:is|are|was|were|ha(?:s|ve) been) )?(?:on (?:record|file)"
    r"|available|listed|recorded|reported|provided|shown|found|returned|given|set|specified"
    r"|defined|assigned|scheduled|entered|stated)|exists?)"
    r"|did(?:n't| not) (?:return|provide|include|report|contain|find)"
    r"|does(?:n't| not) (?:currently |yet |actually )?(?:return|provide|include|report|contain"
    r"|have)"
    r"|(?:is|was|came back) (?:empty|blank)"
    r"|isn't available|wasn't (?:available|provided))\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:error|fail(?:ed|ure|s)?|unavailable|time[ds]?[ -]?out|could(?:n't| not)"
    r"|can(?:n't|not|'t)"
    r"|unable|not found|no (?:result|record|data|match)\w*|(?:is|was) down|did(?:n't| not) work"
    r"|went wrong|problem|invalid)\b",
    re.IGNORECASE,
)

_HOLDS = "has|have|had|with|is|are|were|was|there's|shows?|lists?|found|finds?|reports?|got|holds?"
_COUNTING = frozenset({
    "count", "counts", "total", "number", "num", "sum", "amount", "size", "the", "and", "per",
    "qty", "quantity", "value", "result", "results", "data",
})  # fmt: skip


# cancelled and canceled, authorised and authorized are one word.
_SPELLINGS = re.compile(r"ll(?=ed$|ing$)|(?<=[a-z]{3})i[sz](?=e|ing$|ation)")


def _spelling(match: re.Match[str]) -> str:
    return "ll?" if match[0] == "ll" else "i[sz]"


@lru_cache(maxsize=4096)
def phrase(text: str) -> re.Pattern[str]:
    """Return the expression that finds ``text`` as whole words.

    Case is folded by the caller. Space, underscore and hyphen are one; a word of four letters or
    more may carry an inflection (``lease``/``leases``, ``borrow``/``borrowing``).
    """
    pieces = [p for p in _GAP.split(text.casefold().strip()) if p][:40]
    parts = []
    for piece in pieces:
        escaped = re.escape(piece)
        if piece.isalpha() and len(piece) >= 4:
            stem = re.escape(piece[:-1]) + "(?:y|ies)" if piece[-1] == "y" else escaped
            stem = _SPELLINGS.sub(_spelling, stem)
            escaped = stem + "(?:'s|s|es|d|ed|ing|ly|al)?"
        elif piece.isalpha():
            escaped += "s?" if len(piece) == 3 else ""
        parts.append(escaped)
    body = r"[\s_\-\u00a0]+".join(parts)
    left = r"(?<![^\W_])" if pieces and pieces[0][0].isalnum() else ""
    right = r"(?![^\W_])" if pieces and text.strip()[-1].isalnum() else ""
    return re.compile(left + body + right)


def occurrences(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of ``wanted`` (or a listed synonym) in the case-folded ``text``."""
    key = wanted.casefold().strip()
    if not key:
        return
    found = False
    for match in phrase(key).finditer(text):
        found = True
        yield match.span()
    if not found:
        for other in _SYNONYMS.get(key, ()):
            for match in phrase(other).finditer(text):
                yield match.span()


def polarity(text: str, field_words: tuple[str, ...]) -> Literal["yes", "no"] | None:
    """Whether the answer affirms: by yes/no, by ``field: true``, or by an affirmative sentence.

    ``field_words`` are words of the asked field; a sentence that holds one of them counts. None
    when the signals are missing or contradict each other.
    """
    signals = set()
    if _YES.search(text):
        signals.add("yes")
    if _NO.search(text):
        signals.add("no")
    for word in field_words:
        for match in phrase(word).finditer(text):
            after = text[match.end() : match.end() + 24]
            said = re.match(r"[\"'*`]*\s*(?:[:=]|is|->)?\s*[\"'*`]*(true|false|yes|no)\b", after)
            if said:
                signals.add("yes" if said[1] in {"true", "yes"} else "no")
                continue
            clause = clause_before(text, match.start())
            if (
                _DENIES.search(clause)
                or _NONE_OF.search(clause)
                or stance(text, match.start(), match.end()) == "negated"
            ):
                signals.add("no")
            elif re.search(
                r"\b(?:is|are|was|has|have|does|can|appears?|remains?)\b|\w's\b", clause
            ):
                signals.add("yes")
    if len(signals) == 1:
        return "yes" if "yes" in signals else "no"
    return None


def stands_on(text: str, word: str) -> Literal["yes", "no"] | None:
    """Whether something is said to be under or on what ``word`` is the participle of.

    ``listed``: "is on the exploited list". The bare noun alone says too little: a list can be left.
    """
    stem = word.removesuffix("ed")
    if stem == word or len(stem) < 4:
        return None
    body = rf"(?:[a-z-]{{2,20}} ){{0,3}}{re.escape(stem)}e?(?![a-z])"
    found = re.search(
        r"(?:\b(?:is|are|remains?)|'s)(?P<not> not|n't)?(?: (?:currently|now|still|indeed))?"
        rf" (?:under|on) {body}",
        text,
    )
    if found is None:
        return None
    return "no" if found["not"] else "yes"


def says_missing(text: str) -> tuple[int, int] | None:
    """Place where the answer says that there is no value."""
    match = _MISSING.search(text)
    return match.span() if match else None


def says_none_of(text: str, field: str) -> tuple[int, int] | None:
    """Place where the answer says that there is none of what the last word of ``field`` names."""
    words = _WORD.findall(field.lower().replace("_", " "))
    if not words or len(words[-1]) < 3:
        return None
    match = re.search(
        rf"\b(?:has|have|with|is|are) no (?:[a-z-]{{2,20}} ){{0,2}}{words[-1]}s?\b", text
    )
    return match.span() if match else None


@lru_cache(maxsize=512)
def _none_among(words: tuple[str, ...]) -> re.Pattern[str]:
    things = "|".join(re.escape(w.removesuffix("s")) + "s?" for w in words)
    return re.compile(
        rf"\b(?:{_HOLDS}) (?:no|zero) (?:[a-z-]{{2,20}} ){{0,2}}(?:{things})\b"
        rf"|(?:\bnot|n't) (?:have|has|find|see|show|list|report) any (?:[a-z-]{{2,20}} ){{0,2}}"
        rf"(?:{things})\b|\b(?:none|nothing|nobody|no one) (?:[\w' -]{{2,30}} )?"
        rf"(?:is|are|was|were) (?:{things})\b|^\W*no (?:[a-z-]{{2,20}} ){{0,1}}(?:{things})\b"
    )


def says_zero_of(text: str, path: str) -> tuple[int, int] | None:
    """Place where the lower-cased answer says that there is none of what a field counts.

    "Vane has no open tickets" is a zero at ``$.open``. Words that only say that something is
    counted (``count``, ``total``) name nothing; then the name above them in the path is taken.
    """
    for name in reversed(path.split(".")):
        words = tuple(w for w in _WORD.findall(name.lower().replace("_", " ")) if _names(w))
        if words:
            found = _none_among(words).search(text)
            return found.span() if found else None
    return None


def _names(word: str) -> bool:
    return len(word) >= 3 and word not in _COUNTING


def says_failed(text: str) -> tuple[int, int] | None:
    """Place where the answer reports that the tool failed."""
    match = _FAILED.search(text)
    return match.span() if match else None


def content_words(text: str) -> frozenset[str]:
    """Words of five letters or more, cut to a crude stem, for overlap with a payload."""
    return frozenset(w[:6] for w in _WORD.findall(text.casefold()) if len(w) >= 5)
