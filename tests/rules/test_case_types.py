"""Labels of the traps that are calls are compared as calls."""

from __future__ import annotations

import pytest

from tests.rules.case_types import called, same_label


def test_the_order_of_arguments_is_free() -> None:
    assert same_label('dim(rooms=["3"], level=58)', 'dim(level=58, rooms=["3"])')
    assert same_label("list_rooms()", "list_rooms()")
    assert called('dim(note="a, b=c)", level=5.5)') == ("dim", {"note": "a, b=c)", "level": 5.5})


@pytest.mark.parametrize(
    "other",
    ['dim(level=59, rooms=["3"])', 'lit(level=58, rooms=["3"])', "dim(level=58)", "parse_error"],
)
def test_another_call_is_another_label(other: str) -> None:
    assert not same_label('dim(rooms=["3"], level=58)', other)


def test_words_are_compared_as_words() -> None:
    assert same_label("correct", "correct")
    assert not same_label("correct", "incorrect")
    assert not same_label("dim(rooms)", "dim(level)")
