"""The same words in another form, and words that only look alike."""

from __future__ import annotations

import pytest

from labelkit.grounding.other_forms import cited_form, compound, other_form, unmarked


@pytest.mark.parametrize(
    ("wanted", "text", "place"),
    [
        ("2.0.1", "version v2.0.1 is out", "v2.0.1"),
        ("Doe, Jane", "ask jane doe today", "jane doe"),
        ("Appeal dismissed", "the appeal was dismissed", "appeal was dismissed"),
        ("DE89 3704 0044 0532 0130 00", "to de89370400440532013000.", "de89370400440532013000"),
    ],
)
def test_another_form(wanted: str, text: str, place: str) -> None:
    found = other_form(wanted, text)
    assert found is not None
    assert text[slice(*found)] == place


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("2.0.1", "v2.0.11"),
        ("2.0.1", "2.0.1"),
        ("Doe, Jane", "john doe and jane roe"),
        ("Appeal dismissed", "the appeal that was then dismissed"),
        ("DE89 3704 0044 0532 0130 00", "de89370400440532013001"),
        ("cat", "a cat"),
        ("", "anything"),
        ("x" * 61, "x" * 61),
    ],
)
def test_no_other_form(wanted: str, text: str) -> None:
    assert other_form(wanted, text) is None


def test_a_compound_is_written_apart() -> None:
    text = "it is on back-order now"
    assert compound("BACKORDERED", text) == (text.index("back-order"), text.index(" now"))
    # Written as one it is found as a word, and a short stem proves nothing.
    assert compound("BACKORDERED", "backordered") is None
    assert compound("sold", "so ld") is None


def test_marks_of_emphasis() -> None:
    assert unmarked("**E**arnings and `code`") == "Earnings and code"


def test_a_citation_of_an_unlisted_reporter() -> None:
    text = "see [2020] uksc 12 there"
    same = cited_form("[2020] UKSC 12", text)
    assert same == ("match", (text.index("2020"), text.index(" there")))
    other = cited_form("[2020] UKSC 12", "see [2019] uksc 4")
    assert other is not None
    assert other[0] == "no"
    assert cited_form("[2020] UKSC 12", "nothing of the kind") is None
    assert cited_form("UKSC", "uksc") is None
