"""The report: rates with named denominators, coverage and intervals, and who agrees with whom.

It reads columns from the store, never objects, and computes nothing itself: votes become one
label in ``ensemble``, labels become rates in ``rates``, agreement comes from ``labelkit.stats``.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from labelkit.catalog.rubrics import as_rubric
from labelkit.domain.rubric import Question, Rubric
from labelkit.errors import InputError
from labelkit.store import Store
from labelkit.workflows.agreement import GroupAgreement, Scale, agreement_of
from labelkit.workflows.columns import OWN_COLUMNS, known_tags, read_rows, read_votes
from labelkit.workflows.contrasts import CompositeResult, ContrastResult, FrontResult
from labelkit.workflows.ensemble import Combination, combine
from labelkit.workflows.measures import MeasureResult
from labelkit.workflows.published import publish
from labelkit.workflows.rates import Groups, RateResult, everything
from labelkit.workflows.rows import PROTOCOL, REASONS, Codes, Rows, Votes, facts_of
from labelkit.workflows.rubric_choice import question_of
from labelkit.workflows.rubric_ratings import rated_votes

ENSEMBLE = "ensemble"


@dataclass(frozen=True)
class RaterSummary:
    """What one rater did with the rows: labels given, and rows without one, by reason.

    ``self_consistency``: mean share of the leading label where it labelled a row several times.
    """

    name: str
    kind: str
    digest: str
    labelled: int
    without: Mapping[str, int]
    null_reasons: Mapping[str, int]
    label_counts: Mapping[str, int]
    self_consistency: float | None


@dataclass(frozen=True)
class Report:
    """Everything ``labelkit report`` prints.

    ``source`` is ``ensemble`` or one rater's name, ``label_counts`` how often it gave each label.
    ``tie_broken``: rows among them whose top count was shared, so that the rule's label decided.
    """

    rubric: str
    version: str
    question: str
    source: str
    n_traces: int
    states: Mapping[str, int]
    label_counts: Mapping[str, int]
    tie_broken: int
    raters: tuple[RaterSummary, ...]
    rates: tuple[RateResult, ...]
    measures: tuple[MeasureResult, ...]
    contrasts: tuple[ContrastResult, ...]
    composites: tuple[CompositeResult, ...]
    fronts: tuple[FrontResult, ...]
    agreement: tuple[GroupAgreement, ...]
    remarks: tuple[str, ...]


def report(
    store: Store,
    rubric: Rubric | str | Path,
    *,
    by: Sequence[str] = (),
    rater: str | None = None,
    question: str | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
) -> Report:
    """Compute the report of a rubric over every trace of the store it applies to.

    Rollouts of different protocols are never pooled: where the store holds several, every number
    is given protocol by protocol.

    Args:
        store: an open store.
        rubric: the rubric, its name or path; only labels given under this very version count.
        by: break rates down by ``model``, ``domain``, ``subset`` or any other tag.
        rater: take this rater's labels instead of the ensemble's.
        question: the question; default the rubric's primary one.
        where: only traces whose tags (``condition``, ``task_set`` ...) read as one of the texts.

    Raises:
        InputError: for an unknown rater, question or tag, or when no trace is left.
    """
    named = rubric.name if isinstance(rubric, Rubric) else str(rubric)
    rubric = as_rubric(rubric)
    asked = question_of(rubric, question)
    rows, ids = read_rows(store, rubric, [*by, PROTOCOL], where=where)
    if where and len(rows) == 0:
        _refuse_nothing(store, named, where)
    columns, remarks = read_votes(store, rubric, asked, ids, variants=True)
    votes = [column for column in columns if not column.variant]
    labels = tuple(definition.name for definition in asked.labels)
    combined = _row_labels(rubric, asked, columns if rater else votes, rows, rater)
    codes = combined.codes
    across = [everything(len(rows)), *(_cut(rows, tag) for tag in by)]
    alone = [column for column in columns if rater in {column.name, column.digest[:12]}]
    facts = facts_of([*alone, *votes], len(rows))
    numbers = publish(rubric, asked, rows, codes, facts, _groups(rows, by), across)
    return Report(
        rubric=rubric.name,
        version=rubric.version,
        question=asked.id,
        source=rater or ENSEMBLE,
        n_traces=len(rows),
        states=_states(codes),
        label_counts=_label_counts(codes, labels),
        tie_broken=int(np.count_nonzero(combined.tie_broken)),
        raters=tuple(_summary(column, labels) for column in columns),
        rates=numbers.rates,
        measures=numbers.measures,
        contrasts=numbers.contrasts,
        composites=numbers.composites,
        fronts=numbers.fronts,
        agreement=_agreement(asked, votes, rows, rubric),
        remarks=(*remarks, *_beside(columns), *_no_subset(rubric, rows)),
    )


def agree(
    store: Store, rubric: Rubric | str | Path, *, question: str | None = None
) -> tuple[GroupAgreement, ...]:
    """Return the agreement of all raters of a question, overall and by subset.

    Args:
        store: an open store.
        rubric: the rubric; only labels given under this very version count.
        question: the question; default the rubric's primary one.

    Raises:
        InputError: for an unknown question.
    """
    return report(store, rubric, question=question).agreement


def _row_labels(
    rubric: Rubric, question: Question, votes: Sequence[Votes], rows: Rows, rater: str | None
) -> Combination:
    """The label of each row: the ensemble's, or one rater's."""
    policy, n_labels = rubric.ensemble_of(question), len(question.labels)
    if rater is None:
        return combine(policy, votes, n_labels, rows.infra)
    for column in votes:
        if rater in {column.name, column.digest[:12]}:
            alone = policy.model_copy(update={"min_raters": 1})
            return combine(alone, [column], n_labels, rows.infra)
    known = ", ".join(column.name for column in votes) or "nobody yet"
    raise InputError(f"no rater {rater!r} has labelled for {rubric.name}; choose one of: {known}")


def _beside(columns: Sequence[Votes]) -> list[str]:
    """What to know of rules under a changed policy."""
    return [
        f"{column.name} labelled under a changed policy and casts no vote; its own numbers: "
        f"labelkit report --rater {column.name}"
        for column in columns
        if column.variant
    ]


def _no_subset(rubric: Rubric, rows: Rows) -> list[str]:
    """Name traces without a task where denominators ask for the subset that a task would give."""
    asks = [rubric.subset_tag in rate.denominator.where.tags for rate in rubric.rates]
    if not any(asks):
        return []
    bare = [rows.tags[name] for name in (rubric.subset_tag, "task_set")]
    number = sum(subset is None and task is None for subset, task in zip(*bare, strict=True))
    if not number:
        return []
    traces = "1 trace belongs" if number == 1 else f"{number} traces belong"
    what = "no denominator can hold" if all(asks) else "no denominator over a subset can hold"
    return [f"{traces} to no task, so {what} {'it' if number == 1 else 'them'}"]


def _refuse_nothing(store: Store, named: str, where: Mapping[str, Sequence[str]]) -> None:
    known = known_tags(store)
    if not known:
        raise InputError("there is no trace in the store; import traces first (`labelkit import`)")
    for tag in where:
        if tag not in known:
            raise InputError(f"no trace has a tag {tag!r}; known are: {', '.join(known)}")
    wanted = ", ".join(f"{tag}={'|'.join(texts)}" for tag, texts in where.items())
    raise InputError(
        f"no trace that the rubric applies to has {wanted}; `labelkit report --rubric "
        f"{shlex.quote(named)} --by {shlex.quote(next(iter(where)))}` shows what there is"
    )


def _groups(rows: Rows, by: Sequence[str]) -> list[Groups]:
    """All rows and the cuts asked for; several protocols are kept apart in every one of them."""
    protocols = {value for value in rows.coded(PROTOCOL).values if value is not None}
    cuts = [_cut(rows, tag) for tag in by]
    if len(protocols) < 2:
        return [everything(len(rows)), *cuts]
    apart = _cut(rows, PROTOCOL)
    return [
        apart,
        *(_crossed(apart, cut) for tag, cut in zip(by, cuts, strict=True) if tag != PROTOCOL),
    ]


def _crossed(first: Groups, second: Groups) -> Groups:
    """The groups of two cuts together; pairs without a row are left out."""
    wide = first.codes.astype(np.int64) * len(second.names) + second.codes
    present, codes = np.unique(wide, return_inverse=True)
    names = [
        f"{first.names[code // len(second.names)]}, {second.names[code % len(second.names)]}"
        for code in present.tolist()
    ]
    return Groups(tuple(names), codes.astype(np.int32))


def _cut(rows: Rows, tag: str) -> Groups:
    """One group per text of a tag, in sorted order; rows without the tag are one group too."""
    column = rows.coded(tag) if tag in rows.tags else None
    if column is None or (tag not in OWN_COLUMNS and not any(v is not None for v in column.values)):
        raise InputError(
            f"no trace has a tag {tag!r} to break rates down by; known are: "
            + ", ".join(sorted(rows.tags.keys() - {tag}))
        )
    texts = ["(none)" if value is None else str(value) for value in column.values]
    names = sorted(set(texts))
    place = np.array([names.index(text) for text in texts], dtype=np.int32)
    return Groups(tuple(f"{tag}={name}" for name in names), place[column.codes])


def _states(codes: Codes) -> dict[str, int]:
    """Rows with a label, and rows without one by reason; they add up to all rows."""
    counts = {"labelled": int(np.count_nonzero(codes >= 0))}
    for state, reason in REASONS.items():
        number = int(np.count_nonzero(codes == state))
        if number:
            counts[reason] = number
    return counts


def _label_counts(codes: Codes, labels: Sequence[str]) -> dict[str, int]:
    given = np.bincount(codes[codes >= 0], minlength=len(labels)).tolist()
    return dict(zip(labels, given, strict=True))


def _summary(column: Votes, labels: Sequence[str]) -> RaterSummary:
    states = _states(column.codes)
    return RaterSummary(
        name=column.name,
        kind=column.kind,
        digest=column.digest,
        labelled=states.pop("labelled"),
        without=states,
        null_reasons=column.null_reasons,
        label_counts=_label_counts(column.codes, labels),
        self_consistency=column.consistency,
    )


def _agreement(
    question: Question, votes: Sequence[Votes], rows: Rows, rubric: Rubric
) -> tuple[GroupAgreement, ...]:
    """Agreement over all rows, and by subset where subsets have different label sets."""
    if len(votes) < 2:
        return ()
    masks = {name: rows.having({rubric.subset_tag: (name,)}) for name in rubric.subsets}
    strata = [
        (f"{rubric.subset_tag}={name}", mask, name) for name, mask in masks.items() if mask.any()
    ]
    return agreement_of(rated_votes(question, votes, strata), Scale())
