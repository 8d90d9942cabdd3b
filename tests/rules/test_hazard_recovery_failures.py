"""Failure modes from counts: one mode per run, and a table that adds up for every threshold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.rules.hazard_recovery_failures import (
    MODES,
    FailureFacts,
    Thresholds,
    failure_mode,
    sensitivity,
)

FACTS = st.builds(
    FailureFacts,
    calls=st.integers(0, 30),
    tools=st.none() | st.integers(1, 6),
    after_error=st.none() | st.integers(0, 30),
    valid=st.booleans(),
)


def test_the_definition_by_hand() -> None:
    usual = Thresholds()
    # 6 calls over 3 tools: CER 2, CER_extra 1, not above 1; 7 calls: 1.33.
    assert FailureFacts(6, 3, 2, valid=True).extra == 1.0
    assert failure_mode(FailureFacts(6, 3, 2, valid=True), usual) == "ineffective_continuation"
    assert failure_mode(FailureFacts(7, 3, 2, valid=True), usual) == "over_expansion"
    assert failure_mode(FailureFacts(7, 3, 0, valid=True), usual) == "early_abandonment"
    assert failure_mode(FailureFacts(7, 3, None, valid=True), usual) == "silent_or_no_error"
    assert failure_mode(FailureFacts(3, 3, 1, valid=False), usual) == "unresolved"
    # Without declared tools nothing can be called too many calls.
    assert FailureFacts(99, None, 9, valid=True).extra is None
    assert failure_mode(FailureFacts(99, None, 9, valid=True), usual) == "ineffective_continuation"


@given(st.lists(FACTS, max_size=12))
def test_every_line_counts_every_run_once(failed: list[FailureFacts]) -> None:
    used = Thresholds(0.75, 3)
    table = sensitivity(failed, used)
    assert [line.thresholds for line in table if line.used] == [used]
    assert len({line.thresholds for line in table}) == len(table) == 5 * 3 + 1
    for line in table:
        assert tuple(line.counts) == MODES
        assert sum(line.counts.values()) == len(failed)


@given(st.lists(FACTS, max_size=12), st.floats(0, 4), st.integers(0, 5))
def test_a_higher_line_never_finds_more(failed: list[FailureFacts], over: float, most: int) -> None:
    def count(mode: str, lines: Thresholds) -> int:
        return sum(failure_mode(facts, lines) == mode for facts in failed)

    here = Thresholds(over, most)
    assert count("over_expansion", Thresholds(over + 1, most)) <= count("over_expansion", here)
    later = Thresholds(over, most + 1)
    assert count("early_abandonment", later) >= count("early_abandonment", here)
    assert count("silent_or_no_error", later) == count("silent_or_no_error", here)


@pytest.mark.parametrize("used", [Thresholds(1.0, 0), Thresholds(2.0, 2)])
def test_the_thresholds_in_force_are_no_second_line(used: Thresholds) -> None:
    assert len(sensitivity([], used)) == 15
