"""Children and their pipes: what goes in comes out, in order, and a child that is gone is told."""

from __future__ import annotations

import io
from pickle import PickleBuffer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.workflows import children
from labelkit.workflows.children import LOST, Child

ECHO = (
    "from labelkit.workflows.children import own_pipes, receive, send\n"
    "source, answers = own_pipes()\n"
    "print('no answer')\n"
    "while True:\n"
    "    value = receive(source)\n"
    "    if value == 'leave': break\n"
    "    send(answers, value)\n"
)


@given(st.lists(st.binary(max_size=300) | st.text(max_size=20), max_size=6))
def test_values_and_buffers_arrive_as_they_were(values: list[bytes | str]) -> None:
    pipe = io.BytesIO()
    packed = [PickleBuffer(one) if isinstance(one, bytes) else one for one in values]
    for one in (packed, values):
        children.send(pipe, one)
    pipe.seek(0)
    space = bytearray()
    first = children.receive(pipe, space)
    assert children.receive(pipe, space) == values
    space[:] = bytes(len(space))
    assert first == values
    assert [type(one) for one in first] == [type(one) for one in values]


@pytest.mark.parametrize("size", [0, 3, 8, 17, 30])
def test_a_value_that_breaks_off_is_lost(size: int) -> None:
    pipe = io.BytesIO()
    children.send(pipe, "a value of some length")
    with pytest.raises(LOST):
        children.receive(io.BytesIO(pipe.getvalue()[:size]))


def test_answers_come_in_order_and_are_larger_than_a_pipe() -> None:
    child = Child(ECHO)
    try:
        for number in range(3):
            child.ask(number)
        assert child.owed == 3
        assert [child.answer() for _ in range(3)] == [0, 1, 2]
        child.ask(PickleBuffer(b"x" * 3_000_000))
        assert child.answer() == b"x" * 3_000_000
        assert (child.owed, child.lost) == (0, False)
    finally:
        children.end([child])
    assert child.process.poll() is not None


def test_a_child_that_left_is_ready_and_lost() -> None:
    child = Child(ECHO)
    try:
        assert not children.ready(child)
        child.ask("there?")
        assert child.answer() == "there?"
        child.ask("leave")
        child.process.wait(30)
        assert children.ready(child)
        child.ask("still there?")
        for _ in range(2):
            with pytest.raises(LOST):
                child.answer()
        assert (child.owed, child.lost) == (0, True)
    finally:
        children.end([child])


def test_a_child_that_does_not_hear_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "_PATIENCE_S", 0.1)
    deaf = Child(
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "from labelkit.workflows.children import own_pipes, send\n"
        "send(own_pipes()[1], 'up')\n"
        "time.sleep(600)"
    )
    deaf.owed += 1
    assert deaf.answer() == "up"
    assert not children.ready(deaf)
    children.end([deaf])
    assert deaf.process.poll() is not None
