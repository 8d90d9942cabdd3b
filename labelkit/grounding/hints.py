"""A quick look whether a text may hold a wording at all, before it is searched for.

The words that deny, remember or generalise are many, and most answers hold none of them. Each
wording holds one of a few letter sequences, at the beginning of a word. The beginnings of the words
of a text are read once; where none of a wording's stands among them, the expression need not be
tried at any of the places it is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

ODD_LETTERS = ("\u0130", "\u0131", "\u017f", "\u212a")
"""Letters that compare equal to an ASCII letter when case is ignored; ``str.lower`` keeps them."""
_HEAD = 4
_LETTERS = re.compile(r"[a-z][a-z]*+")


def holds_any(text: str, parts: Iterable[str]) -> bool:
    """Whether one of ``parts`` stands in ``text``."""
    for part in parts:  # noqa: SIM110 (the loop costs less than any shorter way)
        if part in text:
            return True
    return False


@lru_cache(maxsize=32)
def word_heads(lowered: str) -> frozenset[str]:
    """The first four letters of every word of a lower-cased text; a shorter word as it is.

    Only ASCII letters make a word here, so that a word with others in it counts as several: no
    beginning is ever missed.
    """
    return frozenset([word[:_HEAD] for word in set(_LETTERS.findall(lowered))])


def heads_of(words: Iterable[str]) -> frozenset[str]:
    """The beginnings of the first words of lower-cased wordings, to be met by ``word_heads``."""
    return frozenset([word[:_HEAD] for wording in words for word in _LETTERS.findall(wording)[:1]])


class Hint:
    """Lower-cased parts of which one stands in every text that holds the wording they are of.

    A part begins where a word begins, with four letters of it or more, or with the whole word.
    ``anywhere`` are parts that may stand inside a word.
    """

    def __init__(self, *parts: str, anywhere: tuple[str, ...] = ()) -> None:
        self._parts = (*parts, *anywhere)
        self._anywhere = anywhere
        self._heads = heads_of(parts)
        # One answer is asked about again and again, then never more.
        self._last = ("", False)

    def in_text(self, text: str) -> bool:
        """Whether the wording may stand in ``text``; kept for the text that was asked last."""
        last = self._last
        if last[0] is not text:
            last = self._last = text, self._may_stand(text)
        return last[1]

    def _may_stand(self, text: str) -> bool:
        lowered = text.lower()
        if not self._heads.isdisjoint(word_heads(lowered)) or holds_any(lowered, self._anywhere):
            return self.in_words(text)
        return not text.isascii() and holds_any(text, ODD_LETTERS)

    def in_words(self, words: str) -> bool:
        """Whether the wording may stand in a few words of a text."""
        if holds_any(words.lower(), self._parts):
            return True
        return not words.isascii() and holds_any(words, ODD_LETTERS)
