"""Judges, rule and ensemble against what people decided: how far one may trust each.

True is the decision on an item, else the label all people agree on. Every number over the sample
is weighted by inclusion probability, so it speaks of the whole frame; ids of the traces stand
beside every cell, so that a number can be looked into.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.label import Rater
from labelkit.domain.person import Person
from labelkit.domain.sample import Sample
from labelkit.stats.agreement import Coefficient
from labelkit.stats.agreement.pairwise import cohen_kappa
from labelkit.stats.confusion import JudgeReport, judge_report
from labelkit.stats.intervals import Proportion, proportion
from labelkit.stats.ratings import from_codes
from labelkit.store import Store
from labelkit.store import samples as samples_kept
from labelkit.store.adjudications import decisions
from labelkit.store.growth import growth
from labelkit.store.quotes import QuoteCount, quote_counts
from labelkit.store.raters import raters
from labelkit.store.reports import label_table
from labelkit.workflows.review.access import Right, require
from labelkit.workflows.review.corrected import Audit, CorrectedRate, corrected
from labelkit.workflows.review.frame import Frame, read_frame
from labelkit.workflows.review.gold import Gold, gold_of
from labelkit.workflows.review.kept import Kept
from labelkit.workflows.review.live import version
from labelkit.workflows.review.reading import PeopleLabels, read_people
from labelkit.workflows.rows import UNLABELLED, Codes, facts_of

ENSEMBLE = "ensemble"

_KEPT: Kept[JudgeQuality] = Kept()


@dataclass(frozen=True, eq=False)
class JudgeLine:
    """One judge, rule or the ensemble against the true labels.

    Args:
        name: of the rater; ``ensemble``.
        kind: ``judge``, ``rule`` or ``ensemble``.
        rater: digest; empty for the ensemble.
        report: per-class precision and recall with intervals, kappa, MCC, coverage (weighted).
        cells: digests of the traces by (true label, judge's label).
        missing: digests of items with a true label that the judge gave none.
        quotes: evidence, and how much of it was not found word for word.
        rates: raw and corrected rates of the rubric.
    """

    name: str
    kind: str
    rater: str
    report: JudgeReport
    cells: tuple[tuple[tuple[str, ...], ...], ...]
    missing: tuple[str, ...]
    quotes: QuoteCount
    rates: tuple[CorrectedRate, ...]


@dataclass(frozen=True, eq=False)
class Drift:
    """Two identities of one rater name on the same items: another model, prompt or decoding.

    Args:
        name: the name they share.
        earlier, later: digests, in the order they were registered.
        same: items with the same label from both, of those both labelled.
        kappa: Cohen's kappa between the two.
        right: items each labelled as people did, of those with a true label (earlier, later).
        changed: digests of items whose label differs.
    """

    name: str
    earlier: str
    later: str
    same: Proportion
    kappa: Coefficient
    right: tuple[Proportion, Proportion]
    changed: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class JudgeQuality:
    """All judges of a sample's rubric against people.

    Args:
        sample: id.
        question: the question.
        labels: label names.
        n_items: items of the sample.
        gold: true labels: how many decided, agreed, open by reason.
        judges: the ensemble first, then rules and judges by name.
        drift: between identities of one name.
        remarks: what a reader must know.
    """

    sample: str
    question: str
    labels: tuple[str, ...]
    n_items: int
    gold: Gold
    judges: tuple[JudgeLine, ...]
    drift: tuple[Drift, ...]
    remarks: tuple[str, ...]


def judge_quality(
    store: Store, who: Person, sample_id: str, question: str | None = None
) -> JudgeQuality:
    """Return how judges, rule and ensemble do against the people's decided labels.

    Reads the whole frame for the raw rates (about 1 s of CPU for 100,000 traces), so the result
    is kept until a label or a decision is added, for everybody who looks.

    Args:
        store: an open store.
        who: somebody who may see labels.
        sample_id: id or prefix.
        question: default the sample's question.

    Raises:
        NotAllowedError: ``who`` may not see labels.
        InputError: no such question.
    """
    require(who, Right.SEE_LABELS)
    mark = (growth(store), version(store, sample_id))

    def compute() -> JudgeQuality:
        return _quality(store, samples_kept.sample(store, sample_id), question)

    return _KEPT.find(store, (sample_id, question), mark, compute)


def _quality(store: Store, sample: Sample, question: str | None) -> JudgeQuality:
    people = read_people(store, sample, question)
    gold = gold_of(people, decisions(store, sample.key, people.question.id))
    frame = read_frame(store, people.rubric, people.question, (), last=sample.frame_last)
    audit, remarks = _audit(people, gold, frame)
    quotes = quote_counts(
        store, sample.key, people.question.id, [column.digest for column in frame.votes]
    )
    lines = [_line(people, gold, audit, ENSEMBLE, ENSEMBLE, "", frame.ensemble, quotes)]
    lines += [
        _line(people, gold, audit, column.name, column.kind, column.digest, column.codes, quotes)
        for column in frame.votes
    ]
    return JudgeQuality(
        sample.id,
        people.question.id,
        people.labels,
        len(people),
        gold,
        tuple(lines) if frame.votes else (),
        tuple(_drift(store, people, gold)),
        tuple(remarks),
    )


def _audit(people: PeopleLabels, gold: Gold, frame: Frame) -> tuple[Audit, list[str]]:
    """Put the sample's true labels into the frame."""
    codes = np.full(len(frame), UNLABELLED, dtype=np.int32)
    probability = np.full(len(frame), np.nan)
    strata = np.empty(len(frame), dtype=object)
    rows, known = _places(frame, people.items.trace_id)
    codes[rows] = gold.codes[known]
    probability[rows] = people.items.probability[known]
    strata[rows] = people.items.stratum[known]
    facts = facts_of(frame.votes, len(frame))
    remarks = list(frame.remarks)
    design = people.sample.design
    if len(frame) != design.frame_size or not known.all():
        remarks.append(
            f"the frame had {design.frame_size} rows when the sample was drawn and has"
            f" {len(frame)} now, because tasks were imported in another version; rates are over"
            " the rows of now"
        )
    audit = Audit(frame, facts, people.labels, codes, probability, strata, design.confidence)
    return audit, remarks


def _places(frame: Frame, traces: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the rows of the frame that are in the sample, and which items they are."""
    rows = np.searchsorted(frame.ids, traces)
    known = rows < len(frame)
    known[known] = frame.ids[rows[known]] == traces[known]
    return rows[known], known


def _line(
    people: PeopleLabels,
    gold: Gold,
    audit: Audit,
    name: str,
    kind: str,
    rater: str,
    over_frame: Codes,
    quotes: Mapping[str, QuoteCount],
) -> JudgeLine:
    rows, known = _places(audit.frame, people.items.trace_id)
    codes = np.full(len(people), UNLABELLED, dtype=np.int32)
    codes[known] = over_frame[rows]
    report = judge_report(
        np.maximum(gold.codes, -1),
        np.maximum(codes, -1),
        people.labels,
        probabilities=people.items.probability,
        strata=people.items.stratum.tolist(),
        level=people.sample.design.confidence,
    )
    rates = [rate for rate in people.rubric.rates if rate.question == people.question.id]
    digests = people.items.digest
    return JudgeLine(
        name,
        kind,
        rater,
        report,
        _cells(gold.codes, codes, digests, len(people.labels)),
        tuple(digests[(gold.codes >= 0) & (codes < 0)].tolist()),
        quotes.get(rater, QuoteCount()),
        tuple(corrected(audit, rate, over_frame) for rate in rates),
    )


def _cells(
    truth: Codes, judge: Codes, digests: NDArray[np.object_], q: int
) -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(
        tuple(tuple(digests[(truth == i) & (judge == j)].tolist()) for j in range(q))
        for i in range(q)
    )


def _drift(store: Store, people: PeopleLabels, gold: Gold) -> list[Drift]:
    """Compare identities of one name one after the other, over the items of the sample."""
    named: dict[tuple[str, str], list[Rater]] = {}
    for rater in raters(store):
        if rater.kind != "person" and rater.spec.get("rubric") == people.rubric.name:
            named.setdefault((rater.kind, rater.name), []).append(rater)
    several = {key: found for key, found in named.items() if len(found) > 1}
    digests = [rater.digest for found in several.values() for rater in found]
    if not digests:
        return []
    columns = _columns(store, people, digests)
    out = []
    for (_, name), found in several.items():
        given = [one.digest for one in found if (columns[one.digest] >= 0).any()]
        out += [
            _compare(people, gold, name, (a, b), (columns[a], columns[b]))
            for a, b in itertools.pairwise(given)
        ]
    return out


def _columns(store: Store, people: PeopleLabels, digests: Sequence[str]) -> dict[str, Codes]:
    """Codes by rater on the items of the sample; of several repeats the first."""
    table = label_table(store, people.question.id, digests, sample=people.sample.key)
    place = {name: code for code, name in enumerate(people.labels)}
    codes = np.array([place.get(kind.value or "", UNLABELLED) for kind in table.kinds], np.int32)
    out = {digest: np.full(len(people), UNLABELLED, dtype=np.int32) for digest in digests}
    rows = np.searchsorted(people.items.trace_id, table.trace)
    for number, digest in enumerate(table.raters):
        mine = (table.rater == number) & (table.repeat == 0)
        out[digest][rows[mine]] = codes[table.kind[mine]] if len(codes) else UNLABELLED
    return out


def _compare(
    people: PeopleLabels,
    gold: Gold,
    name: str,
    who: tuple[str, str],
    codes: tuple[Codes, Codes],
) -> Drift:
    first, second = codes
    both = (first >= 0) & (second >= 0)
    same = both & (first == second)
    pair = np.stack([first[both], second[both]], axis=1)
    right = [
        proportion(
            int(((column == gold.codes) & (gold.codes >= 0) & (column >= 0)).sum()),
            int(((gold.codes >= 0) & (column >= 0)).sum()),
        )
        for column in codes
    ]
    return Drift(
        name,
        who[0],
        who[1],
        proportion(int(same.sum()), int(both.sum())),
        cohen_kappa(from_codes(pair, list(people.labels), ["earlier", "later"])),
        (right[0], right[1]),
        tuple(people.items.digest[both & ~same].tolist()),
    )
