"""A quick look never says no to a text that holds the wording."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.grounding import mentions, spelled, stance
from labelkit.grounding.hints import ODD_LETTERS, Hint, holds_any, word_heads

PAIRS = (
    (stance._NEGATION, stance._NEGATED),
    (stance._DENIAL, stance._DENIED),
    (stance._MEMORY, stance._REMEMBERED),
    (stance._MEMORY_AFTER, stance._REMEMBERED),
    (stance._LOSS, stance._LOST),
    (stance._IN_GENERAL, stance._GENERAL),
    (mentions._EARLIER, mentions._OF_OLD),
    (spelled._SPELLED, spelled._MAY_SPELL),
)


@pytest.mark.parametrize(("wording", "hint"), PAIRS)
@settings(deadline=None)
@given(data=st.data())
def test_a_text_with_the_wording_holds_a_part_of_it(
    wording: re.Pattern[str], hint: Hint, data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(wording))
    assert wording.search(text)
    assert hint.in_text(text)
    assert hint.in_words(text)


@pytest.mark.parametrize(("_", "hint"), PAIRS)
def test_most_texts_hold_none(_: re.Pattern[str], hint: Hint) -> None:
    assert not hint.in_text("The fee is 47.5 EUR per crate.")


def test_the_answer_kept_is_that_of_the_text_asked_about() -> None:
    hint = Hint("down")
    texts = ["It went Down 4%.", "It is up.", "down", ""]
    assert [hint.in_text(t) for t in texts * 2] == [True, False, True, False] * 2


def test_a_part_counts_where_a_word_begins() -> None:
    hint = Hint("down", "no longer", anywhere=("n't",))
    assert hint.in_text("Downhill")
    assert hint.in_text("it isn't")
    assert hint.in_text("no longer")
    assert not hint.in_text("a rundown place, by now longer")
    assert word_heads("it's 47.5 caf\u00e9s_open") == {"it", "s", "caf", "open"}


@pytest.mark.parametrize("letter", ODD_LETTERS)
def test_a_letter_that_is_two_letters_without_case_proves_nothing(letter: str) -> None:
    """``\u017fhed`` is found by an expression without case, and has none of the parts."""
    assert Hint("shed").in_text(f"it {letter}hed 4%")
    assert re.search("[isk]", letter, re.IGNORECASE)


def test_holds_any() -> None:
    assert holds_any("abc", ("x", "b"))
    assert not holds_any("abc", ("x", "y"))
    assert not holds_any("abc", ())
