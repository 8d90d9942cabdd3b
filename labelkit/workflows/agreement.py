"""Agreement by question and stratum, with everything a reader needs beside the numbers.

One implementation for files of ratings and for the raters of a rubric. It computes nothing
itself: coefficients, votes and models come from ``labelkit.stats``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from labelkit.errors import InputError
from labelkit.stats.agreement import (
    COEFFICIENTS,
    Band,
    CategoryAgreement,
    Coefficient,
    RaterPair,
    TwoByTwo,
    band_membership,
    krippendorff_alpha,
    krippendorff_alpha_weighted,
    landis_koch_band,
    summarise,
)
from labelkit.stats.agreement.alpha import Level
from labelkit.stats.dawid_skene import dawid_skene
from labelkit.stats.encode import Value
from labelkit.stats.ratings import RatingTable
from labelkit.stats.undefined import is_defined
from labelkit.stats.vote import RowOutcome, majority
from labelkit.workflows.ratings import Rated

LEVELS = ("nominal", "ordinal", "interval", "ratio")
KAPPAS = ("cohen_kappa", "scott_pi", "fleiss_kappa", "conger_kappa", "light_kappa")
_SURE = 0.95


@dataclass(frozen=True)
class Scale:
    """How labels are compared; what is None follows from the question (see ``settled``).

    Args:
        level: level of measurement for Krippendorff's alpha.
        weights: agreement weights of all other coefficients, a name of ``stats`` ``SCHEMES``.
        confidence: of every interval.
        scores: a number for every label, in scale order; None counts 1, 2, 3, ...
    """

    level: str | None = None
    weights: str | None = None
    confidence: float = 0.95
    scores: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Settled:
    """The scale that one question was computed on.

    Args:
        level: level of measurement for Krippendorff's alpha.
        weights: agreement weights.
        confidence: of every interval.
        scores: the scores behind weights and alpha.
        why: why labels are compared by distance, where nobody asked for it; else empty.
    """

    level: str
    weights: str
    confidence: float
    scores: tuple[float, ...] | None
    why: str = ""


def settled(scale: Scale, *, ordered: bool) -> Settled:
    """Return the scale to compute with.

    What was asked for is kept. Otherwise declared scores mean distances: quadratic weights and
    interval alpha on the scores. An ordinal question means ranks: ordinal weights and ordinal
    alpha. All other labels are equal or not.
    """
    if scale.scores is not None:
        level, weights, why = "interval", "quadratic", "labels have scores"
    elif ordered:
        level, weights, why = "ordinal", "ordinal", "the question is ordinal"
    else:
        level, weights, why = "nominal", "identity", ""
    if scale.level is not None and scale.weights is not None:
        why = ""
    return Settled(
        scale.level or level, scale.weights or weights, scale.confidence, scale.scores, why
    )


@dataclass(frozen=True)
class Benchmark:
    """Words for one coefficient.

    Args:
        coefficient: its name.
        landis_koch: the band its value lies in.
        surely: the highest band that it reaches with probability above 0.95 (Gwet 2014, ch. 6.3);
            None where there is no standard error.
        borrowed: the bands were made for kappa, and this coefficient is none.
        bands: cumulative membership of every band, highest first.
    """

    coefficient: str
    landis_koch: str | None
    surely: str | None
    borrowed: bool
    bands: tuple[Band, ...]


@dataclass(frozen=True)
class GroupAgreement:
    """Agreement among the raters of one question in one group of items (``all``, ``domain=x``)."""

    question: str | None
    group: str
    scale: Settled
    labels: tuple[Value, ...]
    labels_declared: bool
    n_items: int
    n_raters: int
    n_pairs: int
    n_ratings: int
    coefficients: tuple[Coefficient, ...]
    pairs: tuple[RaterPair, ...]
    categories: tuple[CategoryAgreement, ...]
    two_by_two: TwoByTwo
    benchmarks: tuple[Benchmark, ...]
    remark: str


class ItemVote(NamedTuple):
    """What one item's ratings come to; a tuple, because there may be a million of them.

    Args:
        question: the question, or None.
        item: the item.
        majority: the leading label; None where several lead or nobody rated.
        outcome: ``majority``, ``tie`` or ``too_few``.
        tied: the labels that lead together.
        n_votes: ratings of the item.
        share: share of the leading label.
        dawid_skene: the most probable label under Dawid and Skene's model; None where two are
            equally probable or nobody rated.
        probability: how probable.
    """

    question: str | None
    item: str
    majority: Value | None
    outcome: str
    tied: tuple[Value, ...]
    n_votes: int
    share: float | None
    dawid_skene: Value | None
    probability: float | None


def agreement_of(rated: Rated, scale: Scale) -> tuple[GroupAgreement, ...]:
    """Return the agreement on one question, over all items and by stratum.

    Raises:
        StatisticsError: for weights or a level that the labels do not allow.
    """
    used = settled(scale, ordered=rated.ordered)
    groups = [("all", rated.table), *((s.name, s.table) for s in rated.strata)]
    return tuple(_group(rated.question, name, table, used) for name, table in groups)


def _group(question: str | None, name: str, table: RatingTable, scale: Settled) -> GroupAgreement:
    _check_order(question, table, scale)
    summary = summarise(table, scale.weights, scores=scale.scores, level=scale.confidence)
    coefficients = summary.coefficients + _alphas(table, scale)
    return GroupAgreement(
        question,
        name,
        scale,
        table.categories,
        table.declared,
        table.n_items,
        table.n_raters,
        table.n_pairs,
        int(table.freq @ table.ratings_per_row),
        coefficients,
        summary.pairs,
        summary.categories,
        summary.two_by_two,
        tuple(_benchmark(c) for c in coefficients if _is_corrected(c)),
        summary.remark,
    )


def _check_order(question: str | None, table: RatingTable, scale: Settled) -> None:
    """Ask for the order of text labels in the words of this command."""
    if scale.level not in LEVELS:
        raise InputError(f"unknown level {scale.level!r}; choose one of: {', '.join(LEVELS)}")
    ordered = scale.weights != "identity" or scale.level == "ordinal" or scale.scores is not None
    texts = [c for c in table.categories if isinstance(c, str)]
    if ordered and texts and not table.declared:
        about = f" of question {question!r}" if question is not None else ""
        shown = ", ".join(repr(t) for t in texts[:6])
        raise InputError(
            f"the labels{about} ({shown}) have no order that could be known; declare them in scale "
            f"order with --labels{_cure(texts)}"
        )


def _cure(texts: Sequence[str]) -> str:
    """Words about labels that look like "no rating": a bare mark, or text among numbers."""
    words = [text for text in texts if not _is_number(text)]
    marks = [text for text in texts if not any(sign.isalnum() for sign in text)]
    odd = marks or (words if len(words) < len(texts) else [])
    if not odd:
        return ""
    return (
        f"; if {', '.join(map(repr, odd[:3]))} means no rating, add --missing={','.join(odd[:3])}"
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _alphas(table: RatingTable, scale: Settled) -> tuple[Coefficient, ...]:
    """Alpha at the level asked for and with the weights asked for, beside the nominal one."""
    out: tuple[Coefficient, ...] = ()
    if scale.level != "nominal":
        metric = cast(Level, scale.level)
        alpha = krippendorff_alpha(table, metric, scores=scale.scores, level=scale.confidence)
        out += (replace(alpha, name=f"krippendorff_alpha_{metric}"),)
    if scale.weights != "identity":
        out += (
            krippendorff_alpha_weighted(
                table, scale.weights, scores=scale.scores, level=scale.confidence
            ),
        )
    return out


def _is_corrected(coefficient: Coefficient) -> bool:
    entry = COEFFICIENTS.get(coefficient.name)
    return entry is None or entry.chance_corrected


def _benchmark(coefficient: Coefficient) -> Benchmark:
    bands: tuple[Band, ...] = ()
    value, se = coefficient.value, coefficient.se
    # Coefficients may lie below -1 (alpha and weighted ones of few items): no band is theirs.
    if is_defined(value) and is_defined(se) and se > 0 and -1 <= value <= 1:
        bands = band_membership(value, se)
    return Benchmark(
        coefficient.name,
        landis_koch_band(value),
        next((band.name for band in bands if band.cumulative > _SURE), None),
        coefficient.name not in KAPPAS,
        bands,
    )


def votes_of(rated: Rated) -> list[ItemVote]:
    """Return the majority label of every item and the one Dawid and Skene's model finds.

    Ties are reported and never broken. The model is fitted to all ratings of the question.
    """
    table = rated.table
    if table.patterns is None or table.pattern_of is None or table.n_items == 0:
        return [_unrated(rated.question, item) for item in rated.items]
    vote = majority(table.patterns, table.q)
    fit = dawid_skene(table)
    # The model's codes and shares are worked out once per distinct row of ratings.
    by_row = replace(fit, pattern_of=None)
    best = by_row.posteriors.max(axis=1)
    kinds = [
        _kind(table, row, RowOutcome(int(vote.outcomes[row])), int(code), float(p))
        for row, (code, p) in enumerate(zip(by_row.labels, best, strict=True))
    ]
    return [
        ItemVote(rated.question, item, *kinds[row])
        for item, row in zip(rated.items, table.pattern_of.tolist(), strict=True)
    ]


def _kind(
    table: RatingTable, row: int, outcome: RowOutcome, model: int, probability: float
) -> tuple[Any, ...]:
    """The fields of ``ItemVote`` after the item, for one distinct row of ratings."""
    counts = table.counts[row]
    n = int(counts.sum())
    if n == 0:
        return (None, "too_few", (), 0, None, None, None)
    leading = tuple(table.categories[int(k)] for k in np.flatnonzero(counts == counts.max()))
    tied = outcome == RowOutcome.TIE
    return (
        None if tied else leading[0],
        outcome.name.lower(),
        leading if tied else (),
        n,
        float(counts.max()) / n,
        table.categories[model] if model >= 0 else None,
        probability,
    )


def _unrated(question: str | None, item: str) -> ItemVote:
    return ItemVote(question, item, None, "too_few", (), 0, None, None, None)


def vote_tally(votes: Sequence[ItemVote]) -> dict[str, int]:
    """Return how many items had every outcome; the numbers sum to the items."""
    out: dict[str, int] = {}
    for vote in votes:
        out[vote.outcome] = out.get(vote.outcome, 0) + 1
    return out
