"""Does the answer state what it should? One verdict per key value: match, no, or unsure.

``unsure`` is a real outcome: the classifier abstains on it. A match is only given where the value
is asserted, in a format that can mean nothing else, and of the right thing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Literal

from labelkit.domain.task import KeyValue
from labelkit.grounding.answer import Answer, read_answer
from labelkit.grounding.compare import Target, compare, far
from labelkit.grounding.coordination import others_named
from labelkit.grounding.folding import fold_values
from labelkit.grounding.mentions import Match, Verdict, decide
from labelkit.grounding.numbers import as_decimal
from labelkit.grounding.spelled import NUMBER_WORDS, SPELLED_TIME, spells_a_number
from labelkit.grounding.stance import (
    clause_before,
    hedged,
    tells_a_loss,
)
from labelkit.grounding.times import When, read_time, zone_named
from labelkit.grounding.units import convert, unit_in_path, unit_of
from labelkit.grounding.values import Value, cites, identifier, scan
from labelkit.grounding.wording import (
    occurrences,
    polarity,
    says_failed,
    says_missing,
    says_none_of,
    stands_on,
)

__all__ = ["Answer", "Match", "Verdict", "is_name", "match_value", "read_answer"]

_WORDS = re.compile(r"[A-Za-z]{3,}")
_YES_OR_NO = re.compile(r"\b(?:yes|no|true|false|until|was)\b")
_AS_FRACTION = re.compile(r"\b(?:fraction|proportion|ratio|decimal)\b")
_LEFT_OUT = re.compile(
    r"\b(?:no|without|excluding|except(?: for)?|free of|not|nor|neither|lacks?)\s(?:any\s)?$"
)
_LABEL = re.compile(
    r"([a-z][\w ]{0,30}?)[\"'`*]*\s?(?:\(([a-z]{1,8})\))?[\"'`*]*\s?[:=|]\s*[\"'`*]*$"
)
_LABEL_REACH = 48
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def match_value(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]] = ()) -> Match:
    """Decide whether ``answer`` states ``key``.

    Args:
        key: the wanted value.
        answer: the prepared answer.
        rivals: (entity, path) of the other things in the payload a value could be said of.
    """
    if not answer.text:
        return Match("no", why="empty")
    return _MATCHERS[key.type](key, answer, rivals)


def _number(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    wanted = as_decimal(key.value)
    if wanted is None:
        return _text(key, answer, rivals)
    tolerance = key.tolerance if isinstance(key.tolerance, int | float) else None
    target = Target.of(
        wanted, key.path, key.unit, Decimal(repr(tolerance)) if tolerance is not None else None
    )
    if target.unit in {"s", "min", "h", "d"} and any(
        v.seconds and not v.readings for v in answer.values
    ):
        return _duration(key, answer, rivals)
    good: list[tuple[int, int]] = []
    weak: list[tuple[int, int]] = []
    for value in answer.values:
        if not value.readings or far(value, target):
            continue
        graded = compare(value, target, tells_a_loss(answer.lower, value.start))
        if graded is None:
            continue
        grade, sure = graded
        sure = sure or answer.european or _as_asked(value, target, answer)
        if grade != "loose" and sure:
            good.append((value.start, value.end))
        elif grade != "loose" or hedged(answer.text, value.start):
            weak.append((value.start, value.end))
    good = good or _other_whole(wanted, answer)
    if not good and not weak and spells_a_number(answer.lower):
        return Match("unsure", why="numbers are spelled out")
    return decide(key, answer, rivals, good, weak, numeric=True)


def _as_asked(value: Value, target: Target, answer: Answer) -> bool:
    """Whether 0.0725 is said to be a fraction, so that it can only stand for 7.25%."""
    bare = target.unit in {"percent", "bps"} and value.unit is None
    return bare and _AS_FRACTION.search(clause_before(answer.lower, value.start)) is not None


def _other_whole(wanted: Decimal, answer: Answer) -> list[tuple[int, int]]:
    """Places where a whole number is spelled, or written with plain spaces.

    ``51 234`` may be two numbers, unless it is the very number that is wanted.
    """
    if wanted != wanted.to_integral_value():
        return []
    if 0 <= wanted <= 20:
        return list(occurrences(NUMBER_WORDS[int(wanted)], answer.lower))
    if not 1000 <= abs(wanted) < 10**15:
        return []
    spaced = re.escape(f"{abs(int(wanted)):,d}".replace(",", " "))
    return [m.span() for m in re.finditer(rf"(?<![\d.,-]){spaced}(?![\d,]|\.\d)", answer.text)]


def _datetime(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    given = read_time(str(key.value))
    if given is None:
        return _text(key, answer, rivals)
    asked = zone_named(key.ask_tz) if key.ask_tz else None
    local = (given.in_zone(asked) if asked else None) or given
    good: list[tuple[int, int]] = []
    weak: list[tuple[int, int]] = []
    for value in answer.values:
        for when in value.whens:
            verdict = _time_verdict(when, given, local, asked is not None)
            if verdict == "match":
                (weak if when.alternative else good).append((value.start, value.end))
            elif verdict == "unsure":
                weak.append((value.start, value.end))
    if not good and local.year and local.month and local.day:
        # 20260419 is no date to a reader of numbers, unless it is the very one that is wanted.
        digits = f"{local.year:04d}{local.month:02d}{local.day:02d}"
        (weak if local.timed else good).extend(
            m.span() for m in re.finditer(rf"(?<!\d){digits}(?!\d)", answer.text)
        )
    return decide(key, answer, rivals, good, weak)


def _time_verdict(when: When, given: When, local: When, asked: bool) -> Verdict:
    if when.month is None and when.day is None and not when.timed:
        return "no"
    here, there = when.instant(), given.instant()
    if here is not None and there is not None:
        seconds = abs((here - there).total_seconds())
        if seconds >= 60 or (when.second and seconds):
            return "no"
        # The right instant on another clock than the one asked for is only half an answer.
        return "match" if not asked or when.agrees(local) else "unsure"
    if not when.agrees(local):
        return "no"
    partial = (
        (given.timed and not when.timed)
        or (given.dated and not when.dated)
        or (given.day is not None and not when.day and when.dated)
    )
    return "unsure" if partial else "match"


def _duration(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    amount = as_decimal(key.value)
    unit = unit_of(key.unit) or unit_in_path(key.path)
    if amount is None:
        stated = [v for v in scan(str(key.value)) if v.seconds]
        if len(stated) != 1 or stated[0].seconds is None:
            return _text(key, answer, rivals)
        amount, unit = stated[0].seconds.value, "mo" if stated[0].unit in {"mo", "yr"} else "s"
    if unit is None:
        return Match("unsure", why="the key names no unit")
    base = "mo" if unit in {"mo", "yr"} else "s"
    wanted = convert(amount, "min" if unit == "m" else unit, base) or Decimal(0)
    good: list[tuple[int, int]] = []
    weak: list[tuple[int, int]] = []
    for value in answer.values:
        if base == "s" and _on_a_clock(value) == wanted:
            # 1:35 may be an hour and a half, or a time of day.
            weak.append((value.start, value.end))
        if value.seconds is None or (value.unit in {"mo", "yr"}) != (base == "mo"):
            continue
        step = convert(value.seconds.quantum, value.unit or base, base) or Decimal(1)
        distance = abs(value.seconds.value - wanted)
        if not distance or (distance * 2 <= step and value.seconds.digits >= 3):
            good.append((value.start, value.end))
        elif distance * 2 <= step or (distance <= step and hedged(answer.text, value.start)):
            weak.append((value.start, value.end))
    _add_bare(key, answer, (wanted, unit, base), good, weak)
    if not good and not weak and SPELLED_TIME.search(answer.lower):
        return Match("unsure", why="numbers are spelled out")
    return decide(key, answer, rivals, good, weak)


def _add_bare(
    key: KeyValue,
    answer: Answer,
    target: tuple[Decimal, str, str],
    good: list[tuple[int, int]],
    weak: list[tuple[int, int]],
) -> None:
    """Add the bare numbers that state the duration: by the unit of their label, or perhaps."""
    wanted, unit, base = target
    for value in answer.values:
        if value.seconds is not None or not value.readings or value.unit is not None:
            continue
        told = _unit_of_label(answer.lower, value.start, key)
        if convert(value.readings[0].value, told or unit, base) == wanted:
            (good if told else weak).append((value.start, value.end))


def _unit_of_label(text: str, start: int, key: KeyValue) -> str | None:
    """The unit told by the name before a bare number: ``"delay_min": 35``, ``Wait (min): 35``."""
    label = _LABEL.search(text, max(0, start - _LABEL_REACH), start)
    if label is None:
        return None
    name = label[1].strip().replace(" ", "_")
    told = unit_of(label[2]) or unit_in_path(name)
    if told is None and name == (key.path or "").rpartition(".")[2].lower():
        told = unit_of(key.unit)
    return "min" if told == "m" else told


def _on_a_clock(value: Value) -> Decimal | None:
    """Seconds of a clock time without a date, read as hours, minutes and seconds."""
    if len(value.whens) != 1 or value.whens[0].dated or value.whens[0].hour is None:
        return None
    when = value.whens[0]
    return Decimal(3600 * (when.hour or 0) + 60 * (when.minute or 0) + (when.second or 0))


def _boolean(key: KeyValue, answer: Answer, _: Sequence[tuple[str, str]]) -> Match:
    leaf = (key.path or "").rpartition(".")[2]
    words = tuple(w.lower() for w in _WORDS.findall(_CAMEL.sub(" ", leaf).replace("_", " ")))
    words = tuple(w for w in words if w not in {"has", "the", "can", "are", "was"})
    said = polarity(answer.lower, words)
    if said is None and not _YES_OR_NO.search(answer.lower):
        said = next((s for w in words if (s := stands_on(answer.lower, w))), None)
    if said is None:
        return Match("unsure", why="neither yes nor no is plain")
    wanted = str(key.value).lower() in {"true", "yes", "1"}
    return Match("match" if (said == "yes") is wanted else "no", why=said)


def _enum(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    found = list(occurrences(str(key.value), answer.lower))
    if not found:
        return Match("no", why="not named")
    named = [(s, e) for s, e in found if not _LEFT_OUT.search(clause_before(answer.lower, s))]
    if not named:
        return Match("unsure", tuple(found), "named as left out")
    return decide(key, answer, rivals, named)


def _text(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    wanted = fold_values(str(key.value)).text
    found = list(occurrences(wanted, answer.lower))
    if found:
        return decide(key, answer, rivals, found)
    if is_name(wanted) and any(_is_another(v, wanted, answer) for v in answer.values):
        return _identifier(key, answer, rivals)
    return Match("unsure", why="other words may say the same")


def _is_another(value: Value, wanted: str, answer: Answer) -> bool:
    """Whether a value is an identifier that was not given, or only the head of the wanted one."""
    return value.kind == "identifier" and (
        value in answer.strangers or identifier(wanted).startswith(value.canonical)
    )


def is_name(wanted: str) -> bool:
    """Whether a text is one identifier: no other words can say it."""
    found = scan(wanted)
    return len(found) == 1 and found[0].kind == "identifier" and found[0].text == wanted.strip()


def _citation(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    wanted = [v.canonical for v in scan(fold_values(str(key.value)).text) if v.kind == "citation"]
    if len(wanted) != 1:
        return _text(key, answer, rivals)
    found = [
        (v.start, v.end)
        for v in answer.values
        if v.kind == "citation" and cites(v.canonical, wanted[0])
    ]
    return decide(key, answer, rivals, found)


def _identifier(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    wanted = identifier(str(key.value))
    found = [(v.start, v.end) for v in answer.values if v.canonical == wanted]
    if not found:
        found = list(occurrences(str(key.value), answer.lower))
    return decide(key, answer, rivals, found)


def _members(key: KeyValue, answer: Answer) -> list[Match]:
    members: list[Any] = list(key.value) if isinstance(key.value, list | tuple) else [key.value]
    out = []
    for member in members:
        number = isinstance(member, int | float) and not isinstance(member, bool)
        kind: Literal["number", "enum"] = "number" if number else "enum"
        out.append(match_value(KeyValue(type=kind, value=member, unit=key.unit), answer))
    return out


def _set(key: KeyValue, answer: Answer, _: Sequence[tuple[str, str]]) -> Match:
    found = _members(key, answer)
    spans = tuple(m.spans[0] for m in found if m.spans)
    for verdict in ("no", "unsure"):
        if any(m.verdict == verdict for m in found):
            return Match(verdict, spans, "a member is missing")
    if key.type == "list" and [s for s, _ in spans] != sorted(s for s, _ in spans):
        return Match("no", spans, "another order")
    others: list[tuple[int, int]] = []
    if answer.given and len(found) > 1:
        everywhere = [span for m in found for span in m.spans]
        others = others_named(answer.text, everywhere, answer.given)
    return Match("match", spans, others=tuple(others))


def _null(key: KeyValue, answer: Answer, _: Sequence[tuple[str, str]]) -> Match:
    place = says_missing(answer.lower) or (
        says_failed(answer.lower)
        if key.type == "error"
        else says_none_of(answer.lower, (key.path or "").rpartition(".")[2])
    )
    invented = [v for v in answer.strangers if answer.stance(v.start, v.end) == "asserted"]
    if place and invented:
        return Match("unsure", (place,), "missing, and yet a value")
    if place:
        return Match("match", (place,))
    return Match("no", why="a value is handed over") if invented else Match("unsure")


_MATCHERS: dict[str, Callable[[KeyValue, Answer, Sequence[tuple[str, str]]], Match]] = {
    "number": _number,
    "datetime": _datetime,
    "duration": _duration,
    "boolean": _boolean,
    "enum": _enum,
    "citation": _citation,
    "identifier": _identifier,
    "text": _text,
    "set": _set,
    "list": _set,
    "null": _null,
    "error": _null,
}
