"""A text is found in the traces that hold it, however it is escaped there."""

from __future__ import annotations

import pytest

from labelkit.domain.message import Message
from labelkit.domain.trace import RowState, Trace
from labelkit.store import Store
from labelkit.store.search import traces_with_text
from labelkit.store.traces import add_traces

TEXTS = (
    'the payload {"amount": 5}',
    "Gr\u00fc\u00dfe aus K\u00f6ln \U0001f600",
    "a line\nand another, NUL \x00, 100% and _",
    "a lone \ud800 half, Gr\u00fc\u00dfe",
)


def trace(text: str) -> Trace:
    return Trace(model="m", state=RowState.OK, messages=(Message(role="user", content=text),))


@pytest.mark.parametrize(
    ("sought", "places"),
    [
        ('{"amount": 5}', [0]),
        ("Gr\u00fc\u00dfe", [1, 3]),
        ("\U0001f600", [1]),
        ("line\nand", [2]),
        ("\x00", [2]),
        ("%", [2]),
        ("lone \ud800 half", [3]),
        ("gr\u00fc\u00dfe", []),
        ("nowhere to be found", []),
    ],
)
def test_a_text_is_found_word_for_word(store: Store, sought: str, places: list[int]) -> None:
    add_traces(store, [trace(text) for text in TEXTS])
    found = traces_with_text(store, sought)
    assert [int(key) - 1 for key in found] == places
