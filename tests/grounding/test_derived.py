"""Which computation a value is the result of; every result is worked out in the test."""

from __future__ import annotations

from decimal import Decimal

import pytest

from labelkit.grounding.arithmetic import compute
from labelkit.grounding.derived import apart, at_a_rate, exact_result, rates_of
from labelkit.grounding.given import GivenText
from labelkit.grounding.values import scan

DAY = 86_400


def test_the_time_between_two_given_days() -> None:
    texts = [GivenText("2026-03-01"), GivenText("2026-03-04"), GivenText("of lane 7")]
    assert apart(texts, Decimal(3 * DAY))
    assert not apart(texts, Decimal(2 * DAY))
    assert not apart(texts[:1], Decimal(0))


def test_of_many_days_some_two_are_always_so_far_apart() -> None:
    texts = [GivenText(f"2026-03-{day:02d}") for day in range(1, 8)]
    assert apart(texts[:6], Decimal(DAY))
    assert not apart(texts, Decimal(DAY))


def test_given_percentages_are_rates() -> None:
    values = scan("15% of 80 is 12, and 20% is my guess")
    assert [v.text for v in values] == ["15%", "80", "12", "20%"]
    assert rates_of(values, [False, False, True, True]) == [15.0]


@pytest.mark.parametrize(
    ("written", "how"),
    [
        ("12", "percentage"),  # 15% of 80
        ("92", "percentage"),  # 80 + 12
        ("68", "percentage"),  # 80 - 12
        ("12.4", None),
        ("80", None),
    ],
)
def test_a_percentage_of_a_number(written: str, how: str | None) -> None:
    (value,) = scan(written)
    assert at_a_rate(value, [80.0], [15.0]) == how
    assert at_a_rate(value, [80.0], []) is None
    assert at_a_rate(value, [80.0] * 13, [15.0]) is None


def test_a_short_result_counts_where_it_is_exact() -> None:
    few = compute(((5.2, "$.now"), (4.8, "$.before")))
    up, near, none, points = scan("0.4 0.5 0 0.4%")
    assert exact_result(up, few) == "difference"  # 5.2 - 4.8
    assert exact_result(near, few) is None
    assert exact_result(none, few) is None
    assert exact_result(points, few) == "difference"
    many = compute(tuple((n * n + 0.25, f"$.f{n}") for n in range(12)))
    assert exact_result(up, many) is None
