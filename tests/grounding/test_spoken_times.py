"""Clock times in words; every expected time is said in the case."""

from __future__ import annotations

import pytest

from labelkit.grounding.spoken_times import spoken_times


@pytest.mark.parametrize(
    ("text", "hour", "minute"),
    [
        ("half past seven in the evening", 19, 30),
        ("quarter to nine at night", 20, 45),
        ("a quarter past nine in the morning", 9, 15),
        ("ten minutes before six in the morning", 5, 50),
        ("20 past 4 in the afternoon", 16, 20),
        ("ten o'clock in the evening", 22, 0),
        ("10 in the evening", 22, 0),
        ("7.45 in the morning", 7, 45),
        ("seven thirty in the evening", 19, 30),
        ("twelve at night", 0, 0),
        ("three at night", 3, 0),
        ("five to twelve in the morning", 11, 55),
        ("five to one in the afternoon", 12, 55),
    ],
)
def test_a_time_with_its_part_of_the_day(text: str, hour: int, minute: int) -> None:
    start = len("it opens at ")
    assert list(spoken_times(f"it opens at {text}, daily")) == [
        (start, start + len(text), hour, minute)
    ]


@pytest.mark.parametrize(
    "text", ["half past seven", "ten o'clock", "13 in the evening", "7 tickets in the morning"]
)
def test_what_may_be_either_half_of_the_day_is_not_read(text: str) -> None:
    assert list(spoken_times(text)) == []
