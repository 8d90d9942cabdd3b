"""Numbers and durations in words; every number is worked out in the test."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.grounding import spelled
from labelkit.grounding.hints import word_heads
from labelkit.grounding.spelled import spelled_durations, spelled_values, spells_a_number


@pytest.mark.parametrize(
    ("text", "words", "number"),
    [
        ("twenty-four people", "twenty-four", 20 + 4),
        ("one hundred and five", "one hundred and five", 1 * 100 + 5),
        ("three point one four", "three point one four", Decimal("3.14")),
        ("two thousand three hundred", "two thousand three hundred", 2 * 1000 + 3 * 100),
        ("a dozen eggs", "a dozen", 12),
        ("three dozen eggs", "three dozen", 3 * 12),
        ("the tank is half full", "half", Decimal("0.5")),
        ("three-quarters of it", "three-quarters", Decimal("0.75")),
        ("\u7d041\u4e075000\u5186", "1\u4e075000", 1 * 10_000 + 5000),
        ("2\u5104", "2\u5104", 2 * 100_000_000),
    ],
)
def test_a_number_in_words(text: str, words: str, number: Decimal) -> None:
    (value,) = spelled_values(text)
    assert text[value.start : value.end] == words
    assert value.readings[0].value == number


def test_a_unit_and_a_currency_belong_to_the_number() -> None:
    (money,) = spelled_values("eighteen and a half million euros")
    assert (money.readings[0].value, money.currency) == (Decimal("18.5") * 10**6, "EUR")
    (share,) = spelled_values("five percent")
    assert (share.readings[0].value, share.unit) == (5, "percent")


@pytest.mark.parametrize(
    "text",
    ["a box", "one of them", "four twenty", "two thousand million", "often tended", "attention"],
)
def test_no_number_is_guessed(text: str) -> None:
    assert spelled_values(text) == ()


@pytest.mark.parametrize(
    ("text", "durations"),
    [
        ("three hours and ten minutes", [(3 * 3600 + 10 * 60, "s")]),
        ("an hour and a half", [(3600 + 1800, "s")]),
        ("half an hour", [(1800, "s")]),
        ("a quarter of an hour", [(900, "s")]),
        ("two years and three months", [(2 * 12 + 3, "mo")]),
        ("two hours, then after lunch two more days", [(2 * 3600, "s")]),
        ("three hours and two months", [(3 * 3600, "s"), (2, "mo")]),
    ],
)
def test_durations_in_words(text: str, durations: list[tuple[int, str]]) -> None:
    assert [(amount, base) for _, _, amount, base in spelled_durations(text)] == durations


def test_whether_a_larger_number_is_in_words() -> None:
    assert spells_a_number("about fifty of them")
    assert spells_a_number("half a million")
    assert not spells_a_number("one or two of them")


@given(st.lists(st.sampled_from(["a", "an", "of", "the", "full", *sorted(spelled._SMALL), "dozen",
    "hundred", "million", "half", "quarter", "three quarters", "third", " ", "-", ",", "5", "\u00e9"
    ]), max_size=8).map(" ".join))  # fmt: skip
def test_the_quick_look_passes_no_number_over(text: str) -> None:
    if spelled._RUN.search(text) or spelled._OTHER.search(text):
        assert not spelled._NUMBER_HEADS.isdisjoint(word_heads(text))
