"""All coefficients of one table together, and one line about a puzzling pair of numbers.

What ``labelkit agree`` prints. Every number comes from the functions beside this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labelkit.stats.agreement.alpha import krippendorff_alpha
from labelkit.stats.agreement.bands import landis_koch_band
from labelkit.stats.agreement.chance import (
    brennan_prediger,
    category_shares,
    fleiss_kappa,
    gwet_ac,
    pabak,
    percent_agreement,
    scott_pi,
    unanimous_agreement,
)
from labelkit.stats.agreement.coefficient import Coefficient
from labelkit.stats.agreement.conger import conger_kappa
from labelkit.stats.agreement.pairwise import (
    RaterPair,
    TwoByTwo,
    cohen_kappa,
    light_kappa,
    pairwise_cohen,
    prevalence_and_bias,
)
from labelkit.stats.agreement.per_category import CategoryAgreement, category_agreement
from labelkit.stats.agreement.weights import Weights
from labelkit.stats.ratings import RatingTable
from labelkit.stats.undefined import is_defined

_HIGH_AGREEMENT, _LOW_KAPPA = 0.8, 0.6


@dataclass(frozen=True)
class AgreementSummary:
    """Everything that is printed about one table of ratings.

    Args:
        coefficients: all coefficients that apply, in the order of printing.
        pairs: Cohen's kappa of every pair of raters.
        categories: agreement label by label.
        two_by_two: prevalence and bias index (two raters, two labels; else undefined).
        band: Landis-Koch band of the kappa (Cohen's for two raters, Fleiss' for more).
        remark: one line when agreement is high and kappa is low; empty otherwise.
    """

    coefficients: tuple[Coefficient, ...]
    pairs: tuple[RaterPair, ...]
    categories: tuple[CategoryAgreement, ...]
    two_by_two: TwoByTwo
    band: str | None
    remark: str


def agreement_table(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Sequence[float] | None = None,
    level: float = 0.95,
    pairs: tuple[RaterPair, ...] | None = None,
) -> tuple[Coefficient, ...]:
    """Return all coefficients that apply to the table.

    With two raters Cohen's kappa and Scott's pi, with more Fleiss, Conger and Light; PABAK for
    two labels. Alpha is the nominal one whatever the weights. ``pairs`` saves the kappas of rater
    pairs (Light's mean) where ``pairwise_cohen`` has found them already.
    """
    two = table.n_raters <= 2
    named = table.patterns is not None
    out = [
        percent_agreement(table, weights, scores=scores, level=level),
        unanimous_agreement(table, level=level),
    ]
    if two:
        if named:
            out.append(cohen_kappa(table, weights, scores=scores, level=level))
        out.append(scott_pi(table, weights, scores=scores, level=level))
    else:
        out.append(fleiss_kappa(table, weights, scores=scores, level=level))
        if named:
            out.append(conger_kappa(table, weights, scores=scores, level=level))
            out.append(light_kappa(table, weights, scores=scores, level=level, pairs=pairs))
    out.append(gwet_ac(table, weights, scores=scores, level=level))
    out.append(brennan_prediger(table, weights, scores=scores, level=level))
    if two and table.q == 2:
        out.append(pabak(table, level=level))
    out.append(krippendorff_alpha(table, level=level))
    return tuple(out)


def summarise(
    table: RatingTable,
    weights: Weights = "identity",
    *,
    scores: Sequence[float] | None = None,
    level: float = 0.95,
) -> AgreementSummary:
    """Return all that is printed about one table of ratings.

    Args:
        table: the ratings.
        weights: agreement weights of all coefficients that take them.
        scores: numeric scores of the labels, one each, for the weights; default 1..q.
        level: confidence level.
    """
    pairs = pairwise_cohen(table, weights, scores=scores, level=level)
    coefficients = agreement_table(table, weights, scores=scores, level=level, pairs=pairs)
    kappa = _kappa(coefficients)
    return AgreementSummary(
        coefficients,
        pairs,
        category_agreement(table),
        prevalence_and_bias(table),
        landis_koch_band(kappa.value) if kappa else None,
        explain(table, coefficients, weighted=not _is_identity(weights)),
    )


def _is_identity(weights: Weights) -> bool:
    return isinstance(weights, str) and weights == "identity"


def explain(
    table: RatingTable, coefficients: tuple[Coefficient, ...], *, weighted: bool = False
) -> str:
    """Return one line when agreement is high and kappa low, or when kappa does not exist.

    Feinstein & Cicchetti (1990), J. Clin. Epidemiol. 43:543: with one dominant label most
    agreement is expected by chance, so a few disagreements cost much kappa. ``weighted`` says
    that the agreement counts near labels in part.
    """
    kappa, agreement = _kappa(coefficients), coefficients[0].value
    if kappa is None or not is_defined(agreement) or agreement < _HIGH_AGREEMENT:
        return ""
    shares, _ = category_shares(table)
    top = int(shares.argmax())
    label, share = table.categories[top], float(shares[top])
    if not is_defined(kappa.value):
        return (
            f"Raters agree on {agreement:.0%} of pairs, but only {label!r} occurs: the data cannot "
            "show whether they could tell labels apart, so kappa has no value."
        )
    if kappa.value >= _LOW_KAPPA:
        return ""
    agree = f"Raters agree on {agreement:.0%} of pairs"
    if weighted:
        agree = f"Weighted agreement is {agreement:.0%}"
    return (
        f"{agree} but kappa is {kappa.value:.2f}: {share:.0%} of "
        f"ratings are {label!r}, so most of the agreement is expected by chance; read AC1 and the "
        "agreement on the rare labels beside it."
    )


def _kappa(coefficients: tuple[Coefficient, ...]) -> Coefficient | None:
    for wanted in ("cohen_kappa", "fleiss_kappa", "scott_pi"):
        for coefficient in coefficients:
            if coefficient.name == wanted:
                return coefficient
    return None
