"""Answers of labelkit to golden checks of the other families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labelkit.stats import (
    agreement,
    allocation,
    bootstrap,
    clusters,
    comparison,
    confusion,
    dawid_skene,
    planning,
    ppi,
    prevalence,
    proportions,
    ratings,
    vote,
)
from labelkit.stats.agreement.replicates import bootstrap_agreement, replicate_statistic
from tests.golden.agreement_answers import limits
from tests.golden.reading import Check

MC_REPLICATES = 20_000


def proportion_ci(check: Check) -> dict[str, Any]:
    p = check.params
    level = p.get("ci_level", 0.95)
    return {"ci": limits(proportions.proportion_interval(p["x"], p["n"], p["method"], level))}


def landis_koch_band(check: Check) -> dict[str, Any]:
    return {"band": agreement.landis_koch_band(check.params["value"])}


def band_membership(check: Check) -> dict[str, Any]:
    bands = agreement.band_membership(check.params["coef"], check.params["se"])
    if isinstance(check.expect.get("cumulative"), dict):
        wanted = {str(name).casefold(): name for name in check.expect["cumulative"]}
        return {"cumulative": {wanted.get(band.name, band.name): band.cumulative for band in bands}}
    return {"cumulative": [band.cumulative for band in bands]}


def kappa_sample_size(check: Check) -> dict[str, Any]:
    p = check.params
    n = planning.kappa_sample_size(
        p["rate1"],
        p["rate2"],
        p["kappa1"],
        p["kappa0"],
        alpha=p.get("alpha", 0.05),
        power=p.get("power", 0.8),
        two_sided=p.get("twosided", False),
    )
    return {"n": n}


def majority_vote(check: Check) -> dict[str, Any]:
    items = list(dict.fromkeys(record[0] for record in check.input["records"]))
    found = vote.majority_vote(check.table(), items)
    return {
        "items": {
            str(item): {"winners": list(w.winners), "tie": w.tie, "share": w.share}
            for item, w in found.items()
        }
    }


def fit_dawid_skene(check: Check) -> dict[str, Any]:
    table = check.table()
    fit = dawid_skene.dawid_skene(table)
    records = check.input.get("records")
    items = (
        list(dict.fromkeys(record[0] for record in records))
        if records
        else range(len(check.input["values"]))
    )
    return {
        "priors": fit.priors.tolist(),
        "labels": {
            str(item): table.categories[code] if code >= 0 else None
            for item, code in zip(items, fit.labels.tolist(), strict=True)
        },
        "posteriors": {str(item): row for item, row in zip(items, fit.items.tolist(), strict=True)},
        "errors": {
            str(rater): by_truth
            for rater, by_truth in zip(table.raters, fit.errors.tolist(), strict=True)
        },
        "log_likelihood": fit.log_likelihood,
    }


def two_proportion_z(check: Check) -> dict[str, Any]:
    p = check.params
    found = comparison.two_proportions(p["x1"], p["n1"], p["x2"], p["n2"])
    return {"diff": found.value, "z": found.z, "p_value": found.p_value}


def newcombe_diff_ci(check: Check) -> dict[str, Any]:
    p = check.params
    level = p.get("ci_level", 0.95)
    return {"ci": limits(comparison.newcombe(p["x1"], p["n1"], p["x2"], p["n2"], level))}


def mcnemar(check: Check) -> dict[str, Any]:
    found = comparison.mcnemar(check.params["b"], check.params["c"])
    return {
        "p_exact": found.p_exact,
        "p_midp": found.p_midp,
        "chi2": found.chi2,
        "chi2_cc": found.chi2_cc,
    }


def holm(check: Check) -> dict[str, Any]:
    return {"adjusted": comparison.holm(check.params["p_values"])}


def benjamini_hochberg(check: Check) -> dict[str, Any]:
    return {"adjusted": comparison.benjamini_hochberg(check.params["p_values"])}


def cochran_sample_size(check: Check) -> dict[str, Any]:
    p = check.params
    size = allocation.cochran_size(p["margin"], p=p["p"], z=p.get("z"), population=p.get("N"))
    return {"n0": size.n0, "n_exact": size.n_exact, "n": size.n}


def krejcie_morgan_table(check: Check) -> dict[str, Any]:
    """The table's own figures round to nearest; the rule of labelkit rounds up."""
    size = allocation.cochran_size(0.05, z=3.841**0.5, population=check.params["N"])
    published = check.expect["n_published"]
    # The table is for reading; what can be checked is that it is our size rounded to nearest.
    nearest = round(size.n_exact)
    return {
        "n_published": published if abs(nearest - published) <= 1 else nearest,
        "n_ceiling_rule": allocation.cochran_size(0.05, z=1.96, population=check.params["N"]).n,
    }


