"""Quotes resolve word for word, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.grounding.evidence import resolve_quote

ANSWER = "The rate is 47.5,\nup from 7.5 (cafe\u0301\u00a0price: \u2014 \uff17 \u201cfine\u201d)."
PARTS = {"payload": "rate 47.5", "answer": ANSWER}


def where(quote: str, part: str | None = "answer") -> str | None:
    evidence = resolve_quote(quote, PARTS, part)
    assert evidence.quote == quote
    if evidence.start is None:
        assert evidence.end is None
        return None
    return PARTS[evidence.part][evidence.start : evidence.end]


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("The rate is 47.5", "The rate is 47.5"),
        ("47.5, up from", "47.5,\nup from"),
        ("  47.5,   up\tfrom ", "47.5,\nup from"),
        ("caf\u00e9 price", "cafe\u0301\u00a0price"),
        ("up\u200b from 7.5", "up from 7.5"),
        ("\u2014 7", "\u2014 \uff17"),
        ("\u201cfine\u201d", "\u201cfine\u201d"),
    ],
)
def test_white_space_and_unicode_form_may_differ(quote: str, found: str) -> None:
    assert where(quote) == found


@pytest.mark.parametrize(
    "quote",
    ["", "   ", "\u200b", "the rate is", "The rate ... 7.5", "The rate \u2026 7.5", '"fine"', "- 7",
     "The rate was 47.5", "rate is 47,5"],
)  # fmt: skip
def test_nothing_looser(quote: str) -> None:
    assert where(quote) is None


def test_a_number_is_preferred_to_a_piece_of_a_number() -> None:
    evidence = resolve_quote("7.5", PARTS, "answer")
    assert evidence.start == ANSWER.index(" 7.5") + 1


def test_only_the_named_part_supports_the_claim() -> None:
    assert where("up from", "payload") is None
    assert where("up from", None) == "up\u0020from"
    assert resolve_quote("up from", PARTS, "nowhere").part == "nowhere"
    assert not resolve_quote("up from", PARTS, "nowhere").resolved


@settings(deadline=None)
@given(st.text(min_size=1), st.text(), st.text())
def test_every_literal_piece_is_found(quote: str, before: str, after: str) -> None:
    text = before + quote + after
    evidence = resolve_quote(quote, {"answer": text})
    if quote.strip():
        assert text[evidence.start : evidence.end] == quote.strip()


@settings(deadline=None)
@given(st.text(max_size=40), st.integers(0, 40), st.integers(1, 12))
def test_a_folded_piece_is_found_at_its_place(text: str, start: int, length: int) -> None:
    piece = text[start : start + length]
    if not piece.strip():
        return
    spread = "\n \u200b".join(piece.split(" "))
    evidence = resolve_quote(spread, {"answer": f"x {text} y"})
    if evidence.start is not None:
        assert 0 <= evidence.start < evidence.end <= len(text) + 4
    if piece.isascii() and piece.isprintable():
        assert evidence.resolved
