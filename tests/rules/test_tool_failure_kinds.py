"""Properties for every kind of value: layout never matters, a changed digit always does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labelkit.domain.task import KeyValue
from labelkit.rules.registry import classifier
from tests.rules.rows import RUBRIC, required

RULE = classifier("tool_failure")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
RAISED = "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
FIRST, LAST = datetime(2000, 1, 1), datetime(2060, 1, 1)  # noqa: DTZ001 (Hypothesis adds the zone)


class Kind(NamedTuple):
    """How values of a kind are drawn, held in a payload, and written.

    ``other`` changes a value a little, so that nothing that is written of it can mean the first.
    """

    values: st.SearchStrategy[Any]
    key: Callable[[Any], KeyValue]
    ways: Callable[[Any], list[str]]
    other: Callable[[Any, int], Any]


def ordinal(day: int) -> str:
    tail = "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{tail}"


def dates(day: date) -> list[str]:
    month, short = MONTHS[day.month - 1], MONTHS[day.month - 1][:3]
    return [
        f"{day:%Y-%m-%d}", f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}",
        f"{short} {day.day}, {day.year}", f"{day.day} {short}. {day.year}", f"{day:%Y/%m/%d}",
        f"{day:%d.%m.%Y}", f"{month} {ordinal(day.day)}, {day.year}",
        f"{day.day}-{short}-{day.year}", f"the {ordinal(day.day)} of {month} {day.year}",
        f"{day.year}\u5e74{day.month}\u6708{day.day}\u65e5",
    ]  # fmt: skip


def instants(moment: datetime) -> list[str]:
    here = moment.astimezone(ZoneInfo("Asia/Tokyo"))
    month, half = MONTHS[here.month - 1], here.strftime("%I:%M %p").lstrip("0")
    return [
        f"{here.day} {month} {here.year} at {here:%H:%M} Tokyo time",
        f"{month} {here.day}, {here.year} at {half} JST",
        f"{here:%Y-%m-%dT%H:%M}:00+09:00",
        f"{here:%H:%M} (Tokyo time) on {here.day} {month} {here.year}",
        f"{here:%Y-%m-%d %H:%M} UTC+9",
    ]


def minutes(amount: int) -> list[str]:
    hours, rest = divmod(amount, 60)
    return [
        f"{amount} minutes", f"{amount} min", f"{hours}h {rest}m", f"{hours} h {rest} min",
        f"{hours} hours and {rest} minutes", f"PT{hours}H{rest}M", f"{amount * 60:,} seconds",
    ]  # fmt: skip


def shares(share: Decimal) -> list[str]:
    percent, points = share * 100, share * 10_000
    return [
        f"{share:f}", f"{percent:f}%", f"{percent:f} percent", f"{points:f} basis points",
        f"{points:f} bps", f"{percent:f} per cent",
    ]  # fmt: skip


def money(amount: Decimal) -> list[str]:
    us = f"{amount:,f}"
    european = us.translate(str.maketrans(",.", ".,"))
    return [
        f"\u20ac{us}", f"EUR {us}", f"{us} EUR", f"{us} euros", f"{european} \u20ac",
        f"{european} EUR", us.replace(",", "\u00a0"), f"{amount.scaleb(-3):f} thousand euros",
        f"\u20ac{amount.scaleb(-6):f} million", f"\u20ac{amount.scaleb(-6):f}M",
    ]  # fmt: skip


def losses(amount: Decimal) -> list[str]:
    size = f"{-amount:,f}"
    return [
        f"-{size}", f"\u2212{size}", f"-${size}", f"\u2212${size}", f"minus {size}", f"$({size})",
        f"(${size})", f"({size})", f"a loss of ${size}", f"a deficit of {size}", f"\uff0d{size}",
    ]  # fmt: skip


def grouped_in_india(number: Decimal) -> list[str]:
    digits = f"{number:f}"
    head, tail = digits[:-3], digits[-3:]
    pieces = []
    while head:
        pieces.insert(0, head[-2:])
        head = head[:-2]
    return [",".join((*pieces, tail)), "\u20b9" + ",".join((*pieces, tail)), digits,
            f"{number.scaleb(-5):f} lakh", f"{number.scaleb(-7):f} crore",
            "".join(chr(0xFF10 + int(d)) for d in digits)]  # fmt: skip


def tiny(number: Decimal) -> list[str]:
    mantissa, exponent = f"{number:e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", RAISED))
    power = int(exponent)
    return [
        f"{number:f}", f"{mantissa}e{power}", f"{mantissa} x 10^{power}",
        f"{mantissa}\u00d710{raised}", f"{mantissa} \u00d7 10^{power}", f"{mantissa}E{power:+03d}",
    ]  # fmt: skip


def sections(text: str) -> list[str]:
    number = text.removeprefix("\u00a7 ")
    return [f"\u00a7 {number}", f"\u00a7{number}", f"Section {number}", f"Sec. {number}",
            f"section {number}"]  # fmt: skip


def names(text: str) -> list[str]:
    return [text, text.lower(), text.replace("-", " ") if text[0].isdigit() else text, f"`{text}`",
            f"**{text}**", text.replace("-", "")]  # fmt: skip


def scaled(places: int, low: int, high: int) -> st.SearchStrategy[Decimal]:
    return st.integers(low, high).map(lambda whole: Decimal(whole).scaleb(-places))


def bumped(number: Decimal, by: int) -> Decimal:
    """Another first, second or third digit."""
    digits = f"{number:f}"
    places = [i for i, c in enumerate(digits) if c.isdigit() and digits[: i + 1].strip("-0.")]
    place = places[by % min(3, len(places))]
    new = str(int(digits[place]) % 9 + 1)
    return Decimal(digits[:place] + new + digits[place + 1 :])


def numeric(path: str, unit: str | None = None) -> Callable[[Decimal], KeyValue]:
    return lambda value: KeyValue(type="number", value=float(value), path=path, unit=unit)


def renamed(text: str, by: int) -> str:
    places = [i for i, c in enumerate(text) if c.isdigit()]
    place = places[by % len(places)]
    return text[:place] + str(int(text[place]) % 9 + 1) + text[place + 1 :]


KINDS = {
    "date": Kind(
        st.dates(date(1990, 1, 1), date(2079, 12, 31)),
        lambda v: KeyValue(type="datetime", value=v.isoformat(), path="$.day"),
        dates,
        lambda v, by: v + timedelta(days=(1, 31, 366)[by % 3]),
    ),
    "instant": Kind(
        st.datetimes(FIRST, LAST, timezones=st.just(ZoneInfo("UTC")))
        .map(lambda v: v.replace(second=0, microsecond=0)),
        lambda v: KeyValue(type="datetime", value=f"{v:%Y-%m-%dT%H:%M}:00Z", path="$.at",
                           ask_tz="Asia/Tokyo"),
        instants,
        lambda v, by: v + timedelta(minutes=(60, 1440, 7)[by % 3]),
    ),
    "duration": Kind(
        st.integers(61, 9000).filter(lambda v: v % 60),
        lambda v: KeyValue(type="duration", value=v, path="$.duration_min", unit="min"),
        minutes,
        lambda v, by: v + (1, 60, 17)[by % 3],
    ),
    "share": Kind(
        scaled(4, 1001, 9999),
        numeric("$.share", "fraction"),
        shares,
        bumped,
    ),
    "money": Kind(scaled(2, 100_001, 99_999_999), numeric("$.fee_eur", "EUR"), money, bumped),
    "loss": Kind(
        scaled(1, 10_001, 9_999_999).map(lambda v: -v),
        numeric("$.net_result", "USD"),
        losses,
        lambda v, by: -bumped(-v, by),
    ),
    "Indian": Kind(st.integers(100_000, 999_999_999).map(Decimal), numeric("$.cases"),
                   grouped_in_india, bumped),
    "tiny": Kind(scaled(12, 10_001, 99_999), numeric("$.limit"), tiny, bumped),
    "citation": Kind(
        st.builds(lambda a, b: f"\u00a7 {a}({b})", st.integers(100, 9999), st.sampled_from("abcd")),
        lambda v: KeyValue(type="citation", value=v, path="$.provision"),
        sections,
        renamed,
    ),
    "identifier": Kind(
        st.builds(lambda a, b: f"{a}-{b}", st.sampled_from(["QX", "REF", "AB"]),
                  st.integers(10_000, 999_999)),
        lambda v: KeyValue(type="identifier", value=v, path="$.ref"),
        names,
        renamed,
    ),
}  # fmt: skip


def label(answer: str, key: KeyValue) -> str | None:
    payload = {"lane": "north", (key.path or "").removeprefix("$."): key.value}
    return RULE(RUBRIC, *required(answer, payload, key)).label


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_value_in_any_dress_stays_correct(name: str, data: st.DataObject) -> None:
    kind = KINDS[name]
    value = data.draw(kind.values)
    way = data.draw(st.sampled_from(kind.ways(value)))
    frame = data.draw(st.sampled_from(["It is {} here.", "Result: {}", "| what | {} |", "{}"]))
    assert label(frame.format(way), kind.key(value)) == "correct"


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_another_value_in_any_dress_never_is(name: str, data: st.DataObject) -> None:
    kind = KINDS[name]
    value = data.draw(kind.values)
    other = kind.other(value, data.draw(st.integers(0, 9)))
    assume(other != value)
    way = data.draw(st.sampled_from(kind.ways(other)))
    assert label(f"It is {way} here.", kind.key(value)) != "correct"


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_value_from_nowhere_beside_it_is_caught(name: str, data: st.DataObject) -> None:
    kind = KINDS[name]
    value = data.draw(kind.values)
    way = data.draw(st.sampled_from(kind.ways(value)))
    details = ["The docket is RZ-7741-88.", "It cost $61,377.19 in all."]
    if name != "date":
        details.append("It began on 3 June 1971.")
    invented = data.draw(st.sampled_from(details))
    assert label(f"It is {way}. {invented}", kind.key(value)) == "output_fabrication"


@settings(max_examples=60, deadline=None)
@given(st.lists(scaled(1, 101, 9999), min_size=2, max_size=4, unique=True))
def test_sums_and_shares_of_a_list_are_no_inventions(numbers: list[Decimal]) -> None:
    rows = [{"n": f"item {i}", "q": float(n)} for i, n in enumerate(numbers)]
    keys = [
        KeyValue(type="number", value=float(n), path=f"$.rows[{i}].q")
        for i, n in enumerate(numbers)
    ]
    total = sum(numbers, Decimal(0))
    stated = ", ".join(f"item {i}: {n:f}" for i, n in enumerate(numbers))
    answer = f"{stated}; together {total:f}, on average {total / len(numbers):.2f}."
    ruling = RULE(RUBRIC, *required(answer, {"rows": rows}, *keys))
    assert ruling.label == "correct"
    assert total in numbers or "derived_values" in ruling.flags


@settings(max_examples=60, deadline=None)
@given(st.permutations(["warfarin", "aspirin", "ibuprofen"]), st.integers(0, 2))
def test_a_set_in_any_order_and_a_list_only_in_its_own(order: list[str], gone: int) -> None:
    wanted = ["warfarin", "aspirin", "ibuprofen"]
    payload = {"with": wanted}
    key = KeyValue(type="set", value=wanted, path="$.with")
    said = f"It interacts with {order[0]}, {order[1]} and {order[2]}."
    assert RULE(RUBRIC, *required(said, payload, key)).label == "correct"
    ordered = key.model_copy(update={"type": "list"})
    verdict = RULE(RUBRIC, *required(said, payload, ordered)).label
    assert verdict == ("correct" if order == wanted else "result_ignore")
    fewer = " and ".join(o for i, o in enumerate(order) if i != gone)
    assert RULE(RUBRIC, *required(f"Only {fewer}.", payload, key)).label == "result_ignore"


@settings(max_examples=60, deadline=None)
@given(
    st.booleans(),
    st.sampled_from(["Yes, it is listed.", "It is listed.", "listed: true", "**Yes**, listed."]),
    st.sampled_from(["No, it is not listed.", "It isn't listed.", "listed: false", "**No.**"]),
)
def test_a_boolean_is_affirmed_or_denied(wanted: bool, yes: str, no: str) -> None:
    key = KeyValue(type="boolean", value=wanted, path="$.listed")
    for text, said in ((yes, True), (no, False)):
        ruling = RULE(RUBRIC, *required(text, {"listed": wanted}, key))
        assert ruling.label == ("correct" if said is wanted else "result_ignore")


@settings(max_examples=60, deadline=None)
@given(
    scaled(1, 201, 9999),
    scaled(1, 201, 9999),
    st.sampled_from(
        ["I recalled {prior}, but the tool says {value}.", "It is {value}, not {prior}.",
         "The {prior} in your notes is outdated; it is {value}.",
         "You mentioned {prior}; the current figure is {value}."]
    ),
    st.sampled_from(
        ["It is certainly not {value}; it is {prior}.", "It is {prior}.",
         "The tool says {value}, but that is wrong; it is {prior}."]
    ),
)  # fmt: skip
def test_a_memory_beside_the_result(value: Decimal, prior: Decimal, kept: str, lost: str) -> None:
    assume(abs(value - prior) > 1)
    key = KeyValue(type="number", value=float(value), path="$.pe")
    question = f"the P/E? I had {prior}"
    for text, good in ((kept, True), (lost, False)):
        said = text.format(value=value, prior=prior)
        row = required(said, {"pe": float(value)}, key, question=question, traps=(str(prior),))
        verdict = RULE(RUBRIC, *row).label
        assert verdict == "correct" if good else verdict in {"result_ignore", None}