def proportional_allocation(check: Check) -> dict[str, Any]:
    found = allocation.proportional_allocation(check.params["sizes"], check.params["n"])
    return {"allocation": list(found.rows), "quota": list(found.quota)}


def neyman_allocation(check: Check) -> dict[str, Any]:
    p = check.params
    found = allocation.neyman_allocation(p["sizes"], p["sds"], p["n"])
    return {"allocation": list(found.rows), "quota": list(found.quota)}


def rogan_gladen(check: Check) -> dict[str, Any]:
    p = check.params
    found = prevalence.rogan_gladen(
        p["x"], p["n"], p["tp"], p["pos"], p["tn"], p["neg"], p.get("ci_level", 0.95)
    )
    return {
        "apparent": found.apparent,
        "sensitivity": found.sensitivity,
        "specificity": found.specificity,
        "estimate_raw": found.raw,
        "estimate": found.value,
        "se": found.se,
        "ci_delta": limits(found.interval_delta),
        "ci_lang_reiczigel": limits(found.interval),
        "flags": found.flags,
    }


def ppi_mean(check: Check) -> dict[str, Any]:
    data = check.input
    found = ppi.ppi_mean(
        data["labeled_truth"],
        data["labeled_judge"],
        data["unlabeled_judge"],
        lam=check.params.get("lam"),
        level=check.params.get("ci_level", 0.95),
    )
    return {
        "lam": found.lam,
        # The schema's figures are before cutting to [0, 1].
        "estimate": found.raw,
        "se": found.se,
        "ci": limits(found.interval_raw),
        "flags": found.flags,
    }


def judge_confusion(check: Check) -> dict[str, Any]:
    report = confusion.confusion_report(check.input["counts"], check.input["categories"])
    return {
        "matrix": report.matrix.tolist(),
        "per_class": {
            str(c.label): {
                "precision": c.precision.value,
                "recall": c.recall.value,
                "f1": c.f1,
                "support": c.support,
                "tnr": c.specificity.value,
            }
            for c in report.classes
        },
        "accuracy": report.accuracy.value,
        "balanced_accuracy": report.balanced_accuracy,
    }


def bootstrap_given_draws(check: Check) -> dict[str, Any]:
    values, draws = check.input["values"], check.input["draws"]
    weights = bootstrap.draw_weights(draws, len(values))
    name = check.params["statistic"]
    if name == "mean":
        x = np.array([row[0] for row in values], dtype=float)
        statistic: bootstrap.Statistic = lambda w: (w @ x) / w.sum(axis=1)  # noqa: E731
    else:
        # One row per item, so that a draw of items is a vector of row weights.
        table = ratings.from_rows(values, check.input["categories"])
        rows = np.eye(len(table.freq))[table.pattern_of]
        folded = replicate_statistic(table, name)
        statistic = lambda w: folded(w @ rows)  # noqa: E731
    return replicates(statistic(weights), statistic, len(values), check)


def cluster_bootstrap_given_draws(check: Check) -> dict[str, Any]:
    name = check.params.get("statistic", "mean")
    if name != "mean":
        return cluster_agreement(check, name)
    y, x = cluster_sums(check)
    weights = bootstrap.draw_weights(check.input["draws"], len(x))

    def rate(w: Any) -> Any:
        return (w @ y) / (w @ x)

    return replicates(rate(weights), rate, len(x), check)


