"""Where every value of an answer comes from: the payload, the question, arithmetic, or nowhere.

This is what separates a fabricated figure from a computed one. A value is looked up among the
values of the evidence in every format; then simple arithmetic over them is tried (sum, difference,
product, ratio, percentage, average). The more numbers there are, the more a coincidence would
prove, so the operations allowed shrink as the operands grow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from labelkit.grounding.compare import Target, compare
from labelkit.grounding.folding import fold_values
from labelkit.grounding.numbers import Reading, as_decimal
from labelkit.grounding.payloads import leaves
from labelkit.grounding.stance import GENERAL, clause_before, hedged, stance, tells_a_loss
from labelkit.grounding.times import When
from labelkit.grounding.values import Value, identifier, scan

Source = Literal["payload", "question", "tool_result", "derived", "nowhere"]
Strength = Literal["strong", "unsure", "weak"]

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_INDEX = re.compile(r"\[\d+\]")
_SQUEEZED = re.compile(r"[^a-z0-9]+")
_LIST_MARK = re.compile(r"(?:^|\n)[ \t>*#(-]*$")
_ALL_OPERATIONS, _FEW_OPERATIONS = 8, 16
_PLAIN = frozenset({0, 100, 365, 1000, 24, 30, 60, 52, 50, 20, 15})
_LONGEST = 200_000


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from; ``path`` is a JSON path for payloads and tool results."""

    source: Source
    path: str = ""
    how: str = ""


