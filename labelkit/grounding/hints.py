"""A quick look whether a text may hold a wording at all, before it is searched for.

The words that deny, remember or generalise are many, and most answers hold none of them. Each
wording holds one of a few letter sequences. These are looked for once per text; where none stands,
the expression need not be tried at any of the places it is asked about.
"""

from __future__ import annotations

from collections.abc import Iterable

ODD_LETTERS = ("\u0130", "\u0131", "\u017f", "\u212a")
"""Letters that compare equal to an ASCII letter when case is ignored; ``str.lower`` keeps them."""


def holds_any(text: str, parts: Iterable[str]) -> bool:
    """Whether one of ``parts`` stands in ``text``."""
    for part in parts:  # noqa: SIM110 (a generator costs more than the loop)
        if part in text:
            return True
    return False


class Hint:
    """Lower-cased parts of which one stands in every text that holds the wording they are of."""

    def __init__(self, *parts: str) -> None:
        self._parts = parts
        # One answer is asked about again and again, then never more.
        self._last = ("", False)

    def in_text(self, text: str) -> bool:
        """Whether the wording may stand in ``text``; kept for the text that was asked last."""
        last = self._last
        if last[0] is not text:
            last = self._last = text, self.in_words(text)
        return last[1]

    def in_words(self, words: str) -> bool:
        """Whether the wording may stand in a few words of a text."""
        if holds_any(words.lower(), self._parts):
            return True
        return not words.isascii() and holds_any(words, ODD_LETTERS)
