"""What a release holds, read from a store in one fixed order: the same store, the same rows.

Traces are in order of the frames they belong to, those with a text before those without, and
then of digest; everything else in order of
what identifies it. Row numbers, import
times, names of people and secrets stay behind. Texts of task sets that may not be passed on are
withheld: their ids, tags and labels remain, so every number can still be recomputed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import select

from labelkit.digest import canonical_json
from labelkit.domain.label import Label, Rater
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Sample
from labelkit.domain.task import Task
from labelkit.domain.terms import Terms, unknown_terms
from labelkit.domain.trace import Trace
from labelkit.errors import StoreError
from labelkit.store import Store
from labelkit.store.fetching import Ints, Objects
from labelkit.store.labels import LABELS, read_label
from labelkit.store.people import people
from labelkit.store.portable import DecisionRecord, ReviewRecord, decisions, reviews
from labelkit.store.raters import raters
from labelkit.store.reports import trace_table
from labelkit.store.samples import items, samples
from labelkit.store.selection import chunks
from labelkit.store.tables import LABEL, RATER, TRACE
from labelkit.store.terms import terms_of
from labelkit.store.traces import PageReader
from labelkit.workflows.columns import read_rows
from labelkit.workflows.release.pseudonyms import masked, pseudonyms
from labelkit.workflows.review.schemes import rubric_in

_PAGE = 200
WITHHELD = "(withheld)"


@dataclass(frozen=True, eq=False)
class Contents:
    """One release's contents, not yet written.

    Args:
        store: where everything is read from.
        rubric: the scheme.
        samples: samples of the scheme that belong to the release.
        traces: (digest, row id); the frame of every sample is a beginning of the list.
        raters: raters of the scheme by row digest, people under pseudonyms.
        rubrics: every version of the scheme that a label was given under, by digest.
        names: pseudonym by row id of a person.
        terms: terms by task set.
    """

    store: Store
    rubric: Rubric
    samples: tuple[Sample, ...]
    traces: tuple[tuple[str, int], ...]
    raters: Mapping[str, Rater]
    rubrics: Mapping[str, Rubric]
    names: Mapping[int, str]
    terms: Mapping[str, Terms]

    def withheld(self, task_set: str | None) -> bool:
        """Whether texts of this set stay out; traces of no set are the exporter's own."""
        return task_set is not None and not self.terms[task_set].redistributable


def contents(store: Store, rubric: Rubric, sample: Sample | None = None) -> Contents:
    """Gather what belongs to the release of a rubric, or of one of its samples.

    A sample brings its whole frame along: rates corrected by people need the judges' labels of
    the rows that nobody read. ``raters`` is empty where nothing was labelled yet.
    """
    _, ids = read_rows(store, rubric, ())
    if sample is not None:
        ids = ids[ids <= sample.frame_last]
    table = _digested(store)
    kept = np.isin(table.id, ids)
    mine = (sample,) if sample else _samples(store, rubric)
    known = terms_of(store)
    sets = {str(name) for name in table.task_set[kept] if name is not None}
    terms = {name: known.get(name, unknown_terms(name)) for name in sorted(sets)}
    # Frames are nested, since traces are only ever added: the rows of the smallest come first.
    # Among them those without a text come last, so that few runs of either kind are loaded.
    ends = sorted(s.frame_last for s in mine)
    rank = np.searchsorted(ends, table.id[kept])
    bare = [n is not None and not terms[n].redistributable for n in table.task_set[kept]]
    columns = (rank.tolist(), bare, table.digests[kept].tolist(), table.id[kept].tolist())
    traces = [(name, key) for _, _, name, key in sorted(zip(*columns, strict=True))]
    versions = {rubric.digest, *(s.guideline for s in mine)}
    found = [r for r in raters(store) if r.spec.get("rubric_digest") in versions]
    everybody = people(store)
    called = {person.name for person in everybody}
    called |= {rater.name for rater in found if rater.kind == "person"}
    names = pseudonyms(called, store.secret)
    return Contents(
        store=store,
        rubric=rubric,
        samples=mine,
        traces=tuple(traces),
        raters={rater.digest: masked(rater, names) for rater in found},
        rubrics={digest: _version(store, rubric, digest) for digest in sorted(versions)},
        names={person.id: names[person.name] for person in everybody},
        terms=terms,
    )


def _samples(store: Store, rubric: Rubric) -> tuple[Sample, ...]:
    mine = [s for s in samples(store) if s.design.rubric_digest == rubric.digest]
    return tuple(sorted(mine, key=lambda s: s.id))


def _version(store: Store, rubric: Rubric, digest: str) -> Rubric:
    return rubric if digest == rubric.digest else rubric_in(store, digest)


def sampling(found: Contents) -> dict[str, Any]:
    """Return ``sampling.json``: design, frame and inclusion probability of every sample."""
    return {
        "samples": [
            {
                "id": sample.id,
                "design": sample.design.model_dump(mode="json"),
                "guideline": sample.guideline,
                "created_at": moment(sample.created_at),
                "frame_rows": sum(key <= sample.frame_last for _, key in found.traces),
                "items": [
                    {
                        "trace": item.trace,
                        "stratum": item.stratum,
                        "probability": item.probability,
                        "again": item.again,
                    }
                    for item in items(found.store, sample.key)
                ],
            }
            for sample in found.samples
        ]
    }


def task_and_trace_pages(found: Contents) -> Iterator[list[tuple[Trace, Task | None]]]:
    """Yield pages of traces in order, each with its current task."""
    reader = PageReader(found.store)
    for page in chunks(found.traces, _PAGE):
        yield reader.read([key for _, key in page])