@dataclass(slots=True)
class EvidenceBase:
    """Everything the model was given, indexed by value."""

    exact: dict[Decimal, Origin] = field(default_factory=dict)
    targets: list[tuple[Target, Origin]] = field(default_factory=list)
    whens: list[tuple[When, Origin]] = field(default_factory=list)
    spans: list[tuple[Reading, Origin]] = field(default_factory=list)
    names: dict[str, Origin] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    digit_runs: set[str] = field(default_factory=set)
    _squeezed: str = ""

    def add_text(self, text: str, origin: Origin) -> None:
        """Index a text (the question, a text leaf, a raw tool result)."""
        folded = fold_values(text[:_LONGEST]).text
        self.pieces.append(folded.lower())
        self.digit_runs.update(_DIGITS.findall(folded.replace(",", "")))
        for value in scan(folded):
            self._add_value(value, origin)

    def add_json(self, value: Any, source: Source) -> None:
        """Index every leaf of a payload."""
        for path, leaf in leaves(value):
            origin = Origin(source, path)
            if isinstance(leaf, str):
                self.add_text(leaf, origin)
            elif isinstance(leaf, bool) or leaf is None:
                continue
            else:
                number = as_decimal(leaf)
                if number is not None:
                    self.exact.setdefault(number, origin)
                    self.targets.append((Target.of(number, path), origin))
                    self.digit_runs.add(str(leaf).lstrip("-"))

    def _add_value(self, value: Value, origin: Origin) -> None:
        for reading in value.readings:
            self.exact.setdefault(reading.value, origin)
        if value.readings:
            target = Target(
                value=value.readings[0].value, unit=value.unit, currency=value.currency,
                path=origin.path,
            )  # fmt: skip
            self.targets.append((target, origin))
        if value.seconds:
            self.spans.append((value.seconds, origin))
        self.whens.extend((when, origin) for when in value.whens)
        if value.canonical:
            self.names.setdefault(value.canonical, origin)

    @property
    def squeezed(self) -> str:
        """All text without separators, for identifiers."""
        if not self._squeezed:
            self._squeezed = " ".join(_SQUEEZED.sub("", p) for p in self.pieces)
        return self._squeezed

    def origin(self, value: Value, text: str) -> Origin:
        """Return where ``value``, found in the folded ``text``, comes from."""
        found: Origin | None = None
        if value.kind in {"identifier", "citation"}:
            found = self._name(value)
        elif value.kind == "datetime":
            found = self._when(value)
        elif value.seconds is not None:
            found = self._span(value)
        if found is None and value.readings:
            found = self._number(value, text)
        return found or Origin("nowhere")

    def _name(self, value: Value) -> Origin | None:
        known = self.names.get(value.canonical)
        if known:
            return known
        squeezed = _SQUEEZED.sub("", identifier(value.canonical.removeprefix("section ")))
        if squeezed and squeezed in self.squeezed:
            return Origin("payload")
        if value.kind == "citation" and _DIGITS.findall(value.text)[:1]:
            runs = _DIGITS.findall(value.text)
            return Origin("payload") if all(r in self.digit_runs for r in runs) else None
        return None

    def _when(self, value: Value) -> Origin | None:
        for mine in value.whens:
            for when, origin in self.whens:
                if _same_time(mine, when):
                    return origin
        return None

    def _span(self, value: Value) -> Origin | None:
        wanted = value.seconds
        calendar = value.unit in {"mo", "yr"}
        if wanted is None:
            return None
        for span, origin in self.spans:
            if span.value == wanted.value:
                return origin
        for target, origin in self.targets:
            if calendar or target.unit not in {"s", "min", "h", "d", "wk"}:
                continue
            seconds = (
                target.value * {"s": 1, "min": 60, "h": 3600, "d": 86400, "wk": 604800}[target.unit]
            )
            if seconds == wanted.value:
                return origin
        return None

    def _number(self, value: Value, text: str) -> Origin | None:
        for reading in (*value.readings, *value.unscaled):
            found = self.exact.get(reading.value) or self.exact.get(-reading.value)
            if found:
                return found
        loss = tells_a_loss(text, value.start)
        near = hedged(text, value.start)
        for target, origin in self.targets:
            grade = compare(value, target, loss)
            if grade and (grade[0] != "loose" or near or value.readings[0].digits >= 2):
                return origin
        core = _DIGITS.search(value.text.replace(",", ""))
        if core and core[0] in self.digit_runs and value.unscaled == value.readings:
            return Origin("payload")
        return self._derived(value)

    def _derived(self, value: Value) -> Origin | None:
        operands = [(float(t.value), o.path) for t, o in self.targets[:64]]
        wanted = [
            (abs(float(r.value)) * factor, float(r.quantum) * factor, r.digits)
            for r in dict.fromkeys((*value.readings, *value.unscaled))
            for factor in ((1.0, 0.01) if value.unit == "percent" else (1.0,))
        ]
        for result, how in _results(operands):
            for number, quantum, digits in wanted:
                close = abs(abs(result) - number) <= quantum / 2 * (1 + 1e-9)
                if close and number and digits >= (2 if len(operands) <= _ALL_OPERATIONS else 3):
                    return Origin("derived", how=how)
        return None


def _results(operands: Sequence[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """Every result of the allowed arithmetic, with the name of the operation."""
    groups: dict[str, list[float]] = {}
    for number, path in operands:
        groups.setdefault(_INDEX.sub("[*]", path), []).append(number)
    for path, numbers in groups.items():
        if "[*]" in path and len(numbers) > 1:
            yield sum(numbers), "sum"
            yield sum(numbers) / len(numbers), "average"
            yield max(numbers) - min(numbers), "range"
    values = list(dict.fromkeys(number for number, _ in operands))
    if len(values) <= _FEW_OPERATIONS:
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                if i != j:
                    yield from _pair(a, b, i < j, len(values) <= _ALL_OPERATIONS)


def _pair(a: float, b: float, once: bool, every: bool) -> Iterator[tuple[float, str]]:
    if once:
        yield a + b, "sum"
        yield a - b, "difference"
        if every:
            yield a * b, "product"
            yield (a + b) / 2, "average"
    if abs(b) > 1e-300:
        yield a / b, "ratio"
        yield (a - b) / b, "change"
        if every and a + b:
            yield a / (a + b), "share"


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
