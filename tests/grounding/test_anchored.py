"""The fast ways of searching find exactly what the plain expressions find."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.grounding import durations, free_numbers, stance, times, values, visible
from labelkit.grounding.folding import anchored, has_digit
from labelkit.grounding.numbers import NUMBER
from labelkit.grounding.textcalls import _MARKERS, calls_in_text

PIECES = st.sampled_from(
    """5 12 2026 2026-04-05 \u0663 \u06632 5\u0663 A5 _7 .5 1.2.3 05/04/2026 2026/4/5
    2026\u5e744\u67085\u65e5 March mar May sept se\u017ft \u017fept OCT jan July December
    st th of 14:30 2:05:09 3pm 4 a.m. PM PT2H30M PT5 pt3m 3h days d min weeks minus
    negative MINUS -5 +5 $ USD usd \u20ac JPY ( ) million k , . : ; - / loss fell \u0131
    \u017fhed but however and so yet <think> </THINK> <seed:think> [think] [/thinking]
    \u25c1think\u25b7 <th\u0130nk> <thin\u212a> </rea\u017foning > <|end_thinking|> <| < [
    think { } <function=look> look( Action: <tool_call> ``` "name" "arguments":""".split()  # noqa: SIM905 (pieces read best as words)
)  # fmt: skip
TEXTS = st.lists(
    st.tuples(PIECES | st.text(max_size=3), st.sampled_from(["", " ", "  ", "\n", "\u00a0"])),
    max_size=12,
).map(lambda pairs: "".join(piece + gap for piece, gap in pairs))


@pytest.mark.parametrize(
    ("sign", "pattern"),
    [
        (times._CAPITAL, times._MONTH_ALONE),
        (times._CLOCK_SIGN, times._CLOCK),
        (durations._DURATION_START, durations._DURATION),
        (visible._TAG_SIGN, visible._TAGS),
        (visible._BAR_SIGN, visible._CHANNEL_END),
    ],
)
@settings(deadline=None)
@given(text=TEXTS)
def test_a_sign_stands_where_a_match_begins(
    sign: re.Pattern[str], pattern: re.Pattern[str], text: str
) -> None:
    plain = [m.span() for m in pattern.finditer(text)]
    assert [m.span() for m in anchored(sign, pattern, text)] == plain


@settings(deadline=None)
@given(TEXTS)
def test_dates_are_found_by_their_digits(text: str) -> None:
    plain = [m.span() for m in times._DATE.finditer(text)]
    named = times._names_a_month(text.lower())
    assert [m.span() for m in times._dates(text, named=named)] == plain


@settings(deadline=None)
@given(TEXTS)
def test_a_text_with_a_date_or_clock_holds_a_sign_of_one(text: str) -> None:
    dated = times._DATE.search(text) or times._MONTH_ALONE.search(text)
    if dated or times._CLOCK.search(text):
        assert times._names_a_month(text.lower()) or times._DIGIT_SIGN.search(text)


@settings(deadline=None)
@given(TEXTS)
def test_identifiers_are_found_by_their_digits(text: str) -> None:
    whole = [m for m in values._TOKEN.finditer(text) if values._is_identifier(text, m)]
    signed = "No" in text or values._TOKEN_SIGN.search(text)
    plain = [m.span() for m in whole] if signed else []
    assert [(v.start, v.end) for v in values._identifiers(text)] == plain


@settings(deadline=None)
@given(TEXTS)
def test_the_number_at_a_digit_is_the_next_number(text: str) -> None:
    digit = re.search(r"\d", text)
    if digit:
        fast = free_numbers._number_at(text, 0, digit.start())
        plain = NUMBER.search(text, max(0, digit.start() - 20))
        assert (fast and fast.span()) == (plain and plain.span())


@settings(deadline=None)
@given(TEXTS)
def test_a_text_without_tag_words_holds_no_tag(text: str) -> None:
    if visible._TAGS.search(text):
        assert visible._may_hold_tag(text)


@settings(deadline=None)
@given(TEXTS)
def test_the_cheap_look_for_a_loss_misses_none(text: str) -> None:
    assert stance.tells_a_loss(text, len(text)) is bool(stance._LOSS.search(text[-45:]))


@settings(deadline=None)
@given(TEXTS)
def test_a_call_in_text_needs_a_marker_or_a_name(text: str) -> None:
    if calls_in_text(text, ("look",)):
        assert _MARKERS.search(text) or "look(" in text


@settings(deadline=None)
@given(st.text(max_size=5), st.integers(0, 100), st.sampled_from(["", "7", "\u0663", "\u00b2"]))
def test_has_digit(text: str, filler: int, digit: str) -> None:
    whole = "x" * filler + text + digit
    assert has_digit(whole) is (re.search(r"\d", whole) is not None)


def test_a_long_s_in_a_month_is_read() -> None:
    """Without case, the long s is an s: the name that was found must also be known."""
    found = [whens[0] for _, _, whens in times.find_times("2026-01-01 and 5 \u017fept 2020")]
    assert [(w.year, w.month, w.day) for w in found] == [(2026, 1, 1), (2020, 9, 5)]


def test_an_i_with_any_dot_in_a_month_is_read() -> None:
    """Without case an i may have a dot or none, which no list of months holds."""
    for name in ("apr\u0131l", "APR\u0130L"):
        ((start, end, whens),) = times.find_times(f"on 3 {name} 2020")
        assert (start, end) == (3, 15)
        assert (whens[0].year, whens[0].month, whens[0].day) == (2020, 4, 3)


def test_a_long_run_without_spaces_yields_its_first_values() -> None:
    text = "9," * 30_000
    found = values.find_values(text)
    assert len(found) >= values.MOST_VALUES
    assert [v.text for v in found[:3]] == ["9", "9", "9"]
