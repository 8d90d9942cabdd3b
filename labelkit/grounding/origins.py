"""Where every value of an answer comes from: the payload, the question, arithmetic, or nowhere.

This is what separates a fabricated figure from a computed one. A value is looked up among the
values of the evidence in every format; then simple arithmetic over them is tried (sum, difference,
product, ratio, percentage, average). The more numbers there are, the more a coincidence would
prove, so the operations allowed shrink as the operands grow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from typing import Any, Literal, NamedTuple

from labelkit.grounding.arithmetic import Computed, compute
from labelkit.grounding.compare import Target, compare
from labelkit.grounding.folding import fold_values, has_digit
from labelkit.grounding.numbers import MAX_DIGITS, Reading, as_decimal
from labelkit.grounding.payloads import leaves
from labelkit.grounding.stance import GENERAL, clause_before, hedged, stance, tells_a_loss
from labelkit.grounding.times import When, find_times
from labelkit.grounding.values import Value, identifier, scan

Source = Literal["payload", "question", "tool_result", "derived", "nowhere"]
Strength = Literal["strong", "unsure", "weak"]

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_SQUEEZED = re.compile(r"[^a-z0-9]+")
_NOT_SQUEEZED = bytes(c for c in range(128) if not (chr(c).islower() or chr(c).isdigit()))
_LIST_MARK = re.compile(r"(?:^|\n)[ \t>*#(-]*$")
_PLAIN = frozenset({0, 100, 365, 1000, 24, 30, 60, 52, 50, 20, 15})
_LONGEST = 200_000
_MOST_OPERANDS = 64
_MOST_TARGETS = 400


class Origin(NamedTuple):
    """Where a value comes from; ``path`` is a JSON path for payloads and tool results."""

    source: Source
    path: str = ""
    how: str = ""


@dataclass(slots=True)
class EvidenceBase:
    """Everything the model was given, indexed by value.

    Numbers of a payload and plain digits are indexed at once; texts are read closely only when a
    value of the answer is not found among those, because most answers never need it.
    """

    exact: dict[Decimal, Origin] = field(default_factory=dict)
    targets: list[tuple[Target, Origin]] = field(default_factory=list)
    whens: list[tuple[When, Origin]] = field(default_factory=list)
    spans: list[tuple[Reading, Origin]] = field(default_factory=list)
    names: dict[str, Origin] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    digit_runs: dict[str, Origin] = field(default_factory=dict)
    _unread: list[tuple[str, Origin]] = field(default_factory=list)
    _untimed: list[tuple[str, Origin]] = field(default_factory=list)
    _unread_digits: list[tuple[list[str], Origin]] = field(default_factory=list)
    _with_digits: list[str] = field(default_factory=list)
    _rough: list[float] = field(default_factory=list)
    _squeezed: str = ""
    _computed: Computed | None = None

    def add_text(self, text: str, origin: Origin) -> None:
        """Index a text (the question, a text leaf, a raw tool result)."""
        folded = fold_values(text[:_LONGEST]).text
        lowered = folded.lower()
        self.pieces.append(lowered)
        if has_digit(folded):
            runs = _DIGITS.findall(folded.replace(",", ""))
            self._with_digits.append(lowered)
            for run in runs:
                self.digit_runs.setdefault(run, origin)
            self._unread.append((folded, origin))
            self._untimed.append((folded, origin))
            self._unread_digits.append((runs, origin))

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
                    self._add_target(Target.of(number, path), origin)
                    self.digit_runs.setdefault(str(leaf).lstrip("-"), origin)

    def _read_texts(self, value: Value) -> bool:
        """Read the texts as closely as ``value`` needs; whether that brought anything new."""
        if value.kind == "datetime":
            texts, self._untimed = self._untimed, []
            for text, origin in texts:
                for _, _, whens in find_times(text):
                    self.whens.extend((when, origin) for when in whens)
            return bool(texts)
        plain = value.unscaled == value.readings and value.unit in {None, "percent"}
        if value.kind == "identifier" or (value.kind == "number" and plain):
            unread, self._unread_digits = self._unread_digits, []
            for runs, origin in unread:
                self._add_runs(runs, origin)
            return bool(unread)
        texts, self._unread = self._unread, []
        for text, origin in texts:
            for found in scan(text):
                self._add_value(found, origin)
        return bool(texts)

    def _add_runs(self, runs: Sequence[str], origin: Origin) -> None:
        known: dict[str, Target] = {}
        for run in runs:
            if len(self.targets) >= _MOST_TARGETS:
                return
            if len(run) <= MAX_DIGITS:
                target = known.get(run) or Target(Decimal(run), path=origin.path)
                known[run] = target
                self._add_target(target, origin)

    def _add_target(self, target: Target, origin: Origin) -> None:
        self.targets.append((target, origin))
        self._rough.append(float("nan") if target.scale else float(target.value))

    def _add_value(self, value: Value, origin: Origin) -> None:
        for reading in value.readings:
            self.exact.setdefault(reading.value, origin)
        if value.readings:
            target = Target(
                value=value.readings[0].value, unit=value.unit, currency=value.currency,
                path=origin.path,
            )  # fmt: skip
            self._add_target(target, origin)
        if value.seconds:
            self.spans.append((value.seconds, origin))
        self.whens.extend((when, origin) for when in value.whens)
        if value.canonical:
            self.names.setdefault(value.canonical, origin)

    @property
    def squeezed(self) -> str:
        """All text without separators, for identifiers."""
        if not self._squeezed:
            self._squeezed = " ".join(map(_squeeze, self._with_digits))
        return self._squeezed

    def origin(self, value: Value, text: str) -> Origin:
        """Return where ``value``, found in the folded ``text``, comes from."""
        found = self._look_up(value, text)
        if found is None and self._read_texts(value):
            found = self._look_up(value, text)
        if found is None and value.readings:
            found = self._derived(value)
        return found or Origin("nowhere")

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
        known = self.names.get(value.canonical)
        if known:
            return known
        squeezed = _squeeze(identifier(value.canonical.removeprefix("section ")))
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
        if value.unscaled == value.readings:
            core = _DIGITS.search(value.text.replace(",", ""))
            if core and core[0] in self.digit_runs:
                return self.digit_runs[core[0]]
        loss = tells_a_loss(text, value.start)
        near = hedged(text, value.start)
        for target, origin in self._near(value, loss):
            grade = compare(value, target, loss)
            if grade and (grade[0] != "loose" or near or value.readings[0].digits >= 2):
                return origin
        return None

    def _near(self, value: Value, loss: bool) -> list[tuple[Target, Origin]]:
        """The targets that ``value`` could state; those surely too far off are left out."""
        if value.unit is not None or loss or value.unscaled is not value.readings:
            return self.targets
        low, high = _range(value.readings)
        # Not "low <= rough": what has no plain number (nan) must stay in.
        near = [i for i, rough in enumerate(self._rough) if not (rough < low or rough > high)]
        return [self.targets[i] for i in near]

    def _derived(self, value: Value) -> Origin | None:
        if self._computed is None:
            operands = [(float(t.value), o.path) for t, o in self.targets[:_MOST_OPERANDS]]
            self._computed = compute(operands)
        for reading in dict.fromkeys((*value.readings, *value.unscaled)):
            if not reading.value or reading.digits < (2 if self._computed.few else 3):
                continue
            for factor in (1.0, 0.01) if value.unit == "percent" else (1.0,):
                number = abs(float(reading.value)) * factor
                how = self._computed.near(number, float(reading.quantum) * factor / 2)
                if how:
                    return Origin("derived", how=how)
        return None


def _range(readings: Sequence[Reading]) -> tuple[float, float]:
    """A range that surely holds every number that one of the readings can stand for."""
    low, high = float("inf"), float("-inf")
    for reading in readings:
        at = float(reading.value)
        slack = 0.6 * float(reading.quantum) + 1e-9 * abs(at)
        if not isfinite(at + slack):
            return float("-inf"), float("inf")
        low, high = min(at - slack, low), max(at + slack, high)
    return low, high


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
