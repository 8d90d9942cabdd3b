"""MAST's human-labelled runs: one long text per run, failure modes by three annotators.

The modes are code, name and definition in one string, and the same code means another mode in
another round, so round and code together name the question (``round_1_1_1``). The stored labels
are the annotators' consensus: all cells agree, and a kappa over them is 1 by construction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.trace import Trace
from labelkit.formats import rows
from labelkit.formats.item_traces import item_trace
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import BrokenRecordError, Head, Item, Notes, Rating, ReadOptions
from labelkit.formats.records import an_object, read_each

TASK_SET = "mast"

_CODE = re.compile(r"^\s*(\d+(?:\.\d+)*)")
_ANNOTATOR = re.compile(r"annotator_\d+")
_TAGS = ("round", "mas_name", "benchmark_name")


class Mast:
    """Reads MAST's human-labelled runs."""

    name = "mast"
    description = "MAST runs with failure modes (`mas_name`, `trace`, `annotations`)"

    def sniff(self, head: Head) -> float:
        """Sure with a system's name and a trace; the annotations may lie beyond the head."""
        return 0.95 if {"mas_name", "trace_id"} <= head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield each run and the labels of its failure modes."""

        def build(value: Any, source: str, notes: Notes) -> list[Trace | Rating]:
            return list(_run(an_object(value), source, options, notes))

        return read_each(json_records(path), path, build)


def _run(
    row: dict[str, Any], source: str, options: ReadOptions, notes: Notes
) -> Iterator[Trace | Rating]:
    text, listed = row.get("trace"), row.get("annotations")
    if not isinstance(text, str) or not isinstance(listed, list):
        raise BrokenRecordError("the record has no `trace` or no `annotations`")
    system = row.get("mas_name")
    trace = item_trace(
        text,
        task_set=TASK_SET,
        task_id=str(row.get("trace_id")),
        source=source,
        options=options,
        model=system if isinstance(system, str) else None,
        tags={key: row[key] for key in _TAGS if rows.is_tag(row.get(key))},
    )
    yield trace
    number = int(source.rpartition(":")[2])
    for entry in listed:
        mode = entry.get("failure mode") if isinstance(entry, dict) else None
        code = _CODE.match(mode) if isinstance(mode, str) else None
        if code is None:
            notes.lost("an annotation names no failure mode")
            continue
        question = f"{row.get('round', 'round')} {code.group(1)}"
        for key, given in entry.items():
            if _ANNOTATOR.fullmatch(key):
                if not isinstance(given, bool):
                    notes.lost("an annotator said neither true nor false")
                    continue
                yield Rating(trace.digest, key, question, "yes" if given else "no", number)


READER = Mast()
