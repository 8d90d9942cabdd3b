"""What an abbreviation is said to stand for: the one text whose words cannot be replaced.

"Other words may say the same" holds for an explanation. It does not hold where a question asks
what APR stands for and the answer spells A, P and R with other words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

_ASKED = re.compile(
    r"\bst(?:and|ood)s? for\b|\bshort for\b|\babbreviat|\bacronym\b|\bexpan(?:d|sion)"
)
_ACRONYM = re.compile(r"\b[A-Z]{2,8}\b")
_WORD = re.compile(r"[^\W\d_]+")
_SMALL = frozenset({"of", "the", "and", "for", "in", "on", "to", "a", "an", "by", "with"})
_TOLD = re.compile(
    r"\b(?:st(?:ands|ood|and) for|short for|abbreviat\w* \w+|means?)\b", re.IGNORECASE
)
_MOST_WORDS = 400
_LONGEST = 20
_SOON = 12


def expansions(question: str, answer: str) -> list[list[str]]:
    """Return the runs of words in ``answer`` that spell an abbreviation that was asked about.

    Lower-cased words, small ones (``of``, ``the``) included; empty where the question does not
    ask what an abbreviation stands for, or nothing spells it. By chance many words begin so: a run
    counts that is written with capitals, or that follows soon on "stands for" or "means".
    """
    if not _ASKED.search(question.lower()):
        return []
    words = list(islice(_WORD.finditer(answer), _MOST_WORDS))
    told = [m.end() for m in _TOLD.finditer(answer)]
    found = []
    for acronym in dict.fromkeys(_ACRONYM.findall(question)):
        for at, word in enumerate(words):
            run = _spelling(acronym.lower(), [w[0] for w in words[at : at + _LONGEST]])
            soon = any(0 <= word.start() - end <= _SOON for end in told)
            if run and (soon or all(w[0].isupper() for w in run if w.lower() not in _SMALL)):
                found.append([w.lower() for w in run])
    return found


def _spelling(letters: str, words: Sequence[str], read: int = 0) -> list[str]:
    """The first words that begin with the letters in turn, or none.

    A small word may stand for its letter (return *on* investment) or be passed over.
    """
    if not letters:
        return list(words[:read])
    if read >= len(words):
        return []
    word = words[read].lower()
    run = _spelling(letters[1:], words, read + 1) if word[0] == letters[0] else []
    if not run and read and word in _SMALL:
        run = _spelling(letters, words, read + 1)
    return run
