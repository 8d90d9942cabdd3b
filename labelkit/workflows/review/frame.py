"""The frame of a sample: the rows people could be shown, with strata and uncertainties.

Only rows that can be shown and labelled are in it; the others are counted by reason. Strata and
uncertainty come from rules and judges alone, never from people, so that drawing again after people
have begun gives the same sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labelkit.digest import digest
from labelkit.domain.rubric import Question, Rubric
from labelkit.errors import InputError
from labelkit.store import Store
from labelkit.store.reports import trace_table
from labelkit.workflows.columns import read_rows, read_votes
from labelkit.workflows.ensemble import combine
from labelkit.workflows.rows import REASONS, Codes, Mask, Rows, Votes

ENSEMBLE = "ensemble"
DISAGREEMENT = "disagreement"
OWN = ("model", "condition", "domain", "subset", "task_set", ENSEMBLE, DISAGREEMENT)
"""What every store can be split by; any tag of the traces besides."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The rows of a frame, all arrays of length n.

    Args:
        ids: row ids of the traces, ascending.
        digests: their digests.
        rows: tags of the rows.
        strata: code of every row's stratum.
        names: names of the strata, sorted; one, ``all``, without strata.
        votes: codes of every rule and judge.
        ensemble: their ensemble's code, or a state.
        excluded: rows of the rubric that are not in the frame, by reason.
        remarks: identities of raters that were left out.
    """

    ids: NDArray[np.int64]
    digests: NDArray[np.object_]
    rows: Rows
    strata: NDArray[np.int64]
    names: tuple[str, ...]
    votes: tuple[Votes, ...]
    ensemble: Codes
    excluded: dict[str, int]
    remarks: tuple[str, ...]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.ids)

    @property
    def sizes(self) -> dict[str, int]:
        """Rows by stratum, in order of name."""
        counts = np.bincount(self.strata, minlength=len(self.names)).tolist()
        return dict(zip(self.names, counts, strict=True))


def read_frame(
    store: Store, rubric: Rubric, question: Question, strata: Sequence[str], last: int | None = None
) -> Frame:
    """Return the frame of a question as the store has it.

    Args:
        store: an open store.
        rubric: the rubric.
        question: the question whose labels ``ensemble`` and ``disagreement`` mean.
        strata: what to split by; see ``OWN``.
        last: highest trace row that counts: the frame as it was when a sample was drawn.

    Raises:
        InputError: something to split by that no trace has.
    """
    tags = [name for name in strata if name not in {ENSEMBLE, DISAGREEMENT}]
    rows, ids = read_rows(store, rubric, tags)
    votes, remarks = read_votes(store, rubric, question, ids)
    machines = [column for column in votes if column.kind != "person"]
    policy = rubric.ensemble_of(question)
    ensemble = combine(policy, machines, len(question.labels), rows.infra).codes
    early = np.ones(len(ids), dtype=bool) if last is None else ids <= last
    unlabelled = _without_labels(rubric, rows)
    kept = early & ~rows.infra & ~unlabelled
    excluded = {
        "infra_error": int((early & rows.infra).sum()),
        "no_label_applies": int((early & unlabelled & ~rows.infra).sum()),
    }
    columns = [
        _column(name, rows, machines, ensemble, question)[kept] for name in dict.fromkeys(strata)
    ]
    codes, names = _strata(tuple(dict.fromkeys(strata)), columns, int(kept.sum()))
    every = trace_table(store, digests=True)
    digests = every.digest if every.digest is not None else np.empty(0, dtype=object)
    return Frame(
        ids=ids[kept],
        digests=digests[np.searchsorted(every.id, ids[kept])],
        rows=Rows({k: v[kept] for k, v in rows.tags.items()}, rows.infra[kept]),
        strata=codes,
        names=names,
        votes=tuple(_only(column, kept) for column in machines),
        ensemble=ensemble[kept],
        excluded={reason: count for reason, count in excluded.items() if count},
        remarks=tuple(remarks),
    )


def frame_digest(frame: Frame, uncertainty: NDArray[np.float64] | None) -> str:
    """Return the address of a frame: digests in order, strata and uncertainties where used."""
    parts = [
        frame.digests.tolist(),
        frame.names,
        frame.strata.tolist(),
        [] if uncertainty is None else [round(u, 12) for u in uncertainty.tolist()],
    ]
    return digest(parts)


def uncertainty_of(frame: Frame, n_labels: int) -> NDArray[np.float64]:
    """Return the entropy of the rules' and judges' labels of every row; 1 bit-like unit at most.

    A row that nobody labelled is as uncertain as can be.
    """
    counts = np.zeros((len(frame), n_labels))
    for column in frame.votes:
        labelled = np.flatnonzero(column.codes >= 0)
        counts[labelled, column.codes[labelled]] += 1
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.full_like(counts, 1 / n_labels), where=total > 0)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    entropy: NDArray[np.float64] = -(share * logs).sum(axis=1) / np.log(max(2, n_labels))
    return entropy


def _without_labels(rubric: Rubric, rows: Rows) -> Mask:
    """Rows whose subset leaves no choice in one of the questions; nobody could answer there."""
    column = rows.coded(rubric.subset_tag)
    subsets = [
        rubric.subset_of({rubric.subset_tag: v} if v is not None else {}) for v in column.values
    ]
    lacking = [any(not q.choices_for(subset) for q in rubric.questions) for subset in subsets]
    mask: Mask = np.array(lacking, dtype=bool)[column.codes] if lacking else np.zeros(0, dtype=bool)
    return mask


def _only(column: Votes, kept: Mask) -> Votes:
    return replace(
        column,
        codes=column.codes[kept],
        flags={flag: mask[kept] for flag, mask in column.flags.items()},
        numbers={name: values[kept] for name, values in column.numbers.items()},
    )


def _column(
    name: str, rows: Rows, votes: Sequence[Votes], ensemble: Codes, question: Question
) -> NDArray[np.object_]:
    """What every row is called in one dimension of the strata."""
    if name == ENSEMBLE:
        labels = {code: definition.name for code, definition in enumerate(question.labels)}
        return _named(ensemble, labels | {code: f"({text})" for code, text in REASONS.items()})
    if name == DISAGREEMENT:
        return _named(_spread(votes, len(rows)), {0: "nobody", 1: "one", 2: "agree", 3: "disagree"})
    column = rows.tags.get(name)
    if column is None or (name not in OWN and all(cell is None for cell in column.tolist())):
        raise InputError(
            f"no trace has a tag {name!r} to split by; choose among {', '.join(OWN)} or a tag that"
            " traces have"
        )
    texts = np.empty(len(column), dtype=object)
    texts[:] = ["(none)" if cell is None else str(cell) for cell in column.tolist()]
    return texts


def _named(codes: NDArray[np.integer], names: dict[int, str]) -> NDArray[np.object_]:
    out = np.empty(len(codes), dtype=object)
    out[:] = [names[code] for code in codes.tolist()]
    return out


def _spread(votes: Sequence[Votes], n: int) -> NDArray[np.int64]:
    """0 nobody labelled, 1 one rater, 2 several who agree, 3 several who disagree."""
    if not votes:
        return np.zeros(n, dtype=np.int64)
    matrix = np.stack([column.codes for column in votes], axis=1)
    labelled = matrix >= 0
    high = np.where(labelled, matrix, -1).max(axis=1)
    low = np.where(labelled, matrix, np.iinfo(np.int32).max).min(axis=1)
    count = labelled.sum(axis=1)
    return np.where(count > 1, np.where(high != low, 3, 2), count).astype(np.int64)


def _strata(
    by: Sequence[str], columns: Sequence[NDArray[np.object_]], n: int
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Join the dimensions into one stratum per row; names as ``model=m, ensemble=F``."""
    if not by:
        return np.zeros(n, dtype=np.int64), ("all",)
    cells = list(zip(*(column.tolist() for column in columns), strict=True))
    present = sorted(set(cells))
    place = {cell: code for code, cell in enumerate(present)}
    names = [
        ", ".join(f"{name}={value}" for name, value in zip(by, cell, strict=True))
        for cell in present
    ]
    return np.array([place[cell] for cell in cells], dtype=np.int64), tuple(names)
