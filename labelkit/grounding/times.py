"""Dates, clock times and zones, in the common ways of writing them.

A date may be partial (``April 2026``, ``March``); what is not written is None and matches
anything. Numeric dates whose order is open (04/05/2026) carry both readings. Zones are resolved
through the IANA data: by abbreviation, offset, or the name of a city (``Tokyo time``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from labelkit.grounding.folding import anchored
from labelkit.grounding.hints import holds_any

_MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
         "august aug", "september sept sep", "october oct", "november nov", "december dec"), 1
    )
    for name in names.split()
}  # fmt: skip
_ODD_LETTERS = str.maketrans("\u017f\u0130\u0131", "sii")
_VERB = (
    r"(?<=(?-i:may)) (?!(?:at|on|in|by|for|from|to|until|and|or|is|was|as|with)\b)(?-i:[a-z]{2})"
)
_M = rf"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may(?!\b{_VERB})|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"  # noqa: E501
_TIME = r"(?P<h{0}>[01]?\d|2[0-4]):(?P<mi{0}>[0-5]\d)(?::(?P<s{0}>[0-5]\d)(?:\.\d{{1,9}})?)?"
_DATE = re.compile(
    rf"(?<![A-Za-z0-9_.])(?:(?P<y1>\d{{4}})-(?P<m1>0[1-9]|1[0-2])(?:-(?P<d1>0[1-9]|[12]\d|3[01]))?"
    rf"(?:(?:T|(?<=\d) ){_TIME.format(1)})?"
    r"(?!\d)(?:(?!-)|(?:(?<=T\d\d:\d\d)|(?<=:\d\d:\d\d))(?=-(?:0\d|1[0-4]):?\d\d(?![\d:])))"
    rf"|(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?[ \u00a0-](?:of )?(?P<m2>{_M})\b\.?"
    r"(?:[ \u00a0,-]{1,2}(?P<y2>\d{4})\b)?"
    rf"|(?P<m3>{_M})\b\.?[ \u00a0](?P<d3>[0-3]?\d)(?:st|nd|rd|th)?\b(?![:.]\d)"
    r"(?:,?[ \u00a0](?P<y3>\d{4})\b)?"
    rf"|(?P<m4>{_M})\b\.?,?[ \u00a0](?P<y4>\d{{4}})\b"
    r"|(?P<a5>[0-3]?\d)(?P<sep>[/.-])(?P<b5>[0-3]?\d)(?P=sep)(?P<y5>\d{4})(?![\w/])"
    r"|(?P<y6>\d{4})/(?P<m6>[01]?\d)/(?P<d6>[0-3]?\d)(?![\w/])"
    r"|(?P<y7>\d{4})\u5e74(?P<m7>[01]?\d)\u6708(?:(?P<d7>[0-3]?\d)\u65e5)?"
    r")",
    re.IGNORECASE,
)
_MONTH_ALONE = re.compile(
    r"\b(January|February|March|April|June|July|August|September|October|November|December"
    r"|(?<=[a-z] )May|(?<=^)May)\b(?! \d)"
)
_CLOCK = re.compile(
    rf"(?<![A-Za-z0-9_:.]){_TIME.format(9)}\s?(?P<ap>[ap]\.?m\b\.?)?(?![:\d])"
    r"|(?<![A-Za-z0-9_:.])(?P<h8>1[0-2]|0?[1-9])\s?(?P<ap8>[ap]\.?m\b\.?)",
    re.IGNORECASE,
)
_ZONE = re.compile(
    r"\s?\(?(?P<iso>Z\b|[+-]\d{2}:?\d{2}\b)"
    r"|\s?\(?(?P<utc>(?:UTC|GMT)(?:\s?[+-]\s?\d{1,2}(?::?\d{2})?)?)(?!\w)"
    r"|\s?\(?(?P<abbr>JST|KST|IST|CET|CEST|MEZ|MESZ|EET|EEST|BST|WET|EST|EDT|CST|CDT|MST|MDT|PST|PDT|ET|PT|CT"
    r"|AEST|AEDT|SGT|HKT)\b"
    r"|\s?\(?(?:in )?(?P<city>[A-Z][A-Za-z]+(?:[ _][A-Z][A-Za-z]+)?) (?:local )?[Tt]ime\b"
)
_ABBREVIATIONS = {
    "JST": 540, "KST": 540, "IST": 330, "CET": 60, "CEST": 120, "MEZ": 60, "MESZ": 120,
    "EET": 120, "EEST": 180,
    "BST": 60, "WET": 0, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420,
    "MDT": -360, "PST": -480, "PDT": -420, "AEST": 600, "AEDT": 660, "SGT": 480, "HKT": 480,
}  # fmt: skip
_REGIONS = {"ET": "America/New_York", "PT": "America/Los_Angeles", "CT": "America/Chicago",
            "Eastern": "America/New_York", "Pacific": "America/Los_Angeles",
            "Central": "America/Chicago", "Mountain": "America/Denver", "Japan": "Asia/Tokyo",
            "Japanese": "Asia/Tokyo", "India": "Asia/Kolkata", "Indian": "Asia/Kolkata",
            "Korea": "Asia/Seoul", "Korean": "Asia/Seoul", "China": "Asia/Shanghai",
            "Chinese": "Asia/Shanghai", "UK": "Europe/London", "British": "Europe/London",
            "Mumbai": "Asia/Kolkata", "Delhi": "Asia/Kolkata", "Beijing": "Asia/Shanghai",
            "Francisco": "America/Los_Angeles", "Seattle": "America/Los_Angeles",
            "Boston": "America/New_York", "Washington": "America/New_York"}  # fmt: skip
# Signs of a date or clock time, cheap to look for: without one the text is not read for times.
_MONTH_PARTS = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "\u017fep", "oct", "nov", "dec",
)  # fmt: skip
_DIGIT_SIGN = re.compile(r"\d(?:[-/:\u5e74]\d|\.\d{1,2}\.\d|\s?[aApP]\.?[mM])")
_HALVES = ("am", "pm", "a.m", "p.m")
# Where a match can begin, found many times faster than the match itself: each of these begins with
# a class of characters and looks no further than the first few.
_CAPITAL = re.compile("[JFMASOND]")
_DIGIT_DATE = re.compile(r"\d(?<![A-Za-z0-9_.].)(?=\d{3}[-/\u5e74]|\d?[/.-]\d)")
_NAMED_DATE = re.compile(
    r"\d(?:(?<=[A-Za-z\u017f.,][ \u00a0].)"
    r"|(?<![A-Za-z0-9_.].)(?=\d{3}[-/\u5e74]|\d?[/.-]\d"
    r"|\d?(?:[sSnNrRtT\u017f][tTdDhH])?[ \u00a0-](?:[oO][fF] )?[jfmasondJFMASOND\u017f]))"
)
_MONTH_ENDS = ("ary", "rch", "ril", "une", "uly", "ust", "ber", "ept", *_MONTH_PARTS)
_MONTH_BEFORE = re.compile(rf"(?<![A-Za-z0-9_.]){_M}\b\.?,?\Z", re.IGNORECASE)
_LONGEST_MONTH = 11
_CLOCK_SIGN = re.compile(r"\d(?<![A-Za-z0-9_:.].)(?=\d?(?::|\s?[aApP]\.?[mM]))")
_JOIN = re.compile(
    r"\)?[\s,]*(?:\(?local(?: time)?\)?|hrs|hours)?[\s,]*(?:at|on|@|-|,|from|by|T|\()?\s*"
)
_LONGEST_GAP = 20
_BLANKS = (" ", "\u00a0")


class When(NamedTuple):
    """A date and/or clock time; unwritten parts are None. ``zone`` None means: not stated."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None
    zone: tzinfo | None = None
    alternative: bool = False

    @property
    def dated(self) -> bool:
        """Whether at least a month or a year is written."""
        return self.month is not None or self.year is not None

    @property
    def timed(self) -> bool:
        """Whether a clock time is written."""
        return self.hour is not None

    def agrees(self, other: When) -> bool:
        """Whether no part that both state differs (seconds only where both state them)."""
        mine = (self.year, self.month, self.day, self.hour, self.minute)
        theirs = (other.year, other.month, other.day, other.hour, other.minute)
        return all(
            a is None or b is None or a == b for a, b in zip(mine, theirs, strict=True)
        ) and (not self.second or not other.second or self.second == other.second)

    def instant(self) -> datetime | None:
        """The instant in UTC, or None when date, time or zone is missing or impossible."""
        if self.zone is None or None in {self.year, self.month, self.day, self.hour}:
            return None
        try:
            local = datetime(
                self.year or 1, self.month or 1, self.day or 1, self.hour or 0, self.minute or 0,
                self.second or 0, tzinfo=self.zone,
            )  # fmt: skip
            return local.astimezone(UTC)
        except (ValueError, OverflowError):
            return None

    def in_zone(self, zone: tzinfo) -> When | None:
        """The same instant on another clock."""
        instant = self.instant()
        if instant is None:
            return None
        local = instant.astimezone(zone)
        return When(
            local.year, local.month, local.day, local.hour, local.minute, local.second, zone
        )


