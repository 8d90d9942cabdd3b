"""The quick expression finds what the plain one finds."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from labelkit.rules.cue_patterns import any_of

PLAIN = (
    r"\bno (?:data|rows)\b|\bnot (?:found|seen)\b",
    r"~|\bcan(?:not|'t)\b",
    r"\b[|)]x\b|\ba\|b\b",
    r"[|(]y",
)
QUICK = any_of(*PLAIN)
WORDS = st.sampled_from(
    [
        "no",
        "data",
        "rows",
        "not",
        "found",
        "cannot",
        "can't",
        "~",
        "|x",
        ")x",
        "a|b",
        "|y",
        "snow",
        " ",
    ]
)


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_the_same_places_are_found(text: str) -> None:
    plain = re.compile("|".join(PLAIN))
    words = [m.span() for m in plain.finditer(text) if m[0][0].isalnum() or m[0] in {"~", "|y"}]
    assert [m.span() for m in QUICK.finditer(text)] == words


def test_bars_inside_groups_and_classes_do_not_split() -> None:
    assert any_of(r"\ba(?:b|c)d").fullmatch("acd")
    assert any_of(r"\ba[|]d|e").fullmatch("a|d")
    assert any_of(r"\ba\|d").fullmatch("a|d")
