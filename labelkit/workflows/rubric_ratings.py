"""The labels of a rubric's raters in a store as tables of ratings, by question and stratum.

The same rules as the report: only labels are compared, a state (failed, abstained, not labelled)
is a missing rating, and where subsets have different label sets each is compared within its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labelkit.domain.rubric import Question, Rubric
from labelkit.errors import InputError
from labelkit.stats.ratings import RatingTable, from_codes
from labelkit.store import Store
from labelkit.workflows.columns import read_rows, read_votes
from labelkit.workflows.ratings import Rated, Stratum, idle
from labelkit.workflows.rows import REASONS, Mask, Rows, Votes


def ratings_of_rubric(
    store: Store, rubric: Rubric, *, question: str | None = None, by: Sequence[str] = ()
) -> tuple[list[Rated], list[str]]:
    """Return the ratings of every question that two raters or more have labelled, and remarks.

    Args:
        store: an open store.
        rubric: the rubric; only labels given under this very version count.
        question: one question; default all of them.
        by: tags that split the traces into strata; default the rubric's subsets.

    Raises:
        InputError: for an unknown question or a tag that no trace has.
    """
    known = [q.id for q in rubric.questions]
    if question is not None and question not in known:
        raise InputError(
            f"rubric {rubric.name} has no question {question!r}; choose one of: {', '.join(known)}"
        )
    rows, ids = read_rows(store, rubric, by)
    strata = _strata(rows, tuple(by) or ((rubric.subset_tag,) if rubric.subsets else ()), rubric)
    found: list[Rated] = []
    remarks: list[str] = []
    for asked in rubric.questions:
        if question not in {None, asked.id}:
            continue
        votes, said = read_votes(store, rubric, asked, ids)
        remarks += [remark for remark in said if remark not in remarks]
        if len(votes) < 2:
            who = ", ".join(vote.name for vote in votes) or "nobody"
            remarks.append(f"question {asked.id!r} has no agreement: labelled by {who} only")
            continue
        found.append(rated_votes(asked, votes, strata))
        said = [f"question {asked.id!r}: {remark}" for remark in idle(found[-1].table)]
        remarks += [remark for remark in said if remark not in remarks]
    return found, remarks


def _strata(rows: Rows, tags: Sequence[str], rubric: Rubric) -> list[tuple[str, Mask, str | None]]:
    """Name, rows and (for the rubric's subsets) the subset whose labels apply."""
    out: list[tuple[str, Mask, str | None]] = []
    for tag in tags:
        column = rows.tags.get(tag)
        if column is None or (len(column) and all(cell is None for cell in column)):
            raise InputError(
                f"no trace has a tag {tag!r} to split by; known are: {', '.join(sorted(rows.tags))}"
            )
        texts = np.array(["(none)" if cell is None else str(cell) for cell in column])
        for value in sorted(set(texts.tolist())):
            subset = value if tag == rubric.subset_tag and value in rubric.subsets else None
            out.append((f"{tag}={value}", texts == value, subset))
    return out


def rated_votes(
    question: Question,
    votes: Sequence[Votes],
    strata: Sequence[tuple[str, Mask, str | None]],
    items: Sequence[str] | None = None,
) -> Rated:
    """Return votes as ratings, the one way for `labelkit agree` and for people's live agreement.

    Args:
        question: whose labels the votes are.
        votes: one column per rater; states are missing ratings.
        strata: name and rows of every stratum, and the subset whose labels apply there, or None.
        items: names of the rows; default their numbers from 1.
    """
    every = np.ones(len(votes[0].codes), dtype=bool)
    labels = [definition.name for definition in question.labels]
    missing: dict[str, int] = {}
    for vote in votes:
        for state, reason in REASONS.items():
            number = int(np.count_nonzero(vote.codes == state))
            if number:
                missing[reason] = missing.get(reason, 0) + number
    return Rated(
        question.id,
        _table(votes, labels, every, labels),
        [str(k) for k in range(1, len(every) + 1)] if items is None else items,
        tuple(
            Stratum(
                name,
                _table(votes, labels, mask, _labels(question, subset)),
            )
            for name, mask, subset in strata
        ),
        missing,
        ordered=question.type == "ordinal",
    )


def _labels(question: Question, subset: str | None) -> Sequence[str]:
    """The labels that count in a stratum: those of its subset; all where it is none, as a day."""
    own = question.labels_for(subset) if subset is not None else ()
    return own or [definition.name for definition in question.labels]


def _table(
    votes: Sequence[Votes], labels: Sequence[str], mask: Mask, declared: Sequence[str]
) -> RatingTable:
    matrix = np.stack([vote.codes[mask] for vote in votes], axis=1)
    place = np.full(len(labels) + 1, -1, dtype=np.int32)
    for new, label in enumerate(declared):
        place[labels.index(label)] = new
    codes = place[np.where(matrix >= 0, matrix, len(labels))]
    return from_codes(codes, list(declared), [vote.name for vote in votes])
