"""How far a draw leans towards rows in doubt: what people see before they draw it.

A draw that follows doubt finds more of what raters part on and is less sure of an overall rate.
Both are known beforehand, from the chances alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.stats.draws import Draw
from labelkit.stats.planning import expected_half_width
from labelkit.workflows.rows import Mask


@dataclass(frozen=True)
class Lean:
    """How far a mixed draw leans towards rows in doubt, and what that costs.

    Args:
        doubted: rows of the frame on which rules and judges part, or that none of them labelled.
        expected: such rows among the drawn ones, on average: the sum of their chances.
        evenly: how many a uniform draw would hold, with the same strata.
        effective_n: rows of a uniform draw from which an overall rate would be as sure:
            N^2 / sum(1 / chance), the drawn rows over Kish's design effect (Kish 1965, sec. 11.7).
        half_width: of the Wilson interval to expect for that many, at a rate of 50%.
    """

    doubted: int
    expected: float
    evenly: float
    effective_n: float
    half_width: float


def lean_of(draw: Draw, even: Draw, doubted: Mask, confidence: float) -> Lean:
    """Compare a draw with an even one of the same frame; ``doubted`` has shape (rows,)."""
    n, rows = len(draw.rows), len(doubted)
    effective = rows**2 / float((1 / draw.probabilities).sum())
    width = expected_half_width(
        0.5, n, level=confidence, design_effect=n / effective, population=rows
    )
    return Lean(
        int(doubted.sum()),
        float(draw.probabilities[doubted].sum()),
        float(even.probabilities[doubted].sum()),
        effective,
        width,
    )