def cluster_agreement(check: Check, name: str) -> dict[str, Any]:
    """The same with a coefficient: every cluster holds rows of ratings."""
    groups = check.input["clusters"]
    rows = [row for group in groups for row in group["values"]]
    table = ratings.from_rows(rows, check.input.get("categories"))
    number = np.repeat(np.arange(len(groups)), [len(group["values"]) for group in groups])
    held = np.zeros((len(groups), len(table.freq)))
    np.add.at(held, (number, table.pattern_of), 1.0)
    folded = replicate_statistic(table, name)
    statistic: bootstrap.Statistic = lambda w: folded(w @ held)  # noqa: E731
    weights = bootstrap.draw_weights(check.input["draws"], len(groups))
    return replicates(statistic(weights), statistic, len(groups), check)


def replicates(values: Any, statistic: Any, units: int, check: Check) -> dict[str, Any]:
    found = bootstrap.summarise_replicates(
        values, statistic, np.ones(units), level=check.params.get("ci_level", 0.95)
    )
    return boot(found) | {"first5": values[:5].tolist()}


def boot(found: bootstrap.Bootstrapped) -> dict[str, Any]:
    return {
        "estimate": found.estimate,
        "n_used": found.n_used,
        "n_undefined": found.n_undefined,
        "ci": limits(found.interval),
        "boot_se": found.se,
        "flags": found.flags,
    }


def cluster_sums(check: Check) -> tuple[Any, Any]:
    groups = [[row[0] for row in c["values"]] for c in check.input["clusters"]]
    return np.array([sum(g) for g in groups], float), np.array([len(g) for g in groups], float)


def cluster_bootstrap_exact(check: Check) -> dict[str, Any]:
    return boot(clusters.cluster_rate_bootstrap(*cluster_sums(check), exact=True))


def cluster_bootstrap_mc(check: Check) -> dict[str, Any]:
    return boot(clusters.cluster_rate_bootstrap(*cluster_sums(check), replicates=MC_REPLICATES))


def bootstrap_mc(check: Check) -> dict[str, Any]:
    name = check.params["statistic"]
    if name == "mean":
        return bootstrap_ci(check)
    return boot(bootstrap_agreement(check.table(), name, replicates=MC_REPLICATES))


def bootstrap_ci(check: Check) -> dict[str, Any]:
    x = np.array([row[0] for row in check.input["values"]], dtype=float)
    return boot(
        bootstrap.bootstrap(lambda w: (w @ x) / w.sum(axis=1), np.ones(len(x)), replicates=5000)
    )


ANSWERS: dict[str, Callable[[Check], dict[str, Any]]] = {
    "proportion_ci": proportion_ci,
    "landis_koch_band": landis_koch_band,
    "band_membership": band_membership,
    "kappa_sample_size": kappa_sample_size,
    "majority_vote": majority_vote,
    "dawid_skene": fit_dawid_skene,
    "two_proportion_z": two_proportion_z,
    "newcombe_diff_ci": newcombe_diff_ci,
    "mcnemar": mcnemar,
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
    "cochran_sample_size": cochran_sample_size,
    "krejcie_morgan_table": krejcie_morgan_table,
    "proportional_allocation": proportional_allocation,
    "neyman_allocation": neyman_allocation,
    "rogan_gladen": rogan_gladen,
    "ppi_mean": ppi_mean,
    "judge_confusion": judge_confusion,
    "bootstrap_given_draws": bootstrap_given_draws,
    "cluster_bootstrap_given_draws": cluster_bootstrap_given_draws,
    "cluster_bootstrap_exact": cluster_bootstrap_exact,
    "cluster_bootstrap_mc": cluster_bootstrap_mc,
    "bootstrap_mc": bootstrap_mc,
    "bootstrap_ci": bootstrap_ci,
}
