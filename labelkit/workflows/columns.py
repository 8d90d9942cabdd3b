"""From the store's columns to the rows and votes of a report.

Only labels given under the very rubric in hand count: a changed rubric is another rubric. Of
several identities of one rater name (another model behind an endpoint, another token cap) the one
registered last is taken and the others are named, so that nothing is pooled silently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.label import Outcome, Rater
from labelkit.domain.rubric import Question, Rubric
from labelkit.stats.vote import RowOutcome, lower_median, majority
from labelkit.store import Store
from labelkit.store.raters import raters
from labelkit.store.reports import LabelTable, TraceTable, label_table, trace_table
from labelkit.workflows.rows import ABSTAINED, FAILED, TIED, UNLABELLED, Codes, Mask, Rows, Votes

CHANGED = "changed"
"""In the identity of a rule that ran under another policy: the options that were changed."""

OWN_COLUMNS = ("model", "condition", "domain", "subset", "task_set")
_STATES = {Outcome.ABSTAINED.value: ABSTAINED, Outcome.FAILED.value: FAILED}


def read_rows(
    store: Store,
    rubric: Rubric,
    by: Sequence[str],
    sample: int | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Rows, NDArray[np.int64]]:
    """Return the rows a rubric applies to, and their trace ids (ascending).

    With ``sample`` (its row in the store) only the items of that sample; with ``where`` only rows
    whose tags read as one of the texts given.
    """
    needed = _tags_needed(rubric) | set(by) | set(where or ())
    table = trace_table(store, tags=bool(needed - set(OWN_COLUMNS)), sample=sample)
    rows = Rows(tags=_tag_columns(table, needed), infra=table.state == "infra_error")
    applies = rows.having(rubric.applies_to.tags) & rows.reading(where or {})
    kept = Rows(
        tags={name: column[applies] for name, column in rows.tags.items()},
        infra=rows.infra[applies],
        items=_items(table)[applies] if rubric.contrasts else None,
    )
    return kept, table.id[applies]


def known_tags(store: Store) -> list[str]:
    """Return every tag that some trace has, sorted; empty for a store without traces."""
    table = trace_table(store, tags=True)
    found = {name for tags in table.tags if tags for name in tags} if table.tags is not None else ()
    own = {name for name in OWN_COLUMNS if any(v is not None for v in getattr(table, name))}
    return sorted(own.union(found))


def _tags_needed(rubric: Rubric) -> set[str]:
    """Every tag that the rubric's numbers ask for."""
    predicates = [rubric.applies_to]
    other: set[str | None] = {rubric.subset_tag}
    for rate in rubric.rates:
        predicates += [rate.numerator, rate.denominator.where]
        other |= {rate.cluster, rate.macro}
    for measure in rubric.measures:
        predicates += [side.where for side in (measure.within, measure.against) if side]
        other |= {measure.cluster, measure.macro}
    other |= {contrast.tag for contrast in rubric.contrasts}
    other |= {front.over for front in rubric.fronts}
    named = {name for predicate in predicates for name in predicate.tags}
    return named | {name for name in other if name is not None}


