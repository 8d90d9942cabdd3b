"""Which thing a value is said of: the right digits on the wrong row are a wrong claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from labelkit.grounding.times import When, read_time
from labelkit.grounding.values import Value

_SENTENCE = re.compile(r"[.;!?](?:\s|$)|\n")
_FORWARD = re.compile(
    r"[\s%]*(?:[A-Za-z]{1,12}\s)?(?:for|in|on|as of|at|of|during|by|per)\s+(?:the\s)?[\"'*`_(\[]*"
    r"|\s?\([\"'*`_]*|[\s%\"'*`_]*\sthe\s[\"'*`_]*",
    re.IGNORECASE,
)
_ALIASES = {
    "current": ("current", "currently", "latest", "now", "present", "today"),
    "latest": ("latest", "current", "now"),
    "previous": ("previous", "previously", "prior", "last month", "down from", "up from", "before"),
    "now": ("now", "today", "currently", "current", "present", "at the moment"),
    "prior": ("prior", "previous", "down from", "up from"),
}
_WORDS = re.compile(r"[A-Za-z0-9]+")
_OF_TIME = re.compile(
    r"\b(?:last|previous|prior|this|current|latest|today|now|yesterday|before|ago|month|year"
    r"|quarter|week)\b",
    re.IGNORECASE,
)
_CLOSE_BY = re.compile(r"[\s%\"'*`_]*")
_LONG_NAME = 4
_ENDING = re.compile(r"e?[sd]|ing")
_ENDING_SIGNS = frozenset("sdei")
_CLOSE = 16
_QUARTER = re.compile(r"\d{4}[- ]?[Qq](?P<no1>[1-4])|[Qq](?P<no2>[1-4])[- ]?\d{4}")
_ORDINALS = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where an entity is named."""

    start: int
    end: int
    entity: str
    alias: bool = False
    """Whether a word such as "previous" stands for its name."""


def mentions_of(entity: str, text: str, values: Sequence[Value], path: str = "") -> list[Mention]:
    """Find the places where ``entity`` is named in the folded, lower-cased ``text``.

    A date-like entity (``2026-04``) is found in any date format, also without its year, and so is
    a quarter (``2026-Q2``). When the
    entity is named nowhere, the words of its field (``current``, ``previous``) are tried.
    """
    when = read_time(entity) if entity[:1].isdigit() else None
    if when is not None:
        found = [Mention(v.start, v.end, entity) for v in values if _is_date(v, when)]
    else:
        found = _named(entity.lower(), entity, text)
    quarter = _QUARTER.fullmatch(entity)
    if quarter and not found:
        place = int(quarter["no1"] or quarter["no2"]) - 1
        for name in (f"q{place + 1}", f"{_ORDINALS[place]} quarter"):
            found.extend(_named(name, entity, text))
    if not found:
        for word in _WORDS.findall(path.lower()):
            for alias in _ALIASES.get(word, ()):
                found.extend(replace(m, alias=True) for m in _named(alias, entity, text))
    return sorted(found, key=lambda m: m.start)


def _is_date(value: Value, when: When) -> bool:
    return any(
        (w.month is not None or w.month is when.month) and w.dated and w.agrees(when)
        for w in value.whens
    )


def _named(wanted: str, entity: str, text: str) -> list[Mention]:
    found: list[Mention] = []
    start = text.find(wanted)
    while start >= 0 and len(found) < 200:
        end = start + len(wanted)
        before, after = text[start - 1 : start], text[end : end + 1]
        if after in _ENDING_SIGNS and len(wanted) >= _LONG_NAME and wanted[-1].isalpha():
            # two weekdays; those who agreed; it opened at
            ending = _ENDING.match(text, end)
            after = text[ending.end() : ending.end() + 1] if ending else after
        if not (before.isalnum() and wanted[0].isalnum()) and not (
            after.isalnum() and wanted[-1].isalnum()
        ):
            found.append(Mention(start, end, entity))
        start = text.find(wanted, end)
    return found


