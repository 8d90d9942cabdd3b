"""AgentRx's ground truth: where people saw a failed run fail, and which failure was the root.

``{trajectory_id, failures: [{failure_id, step_number, failure_category, ...}], root_cause:
{failure_id, ...}, failure_summary}``. The runs themselves are tau-bench runs and are read as such;
an item is the run whose task id is the trajectory's. Two questions: the category of the root cause
(the one label a run has) and, where a step is named, the step (from 1) at which it happened.
``failure_id`` need not start at 1, so failures are found by it and never by their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.formats import rows
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import BrokenRecordError, Head, Item, Notes, Rating, ReadOptions
from labelkit.formats.records import an_object, read_each

_RATER = "AgentRx annotators"


class AgentRxTruth:
    """Reads AgentRx's ground truth."""

    name = "agentrx-labels"
    description = "AgentRx ground truth (`trajectory_id`, `failures`, `root_cause`)"

    def sniff(self, head: Head) -> float:
        """Sure with a trajectory and its failures."""
        return 0.95 if {"trajectory_id", "failures"} <= head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:  # noqa: ARG002
        """Yield the root cause of every run."""

        def build(value: Any, source: str, notes: Notes) -> list[Rating]:
            return list(_truth(an_object(value), source, notes))

        return read_each(json_records(path), path, build)


def _truth(row: dict[str, Any], source: str, notes: Notes) -> Iterator[Rating]:
    failures, root = row.get("failures"), row.get("root_cause")
    if row.get("trajectory_id") is None or not isinstance(failures, list):
        raise BrokenRecordError("the record has no `trajectory_id` or no `failures`")
    wanted = root.get("failure_id") if isinstance(root, dict) else None
    listed = [entry for entry in failures if isinstance(entry, dict)]
    cause = next((entry for entry in listed if entry.get("failure_id") == wanted), None)
    if cause is None or not isinstance(cause.get("failure_category"), str):
        raise BrokenRecordError("the root cause is none of the failures")
    if len(listed) > 1:
        notes.odd("a run has further failures; the label is its root cause")
    item, number = str(row["trajectory_id"]), int(source.rpartition(":")[2])
    reason = root.get("reason_for_root_cause") if isinstance(root, dict) else None
    rationale = rows.text_or_none(reason)
    category = cause["failure_category"]
    yield Rating(item, _RATER, "root_cause", category, number, rationale=rationale)
    step = rows.count(cause.get("step_number"))
    if step is not None:
        text = rows.text_or_none(cause.get("step_reason"))
        yield Rating(item, _RATER, "root_cause_step", str(step), number, rationale=text)


READER = AgentRxTruth()
