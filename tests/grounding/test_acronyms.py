"""Abbreviations spelled out: read only where they are asked about."""

from __future__ import annotations

import pytest

from labelkit.grounding.acronyms import expansions

ASKED = "What does CPI stand for?"


@pytest.mark.parametrize(
    ("answer", "run"),
    [
        ("CPI is short for consumer price index.", ["consumer", "price", "index"]),
        ("A cheap, practical idea is what people look for.", []),
        ("**C**ost **p**er **i**mpression", []),
        ("It means Cost Per Impression, in advertising.", ["cost", "per", "impression"]),
        (
            "CPI stands for the corruption of the perceived index.",
            ["corruption", "of", "the", "perceived", "index"],
        ),
    ],
)
def test_a_run_of_words_spells_the_letters(answer: str, run: list[str]) -> None:
    assert expansions(ASKED, answer) == ([run] if run else [])


def test_without_the_question_nothing_is_spelled() -> None:
    assert expansions("How is the CPI today?", "consumer price index") == []
    assert expansions("What does cpi stand for?", "consumer price index") == []


def test_every_abbreviation_and_every_run_counts() -> None:
    found = expansions(
        "What do ROI and ETA stand for?",
        "Return on Investment; Region of Interest in imaging; Estimated Time of Arrival.",
    )
    assert found == [
        ["return", "on", "investment"],
        ["region", "of", "interest"],
        ["estimated", "time", "of", "arrival"],
    ]


@pytest.mark.parametrize("words", [["big", "animal"], ["a", "b"], []])
def test_letters_that_are_left_over_spell_nothing(words: list[str]) -> None:
    assert expansions("What is BAT short for?", " ".join(words)) == []
