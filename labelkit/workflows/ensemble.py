"""Several raters' labels become one, by the rubric's rule and nothing else.

The counting is ``stats.vote``; this module knows what a missing vote means. An abstention is a
rater that defers: it does not vote, and the others decide. A failed or missing label is
different: under ``drop_row`` (the source papers' way) the row is dropped and counted, under
``ignore`` the remaining raters vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelkit.domain.rubric import Ensemble
from labelkit.stats.vote import RowOutcome, Vote, lower_median, majority
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


@dataclass(frozen=True, eq=False)
class Combination:
    """The ensemble's label per row.

    ``codes``: shape (n_rows,), a label or the state that explains why there is none.
    ``tie_broken``: rows whose top count was shared and whose label is the rule's.
    """

    codes: Codes
    tie_broken: Mask


def combine(policy: Ensemble, votes: Sequence[Votes], n_labels: int, infra: Mask) -> Combination:
    """Return the ensemble's label per row, or the state that explains why there is none.

    People check the ensemble and are no part of it: they vote only where there is nobody else.

    Args:
        policy: method, tie rule, null policy and the least number of votes, of the question.
        votes: one column per rater, each of shape (n_rows,).
        n_labels: number of declared labels.
        infra: rows whose rollout died; they are never labelled.
    """
    votes = [column for column in votes if column.kind != "person"] or votes
    if not votes:
        codes = np.where(infra, INFRA_ERROR, UNLABELLED).astype(np.int32)
        return Combination(codes, np.zeros(len(infra), dtype=bool))
    matrix = np.stack([v.codes for v in votes], axis=1)
    rules = [place for place, column in enumerate(votes) if column.kind == "rule"]
    vote = _count(policy, np.maximum(matrix, -1), n_labels, rules[0] if rules else None)
    codes = np.select(
        [vote.outcomes == RowOutcome.TIE, vote.outcomes == RowOutcome.TOO_FEW],
        [np.full(len(infra), TIED), _why_too_few(matrix)],
        default=vote.codes,
    )
    if policy.null_policy == "drop_row":
        null = (matrix == FAILED).any(axis=1)
        codes = np.where((matrix == UNLABELLED).any(axis=1), UNLABELLED, codes)
        codes = np.where(null, FAILED, codes)
    codes = np.where(infra, INFRA_ERROR, codes).astype(np.int32)
    return Combination(codes, (vote.outcomes == RowOutcome.TIE_BROKEN) & (codes >= 0))


def _count(policy: Ensemble, codes: Codes, n_labels: int, rule: int | None) -> Vote:
    """Count the votes by the policy's method; ``rule`` is the rule's column."""
    if policy.method == "lower_median":
        return lower_median(codes, n_labels, min_raters=policy.min_raters)
    tie_rater = rule if policy.tie == "rule" else None
    return majority(codes, n_labels, tie_rater=tie_rater, min_raters=policy.min_raters)


def _why_too_few(matrix: Codes) -> Codes:
    """The state of a row with too few votes: the gravest among its raters' states."""
    gravest_first = [FAILED, UNLABELLED, TIED, ABSTAINED]
    present = [(matrix == state).any(axis=1) for state in gravest_first]
    return np.select(present, gravest_first, default=DROPPED).astype(np.int32)
