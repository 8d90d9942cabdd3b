"""An answer prepared once: folded, lower-cased, its values found and their stance kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from labelkit.grounding.folding import Folded, fold_values
from labelkit.grounding.stance import Stance, stance
from labelkit.grounding.values import Value, scan_once

_EUROPEAN = re.compile(
    r"\b(?:der|die|das|und|ist|betr\u00e4gt|kostet|preis|le|la|les|est|prix|el|los|precio|cuesta|es"
    r"|il|prezzo|de|het|priset|\u00e4r|pre\u00e7o|custa)\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"\b(?:the|is|of|at|and|are|has|was|costs?|with|per)\b", re.IGNORECASE)


@dataclass(slots=True)
class Answer:
    """An answer prepared once for all its key values.

    ``original`` is the text as it was, ``text`` is folded, ``lower`` lower-cased at equal length;
    ``strangers`` are the values that come from nowhere, ``traps`` the numbers a model might
    recall instead; ``tell`` returns the lower-cased texts that the model was given;
    ``keys_of_time`` is the number of dates and times that are asked for.
    """

    original: str
    folded: Folded
    text: str
    lower: str
    values: tuple[Value, ...]
    strangers: tuple[Value, ...] = ()
    traps: frozenset[Decimal] = field(default_factory=frozenset)
    tell: Callable[[], str] = str
    _given: str | None = None
    keys_of_time: int = 1
    _european: bool | None = None
    _stances: dict[tuple[int, int], Stance] = field(default_factory=dict)

    @property
    def given(self) -> str:
        """The lower-cased texts that the model was given; few answers ask."""
        if self._given is None:
            self._given = self.tell()
        return self._given

    @property
    def european(self) -> bool:
        """Whether the words are those of a language that writes a decimal comma."""
        if self._european is None:
            english = _ENGLISH.search(self.lower)
            self._european = not english and bool(_EUROPEAN.search(self.lower))
        return self._european

    def stance(self, start: int, end: int) -> Stance:
        """The stance of the mention at ``start:end``; read once."""
        found = self._stances.get((start, end))
        if found is None:
            found = self._stances[start, end] = stance(self.lower, start, end)
        return found


def read_answer(text: str) -> Answer:
    """Fold and scan an answer."""
    folded = fold_values(text)
    lower = folded.text.lower()
    if len(lower) != len(folded.text):
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in folded.text)
    return Answer(text, folded, folded.text, lower, scan_once(folded.text))
