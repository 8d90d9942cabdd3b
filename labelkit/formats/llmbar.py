"""LLMBar: pairs of outputs with a gold choice, and judges' choices in both orders.

``{input, output_1, output_2, label}``; an evaluator's file adds ``results``, whose last entry
holds ``swap = False`` and ``swap = True`` with a winner that was already mapped back (entries
before it are helper answers). A winner that is null is a verdict that could not be read. The two
orders are two raters: what a judge says of ``2, 1`` is no repeat of what it says of ``1, 2``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelkit.domain.trace import Trace
from labelkit.formats.item_traces import item_trace, two_answers
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import BrokenRecordError, Head, Item, Notes, Rating, ReadOptions
from labelkit.formats.records import an_object, read_each

TASK_SET = "llmbar"

_GOLD = "gold"
_ORDERS = (("swap = False", ""), ("swap = True", " swapped"))


class LLMBar:
    """Reads LLMBar's pairs and evaluators' files."""

    name = "llmbar"
    description = "LLMBar pairs (`output_1`, `output_2`, `label`) and evaluators' `results`"

    def sniff(self, head: Head) -> float:
        """Sure with two numbered outputs."""
        return 0.95 if {"input", "output_1", "output_2"} <= head.keys else 0.0

    def read(self, path: Path, options: ReadOptions) -> Iterator[Item]:
        """Yield each pair, its gold choice, and what the evaluator of the file chose."""
        judge = f"{path.parent.parent.name}/{path.parent.name}"

        def build(value: Any, source: str, notes: Notes) -> list[Trace | Rating]:
            return list(_pair(an_object(value), judge, source, options, notes))

        return read_each(json_records(path), path, build)


def _pair(
    row: dict[str, Any], judge: str, source: str, options: ReadOptions, notes: Notes
) -> Iterator[Trace | Rating]:
    texts = [row.get(key) for key in ("input", "output_1", "output_2")]
    if not all(isinstance(text, str) for text in texts):
        raise BrokenRecordError("the pair has no `input` or no outputs")
    number = int(source.rpartition(":")[2])
    trace = item_trace(
        two_answers(str(texts[1]), str(texts[2])),
        asked=str(texts[0]),
        task_set=TASK_SET,
        task_id=str(number),
        source=source,
        options=options,
    )
    yield trace
    if str(row.get("label")) in {"1", "2"}:
        yield Rating(trace.digest, _GOLD, "better", str(row["label"]), number)
    else:
        notes.lost("the pair has no gold choice")
    if "results" in row:
        yield from _verdicts(trace, row["results"], judge, number, notes)


def _verdicts(
    trace: Trace, results: Any, judge: str, number: int, notes: Notes
) -> Iterator[Rating]:
    last = results[-1] if isinstance(results, list) and results else results
    if not isinstance(last, dict):
        raise BrokenRecordError("`results` holds no verdict")
    for order, suffix in _ORDERS:
        found = last.get(order)
        if not isinstance(found, dict):
            notes.lost("a verdict is missing for one order of the pair")
            continue
        winner = found.get("winner")
        value = str(winner) if str(winner) in {"1", "2"} else None
        if value is None:
            notes.odd("a verdict names no winner; it counts as unreadable, not as a label")
        said = found.get("completion")
        text = said[0] if isinstance(said, list) and said else said
        yield Rating(
            item=trace.digest,
            rater=f"{judge}{suffix}",
            question="better",
            value=value,
            record=number,
            kind="judge",
            reason=None if value is not None else "parse",
            rationale=text if isinstance(text, str) and text else None,
        )


READER = LLMBar()
