"""Where every value of an answer comes from: the payload, the question, arithmetic, or nowhere.

This is what separates a fabricated figure from a computed one. A value is looked up among the
values of the evidence in every format; then simple arithmetic over them is tried (sum, difference,
product, ratio, percentage, average). The more numbers there are, the more a coincidence would
prove, so the operations allowed shrink as the operands grow.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from typing import Any, Literal, NamedTuple

from labelkit.grounding.arithmetic import Computed, compute
from labelkit.grounding.compare import Target, compare
from labelkit.grounding.given import (
    Figure,
    GivenPayload,
    GivenText,
    given_payload,
    given_result,
    given_text,
)
from labelkit.grounding.stance import GENERAL, clause_before, hedged, stance, tells_a_loss
from labelkit.grounding.times import When
from labelkit.grounding.units import dimension
from labelkit.grounding.values import Value, identifier

Source = Literal["payload", "question", "tool_result", "derived", "nowhere"]
Strength = Literal["strong", "unsure", "weak"]

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_SQUEEZED = re.compile(r"[^a-z0-9]+")
_NOT_SQUEEZED = bytes(c for c in range(128) if not (chr(c).islower() or chr(c).isdigit()))
_LIST_MARK = re.compile(r"(?:^|\n)[ \t>*#(-]*$")
_PLAIN = frozenset({0, 100, 365, 1000, 24, 30, 60, 52, 50, 20, 15})
_MOST_OPERANDS = 64
_MOST_FIGURES = 2400
_MOST_TIMES = 300
_SHARES = frozenset({"percent", "bps", "fraction"})
_FACTORS = (1.0, 0.01, 0.0001, 100.0)
_ONE = (1.0,)
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "wk": 604800}


class Origin(NamedTuple):
    """Where a value comes from; ``path`` is a JSON path for payloads and tool results."""

    source: Source
    path: str = ""
    how: str = ""


NOWHERE = Origin("nowhere")


class EvidenceBase:
    """Everything the model was given, looked up by value.

    Numbers of payloads are looked up at once; texts are read closely only when a value of the
    answer is not found among those, because most answers never need it. ``pieces`` are the
    lower-cased texts. ``cut`` says that something was too large to be read to its end, so that
    "nowhere" may be wrong.
    """

    __slots__ = (
        "_blob", "_computed", "_exact", "_figures", "_known", "_payloads", "_seconds",
        "_sources", "_squeezed", "_texts", "_unread", "_untimed", "_unwritten", "_whens",
        "cut", "pieces",
    )  # fmt: skip

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.cut = False
        self._payloads: list[tuple[GivenPayload, Source]] = []
        self._texts: list[tuple[GivenText, Origin]] = []
        self._figures = _Figures()
        self._whens: list[tuple[When, Origin]] = []
        self._exact: dict[Decimal, Origin] = {}
        self._known: dict[str, Origin] = {}
        self._seconds: dict[Decimal, Origin] = {}
        self._unread = self._untimed = self._unwritten = 0
        self._sources: dict[tuple[str, str], Origin | None] = {}
        self._computed: Computed | None = None
        self._squeezed = self._blob = ""

    def add_text(self, text: str, origin: Origin) -> None:
        """Index a text (the question, a plain tool result)."""
        self._add_text(given_text(text), origin)

    def add_json(self, value: Any, source: Source) -> None:
        """Index every leaf of a payload."""
        self._add_payload(given_payload(value), source)

    def add_result(self, text: str, source: Source) -> None:
        """Index a tool result or payload that is held as text: JSON, or one plain text."""
        self._add_payload(given_result(text), source)

    def _add_text(self, given: GivenText, origin: Origin) -> None:
        self.pieces.append(given.lowered)
        self.cut |= given.cut
        if given.has_digit:
            self._texts.append((given, origin))
            self._blob = ""

    def _add_payload(self, payload: GivenPayload, source: Source) -> None:
        self.cut |= payload.cut
        self._payloads.append((payload, source))
        for figure in payload.figures:
            self._figures.add(figure, source)
        for path, text in payload.texts:
            self._add_text(text, Origin(source, path))

    def _read_texts(self, value: Value) -> bool:
        """Read the texts as closely as ``value`` needs; whether that brought anything new."""
        if value.kind == "datetime":
            texts, self._untimed = self._texts[self._untimed :], len(self._texts)
            for text, origin in texts:
                self._whens.extend((when, origin) for when in text.whens)
            if len(self._whens) > _MOST_TIMES:
                self.cut = True
                del self._whens[_MOST_TIMES:]
            return bool(texts)
        plain = value.unscaled == value.readings and value.unit in {None, "percent"}
        if value.kind == "identifier" or (value.kind == "number" and plain):
            texts, self._unwritten = self._texts[self._unwritten :], len(self._texts)
            for text, origin in texts:
                for size, run in text.run_numbers:
                    self._add_figure(Figure(size, origin.path, run), origin)
            return bool(texts)
        texts, self._unread = self._texts[self._unread :], len(self._texts)
        for text, origin in texts:
            for found in text.values:
                self._add_value(found, origin)
        return bool(texts)

    def _add_figure(self, figure: Figure, origin: Origin) -> None:
        if len(self._figures.entries) < _MOST_FIGURES:
            self._figures.add(figure, origin)
        else:
            self.cut = True

    def _add_value(self, value: Value, origin: Origin) -> None:
        for reading in value.readings:
            self._exact.setdefault(reading.value, origin)
        if value.readings:
            number = value.readings[0].value
            target = Target(number, value.unit, value.currency, path=origin.path)
            self._add_figure(Figure(float(number), origin.path, number, target), origin)
        if value.seconds:
            self._seconds.setdefault(value.seconds.value, origin)
        self._whens.extend((when, origin) for when in value.whens)
        if value.canonical:
            self._known.setdefault(value.canonical, origin)

    @property
    def squeezed(self) -> str:
        """All text without separators, for identifiers."""
        if not self._squeezed:
            self._squeezed = " ".join(_squeeze(text.lowered) for text, _ in self._texts)
        return self._squeezed

    def origin(self, value: Value, text: str) -> Origin:
        """Return where ``value``, found in the folded ``text``, comes from."""
        if value.kind in {"datetime", "identifier", "citation"}:
            # What is written the same is the same; a page of one date costs one look.
            key = value.kind, value.text
            if key not in self._sources:
                self._sources[key] = self._origin(value, text)
            found = self._sources[key]
        else:
            found = self._origin(value, text)
        return found or NOWHERE

    def _origin(self, value: Value, text: str) -> Origin | None:
        found = self._look_up(value, text)
        if found is None and self._read_texts(value):
            found = self._look_up(value, text)
        if found is None and value.readings:
            found = self._derived(value)
        return found

    def _look_up(self, value: Value, text: str) -> Origin | None:
        found: Origin | None = None
        if value.kind in {"identifier", "citation"}:
            found = self._name(value)
        elif value.kind == "datetime":
            found = self._when(value)
        elif value.seconds is not None:
            found = self._span(value)
        if found is None and value.readings:
            found = self._number(value, text)
        return found

    def _name(self, value: Value) -> Origin | None:
        known = self._known.get(value.canonical)
        if known:
            return known
        squeezed = _squeeze(identifier(value.canonical.removeprefix("section ")))
        if squeezed and squeezed in self.squeezed:
            return Origin("payload")
        if value.kind == "citation":
            runs = _DIGITS.findall(value.text)
            return Origin("payload") if runs and all(map(self._written, runs)) else None
        return None

    def _written(self, run: str) -> Origin | None:
        """Where these very digits stand: as a number of a payload, or as a run in a text."""
        for payload, source in self._payloads:
            path = payload.written.get(run)
            if path is not None:
                return Origin(source, path)
        if not self._blob:
            self._blob = "\n".join(text.folded for text, _ in self._texts).replace(",", "") + "\n"
        if run in self._blob:
            for text, origin in self._texts:
                if run in text.run_set:
                    return origin
        return None

    def _when(self, value: Value) -> Origin | None:
        for mine in value.whens:
            for when, origin in self._whens:
                if _same_time(mine, when):
                    return origin
        return None

    def _span(self, value: Value) -> Origin | None:
        wanted = value.seconds
        if wanted is None:
            return None
        found = self._seconds.get(wanted.value)
        if found is not None or value.unit in {"mo", "yr"}:
            return found
        for figure, origin in self._figures.entries:
            target = figure.target
            if target.unit in _SECONDS and target.value * _SECONDS[target.unit] == wanted.value:
                return _origin_of(figure, origin)
        return None

    def _exactly(self, number: Decimal) -> Origin | None:
        if self._payloads:
            size = abs(float(number))
            for payload, source in self._payloads:
                figure = payload.by_size.get(size)
                if figure is not None and abs(figure.target.value) == abs(number):
                    return Origin(source, figure.path)
        return self._exact.get(number) or self._exact.get(-number) if self._exact else None

    def _number(self, value: Value, text: str) -> Origin | None:
        scaled = value.unscaled != value.readings
        for reading in (*value.readings, *value.unscaled) if scaled else value.readings:
            found = self._exactly(reading.value)
            if found:
                return found
        if not scaled:
            core = _DIGITS.search(value.text.replace(",", ""))
            found = self._written(core[0]) if core else None
            if found:
                return found
        near = self._figures.near(value)
        if not near:
            return None
        loss = tells_a_loss(text, value.start)
        for figure, origin in near:
            grade = compare(value, figure.target, loss)
            if grade and (
                grade[0] != "loose" or value.readings[0].digits >= 2 or hedged(text, value.start)
            ):
                return _origin_of(figure, origin)
        return None

    def _derived(self, value: Value) -> Origin | None:
        if self._computed is None:
            entries = self._figures.entries[:_MOST_OPERANDS]
            self._computed = compute([(figure.number, figure.path) for figure, _ in entries])
        for reading in dict.fromkeys((*value.readings, *value.unscaled)):
            if not reading.value or reading.digits < (2 if self._computed.few else 3):
                continue
            for factor in (1.0, 0.01) if value.unit == "percent" else (1.0,):
                number = abs(float(reading.value)) * factor
                how = self._computed.near(number, float(reading.quantum) * factor / 2)
                if how:
                    return Origin("derived", how=how)
        return None


def _origin_of(figure: Figure, origin: Origin | Source) -> Origin:
    return origin if isinstance(origin, Origin) else Origin(origin, figure.path)


class _Figures:
    """Given numbers by size, so that a value is only compared with those it could state.

    A figure comes with its origin, or with the source alone where its path says the rest.
    """

    __slots__ = ("_measured", "_order", "_sizes", "entries")

    def __init__(self) -> None:
        self.entries: list[tuple[Figure, Origin | Source]] = []
        self._sizes: list[float] = []
        self._measured: dict[str, list[int]] | None = None
        self._order: list[int] = []

    def add(self, figure: Figure, origin: Origin | Source) -> None:
        self.entries.append((figure, origin))
        self._measured = None

    def _prepare(self) -> dict[str, list[int]]:
        """Sort by size; a figure in millions also stands at its full size."""
        ranked: list[tuple[float, int]] = []
        self._measured = {}
        for place, (figure, _) in enumerate(self.entries):
            size = abs(figure.number)
            ranked.append((size, place))
            unit, scale = figure.announced
            if scale:
                ranked.append((size * 10.0**scale, place))
            if unit is not None and unit not in _SHARES:
                self._measured.setdefault(dimension(unit) or "", []).append(place)
        ranked.sort()
        self._sizes = [size for size, _ in ranked]
        self._order = [place for _, place in ranked]
        return self._measured

    def near(self, value: Value) -> list[tuple[Figure, Origin | Source]]:
        """The figures that ``value`` could state; those surely too far off are left out."""
        measured = self._prepare() if self._measured is None else self._measured
        shown = value.readings
        if value.unscaled is not shown:
            shown = (*shown, *value.unscaled)
        found: list[int] = []
        for reading in shown:
            at = abs(float(reading.value))
            slack = 0.6 * float(reading.quantum) + 1e-9 * at
            if not isfinite(at + slack):
                return self.entries
            for factor in _FACTORS if value.unit in _SHARES else _ONE:
                first = bisect_left(self._sizes, (at - slack) * factor)
                last = bisect_right(self._sizes, (at + slack) * factor, first)
                found += self._order[first:last]
        if value.unit is not None and value.unit not in _SHARES:
            found += measured.get(dimension(value.unit) or "", ())
        return [self.entries[place] for place in sorted(found)] if found else []


def _squeeze(lowered: str) -> str:
    """The ASCII small letters and digits of ``lowered`` alone."""
    if lowered.isascii():
        return lowered.encode("ascii").translate(None, _NOT_SQUEEZED).decode("ascii")
    return _SQUEEZED.sub("", lowered)


def _same_time(mine: When, given: When) -> bool:
    if mine.agrees(given):
        shared = (mine.month and given.month) or (mine.year and given.year and not mine.month)
        if shared or (mine.timed and given.timed and not mine.dated):
            return True
    there = given.instant()
    if there is None or not mine.timed:
        return bool(mine.year and given.year == mine.year and not mine.month)
    here = mine.instant()
    if here is not None:
        return here == there
    # No zone is written: any whole quarter of an hour within a day can be a local clock.
    if not mine.dated:
        return (mine.minute or 0) % 15 == (given.minute or 0) % 15
    return mine.month in {given.month, None} and abs((mine.day or 0) - (given.day or 0)) <= 1


def strength(value: Value, text: str) -> Strength:
    """How much an ungrounded value says: an invention, an open question, or everyday wording."""
    if stance(text, value.start, value.end) != "asserted":
        return "weak"
    general = GENERAL.search(clause_before(text, value.start)) is not None
    if value.kind == "identifier":
        digits = sum(c.isdigit() for c in value.canonical)
        separators = sum(value.text.count(c) for c in "-/_")
        sure = digits >= 4 or (digits >= 3 and separators >= 2)
        return "weak" if not sure or "://" in text[value.start - 8 : value.end] else "strong"
    if value.kind == "citation":
        return "unsure"
    if value.kind == "datetime":
        when = value.whens[0]
        full = when.month and (when.day or when.year)
        return "unsure" if general or not full else "strong"
    return _number_strength(value, text, general)


def _number_strength(value: Value, text: str, general: bool) -> Strength:
    if not value.readings:
        return "unsure"
    reading = value.readings[0]
    number = abs(reading.value)
    whole = number == number.to_integral_value() if number < 10**15 else True
    bare = not value.currency and value.unit is None and value.readings == value.unscaled
    if _LIST_MARK.search(text[max(0, value.start - 12) : value.start]) and text[
        value.end : value.end + 1
    ] in {".", ")"}:
        return "weak"
    if whole and not value.currency and (number <= 12 or number in _PLAIN):
        return "weak"
    if whole and bare and 1900 <= number <= 2100 and reading.digits == 4:
        return "unsure"
    if general or value.kind == "duration":
        return "unsure"
    return "strong"