def bound(
    text: str, start: int, end: int, mentions: Sequence[Mention], numbers: Sequence[Value] = ()
) -> str | None:
    """Return the entity that the value at ``start:end`` is said of, or None when none is named.

    Table rows bind by row, then by column heading; ``respectively`` binds by order; otherwise a
    directly following ``for X`` wins, then the nearest mention before it in the sentence, after
    it, and at last the nearest heading above.
    """
    if not mentions:
        return None
    left = text.rfind("\n", 0, start) + 1
    right = text.find("\n", end)
    right = len(text) if right < 0 else right
    if text.count("|", left, right) >= 2:
        cell = _table(text, start, left, right, mentions)
        if cell is not None:
            return cell
    for boundary in _SENTENCE.finditer(text, left, start):
        left = boundary.end()
    stop = _SENTENCE.search(text, end, right)
    right = stop.start() if stop else right
    inside = [m for m in mentions if left <= m.start < right]
    before = [m for m in inside if m.end <= start]
    after = [m for m in inside if m.start >= end]
    if "respectively" in text[left : right + 16]:
        return _by_order(start, inside, [v for v in numbers if left <= v.start < right])
    free = [v.start for v in numbers if left <= v.start < right]
    if len(inside) > 1 and _before_their_names(free, inside):
        # As in: 68% agreed, 21% disagreed.
        return after[0].entity if after else None
    if after and (not before or _told_after(text[end : after[0].start], after[0])):
        return after[0].entity
    above = before or [m for m in mentions if m.end <= left]
    return above[-1].entity if above else None


def _before_their_names(numbers: Sequence[int], inside: Sequence[Mention]) -> bool:
    """Whether numbers and names take turns in a sentence, and a number comes first."""
    places = sorted([(n, 0) for n in numbers] + [(m.start, 1) for m in inside])
    turns = [kind for _, kind in places]
    while turns and turns[-1] == 0:
        turns.pop()
    close = all(places[at + 1][0] - places[at][0] <= _CLOSE for at in range(0, len(turns) - 1, 2))
    return turns == [0, 1] * len(inside) and close


def _told_after(gap: str, mention: Mention) -> bool:
    """Whether a value is said of what follows it: ``12.4 for AA-1``, ``9,120 the month before``."""
    if _FORWARD.fullmatch(gap):
        return True
    return _CLOSE_BY.fullmatch(gap) is not None and bool(_OF_TIME.search(mention.entity))


def heading_of(text: str, start: int) -> str | None:
    """The heading of the table column that the cell at ``start`` stands in; None outside tables."""
    left = text.rfind("\n", 0, start) + 1
    right = text.find("\n", start)
    if text.count("|", left, len(text) if right < 0 else right) < 2:
        return None
    column = text.count("|", left, start)
    top = _top_of_table(text, left)
    cells = text[top : text.find("\n", top)].split("|")
    return cells[column] if top < left and column < len(cells) else None


def _top_of_table(text: str, left: int) -> int:
    """Where the first line of the table begins that the line at ``left`` belongs to."""
    top = left
    while top > 0:
        above = text.rfind("\n", 0, top - 1) + 1
        if "|" not in text[above : top - 1]:
            break
        top = above
    return top


def by_a_word(names: Sequence[str], text: str) -> list[Mention]:
    """Mentions of each thing by a word that only its own name holds: ``Halden`` (Works)."""
    words = {name: {w for w in _WORDS.findall(name.lower()) if len(w) > 2} for name in names}
    found: list[Mention] = []
    for name, mine in words.items():
        others = set().union(*(w for other, w in words.items() if other != name))
        for word in sorted(mine - others):
            if not word.isdigit():
                found.extend(_named(word, name, text))
    return found


def _table(text: str, start: int, left: int, right: int, mentions: Sequence[Mention]) -> str | None:
    in_row = {m.entity for m in mentions if left <= m.start < right}
    if len(in_row) == 1:
        return in_row.pop()
    if in_row:
        return None
    column = text.count("|", left, start)
    top = _top_of_table(text, left)
    head_end = text.find("\n", top)
    for mention in mentions:
        if top <= mention.start < head_end and text.count("|", top, mention.start) == column:
            return mention.entity
    return None


def _by_order(start: int, inside: Sequence[Mention], numbers: Sequence[Value]) -> str | None:
    free = [v.start for v in numbers if not any(m.start <= v.start < m.end for m in inside)]
    order = list(dict.fromkeys(m.entity for m in inside))
    if start not in free or len(free) != len(order):
        return None
    return order[free.index(start)]