def between(first: When, second: When) -> Decimal | None:
    """Seconds from one moment to another: of two instants, two local clocks, or two days."""
    moments = []
    for when in (first, second):
        instant = when.instant() if when.zone is not None else None
        if instant is None:
            if None in {when.year, when.month, when.day}:
                return None
            instant = datetime(
                when.year or 1, when.month or 1, when.day or 1, when.hour or 0, when.minute or 0,
                when.second or 0, tzinfo=UTC,
            )  # fmt: skip
        moments.append(instant)
    if (first.zone is None) is not (second.zone is None) or first.timed is not second.timed:
        return None
    return Decimal(round((moments[1] - moments[0]).total_seconds()))


@lru_cache(maxsize=1)
def _cities() -> dict[str, str]:
    names = sorted(available_timezones())
    return {n.rpartition("/")[2].replace("_", " ").lower(): n for n in names if "/" in n}


@lru_cache(maxsize=256)
def zone_named(name: str) -> tzinfo | None:
    """Return the zone of an IANA name, a city, or a region word; None when unknown."""
    known = _REGIONS.get(name) or name
    if "/" not in known and known != "UTC":
        found = _cities().get(known.replace("_", " ").lower())
        if found is None:
            return None
        known = found
    try:
        return ZoneInfo(known)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _zone(match: re.Match[str] | None) -> tzinfo | None:
    if match is None:
        return None
    if match["iso"]:
        return UTC if match["iso"] == "Z" else _offset(match["iso"])
    if match["utc"]:
        return _offset(match["utc"][3:].replace(" ", "")) if len(match["utc"]) > 3 else UTC
    if match["abbr"]:
        minutes = _ABBREVIATIONS.get(match["abbr"])
        if minutes is None:
            return zone_named(match["abbr"])
        return timezone(timedelta(minutes=minutes))
    return zone_named(match["city"].split()[-1]) or zone_named(match["city"])


