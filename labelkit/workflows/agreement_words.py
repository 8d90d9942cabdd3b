"""What must be said of agreement: names of coefficients, weak intervals, paradox and bands.

The terminal and the page Report say the same in the same words. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Collection

from labelkit.stats.agreement import Coefficient
from labelkit.stats.undefined import Undefined
from labelkit.workflows.agreement import GroupAgreement, Settled

_NAMES = {
    "percent_agreement": "pairwise agreement",
    "unanimous_agreement": "unanimous",
    "cohen_kappa": "Cohen's kappa",
    "scott_pi": "Scott's pi",
    "fleiss_kappa": "Fleiss' kappa",
    "conger_kappa": "Conger's kappa",
    "light_kappa": "Light's kappa",
    "brennan_prediger": "Brennan-Prediger",
    "pabak": "PABAK",
    "krippendorff_alpha": "alpha (nominal)",
    "krippendorff_alpha_ordinal": "alpha (ordinal)",
    "krippendorff_alpha_interval": "alpha (interval)",
    "krippendorff_alpha_ratio": "alpha (ratio)",
    "krippendorff_alpha_weighted": "alpha (weighted)",
}
_FLAGS = {
    "few_items": "fewer than 20 items",
    "few_disagreements": "fewer than 5 items show a disagreement",
    "few_weighted_disagreements": (
        "the disagreements, as they are weighted, are worth fewer than 25 equal ones"
    ),
    "few_hits": "fewer than 4 items are unanimous, or fewer than 4 are not",
    "few_rare_labels": "fewer than 15 items are free of the commonest label",
    "zero_width_interval": "an interval without width shows lack of information, not certainty",
    "labels_not_declared": "only labels that occur are counted; declare the set with --labels",
    "undefined_pairs_left_out": "pairs without a kappa are left out of Light's mean",
    "se_with_missing_ratings": "ratings are missing: standard errors are those of ratio estimates",
}
_UNSURE = (
    "few_items",
    "few_disagreements",
    "few_weighted_disagreements",
    "few_rare_labels",
    "few_hits",
    "zero_width_interval",
)


def remarks_on(group: GroupAgreement, scale: Settled) -> list[str]:
    """Return what has to be said about the numbers: the paradox, the bands, weak intervals."""
    lines = [_compared(scale)] if scale.why else []
    lines += [group.remark] if group.remark else []
    kappa = next((b for b in group.benchmarks if not b.borrowed), None)
    if kappa is not None and kappa.landis_koch and kappa.surely:
        sure = f"with 95% probability it is at least {kappa.surely}"
        if kappa.surely == "poor":
            sure = "but no band above poor is 95% sure"
        lines.append(
            f"{name_of(kappa.coefficient, scale)} is {kappa.landis_koch}; {sure}. Bands are Landis "
            "and Koch's, made for kappa; (borrowed) elsewhere."
        )
    flags = {flag for c in group.coefficients for flag in c.flags}
    flags |= {flag for pair in group.pairs for flag in pair.result.flags}
    unsure = why_unsure(flags)
    if unsure:
        lines.append(f"* the interval may cover less than it says: {'; '.join(unsure)}.")
    lines += [f"{_FLAGS.get(flag, flag)}.".capitalize() for flag in sorted(flags - set(_UNSURE))]
    holes = {
        c.value.reason.value: c.value.detail
        for c in group.coefficients
        if isinstance(c.value, Undefined)
    }
    return lines + [f"null ({reason}): {detail}." for reason, detail in holes.items()]


def _compared(scale: Settled) -> str:
    """Say that near labels count in part, where nobody asked for it."""
    return (
        f"Because {scale.why}, coefficients have {scale.weights} weights and alpha is given as "
        f"{scale.level} too; --weights identity --level nominal compares labels as equal or not."
    )


def interval_of(coefficient: Coefficient) -> str:
    """Return the interval, with a star where it may cover less than it says; or nothing."""
    if isinstance(coefficient.interval, Undefined):
        return ""
    star = "*" if any(flag in coefficient.flags for flag in _UNSURE) else ""
    return f"{coefficient.interval.low:.3f} - {coefficient.interval.high:.3f}{star}"


def name_of(name: str, scale: Settled) -> str:
    """Return a coefficient's name for people; the scale tells AC1 from AC2."""
    return titled(name, scale.weights)


def titled(name: str, weights: str) -> str:
    """Return the name of a coefficient under weights of that name for people."""
    if name == "gwet_ac":
        return "Gwet's AC1" if weights == "identity" else "Gwet's AC2"
    return _NAMES.get(name, name)


def why_unsure(flags: Collection[str]) -> list[str]:
    """Return why an interval of a coefficient with these flags may cover less than it says."""
    return [_FLAGS[flag] for flag in _UNSURE if flag in flags]
