"""How many quotes of raters were found word for word in a sample's traces, and how many not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from labelkit.store.engine import Store
from labelkit.store.review_tables import SAMPLE_ITEM
from labelkit.store.tables import LABEL, RATER


@dataclass(frozen=True)
class QuoteCount:
    """Quotes in the labels in force of one rater, and those without a place in the trace."""

    quotes: int = 0
    unresolved: int = 0


def quote_counts(
    store: Store, sample: int, question: str, raters: Sequence[str]
) -> dict[str, QuoteCount]:
    """Return the quotes of raters (by digest) on the items of a sample."""
    query = (
        select(RATER.c.digest, LABEL.c.trace_id, LABEL.c.repeat, LABEL.c.evidence, LABEL.c.version)
        .select_from(
            SAMPLE_ITEM.join(LABEL, LABEL.c.trace_id == SAMPLE_ITEM.c.trace_id).join(
                RATER, RATER.c.id == LABEL.c.rater_id
            )
        )
        .where(
            SAMPLE_ITEM.c.sample_id == sample,
            LABEL.c.question == question,
            RATER.c.digest.in_(list(raters)),
        )
        .order_by(LABEL.c.version)
    )
    with store.reading() as connection:
        rows = connection.execute(query).all()
    in_force = {(row.digest, row.trace_id, row.repeat): row.evidence or [] for row in rows}
    counts: dict[str, QuoteCount] = {}
    for (rater, _, _), evidence in in_force.items():
        before = counts.get(rater, QuoteCount())
        lost = sum(quote.get("start") is None for quote in evidence)
        counts[rater] = QuoteCount(before.quotes + len(evidence), before.unresolved + lost)
    return counts
