"""Published rates as people see them: the judge's raw rate, and what it becomes with its errors.

Three estimates stand beside the raw rate: people's own (weighted by inclusion probability),
Rogan-Gladen's (undoes the judge's errors) and prediction-powered inference (people, helped by the
judge). An estimate that the data cannot give is undefined with the reason, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from labelkit.domain.rates import Rate
from labelkit.errors import StatisticsError
from labelkit.stats.intervals import Proportion, proportion
from labelkit.stats.ppi import PpiMean, ppi_mean
from labelkit.stats.prevalence import TrueRate, rogan_gladen_weighted
from labelkit.stats.ratings import Floats
from labelkit.stats.undefined import Reason, Undefined
from labelkit.stats.weighted import WeightedRate, weighted_rate
from labelkit.workflows.review.frame import Frame
from labelkit.workflows.rows import Codes, RuleFacts, satisfied

Found = TypeVar("Found")


@dataclass(frozen=True)
class CorrectedRate:
    """One rate of the rubric, raw and corrected.

    Args:
        name: ``id[Denominator]``.
        title: its title.
        raw: the judge's own rate over the rows of the frame that it labelled.
        people: people's rate over the sample, weighted by 1 / inclusion probability.
        rogan_gladen: the raw rate with the judge's errors on the sample undone.
        ppi: people's rate with the judge's labels of the whole frame as help (PPI++).
        n_both: sampled rows in the denominator with a true label and the judge's.
    """

    name: str
    title: str
    raw: Proportion
    people: WeightedRate
    rogan_gladen: TrueRate | Undefined
    ppi: PpiMean | Undefined
    n_both: int


@dataclass(frozen=True, eq=False)
class Audit:
    """The frame with people's true labels on the sampled rows.

    Args:
        frame: the frame.
        facts: what the rule recorded, by row of the frame.
        labels: names of the labels.
        gold: codes by row of the frame; unlabelled where no true label is known.
        probability: inclusion probability by row of the frame; NaN outside the sample.
        strata: stratum by row of the frame, as it was drawn; None outside the sample.
        confidence: of every interval.
    """

    frame: Frame
    facts: RuleFacts
    labels: tuple[str, ...]
    gold: Codes
    probability: Floats
    strata: np.ndarray[tuple[int], np.dtype[np.object_]]
    confidence: float


def corrected(audit: Audit, rate: Rate, judge: Codes) -> CorrectedRate:
    """Return a rate of a judge, raw and corrected.

    ``judge`` holds its codes by row of the frame. A row without a label of the judge is left out
    of its raw rate, as the report leaves it out, and is no evidence of an error either.
    """
    rows, facts, labels = audit.frame.rows, audit.facts.flags, audit.labels
    said = judge >= 0
    inside = satisfied(rate.denominator.where, rows, judge, labels, facts) & said
    hits = satisfied(rate.numerator, rows, judge, labels, facts)
    known = audit.gold >= 0
    truly_in = satisfied(rate.denominator.where, rows, audit.gold, labels, facts) & known
    truly = satisfied(rate.numerator, rows, audit.gold, labels, facts)
    both = truly_in & inside
    level, pi = audit.confidence, audit.probability[both]
    truth, machine = truly[both].astype(float), hits[both].astype(float)
    everything = hits[inside].astype(float)
    return CorrectedRate(
        rate.full_name,
        rate.title,
        proportion(int(hits[inside].sum()), int(inside.sum()), level),
        weighted_rate(
            truly[truly_in],
            audit.probability[truly_in],
            strata=audit.strata[truly_in],
            level=level,
        ),
        _or_reason(lambda: rogan_gladen_weighted(everything, truth, machine, pi, level)),
        _or_reason(lambda: ppi_mean(truth, machine, everything, probabilities=pi, level=level)),
        int(both.sum()),
    )


def _or_reason(estimate: Callable[[], Found]) -> Found | Undefined:
    """An estimate that cannot be made is undefined; the sentence says what is missing."""
    try:
        return estimate()
    except StatisticsError as error:
        return Undefined(Reason.OUT_OF_DESIGN, str(error))
