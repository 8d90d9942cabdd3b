"""Every number that a rubric publishes about one question, from rows, labels and rule facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from labelkit.domain.rates import Composite, Rate
from labelkit.domain.rubric import Question, Rubric
from labelkit.workflows.contrasts import (
    CompositeResult,
    ContrastResult,
    FrontResult,
    Numbers,
    composites_in,
    contrasts_in,
    front_over,
)
from labelkit.workflows.measures import MeasureResult, measures_in, row_numbers, scored_rows
from labelkit.workflows.rates import Groups, RateResult, rates_in, row_hits
from labelkit.workflows.rows import PROTOCOL, Codes, Rows, RuleFacts

Result = TypeVar("Result")


@dataclass(frozen=True)
class Published:
    """The numbers of one question, group by group in the order of the cuts."""

    rates: tuple[RateResult, ...]
    measures: tuple[MeasureResult, ...]
    contrasts: tuple[ContrastResult, ...]
    composites: tuple[CompositeResult, ...]
    fronts: tuple[FrontResult, ...]


def publish(
    rubric: Rubric,
    question: Question,
    rows: Rows,
    codes: Codes,
    facts: RuleFacts,
    groups: Sequence[Groups],
    across: Sequence[Groups],
) -> Published:
    """Compute all numbers of a rubric that are about ``question``.

    ``groups`` keep protocols apart; ``across`` are the same cuts over all protocols, for
    composites whose every part names its protocol: what several agents stop and one solves.

    Contrasts, composites and fronts are given when everything they are made of is about it too.
    """
    labels = tuple(definition.name for definition in question.labels)
    rates = [rate for rate in rubric.rates if rate.question == question.id]
    measures = [measure for measure in rubric.measures if measure.question == question.id]
    of_rates = [rates_in(rate, rows, codes, labels, facts, groups) for rate in rates]
    of_measures = [measures_in(m, rows, codes, question, facts, groups) for m in measures]
    numbers = _numbers(rubric, question, rows, codes, facts)
    contrasts = [c for c in rubric.contrasts if c.of in numbers]
    composites = [c for c in rubric.composites if set(c.parts) <= numbers.keys()]
    fronts = [front for front in rubric.fronts if {*front.up, *front.down} <= numbers.keys()]
    return Published(
        rates=_in_order(of_rates, groups),
        measures=_in_order(of_measures, groups),
        contrasts=tuple(contrasts_in(contrasts, numbers, rows, groups)),
        composites=tuple(
            one
            for composite in composites
            for one in composites_in(
                [composite],
                numbers,
                across if _names_protocols(composite, rates) else groups,
            )
        ),
        fronts=tuple(front_over(front, numbers, rows) for front in fronts),
    )


def _names_protocols(composite: Composite, rates: Sequence[Rate]) -> bool:
    """Whether every part says which protocol it is about, so that they go together as they are."""
    parts = [rate for rate in rates if rate.full_name in composite.parts]
    return all(PROTOCOL in rate.denominator.where.tags for rate in parts)


def _in_order(
    results: Sequence[list[list[Result]]], groups: Sequence[Groups]
) -> tuple[Result, ...]:
    """Flatten number x cut x group to groups first, so that a group's numbers stand together."""
    return tuple(
        of_number[cut][group]
        for cut, names in enumerate(groups)
        for group in range(len(names.names))
        for of_number in results
    )


def _numbers(
    rubric: Rubric, question: Question, rows: Rows, codes: Codes, facts: RuleFacts
) -> dict[str, Numbers]:
    """Rates and plain means by row, for what is built on them; only when something is."""
    built = {c.of for c in rubric.contrasts}
    built |= {name for c in rubric.composites for name in c.parts}
    built |= {name for front in rubric.fronts for name in (*front.up, *front.down)}
    labels = tuple(definition.name for definition in question.labels)
    found = {}
    for rate in rubric.rates:
        if rate.full_name in built and rate.question == question.id:
            hits, scored = row_hits(rate, rows, codes, labels, facts)
            found[rate.full_name] = Numbers(hits, scored, share=True, cluster=rate.cluster)
    for measure in rubric.measures:
        if measure.full_name in built and measure.question == question.id:
            values = row_numbers(measure, codes, question, facts)
            inside = scored_rows(measure, measure.within, rows, codes, labels, facts, values).rows
            found[measure.full_name] = Numbers(
                np.where(inside, values, 0.0), inside, share=False, cluster=measure.cluster
            )
    return found
