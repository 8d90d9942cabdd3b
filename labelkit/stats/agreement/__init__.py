"""Agreement between raters: one function per coefficient, one table of all of them.

``COEFFICIENTS`` is the table. Property tests run over it and ``agreement_table`` computes it, so
a new coefficient is a function and one line here. Only numpy is imported: a report starts fast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from labelkit.stats.agreement.alpha import (
    Alpha,
    krippendorff_alpha,
    krippendorff_alpha_weighted,
)
from labelkit.stats.agreement.bands import Band, band_membership, landis_koch_band
from labelkit.stats.agreement.chance import (
    brennan_prediger,
    fleiss_kappa,
    fleiss_kappa_pooled,
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
from labelkit.stats.agreement.summary import (
    AgreementSummary,
    agreement_table,
    explain,
    summarise,
)
from labelkit.stats.ratings import RatingTable


@dataclass(frozen=True)
class Entry:
    """One line of the table of coefficients.

    Args:
        compute: the function; takes a table, and weights and scores where ``weighted``.
        weighted: whether it takes agreement weights.
        chance_corrected: whether it is (pa - pe) / (1 - pe) or a mean of such values.
        uses_unused: whether declared labels that nobody used change it.
        anonymous: whether it can be computed from counts of anonymous raters.
        two_raters: whether it compares exactly two raters.
    """

    compute: Callable[..., Coefficient]
    weighted: bool = True
    chance_corrected: bool = True
    uses_unused: bool = False
    anonymous: bool = True
    two_raters: bool = False


def _alpha_ordinal(table: RatingTable, *, level: float = 0.95) -> Alpha:
    return krippendorff_alpha(table, "ordinal", level=level)


def _alpha_nominal(table: RatingTable, *, level: float = 0.95) -> Alpha:
    return krippendorff_alpha(table, "nominal", level=level)


COEFFICIENTS: dict[str, Entry] = {
    "percent_agreement": Entry(percent_agreement, chance_corrected=False),
    "unanimous_agreement": Entry(unanimous_agreement, weighted=False, chance_corrected=False),
    "cohen_kappa": Entry(cohen_kappa, anonymous=False, two_raters=True),
    "scott_pi": Entry(scott_pi, two_raters=True),
    "fleiss_kappa": Entry(fleiss_kappa),
    "fleiss_kappa_pooled": Entry(fleiss_kappa_pooled),
    "conger_kappa": Entry(conger_kappa, anonymous=False),
    "light_kappa": Entry(light_kappa, anonymous=False),
    "brennan_prediger": Entry(brennan_prediger, uses_unused=True),
    "pabak": Entry(pabak, weighted=False, uses_unused=True),
    "gwet_ac": Entry(gwet_ac, uses_unused=True),
    "krippendorff_alpha": Entry(_alpha_nominal, weighted=False),
    "krippendorff_alpha_ordinal": Entry(_alpha_ordinal, weighted=False),
    "krippendorff_alpha_weighted": Entry(krippendorff_alpha_weighted),
}

__all__ = [
    "COEFFICIENTS",
    "AgreementSummary",
    "Alpha",
    "Band",
    "CategoryAgreement",
    "Coefficient",
    "Entry",
    "RaterPair",
    "TwoByTwo",
    "agreement_table",
    "band_membership",
    "brennan_prediger",
    "category_agreement",
    "cohen_kappa",
    "conger_kappa",
    "explain",
    "fleiss_kappa",
    "fleiss_kappa_pooled",
    "gwet_ac",
    "krippendorff_alpha",
    "krippendorff_alpha_weighted",
    "landis_koch_band",
    "light_kappa",
    "pabak",
    "pairwise_cohen",
    "percent_agreement",
    "prevalence_and_bias",
    "scott_pi",
    "summarise",
    "unanimous_agreement",
]
