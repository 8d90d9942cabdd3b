"""Where each value of an answer comes from, for the eye of a reader.

The grounding engine says what a value is and whether the model was given it; this module adds the
places at which it stands, so that a click leads there. It judges nothing: "nowhere" means that
the search found no source, and a reader decides what that says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from labelkit.grounding.folding import fold_values
from labelkit.grounding.origins import EvidenceBase, Origin
from labelkit.grounding.payloads import as_json, leaves
from labelkit.grounding.strength import Strength, strength
from labelkit.grounding.values import Value, scan

Given = Literal["question", "tool_result"]
MOST_PLACES = 12
_MOST_TRIED = 400
_MOST_DIGITS = 40
_CORE = re.compile(r"\d[\d.,]*")


@dataclass(frozen=True)
class SourceText:
    """A text the model was given, under the name of its part."""

    part: str
    kind: Given
    text: str


@dataclass(frozen=True)
class Place:
    """Where a value stands in a part: character offsets, end exclusive."""

    part: str
    start: int
    end: int


@dataclass(frozen=True)
class TracedValue:
    """One value of the answer; ``start`` and ``end`` are character offsets into it, end exclusive.

    ``source`` is ``tool_result``, ``question``, ``derived`` (``how`` names the arithmetic) or
    ``nowhere``; ``path`` the JSON path where one is known. ``strength`` says how much it means that
    a value comes from nowhere: ``strong`` for a figure or an identifier, ``weak`` for everyday
    wording such as the 2 of "2 options".
    """

    start: int
    end: int
    text: str
    source: str
    strength: Strength
    path: str = ""
    how: str = ""
    places: tuple[Place, ...] = ()


def trace_values(answer: str, sources: Sequence[SourceText]) -> tuple[TracedValue, ...]:
    """Return every value of ``answer`` in order, with its origin among ``sources``.

    Total over every text; the time it takes grows with the length of the texts.
    """
    folded = fold_values(answer)
    values = scan(folded.text)
    if not values:
        return ()
    base = _base(sources)
    known: dict[str, tuple[Origin, tuple[Place, ...]]] = {}
    found = []
    for value in values:
        start, end = folded.span(value.start, value.end)
        text = answer[start:end]
        if text not in known:
            known[text] = _origin(base, value, folded.text, text, sources)
        origin, places = known[text]
        found.append(
            TracedValue(
                start=start,
                end=end,
                text=text,
                source="tool_result" if origin.source == "payload" else origin.source,
                strength=strength(value, folded.text),
                path=origin.path,
                how=origin.how,
                places=places,
            )
        )
    return tuple(found)


def _base(sources: Sequence[SourceText]) -> EvidenceBase:
    base = EvidenceBase()
    for source in sources:
        value = as_json(source.text) if source.kind == "tool_result" else source.text
        if isinstance(value, str):
            base.add_text(value, Origin(source.kind))
        else:
            base.add_json(value, source.kind)
    return base


def _origin(
    base: EvidenceBase, value: Value, folded: str, text: str, sources: Sequence[SourceText]
) -> tuple[Origin, tuple[Place, ...]]:
    """The origin by the engine, and every place at which the value is written."""
    origin = base.origin(value, folded)
    places = tuple(_written(sources, _spellings(value, text)))
    if origin.source in {"nowhere", "derived"}:
        if not places or origin.source == "derived":
            return origin, ()
        # The engine reads the head of a very long text only; here it is found all the same.
        kinds = {source.part: source.kind for source in sources}
        return Origin(kinds[places[0].part]), places
    if not places and origin.path:
        places = tuple(_at_path(sources, origin.path))
    return origin, places


def _spellings(value: Value, text: str) -> list[str]:
    """How the value may be written in a payload; as in the answer first."""
    found = [text]
    core = _CORE.search(text)
    if value.readings:
        found += [core[0].rstrip(".,")] if core else []
        for reading in (*value.readings, *value.unscaled):
            found += _written_out(abs(reading.value))
    return [spelling for spelling in dict.fromkeys(found) if spelling]


def _written_out(number: Decimal) -> tuple[str, ...]:
    """Digits without an exponent, plain and in groups; none for a number too long for that."""
    if not number.is_finite() or abs(number.adjusted()) >= _MOST_DIGITS:
        return ()
    return format(number.normalize(), "f"), format(number, ",f")


def _written(sources: Sequence[SourceText], spellings: Sequence[str]) -> Iterator[Place]:
    left = MOST_PLACES
    for source in sources:
        for spelling in spellings:
            places = list(_whole(source, spelling, left))
            yield from places
            left -= len(places)
            if left <= 0:
                return
            if places:
                break


def _whole(source: SourceText, spelling: str, most: int) -> Iterator[Place]:
    """Occurrences that are no piece of a longer word or number."""
    text, at, tried = source.text, -1, 0
    while most > 0 and tried < _MOST_TRIED and (at := text.find(spelling, at + 1)) >= 0:
        tried += 1
        end = at + len(spelling)
        if not _cut(text, at) and not _cut(text, end):
            most -= 1
            yield Place(source.part, at, end)


def _cut(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before.isalnum() and after.isalnum():
        return True
    around = text[max(0, at - 2) : at + 2]
    return re.search(r"\d[.,]\d", around) is not None


def _at_path(sources: Sequence[SourceText], path: str) -> Iterator[Place]:
    """The place of a JSON leaf, found by its own spelling after the name of its field."""
    name = path.rpartition(".")[2].partition("[")[0]
    for source in sources:
        value = as_json(source.text)
        if isinstance(value, str):
            continue
        leaf = next((leaf for here, leaf in leaves(value) if here == path), None)
        if leaf is None:
            continue
        wanted = json.dumps(leaf, ensure_ascii=False)
        start = max(0, source.text.find(f'"{name}"'))
        at = source.text.find(wanted, start)
        if at >= 0:
            yield Place(source.part, at, at + len(wanted))
