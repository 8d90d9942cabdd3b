"""The rows of a report as columns: one row per trace, one vote column per rater.

Everything after the store works on these arrays, so that the numbers of a report can be tested
without a database and a store of 100,000 traces is reported in a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from labelkit.domain.rates import Predicate
from labelkit.domain.task import Tag
from labelkit.store.fetching import Coded, coded

PROTOCOL = "protocol"
"""Tag of rollouts that says how they were played."""

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]

# A vote is the index of a label (>= 0) or one of these. They are states, never labels.
ABSTAINED = -1
FAILED = -2
UNLABELLED = -3
TIED = -4
INFRA_ERROR = -5
DROPPED = -6
REASONS = {
    ABSTAINED: "abstained",
    FAILED: "failed",
    UNLABELLED: "unlabelled",
    TIED: "tie",
    INFRA_ERROR: "infra_error",
    DROPPED: "dropped",
}


@dataclass(frozen=True)
class Votes:
    """The votes of one rater on one question, aligned with the rows.

    ``codes``: shape (n_rows,), index into the question's labels, or a state above.
    ``flags``: for rules, flag name -> mask of rows that carry it; ``numbers``: counted facts
    (``calls=7``) -> value per row, NaN where it has none. ``null_reasons``: why labels
    are missing, with counts, as the rater recorded it. ``consistency``: mean share of the leading
    label over rows that the rater labelled several times, None where it did not.
    ``variant``: a rule under a changed policy, which casts no vote.
    """

    name: str
    kind: str
    digest: str
    codes: Codes
    flags: Mapping[str, Mask] = field(default_factory=dict)
    numbers: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    null_reasons: Mapping[str, int] = field(default_factory=dict)
    consistency: float | None = None
    variant: bool = False

    @property
    def seen(self) -> Mask:
        """Rows that this rater looked at, whatever came of it."""
        seen: Mask = (self.codes != UNLABELLED) & (self.codes != INFRA_ERROR)
        return seen


@dataclass(frozen=True)
class Rows:
    """The traces a report is about. All arrays have length n_rows.

    ``tags`` maps a tag's name to its value per row (None where a row has no such tag); ``model``,
    ``domain`` and ``subset`` are among them. ``infra`` marks rows whose rollout died.
    ``items`` numbers what was rolled out, (task, model, repeat): rows of two conditions with the
    same number are a pair; -1 where the task is not known.
    """

    tags: Mapping[str, NDArray[np.object_]]
    infra: Mask
    items: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.infra)

    @cached_property
    def _coded(self) -> dict[str, Coded]:
        """Tags as numbers, made when they are first asked for: every rate asks again."""
        return {}

    def coded(self, name: str) -> Coded:
        """A tag as codes into its distinct values; None is one of them where a row lacks the tag.

        Values are told apart by type too, so that ``True`` is not ``1`` and ``"1"`` is not ``1``.
        """
        found = self._coded.get(name)
        if found is None:
            cells = self.tags[name].tolist()
            typed = coded(zip(map(type, cells), cells, strict=True), len(cells))
            found = Coded(typed.codes, tuple(value for _, value in typed.values))
            self._coded[name] = found
        return found

    def clusters(self, tag: str | None) -> NDArray[np.int64] | None:
        """Rows numbered by the value of a tag; None where no tag is named or no row has it."""
        if tag is None or tag not in self.tags:
            return None
        column = self.coded(tag)
        return None if column.values in ((), (None,)) else column.codes.astype(np.int64)

    def reading(self, wanted: Mapping[str, Sequence[str]]) -> Mask:
        """Rows whose tags read as one of the wanted texts, as a person types them."""
        mask: Mask = np.ones(len(self), dtype=bool)
        for name, texts in wanted.items():
            column = self.coded(name)
            inside = [str(value) in texts for value in column.values if value is not None]
            present = np.array([value is not None for value in column.values], dtype=bool)
            among = np.zeros(len(column.values), dtype=bool)
            among[present] = inside
            mask &= among[column.codes]
        return mask

    def having(self, wanted: Mapping[str, Sequence[Tag]]) -> Mask:
        """Rows whose tags have one of the wanted values, for every wanted tag.

        A tag compares by value and type, so that ``True`` is not ``1`` and ``"1"`` is not ``1``.
        """
        mask: Mask = np.ones(len(self), dtype=bool)
        for name, values in wanted.items():
            if name not in self.tags:
                return np.zeros(len(self), dtype=bool)
            allowed = {(type(value), value) for value in values}
            column = self.coded(name)
            inside = [(type(value), value) in allowed for value in column.values]
            mask &= np.array(inside, dtype=bool)[column.codes]
        return mask


@dataclass(frozen=True)
class RuleFacts:
    """What the rule classifier recorded.

    ``seen`` marks the rows it looked at, ``flags`` the rows that carry a fact, ``numbers`` holds
    counted facts (flags such as ``calls=7``) per row, NaN where a row has none.
    """

    seen: Mask
    flags: Mapping[str, Mask]
    numbers: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def number(self, name: str) -> NDArray[np.float64]:
        """A counted fact per row; all NaN where the rule never recorded it."""
        return self.numbers.get(name, np.full(len(self.seen), np.nan))

    def lacking(self, names: Sequence[str]) -> Mask:
        """Rows that the rule saw and that do not carry every one of these flags."""
        lacks = np.zeros(len(self.seen), dtype=bool)
        for name in names:
            carries = self.flags.get(name, np.zeros(len(self.seen), dtype=bool))
            lacks |= self.seen & ~carries
        return lacks


def facts_of(votes: Sequence[Votes], n_rows: int) -> RuleFacts:
    """What the rule recorded; without a rule nothing was seen and no fact is known."""
    for column in votes:
        if column.kind == "rule":
            return RuleFacts(column.seen, column.flags, column.numbers)
    return RuleFacts(seen=np.zeros(n_rows, dtype=bool), flags={})


def satisfied(
    predicate: Predicate, rows: Rows, codes: Codes, labels: Sequence[str], flags: Mapping[str, Mask]
) -> Mask:
    """Rows for which every part of the predicate holds; a row without a label has none of them."""
    mask = rows.having(predicate.tags)
    if predicate.labels:
        mask &= _among(codes, predicate.labels, labels)
    if predicate.not_labels:
        mask &= (codes >= 0) & ~_among(codes, predicate.not_labels, labels)
    for flag in predicate.rule_flags:
        mask &= flags.get(flag, np.zeros(len(rows), dtype=bool))
    return mask


def _among(codes: Codes, names: Sequence[str], labels: Sequence[str]) -> Mask:
    """Rows whose label is one of ``names``."""
    mask = np.zeros(len(codes), dtype=bool)
    for name in names:
        mask |= codes == labels.index(name)
    return mask
