"""Properties: layout never changes a label, a changed digit always does, nothing is overlooked."""

from __future__ import annotations

import random
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.domain.task import KeyValue
from labelkit.rules.registry import classifier
from tests.rules.rows import RUBRIC, required

AMOUNTS = st.builds(
    lambda whole, places: Decimal(whole).scaleb(-places),
    st.integers(10_000, 99_999_999),
    st.integers(0, 3),
)
RULE = classifier("tool_failure")


def label(answer: str, number: Decimal, **more: object) -> str | None:
    payload = {"lane": "north", "amount": float(number), **more}
    key = KeyValue(type="number", value=float(number), path="$.amount")
    trace, task = required(answer, payload, key)
    return RULE(RUBRIC, trace, task).label


def dressings(number: Decimal) -> list[str]:
    plain = f"{number:f}"
    us = f"{number:,f}"
    spaced = us.replace(",", "\u00a0")
    wide = "".join(chr(0xFF10 + int(c)) if c.isdigit() else c for c in plain)
    ways = [plain, us, f"${us}", f"USD {us}", f"**{us}**", spaced, us.replace(",", "'"), wide,
            f"{number:e}", f"{number.scaleb(-3):f} thousand", f"{number.scaleb(-6):f} million",
            f"{number.scaleb(-6):f}M"]  # fmt: skip
    if "." in us and us.count(",") >= 1:
        ways.append(us.translate(str.maketrans(",.", ".,")))
    return ways


@given(AMOUNTS, st.sampled_from(range(13)))
@settings(max_examples=150, deadline=None)
def test_a_reformatted_value_stays_correct(number: Decimal, way: int) -> None:
    ways = dressings(number)
    answer = f"The amount is {ways[way % len(ways)]} for the lane."
    assert label(answer, number) == "correct", answer


@given(AMOUNTS, st.sampled_from(range(13)), st.data())
@settings(max_examples=150, deadline=None)
def test_a_changed_digit_is_never_correct(number: Decimal, way: int, data: st.DataObject) -> None:
    digits = f"{number:f}"
    # A change behind the last digit that rounding keeps is no change of a significant digit.
    places = [i for i, c in enumerate(digits) if c.isdigit()]
    place = data.draw(st.sampled_from(places))
    other = data.draw(st.sampled_from([c for c in "123456789" if c != digits[place]]))
    changed = Decimal(digits[:place] + other + digits[place + 1 :])
    ways = dressings(changed)
    answer = f"The amount is {ways[way % len(ways)]} for the lane."
    assert label(answer, number) != "correct", answer


@given(AMOUNTS, st.integers(0, 10_000))
@settings(max_examples=100, deadline=None)
def test_an_invented_value_is_caught(number: Decimal, seed: int) -> None:
    draw = random.Random(seed)
    invented = Decimal(draw.randint(10_000_019, 99_999_989)).scaleb(-4)
    if abs(invented - number) / number < Decimal("0.01"):
        return
    answer = f"The amount is {number:,f}. The side fee is {invented:,f}."
    if any(d in f"{number:f}" for d in (f"{invented:f}",)):
        return
    assert label(answer, number) == "output_fabrication", answer


@given(AMOUNTS, AMOUNTS)
@settings(max_examples=100, deadline=None)
def test_a_derived_value_is_not(number: Decimal, other: Decimal) -> None:
    share = float(number) / float(number + other) * 100
    answer = (
        f"The amount is {number:,f}, the rest {other:,f}; in sum {number + other:,f}, "
        f"so the share is {share:.1f}%."
    )
    if share < 1:
        return
    assert label(answer, number, rest=float(other)) == "correct", answer
