from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.printable import printable, printable_json

ANY_TEXT = st.text(st.characters())  # with lone surrogates and control characters


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gpt-4o", "gpt-4o"),
        ("Модель 模型 מודל", "Модель 模型 מודל"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202eb", r"a\u202eb"),
        ("ghost \ud83d", r"ghost \ud83d"),
        ("one\ntwo", r"one\ntwo"),
        ("1\u00a0000", "1\u00a0000"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(ANY_TEXT)
def test_what_is_printed_can_be_written_and_commands_nothing(text: str) -> None:
    shown = printable(text)
    shown.encode("utf-8")
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in shown)


@given(
    st.lists(ANY_TEXT | st.integers() | st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=3), max_size=4)
)
def test_json_reads_back_as_the_same_value(value: object) -> None:
    text = printable_json(value)
    text.encode("utf-8")
    assert json.loads(text) == value


def test_json_without_nan() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        printable_json({"kappa": float("nan")})