def _offset(text: str) -> tzinfo | None:
    digits = text[1:].replace(":", "").strip()
    if not digits.isdigit():
        return None
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    if hours > 23 or minutes > 59:
        return None
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=hours, minutes=minutes))


def _int(text: str | None) -> int | None:
    return int(text) if text else None


def _month(name: str) -> int:
    # Without case the long s is an s and an i may have any dot, also to the expression that found
    # the name.
    return _MONTHS[name.translate(_ODD_LETTERS).lower()]


def _date_readings(m: re.Match[str]) -> list[When]:
    if m["y1"]:
        year, month, day, hour, minute, second = m.group("y1", "m1", "d1", "h1", "mi1", "s1")
        return [When(int(year), int(month), _int(day), _int(hour), _int(minute), _int(second))]
    if m["m2"]:
        return [When(_int(m["y2"]), _month(m["m2"]), int(m["d2"]))]
    if m["m3"]:
        return [When(_int(m["y3"]), _month(m["m3"]), int(m["d3"]))]
    if m["m4"]:
        return [When(int(m["y4"]), _month(m["m4"]))]
    if m["a5"]:
        a, b, year = int(m["a5"]), int(m["b5"]), int(m["y5"])
        orders = [(a, b)] if m["sep"] == "." else [(a, b), (b, a)]
        fits = sorted({(day, month) for day, month in orders if month <= 12})
        return [When(year, month, day, alternative=len(fits) > 1) for day, month in fits]
    tail = "6" if m["y6"] else "7"
    return [When(int(m["y" + tail]), int(m["m" + tail]), _int(m["d" + tail]))]


def _valid(when: When) -> bool:
    if when.month is not None and not 1 <= when.month <= 12:
        return False
    if when.day is None:
        return True
    try:
        date(when.year or 2000, when.month or 1, when.day)
    except ValueError:
        return False
    return True


def _names_a_month(lowered: str) -> bool:
    """Whether a text may hold the name of a month."""
    return holds_any(lowered, _MONTH_PARTS)


def _dates(text: str, *, named: bool) -> Iterator[re.Match[str]]:
    """Yield what ``_DATE.finditer(text)`` does.

    Every date holds a digit, and digits are rarer than the letters a month may begin with: so the
    text is searched for digits, and a month is looked for before them. ``named`` False says that
    no month is named anywhere.
    """
    position = 0
    for sign in (_NAMED_DATE if named else _DIGIT_DATE).finditer(text):
        start = sign.start()
        if start < position:
            continue
        match = None
        if named and text[start - 1 : start] in _BLANKS:
            month = _month_before(text, position, start - 1)
            match = _DATE.match(text, month) if month is not None else None
        match = match or _DATE.match(text, start)
        if match:
            yield match
            position = match.end()


