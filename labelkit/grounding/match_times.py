"""Does the answer state a date, a clock time or a duration? The matchers of ``match`` for these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from labelkit.domain.task import KeyValue
from labelkit.grounding.answer import Answer
from labelkit.grounding.mentions import Match, Verdict, decide
from labelkit.grounding.moments import apart, other_dates
from labelkit.grounding.numbers import as_decimal
from labelkit.grounding.spelled import SPELLED_TIME, spelled_durations
from labelkit.grounding.spoken_times import spoken_times
from labelkit.grounding.stance import hedged
from labelkit.grounding.times import When, read_time, zone_named
from labelkit.grounding.units import convert, unit_in_path, unit_of
from labelkit.grounding.values import Value, scan

_LABEL = re.compile(
    r"([a-z][\w ]{0,30}?)[\"'`*]*\s?(?:\(([a-z]{1,8})\))?[\"'`*]*\s?[:=|]\s*[\"'`*]*$"
)
_LABEL_REACH = 48
_IN_HOURS = re.compile(r"\s?(?:h|hrs?|hours?)\b")
_UNIT_BEFORE = re.compile(r"(?:hour|day|week|minute|month|year)s?,?(?: and)? $")
_HALF_A_DAY = 43_200


def match_datetime(
    key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]
) -> Match | None:
    """Decide whether ``answer`` states a date or time; None when the key holds none."""
    given = read_time(str(key.value))
    if given is None:
        return None
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
        read = [(v.start, v.end) for v in answer.values if v.whens]
        dates = [d for d in other_dates(local, answer.text) if not _within(d, read)]
        (weak if local.timed else good).extend(dates)
        if local.timed and answer.keys_of_time == 1:
            good = apart(local, given, asked is not None, answer, dates)
            if not good and weak and _another_clock(answer, local, given):
                return Match("no", tuple(weak), "another clock time")
    return decide(key, answer, rivals, good, weak)


def _within(span: tuple[int, int], ranges: Sequence[tuple[int, int]]) -> bool:
    return any(start <= span[0] < end for start, end in ranges)


def _another_clock(answer: Answer, local: When, given: When) -> bool:
    """Whether the answer tells the day of one thing and clock times that are all another."""
    clocks = [w for v in answer.values for w in v.whens if w.timed]
    wanted = {(w.hour, w.minute) for w in (local, given)}
    spoken = {(hour, minute) for _, _, hour, minute in spoken_times(answer.lower)}
    return bool(clocks or spoken - wanted) and not (spoken & wanted or any(
        w.dated or (w.hour, w.minute or 0) in wanted for w in clocks
    ))  # fmt: skip


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


def match_duration(
    key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]
) -> Match | None:
    """Decide whether ``answer`` states a duration; None when the key holds none."""
    amount = as_decimal(key.value)
    unit = unit_of(key.unit) or unit_in_path(key.path)
    if amount is None:
        stated = [v for v in scan(str(key.value)) if v.seconds]
        if len(stated) != 1 or stated[0].seconds is None:
            return None
        amount, unit = stated[0].seconds.value, "mo" if stated[0].unit in {"mo", "yr"} else "s"
    if unit is None:
        return Match("unsure", why="the key names no unit")
    base = "mo" if unit in {"mo", "yr"} else "s"
    wanted = convert(amount, "min" if unit == "m" else unit, base) or Decimal(0)
    good: list[tuple[int, int]] = []
    weak: list[tuple[int, int]] = []
    for value in answer.values:
        if base == "s" and _on_a_clock(value) == wanted:
            # 1:35 may be an hour and a half, or a time of day; 3:26:15 is hardly one.
            told = value.whens[0].second is not None or _IN_HOURS.match(answer.lower, value.end)
            (good if told and wanted < _HALF_A_DAY else weak).append((value.start, value.end))
        if value.seconds is None or (value.unit in {"mo", "yr"}) != (base == "mo"):
            continue
        step = convert(value.seconds.quantum, value.unit or base, base) or Decimal(1)
        distance = abs(value.seconds.value - wanted)
        if not distance or (distance * 2 <= step and value.seconds.digits >= 3):
            good.append((value.start, value.end))
        elif distance * 2 <= step or (distance <= step and hedged(answer.text, value.start)):
            weak.append((value.start, value.end))
    _add_bare(key, answer, (wanted, unit, base), good, weak)
    good = [place for place in good if not _goes_on_in_words(place, answer, (wanted, base))]
    good = good or _spelled(answer, wanted, base)
    if not good and not weak and SPELLED_TIME.search(answer.lower):
        return _another_in_words(answer)
    return decide(key, answer, rivals, good, weak)


def _another_in_words(answer: Answer) -> Match:
    """The verdict where durations are in words, and none of those read is the wanted one."""
    places = [(start, end) for start, end, _, _ in spelled_durations(answer.lower)]
    if places and not any(hedged(answer.lower, start) for start, _ in places):
        return Match("no", tuple(places), "another duration")
    return Match("unsure", why="numbers are spelled out")


def _goes_on_in_words(place: tuple[int, int], answer: Answer, wanted: tuple[Decimal, str]) -> bool:
    """Whether the 10 minutes are the rest of "one hour and 10 minutes", another duration."""
    if not _UNIT_BEFORE.search(answer.lower, max(0, place[0] - 14), place[0]):
        return False
    found = spelled_durations(answer.lower)
    return any(s < place[0] < e and (amount, base) != wanted for s, e, amount, base in found)


def _spelled(answer: Answer, wanted: Decimal, base: str) -> list[tuple[int, int]]:
    """Places where the duration is written in words."""
    found = spelled_durations(answer.lower)
    return [(start, end) for start, end, amount, b in found if (amount, b) == (wanted, base)]


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
