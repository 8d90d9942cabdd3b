"""Means on hand-made rows: every expected number is worked out in the test."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from labelkit.domain.rates import Denominator, Measure, Predicate
from labelkit.domain.rubric import LabelDefinition, Question
from labelkit.workflows.measures import MeasureResult, measures_in
from labelkit.workflows.rates import everything
from labelkit.workflows.rows import ABSTAINED, FAILED, INFRA_ERROR, UNLABELLED, Rows, RuleFacts

NAN = float("nan")


def question_of(*names: str, kind: str = "ordinal") -> Question:
    labels = tuple(LabelDefinition(name=n, title=n, key=n[0], include=n) for n in names)
    return Question(id="q", type=kind, text="?", labels=labels)


SCORE = question_of("1", "2", "3", "4", "5")
STOPS = question_of("stop", "continue", kind="choice")


def rows_of(n: int, **tags: list[object]) -> Rows:
    columns = {name: np.array(values, dtype=object) for name, values in tags.items()}
    return Rows(tags=columns, infra=np.zeros(n, dtype=bool))


def facts_of(n: int, **numbers: list[float]) -> RuleFacts:
    return RuleFacts(
        seen=np.ones(n, dtype=bool),
        flags={},
        numbers={name: np.array(values) for name, values in numbers.items()},
    )


def measured(
    measure: Measure, rows: Rows, codes: list[int], question: Question, facts: RuleFacts
) -> MeasureResult:
    array = np.array(codes, dtype=np.int32)
    ((result,),) = measures_in(measure, rows, array, question, facts, [everything(len(rows))])
    return result


def measure(**fields: object) -> Measure:
    given = {"id": "M", "title": "m", "question": "q", "within": Denominator(name="All")}
    return Measure.model_validate({**given, **fields})


def test_an_unreadable_score_is_excluded_and_never_zero() -> None:
    # Scores 5, 4, 3 and one verdict that could not be read: the mean is 4 over 3, not 3 over 4.
    result = measured(measure(), rows_of(4), [4, 3, 2, FAILED], SCORE, facts_of(4))
    assert result.value == (5 + 4 + 3) / 3
    assert (result.scored, result.planned, result.excluded) == (3, 4, {"failed": 1})
    # t with 2 degrees of freedom: 4.3027 standard errors of s / sqrt(3) = 1 / sqrt(3).
    assert result.high == pytest.approx(4 + 4.302652729911275 / sqrt(3))


def test_labels_that_are_no_numbers_count_by_their_place() -> None:
    words = question_of("poor", "fair", "good")
    assert measured(measure(), rows_of(2), [0, 2], words, facts_of(2)).value == (1 + 3) / 2


def test_mean_of_scenario_means_beside_the_pooled_mean() -> None:
    # Scenario a: 5, 5, 5; scenario b: 1. Pooled 4, mean of means 3.
    rows = rows_of(4, scenario=["a", "a", "a", "b"])
    result = measured(measure(macro="scenario"), rows, [4, 4, 4, 0], SCORE, facts_of(4))
    assert (result.value, result.macro, result.n_groups) == (4.0, 3.0, 2)


def test_calls_per_declared_tool_with_its_definition() -> None:
    # 4 calls with 4 tools and 3 with 2: 1.0 and 1.5, mean 1.25; the extra calls per tool 0.25.
    ratio = {"value": "calls", "per": "tools", "definition": "executed calls / declared tools"}
    rows, codes = rows_of(3), [0, 1, ABSTAINED]
    facts = facts_of(3, calls=[4, 3, 7], tools=[4, 2, 0])
    result = measured(measure(**ratio), rows, codes, STOPS, facts)
    assert result.value == (1.0 + 1.5) / 2
    assert result.definition == "executed calls / declared tools"
    # A task that declares no tool has no such ratio: it is left out, by its reason.
    assert result.planned == 3
    assert result.excluded == {"abstained": 1}
    extra = measured(measure(**ratio, offset=-1.0), rows, codes, STOPS, facts)
    assert extra.value == 0.25


def test_a_row_whose_label_counts_but_whose_number_is_unknown_is_named() -> None:
    facts = facts_of(3, tokens=[10, NAN, 30])
    result = measured(measure(value="tokens"), rows_of(3), [0, 0, 0], STOPS, facts)
    assert (result.value, result.excluded) == (20.0, {"no_number": 1})
    never = measured(measure(value="tokens"), rows_of(2), [0, 0], STOPS, facts_of(2))
    assert (never.value, never.reason, never.planned) == (None, "no_items", 2)


def test_a_ratio_of_means_between_two_sets_of_rows() -> None:
    # Tokens of rows that stopped: 100, 300 (mean 200); that went on: 900, 700 (mean 800).
    fields = {
        "value": "tokens",
        "within": Denominator(name="WentOn", where=Predicate(labels=("continue",))),
        "against": Denominator(name="Stopped", where=Predicate(labels=("stop",))),
    }
    facts = facts_of(6, tokens=[100, 300, 900, 700, 5, 6])
    codes = [0, 0, 1, 1, UNLABELLED, INFRA_ERROR]
    result = measured(measure(**fields), rows_of(6), codes, STOPS, facts)
    assert result.name == "M[WentOn/Stopped]"
    assert result.value == 800 / 200
    assert (result.scored, result.scored_against) == (2, 2)
    # An unlabelled row might have been in either set, so it is missing from both.
    assert result.excluded == {"unlabelled": 2, "infra_error": 2}
    assert result.planned == 8
    one_sided = measured(measure(**fields), rows_of(2), [1, 1], STOPS, facts_of(2, tokens=[1, 2]))
    assert (one_sided.value, one_sided.reason) == (None, "no_items")


def test_clusters_widen_the_interval_of_a_mean() -> None:
    rows = rows_of(40, domain=[f"d{k // 4}" for k in range(40)])
    codes = [4 if (k // 4) % 2 else 0 for k in range(40)]
    alone = measured(measure(), rows, codes, SCORE, facts_of(40))
    together = measured(measure(cluster="domain"), rows, codes, SCORE, facts_of(40))
    assert alone.value == together.value == 3.0
    assert (alone.n_clusters, together.n_clusters) == (40, 10)
    assert together.low is not None
    assert alone.low is not None
    assert together.low < alone.low
