"""A text that is wanted word for word, written in another form of the same words.

A version with a ``v`` before it, a name with the family name last, an account number in groups of
four, a reporter citation with other spaces, a word with a letter in bold. Tried only where the
text itself is not found.
"""

from __future__ import annotations

import re
from functools import lru_cache

_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-+.][\w.]+)?")
_NAME = re.compile(r"([^\W\d_][^,\d\n]{0,60}), ([^\W\d_][^,\d\n]{0,60})")
_PHRASE = re.compile(r"[^\W\d_]{3,}(?: [^\W\d_]{3,}){1,4}")
_INFLECTION = re.compile(r"(?:ed|ing|es|s)$")
_SHORTEST_STEM = 6
_WORD = re.compile(r"\w+")
_GROUPED_DIGITS = 10
_LONGEST = 60
_MARKED = re.compile(r"[*`]{1,3}")


def other_form(wanted: str, text: str) -> tuple[int, int] | None:
    """Return the place of another form of ``wanted`` in the folded, lower-cased ``text``."""
    plain = wanted.strip().lower()
    if not plain or len(plain) > _LONGEST:
        return None
    expression = _expression(plain)
    found = expression.search(text) if expression is not None else None
    return found.span() if found else None


@lru_cache(maxsize=512)
def _expression(plain: str) -> re.Pattern[str] | None:
    if _VERSION.fullmatch(plain):
        return re.compile(rf"(?<![^\W_])v\.?{re.escape(plain)}(?![\w]|\.\d)")
    name = _NAME.fullmatch(plain)
    if name:
        first, last = re.escape(name[2].strip()), re.escape(name[1].strip())
        return re.compile(rf"(?<!\w){first} {last}(?!\w)")
    if _PHRASE.fullmatch(plain):
        # "appeal dismissed": the appeal was dismissed
        gap = r"\s+(?:(?:is|was|were|are|has been|have been|the|an?)\s+){0,2}"
        return re.compile(rf"(?<!\w){gap.join(map(re.escape, plain.split()))}(?!\w)")
    squeezed = re.sub(r"[ \-]", "", plain)
    if squeezed.isalnum() and sum(c.isdigit() for c in squeezed) >= _GROUPED_DIGITS:
        return re.compile(r"(?<!\w)" + r"[ \u00a0-]?".join(squeezed) + r"(?!\w)")
    return None


def compound(wanted: str, text: str) -> tuple[int, int] | None:
    """Place of a compound written apart or uninflected: ``on back-order`` for BACKORDERED."""
    plain = wanted.strip().lower()
    if not plain.isalpha() or len(plain) > _LONGEST:
        return None
    stem = _INFLECTION.sub("", plain)
    if len(stem) < _SHORTEST_STEM:
        return None
    found = _compound(stem).search(text)
    return found.span() if found and re.search(r"[ -]", found[0]) else None


@lru_cache(maxsize=512)
def _compound(stem: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){'[ -]?'.join(stem)}(?:ed|ing|es|s)?(?![^\W_])")


def unmarked(text: str) -> str:
    """The text without the marks of bold, italics and code: ``**E**arnings`` is one word."""
    return _MARKED.sub("", text)


@lru_cache(maxsize=512)
def _citation_expressions(plain: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    words = _WORD.findall(plain)
    if len(words) < 2 or not any(w.isdigit() for w in words):
        return None
    same = r"\W{0,3}".join(re.escape(w) for w in words)
    like = r"\W{0,3}".join(re.sub(r"\d+", r"\\d+", re.escape(w)) for w in words)
    return tuple(  # type: ignore[return-value]
        re.compile(rf"(?<![^\W_]){body}(?![^\W_])") for body in (same, like)
    )


def cited_form(wanted: str, text: str) -> tuple[str, tuple[int, int]] | None:
    """Whether a citation of an unlisted reporter is made: the same one, or one with other numbers.

    Returns:
        ``("match", place)``, ``("no", place)``, or None when nothing of its kind is cited.
    """
    expressions = _citation_expressions(wanted.strip().lower()) if len(wanted) <= _LONGEST else None
    if expressions is None:
        return None
    for verdict, expression in zip(("match", "no"), expressions, strict=True):
        found = expression.search(text)
        if found:
            return verdict, found.span()
    return None
