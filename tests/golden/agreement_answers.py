"""Answers of labelkit to golden checks of the agreement families."""

from __future__ import annotations

from typing import Any

from labelkit.stats import agreement
from labelkit.stats.agreement import Alpha, Coefficient
from labelkit.stats.intervals import Interval
from labelkit.stats.undefined import Undefined
from tests.golden.reading import Check

WEIGHTED = {
    "cohen_kappa": agreement.cohen_kappa,
    "scott_pi": agreement.scott_pi,
    "fleiss_kappa": agreement.fleiss_kappa,
    "fleiss_kappa_pooled": agreement.fleiss_kappa_pooled,
    "gwet_ac": agreement.gwet_ac,
    "brennan_prediger": agreement.brennan_prediger,
    "conger_kappa": agreement.conger_kappa,
    "light_kappa": agreement.light_kappa,
    "percent_agreement": agreement.percent_agreement,
    "krippendorff_alpha_weighted": agreement.krippendorff_alpha_weighted,
}
PLAIN = {"unanimous_agreement": agreement.unanimous_agreement, "pabak": agreement.pabak}


def answer(check: Check) -> dict[str, Any] | None:
    """Return the outputs by key, or None when this is no agreement statistic."""
    params, name = check.params, check.statistic
    level = params.get("ci_level", 0.95)
    if name in PLAIN:
        return outputs(PLAIN[name](check.table(), level=level))
    if name in WEIGHTED:
        options: dict[str, Any] = {"scores": params.get("weight_scores"), "level": level}
        if "ci_method" in params:
            options["method"] = params["ci_method"]
        return outputs(WEIGHTED[name](check.table(), params.get("weights", "identity"), **options))
    if name == "krippendorff_alpha":
        metric = params.get("level", "nominal")
        scores = params.get("weight_scores")
        return outputs(
            agreement.krippendorff_alpha(check.table(), metric, scores=scores, level=level)
        )
    return None


def outputs(result: Coefficient) -> dict[str, Any]:
    """Name the fields of a result as the schema does."""
    out: dict[str, Any] = {
        "estimate": result.value,
        "po": result.observed,
        "pa": result.observed,
        "pe": result.expected,
        "se": result.se,
        "se_null": result.se_null,
        "ci": limits(result.interval),
        "category_kappas": list(result.parts),
        "pairs": list(result.parts),
        "flags": result.flags,
    }
    if isinstance(result, Alpha):
        out |= {"d_o": result.d_o, "d_e": result.d_e, "n_pairable": result.n_pairable}
    return out


def limits(interval: Interval | Undefined) -> list[float] | None:
    """Return an interval as the schema writes it."""
    return None if isinstance(interval, Undefined) else [interval.low, interval.high]
