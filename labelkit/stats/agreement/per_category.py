"""Agreement label by label: which label do raters confuse?"""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.stats.agreement.chance import category_shares
from labelkit.stats.agreement.coefficient import nothing_to_compare
from labelkit.stats.encode import Value
from labelkit.stats.ratings import RatingTable
from labelkit.stats.undefined import Number, Reason, Undefined


@dataclass(frozen=True)
class CategoryAgreement:
    """Agreement on one label.

    Args:
        label: the label.
        share: mean share of the label per item.
        specific: probability that a second rater gives the label, given that one rater did.
        n_ratings: how often it was given to items with two or more ratings.
    """

    label: Value
    share: Number
    specific: Number
    n_ratings: int


def category_agreement(table: RatingTable) -> tuple[CategoryAgreement, ...]:
    """Return the specific agreement of every declared label.

    Spitzer & Fleiss (1974), Br. J. Psychiatry 125:341, in the form for any number of raters of
    Uebersax (1982): sum_i n_ij (n_ij - 1)/(r_i - 1) over sum_i n_ij, items with two or more
    ratings. For two raters it is 2a / (2a + b + c); for a yes/no question the two values are
    positive and negative agreement.
    """
    why = nothing_to_compare(table)
    if why is not None:
        return tuple(CategoryAgreement(label, why, why, 0) for label in table.categories)
    keep = table.ratings_per_row >= 2
    counts, freq = table.counts[keep], table.freq[keep]
    free = table.ratings_per_row[keep] - 1.0
    together = (freq / free) @ (counts * (counts - 1.0))
    given = freq @ counts
    shares, _ = category_shares(table)
    never = Undefined(Reason.ZERO_DENOMINATOR, "nobody gave this label")
    return tuple(
        CategoryAgreement(label, float(share), float(hits / times) if times else never, int(times))
        for label, share, hits, times in zip(table.categories, shares, together, given, strict=True)
    )
