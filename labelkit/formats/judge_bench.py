"""JUDGE-BENCH: collections of items with people's scores by metric, one object per collection.

``{dataset, annotations: [{metric, category, worst, best}], instances: [{id, instance,
annotations: {metric: {individual_human_scores: [...]}}}]}``. Scores are a list without names, so
the first score of two items need not be the same person's: raters are called by their place, and
that is told. Coefficients that only look at the scores of one item are not touched by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.trace import Trace
from labelkit.formats.item_traces import item_trace
from labelkit.formats.jsonstream import member_records, members
from labelkit.formats.reader import BrokenRecordError, Head, Item, Notes, Rating, ReadOptions
from labelkit.formats.records import an_object, read_each


class JudgeBench:
    """Reads JUDGE-BENCH collections."""

    name = "judge-bench"
    description = "JUDGE-BENCH collections (`instances` with `individual_human_scores`)"

    def sniff(self, head: Head) -> float:
        """Sure with the collection's own parts."""
        parts = {"annotations", "instances"}
        if not (parts <= head.keys or {"dataset", "annotations"} <= head.keys):
            return 0.0
        return 0.95 if '"metric"' in head.text else 0.4

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield each item and its scores, one item in memory at a time."""
        known = members(path, "instances")
        name = known.get("dataset")
        task_set = name if isinstance(name, str) else path.stem

        def build(value: Any, source: str, notes: Notes) -> list[Trace | Rating]:
            return list(_instance(an_object(value), task_set, source, options, notes))

        return read_each(member_records(path, "instances"), path, build)


def _instance(
    row: dict[str, Any], task_set: str, source: str, options: ReadOptions, notes: Notes
) -> Iterator[Trace | Rating]:
    listed, said = row.get("annotations"), row.get("instance")
    if not isinstance(listed, dict) or said is None:
        raise BrokenRecordError("the instance has no `annotations` or no `instance`")
    number = int(source.rpartition(":")[2])
    trace = item_trace(
        said if isinstance(said, str) else canonical_json(said),
        task_set=task_set,
        task_id=str(row.get("id", number)),
        source=source,
        options=options,
    )
    yield trace
    for metric, found in listed.items():
        scores = found.get("individual_human_scores") if isinstance(found, dict) else None
        if not isinstance(scores, list):
            notes.lost("a metric holds no individual scores")
            continue
        notes.odd("the scores have no names; a rater is a place in the list, not a person")
        for place, score in enumerate(scores, start=1):
            value = _text(score)
            if value is None:
                notes.lost("a score is missing")
                continue
            yield Rating(trace.digest, f"rater {place:02}", metric, value, number)


def _text(score: Any) -> str | None:
    if isinstance(score, bool):
        return "yes" if score else "no"
    if isinstance(score, float) and score.is_integer():
        return str(int(score))
    return None if score is None else str(score).strip() or None


READER = JudgeBench()
