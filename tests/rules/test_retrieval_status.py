"""The status line: found in its usual dress, never in a sentence, and read in time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.rules.retrieval_status import read_status, without_status

# The expression as the scheme sheet gives it.
PUBLISHED = re.compile(r"(?im)^\W*retrieval_status\s*[\*_`]*\s*[:\uFF1A]\s*[\*_`]*\s*(OK|FAILED)\b")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("retrieval_status: FAILED\nno value", "FAILED"),
        ("RETRIEVAL_STATUS:ok", "OK"),
        ("**retrieval_status**: FAILED", "FAILED"),
        ("**retrieval_status:** `OK`", "OK"),
        ("- `retrieval_status` : **FAILED**", "FAILED"),
        ("retrieval_status\uff1aFAILED", "FAILED"),
        ("Here you are.\nretrieval_status: OK", "OK"),
        ("> retrieval_status: OK", "OK"),
        ("my retrieval_status: OK", None),
        ("retrieval_status is OK", None),
        ("retrieval_status: OKAY", None),
        ("retrieval status: OK", None),
        ("", None),
    ],
)
def test_what_counts_as_the_line(text: str, value: str | None) -> None:
    status = read_status(text)
    assert status.value == value
    assert status.flags[0] == f"flag={value or 'none'}"
    assert ("flag_line" in status.flags) is (value is not None)


def test_the_first_line_wins_and_a_contradiction_is_told() -> None:
    both = read_status("retrieval_status: FAILED\nSo be it.\nretrieval_status: OK")
    assert both.value == "FAILED"
    assert both.contradictory
    assert "flag_lines_contradict" in both.flags
    twice = read_status("retrieval_status: OK\nretrieval_status: OK")
    assert not twice.contradictory
    assert len(twice.spans) == 2


def test_the_line_is_blanked_and_nothing_moves() -> None:
    text = "**retrieval_status: FAILED**\nThe balance is 12."
    rest = without_status(text, read_status(text))
    assert len(rest) == len(text)
    assert rest.strip() == "The balance is 12."
    assert rest.index("12") == text.index("12")


PIECES = [
    "retrieval_status",
    "RETRIEVAL_STATUS",
    ":",
    "\uff1a",
    "*",
    "`",
    "_",
    " ",
    "\n",
    "OK",
    "\t",
]


@given(st.lists(st.sampled_from([*PIECES, "FAILED", "x", ".", "-"]), max_size=14).map("".join))
def test_published_is_the_published_expression_letter_for_letter(text: str) -> None:
    found = PUBLISHED.search(text)
    assert read_status(text, published=True).value == (found[1].upper() if found else None)


@given(st.lists(st.sampled_from([*PIECES, "FAILED", "x", ".", "-"]), max_size=14).map("".join))
def test_it_finds_what_the_published_expression_finds(text: str) -> None:
    places = {m.end(1): m[1].upper() for m in PUBLISHED.finditer(text)}
    status = read_status(text)
    if places:
        assert status.value in {"OK", "FAILED"}
        first = min(places)
        ours = text[: status.spans[0][1]].rstrip("*_`")
        assert len(ours) <= first
        if len(ours) == first:
            assert status.value == places[first]
    assert status.contradictory is False or len(status.spans) > 1
