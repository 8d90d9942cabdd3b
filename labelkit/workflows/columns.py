"""From the store's columns to the rows and votes of a report.

Only labels given under the very rubric in hand count: a changed rubric is another rubric. Of
several identities of one rater name (another model behind an endpoint, another token cap) the one
registered last is taken and the others are named, so that nothing is pooled silently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.label import Outcome, Rater
from labelkit.domain.rubric import Question, Rubric
from labelkit.stats.vote import RowOutcome, majority
from labelkit.store import Store
from labelkit.store.raters import raters
from labelkit.store.reports import LabelTable, TraceTable, label_table, trace_table
from labelkit.workflows.rows import ABSTAINED, FAILED, TIED, UNLABELLED, Codes, Mask, Rows, Votes

OWN_COLUMNS = ("model", "condition", "domain", "subset", "task_set")
_STATES = {Outcome.ABSTAINED.value: ABSTAINED, Outcome.FAILED.value: FAILED}


def read_rows(store: Store, rubric: Rubric, by: Sequence[str]) -> tuple[Rows, NDArray[np.int64]]:
    """Return the rows a rubric applies to, and their trace ids (ascending)."""
    needed = _tags_needed(rubric) | set(by)
    table = trace_table(store, tags=bool(needed - set(OWN_COLUMNS)))
    rows = Rows(tags=_tag_columns(table, needed), infra=table.state == "infra_error")
    applies = rows.having(rubric.applies_to.tags)
    kept = Rows(
        tags={name: column[applies] for name, column in rows.tags.items()},
        infra=rows.infra[applies],
    )
    return kept, table.id[applies]


def _tags_needed(rubric: Rubric) -> set[str]:
    """Every tag that a predicate of the rubric asks for."""
    predicates = [rubric.applies_to]
    for rate in rubric.rates:
        predicates += [rate.numerator, rate.denominator.where]
    return {name for predicate in predicates for name in predicate.tags} | {rubric.subset_tag}


def _tag_columns(table: TraceTable, needed: set[str]) -> dict[str, NDArray[np.object_]]:
    """Columns of the table as tags, and every other tag that is needed."""
    columns: dict[str, NDArray[np.object_]] = {name: getattr(table, name) for name in OWN_COLUMNS}
    for name in needed - set(OWN_COLUMNS):
        column = np.empty(len(table), dtype=object)
        if table.tags is not None:
            column[:] = [tags.get(name) for tags in table.tags]
        columns[name] = column
    return columns


def read_votes(
    store: Store, rubric: Rubric, question: Question, ids: NDArray[np.int64]
) -> tuple[list[Votes], list[str]]:
    """Return one column of votes per rater, and remarks about identities left out."""
    # Whoever labels for the rubric: asking who labelled this question would read the table twice.
    everybody = raters(store)
    known = [rater for rater in everybody if rater.spec.get("rubric_digest") == rubric.digest]
    same_name = [rater for rater in everybody if rater.spec.get("rubric") == rubric.name]
    elsewhere = sum(rater not in known for rater in same_name)
    apart = (
        f"{elsewhere} of the raters of {rubric.name} labelled under another text of it; their "
        f"labels are kept but do not count for this one (digest {rubric.digest[:12]})"
    )
    if not known:
        return [], [apart] if elsewhere else []
    table = label_table(store, question.id, [rater.digest for rater in known], flags=True)
    gave = np.bincount(table.rater, minlength=len(known))
    chosen, remarks = _in_force([rater for rater, n in zip(known, gave, strict=True) if n])
    places = {digest: place for place, digest in enumerate(table.raters)}
    labels = [definition.name for definition in question.labels]
    remarks += [apart] if elsewhere else []
    return [_votes(rater, places[rater.digest], table, ids, labels) for rater in chosen], remarks


def _in_force(found: Sequence[Rater]) -> tuple[list[Rater], list[str]]:
    """The last registered identity of every (kind, name); rules first, then by name."""
    latest: dict[tuple[str, str], Rater] = {}
    older: Counter[str] = Counter()
    for rater in found:
        if (rater.kind, rater.name) in latest:
            older[rater.name] += 1
        latest[rater.kind, rater.name] = rater
    remarks = [
        f"{name}: {count} earlier {'identity' if count == 1 else 'identities'} of this rater "
        "(other model, decoding or prompt) left out; labels of different identities are not pooled"
        for name, count in older.items()
    ]
    return sorted(latest.values(), key=lambda r: (r.kind != "rule", r.name)), remarks


def _votes(
    rater: Rater,
    place: int,
    table: LabelTable,
    ids: NDArray[np.int64],
    labels: Sequence[str],
) -> Votes:
    """Align one rater's labels with the rows; several repeats become their majority."""
    mine = np.flatnonzero(table.rater == place)
    rows = np.searchsorted(ids, table.trace[mine])
    known = rows < len(ids)
    known[known] = ids[rows[known]] == table.trace[mine][known]
    mine, rows = mine[known], rows[known]
    code_of: dict[str | None, int] = {label: code for code, label in enumerate(labels)}
    meaning = [_STATES.get(kind.outcome, code_of.get(kind.value, FAILED)) for kind in table.kinds]
    kinds = table.kind[mine]
    given = np.array(meaning, dtype=np.int32)[kinds]
    times = np.bincount(kinds, minlength=len(meaning)).tolist()
    reasons: Counter[str] = Counter()
    for kind, code, count in zip(table.kinds, meaning, times, strict=True):
        if code < 0 and count:
            reasons[str(kind.reason)] += count
    codes, consistency = _one_per_row(rows, table.repeat[mine], given, len(ids), len(labels))
    return Votes(
        name=rater.name,
        kind=rater.kind,
        digest=rater.digest,
        codes=codes,
        consistency=consistency,
        flags=_flag_masks(table, kinds, rows, len(ids)) if rater.kind == "rule" else {},
        null_reasons=dict(sorted(reasons.items())),
    )


def _one_per_row(
    rows: NDArray[np.int64], repeats: NDArray[np.int64], given: Codes, n_rows: int, n_labels: int
) -> tuple[Codes, float | None]:
    """One code per row, and how firmly a judge stands by it.

    Repeats vote; a split leaves the judge undecided (``tie``). Self-consistency is the mean share
    of the leading label over rows with several readable repeats; None where there are none.
    """
    codes = np.full(n_rows, UNLABELLED, dtype=np.int32)
    codes[rows] = given
    width = int(repeats.max(initial=0)) + 1
    if width == 1:
        return codes, None
    matrix = np.full((n_rows, width), -1, dtype=np.int32)
    matrix[rows, repeats] = np.maximum(given, -1)
    vote = majority(matrix, n_labels)
    decided = np.where(vote.outcomes == RowOutcome.TIE, TIED, vote.codes)
    codes = np.where(vote.n_votes > 0, decided, codes).astype(np.int32)
    several = vote.n_votes > 1
    return codes, float(vote.share[several].mean()) if several.any() else None


def _flag_masks(
    table: LabelTable, kinds: NDArray[np.int64], rows: NDArray[np.int64], n_rows: int
) -> dict[str, Mask]:
    """Mask of rows per flag that a rule recorded; ``kinds`` are those of its labels, by row."""
    masks: dict[str, Mask] = {}
    present = set(np.unique(kinds).tolist())
    for flag in dict.fromkeys(f for code in sorted(present) for f in table.kinds[code].flags):
        carries = np.array([flag in kind.flags for kind in table.kinds], dtype=bool)
        masks[flag] = np.zeros(n_rows, dtype=bool)
        masks[flag][rows[carries[kinds]]] = True
    return masks
