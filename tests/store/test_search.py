"""A text is found in the traces that hold it, however it is escaped there."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from labelkit.domain.message import Message
from labelkit.domain.trace import RowState, Trace
from labelkit.store import Store
from labelkit.store.search import traces_with_text
from labelkit.store.tables import TRACE_BODY
from labelkit.store.traces import add_traces

TEXTS = (
    'the payload {"amount": 5}',
    "Gr\u00fc\u00dfe aus K\u00d6LN \U0001f600",
    "a line\nand another, NUL \x00, 100% and _",
    "a lone \ud800 half, GR\u00dc\u00dfe",
    "\u03b4\u03c5\u03c3\u03c3\u03b5\u03a5\u03a3 \u041f\u0440\u0418\u0432 \u6771\u4eac \U00010400",
    "100 percent, x_y",
)


def trace(text: str) -> Trace:
    return Trace(model="m", state=RowState.OK, messages=(Message(role="user", content=text),))


@pytest.mark.parametrize(
    ("sought", "places"),
    [
        ('{"amount": 5}', [0]),
        ('{"AMOUNT": 5}', [0]),
        ("PAYLOAD", [0]),
        ("Gr\u00fc\u00dfe", [1, 3]),
        ("gR\u00dc\u00dfE", [1, 3]),
        ("k\u00f6ln", [1]),
        ("\u00f6", [1]),
        ("\U0001f600", [1]),
        ("line\nand", [2]),
        ("\x00", [2]),
        ("%", [2]),
        ("0%", [2]),
        ("x_Y", [5]),
        ("0_p", []),
        ("lone \ud800 half", [3]),
        ("LONE \ud800 HALF, gr\u00fc", [3]),
        ("\ud801", []),
        ("\u03b4\u03a5\u03c3\u03c3\u0395\u03c5\u03c3", [4]),
        ("\u041f\u0420\u0438\u0412 \u6771", [4]),
        ("\u6771\u4eac", [4]),
        ("\U00010428", [4]),
        ("gruesse", []),
        ("nowhere to be found", []),
        ("n\u00f6where", []),
    ],
)
def test_a_text_is_found_whatever_its_case(store: Store, sought: str, places: list[int]) -> None:
    add_traces(store, [trace(text) for text in TEXTS])
    found = traces_with_text(store, sought)
    assert [int(key) - 1 for key in found] == places


ALL = [
    *("a", "A", "k", "K", "i", "I", " ", "%", "_", "\\", '"', "\n", "\x00", "\ud800", "\udc00"),
    *"\u212a\u00df\u1e9e\u00fc\u00dc\u0130\u0131\u01c4\u01c5\u01c6\u03c3\u03a3\u03c2\u03bc\u00b5\u6771\u00e5\u00c5\u212b\u03c9\u2126",
]
WORDS = st.lists(st.sampled_from(ALL), min_size=1, max_size=5).map("".join)


def lower(text: str) -> str:
    """Letter by letter, where that is one letter again; ASCII stays among itself."""
    out = [c if len(c.lower()) > 1 or c == "\u212a" else c.lower() for c in text]
    return "".join(out).replace("\u03c2", "\u03c3")


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(WORDS, min_size=1, max_size=4))
def test_the_sieve_of_the_database_loses_nothing(
    store: Store, texts: list[str], sought: list[str]
) -> None:
    """What is found is what Python finds in the whole JSON."""
    traces = [trace(text) for text in dict.fromkeys(texts)]
    add_traces(store, traces)
    with store.reading() as connection:
        rows = connection.execute(select(TRACE_BODY.c.trace_id, TRACE_BODY.c.body)).all()
    bodies = {key: (body, unescaped(body)) for key, body in rows}
    for text in (*sought, *texts, *(text.swapcase() for text in texts)):
        wanted = lower(json.dumps(text, ensure_ascii=False)[1:-1])
        # ASCII is sought in the JSON as it is stored.
        expected = [
            key
            for key, (raw, plain) in bodies.items()
            if wanted in lower(raw if wanted.isascii() else plain)
        ]
        assert traces_with_text(store, text).tolist() == expected, ascii((text, texts))


def unescaped(body: str) -> str:
    return json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False)