def _month_before(text: str, position: int, end: int) -> int | None:
    """Where the name of a month begins that stands directly before ``end``."""
    first = max(position, end - _LONGEST_MONTH)
    tail = text[max(first, end - 6) : end]
    if tail.isascii() and not tail.lower().rstrip(".,").endswith(_MONTH_ENDS):
        return None
    found = _MONTH_BEFORE.search(text, first, end)
    return found.start() if found else None


def find_times(text: str) -> Iterator[tuple[int, int, tuple[When, ...]]]:
    """Yield (start, end, readings) of every date, clock time, or both joined, in order."""
    lowered = text.lower()
    named = _names_a_month(lowered)
    if not named and not _DIGIT_SIGN.search(text):
        return
    found: list[tuple[int, int, list[When]]] = []
    taken = bytearray(len(text))
    for m in _dates(text, named=named):
        readings = [w for w in _date_readings(m) if _valid(w)]
        if readings:
            end = m.end()
            if readings[0].timed:
                end, readings = _with_zone(text, end, readings)
            found.append((m.start(), end, readings))
            taken[m.start() : end] = b"\x01" * (end - m.start())
    for m in anchored(_CAPITAL, _MONTH_ALONE, text) if named else ():
        if taken.find(1, m.start(), m.end()) < 0:
            alone = When(month=_MONTHS[m[1].lower()])
            found.append((m.start(), m.end(), [alone]))
    clocked = ":" in text or holds_any(lowered, _HALVES)
    for m in anchored(_CLOCK_SIGN, _CLOCK, text) if clocked else ():
        if taken.find(1, m.start(), m.end()) >= 0:
            continue
        hour, half = int(m["h9"] or m["h8"]), (m["ap"] or m["ap8"] or "").lower()
        if half:
            hour = hour % 12 + (12 if half[0] == "p" else 0)
        clock = When(hour=hour % 24, minute=int(m["mi9"] or 0), second=_int(m["s9"]))
        end, readings = _with_zone(text, m.end(), [clock])
        found.append((m.start(), end, readings))
    found.sort(key=lambda f: f[0])
    yield from _joined(text, found)


def may_hold(text: str, whens: Sequence[When]) -> bool:
    """Whether a folded text may state one of these times; a quick look.

    A date of digits has its year, and so no text without the year or the name of a month states
    a date. A clock time says nothing: it may be that of another zone.
    """
    if not text.isascii():
        return True
    lowered: str | None = None
    for when in whens:
        if when.timed or when.year is None or when.month is None or f"{when.year:04d}" in text:
            return True
        lowered = text.lower() if lowered is None else lowered
        if _names_a_month(lowered):
            return True
    return False


def _with_zone(text: str, end: int, readings: list[When]) -> tuple[int, list[When]]:
    match = _ZONE.match(text, end)
    zone = _zone(match)
    if match is None or zone is None:
        return end, readings
    return match.end(), [w._replace(zone=zone) for w in readings]


def _joined(
    text: str, found: list[tuple[int, int, list[When]]]
) -> Iterator[tuple[int, int, tuple[When, ...]]]:
    """Join a date and the clock time beside it into one."""
    held: tuple[int, int, list[When]] | None = None
    for item in found:
        if held is not None:
            a, b = held[2][0], item[2][0]
            gap = text[held[1] : item[0]]
            if len(gap) <= _LONGEST_GAP and a.timed != b.timed and _JOIN.fullmatch(gap):
                dates, clock = (item[2], a) if a.timed else (held[2], b)
                both = [
                    d._replace(
                        hour=clock.hour, minute=clock.minute, second=clock.second, zone=clock.zone
                    )
                    for d in dates
                ]
                end, both = _with_zone(text, item[1], both) if not b.timed else (item[1], both)
                yield held[0], end, tuple(both)
                held = None
                continue
            yield held[0], held[1], tuple(held[2])
        held = item
    if held is not None:
        yield held[0], held[1], tuple(held[2])


def read_time(text: str) -> When | None:
    """Return the one date or time that ``text`` is, or None."""
    if len(text) > 80:
        return None
    found = list(find_times(text.strip()))
    if len(found) != 1 or found[0][1] - found[0][0] < len(text.strip()) - 1:
        return None
    return found[0][2][0]