def _items(table: TraceTable) -> NDArray[np.int64]:
    """Number (task, model, repeat) in order of appearance; -1 where the task is not known."""
    numbers: dict[tuple[object, ...], int] = {}
    columns = (table.task_set, table.task_id, table.model, table.repeat.tolist())
    keys = list(zip(*columns, strict=True))
    return np.array(
        [-1 if key[1] is None else numbers.setdefault(key, len(numbers)) for key in keys],
        dtype=np.int64,
    )


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
    store: Store,
    rubric: Rubric,
    question: Question,
    ids: NDArray[np.int64],
    sample: int | None = None,
    *,
    variants: bool = False,
) -> tuple[list[Votes], list[str]]:
    """Return one column of votes per rater, and remarks about identities left out.

    ``ids`` are the row ids of the traces, ascending; ``sample`` (its row in the store) says that
    they are the items of one sample, so that the labels of no other trace are read. ``variants``
    are rules under a changed policy: they are for comparison and cast no vote.
    """
    # Whoever labels for the rubric: asking who labelled this question would read the table twice.
    everybody = raters(store)
    known = [rater for rater in everybody if rater.spec.get("rubric_digest") == rubric.digest]
    if not variants:
        known = [rater for rater in known if CHANGED not in rater.spec]
    same_name = [rater for rater in everybody if rater.spec.get("rubric") == rubric.name]
    elsewhere = sum(rater.spec.get("rubric_digest") != rubric.digest for rater in same_name)
    apart = (
        f"{elsewhere} of the raters of {rubric.name} labelled under another text of it; their "
        f"labels are kept but do not count for this one (digest {rubric.digest[:12]})"
    )
    if not known:
        return [], [apart] if elsewhere else []
    table = label_table(
        store, question.id, [rater.digest for rater in known], flags=True, sample=sample
    )
    gave = np.bincount(table.rater, minlength=len(known))
    chosen, remarks = _in_force([rater for rater, n in zip(known, gave, strict=True) if n])
    places = {digest: place for place, digest in enumerate(table.raters)}
    labels = [definition.name for definition in question.labels]
    remarks += [apart] if elsewhere else []
    return [
        _votes(rater, places[rater.digest], table, ids, labels, rubric.ensemble_of(question).method)
        for rater in chosen
    ], remarks


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
    method: str,
) -> Votes:
    """Align one rater's labels with the rows; several repeats become one, by ``method``."""
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
    recorded = _facts(table, kinds, rows, len(ids)) if rater.kind == "rule" else _Facts({}, {})
    repeats = table.repeat[mine]
    codes, consistency = _one_per_row(rows, repeats, given, len(ids), len(labels), method)
    if rater.kind == "person":
        # A second look at a row is a hidden check of steadiness; it casts no vote.
        first = table.repeat[mine] == 0
        codes = np.full(len(ids), UNLABELLED, dtype=np.int32)
        codes[rows[first]] = given[first]
    return Votes(
        name=rater.name,
        kind=rater.kind,
        digest=rater.digest,
        variant=CHANGED in rater.spec,
        codes=codes,
        consistency=consistency,
        flags=recorded.flags,
        numbers=recorded.numbers,
        null_reasons=dict(sorted(reasons.items())),
    )


def _one_per_row(
    rows: NDArray[np.int64],
    repeats: NDArray[np.int64],
    given: Codes,
    n_rows: int,
    n_labels: int,
    method: str,
) -> tuple[Codes, float | None]:
    """One code per row, and how firmly a judge stands by it.

    Repeats vote; a split leaves the judge undecided (``tie``), except where the question takes
    the median. Self-consistency is the mean share
    of the leading label over rows with several readable repeats; None where there are none.
    """
    codes = np.full(n_rows, UNLABELLED, dtype=np.int32)
    codes[rows] = given
    width = int(repeats.max(initial=0)) + 1
    if width == 1:
        return codes, None
    matrix = np.full((n_rows, width), -1, dtype=np.int32)
    matrix[rows, repeats] = np.maximum(given, -1)
    median = method == "lower_median"
    vote = lower_median(matrix, n_labels) if median else majority(matrix, n_labels)
    decided = np.where(vote.outcomes == RowOutcome.TIE, TIED, vote.codes)
    codes = np.where(vote.n_votes > 0, decided, codes).astype(np.int32)
    several = vote.n_votes > 1
    return codes, float(vote.share[several].mean()) if several.any() else None


@dataclass(frozen=True)
class _Facts:
    """What a rule's labels record beside the label, per row of the report."""

    flags: dict[str, Mask]
    numbers: dict[str, NDArray[np.float64]]


def _facts(
    table: LabelTable, kinds: NDArray[np.int64], rows: NDArray[np.int64], n_rows: int
) -> _Facts:
    """Return flags as masks and counted facts (``calls=7``) as numbers.

    ``kinds`` are those of the rule's labels, by row. Work is done once per kind of label and flag
    that it has, since every row may have a count of its own.
    """
    plain: dict[str, list[int]] = {}
    counted: dict[str, dict[int, float]] = {}
    for kind in np.unique(kinds).tolist():
        for flag in table.kinds[kind].flags:
            name, _, number = flag.partition("=")
            value = finite(number)
            if value is None:
                plain.setdefault(flag, []).append(kind)
            else:
                counted.setdefault(name, {})[kind] = value
    found = _Facts({}, {})
    for flag, carriers in plain.items():
        has = np.zeros(len(table.kinds), dtype=bool)
        has[carriers] = True
        found.flags[flag] = np.zeros(n_rows, dtype=bool)
        found.flags[flag][rows[has[kinds]]] = True
    for name, values in counted.items():
        of_kind = np.full(len(table.kinds), np.nan)
        of_kind[list(values)] = list(values.values())
        found.numbers[name] = np.full(n_rows, np.nan)
        found.numbers[name][rows] = of_kind[kinds]
    return found


def finite(text: str) -> float | None:
    """Return the number a text is, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None
