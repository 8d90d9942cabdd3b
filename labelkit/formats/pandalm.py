"""PandaLM's test set: pairs of answers, three people each, and judges' verdicts in files beside.

The test set holds ``annotator1..3`` with 0 (tie), 1 or 2. A judge's file holds ``idx`` and one
``..._result`` of the same codes, as numbers or texts; ``Tie`` is 0, and what is none of them
(``garbage``) is a verdict that could not be read, never a label. The items of a judge's file are
those of the test set beside it; without one they are only their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.trace import Trace
from labelkit.formats.item_traces import item_trace, two_answers
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import BrokenRecordError, Head, Item, Notes, Rating, ReadOptions
from labelkit.formats.records import an_object, read_each

TASK_SET = "pandalm"

_ANNOTATOR = re.compile(r"annotator\d+")
_VERDICTS = {"0": "0", "1": "1", "2": "2", "tie": "0"}
_TAGS = ("cmp_key", "motivation_app")


class PandaLM:
    """Reads PandaLM's test set and judges' files."""

    name = "pandalm"
    description = "PandaLM test set (pairs with `annotator1..3`) and judge files (`..._result`)"

    def sniff(self, head: Head) -> float:
        """Sure with two responses and annotators, or with a verdict by index."""
        if {"response1", "response2", "annotator1"} <= head.keys:
            return 0.95
        return 0.9 if "idx" in head.keys and _verdict_key(head.keys) else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield items with people's labels, or a judge's labels of the items beside it."""
        items: dict[str, str] | None = None

        def build(value: Any, source: str, notes: Notes) -> Iterator[Trace | Rating]:
            nonlocal items
            row = an_object(value)
            if "response1" in row:
                return _item(row, source, options, notes)
            if items is None:
                items = _items_beside(path, options)
            return _verdict(row, items, path, source, notes)

        return read_each(json_records(path), path, build)


def _verdict_key(keys: Any) -> str | None:
    return next((key for key in sorted(keys) if key.endswith("_result")), None)


def _item(
    row: dict[str, Any], source: str, options: ReadOptions, notes: Notes
) -> Iterator[Trace | Rating]:
    trace = _trace(row, source, options, notes)
    yield trace
    for key in sorted(key for key in row if _ANNOTATOR.fullmatch(key)):
        value = _VERDICTS.get(str(row[key]).strip().casefold())
        if value is None:
            raise BrokenRecordError("an annotator's label is none of 0, 1 and 2")
        yield Rating(trace.digest, key, "preference", value, int(source.rpartition(":")[2]))


def _trace(row: dict[str, Any], source: str, options: ReadOptions, notes: Notes) -> Trace:
    texts = [row.get(key) for key in ("instruction", "response1", "response2")]
    if "idx" not in row or any(text is None for text in texts):
        raise BrokenRecordError("the pair has no `idx`, instruction or responses")
    if not all(isinstance(text, str) for text in texts):
        notes.repaired("a response was no text, now its JSON text")
    instruction, first, second = (
        text if isinstance(text, str) else canonical_json(text) for text in texts
    )
    more = row.get("input")
    asked = f"{instruction}\n\n{more}" if isinstance(more, str) and more else instruction
    return item_trace(
        two_answers(first, second),
        asked=asked,
        task_set=TASK_SET,
        task_id=str(row["idx"]),
        source=source,
        options=options,
        model=row["cmp_key"] if isinstance(row.get("cmp_key"), str) else None,
        tags={key: row[key] for key in _TAGS if isinstance(row.get(key), str)},
    )


def _items_beside(path: Path, options: ReadOptions) -> dict[str, str]:
    """Return the digests of the test set's items by index."""
    for beside in sorted(path.parent.glob("testset*.json")):
        found = {}
        for record in json_records(beside):
            row = record.value
            if isinstance(row, dict) and "response1" in row:
                found[str(row.get("idx"))] = _trace(row, "", options, Notes()).digest
        if found:
            return found
    return {}


def _verdict(
    row: dict[str, Any], items: dict[str, str], path: Path, source: str, notes: Notes
) -> Iterator[Trace | Rating]:
    key = _verdict_key(row)
    if key is None or "idx" not in row:
        raise BrokenRecordError("the record has no `idx` or no verdict")
    index = str(row["idx"])
    if index not in items:
        notes.lost("the judged pair is in no test set beside the file; only its number is known")
    stated = str(row[key]).strip()
    value = _VERDICTS.get(stated.casefold())
    if value is None:
        notes.odd("a verdict is none of 0, 1, 2 and Tie; it counts as unreadable, not as a label")
    rationale = row.get(key.replace("_result", "_reason"))
    yield Rating(
        item=items.get(index, index),
        rater=path.stem.split("-testset")[0],
        question="preference",
        value=value,
        record=int(source.rpartition(":")[2]),
        kind="judge",
        reason=None if value is not None else "parse",
        rationale=rationale if isinstance(rationale, str) else None,
    )


READER = PandaLM()
