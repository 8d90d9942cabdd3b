"""Where every value of an answer comes from: the payload, the question, arithmetic, or nowhere.

This is what separates a fabricated figure from a computed one. A value is looked up among the
values of the evidence in every format; then simple arithmetic over them is tried (sum, difference,
product, ratio, percentage, average). The more numbers there are, the more a coincidence would
prove, so the operations allowed shrink as the operands grow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from labelkit.grounding.arithmetic import Computed, compute, compute_on
from labelkit.grounding.compare import Target, compare
from labelkit.grounding.derived import apart, at_a_rate, exact_result, rates_of
from labelkit.grounding.folding import squeezed_text
from labelkit.grounding.given import (
    Figure,
    GivenPayload,
    GivenText,
    Ranked,
    Reach,
    given_payload,
    given_result,
    given_text,
    target_of,
)
from labelkit.grounding.numbers import as_decimal
from labelkit.grounding.stance import hedged, tells_a_loss
from labelkit.grounding.times import When, may_hold
from labelkit.grounding.values import Value, identifier

Source = Literal["payload", "question", "tool_result", "derived", "nowhere"]

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_NUMBER_AND_PATH = itemgetter(0, 1)
_MOST_OPERANDS = 64
_MOST_STATED = 2000
_MOST_STEPS = 4
_DIGITS_OF_A_STEP = 3
_MOST_TIMES = 300
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "wk": 604800}


class Origin(NamedTuple):
    """Where a value comes from; ``path`` is a JSON path for payloads and tool results."""

    source: Source
    path: str = ""
    how: str = ""


NOWHERE = Origin("nowhere")
Level = Literal["times", "runs", "values"]
"""How closely texts are read: for dates, for digits, or for every typed value."""


class EvidenceBase:
    """Everything the model was given, looked up by value.

    Numbers of payloads are looked up at once; texts are read closely only when a value of the
    answer is not found among those, because most answers never need it. ``cut`` says that
    something was too large to be read to its end, so that "nowhere" may be wrong.
    """

    __slots__ = (
        "_blob", "_computed", "_everything", "_exact", "_known", "_payloads", "_questions",
        "_ranked", "_reach", "_read", "_seconds", "_sources", "_squeezed", "_stated", "_texts",
        "_undated", "_whens", "cut",
    )  # fmt: skip

    def __init__(self) -> None:
        self._everything: list[GivenText] = []
        self.cut = False
        self._payloads: list[tuple[GivenPayload, Source]] = []
        self._questions: list[tuple[GivenText, Origin]] = []
        self._texts: list[tuple[GivenText, Origin]] = []
        self._ranked: list[tuple[Ranked, Source]] = []
        self._stated: list[Figure] = []
        self._whens: list[tuple[When, Origin]] = []
        self._undated: list[tuple[GivenText, Origin]] | None = None
        self._exact: dict[Decimal, Origin] = {}
        self._known: dict[str, Origin] = {}
        self._seconds: dict[Decimal, Origin] = {}
        self._reach: tuple[Value, Reach] | None = None
        self._read: set[str] = set()
        self._sources: dict[tuple[str, str], Origin | None] = {}
        self._computed: Computed | None = None
        self._squeezed = self._blob = ""

    def add_text(self, text: str, origin: Origin) -> None:
        """Index a text (the question, a plain tool result)."""
        given = given_text(text)
        self._everything.append(given)
        self.cut |= given.cut
        if given.has_digit:
            self._texts.append((given, origin))
            self._questions.append((given, origin))

    def add_json(self, value: Any, source: Source) -> None:
        """Index every leaf of a payload, or of the arguments of a call."""
        self._add_payload(
            given_payload(value) if source == "payload" else GivenPayload(value), source
        )

    def add_result(self, text: str, source: Source) -> None:
        """Index a tool result or payload that is held as text: JSON, or one plain text."""
        self._add_payload(given_result(text), source)

    def _add_payload(self, payload: GivenPayload, source: Source) -> None:
        self.cut |= payload.cut
        self._payloads.append((payload, source))
        if payload.figures:
            self._ranked.append((payload.ranked, source))
        for path, text in payload.texts:
            self._everything.append(text)
            if text.has_digit:
                self._texts.append((text, Origin(source, path)))

    def _read_texts(self, value: Value) -> Level | None:
        """Read the texts as closely as ``value`` needs; how closely, where that is new."""
        if value.kind == "datetime":
            return "times" if self._read_times(value) else None
        level: Level = "values"
        if value.kind == "identifier" or (
            value.kind == "number"
            and value.unit in {None, "percent"}
            and value.unscaled == value.readings
        ):
            level = "runs"
        if level in self._read or not self._texts:
            return None
        self._read.add(level)
        if level == "runs":
            self._read_runs()
        else:
            for text, origin in self._texts:
                for found in text.values:
                    self._add_value(found, origin)
                self.cut |= text.values_cut
            self._ranked.append((Ranked(self._stated), "question"))
        return level

    def _read_times(self, value: Value) -> bool:
        """Read the times of the texts that may hold ``value``; whether any was left to read."""
        if self._undated is None:
            self._undated = list(self._texts)
        left = []
        for text, origin in self._undated:
            if may_hold(text.folded, value.whens):
                self._whens.extend((when, origin) for when in text.whens)
            else:
                left.append((text, origin))
        read = len(left) < len(self._undated)
        self._undated = left
        if len(self._whens) > _MOST_TIMES:
            self.cut = True
            del self._whens[_MOST_TIMES:]
        return read

    def _read_runs(self) -> None:
        for given, source in self._payloads:
            runs = given.ranked_runs
            if runs.figures:
                self._ranked.append((runs, source))
            self.cut |= given.runs_cut
        for text, origin in self._questions:
            self._ranked.append((text.ranked_runs, origin.source))
            self.cut |= text.runs_cut

    def _add_value(self, value: Value, origin: Origin) -> None:
        for reading in value.readings:
            self._exact.setdefault(reading.value, origin)
        if value.readings:
            number = value.readings[0].value
            target = Target(number, value.unit, value.currency, path=origin.path)
            if len(self._stated) < _MOST_STATED:
                self._stated.append((float(number), origin.path, target))
            else:
                self.cut = True
        if value.seconds:
            self._seconds.setdefault(value.seconds.value, origin)
        self._whens.extend((when, origin) for when in value.whens)
        if value.canonical:
            self._known.setdefault(value.canonical, origin)

    def lowered(self) -> str:
        """Everything that was given, lower-cased."""
        return "\n".join(text.lowered for text in self._everything)

    @property
    def squeezed(self) -> str:
        """All text without separators, for identifiers."""
        if not self._squeezed:
            self._squeezed = " ".join(squeezed_text(text.lowered) for text, _ in self._texts)
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
        if found is None:
            ranked = len(self._ranked)
            level = self._read_texts(value)
            if level == "runs":
                # Digit runs are all that is new, and only numbers are looked up among them.
                found = self._about(value, text, ranked) if value.readings else None
            elif level is not None:
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
        squeezed = value.canonical
        if value.kind == "citation":
            number, _, code = squeezed.removeprefix("section ").partition(" of ")
            squeezed = squeezed_text(identifier(code + number))
        elif squeezed[:1] == "v" and squeezed[1:2].isdigit():
            squeezed = squeezed[1:]  # v3.10.0 is version 3.10.0
        if squeezed and squeezed in self.squeezed:
            return Origin("payload")
        if value.kind == "citation":
            runs = _DIGITS.findall(value.text)
            return Origin("payload") if runs and all(map(self._written, runs)) else None
        return None

    def _written(self, run: str) -> Origin | None:
        """Where these very digits stand: as a number of a payload, or as a run in a text."""
        size = float(run)
        for payload, source in self._payloads:
            # Only a number of this size can be written like this.
            path = payload.written.get(run) if size in payload.by_size else None
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
        for ranked, source in self._ranked:
            for figure in ranked.measuring("time"):
                target = target_of(figure)
                unit = target.unit or ""
                if unit in _SECONDS and target.value * _SECONDS[unit] == wanted.value:
                    return Origin(source, target.path)
        told = [text for text, _ in self._texts]
        return Origin("derived", how="difference") if apart(told, wanted.value) else None

    def _exactly(self, number: Decimal) -> Origin | None:
        if self._payloads:
            size = abs(float(number))
            for payload, source in self._payloads:
                figure = payload.by_size.get(size)
                exact = None if figure is None else as_decimal(figure[2])
                if figure is not None and exact is not None and abs(exact) == abs(number):
                    return Origin(source, figure[1])
        return self._exact.get(number) or self._exact.get(-number) if self._exact else None

    def _number(self, value: Value, text: str) -> Origin | None:
        readings = value.shown
        for reading in readings:
            found = self._exactly(reading.value)
            if found:
                return found
        if readings is value.readings:
            core = _DIGITS.search(value.text.replace(",", ""))
            found = self._written(core[0]) if core else None
            if found:
                return found
        return self._about(value, text)

    def _about(self, value: Value, text: str, first: int = 0) -> Origin | None:
        """A given figure that ``value`` states when it is rounded, from the ``first`` list on."""
        loss: bool | None = None
        if self._reach is None or self._reach[0] is not value:
            # A value is looked up a second time where texts were read for it.
            self._reach = value, Reach(value)
        reach = self._reach[1]
        for ranked, source in self._ranked[first:]:
            for figure in ranked.near(reach):
                loss = tells_a_loss(text, value.start) if loss is None else loss
                grade = compare(value, target_of(figure), loss)
                if grade and (
                    grade[0] != "loose"
                    or value.readings[0].digits >= 2
                    or hedged(text, value.start)
                ):
                    return Origin(source, figure[1])
        return None

    def _derived(self, value: Value) -> Origin | None:
        if self._computed is None:
            self._computed = compute(self._operands())
        how = self._computed.giving(value, 2 if self._computed.few else 3)
        how = how or exact_result(value, self._computed)
        return Origin("derived", how=how) if how else None

    def _operands(self) -> tuple[tuple[float, str], ...]:
        """The numbers that may be computed with, each with its path; a call is another object."""
        found: list[tuple[float, str]] = []
        for at, (ranked, _) in enumerate(self._ranked):
            figures = map(_NUMBER_AND_PATH, ranked.figures[:_MOST_OPERANDS])
            found += [(number, f"{at}{path}") for number, path in figures] if at else figures
        return tuple(found[:_MOST_OPERANDS])

    def follow(self, values: Sequence[Value], origins: Sequence[Origin]) -> list[Origin]:
        """Trace what was found nowhere to the computed numbers that the answer states itself.

        Args:
            values: the values of one answer, in order.
            origins: where each was found; "nowhere" may become "derived" in what is returned.
        """
        out = list(origins)
        if NOWHERE not in out:
            return out
        stated = [
            float(v.readings[0].value)
            for v, o in zip(values, out, strict=True)
            if o.source == "derived" and v.readings
        ]
        rates = rates_of(values, [o.source in {"nowhere", "derived"} for o in out])
        if not (stated or rates) or len(stated) > _MOST_STEPS:
            return out
        operands = list(dict.fromkeys(number for number, _ in self._operands()))
        for place, value in enumerate(values):
            if out[place].source != "nowhere" or not value.readings:
                continue
            how = compute_on(stated, operands).giving(value, _DIGITS_OF_A_STEP)
            how = how or at_a_rate(value, (*stated, *operands), rates)
            if how:
                out[place] = Origin("derived", how=how)
                stated.append(float(value.readings[0].value))
        return out


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
