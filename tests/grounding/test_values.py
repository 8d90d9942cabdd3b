"""Typed values: what they read as, where they stand, and that hostile input costs nothing."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.grounding.match import read_answer
from labelkit.grounding.values import Value, find_values


def only(text: str) -> Value:
    (value,) = find_values(text)
    assert text[value.start : value.end] == value.text
    return value


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1001", "1001"), ("$1,001.00", "1001"), ("1.234.567,8", "1234567.8"),
        ("12,34,567", "1234567"), ("1\u00a0234\u00a0567", "1234567"), ("1 234 567", "1234567"),
        ("1'234.50", "1234.5"), ("3.4T", "3.4e12"), ("3.4 trillion", "3.4e12"),
        ("2.5 crore", "2.5e7"), ("3 lakh", "3e5"), ("47 bn", "47e9"), ("12 million", "12e6"),
        ("6.02e-07", "6.02e-7"), ("6.02\u00d710\u207b\u2077", "6.02e-7"),
        ("6.02 x 10^-7", "6.02e-7"), ("$(2.35) million", "-2350000"),
        ("(2.35) million", "-2350000"),
        ("\u221217.8", "-17.8"), ("minus 17.8", "-17.8"), ("-$5.25", "-5.25"),
        ("\uff14\uff17\uff0e\uff12", "47.2"), ("0,125", "0.125"), ("12,5", "12.5"), (".5", "0.5"),
    ],
)  # fmt: skip
def test_numbers_in_every_dress(text: str, number: str) -> None:
    value = only(text)
    assert value.kind == "number"
    assert value.readings[0].value == Decimal(number)


def test_an_open_grouping_keeps_both_readings() -> None:
    assert [r.value for r in only("1,001").readings] == [1001, Decimal("1.001")]
    assert [r.value for r in only("1.001").readings] == [Decimal("1.001"), 1001]
    assert [r.sure for r in only("1.001").readings] == [True, False]
    assert {r.value for r in only("(47.2)").readings} == {Decimal("47.2"), Decimal("-47.2")}


@pytest.mark.parametrize(
    ("text", "kind", "canonical"),
    [
        ("ACCT-40917-B", "identifier", "acct40917b"),
        ("CVE-2031-4417", "identifier", "cve20314417"),
        ("No. 19-HV-4471", "identifier", "19hv4471"),
        ("\u00a7 418", "citation", "section 418"),
        ("Section 418", "citation", "section 418"),
        ("Sec. 512(c)(1)", "citation", "section 512(c)(1)"),
    ],
)
def test_names_with_digits_are_no_numbers(text: str, kind: str, canonical: str) -> None:
    value = only(text)
    assert (value.kind, value.canonical) == (kind, canonical)
    assert not value.readings


@pytest.mark.parametrize(
    "text",
    ["2026-05-04T08:30:00+09:00", "4 May 2026 at 08:30 Tokyo time", "May 4, 2026, 8:30 am JST",
     "2026-05-03 23:30 UTC", "08:30 JST on 4 May 2026", "3 May 2026 23:30 GMT",
     "May 3rd, 2026 at 7:30 PM EDT"],
)  # fmt: skip
def test_one_instant_in_many_zones(text: str) -> None:
    (when,) = only(text).whens
    instant = when.instant()
    assert instant is not None
    assert instant.isoformat() == "2026-05-03T23:30:00+00:00"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5h 47m", 20820), ("347 minutes", 20820), ("5 hours and 47 minutes", 20820),
     ("PT5H47M", 20820), ("2 days", 172800), ("90 s", 90), ("1.5 hours", 5400)],
)  # fmt: skip
def test_durations(text: str, seconds: int) -> None:
    value = only(text)
    assert value.seconds is not None
    assert value.seconds.value == seconds


@settings(deadline=None)
@given(st.integers(-(10**15), 10**15), st.integers(0, 6))
def test_every_plain_decimal_reads_as_itself(whole: int, places: int) -> None:
    number = Decimal(whole).scaleb(-places)
    for text in (f"x {number:f} y", f"x {number:,f} y"):
        values = [v for v in find_values(text) if v.kind == "number"]
        assert len(values) == 1
        assert number in {r.value for r in values[0].readings}
        assert values[0].readings[0].value == number or "," in text


HOSTILE = {
    "digits": "9" * 10_000,
    "grouped": "1," * 5_000,
    "dots": "1." * 5_000,
    "brackets": "(" * 5_000 + "1" + ")" * 5_000,
    "signs": "-+" * 5_000,
    "money": "$" * 10_000,
    "spaces": "1 " * 5_000,
    "triples": "123 " * 2_500,
    "dates": "2026-05-" * 1_250,
    "times": "08:30:" * 1_600,
    "months": "May " * 2_500,
    "names": "A-1_" * 2_500,
    "long name": "a" * 5_000 + "-" * 5_000,
    "sections": "\u00a7" * 10_000,
    "bars": "|1" * 5_000,
    "marks": "e\u0301" * 5_000,
    "zalgo": "e" + "\u0301\u0316" * 5_000,
    "exponents": "1e9" * 3_300,
    "zones": "08:30 Tokyo " * 800,
    "surrogates": "\ud800" * 10_000,
    "nul": "\x001" * 5_000,
    "superscripts": "10\u207b\u2077" * 2_500,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_end(text: str) -> None:
    for value in find_values(text):
        assert 0 <= value.start < value.end <= len(text)
    read_answer(text)


ALPHABET = (
    "0123456789.,-+$%()[]|\u00a7:/ \n\t'\"eExTZkMBmhd"
    "\u20ac\u00a3\u2212\u00a0\u2009\uff10\u207b\u0301"
    "\ud800\x00\u202eMayJanSection<think>&*_#~"
)


def test_thousands_of_random_texts() -> None:
    draw = random.Random(0)
    for _ in range(2_000):
        text = "".join(draw.choices(ALPHABET, k=draw.randint(1, 120)))
        last = 0
        for value in find_values(text):
            assert last <= value.start < value.end <= len(text)
            last = value.start


@settings(deadline=None)
@given(st.text(max_size=200))
def test_total_over_every_text(text: str) -> None:
    for value in find_values(text):
        assert value.text == text[value.start : value.end]
