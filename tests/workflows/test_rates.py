"""Rates on hand-made rows: every expected number is counted in the test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.rates import Denominator, Predicate, Rate
from labelkit.domain.rubric import Ensemble
from labelkit.workflows.ensemble import combine
from labelkit.workflows.rates import Groups, RateResult, everything, rates_in
from labelkit.workflows.rows import (
    ABSTAINED,
    FAILED,
    INFRA_ERROR,
    TIED,
    UNLABELLED,
    Rows,
    RuleFacts,
    Votes,
)

LABELS = ("correct", "tool_skip", "result_ignore")
CORRECT, SKIP, IGNORE = range(3)


def rows_of(subset: list[str], infra: list[bool] | None = None) -> Rows:
    return Rows(
        tags={"subset": np.array(subset, dtype=object)},
        infra=np.array(infra or [False] * len(subset), dtype=bool),
    )


def votes(name: str, codes: list[int], kind: str = "judge") -> Votes:
    return Votes(name=name, kind=kind, digest=name, codes=np.array(codes, dtype=np.int32))


def facts(called: list[bool], seen: list[bool] | None = None) -> RuleFacts:
    return RuleFacts(
        seen=np.array(seen or [True] * len(called)), flags={"called": np.array(called)}
    )


def rate_in(
    rate: Rate, rows: Rows, codes: np.ndarray, labels: tuple[str, ...], seen: RuleFacts
) -> RateResult:
    """The rate over all rows."""
    ((result,),) = rates_in(rate, rows, codes, labels, seen, [everything(len(rows))])
    return result


RIR_REQUIRED = Rate(
    id="RIR",
    title="result ignored",
    question="q",
    numerator=Predicate(labels=("result_ignore",)),
    denominator=Denominator(name="Required", where=Predicate(tags={"subset": ("required",)})),
)
RIR_CALLED = RIR_REQUIRED.model_copy(
    update={
        "denominator": Denominator(
            name="Called",
            where=Predicate(tags={"subset": ("required",)}, rule_flags=("called",)),
        )
    }
)


def test_the_same_rows_give_two_rates_under_two_named_denominators() -> None:
    # Five required rows: skipped, skipped, ignored, correct, correct; the skipped ones called
    # nothing. One control row is in neither denominator.
    rows = rows_of(["required"] * 5 + ["control"])
    codes = np.array([SKIP, SKIP, IGNORE, CORRECT, CORRECT, CORRECT], dtype=np.int32)
    seen = facts([False, False, True, True, True, False])

    required = rate_in(RIR_REQUIRED, rows, codes, LABELS, seen)
    called = rate_in(RIR_CALLED, rows, codes, LABELS, seen)

    assert (required.name, required.hits, required.scored) == ("RIR[Required]", 1, 5)
    assert (called.name, called.hits, called.scored) == ("RIR[Called]", 1, 3)
    assert required.value == 1 / 5
    assert called.value == 1 / 3


def test_interval_is_wilson() -> None:
    rows = rows_of(["required"] * 10)
    codes = np.array([IGNORE] * 3 + [CORRECT] * 7, dtype=np.int32)
    result = rate_in(RIR_REQUIRED, rows, codes, LABELS, facts([True] * 10))
    # Wilson (1927): centre (p + z²/2n) / (1 + z²/n),
    # half-width z·sqrt(p(1-p)/n + z²/4n²) / (1 + z²/n)
    z, p, n = 1.959963984540054, 0.3, 10
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    assert result.low == pytest.approx(centre - half, abs=1e-12)
    assert result.high == pytest.approx(centre + half, abs=1e-12)


def test_rows_without_a_label_are_excluded_and_counted_by_reason() -> None:
    rows = rows_of(["required"] * 6, infra=[False] * 5 + [True])
    codes = np.array([IGNORE, CORRECT, FAILED, TIED, UNLABELLED, INFRA_ERROR], dtype=np.int32)
    result = rate_in(RIR_REQUIRED, rows, codes, LABELS, facts([True] * 6))
    assert result.planned == 6
    assert result.scored == 2
    assert result.excluded == {"failed": 1, "tie": 1, "unlabelled": 1, "infra_error": 1}
    assert result.value == 1 / 2
    assert result.coverage == 2 / 6
    # Had all four excluded rows gone one way: 1/6 at best, 5/6 at worst.
    assert (result.bound_low, result.bound_high) == (1 / 6, 5 / 6)


def test_a_state_may_stay_in_the_denominator_but_never_becomes_a_hit() -> None:
    rate = RIR_REQUIRED.model_copy(update={"states": {"infra_error": "denominator"}})
    rows = rows_of(["required"] * 3, infra=[False, False, True])
    codes = np.array([IGNORE, CORRECT, INFRA_ERROR], dtype=np.int32)
    result = rate_in(rate, rows, codes, LABELS, facts([True] * 3))
    assert (result.hits, result.scored, result.planned) == (1, 3, 3)


def test_a_row_the_rule_saw_calling_nothing_is_outside_called_even_without_a_label() -> None:
    rows = rows_of(["required"] * 3)
    codes = np.array([IGNORE, FAILED, FAILED], dtype=np.int32)
    # Row 1 called nothing (known), row 2 was never seen by the rule (unknown, so it is planned).
    result = rate_in(
        RIR_CALLED,
        rows,
        codes,
        LABELS,
        facts([True, False, False], seen=[True, True, False]),
    )
    assert (result.scored, result.planned) == (1, 2)


def test_an_empty_denominator_is_null_with_a_reason() -> None:
    rows = rows_of(["control"])
    codes = np.array([CORRECT], dtype=np.int32)
    result = rate_in(RIR_REQUIRED, rows, codes, LABELS, facts([True]))
    assert result.value is None
    assert result.reason == "empty_denominator"
    assert (result.low, result.high, result.coverage) == (None, None, None)


def test_a_rate_below_its_minimum_coverage_is_refused() -> None:
    # G1: a perfect rate from the one run that survived an outage must not be printed.
    rate = RIR_REQUIRED.model_copy(update={"min_coverage": 0.5})
    rows = rows_of(["required"] * 4, infra=[False, True, True, True])
    codes = np.array([CORRECT] + [INFRA_ERROR] * 3, dtype=np.int32)
    result = rate_in(rate, rows, codes, LABELS, facts([True] * 4))
    assert result.value is None
    assert result.reason == "coverage_below_minimum"


@given(
    st.lists(
        st.sampled_from([CORRECT, SKIP, IGNORE, ABSTAINED, FAILED, UNLABELLED, TIED]),
        min_size=1,
        max_size=40,
    )
)
def test_planned_is_always_scored_plus_excluded(states: list[int]) -> None:
    rows = rows_of(["required"] * len(states))
    codes = np.array(states, dtype=np.int32)
    result = rate_in(RIR_REQUIRED, rows, codes, LABELS, facts([True] * len(states)))
    assert result.planned == result.scored + sum(result.excluded.values()) == len(states)


MAJORITY = Ensemble(tie="rule", null_policy="drop_row")


def test_majority_and_the_rule_breaks_a_three_way_tie() -> None:
    rule = votes("rule", [CORRECT, SKIP, IGNORE], kind="rule")
    one = votes("one", [SKIP, SKIP, CORRECT])
    two = votes("two", [SKIP, CORRECT, SKIP])
    codes = combine(MAJORITY, [rule, one, two], 3, np.zeros(3, dtype=bool)).codes
    assert codes.tolist() == [SKIP, SKIP, IGNORE]


def test_a_failed_verdict_drops_the_row_but_an_abstention_only_defers() -> None:
    rule = votes("rule", [CORRECT, ABSTAINED, ABSTAINED], kind="rule")
    one = votes("one", [CORRECT, SKIP, SKIP])
    two = votes("two", [FAILED, SKIP, IGNORE])
    codes = combine(MAJORITY, [rule, one, two], 3, np.zeros(3, dtype=bool)).codes
    # The last row is a tie that the rule did not decide.
    assert codes.tolist() == [FAILED, SKIP, TIED]


def test_ignore_lets_the_remaining_raters_vote() -> None:
    policy = Ensemble(tie="none", null_policy="ignore", min_raters=1)
    one = votes("one", [CORRECT, FAILED])
    two = votes("two", [FAILED, FAILED])
    codes = combine(policy, [one, two], 3, np.zeros(2, dtype=bool)).codes
    assert codes.tolist() == [CORRECT, FAILED]


def test_an_outage_is_never_labelled_whatever_the_raters_said() -> None:
    one = votes("one", [SKIP])
    codes = combine(MAJORITY, [one], 3, np.array([True])).codes
    assert codes.tolist() == [INFRA_ERROR]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([CORRECT, SKIP, IGNORE, ABSTAINED, FAILED, TIED]),
            st.integers(0, 2),
            st.booleans(),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_the_groups_of_a_cut_add_up_to_all_rows(drawn: list[tuple[int, int, bool]]) -> None:
    rows = rows_of(["required" if required else "control" for _, _, required in drawn])
    codes = np.array([code for code, _, _ in drawn], dtype=np.int32)
    cut = Groups(("a", "b", "c"), np.array([group for _, group, _ in drawn], dtype=np.int32))
    seen = facts([True] * len(drawn))
    (whole,), parts = rates_in(
        RIR_REQUIRED, rows, codes, LABELS, seen, [everything(len(rows)), cut]
    )
    assert [part.group for part in parts] == ["a", "b", "c"]
    for name in ("hits", "scored", "planned"):
        assert getattr(whole, name) == sum(getattr(part, name) for part in parts)
    assert whole.hits == sum(code == IGNORE and required for code, _, required in drawn)
    assert whole.planned == sum(required for _, _, required in drawn)


def test_tags_are_told_apart_by_type() -> None:
    cells: list[object] = [True, 1, "1", 1.0, None]
    rows = Rows(tags={"t": np.array(cells, dtype=object)}, infra=np.zeros(5, dtype=bool))
    assert rows.having({"t": (1,)}).tolist() == [False, True, False, False, False]
    assert rows.having({"t": (True, "1")}).tolist() == [True, False, True, False, False]
    assert not rows.having({"unknown": (1,)}).any()
