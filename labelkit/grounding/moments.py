"""The very date or time that is wanted, written in ways that are not read for themselves.

Looked for only where the answer holds it in no common writing: a compact date (``20260419``), a
month in another language (``28. Februar 2027``), a clock time apart from its date, ``noon``, or
``14\u664230\u5206``. Nothing here finds dates; it confirms one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from labelkit.grounding.answer import Answer
from labelkit.grounding.spoken_times import spoken_times
from labelkit.grounding.times import When

_MONTHS = (
    "january|januari?|janvier|enero|gennaio|janeiro|stycznia",
    "february|februari?|f\u00e9vrier|febrero|febbraio|fevereiro",
    "march|m\u00e4rz|mars|marzo|maart|mar\u00e7o|marts|marca",
    "april|avril|abril|aprile",
    "may|mai|mayo|maggio|mei|maio|maj",
    "june|juni|juin|junio|giugno|junho",
    "july|juli|juillet|julio|luglio|julho",
    "august|ao\u00fbt|agosto|augustus|augusti",
    "september|septembre|septiembre|settembre|setembro",
    "october|oktober|octobre|octubre|ottobre|outubro",
    "november|novembre|noviembre|novembro",
    "december|dezember|d\u00e9cembre|diciembre|dicembre|dezembro|desember",
)
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third",
    "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth",
    "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
_ZONE_TOLD = re.compile(r"utc|gmt|\b[a-z]{2,4}t\b|time\b|\u6642\u9593|uhr|local|lokal|mez|mesz")


@lru_cache(maxsize=256)
def _date_expression(year: int, month: int, day: int) -> re.Pattern[str]:
    names = _MONTHS[month - 1]
    return re.compile(
        rf"(?<![\d.])(?:{year:04d}{month:02d}{day:02d}(?!\d)"
        rf"|(?:0?{day}(?:\.|er|\u00ba|st|nd|rd|th)?|\b{_ORDINALS[day - 1]}) ?(?:of |de )?"
        rf"(?:{names}),? (?:de |del )?{year}\b)",
        re.IGNORECASE,
    )


def other_dates(local: When, text: str) -> list[tuple[int, int]]:
    """Places where the day of ``local`` is written compactly, or in another language."""
    if not (local.year and local.month and local.day) or str(local.year) not in text:
        return []
    expression = _date_expression(local.year, local.month, local.day)
    return [m.span() for m in expression.finditer(text)]


@lru_cache(maxsize=256)
def _clock_expression(hour: int, minute: int) -> re.Pattern[str]:
    half, twelve = ("p" if hour >= 12 else "a"), hour % 12 or 12
    part = "morning" if hour < 12 else "(?:afternoon|evening|night)"
    ways = [
        rf"0?{twelve}[.:]{minute:02d} ?{half}\.?m\b",
        rf"0?{twelve}(?:[.:]{minute:02d}){'?' if not minute else ''} in the {part}",
        rf"0?{hour}\u6642(?:0?{minute}\u5206){'?' if not minute else ''}(?![\d\u534a])",
        rf"0?{hour}[.:h]{minute:02d} ?(?:uhr|h\b)",
    ]
    if not minute:
        ways += [rf"0?{hour} ?(?:uhr|h\b)", rf"0?{twelve} ?{half}\.?m\b"]
    if minute == 0 and hour in {0, 12}:
        ways.append("(?:high )?noon" if hour else "midnight")
    return re.compile(rf"(?<![\d.:])(?:{'|'.join(ways)})", re.IGNORECASE)


def apart(
    local: When, given: When, asked: bool, answer: Answer, dates: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Places of the clock time of ``local`` where its day is told elsewhere, and no other day is.

    Args:
        local: the wanted time on the clock that is asked for.
        given: the wanted time as it was given.
        asked: whether a certain clock is asked for.
        answer: the prepared answer.
        dates: other writings of the day, already found.
    """
    told = list(dates)
    clocks: list[tuple[int, int]] = []
    for value in answer.values:
        for when in value.whens:
            if when.dated and not when.agrees(local._replace(hour=None, minute=None, second=None)):
                return []
            if when.dated and when.day and when.month:
                told.append((value.start, value.end))
            if when.timed and not _on_that_clock(when, local):
                return []
            if when.timed:
                clocks.append((value.start, value.end))
    if not told:
        return []
    clocks += [
        m.span()
        for m in _clock_expression(local.hour or 0, local.minute or 0).finditer(answer.lower)
    ]
    clocks += [
        (start, end)
        for start, end, hour, minute in spoken_times(answer.lower)
        if (hour, minute) == (local.hour, local.minute or 0)
    ]
    zoned = not asked and given.zone is not None
    if not clocks or (zoned and not _ZONE_TOLD.search(answer.lower)):
        return []
    return told + clocks


def _on_that_clock(when: When, local: When) -> bool:
    """Whether a clock time is the wanted one, and of no other zone."""
    if (when.hour, when.minute or 0) != (local.hour, local.minute or 0):
        return False
    if when.zone is None or local.zone is None:
        return True
    full = when._replace(year=local.year, month=local.month, day=local.day)
    return full.instant() == local._replace(second=when.second).instant()
