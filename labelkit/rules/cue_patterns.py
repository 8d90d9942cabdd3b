"""Long lists of wordings that are searched quickly.

Python tries every alternative of an expression at every character. Nearly all wordings begin with
a word, and their first letters are known. So the words of a text are read once, and only the
wordings that begin with a word's first letters are tried there; most words begin none. What is
found is what the plain expression finds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from labelkit.grounding.hints import holds_any
from labelkit.rules.cue_heads import LETTERS, alternatives, heads

_WORD_BEGINS = r"\b"
_WORDS = re.compile(r"\b\w+")
# The words of a plain text: a class of letters is searched for much faster than a boundary.
_PLAIN_WORDS = re.compile(r"[a-zA-Z0-9_]+")
_MOST_KEYS = 20_000


Trial = Callable[[str, int], "re.Match[str] | None"]
Trials = tuple[tuple[int, Trial], ...]
"""Wordings to be tried at a place, each with the number of the cues it belongs to."""
Hot = list[tuple[int, Trials]]
"""Where a word begins that a wording may begin with, and these wordings."""


@lru_cache(maxsize=256)
def word_starts(text: str) -> tuple[tuple[int, str], ...]:
    """Where the words of a text begin, and with which letters (``LETTERS`` at most)."""
    words = _PLAIN_WORDS if text.isascii() else _WORDS
    return tuple([(word.start(), word[0][:LETTERS]) for word in words.finditer(text)])


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
        self.begins = tuple(re.compile(piece) for piece in begins)
        self._dispatch = _Dispatch((0, piece) for piece in self.begins)
        self._others = re.compile("|".join(others)) if others else None
        literal = [head.text for piece in others for head in heads(piece, words=False)]
        self.hints = tuple(dict.fromkeys(literal))
        # A plain text holds plain parts only.
        self._plain_parts = tuple(part for part in needs or self.hints if part.isascii())

    def search(self, text: str) -> re.Match[str] | None:
        """The first place, or None."""
        return next(iter(self.finditer(text)), None)

    def finditer(self, text: str) -> Iterable[re.Match[str]]:
        """Give the places from left to right; they do not overlap."""
        if self.needs and not self.begins_anywhere_in(text):
            return ()
        begins = self._dispatch
        hot = [(start, tried) for start, key in word_starts(text) if (tried := begins[key])]
        other = self._other(text, 0) if self.hints else None
        return self._places(text, hot, other) if hot or other else ()

    def begins_anywhere_in(self, text: str) -> bool:
        """Whether a wording may be found whose first letters do not tell."""
        return holds_any(text, self._plain_parts if text.isascii() else self.needs or self.hints)

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
            for _, match in tried:
                found = match(text, start)
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
        if self._others is None or not holds_any(text, self.hints):
            return None
        return self._others.search(text, start)


class _Dispatch(dict[str, Trials]):
    """First letters of a word: the wordings, in their order, that may begin so."""

    def __init__(self, pieces: Iterable[tuple[int, re.Pattern[str]]]) -> None:
        super().__init__()
        self._trials: list[tuple[int, Trial]] = []
        self._whole: dict[str, set[int]] = {}
        self._open: dict[str, set[int]] = {}
        for place, (number, piece) in enumerate(pieces):
            self._trials.append((number, piece.match))
            for head in heads(piece.pattern, words=True):
                known = self._whole if head.ended else self._open
                known.setdefault(head.text, set()).add(place)
        self._anyhow = self._of(self._open.get("", set()))
        self._firsts = frozenset(head[:1] for head in (*self._whole, *self._open))

    def _of(self, places: set[int]) -> Trials:
        return tuple(self._trials[place] for place in sorted(places))

    def __missing__(self, key: str) -> Trials:
        if key[0] not in self._firsts:
            # Most numbers: there is no end of them, and nothing begins with them.
            return self._anyhow
        places = set(self._whole.get(key, ()))
        for length in range(len(key) + 1):
            places |= self._open.get(key[:length], set())
        found = self._of(places)
        if len(self) < _MOST_KEYS:
            self[key] = found
        return found


class CueIndex:
    """Several cues found in one reading of the words."""

    def __init__(self, cues: Sequence[Cues]) -> None:
        self._begins = _Dispatch(
            (n, piece) for n, one in enumerate(cues) if not one.needs for piece in one.begins
        )
        self._apart = tuple((n, one) for n, one in enumerate(cues) if one.needs or one.hints)

    def find(self, text: str) -> dict[int, list[re.Match[str]]]:
        """Return the places of every cue that is found, by its place in the order given."""
        found: dict[int, list[re.Match[str]]] = {}
        done: dict[int, int] = {}
        begins = self._begins
        for start, key in word_starts(text):
            for n, match in begins[key]:
                if (hit := match(text, start)) and done.get(n, 0) <= start:
                    found.setdefault(n, []).append(hit)
                    done[n] = hit.end()
        for n, one in self._apart:
            if one.begins_anywhere_in(text):
                # Wordings that begin anywhere may take the room of others: all once more.
                found[n] = list(one.finditer(text))
                if not found[n]:
                    del found[n]
        return found


def any_of(*wordings: str, needs: tuple[str, ...] = ()) -> Cues:
    """Cues that find any of the wordings; each may hold alternatives of its own.

    ``needs``: where the first letters of a wording tell nothing, strings of which one stands in
    every text that holds it.
    """
    return Cues([piece for wording in wordings for piece in alternatives(wording)], needs)
