"""Clock times as they are spoken: ``half past seven in the evening``, ``quarter to nine at night``.

Read only where an answer tells the wanted day and its time in no digits with a colon. Without the
part of the day a spoken time may be either half of it, so nothing is read then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from labelkit.grounding.spelled import NUMBER_WORDS

_HOURS = {word: number for number, word in enumerate(NUMBER_WORDS[:13]) if number}
_MINUTES = {
    "five": 5, "ten": 10, "quarter": 15, "a quarter": 15, "fifteen": 15, "twenty": 20,
    "twenty-five": 25, "twenty five": 25, "half": 30, "thirty": 30,
}  # fmt: skip
_WORD = "|".join(sorted(_HOURS, key=len, reverse=True))
_SPAN = "|".join(sorted(_MINUTES, key=len, reverse=True))
_SPOKEN = re.compile(
    rf"\b(?:(?P<span>{_SPAN}|\d{{1,2}})(?: minutes)? (?P<side>past|after|to|before) )?"
    rf"(?P<hour>{_WORD}|1[0-2]|[1-9])(?:[:.](?P<digits>[0-5]\d)|[ -](?P<words>fifteen|thirty))?"
    r"(?: o'clock)?,? (?:in the (?P<part>morning|afternoon|evening)|at (?P<night>night))\b"
)


def spoken_times(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield (start, end, hour, minute) of the spoken times in a folded, lower-cased text."""
    for match in _SPOKEN.finditer(text):
        span = match["span"]
        past = 0
        if span:
            past = _MINUTES[span] if span in _MINUTES else int(span)
        past += int(match["digits"] or _MINUTES.get(match["words"] or "", 0))
        hour = _HOURS[match["hour"]] if match["hour"] in _HOURS else int(match["hour"])
        late = match["part"] in {"afternoon", "evening"} or (match["night"] and 6 <= hour < 12)
        # The part of the day is that of the time itself: five to twelve in the morning.
        minutes = (hour % 12 * 60 + (-past if match["side"] in {"to", "before"} else past)) % 720
        yield match.start(), match.end(), minutes // 60 + (12 if late else 0), minutes % 60
