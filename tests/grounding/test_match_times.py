"""Dates, clock times and durations that are wanted, in the ways of writing that state them."""

from __future__ import annotations

import pytest

from labelkit.domain.task import KeyValue
from labelkit.grounding.match import match_value, read_answer
from labelkit.grounding.moments import other_dates
from labelkit.grounding.times import When

TO_WAIT = KeyValue(type="duration", value=95, unit="min", path="$.wait_min")  # 60 + 35 minutes
LEAVES = KeyValue(type="datetime", value="2026-04-19T14:30:00", path="$.leaves")
DUE = KeyValue(type="datetime", value="2027-02-28", path="$.due")


@pytest.mark.parametrize(
    ("key", "answer", "verdict"),
    [
        (TO_WAIT, "It takes 95 minutes.", "match"),
        (TO_WAIT, "It takes 1 h 35 min.", "match"),
        (TO_WAIT, "It takes 5700 seconds.", "match"),  # 95 * 60
        (TO_WAIT, "wait (min): 95", "match"),
        (TO_WAIT, "It takes 1:35 h.", "match"),
        (TO_WAIT, "It takes 1:35.", "unsure"),
        (TO_WAIT, "It takes 90 minutes.", "no"),
        (TO_WAIT, "It takes ninety minutes.", "no"),
        (TO_WAIT, "It takes ninety-five minutes.", "match"),
        (LEAVES, "It leaves on 19 April 2026 at 14:30.", "match"),
        (LEAVES, "It leaves on 19 April 2026. Be there before 2:30 pm.", "match"),
        (LEAVES, "It leaves on 19 April 2026 at 15:30.", "no"),
        (LEAVES, "On 19 April 2026; the gate opens at 13:10.", "no"),
        (DUE, "Due on 28 February 2027.", "match"),
        (DUE, "F\u00e4llig am 28. Februar 2027.", "match"),
        (DUE, "Due 20270228.", "match"),
        (DUE, "Due on 27 February 2027.", "no"),
    ],
)
def test_what_states_a_time(key: KeyValue, answer: str, verdict: str) -> None:
    assert match_value(key, read_answer(answer)).verdict == verdict


def test_other_writings_of_a_day() -> None:
    day = When(2026, 4, 19)
    assert other_dates(day, "filed as 20260419.") == [(9, 17)]
    assert other_dates(day, "filed as 120260419 or 202604190") == []
    assert other_dates(day, "am 19. april 2026") == [(3, 17)]
    assert other_dates(day, "am 18. april 2026") == []
    assert other_dates(When(2026, 4), "20260419") == []
