"""Long lists of wordings that are searched quickly.

Python tries every alternative of an expression at every character. Nearly all wordings begin with
a word, and their first letters are known. So the words of a text are read once, and only the
wordings that begin with a word's first letters are tried there; most words begin none. What is
found is what the plain expression finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from labelkit.rules.cue_heads import LETTERS, alternatives, heads

_WORD_BEGINS = r"\b"
_WORDS = re.compile(rf"\b\w{{1,{LETTERS}}}")
_MOST_KEYS = 20_000


Hot = list[tuple[int, tuple[re.Pattern[str], ...]]]
"""Where a word begins that a wording may begin with, and these wordings."""


@lru_cache(maxsize=256)
def word_starts(text: str) -> tuple[tuple[int, str], ...]:
    """Where the words of a text begin, and with which letters (``LETTERS`` at most)."""
    return tuple((word.start(), word[0]) for word in _WORDS.finditer(text))


class Cues:
    """Wordings by the first letters of the word that they begin with.

    ``pattern`` is the plain expression that finds the same places. One of ``hints`` stands where
    a wording is found that does not begin with a word; where ``needs`` are given, one of them
    stands in every text that holds any.
    """

    def __init__(self, pieces: list[str], needs: tuple[str, ...] = ()) -> None:
        self.needs = needs
        begins = [p.removeprefix(_WORD_BEGINS) for p in pieces if p.startswith(_WORD_BEGINS)]
        others = [p for p in pieces if not p.startswith(_WORD_BEGINS)]
        self.pattern = "|".join(
            [*([rf"\b(?=\w)(?:{'|'.join(begins)})"] if begins else []), *others]
        )
        self._begins = _Dispatch(begins)
        self._others = re.compile("|".join(others)) if others else None
        literal = [head.text for piece in others for head in heads(piece, words=False)]
        self.hints = tuple(dict.fromkeys(literal))

    def search(self, text: str) -> re.Match[str] | None:
        """The first place, or None."""
        return next(iter(self.finditer(text)), None)

    def finditer(self, text: str) -> Iterable[re.Match[str]]:
        """Give the places from left to right; they do not overlap."""
        if self.needs and not self.begins_anywhere_in(text):
            return ()
        begins = self._begins
        hot = [(start, tried) for start, key in word_starts(text) if (tried := begins[key])]
        other = self._other(text, 0) if self.hints else None
        return self._places(text, hot, other) if hot or other else ()

    def beginning(self, key: str) -> tuple[re.Pattern[str], ...]:
        """The wordings that may begin with a word whose first letters are ``key``."""
        return self._begins[key]

    def begins_anywhere_in(self, text: str) -> bool:
        """Whether a wording may be found whose first letters do not tell."""
        return any(part in text for part in self.needs or self.hints)

    def _places(self, text: str, hot: Hot, other: re.Match[str] | None) -> Iterator[re.Match[str]]:
        """Merge the wordings that begin with a word with those that begin anywhere."""
        done = 0
        for start, tried in hot:
            while other and done <= other.start() < start:
                yield other
                done = other.end()
                other = self._other(text, done)
            if start < done:
                continue
            for piece in tried:
                found = piece.match(text, start)
                if found:
                    yield found
                    done = found.end()
                    if other and other.start() < done:
                        other = self._other(text, done)
                    break
        while other:
            yield other
            other = self._other(text, other.end())

    def _other(self, text: str, start: int) -> re.Match[str] | None:
        """The next place of a wording that begins anywhere, not only with a word."""
        if self._others is None:
            return None
        for hint in self.hints:
            if hint in text:
                return self._others.search(text, start)
        return None


class _Dispatch(dict[str, tuple[re.Pattern[str], ...]]):
    """First letters of a word: the wordings, in their order, that may begin so."""

    def __init__(self, pieces: list[str]) -> None:
        super().__init__()
        self._pieces = [re.compile(piece) for piece in pieces]
        self._whole: dict[str, set[int]] = {}
        self._open: dict[str, set[int]] = {}
        for place, piece in enumerate(pieces):
            for head in heads(piece, words=True):
                known = self._whole if head.ended else self._open
                known.setdefault(head.text, set()).add(place)

    def __missing__(self, key: str) -> tuple[re.Pattern[str], ...]:
        places = set(self._whole.get(key, ()))
        for length in range(len(key) + 1):
            places |= self._open.get(key[:length], set())
        found = tuple(self._pieces[place] for place in sorted(places))
        if len(self) < _MOST_KEYS:
            self[key] = found
        return found


class CueIndex:
    """Several cues found in one reading of the words."""

    def __init__(self, cues: Sequence[Cues]) -> None:
        self._cues = tuple(cues)
        self._known: dict[str, tuple[tuple[int, re.Pattern[str]], ...]] = {}
        self._apart = tuple((n, one) for n, one in enumerate(cues) if one.needs or one.hints)

    def find(self, text: str) -> dict[int, list[re.Match[str]]]:
        """Return the places of every cue that is found, by its place in the order given."""
        found: dict[int, list[re.Match[str]]] = {}
        done: dict[int, int] = {}
        known = self._known
        for start, key in word_starts(text):
            tried = known.get(key)
            for n, piece in self._learn(key) if tried is None else tried:
                if done.get(n, 0) <= start and (hit := piece.match(text, start)):
                    found.setdefault(n, []).append(hit)
                    done[n] = hit.end()
        for n, one in self._apart:
            if one.begins_anywhere_in(text):
                # Wordings that begin anywhere may take the room of others: all once more.
                found[n] = list(one.finditer(text))
                if not found[n]:
                    del found[n]
        return found

    def _learn(self, key: str) -> tuple[tuple[int, re.Pattern[str]], ...]:
        """The wordings that may begin with these first letters, cue by cue in order."""
        tried = tuple(
            (n, piece)
            for n, one in enumerate(self._cues)
            if not one.needs
            for piece in one.beginning(key)
        )
        if len(self._known) < _MOST_KEYS:
            self._known[key] = tried
        return tried


def any_of(*wordings: str, needs: tuple[str, ...] = ()) -> Cues:
    """Cues that find any of the wordings; each may hold alternatives of its own.

    ``needs``: where the first letters of a wording tell nothing, strings of which one stands in
    every text that holds it.
    """
    return Cues([piece for wording in wordings for piece in alternatives(wording)], needs)
