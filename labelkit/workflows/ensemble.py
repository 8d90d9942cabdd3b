"""Several raters' labels become one, by the rubric's rule and nothing else.

An abstention is a rater that defers: it does not vote, and the others decide. A failed or missing
label is different: under ``drop_row`` (the source papers' way) the row is dropped and counted,
under ``ignore`` the remaining raters vote.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labelkit.domain.rubric import Ensemble
from labelkit.workflows.rows import (
    ABSTAINED,
    DROPPED,
    FAILED,
    INFRA_ERROR,
    TIED,
    UNLABELLED,
    Codes,
    Mask,
    Votes,
)


def combine(policy: Ensemble, votes: Sequence[Votes], n_labels: int, infra: Mask) -> Codes:
    """Return the ensemble's label per row, or the state that explains why there is none.

    Args:
        policy: tie rule, null policy and the least number of votes, from the rubric.
        votes: one column per rater, each of shape (n_rows,).
        n_labels: number of declared labels.
        infra: rows whose rollout died; they are never labelled.
    """
    if not votes:
        return np.where(infra, INFRA_ERROR, UNLABELLED).astype(np.int32)
    matrix = np.stack([v.codes for v in votes], axis=1)
    counts = np.stack([(matrix == label).sum(axis=1) for label in range(n_labels)], axis=1)
    top = counts.max(axis=1)
    winner = counts.argmax(axis=1).astype(np.int32)
    tied = (counts == top[:, None]).sum(axis=1) > 1
    codes = np.where(tied, TIED, winner).astype(np.int32)
    if policy.tie == "rule":
        rule = _rule_codes(votes)
        codes = np.where(tied & (rule >= 0), rule, codes)
    voted = counts.sum(axis=1)
    codes = np.where(voted < policy.min_raters, _why_too_few(matrix), codes)
    if policy.null_policy == "drop_row":
        null = (matrix == FAILED).any(axis=1)
        codes = np.where(null, FAILED, codes)
        codes = np.where((matrix == UNLABELLED).any(axis=1) & ~null, UNLABELLED, codes)
    return np.where(infra, INFRA_ERROR, codes).astype(np.int32)


def _rule_codes(votes: Sequence[Votes]) -> Codes:
    """The rule's votes; rows of "abstained" when no rule took part."""
    for column in votes:
        if column.kind == "rule":
            return column.codes
    return np.full(len(votes[0].codes), ABSTAINED, dtype=np.int32)


def _why_too_few(matrix: Codes) -> Codes:
    """The state of a row with too few votes: the gravest among its raters' states."""
    states = np.where(matrix < 0, matrix, 0)
    present = [(states == s).any(axis=1) for s in (FAILED, UNLABELLED, ABSTAINED)]
    return np.select(present, [FAILED, UNLABELLED, ABSTAINED], default=DROPPED).astype(np.int32)
