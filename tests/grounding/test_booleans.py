"""A yes or a no in other words than yes and no."""

from __future__ import annotations

import pytest

from labelkit.grounding.booleans import other_polarity, polarity_of


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("roaming is included.", ("roaming",), "yes"),
        ("roaming isn't included.", ("roaming",), "no"),
        ("roaming is excluded.", ("roaming",), "no"),
        ("roaming is no longer excluded.", ("roaming",), "yes"),
        ("parking is prohibited here", ("parking", "allowed"), "no"),
        ("the contract remains unsigned", ("signed",), "no"),
        # Of another thing, open, or both.
        ("breakfast is included.", ("roaming",), None),
        ("whether roaming is included i cannot say", ("roaming",), None),
        ("roaming is included. in asia roaming is excluded.", ("roaming",), None),
        ("roaming is included.", (), None),
    ],
)
def test_words_that_affirm_or_deny(text: str, words: tuple[str, ...], said: str | None) -> None:
    assert other_polarity(text, words) == said


TABLE = "| plan | export |\n|---|---|\n| solo | \u2717 |\n| team | \u2713 |"


@pytest.mark.parametrize(
    ("text", "entity", "said"),
    [
        (TABLE, "Team", "yes"),
        (TABLE, "Solo", "no"),
        ("team has export, but not solo", "Solo", "no"),
        ("solo: no", "Solo", "no"),
        ("solo and team have export", "Solo", None),
    ],
)
def test_of_which_thing_it_is_said(text: str, entity: str, said: str | None) -> None:
    assert polarity_of(text, entity, ["Solo", "Team"], ("export",)) == said