def trace_rows(found: Contents) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``traces``."""
    for page in task_and_trace_pages(found):
        for trace, _ in page:
            withheld = found.withheld(trace.task_set)
            yield {
                "digest": trace.digest,
                "task_set": trace.task_set,
                "task_id": trace.task_id,
                "model": trace.model,
                "condition": trace.condition,
                "repeat": trace.repeat,
                "state": trace.state.value,
                "tags": canonical_json(trace.tags),
                "withheld": withheld,
                "body": None if withheld else trace.canonical(),
            }


def task_rows(found: Contents) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``tasks``: the current task of every trace, by set and id."""
    tasks: dict[tuple[str, str], Task] = {}
    for page in task_and_trace_pages(found):
        for _, task in page:
            if task is not None:
                tasks.setdefault((task.set, task.id), task)
    for (task_set, task_id), task in sorted(tasks.items()):
        withheld = found.withheld(task_set)
        yield {
            "digest": task.digest,
            "task_set": task_set,
            "task_id": task_id,
            "domain": _text(task.tags.get("domain")),
            "subset": _text(task.tags.get("subset")),
            "tags": canonical_json(task.tags),
            "licence": found.terms[task_set].licence,
            "withheld": withheld,
            "body": None if withheld else canonical_json(task.beyond_defaults()),
        }


def rater_rows(found: Contents) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``raters`` by kind, name and digest."""
    for rater in sorted(found.raters.values(), key=lambda r: (r.kind, r.name, r.digest)):
        yield {
            "digest": rater.digest,
            "kind": rater.kind,
            "name": rater.name,
            "version": rater.version,
            "spec": canonical_json(rater.spec),
        }


def label_rows(found: Contents) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``labels``: every rater, every version, trace by trace."""
    for labels in label_pages(found):
        rows = [_label(found, label, task_set) for label, task_set in labels]
        yield from sorted(rows, key=_label_key)


def label_pages(found: Contents) -> Iterator[list[tuple[Label, str | None]]]:
    """Yield the labels, with the trace's task set, of the same pages of traces as above."""
    with found.store.reading() as connection:
        query = select(RATER.c.id).where(RATER.c.digest.in_(list(found.raters)))
        keys = list(connection.execute(query).scalars())
    for page in chunks(found.traces, _PAGE):
        query = LABELS.where(TRACE.c.id.in_([key for _, key in page]), LABEL.c.rater_id.in_(keys))
        with found.store.reading() as connection:
            yield [
                (read_label(row), row.task_set)
                for row in connection.execute(query.add_columns(TRACE.c.task_set))
            ]


def _label(found: Contents, label: Label, task_set: str | None) -> dict[str, Any]:
    withheld = found.withheld(task_set)
    return {
        "trace": label.trace,
        "rater": found.raters[label.rater].digest,
        "question": label.question,
        "repeat": label.repeat,
        "version": label.version,
        "outcome": label.outcome.value,
        "value": label.value,
        "reason": label.reason,
        "rationale": None if withheld else label.rationale,
        "confidence": label.confidence,
        "flags": list(label.flags),
        "evidence": [] if withheld else [item.model_dump() for item in label.evidence],
        "view": label.view,
        "completion": label.completion,
        "cached": label.cached,
        "created_at": moment(label.created_at),
    }


def _label_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("trace", "question", "rater", "repeat", "version"))


def review_records(found: Contents) -> list[ReviewRecord]:
    """Return what people finished in every sample, raters under their new digests."""
    records = []
    for sample in found.samples:
        for record in reviews(found.store, sample.id, found.names):
            acts = tuple(
                act.model_copy(update={"labels": _renamed(found, act.labels)})
                for act in record.acts
            )
            records.append(record.model_copy(update={"acts": acts}))
    return records


def decision_records(found: Contents) -> list[DecisionRecord]:
    """Return every decision of every sample, raters under their new digests."""
    sets = _sets(found)
    records = []
    for sample in found.samples:
        for record in decisions(found.store, sample.id, found.names):
            seen = [found.raters[d].digest if d in found.raters else d for d in record.seen]
            fresh: dict[str, Any] = {
                "labels": _renamed(found, record.labels),
                "seen": tuple(sorted(seen)),
            }
            if found.withheld(sets.get(record.trace)):
                fresh["reason"] = WITHHELD
            records.append(record.model_copy(update=fresh))
    return records


def _renamed(found: Contents, names: Sequence[Any]) -> tuple[Any, ...]:
    renamed = [n.model_copy(update={"rater": found.raters[n.rater].digest}) for n in names]
    return tuple(sorted(renamed, key=lambda n: (n.question, n.rater, n.repeat, n.version)))


def _sets(found: Contents) -> dict[str, str | None]:
    table = _digested(found.store)
    return dict(zip(table.digests.tolist(), table.task_set.tolist(), strict=True))


class _Digested(NamedTuple):
    """Row id, digest and task set of every trace."""

    id: Ints
    digests: Objects
    task_set: Objects


def _digested(store: Store) -> _Digested:
    table = trace_table(store, digests=True)
    none = np.empty(0, dtype=object)
    return _Digested(table.id, none if table.digest is None else table.digest, table.task_set)


def moment(at: datetime) -> str:
    """Return a time as ISO text in UTC, with microseconds, always of the same length."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def sample_named(store: Store, word: str) -> Sample | None:
    """Return the sample whose id begins with ``word``, or None where it names none."""
    if len(word) < 4 or not all(c in "0123456789abcdef" for c in word.lower()):
        return None
    found = [s for s in samples(store) if s.id.startswith(word.lower())]
    if len(found) > 1:
        raise StoreError(f"several samples begin with {word}; give more digits")
    return found[0] if found else None


def _text(value: object) -> str | None:
    return None if value is None else str(value)
