"""Plain digits are read on a short way that gives what the long way gives."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from labelkit.grounding.numbers import NUMBER, Reading, plain_readings, readings_of


@given(st.from_regex(r"[0-9]{1,4}([.,][0-9]{1,4}){0,3}", fullmatch=True))
def test_the_short_way_reads_what_the_long_way_reads(core: str) -> None:
    match = NUMBER.fullmatch(core)
    assert match is not None
    assert plain_readings(core) == readings_of(match)


def test_a_number_in_thousands() -> None:
    assert plain_readings("1,234,567.80") == (
        Reading(Decimal("1234567.80"), Decimal("0.01"), len("123456780")),
    )
    # No group of thousands begins with 0.
    assert plain_readings("0,234.5") == ()
