"""Ratings into the store: labels of people and judges on traces, written once, changed by version.

An item is the trace of that digest or task id. One that no trace answers to becomes a trace of
its own: the item's text (else its name) as the model's words, tagged ``source: ratings``, so that
people's ratings of anything can be compared, reviewed and released like ratings of rollouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from labelkit.domain.label import Label, Outcome, Rater
from labelkit.domain.message import Message
from labelkit.domain.trace import RowState, Trace
from labelkit.formats.reader import Finding, Rating, ReadOptions
from labelkit.store import Store
from labelkit.store.imported_labels import labels_in_force
from labelkit.store.inserting import Added
from labelkit.store.labels import commit_labels
from labelkit.store.naming import traces_named
from labelkit.store.raters import add_rater, add_rubric
from labelkit.store.traces import add_traces
from labelkit.workflows.rating_target import RatingTarget, label_of

ITEM_SOURCE = "ratings"

_NO_QUESTION = "the rubric asks no such question; the rating was left out"
_NO_LABEL = "the value is no label of the question; the rating was left out"
_TWICE = "a rater rated an item twice, the first counts; is it the right --item column?"
_SEVERAL = "the item's name means several traces; name traces by their digests"


@dataclass
class RatingBook:
    """Writes ratings of one file; knows which items and raters it has met.

    Args:
        store: the store.
        target: what the ratings are labels of.
        options: what the user said about the file.
        file: its name, for findings and sources.
    """

    store: Store
    target: RatingTarget
    options: ReadOptions
    file: str
    _items: dict[str, str | None] = field(default_factory=dict)
    _raters: dict[tuple[str, str], Rater] = field(default_factory=dict)
    _met: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        add_rubric(self.store, self.target.rubric)

    def add(self, ratings: Sequence[Rating]) -> tuple[Added, Added, list[Finding]]:
        """Write some ratings; return labels added, item traces added, and what was found out.

        A rating that says what the store has already is known; one that says something else is
        the next version of the label.

        Raises:
            StoreError: when the store cannot be written.
        """
        findings: list[Finding] = []
        traces = self._find_items(ratings)
        labels: dict[tuple[str, str, str], Label] = {}
        for rating in ratings:
            label = self._label(rating, findings)
            if label is None:
                continue
            key = (label.trace, label.rater, label.question)
            if hash(key) in self._met:
                findings.append(Finding(self.file, rating.record, "broken", _TWICE))
                continue
            self._met.add(hash(key))
            labels[key] = label
        known = labels_in_force(self.store, {key[0] for key in labels}, {key[1] for key in labels})
        fresh = []
        for key, label in labels.items():
            before = known.get(key)
            if before is None:
                fresh.append(label)
            elif before[1:] != (label.value, label.reason, label.rationale):
                fresh.append(label.model_copy(update={"version": before[0] + 1}))
        new = commit_labels(self.store, fresh)
        return Added(new, len(labels) - new), traces, findings

    def _find_items(self, ratings: Sequence[Rating]) -> Added:
        """Settle which trace every item is, making those that are none."""
        names = {rating.item for rating in ratings} - self._items.keys()
        found = traces_named(self.store, names, self.options.task_set)
        made: dict[str, Trace] = {}
        for rating in ratings:
            if rating.item not in self._items:
                digests = found[rating.item]
                if not digests:
                    made[rating.item] = trace = self._item_trace(rating)
                    digests = [trace.digest]
                self._items[rating.item] = digests[0] if len(digests) == 1 else None
        return add_traces(self.store, made.values())

    def _item_trace(self, rating: Rating) -> Trace:
        return Trace(
            model=self.options.model or "unknown",
            messages=(Message(role="assistant", content=rating.text or rating.item),),
            state=RowState.OK,
            task_set=self.options.task_set or self.target.rubric.name,
            task_id=rating.item,
            condition=self.options.condition or "",
            tags={"source": ITEM_SOURCE, **rating.tags},
            source=f"{self.file}:{rating.record}",
        )

    def _label(self, rating: Rating, findings: list[Finding]) -> Label | None:
        question = self.target.question_for(rating.question)
        trace = self._items[rating.item]
        value = rating.value
        if question is not None and value is not None:
            value = label_of(question, value)
        fault = None
        if trace is None:
            fault = _SEVERAL
        elif question is None:
            fault = _NO_QUESTION
        elif rating.value is not None and value is None:
            fault = _NO_LABEL
        if fault is not None or trace is None or question is None:
            findings.append(Finding(self.file, rating.record, "broken", fault or _SEVERAL))
            return None
        return Label(
            trace=trace,
            rater=self._rater(rating).digest,
            question=question.id,
            outcome=Outcome.FAILED if value is None else Outcome.LABELLED,
            value=value,
            reason=None if value is not None else rating.reason or "parse",
            rationale=rating.rationale,
            flags=("imported",),
            created_at=_moment(rating.given_at),
        )

    def _rater(self, rating: Rating) -> Rater:
        """Return the rater under this text of the rubric; imported names are names of this file's.

        A person of the review app is another identity even with the same name: nobody signed in.
        """
        key = (rating.kind, rating.rater)
        if key not in self._raters:
            rubric = self.target.rubric
            rater = Rater(
                kind=rating.kind,
                name=rating.rater,
                version="1",
                spec={
                    "imported": True,
                    "rubric": rubric.name,
                    "rubric_version": rubric.version,
                    "rubric_digest": rubric.digest,
                },
            )
            add_rater(self.store, rater)
            self._raters[key] = rater
        return self._raters[key]


def _moment(text: str | None) -> datetime:
    """Return when a rating was given, else now; a time without a zone is taken as UTC."""
    try:
        moment = datetime.fromisoformat(text) if text else datetime.now(UTC)
    except ValueError:
        return datetime.now(UTC)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
