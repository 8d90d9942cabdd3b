"""The digest is what its plain definition says, however fast it is computed."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.digest import digest
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.trace import RowState, Trace, TraceError, Usage

TEXT = st.text(st.characters(codec=None), max_size=20)
MAYBE = st.none() | TEXT
NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OPEN = st.just({}) | st.dictionaries(TEXT, JSON, max_size=3)
COUNT = st.none() | st.integers()
MESSAGE = st.builds(
    Message,
    role=TEXT,
    content=MAYBE,
    parts=st.just(()) | st.lists(OPEN, max_size=2).map(tuple),
    tool_calls=st.lists(st.builds(ToolCall, name=TEXT, arguments=TEXT, id=MAYBE), max_size=2),
    tool_call_id=MAYBE,
    name=MAYBE,
    reasoning=MAYBE,
    extra=OPEN,
)
TRACE = st.builds(
    Trace,
    model=TEXT,
    messages=st.lists(MESSAGE, max_size=3),
    state=st.sampled_from(RowState),
    task_set=MAYBE,
    task_id=MAYBE,
    condition=TEXT,
    repeat=st.integers(0),
    finish_reason=MAYBE,
    error=st.none() | st.builds(TraceError, kind=TEXT, message=TEXT, status=COUNT, attempts=COUNT),
    usage=st.none() | st.builds(Usage, prompt_tokens=COUNT, cached_tokens=COUNT),
    tool_mode=st.sampled_from([None, "native", "emulated"]),
    tags=st.dictionaries(TEXT, TEXT | st.booleans() | NUMBER, max_size=3),
    extra=OPEN,
    source=TEXT,
)


def plain(value: Trace) -> str:
    """The definition: SHA-256 of the canonical JSON of all fields but the source."""
    return digest(value.model_dump(exclude={"source"}))


def said(text: str, **more: Any) -> Trace:
    message = Message(role="assistant", content=text, **more)
    return Trace(model="m", messages=(message,), state=RowState.OK)


@given(TRACE)
def test_the_digest_is_the_plain_one(made: Trace) -> None:
    assert made.digest == plain(made)
    assert Trace.model_validate(json.loads(made.canonical())).digest == made.digest


def test_every_character_is_written_like_json_writes_it() -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    every = said("".join(characters))
    assert every.digest == plain(every)
    assert json.loads(every.canonical())["messages"][0]["content"] == "".join(characters)


@pytest.mark.parametrize("where", ["content", "extra", "model"])
def test_a_lone_surrogate_anywhere_escapes_the_whole_text(where: str) -> None:
    fields: dict[str, Any] = {"model": "é", "messages": (), "state": RowState.OK}
    if where == "content":
        fields["messages"] = (Message(role="user", content="\ud800"),)
    else:
        fields[where] = {"k": "\udfff"} if where == "extra" else "\ud800"
    made = Trace(**fields)
    assert made.canonical().isascii()
    assert made.digest == plain(made)


def test_numbers_are_written_as_python_writes_them() -> None:
    made = said("x", extra={"b": [1e16, 1e-7, -0.0, 2**70, True], "a": 1})
    assert made.digest == plain(made)
    assert '"extra":{"a":1,"b":[1e+16,1e-07,-0.0,1180591620717411303424,true]}' in made.canonical()


def test_a_nested_value_object_counts_as_its_fields() -> None:
    made = said("x", extra={"usage": Usage(prompt_tokens=1)})
    assert made.digest == plain(made)


def test_what_json_cannot_hold_has_no_digest() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        _ = said("x", extra={"score": math.nan}).digest


def test_the_source_is_no_part_of_it_and_the_rest_is() -> None:
    one = said("x")
    assert one.model_copy(update={"source": "elsewhere"}).canonical() == one.canonical()
    for change in ({"model": "n"}, {"repeat": 1}, {"condition": "c"}, {"task_id": "t"}):
        assert one.model_copy(update=change).canonical() != one.canonical()
